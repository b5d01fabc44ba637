import enum
from typing import Any, Callable, Final, NoReturn, overload


import numpy
from ._device import DeviceTeam
from ._types import AnyArray, AnySource, Array, ArrayLike, CompareName, DeviceLike, GivenStream, IndexArray
from ._types import OutArray, ReduceName, SignalName, Stream, Value
from .shmem import Ctx

class Error(Exception):
    """
    What Atoll raises. The text says what was passed, what was expected and what to do.
    """

class NotInitialized(Error):
    """A call before atoll.init() or after the last atoll.finalize()."""

class PeError(Error, IndexError):
    """A PE number outside 0 ... n_pes()-1 of the team."""

class NotSymmetric(Error, ValueError):
    """
    An array outside the symmetric heap where a symmetric one is needed, or a view that leaves its array.
    """

class ShapeMismatch(Error, ValueError):
    """Shapes or sizes that do not fit each other."""

class DtypeMismatch(Error, TypeError):
    """Element types that do not fit each other or the operation."""

class UseAfterFree(Error):
    """An array or object that was freed or destroyed."""

class CollectiveMismatch(Error):
    """PEs called a collective differently."""

class Timeout(Error, TimeoutError):
    """A bounded wait ran out; the text says what it waited for."""

class PeDied(Error):
    """A PE that this call needs has ended."""

class OutOfMemory(Error, MemoryError):
    """No room in the symmetric heap or the system."""

class Unsupported(Error):
    """Not available here."""

class InvalidArgument(Error, ValueError):
    """A value that makes no sense."""

class SettingsError(Error, ValueError):
    """An ATOLL_* or SHMEM_* variable of the environment that cannot be read."""

class BootstrapError(Error):
    """The PEs could not find each other."""

class KernelError(Error, RuntimeError):
    """
    The GPU stopped a kernel of this process; the text says what it waited for, or that its PE was wrong. This process's GPU context is lost: no call of the GPU will succeed any more.
    """

class SystemFailure(Error, OSError):
    """A system call failed."""

class Block:
    """
    Owns a piece of symmetric memory; the end of the .base chain of every symmetric array.
    """

class DeviceArray:
    """
    A symmetric array in the memory of this PE's GPU, or a view of one.

    Made by atoll.zeros(..., device="cuda") and its kin. It computes nothing itself: x.cupy() and x.torch()
    give the same memory to those libraries, Numba and others take it as it is (__cuda_array_interface__,
    DLPack), and x.numpy() copies it to the host. Slices, x.reshape(), x.view() and x.T are views; x[...] =
    value copies from the host, or from an array of the GPU, and waits for that; == is an error that names the
    libraries. Every view, and every array of
    another library made from it, keeps the memory. Free it with atoll.free(x). atoll.pin(x) gives one too,
    over memory of the host that kernels reach; to Atoll's functions that is the same as x.
    """
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def device(self) -> int: ...
    @property
    def ptr(self) -> int: ...
    @property
    def T(self) -> DeviceArray: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def reshape(self, *shape: Any) -> DeviceArray: ...
    def view(self, dtype: Any, /) -> DeviceArray: ...
    def numpy(self) -> Array: ...
    def cupy(self) -> Any: ...
    def torch(self) -> Any: ...
    def buffer(self) -> Any: ...
    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> DeviceArray: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...

class Compare(enum.Enum):
    """How a wait or test compares: found `cmp` value."""

    EQ = 0

    NE = 1

    GT = 2

    GE = 3

    LT = 4

    LE = 5

EQ: Final = Compare.EQ

NE: Final = Compare.NE

GT: Final = Compare.GT

GE: Final = Compare.GE

LT: Final = Compare.LT

LE: Final = Compare.LE

class ReduceOp(enum.Enum):
    """
    What a reduction does with the PEs' elements; and, or, xor are bitwise, on bool logical.
    """

    SUM = 0

    PROD = 1

    MIN = 2

    MAX = 3

    AVG = 7

    AND = 4

    OR = 5

    XOR = 6

SUM: Final = ReduceOp.SUM

PROD: Final = ReduceOp.PROD

MIN: Final = ReduceOp.MIN

MAX: Final = ReduceOp.MAX

AVG: Final = ReduceOp.AVG

AND: Final = ReduceOp.AND

OR: Final = ReduceOp.OR

XOR: Final = ReduceOp.XOR

class SignalOp(enum.Enum):
    """What put_signal does to the signal word."""

    SIGNAL_SET = 0

    SIGNAL_ADD = 1

SIGNAL_SET: Final = SignalOp.SIGNAL_SET

SIGNAL_ADD: Final = SignalOp.SIGNAL_ADD

def _cuda_team(team: Team) -> DeviceTeam:
    """
    Return the team for kernels in CUDA C++, which reach PEs of other hosts too.
    """

class Team:
    """
    An ordered set of PEs; collectives take it as team=, and one-sided operations number their PEs in it.

    atoll.WORLD holds all PEs, atoll.SHARED all that load and store each other's memory, atoll.HOST all of this
    host, atoll.RAIL those that are as manieth on their hosts as this PE on its. Others are made by split,
    split_strided and split_2d, which are collective over the team they are called on. In a `with` statement a
    team is destroyed at the end. Source: OpenSHMEM 1.6, section 9.4.
    """

    def my_pe(self) -> int:
        """Return the number of this PE within the team. Local."""

    def n_pes(self) -> int:
        """Return the number of PEs in the team. Local."""

    def world_pe(self, pe: int) -> int:
        """
        Return the number in atoll.WORLD of the team's PE pe. Local. Raises PeError.
        """

    def translate_pe(self, pe: int, other: Team) -> int:
        """
        Return the number that the team's PE pe has in `other`; -1 if it is no member. Local. Raises PeError.
        """

    def split_strided(self, start: int, stride: int, size: int) -> Team | None:
        """
        Return the team of PEs start, start + stride, ... (size of them); None on PEs that are not among them.

        Collective over this team; usable at once. Raises InvalidArgument, PeError, CollectiveMismatch
        (start, stride and size are always compared).
        """

    def split_2d(self, xrange: int) -> tuple[Team, Team]:
        """
        Lay the PEs in rows of xrange and return this PE's (row, column) as teams. Collective over this team.
        """

    def split(self, color: int, key: int = 0) -> Team | None:
        """
        Return the team of all PEs that passed this color, ordered by key, then by PE; None for a negative color.

        Collective over this team; usable at once. Raises CollectiveMismatch.
        """

    def sync(self) -> None:
        """
        Wait until all PEs of the team have come here; completes no puts. Collective over the team.
        """

    def barrier(self) -> None:
        """
        Complete this PE's puts on the team's default context, then sync. Collective over the team.
        """

    def device(self, memory: str = "device") -> DeviceTeam:
        """
        Return the team as a value for kernels: a NamedTuple of integers, the fields of atl::device::Team.

        memory: "device" (or "cuda"), where the first device array was made before, or "host" (or "cpu"), for
        functions that run on the host. Local. Raises NotInitialized, Unsupported (more than 64 PEs, or teams alive; PEs
        of other hosts, which only kernels in CUDA C++ reach: atoll.cupy).
        """

    def destroy(self) -> None:
        """
        Free what the team uses. Collective over the team; afterwards its use raises UseAfterFree.
        """

    def __enter__(self) -> Team: ...

    def __exit__(self, *args: object) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

WORLD: Team = ...

SHARED: Team = ...

HOST: Team = ...

RAIL: Team = ...

class Context:
    """
    An ordering domain: fence and quiet of a context concern its own operations only.

    Pass it as ctx= to one-sided operations; PE numbers are then those of its team. Making and destroying
    one is local. In a `with` statement it is destroyed, after a quiet, at the end.

    team:       the PEs it reaches; None: all.
    private:    only the creating thread uses it.
    serialized: several threads use it, never at once.
    nostore:    its fence and quiet need not order plain stores.

    Raises OutOfMemory, UseAfterFree. Source: OpenSHMEM 1.6, section 9.4 (shmem_ctx_create).
    """

    def __init__(self, team: Team | None = None, *, private: bool = False, serialized: bool = False, nostore: bool = False) -> None: ...

    def my_pe(self) -> int:
        """Return the number of this PE in the context's team. Local."""

    def n_pes(self) -> int:
        """Return the number of PEs of the context's team. Local."""

    def team(self) -> Team:
        """Return the team that the context was made from. Local."""

    def fence(self) -> None:
        """atoll.fence for this context."""

    def quiet(self) -> None:
        """atoll.quiet for this context."""

    def __repr__(self) -> str: ...

    def destroy(self) -> None:
        """
        Quiet, then free what the context uses. Local. A second call does nothing.
        """

    def __enter__(self) -> Context: ...

    def __exit__(self, *args: object) -> None: ...

def _init(uid: str | bytes | None, pe: int | None, n_pes: int | None, put: Callable[[str, bytes], None] | None, get: Callable[[str], bytes] | None) -> None:
    """Make or count the job; see atoll.init."""

def _finalize() -> None:
    """See atoll.finalize."""

def is_initialized() -> bool:
    """
    True between atoll.init() and the last atoll.finalize(). Local; never raises.
    """

def get_unique_id() -> str:
    """
    Return a text that identifies a job to be.

    One process makes it and carries it by any means (Ray, Dask, MPI, a file) to all processes that
    shall be PEs; each then calls atoll.init(uid=..., pe=..., n_pes=...). Random; at most 128 characters. Local.
    """

def my_pe(team: Team | None = None) -> int:
    """
    Return the number of this PE, 0 to n_pes()-1; within `team` if given. Local.
    Source: OpenSHMEM 1.6, section 9.1.
    """

def n_pes(team: Team | None = None) -> int:
    """
    Return the number of PEs of the job, or of `team`. Local. Source: OpenSHMEM 1.6, section 9.1.
    """

def _global_exit(status: int, sentence: str) -> NoReturn:
    """See atoll.global_exit."""

def _heap_use() -> dict[str, int]:
    """See atoll.info."""

def _forked() -> None:
    """Run in a forked child: its parent's job is not its own."""

def _may_take_store() -> bool:
    """Whether init() without arguments may use torch's store."""

def _launched() -> bool:
    """
    Whether the process's environment (os.environ is a copy of it) still has the launcher's variable.
    """

def _end_reason() -> str:
    """Why another PE or the launcher ends the job; empty while nobody does."""

def _check_job(function: str) -> int:
    """
    This PE's number. Raises NotInitialized, naming the function, outside a job.
    """

def _report_by(report: Callable[[Any, Any, Any, bool], bool]) -> bool:
    """
    Set what _hook() reports by. False where it is set: the package was imported a second time.
    """

def _hook(kind: Any, value: Any, trace: Any) -> None:
    """
    Stands in for sys.excepthook: reports an exception that nobody caught, undisturbed by SIGINT.
    """

def _version() -> str:
    """The library's version."""

def _empty(shape: Any, dtype: Any, fortran: bool, align: int, atomics: bool, signal: bool, zero: bool, name: str, on_device: bool = False) -> Any:
    """Allocate; see atoll.empty."""

def register(x: Any) -> Any:
    """
    Return a symmetric view of an array of this PE's GPU that another library has allocated.

    x: an array of PyTorch, CuPy or Numba, a cuda.core.Buffer, or anything with DLPack's or CUDA's array
       interface, in memory of the driver's virtual memory management: PyTorch's with
       PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, cuda.core's VirtualMemoryResource. Not cudaMalloc's,
       which no other process can map. Any view: its offset and strides are kept. Every PE passes one, of equal
       size, at an equal place of equal allocations, as programs have that allocate alike.

    The result is an array of x's library, of its shape and dtype, over the same memory; x itself is not
    symmetric, but what is written by either is read by the other. It keeps x. The whole allocations that x
    lies in (2 MiB at least) are mapped on all PEs. free() ends it, and leaves x alone.

    Collective over all PEs; what one PE cannot raises on all. Raises InvalidArgument (cudaMalloc's memory, of
    another GPU or the host, not shareable, symmetric already), CollectiveMismatch, Unsupported, OutOfMemory.
    """

def free(x: AnyArray) -> None:
    """
    Free a symmetric array. Collective over all PEs, in the same order on all.

    x: what atoll.zeros() or its kin returned, or a view of all of it. Afterwards the array and every
    view of it (peer and global_view too) raise UseAfterFree when passed to a call; reading them by
    NumPy is not caught. Waits for all PEs; outstanding puts into x must be complete (barrier_all).

    An array that is never freed is no error: once the garbage collectors of all PEs have dropped
    it, its memory comes back at the next collective allocation.

    Raises NotSymmetric, UseAfterFree, InvalidArgument (part of an array), CollectiveMismatch (calls are
    always compared).
    Source: OpenSHMEM 1.6, section 9.3 (shmem_free).
    """

def pin(x: AnyArray) -> DeviceArray:
    """
    Let kernels of this PE's GPU read a symmetric array of the host; returns it as they take it.

    x: a symmetric NumPy array, or a view of one. The result has its address, shape, dtype and strides, and what
       CuPy, Numba, PyTorch and Triton ask for (__cuda_array_interface__, DLPack, .cupy(), .torch()); it keeps
       the memory. Passed to Atoll's functions it is the same as x.

    A kernel may load its elements, and wait for them (signal_wait_until, wait_until, test and their kin, also
    on a stream), while hosts of other PEs put, signal and update them as ever. Updating them atomically is left
    to CPUs: atomics of CPU and GPU on one word are not atomic with each other.

    The chunks of 2 MiB that x lies in are pinned, and their memory taken; what is pinned already stays so,
    until finalize(), or until an array of 1 MiB and more is freed and no other stands in what was pinned with
    it. Call it, and free such an array, while no kernel of this process waits for something: the GPU's driver
    may wait for kernels that run.

    Local. Raises NotInitialized (no array of a GPU was allocated yet), NotSymmetric, UseAfterFree, SystemFailure.
    """

def is_symmetric(x: AnyArray | object) -> bool:
    """
    True if x is an array, or a view of one, in this PE's symmetric memory and not freed. Local; never raises.
    """

@overload
def peer(x: Array, pe: int, *, team: Team | None = None) -> Array:
    """
    Return PE pe's copy of x as a plain array: reading and writing it are loads and stores there.

    x:  a symmetric array or view. The result has its shape, dtype, strides and library (of an array of a
        GPU: for kernels of this PE's GPU), and keeps the memory mapped. Order such accesses by barriers, signals or atomics.
    pe: within `team` if given.

    Local. Raises Unsupported where PE pe is out of load/store reach, NotSymmetric, PeError,
    UseAfterFree. Source: OpenSHMEM 1.6, section 9.3 (shmem_ptr).
    """

@overload
def peer(x: DeviceLike, pe: int, *, team: Team | None = None) -> Any: ...

@overload
def global_view(x: Array, team: Team | None = None) -> Array:
    """
    Return all PEs' copies of x as one array of shape (n_pes, *x.shape).

    everyone[pe, i] is PE pe's x[i], by load and store; slices along the first axis read from several
    PEs. A plain numpy.ndarray, or an array of x's library on this PE's GPU, whose first stride is the distance between PEs' memories; it keeps the
    memory mapped. Order such accesses by barriers, signals or atomics.

    x:    a symmetric array or view.
    team: PEs in this team's order; its PEs must be evenly spaced.

    Local. Raises Unsupported (a PE out of load/store reach, an irregular team), NotSymmetric,
    UseAfterFree.
    """

@overload
def global_view(x: DeviceLike, team: Team | None = None) -> Any: ...

def addr_accessible(x: AnyArray | object, pe: int, *, team: Team | None = None) -> bool:
    """
    True if x is symmetric and can be named as a target or source on PE pe. Local. Raises PeError.
    Source: OpenSHMEM 1.6, section 9.1 (shmem_addr_accessible).
    """

def pe_accessible(pe: int, *, team: Team | None = None) -> bool:
    """
    True if pe is the number of a PE of the job (or team). Local.
    Source: OpenSHMEM 1.6, section 9.1 (shmem_pe_accessible).
    """

def put(dst: AnyArray, src: AnySource, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src into dst on PE pe, without that PE's help.

    dst:  a symmetric array or any view of one (slice, reshape, transpose, field); it names the
          place on PE pe that stands where dst stands here. This PE's own dst is not touched,
          unless pe is this PE.
    src:  an array of dst's dtype and shape (axes of length 1 do not count), symmetric or not, of any
          strides; or one Python number, NumPy scalar or 0-d array, which fills dst; or a list.
          Nothing is cast. src and dst may overlap, but not on a stream; there src must be memory of
          the GPU, or pinned.
    pe:   number of the target PE, 0 to n_pes()-1; within `team`, or the context's team, if given.

    Local, not collective. On return src may be changed; the data stand in the target for certain
    after quiet() or barrier_all(); fence() orders puts to one PE. An aligned element of 1, 2, 4
    or 8 bytes is never seen half written. Arrays without elements are legal and move nothing.

    Raises NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized,
    InvalidArgument (read-only dst).

        atoll.put(x, np.arange(8.0), pe=1)      # all of x on PE 1
        atoll.put(x[2:4], 0.0, pe=1)            # two of its elements

    Source: OpenSHMEM 1.6, section 9.5 (shmem_put).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def put_nbi(dst: AnyArray, src: AnySource, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Like put, but src must not be changed before quiet().

    Local. Returns at once where the data travel by themselves; on one host it is put.
    Arguments and errors as for put. Source: OpenSHMEM 1.6, section 9.6 (shmem_put_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def get(dst: AnyArray, src: AnyArray, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src of PE pe into the local array dst.

    dst:  a writeable array, symmetric or not, of any strides.
    src:  a symmetric array or any view of one, of dst's dtype and shape (axes of length 1 do not
          count); it names the place on PE pe that stands where src stands here.
    pe:   number of the PE to read from, 0 to n_pes()-1; within `team`, or the context's team.

    Local, not collective. The data are in dst on return. Nothing makes PE pe's own writes
    visible: order the two by a barrier, a signal or an atomic. An aligned element of 1, 2, 4 or
    8 bytes is never seen half written.

    Raises NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized,
    InvalidArgument (read-only dst). Source: OpenSHMEM 1.6, section 9.5 (shmem_get).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def get_nbi(dst: AnyArray, src: AnyArray, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Like get, but the data are in dst only after quiet().

    Local. Arguments and errors as for get. Source: OpenSHMEM 1.6, section 9.6 (shmem_get_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def p(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Store one element, dst.flat[index] = value, on PE pe.

    dst:    a symmetric array or view; of its elements only number `index` is written.
    index:  in C order, negative ones from the end. It may be left out where dst has one element; of
            several one must be named (ShapeMismatch).
    value:  a Python number that fits, or a NumPy scalar of dst's dtype.

    Local; ordered and completed like put. Raises as put does, and IndexError.
    Source: OpenSHMEM 1.6, section 9.5 (shmem_p).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def g(src: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None) -> Any:
    """
    Return one element, src.flat[index], of PE pe.

    A Python int, float, complex or bool where nothing is lost by that, else a NumPy scalar
    (float16, long double, dates, structured dtypes). index may be left out where src has one element.

    Local; the value is there on return. Raises as get does, and IndexError.
    Source: OpenSHMEM 1.6, section 9.5 (shmem_g).
    """

def fence(ctx: Context | None = None) -> None:
    """
    Order: what this PE puts to some PE after the fence arrives there after what it put to that PE before.

    For puts, atomics and signals of the default context, or of ctx; for each target PE by
    itself. Completes nothing: use quiet() for that. Local. Source: OpenSHMEM 1.6, section 9.10.
    """

def quiet(ctx: Context | None = None) -> None:
    """
    Wait until all operations of this PE are complete and visible to every PE.

    For puts, atomics, signals and the nbi forms of the default context, or of ctx, and this
    thread's plain stores into symmetric arrays. Local: it waits for nobody's call.
    Source: OpenSHMEM 1.6, section 9.10.
    """

def pe_quiet(pes: ArrayLike, ctx: Context | None = None, *, team: Team | None = None) -> None:
    """
    Like quiet(), for the operations to some PEs only.

    pes: one PE number or a sequence of them. Raises PeError. Source: OpenSHMEM 1.6, section 9.10.
    """

def iput(dst: AnyArray, src: AnyArray, tst: int, sst: int, nelems: int, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src[i * sst] to dst[i * tst] on PE pe, for i < nelems.

    dst: a contiguous symmetric array (or view); src: a contiguous array of its dtype.
    tst, sst: strides in elements, at least 1. put(dst[::tst], src[::sst], pe) says the same in NumPy's terms.
    Local; completed like put. Raises as put does. Source: OpenSHMEM 1.6, section 9.5 (shmem_iput).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def iget(dst: AnyArray, src: AnyArray, tst: int, sst: int, nelems: int, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src[i * sst] of PE pe to dst[i * tst], for i < nelems.

    src: a contiguous symmetric array (or view); dst: a contiguous array of its dtype.
    tst, sst: strides in elements, at least 1. get(dst[::tst], src[::sst], pe) says the same in NumPy's terms.
    Local; the data are in dst on return. Raises as get does. Source: OpenSHMEM 1.6, section 9.5 (shmem_iget).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def ibput(dst: AnyArray, src: AnyArray, tst: int, sst: int, bsize: int, nblocks: int, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy nblocks blocks of bsize elements to PE pe: block i from src[i * sst] on, to dst[i * tst] on.

    dst: a contiguous symmetric array (or view); src: a contiguous array of its dtype.
    tst, sst: elements from one block's start to the next, at least bsize.
    Local; completed like put. Raises as put does. Source: OpenSHMEM 1.6, section 9.5 (shmem_ibput).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def ibget(dst: AnyArray, src: AnyArray, tst: int, sst: int, bsize: int, nblocks: int, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy nblocks blocks of bsize elements from PE pe: block i from src[i * sst] on, to dst[i * tst] on.

    src: a contiguous symmetric array (or view); dst: a contiguous array of its dtype.
    tst, sst: elements from one block's start to the next, at least bsize.
    Local; the data are in dst on return. Raises as get does. Source: OpenSHMEM 1.6, section 9.5 (shmem_ibget).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def take(src: AnyArray, index: AnySource, pe: AnySource, out: None = None, *, ctx: Context | None = None, team: Team | None = None, stream: None = None) -> Array:
    """
    Return src.flat[index] of PE pe, for many elements of many PEs in one call, at C speed.

    src:   a symmetric array or any view of one.
    index: element numbers in C order, negative ones from the end: an int or an array of integers.
    pe:    whose elements: an int or an array; broadcasts against index, which gives the result's shape.
    out:   a contiguous array of that shape and src's dtype to write into, and to return.

    Local; the data are there on return. All numbers are checked before the first element is read.
    Arrays of a GPU: src is contiguous or has one axis; index and pe of one shape, or one of them one
    element, are numbers, lists or arrays of the host, or int64 or int32 arrays of the GPU; out may be
    anywhere. On a stream index and pe are ints, or arrays of the GPU or pinned, and out is needed,
    there too. A wrong number in memory of the GPU stops the kernel: KernelError.
    Raises IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree.

        atoll.take(x, [3, 3, 0], [0, 1, 1])      # x[3] of PE 0, x[3] of PE 1, x[0] of PE 1

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def take(src: AnyArray, index: AnySource, pe: AnySource, out: OutArray, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> OutArray: ...

def put_at(dst: AnyArray, index: AnySource, values: AnySource, pe: AnySource, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Store dst.flat[index] = values on PE pe, for many elements of many PEs in one call, at C speed.

    dst:    a symmetric array or any view of one.
    index:  element numbers in C order, negative ones from the end: an int or an array of integers.
    values: an array of dst's dtype, or a number. index, values and pe broadcast against each other.
    pe:     whose elements: an int or an array.

    Local; completed like put. Of several values for one element any one is kept. All numbers are
    checked before the first element is written.
    Arrays of a GPU: index, pe and stream= as take's; values too: of one shape with them, or one.
    Raises IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def add_at(dst: AnyArray, index: AnySource, values: AnySource, pe: AnySource, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add values to dst.flat[index] on PE pe atomically, for many elements of many PEs in one call, at C speed.

    dst: a symmetric array or view of 32- or 64-bit integers, float32 or float64. Other arguments as for
    put_at. Each addition is an atomic_add: elements that occur more than once, here or on other PEs
    at the same time, get every value. Integers wrap. Local; completed like put; errors as put_at.
    Arrays of a GPU and stream= as for put_at.

        atoll.add_at(histogram, keys % m, 1, keys // m)       # counts kept by m a PE

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_set(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Set one element to value.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_inc(dst: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add 1 to one element; integers wrap.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_add(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add value to one element; integers wrap.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_and(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise and of one element with value.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_or(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise or of one element with value.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_xor(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise exclusive or of one element with value.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch(src: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> Any:
    """
    Return one element.

    src:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. The value before is
    returned as a Python number.

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_nbi(fetch: AnyArray, dst: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Read one element into fetch.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    fetch:  a local array of the same dtype; its first element takes the value before, for certain
            after quiet().
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_swap(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> Any:
    """
    Set one element to value; return what stood there before.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. The value before is
    returned as a Python number.

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_swap_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Set one element to value; what stood there before goes to fetch.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    fetch:  a local array of the same dtype; its first element takes the value before, for certain
            after quiet().
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_compare_swap(dst: AnyArray, expected: Value, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> int:
    """
    Set one element to value if it equals expected; return what stood there before.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. The value before is
    returned as a Python number.

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_compare_swap_nbi(fetch: AnyArray, dst: AnyArray, expected: Value, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Set one element to value if it equals expected; what stood there before goes to fetch.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    fetch:  a local array of the same dtype; its first element takes the value before, for certain
            after quiet().
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_inc(dst: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> Any:
    """
    Add 1 to one element; return what stood there before.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. The value before is
    returned as a Python number.

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_inc_nbi(fetch: AnyArray, dst: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add 1 to one element; what stood there before goes to fetch.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    fetch:  a local array of the same dtype; its first element takes the value before, for certain
            after quiet().
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_add(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> Any:
    """
    Add value to one element, integers wrapping; return what stood there before.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. The value before is
    returned as a Python number.

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_add_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add value to one element, integers wrapping; what stood there before goes to fetch.

    dst:    a symmetric array or view of 32- or 64-bit integers, float32 or float64.
    fetch:  a local array of the same dtype; its first element takes the value before, for certain
            after quiet().
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_and(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> int:
    """
    Bitwise and of one element with value; return what stood there before.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. The value before is
    returned as a Python number.

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_and_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise and of one element with value; what stood there before goes to fetch.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    fetch:  a local array of the same dtype; its first element takes the value before, for certain
            after quiet().
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_or(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> int:
    """
    Bitwise or of one element with value; return what stood there before.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. The value before is
    returned as a Python number.

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_or_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise or of one element with value; what stood there before goes to fetch.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    fetch:  a local array of the same dtype; its first element takes the value before, for certain
            after quiet().
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_xor(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> int:
    """
    Bitwise exclusive or of one element with value; return what stood there before.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. The value before is
    returned as a Python number.

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def atomic_fetch_xor_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise exclusive or of one element with value; what stood there before goes to fetch.

    dst:    a symmetric array or view of 32- or 64-bit integers.
    fetch:  a local array of the same dtype; its first element takes the value before, for certain
            after quiet().
    value:  a Python number that fits the dtype, or a NumPy scalar of it.
    pe:     whose element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index:  which element, in C order; negative ones count from the end. It may be left out where
            there is one element; of several one must be named (ShapeMismatch).

    Local, not collective. Atomic together with every other atomic operation, signal and wait on
    the element, and ordered (acquire and release) where PE pe is on this host. Complete after quiet().

    Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def put_signal(dst: AnyArray, src: AnySource, sig: AnyArray, value: int, op: SignalName, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src into dst on PE pe, then set or increase a signal there.

    dst, src, pe: as for put. dst without elements is legal: the signal is given all the same.
    sig:   symmetric words of uint64 (atoll.signal()); number `index` of them on PE pe is the signal. The index
           may be left out where there is one word.
    value: 0 to 2**64 - 1.
    op:    "set" or "add", or atoll.SIGNAL_SET, atoll.SIGNAL_ADD. Sums wrap. It may be left out, which
           means "set"; then pe is passed as pe=.

    Local. Whoever sees the signal (signal_wait_until, signal_fetch) sees this call's data, and no more
    than that. On return src may be changed. Raises as put does.

        atoll.put_signal(x, data, sig, 1, pe=right)

    Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def put_signal(dst: AnyArray, src: AnySource, sig: AnyArray, value: int, op: SignalName = 'set', *, pe: int, index: int | None = None, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None: ...

@overload
def put_signal_nbi(dst: AnyArray, src: AnySource, sig: AnyArray, value: int, op: SignalName, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Like put_signal, but src must not be changed before quiet().

    Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal_nbi).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def put_signal_nbi(dst: AnyArray, src: AnySource, sig: AnyArray, value: int, op: SignalName = 'set', *, pe: int, index: int | None = None, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None: ...

def signal_set(sig: AnyArray, value: int, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Set signal word number `index` of sig on PE pe to value.

    sig: symmetric words of uint64; of several, index must name one. Local; not ordered after puts: fence() first, or use put_signal.
    Raises DtypeMismatch, NotSymmetric, PeError, IndexError, UseAfterFree. Source: OpenSHMEM 1.6, section 9.8.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def signal_add(sig: AnyArray, value: int, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add value to signal word number `index` of sig on PE pe, atomically.

    sig: symmetric words of uint64; of several, index must name one. Sums wrap. Local; not ordered after puts: fence() first, or use put_signal.
    Raises DtypeMismatch, NotSymmetric, PeError, IndexError, UseAfterFree. Source: OpenSHMEM 1.6, section 9.8.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def signal_fetch(sig: AnyArray, index: int | None = None) -> int:
    """
    Return this PE's own signal word number `index` of sig.

    The index may be left out where there is one word. Acquires: what the PE that signalled had put by
    put_signal is visible. Local. Source: OpenSHMEM 1.6, section 9.8 (shmem_signal_fetch).
    """

@overload
def signal_wait_until(sig: AnyArray, cmp: CompareName, value: int, timeout: float | None = None, index: int | None = None, stream: None = None) -> int:
    """
    Wait until this PE's own signal word compares, and return the value that did.

    sig:     symmetric words of uint64; number `index` of them, in C order, is waited for. The index may be
             left out where there is one word; of several one must be named (ShapeMismatch).
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    value:   0 to 2**64 - 1.
    timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.

    Acquires: what the PE that signalled had put by put_signal is visible. Other threads run meanwhile and
    Ctrl-C is answered. Raises Timeout (naming the wait), PeDied, DtypeMismatch, NotSymmetric.
    On a stream (None else) the stream waits, and None is returned; a captured graph compares with the same
    value in each replay: see signal_consume. Source: OpenSHMEM 1.6, section 9.12 (shmem_signal_wait_until).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def signal_wait_until(sig: AnyArray, cmp: CompareName, value: int, timeout: None = None, index: int | None = None, *, stream: GivenStream) -> None: ...

def signal_consume(sig: AnyArray, n: int, index: int | None = None, stream: Stream = None) -> None:
    """
    Wait until this PE's own signal word is at least n, then subtract n.

    What the other PEs add by signal_add or put_signal in one round, the next round waits for again: so a
    captured graph replays. sig: symmetric words of uint64; of several, index must name one. Nobody else may subtract from the word meanwhile.
    Raises Timeout, PeDied, DtypeMismatch, NotSymmetric. Atoll's own; no such call in OpenSHMEM.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def wait_until(ivar: AnyArray, cmp: CompareName, value: Value, timeout: float | None = None, index: int | None = None, stream: None = None) -> int:
    """
    Wait until this PE's own symmetric word number `index` of ivar compares; return the value that did.

    ivar:    a symmetric array of integers, or any view of one; on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    value:   an integer that ivar's dtype holds.
    timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.
    index:   which element of ivar, in C order, negative ones from the end. It may be left out where
             ivar has one element; of several one must be named (ShapeMismatch).

    Acquires: what the updating PEs had ordered before their updates is visible on return. Other threads
    run meanwhile and Ctrl-C is answered. Raises Timeout (naming the wait), PeDied, NotSymmetric,
    DtypeMismatch, ShapeMismatch, UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def wait_until(ivar: AnyArray, cmp: CompareName, value: Value, timeout: None = None, index: int | None = None, *, stream: GivenStream) -> None: ...

@overload
def test(ivar: AnyArray, cmp: CompareName, value: Value, index: int | None = None, *, out: None = None, stream: None = None) -> bool:
    """
    True if this PE's own symmetric word number `index` of ivar compares.

    ivar:    a symmetric array of integers, or any view of one; on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    value:   an integer that ivar's dtype holds.
    index:   which element of ivar, in C order, negative ones from the end. It may be left out where
             ivar has one element; of several one must be named (ShapeMismatch).
    out:     with stream= alone; an int64 array for 1 or 0.

    Never waits; acquires where it answers yes. Raises NotSymmetric, DtypeMismatch, ShapeMismatch,
    UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def test(ivar: AnyArray, cmp: CompareName, value: Value, index: int | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

def wait_until_all(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, timeout: float | None = None, *, stream: Stream = None) -> None:
    """
    Wait until every word has compared; one that did once counts.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    value:   an integer that ivars' dtype holds.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.

    On a stream, status is an array of int32, one entry for each word,
    in memory of the GPU or pinned; they are read when the stream comes there, in each
    replay of a graph again.

    Acquires: what the updating PEs had ordered before their updates is visible on return. Other threads
    run meanwhile and Ctrl-C is answered. Raises Timeout (naming the wait), PeDied, NotSymmetric,
    DtypeMismatch, ShapeMismatch, UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def wait_until_all_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, timeout: float | None = None, *, stream: Stream = None) -> None:
    """
    Wait until every word has compared; one that did once counts. Each word has its own value.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    values:  one for each word, of ivars' dtype, or a list of Python numbers.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.

    On a stream, status is an array of int32, values one of ivars' dtype, one entry for each word,
    in memory of the GPU or pinned; they are read when the stream comes there, in each
    replay of a graph again.

    Acquires: what the updating PEs had ordered before their updates is visible on return. Other threads
    run meanwhile and Ctrl-C is answered. Raises Timeout (naming the wait), PeDied, NotSymmetric,
    DtypeMismatch, ShapeMismatch, UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def test_all(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, *, out: None = None, stream: None = None) -> bool:
    """
    True if every word compares.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    value:   an integer that ivars' dtype holds.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    out:     with stream= alone; an int64 array for 1 or 0.

    On a stream, status is an array of int32, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Never waits; acquires where it answers yes. Raises NotSymmetric, DtypeMismatch, ShapeMismatch,
    UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def test_all(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_all_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, *, out: None = None, stream: None = None) -> bool:
    """
    True if every word compares. Each word has its own value.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    values:  one for each word, of ivars' dtype, or a list of Python numbers.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    out:     with stream= alone; an int64 array for 1 or 0.

    On a stream, status is an array of int32, values one of ivars' dtype, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Never waits; acquires where it answers yes. Raises NotSymmetric, DtypeMismatch, ShapeMismatch,
    UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def test_all_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def wait_until_any(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, timeout: float | None = None, *, out: None = None, stream: None = None) -> int | None:
    """
    Wait until some word compares; return its index, in turn among several; None if no word is left in.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    value:   an integer that ivars' dtype holds.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.
    out:     with stream= alone; an int64 array for the lowest such index, or -1 for None.

    On a stream, status is an array of int32, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Acquires: what the updating PEs had ordered before their updates is visible on return. Other threads
    run meanwhile and Ctrl-C is answered. Raises Timeout (naming the wait), PeDied, NotSymmetric,
    DtypeMismatch, ShapeMismatch, UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def wait_until_any(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, timeout: None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def wait_until_any_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, timeout: float | None = None, *, out: None = None, stream: None = None) -> int | None:
    """
    Wait until some word compares; return its index, in turn among several; None if no word is left in. Each word has its own value.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    values:  one for each word, of ivars' dtype, or a list of Python numbers.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.
    out:     with stream= alone; an int64 array for the lowest such index, or -1 for None.

    On a stream, status is an array of int32, values one of ivars' dtype, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Acquires: what the updating PEs had ordered before their updates is visible on return. Other threads
    run meanwhile and Ctrl-C is answered. Raises Timeout (naming the wait), PeDied, NotSymmetric,
    DtypeMismatch, ShapeMismatch, UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def wait_until_any_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, timeout: None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_any(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, *, out: None = None, stream: None = None) -> int | None:
    """
    Return the index of a word that compares, in turn among several; None if there is none.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    value:   an integer that ivars' dtype holds.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    out:     with stream= alone; an int64 array for the lowest such index, or -1 for None.

    On a stream, status is an array of int32, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Never waits; acquires where it answers yes. Raises NotSymmetric, DtypeMismatch, ShapeMismatch,
    UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def test_any(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_any_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, *, out: None = None, stream: None = None) -> int | None:
    """
    Return the index of a word that compares, in turn among several; None if there is none. Each word has its own value.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    values:  one for each word, of ivars' dtype, or a list of Python numbers.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    out:     with stream= alone; an int64 array for the lowest such index, or -1 for None.

    On a stream, status is an array of int32, values one of ivars' dtype, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Never waits; acquires where it answers yes. Raises NotSymmetric, DtypeMismatch, ShapeMismatch,
    UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def test_any_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def wait_until_some(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, timeout: float | None = None, *, out: None = None, stream: None = None) -> IndexArray:
    """
    Wait until some word compares; return the indices of all that do, as an integer array (empty if no word is left in).

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    value:   an integer that ivars' dtype holds.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.
    out:     with stream= alone; an int64 array for how many there are, then their indices: n + 1 words for n of ivars.

    On a stream, status is an array of int32, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Acquires: what the updating PEs had ordered before their updates is visible on return. Other threads
    run meanwhile and Ctrl-C is answered. Raises Timeout (naming the wait), PeDied, NotSymmetric,
    DtypeMismatch, ShapeMismatch, UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def wait_until_some(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, timeout: None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def wait_until_some_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, timeout: float | None = None, *, out: None = None, stream: None = None) -> IndexArray:
    """
    Wait until some word compares; return the indices of all that do, as an integer array (empty if no word is left in). Each word has its own value.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    values:  one for each word, of ivars' dtype, or a list of Python numbers.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.
    out:     with stream= alone; an int64 array for how many there are, then their indices: n + 1 words for n of ivars.

    On a stream, status is an array of int32, values one of ivars' dtype, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Acquires: what the updating PEs had ordered before their updates is visible on return. Other threads
    run meanwhile and Ctrl-C is answered. Raises Timeout (naming the wait), PeDied, NotSymmetric,
    DtypeMismatch, ShapeMismatch, UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def wait_until_some_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, timeout: None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_some(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, *, out: None = None, stream: None = None) -> IndexArray:
    """
    Return the indices of all words that compare, as an integer array.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    value:   an integer that ivars' dtype holds.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    out:     with stream= alone; an int64 array for how many there are, then their indices: n + 1 words for n of ivars.

    On a stream, status is an array of int32, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Never waits; acquires where it answers yes. Raises NotSymmetric, DtypeMismatch, ShapeMismatch,
    UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def test_some(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_some_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, *, out: None = None, stream: None = None) -> IndexArray:
    """
    Return the indices of all words that compare, as an integer array. Each word has its own value.

    ivars:   a contiguous symmetric array (or view) of integers, on this PE.
    cmp:     "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on): found `cmp` value.
    values:  one for each word, of ivars' dtype, or a list of Python numbers.
    status:  one integer for each word; words whose entry is not 0 are left out. None: none is.
    out:     with stream= alone; an int64 array for how many there are, then their indices: n + 1 words for n of ivars.

    On a stream, status is an array of int32, values one of ivars' dtype, one entry for each word,
    in memory of the GPU or pinned, as out, which may be larger; they are read when the stream comes there, in each
    replay of a graph again.

    Never waits; acquires where it answers yes. Raises NotSymmetric, DtypeMismatch, ShapeMismatch,
    UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def test_some_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

def barrier_all(*, stream: Stream = None) -> None:
    """
    Wait until all PEs have come here and all that they put before is complete and visible.

    Collective over all PEs. On a stream the PEs' streams meet, and the host goes on; what each did before is
    visible to all behind it. Else the hosts meet. Completes the default context's puts, atomics and signals, and plain stores
    into symmetric arrays. Other threads run meanwhile and Ctrl-C is answered if it takes long.
    Raises PeDied, Timeout (ATOLL_WAIT_TIMEOUT), CollectiveMismatch (the PEs' calls are compared unless
    ATOLL_CHECK=none). Source: OpenSHMEM 1.6, section 9.11.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def sync_all(*, stream: Stream = None) -> None:
    """
    Wait until all PEs have come here; completes no puts.

    Collective over all PEs. Each PE's plain stores before it are visible to all after it.
    Raises PeDied, Timeout, CollectiveMismatch (the PEs' calls are compared unless
    ATOLL_CHECK=none). Source: OpenSHMEM 1.6, section 9.11.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def barrier(team: Team | None = None, *, stream: Stream = None) -> None:
    """
    barrier_all among the PEs of a team: quiet on the team's default context, then sync.

    Collective over the team (None: all PEs).
    Raises PeDied, UseAfterFree, Timeout, CollectiveMismatch (the PEs' calls are compared unless
    ATOLL_CHECK=none).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def sync(team: Team | None = None, *, stream: Stream = None) -> None:
    """
    Wait until all PEs of a team have come here; completes no puts.

    Collective over the team (None: all PEs).
    Raises PeDied, UseAfterFree, Timeout, CollectiveMismatch (the PEs' calls are compared unless
    ATOLL_CHECK=none).
    Source: OpenSHMEM 1.6, section 9.11 (shmem_team_sync).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def broadcast(dst: AnyArray, src: AnyArray, root: int = 0, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Give every PE the root's src.

    broadcast(dst, src, root) writes it into dst, on the root too; broadcast(src, root) returns it as a new
    ordinary array. src has dst's shape and dtype on every PE; its contents count on the root only.

    Arrays may be symmetric (faster) or ordinary, of any strides. Arrays of a GPU: symmetric and contiguous, both, on
    every PE. Collective over the team (None: all PEs),
    with equal sizes, dtypes and roots on all; on return dst is complete here and src may be changed; completes
    no puts. Raises ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree, CollectiveMismatch: the
    PEs' sizes and roots are compared unless ATOLL_CHECK=none; dtypes, too, where all PEs are Python.
    Source: OpenSHMEM 1.6, section 9.11 (shmem_broadcast).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def broadcast(src: Array, root: int = 0, *, team: Team | None = None) -> Array: ...

@overload
def broadcast(src: ArrayLike, root: int = 0, *, team: Team | None = None) -> Any: ...

@overload
def fcollect(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Give every PE the src of all PEs, in PE order; src has one size on all.

    fcollect(dst, src) fills dst, which has n_pes times src's elements; fcollect(src) returns a new ordinary
    array of shape (n_pes, *src.shape).

    Arrays may be symmetric (faster) or ordinary, of any strides. Arrays of a GPU: symmetric and contiguous, both, on
    every PE. Collective over the team (None: all PEs),
    with equal sizes and dtypes on all; on return dst is complete here and src may be changed; completes
    no puts. Raises ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree, CollectiveMismatch: the
    PEs' sizes are compared unless ATOLL_CHECK=none; dtypes, too, where all PEs are Python.
    Source: OpenSHMEM 1.6, section 9.11 (shmem_fcollect).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def fcollect(src: ArrayLike, *, team: Team | None = None) -> Array: ...

@overload
def collect(dst: AnyArray, src: AnySource, *, team: Team | None = None) -> int:
    """
    Give every PE the src of all PEs, one after the other in PE order; sizes may differ, also be 0.

    collect(dst, src) fills the start of dst and returns how many elements arrived; collect(src) returns a
    new ordinary array, joined along the first axis (whose length alone may differ). On a stream None is
    returned, and a dst without room for all ends the job with a KernelError; else ShapeMismatch says so, of arrays
    of a GPU on every PE.

    Arrays may be symmetric (faster) or ordinary, of any strides. Arrays of a GPU: symmetric and contiguous, both, on
    every PE. Collective over the team (None: all PEs),
    with equal dtypes on all; on return dst is complete here and src may be changed; completes
    no puts. Raises ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree, CollectiveMismatch: the
    PEs' calls are compared unless ATOLL_CHECK=none; dtypes, too, where all PEs are Python.
    Source: OpenSHMEM 1.6, section 9.11 (shmem_collect).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def collect(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream) -> int | None: ...

@overload
def collect(src: ArrayLike, *, team: Team | None = None) -> Array: ...

@overload
def alltoall(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Exchange blocks: block j of this PE's src becomes block my_pe of PE j's dst.

    src, in C order, is n_pes equal blocks, such as an array of shape (n_pes, k). alltoall(dst, src) fills dst, of
    as many elements; alltoall(src) returns a new ordinary array of src's shape.

    Arrays may be symmetric (faster) or ordinary, of any strides. Arrays of a GPU: symmetric and contiguous, both, on
    every PE. Collective over the team (None: all PEs),
    with equal sizes and dtypes on all; on return dst is complete here and src may be changed; completes
    no puts. Raises ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree, CollectiveMismatch: the
    PEs' sizes are compared unless ATOLL_CHECK=none; dtypes, too, where all PEs are Python.
    Source: OpenSHMEM 1.6, section 9.11 (shmem_alltoall).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def alltoall(src: ArrayLike, *, team: Team | None = None) -> Array: ...

def alltoalls(dst: AnyArray, src: AnyArray, dst_stride: int, src_stride: int, nelems: int, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    alltoall of nelems elements a block, strided: element i of block j stands at (j * nelems + i) * stride.

    dst and src are contiguous; strides count elements, at least 1.

    Arrays may be symmetric (faster) or ordinary, of any strides. Arrays of a GPU: symmetric and contiguous, both, on
    every PE. Collective over the team (None: all PEs),
    with equal sizes and dtypes on all; on return dst is complete here and src may be changed; completes
    no puts. Raises ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree, CollectiveMismatch: the
    PEs' sizes are compared unless ATOLL_CHECK=none; dtypes, too, where all PEs are Python.
    Source: OpenSHMEM 1.6, section 9.11 (shmem_alltoalls).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def gather(dst: AnyArray | None, src: AnyArray, root: int = 0, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Give the root the src of all PEs, in PE order; src has one size on all.

    gather(dst, src, root) fills the root's dst, which has n_pes times src's elements (elsewhere dst is not looked
    at and may be None); gather(src, root) returns on the root a new ordinary array of shape
    (n_pes, *src.shape), elsewhere None.

    Arrays may be symmetric (faster) or ordinary, of any strides. Arrays of a GPU: symmetric and contiguous, both, on
    every PE. Collective over the team (None: all PEs),
    with equal sizes, dtypes and roots on all; on return dst is complete here and src may be changed; completes
    no puts. Raises ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree, CollectiveMismatch: the
    PEs' sizes and roots are compared unless ATOLL_CHECK=none; dtypes, too, where all PEs are Python.
    Source: OpenSHMEM 1.6, section 9.11.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def gather(src: ArrayLike, root: int = 0, *, team: Team | None = None) -> Array | None: ...

@overload
def scatter(dst: AnyArray, src: AnyArray | None, root: int = 0, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Give every PE its own block of the root's src.

    scatter(dst, src, root) fills dst; src, of n_pes times dst's elements, counts on the root only.
    scatter(src, root) takes src of shape (n_pes, ...) on every PE and returns row my_pe of the root's, as a new
    ordinary array.

    Arrays may be symmetric (faster) or ordinary, of any strides. Arrays of a GPU: symmetric and contiguous, both, on
    every PE. Collective over the team (None: all PEs),
    with equal sizes, dtypes and roots on all; on return dst is complete here and src may be changed; completes
    no puts. Raises ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree, CollectiveMismatch: the
    PEs' sizes and roots are compared unless ATOLL_CHECK=none; dtypes, too, where all PEs are Python.
    Source: OpenSHMEM 1.6, section 9.11.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def scatter(src: Array, root: int = 0, *, team: Team | None = None) -> Array: ...

@overload
def sum_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs, on every PE.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of integers, float32, float64, long double or complex; any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def sum_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def sum_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def prod_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Product over PEs, on every PE.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of integers, float32, float64, long double or complex; any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def prod_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def prod_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def min_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Minimum over PEs, on every PE.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of integers, float32, float64 or long double; any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def min_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def min_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def max_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Maximum over PEs, on every PE.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of integers, float32, float64 or long double; any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def max_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def max_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def avg_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Mean over PEs, on every PE: the sum, divided by their number. An extension.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of float32, float64 or long double (on a GPU float16 and bfloat16, too); any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def avg_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def avg_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

def premul_sum_reduce(dst: AnyArray, src: AnySource, factor: float, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs of factor, the same on all of them, times each element. An extension.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of float32, float64 or long double (on a GPU float16 and bfloat16, too); any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def premul_sum_reduce_scatter(dst: AnyArray, src: AnySource, factor: float, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs of factor times each element, each PE getting its own block of the result. An extension.

    dst gets block my_pe; src has n_pes times its elements. Else as for premul_sum_reduce; of arrays in host memory
    it makes a scaled copy of src.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def and_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise (bool: logical) and over PEs, on every PE.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of integers or bool; any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def and_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def and_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def or_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise (bool: logical) or over PEs, on every PE.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of integers or bool; any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def or_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def or_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def xor_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise (bool: logical) exclusive or over PEs, on every PE.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of integers or bool; any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def xor_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def xor_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def reduce(dst: AnyArray, src: AnySource, op: ReduceName, root: int | None = None, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Reduce over PEs with an operator, on every PE or on one.

    reduce(dst, src, op, root=None) writes into dst; reduce(src, op, root=None) returns a new ordinary array.

    op:   "sum", "prod", "min", "max", "avg", "and", "or", "xor", or atoll.SUM and so on.
    root: the PE that gets the result; elsewhere dst is left alone and None is returned. None: every PE. Arrays of a
          GPU are passed on every PE all the same.
    Else as for sum_reduce. Raises also InvalidArgument (op) and PeError (root); op and root are
    compared, too.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def reduce(src: Array, op: ReduceName, *, team: Team | None = None) -> Array: ...

@overload
def reduce(src: Array, op: ReduceName, root: int, *, team: Team | None = None) -> Array | None: ...

@overload
def reduce(src: ArrayLike, op: ReduceName, root: int | None = None, *, team: Team | None = None) -> Any: ...

@overload
def reduce_scatter(dst: AnyArray, src: AnyArray, op: ReduceName = 'sum', *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Reduce over PEs, each PE getting its own block of the result.

    reduce_scatter(dst, src, op) writes block my_pe into dst, and src has n_pes times dst's elements;
    reduce_scatter(src, op) takes src of shape (n_pes, ...) and returns row my_pe of the reduction.

    op: "sum" (default), "prod", "min", "max", "avg", "and", "or", "xor". Else as for sum_reduce.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def reduce_scatter(src: Array, op: ReduceName = 'sum', *, team: Team | None = None) -> Array: ...

@overload
def sum_inscan(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs 0 to my_pe, this PE included.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of integers, float32, float64, long double or complex; any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def sum_inscan(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def sum_inscan(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def sum_exscan(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs 0 to my_pe - 1, this PE not included; 0 on the first.

    With (dst, src) the result is written into dst; with (src) it is returned as a new ordinary array, for
    one number as a number.

    src:  an array of integers, float32, float64, long double or complex; any strides,
          symmetric (faster) or not; equal shape and dtype on all PEs.
    dst:  like src; it may be src itself.
    team: the PEs that take part; None: all.
    Arrays of a GPU are symmetric and contiguous, both; float16 and bfloat16 are added up in float.

    Collective over the team. Element by element, in PE order, so that all PEs and all runs get the
    same bits. On return dst is complete here and src may be changed; completes no puts.

    Raises DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree, CollectiveMismatch: sizes and dtypes
    of the PEs are compared unless ATOLL_CHECK=none.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

@overload
def sum_exscan(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def sum_exscan(src: ArrayLike, *, team: Team | None = None) -> Any: ...

def _pool_add(address: int, bytes: int, table: int, table_bytes: int, kept: object) -> None:
    """
    A slab for _pool_use, zeros of the host heap for what other PEs may know of it, and what lives as long; see atoll.torch.Pool.
    """

def _pool_use(address: int) -> int:
    """New memory comes from that slab, 0: none; returns the one before."""

def _pool_use_of(address: int) -> tuple[int, int, int]:
    """
    (a number that is equal where PEs allocated alike, bytes in use, how often there was no room).
    """

def _pool_table_bytes(segments: int) -> int:
    """How long the zeros for a slab of at most so many segments are."""

def _pool_remove(address: int) -> Any:
    """Forget a slab; returns what lived as long."""

def send(src: AnyArray, pe: int, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Send src to PE pe, which calls recv. Returns when src may be changed, which may be after the receiver came.

    src: any array; on a GPU a symmetric one.

    Messages between a pair of PEs are matched in order, and sizes must be equal. Inside `with atoll.group():`
    the call only notes what to do; all of the group's run together at its end, in any order, so that PEs may
    send to each other. Other threads run meanwhile and Ctrl-C is answered. Between arrays of a GPU both sides pass
    contiguous arrays on their GPUs, 64 at most in a group, all on one stream; sizes that differ stop the receiver's
    kernel (KernelError). In a group they block the host at its end, if at all.
    Raises ShapeMismatch, PeError, PeDied, Timeout, UseAfterFree. An addition to OpenSHMEM.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def recv(dst: AnyArray, pe: int, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Receive into dst what PE pe sends; the data are there on return.

    dst: any writeable array of the message's size.

    Messages between a pair of PEs are matched in order, and sizes must be equal. Inside `with atoll.group():`
    the call only notes what to do; all of the group's run together at its end, in any order, so that PEs may
    send to each other. Other threads run meanwhile and Ctrl-C is answered. Between arrays of a GPU both sides pass
    contiguous arrays on their GPUs, 64 at most in a group, all on one stream; sizes that differ stop the receiver's
    kernel (KernelError). In a group they block the host at its end, if at all.
    Raises ShapeMismatch, PeError, PeDied, Timeout, UseAfterFree. An addition to OpenSHMEM.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

class group:
    """
    Several send and recv calls at once: they run together at the end of the `with` statement.

        with atoll.group():
            atoll.send(x, right)
            atoll.recv(y, left)

    Arrays must stay as they are until then. After an exception inside nothing is sent. One group a thread
    at a time, of one team. Called by the PEs that take part in its messages.
    """

    def __init__(self, team: Team | None = None) -> None: ...

    def __enter__(self) -> group: ...

    def __exit__(self, *args: object) -> None: ...

class Lock:
    """
    Mutual exclusion among all PEs, first come first served.

        lock = atoll.Lock()          # collective over all PEs
        with lock:                   # one PE at a time
            ...

    Not recursive. Making and free() are collective; a lock that is only dropped is reclaimed later, as arrays are.
    Source: OpenSHMEM 1.6, section 9.13 (shmem_set_lock, shmem_test_lock, shmem_clear_lock).
    """

    def __init__(self) -> None: ...

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """
        Take the lock; True once this PE holds it. With blocking=False return False at once where another holds it.

        timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. Raises Timeout, PeDied,
        InvalidArgument (this PE holds it already; a timeout with blocking=False).
        """

    def release(self) -> None:
        """
        Give the lock back, after completing this PE's puts on the default context.

        Raises InvalidArgument where this PE does not hold it.
        """

    def __repr__(self) -> str: ...

    def _set_lock(self) -> None:
        """See atoll.shmem.set_lock."""

    def _test_lock(self) -> bool:
        """See atoll.shmem.test_lock."""

    def _clear_lock(self) -> None:
        """See atoll.shmem.clear_lock."""

    def free(self) -> None:
        """Free the lock's memory. Collective over all PEs."""

    def __enter__(self) -> Lock: ...

    def __exit__(self, *args: object) -> None: ...

class Mailbox:
    """
    Small messages from every PE of a team to every other, faster than put_signal.

    Their words carry their own flags, so that no message waits for a fence.

    nbytes: the longest message; slots: messages to one PE that may be unread before post() waits.
    team:   the PEs that write to each other. device: 'cpu' or None; or 'cuda', for arrays of a GPU.

    Making one and free() are collective over all PEs of the job, whatever the team. `receive` makes the
    message itself visible and nothing else. One thread posts at a time for each pair of PEs.

    With device='cuda' arrays are contiguous ones of this PE's GPU (symmetric or not) or what atoll.pin()
    returned, and calls take stream=; kernels post and receive in the same mailbox (`block`). slots is at most
    4 (post waits for sure from 8 unread on), and all PEs of the team share memory (Unsupported). Calls without
    a stream wait on the host, as any other call. Those on streams wait in a kernel: they take no timeout=,
    answer no Ctrl-C, and after ATOLL_WAIT_TIMEOUT end the job with a report. Per pair and direction one call
    runs at a time, whether by a host, a stream or a kernel. Of messages that kernels post, dst has the size.
    """

    def __init__(self, nbytes: int, slots: int = 2, team: Team | None = None, device: str | None = None) -> None: ...

    def post(self, src: AnyArray, pe: int, timeout: float | None = None, *, stream: Stream = None) -> None:
        """
        Copy src (any array of at most nbytes bytes) to PE pe; on return it may be changed.

        Waits while all slots to that PE are unread. Other threads run meanwhile and Ctrl-C is answered; a wait
        that ends by it, or by time, has posted nothing. On a stream returns at once, and src must stay until
        the stream has come there.
        timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once. None on a stream.
        Raises ShapeMismatch, PeError, Timeout, PeDied, UseAfterFree, InvalidArgument, Unsupported.
        """

    @overload
    def receive(self, dst: AnyArray, from_pe: int, timeout: float | None = None) -> int:
        """
        Copy the next message from PE from_pe into dst; return the number of elements that arrived.

        Messages of a pair arrive in order. dst must be large enough for it. Other threads run meanwhile and
        Ctrl-C is answered; a wait that ends by it, or by time, loses no message.
        timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.
        Raises ShapeMismatch, DtypeMismatch, PeError, Timeout, PeDied, UseAfterFree.
        """

    @overload
    def receive(self, dst: AnyArray, from_pe: int, *, stream: Stream, count: AnyArray | None = None) -> int | None:
        """
        The same in the order of a stream: returns None at once.

        count: an int64 array of one on the GPU, which is told how many elements arrived.
        A message that dst does not hold stops the kernel (KernelError), where without a stream it is
        ShapeMismatch and stays to be received. Raises also InvalidArgument, Unsupported.
        """

    def try_receive(self, dst: AnyArray, from_pe: int, *, stream: Stream = None, count: AnyArray | None = None) -> int | None:
        """
        Like receive, but return None at once where there is no message.

        On a stream count is needed: -1 there says that none had come.
        """

    def capacity_bytes(self) -> int:
        """The longest message, in bytes."""

    @property
    def block(self) -> DeviceArray:
        """
        Of device='cuda': what kernels of the team take, beside capacity_bytes() as the room: bytes on the GPU.

        atoll.numba, atoll.cute and atoll.cupy have mailbox(box); Triton's calls take (block.torch(), room). Raises Unsupported,
        UseAfterFree.
        """

    def __repr__(self) -> str: ...

    def free(self) -> None:
        """Free the mailbox's memory. Collective over all PEs of the job."""

    def __enter__(self) -> Mailbox: ...

    def __exit__(self, *args: object) -> None: ...

def check_kernels(*, stream: Stream = None) -> None:
    """
    Raise KernelError if the GPU stopped a kernel of this process: what it waited for, or which wrong PE it was given.

    A kernel's wait ends with the job, and with ATOLL_WAIT_TIMEOUT set after that many seconds; wrong PEs are
    found where ATOLL_CHECK is not none. The kernel then reports and traps, and the GPU's context is lost:
    whichever library makes the next call of the GPU gets an error of CUDA ("unspecified launch failure"). This
    call says what happened: operation, address, found and expected value, PE, and the tag= of the call. Atoll's
    own calls raise KernelError by themselves. Where no call does for 5 s, the job ends with that sentence.

    stream: what was enqueued there is waited for first. None: says only what is known already, at once.
    Local. Raises KernelError.

    stream: for arrays of a GPU. None: the host waits until the call is done. A stream of this PE's GPU
    (an integer handle, one of cuda.core, CuPy, PyTorch or Numba, anything with __cuda_stream__), or
    "current", that of the arrays' library: the call is enqueued there, in CUDA graphs too, and returns
    at once; arrays must stay until the stream has come there. "Streams" in docs/python.md tells more.
    """

def _kernel_failure() -> str:
    """What check_kernels would raise, or nothing."""

def _kernel_layout() -> dict[str, int]:
    """
    Return where the words of a team's control block stand, for kernels written in Python.
    """

def _kernel_look() -> int:
    """Return the address of what kernels on the host call while they wait."""

def _note_kernel(name: str, blocks: int, threads: int) -> None:
    """
    Tell the name of a kernel that is being started, for the report of one that is stopped.
    """

def _pes_at_once(gpu: int) -> int:
    """How many PEs of the job run on a GPU at once."""

def _resident_share(gpu: int, blocks: int) -> int:
    """
    Of `blocks` that a GPU can run at once, those that this PE's kernels may have: several PEs may run on it.
    """

def _grid_refusal(gpu: int, blocks: int, threads: int, whole: int) -> str:
    """
    Why a grid is refused that cannot be resident; the GPU can run `whole` such blocks at once.
    """

def _kernel_ended() -> None:
    """Raise what ended a wait of this thread's kernel, if one did."""

def _shmem_barrier_all() -> None:
    """
    Wait until all PEs have come here and all that they put before is complete and visible.

    Collective over all PEs; calls are compared unless ATOLL_CHECK=none (CollectiveMismatch).
    Source: OpenSHMEM 1.6, section 9.11.
    """

def _shmem_sync_all() -> None:
    """
    Wait until all PEs have come here; completes no puts.

    Collective over all PEs; calls are compared unless ATOLL_CHECK=none (CollectiveMismatch).
    Source: OpenSHMEM 1.6, section 9.11.
    """

def _shmem_put(target: Array, source: Array, pe: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Copy the first elements of source into target on PE pe.

    target: a contiguous symmetric array, C or Fortran; it names the place on PE pe that stands where target
            stands here.
    source: a contiguous array of target's dtype, symmetric or not. Shapes do not count: elements are copied in
            the order in which they stand in memory.
    size:   how many elements; None: as many as the smaller of the two has.
    ctx:    a shmem.Ctx, in whose team pe is counted; None: the default context.

    Local, not collective. On return source may be changed; the data stand in the target for certain after
    quiet or barrier_all; fence orders puts to one PE.
    Raises DtypeMismatch, ShapeMismatch (size), NotSymmetric, PeError, InvalidArgument (not contiguous, read-only
    target), UseAfterFree, NotInitialized. Source: OpenSHMEM 1.6, section 9.5 (shmem_put).
    """

def _shmem_put_nbi(target: Array, source: Array, pe: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Like put, but source must not be changed before quiet.

    Local. Arguments and errors as for put. Source: OpenSHMEM 1.6, section 9.6 (shmem_put_nbi).
    """

def _shmem_get(target: Array, source: Array, pe: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Copy the first elements of source on PE pe into the local array target.

    target: a contiguous writeable array, C or Fortran, symmetric or not.
    source: a contiguous symmetric array of target's dtype; it names the place on PE pe that stands where source
            stands here. Shapes do not count: elements are copied in the order in which they stand in memory.
    size:   how many elements; None: as many as the smaller of the two has.
    ctx:    a shmem.Ctx, in whose team pe is counted; None: the default context.

    Local, not collective. The data are in target on return. Nothing makes PE pe's own writes visible: order the
    two by a barrier, a signal or an atomic.
    Raises DtypeMismatch, ShapeMismatch (size), NotSymmetric, PeError, InvalidArgument (not contiguous, read-only
    target), UseAfterFree, NotInitialized. Source: OpenSHMEM 1.6, section 9.5 (shmem_get).
    """

def _shmem_get_nbi(target: Array, source: Array, pe: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Like get, but the data are in target only after quiet.

    Local. Arguments and errors as for get. Source: OpenSHMEM 1.6, section 9.6 (shmem_get_nbi).
    """

def _shmem_put_signal(target: Array, source: Array, pe: int, signal: Array, value: int, sigop: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Copy like put, then set or increase a signal on PE pe.

    target, source, pe, size, ctx: as for put.
    signal: what new_signal returned.
    value:  0 to 2**64 - 1.
    sigop:  SIGNAL_SET or SIGNAL_ADD; sums wrap.

    Local. Whoever sees the signal (signal_wait_until, signal_fetch) sees this call's data, and no more than
    that. On return source may be changed.
    Raises DtypeMismatch, ShapeMismatch (size), NotSymmetric, PeError, InvalidArgument (not contiguous, read-only
    target), UseAfterFree, NotInitialized. Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal).
    """

def _shmem_put_signal_nbi(target: Array, source: Array, pe: int, signal: Array, value: int, sigop: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Like put_signal, but source must not be changed before quiet.

    Local. Arguments and errors as for put_signal. Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal_nbi).
    """
