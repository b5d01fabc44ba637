import enum
from typing import Any, Callable, Final, NoReturn, overload

from atoll import _team_attribute as __getattr__


from collections.abc import Generator, Iterator
import numpy
from ._device import DeviceTeam
from ._types import AnyArray, AnySource, Array, ArrayLike, CompareName, DeviceLike, GivenStream, IndexArray
from ._types import NotBlocking, OutArray, ReduceName, SignalName, Stream, Value
from .shmem import Ctx

class Error(Exception):
    """
    The base class of the exceptions. The text tells what was passed, what was expected and what to do.
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
    Owns a piece of symmetric memory; it is the end of the .base chain of every symmetric array.
    """

class DeviceArray:
    """
    A symmetric array in the memory of this PE's GPU, or a view of one.

    atoll.zeros(..., device="cuda") and similar functions make it. It has no arithmetic. x.cupy() and
    x.torch() return the same memory as arrays of those libraries. Numba and others accept it directly
    (__cuda_array_interface__, DLPack). x.numpy() copies it to the host.

    Slices, x.reshape(), x.view() and x.T are views. `x[...] = value` copies from the host, or from an
    array of the GPU, and waits for the copy. `==` is an error that names the libraries. Every view,
    and every array of another library made from it, keeps the memory alive. Free it with atoll.free(x).

    atoll.pin(x) also returns a DeviceArray, over memory of the host that kernels can access. Atoll's
    functions treat it like x.
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
    """The comparison of a wait or test: found `cmp` value."""

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
    The operator of a reduction; and, or, xor are bitwise, on bool logical.
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
    """The operation of put_signal on the signal word."""

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
    An ordered set of PEs. Collectives accept it as team=; one-sided operations number PEs within it.

    `atoll.WORLD` contains all PEs. `atoll.SHARED` contains those that load and store each other's memory,
    and `atoll.HOST` those of this host.
    `atoll.RAIL` contains the PEs that have this PE's number within their host.
    `split`, `split_strided` and `split_2d` create further teams; they are collective over the
    team on which they are called. A `with` statement destroys a team at its end.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.4.
    """

    def my_pe(self) -> int:
        """
        Return the number of this PE within the team. Local.

        Returns
        -------
        int
        """

    def n_pes(self) -> int:
        """
        Return the number of PEs in the team. Local.

        Returns
        -------
        int
        """

    @property
    def rank(self) -> int:
        """The number of this PE within the team, as my_pe() returns it."""

    @property
    def size(self) -> int:
        """The number of PEs in the team, as n_pes() and len(team) return it."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[int]: ...

    def __contains__(self, pe: object) -> bool: ...

    def world_pe(self, pe: int) -> int:
        """
        Return the number in atoll.WORLD of the team's PE pe. Local.

        Parameters
        ----------
        pe
            A number in this team.

        Returns
        -------
        int

        Raises
        ------
        PeError
        """

    def translate_pe(self, pe: int, other: Team) -> int:
        """
        Return the number in `other` of the team's PE pe; -1 if `other` does not contain it. Local.

        Parameters
        ----------
        pe
            A number in this team. For others the result is -1, as in OpenSHMEM.
        other
            Any team of the job, of which this PE is a member.

        Returns
        -------
        int

        Raises
        ------
        PeError
            pe is not a whole number of 32 bits.
        InvalidArgument
            other is not a team, or this PE is not a member of it.
        """

    def split_strided(self, start: int, stride: int, size: int) -> Team:
        """
        Return the team of the `size` PEs start, start + stride, ...

        Collective over this team; usable at once. On a PE that is not a member the result is false (`if team:`),
        and every use of it raises InvalidArgument.

        Parameters
        ----------
        start
            The number in this team of the new team's PE 0.
        stride
            The distance between members, in numbers of this team.
        size
            Number of members, at least 1.

        Returns
        -------
        Team

        Raises
        ------
        InvalidArgument, PeError
        CollectiveMismatch
            The PEs passed different values; they are always compared.
        """

    def split_2d(self, xrange: int) -> tuple[Team, Team]:
        """
        Arrange the PEs in rows of xrange; return this PE's row and column as teams.

        Collective over this team; usable at once.

        Parameters
        ----------
        xrange
            PEs of a row, at least 1. The last row may be shorter, and then columns are, too.

        Returns
        -------
        row, column
            PE pe has number pe % xrange in its row, and pe // xrange in its column.

        Raises
        ------
        InvalidArgument
            xrange is less than 1.
        CollectiveMismatch
            The PEs passed different values; they are always compared.
        """

    def split(self, color: int, key: int = 0) -> Team:
        """
        Return the team of all PEs that passed this color, ordered by key, then by PE.

        Collective over this team; usable at once. A PE with a negative color is not a member: the result is false
        there, as for split_strided.

        Parameters
        ----------
        color
            The group of this PE, an int. A negative number: no group.
        key
            The order within the group. PEs of equal keys are in the order of this team.

        Returns
        -------
        Team

        Raises
        ------
        CollectiveMismatch
        """

    def sync(self) -> None:
        """
        Wait until all PEs of the team have called it; completes no puts. Collective over the team.
        """

    def barrier(self) -> None:
        """
        Complete this PE's puts on the team's default context, then sync. Collective over the team.
        """

    def device(self, memory: str = "device") -> DeviceTeam:
        """
        Return the team as a value for kernels: a NamedTuple of integers, the fields of atl::device::Team. Local.

        Parameters
        ----------
        memory
            "device" (or "cuda") after the first allocation on GPUs, or "host" (or "cpu") for functions that
            run on the host.

        Returns
        -------
        DeviceTeam
            Passed to kernels as an argument. It is valid until the team is destroyed.

        Raises
        ------
        NotInitialized
        Unsupported
            The team found no memory (ATOLL_TEAM_MEMORY), or has PEs of other hosts, which only kernels in CUDA C++
            reach (atoll.cupy).
        """

    def destroy(self) -> None:
        """
        Free the resources of the team, after which no call takes it. Collective over the team.

        Raises
        ------
        UseAfterFree
            It is destroyed already; each later use raises this, too.
        InvalidArgument
            The team is one of WORLD, SHARED, HOST and RAIL.
        """

    def __enter__(self) -> Team: ...

    def __exit__(self, *args: object) -> None: ...

    @property
    def _is_destroyed(self) -> bool:
        """True after `destroy`."""

    def __bool__(self) -> bool:
        """
        Return False if this PE is not a member of the team that a split returned.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

WORLD: Team = ...

SHARED: Team = ...

HOST: Team = ...

RAIL: Team = ...

class Context:
    """
    An ordering domain: fence and quiet of a context apply to its own operations only.

    Pass it as ctx= to one-sided operations; PE numbers are then those of its team. Creating and
    destroying a context is local. A `with` statement destroys it at its end, after a quiet.

    Parameters
    ----------
    team
        The PEs that it reaches; None: all.
    private
        Only the creating thread uses it.
    serialized
        Several threads use it, but never at the same time.
    nostore
        Its fence and quiet need not order plain stores.

    Raises
    ------
    OutOfMemory, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.4 (shmem_ctx_create).
    """

    def __init__(self, team: Team | None = None, *, private: bool = False, serialized: bool = False, nostore: bool = False) -> None: ...

    def my_pe(self) -> int:
        """
        Return the number of this PE in the context's team. Local.

        Returns
        -------
        int
        """

    def n_pes(self) -> int:
        """
        Return the number of PEs of the context's team. Local.

        Returns
        -------
        int
        """

    def team(self) -> Team:
        """
        Return the team from which the context was made. Local.

        Returns
        -------
        Team
            WORLD if none was passed.
        """

    def fence(self) -> None:
        """
        Order the puts, atomics and signals of this context for each target PE, as atoll.fence. Local.
        """

    def quiet(self) -> None:
        """
        Wait until all operations of this context are complete and visible, as atoll.quiet. Local.
        """

    def __repr__(self) -> str: ...

    def destroy(self) -> None:
        """
        Quiet, then free the resources of the context. Local. A second call does nothing.
        """

    def __enter__(self) -> Context: ...

    def __exit__(self, *args: object) -> None: ...

def _init(uid: str | bytes | None, pe: int | None, n_pes: int | None, put: Callable[[str, bytes], None] | None, get: Callable[[str], bytes] | None) -> None:
    """Make or count the job; see atoll.init."""

def _finalize() -> None:
    """See atoll.finalize."""

def _meet_elsewhere() -> None:
    """
    Let the last _finalize not wait. Every PE must be outside all calls, and finalize next.
    """

def _step() -> int:
    """
    Return the number of this PE's last meeting in the world team, equal on all PEs that are in step.

    It is -1 after a collective ended by an error, and -2 outside a job.
    """

def is_initialized() -> bool:
    """
    True between atoll.init() and the last atoll.finalize(). Local, without errors.

    Returns
    -------
    bool
    """

def get_unique_id() -> str:
    """
    Return a text that identifies a new job. Local.

    One process makes it and sends it by any means (Ray, Dask, MPI, a file) to all processes of the job.
    Each then calls atoll.init(uid=..., pe=..., n_pes=...). The text is random.

    Returns
    -------
    str
        At most 128 characters.
    """

def get_team_unique_id() -> int:
    """
    Return an id for one team, which team_init takes. Local; never 0.

    The program sends it to the team's members by any means. It takes 16 bytes for each PE of the job until its
    team is made. An id whose team cannot be made keeps them.

    Returns
    -------
    int
        Of at most 64 bits.

    Raises
    ------
    NotInitialized, OutOfMemory

    See Also
    --------
    team_init
    """

def team_init(unique_id: int, n_pes: int, my_pe: int) -> Team:
    """
    Return the team of the n_pes PEs that pass the same id, without a parent team. This PE is its PE my_pe.

    Collective over these PEs; the others take no part, as they do in Team.split. Usable at once.

    Parameters
    ----------
    unique_id
        The result of get_team_unique_id() on one PE of the job, member or not. Each id makes one team.
    n_pes
        Number of members, the same on all of them.
    my_pe
        This PE's number in the new team, 0 to n_pes - 1. Each member passes another one.

    Returns
    -------
    Team
        destroy() frees it; finalize() does, too.

    Raises
    ------
    InvalidArgument
        This is no id of the job, or its team was made already.
    CollectiveMismatch
        The PEs passed different n_pes, or two of them the same my_pe.
    PeError, OutOfMemory
    Timeout
        A member did not come within ATOLL_WAIT_TIMEOUT; the error names its my_pe.

    See Also
    --------
    Team.split

    Notes
    -----
    Source: NVSHMEM, nvshmemx_team_init.
    """

def my_pe(team: Team | None = None) -> int:
    """
    Return the number of this PE, 0 to n_pes()-1; within `team` if given. Local.

    Parameters
    ----------
    team
        The team that numbers the PEs. None: all PEs.

    Returns
    -------
    int

    Raises
    ------
    NotInitialized, UseAfterFree

    See Also
    --------
    n_pes : their number

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.1.

    Examples
    --------
    >>> right = (atoll.my_pe() + 1) % atoll.n_pes()
    """

def n_pes(team: Team | None = None) -> int:
    """
    Return the number of PEs of the job, or of `team`. Local.

    Parameters
    ----------
    team
        The team whose members count. None: all PEs.

    Returns
    -------
    int

    Raises
    ------
    NotInitialized, UseAfterFree

    See Also
    --------
    my_pe : the number of this PE

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.1.

    Examples
    --------
    >>> last = atoll.n_pes() - 1
    """

def _global_exit(status: int, sentence: str) -> NoReturn:
    """See atoll.global_exit."""

def _heap_use() -> dict[str, int]:
    """See atoll.info."""

def _statistics() -> dict[str, dict[str, int | float]]:
    """See atoll.stats."""

def _openmetrics() -> str:
    """See atoll.stats."""

def _trace_now() -> int:
    """See atoll.trace."""

def _trace_range(name: str, began: int) -> None:
    """See atoll.trace."""

def _forked() -> None:
    """Call in a forked child: the parent's job does not belong to it."""

def _may_take_store() -> bool:
    """True if init() without arguments may use torch's store."""

def _launched() -> bool:
    """
    True if the process's environment (os.environ is a copy of it) still has the launcher's variable.
    """

def _end_reason() -> str:
    """
    The reason why another PE or the launcher ends the job; empty while the job runs.
    """

def _check_job(function: str) -> int:
    """
    Return this PE's number. Raises NotInitialized, naming the function, outside a job.
    """

def _is_standard(file: str) -> bool:
    """True for files of Python's standard library."""

def _report_by(report: Callable[[Any, Any, Any, bool], bool]) -> bool:
    """
    Set the function with which _hook() reports. False if it is already set: a second import of the package.
    """

def _offer_stacks() -> None:
    """
    Let Python write the stacks of its threads when the launcher asks, if the library offers stacks.
    """

def _install_crash_stack() -> None:
    """
    A stack for handlers of crashes, which faulthandler has replaced by a small one.
    """

def _ignored(text: str) -> None:
    """Keep an exception that Python ignores, for reports of hangs."""

def _will_rejoin() -> None:
    """
    Let errors about arrays of past jobs name a pool's reason for the end of this one.
    """

def _hook(kind: Any, value: Any, trace: Any) -> None:
    """
    The sys.excepthook: reports an uncaught exception, protected from SIGINT.
    """

def _version() -> str:
    """The library's version."""

def _offer_tasks(write: Callable[[], str]) -> None:
    """
    Let a thread write the text of `write` behind Python's stacks when the launcher asks for them.
    """

def _empty(shape: Any, dtype: Any, fortran: bool, align: int, atomics: bool, signal: bool, zero: bool, name: str, on_device: bool = False) -> Any:
    """Allocate; see atoll.empty."""

def register(x: Any) -> Any:
    """
    Return a symmetric view of an array of this PE's GPU that another library has allocated.

    Collective over all PEs; an error on one PE raises on all.

    Parameters
    ----------
    x
        An array of PyTorch, CuPy or Numba, a cuda.core.Buffer, or any object with DLPack's or CUDA's
        array interface. Its memory must come from the driver's virtual memory management: PyTorch's
        with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or cuda.core's VirtualMemoryResource.
        Memory of cudaMalloc cannot be mapped by other processes. Views keep their offset and strides.
        Every PE passes an array of equal size, at an equal offset of equal allocations.

    Returns
    -------
    array
        An array of x's library with its shape and dtype, over the same memory. It keeps x alive. x
        itself is not symmetric, but each shows what was written through the other.

    Raises
    ------
    InvalidArgument
        The memory is cudaMalloc's, another GPU's or the host's, cannot be shared, or is symmetric
        already.
    CollectiveMismatch, Unsupported, OutOfMemory

    Notes
    -----
    The complete allocations that contain x (at least 2 MiB) are mapped on all PEs. free() unmaps them
    and leaves x unchanged.
    """

def free(x: AnyArray) -> None:
    """
    Free a symmetric array. Collective over all PEs, in the same order on all.

    The call waits for all PEs. Puts into x must be complete (barrier_all).

    Parameters
    ----------
    x
        An array of atoll.zeros() and similar functions, or a view of all of it.

    Raises
    ------
    NotSymmetric, UseAfterFree
    InvalidArgument
        x is a part of an array.
    CollectiveMismatch
        The PEs' calls differ; they are always compared.

    Notes
    -----
    Afterwards the array and every view of it (peer and global_view too) raise UseAfterFree when passed
    to a call. Reads through NumPy are not detected.

    An array need not be freed. Once the garbage collectors of all PEs have dropped it, the next
    collective allocation reclaims its memory.

    Source: OpenSHMEM 1.6, section 9.3 (shmem_free).
    """

def pin(x: AnyArray) -> DeviceArray:
    """
    Make a symmetric array of the host accessible to kernels of this PE's GPU. Local.

    Parameters
    ----------
    x
        A symmetric NumPy array, or a view of one.

    Returns
    -------
    array
        A DeviceArray with x's address on the GPU, shape, dtype and strides. CuPy, Numba, PyTorch and
        Triton accept it (__cuda_array_interface__, DLPack, .cupy(), .torch()). It keeps the memory
        alive. Atoll's functions treat it like x.

    Raises
    ------
    NotInitialized
        No array of a GPU has been allocated yet.
    NotSymmetric, UseAfterFree, SystemFailure

    Notes
    -----
    Kernels may load elements and wait for them (signal_wait_until, wait_until, test and similar
    functions, also on a stream). Hosts of other PEs may put, signal and update them meanwhile. Only
    CPUs may update them atomically: atomics of CPU and GPU on one word are not atomic with each other.

    The chunks of 2 MiB that contain x are pinned, and their pages allocated. They stay pinned until
    finalize(), or until an array of at least 1 MiB is freed.
    Other arrays in the memory pinned with it keep it pinned. Call pin, and free such an array, while no kernel of this process waits: the GPU's driver
    may wait for running kernels.
    """

def is_symmetric(x: AnyArray | object) -> bool:
    """
    True if x is an array, or a view of one, in this PE's symmetric memory and not freed. Local, without errors.

    Parameters
    ----------
    x
        Any object, of any library.

    Returns
    -------
    bool
    """

@overload
def peer(x: Array, pe: int, *, team: Team | None = None) -> Array:
    """
    Return PE pe's copy of x as a plain array: reading and writing it are loads and stores there.

    Local. Order such accesses by barriers, signals or atomics.

    Parameters
    ----------
    x
        A symmetric array or view.
    pe
        A PE number; within `team` if given.
    team
        The team that numbers the PEs. None: all PEs.

    Returns
    -------
    array
        An array with x's shape, dtype, strides and library. For an array of a GPU, kernels of this PE's
        GPU may access it. It keeps the memory mapped.

    Raises
    ------
    Unsupported
        PE pe cannot be reached by loads and stores.
    NotSymmetric, PeError, UseAfterFree

    See Also
    --------
    get : works for every PE

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.3 (shmem_ptr).

    Examples
    --------
    >>> there = atoll.peer(x, atoll.my_pe())  # another PE may be on another host
    >>> there[0] = 5.0
    >>> float(x[0])
    5.0
    """

@overload
def peer(x: DeviceLike, pe: int, *, team: Team | None = None) -> Any: ...

@overload
def global_view(x: Array, team: Team | None = None) -> Array:
    """
    Return all PEs' copies of x as one array of shape (n_pes, *x.shape).

    everyone[pe, i] is PE pe's x[i], accessed by load and store. Slices along the first axis read from
    several PEs. Local. Order such accesses by barriers, signals or atomics.

    Parameters
    ----------
    x
        A symmetric array or view.
    team
        The PEs, in this team's order. They must be evenly spaced.

    Returns
    -------
    array
        A plain numpy.ndarray, or an array of x's library on this PE's GPU. Its first stride is the
        distance between PEs' memories. It keeps the memory mapped.

    Raises
    ------
    Unsupported
        A PE cannot be reached by loads and stores, or the team is irregular.
    NotSymmetric, UseAfterFree
    """

@overload
def global_view(x: DeviceLike, team: Team | None = None) -> Any: ...

def addr_accessible(x: AnyArray | object, pe: int, *, team: Team | None = None) -> bool:
    """
    True if x is symmetric and may be a target or source on PE pe. Local.

    Parameters
    ----------
    x
        Any object; one that is no symmetric array gives False.
    pe
        Number of the other PE.
    team
        The team that numbers the PEs. None: all PEs.

    Returns
    -------
    bool

    Raises
    ------
    PeError

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.1 (shmem_addr_accessible).
    """

def pe_accessible(pe: int, *, team: Team | None = None) -> bool:
    """
    True if pe is the number of a PE of the job (or team). Local.

    Parameters
    ----------
    pe
        Any integer.
    team
        The team that numbers the PEs. None: all PEs.

    Returns
    -------
    bool

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.1 (shmem_pe_accessible).
    """

def put(dst: AnyArray, src: AnySource, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src into dst on PE pe, without that PE's participation.

    Local, not collective. On return src may be changed. The data are in the target after quiet() or
    barrier_all(); fence() orders puts to one PE. A load never sees an aligned element of 1, 2, 4 or 8
    bytes half written.

    Parameters
    ----------
    dst
        A symmetric array or any view of one (slice, reshape, transpose, field). The data go to the same
        place in PE pe's copy. This PE's own dst changes only if pe is this PE.
    src
        An array of dst's dtype and shape (axes of length 1 are ignored), symmetric or not, of any
        strides. A Python number, NumPy scalar or 0-d array fills dst. A list is converted. Dtypes are
        not cast. src and dst may overlap, but not on a stream. There src must be in memory of the GPU,
        or pinned.
    pe
        Number of the target PE, 0 to n_pes()-1; within `team`, or the context's team, if given.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized
    InvalidArgument
        dst is read-only.

    See Also
    --------
    get : the other direction
    put_nbi : a put that quiet completes
    put_signal : a put that the target can wait for
    p : a put of one element

    Notes
    -----
    Arrays without elements are legal and move nothing.

    Source: OpenSHMEM 1.6, section 9.5 (shmem_put).

    Examples
    --------
    >>> atoll.put(x, np.arange(8.0), pe=1)  # all of x on PE 1
    >>> atoll.put(x[2:4], 0.0, pe=1)  # two of its elements
    """

def put_nbi(dst: AnyArray, src: AnySource, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Like put, but src must not be changed before quiet().

    Local. Returns at once if the transport moves the data by itself; on one host it is put.

    Parameters
    ----------
    dst, src, pe
        As for put.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for put.

    See Also
    --------
    put : a put that completes locally
    quiet : completes it

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.6 (shmem_put_nbi).

    Examples
    --------
    >>> atoll.put_nbi(x, data, pe=right)
    >>> atoll.quiet()  # now data may be changed
    """

def get(dst: AnyArray, src: AnyArray, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src of PE pe into the local array dst.

    Local, not collective. The data are in dst on return. The call does not make PE pe's own writes
    visible: order the two by a barrier, a signal or an atomic. A load never sees an aligned element of
    1, 2, 4 or 8 bytes half written.

    Parameters
    ----------
    dst
        A writeable array, symmetric or not, of any strides.
    src
        A symmetric array or any view of one, of dst's dtype and shape (axes of length 1 are ignored).
        The data come from the same place in PE pe's copy.
    pe
        Number of the PE to read from, 0 to n_pes()-1; within `team`, or the context's team.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized
    InvalidArgument
        dst is read-only.

    See Also
    --------
    put : the other direction
    get_nbi : a get that quiet completes
    g : a get of one element

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.5 (shmem_get).

    Examples
    --------
    >>> atoll.get(y, x, pe=right)  # y is the right PE's x
    """

def get_nbi(dst: AnyArray, src: AnyArray, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Like get, but the data are in dst only after quiet(). Local.

    Parameters
    ----------
    dst, src, pe
        As for get.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for get.

    See Also
    --------
    get : a get that is complete on return
    quiet : completes it

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.6 (shmem_get_nbi).

    Examples
    --------
    >>> atoll.get_nbi(y, x, pe=right)
    >>> atoll.quiet()  # now y is the right PE's x
    """

def p(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Store one element, dst.flat[index] = value, on PE pe.

    Local; ordered and completed like put.

    Parameters
    ----------
    dst
        A symmetric array or view; only its element `index` is written.
    value
        A Python number that fits, or a NumPy scalar of dst's dtype.
    pe
        As for put.
    index
        The element in C order; negative numbers count from the end. It may be left out if dst has one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for put.
    IndexError
        index is outside dst.

    See Also
    --------
    g : the other direction
    put : many elements

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.5 (shmem_p).

    Examples
    --------
    >>> atoll.p(counter, 1, pe=right)
    """

def g(src: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None) -> Any:
    """
    Return one element, src.flat[index], of PE pe. Local.

    Parameters
    ----------
    src
        A symmetric array or view.
    pe
        As for get.
    index
        The element in C order; negative numbers count from the end. It may be left out if src has one
        element.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.

    Returns
    -------
    value
        A Python int, float, complex or bool if that is exact, else a NumPy scalar (float16, long
        double, dates, structured dtypes).

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for get.
    IndexError
        index is outside src.

    See Also
    --------
    p : the other direction
    get : many elements

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.5 (shmem_g).

    Examples
    --------
    >>> value = atoll.g(x, right, 3)  # x[3] of the right PE
    """

def fence(ctx: Context | None = None) -> None:
    """
    Order puts: those to a PE after the fence are delivered after those to that PE before it.

    It orders puts, atomics and signals of the default context, or of ctx, for each target PE
    separately. It completes nothing; quiet() does. Local.

    Parameters
    ----------
    ctx
        The Context whose operations are ordered. None: the default context.

    See Also
    --------
    quiet : completes operations

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.10.

    Examples
    --------
    >>> atoll.put(x, data, pe=right)
    >>> atoll.fence()
    >>> atoll.p(counter, 1, pe=right)  # arrives after the data
    """

def quiet(ctx: Context | None = None) -> None:
    """
    Wait until all operations of this PE are complete and visible to every PE.

    It covers puts, atomics, signals and the nbi operations of the default context, or of ctx, and this
    thread's plain stores into symmetric arrays. Local: it does not wait for calls of other PEs.

    Parameters
    ----------
    ctx
        The Context whose operations are completed. None: the default context.

    See Also
    --------
    fence : orders operations
    barrier_all : completes them, and waits for all PEs

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.10.

    Examples
    --------
    >>> atoll.put_nbi(x, data, pe=right)
    >>> atoll.quiet()  # the data are in the right PE's x
    """

def pe_quiet(pes: ArrayLike, ctx: Context | None = None, *, team: Team | None = None) -> None:
    """
    Like quiet(), for the operations to some PEs only.

    Parameters
    ----------
    pes
        One PE number or a sequence of them.
    ctx
        The Context whose operations are completed. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.

    Raises
    ------
    PeError

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.10.
    """

def iput(dst: AnyArray, src: AnyArray, tst: int, sst: int, nelems: int, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src[i * sst] to dst[i * tst] on PE pe, for i < nelems.

    Local; completed like put. put(dst[::tst], src[::sst], pe) does the same in NumPy's terms.

    Parameters
    ----------
    dst
        A contiguous symmetric array or view.
    src
        A contiguous array of dst's dtype.
    tst, sst
        Strides of dst and src in elements, at least 1.
    nelems
        Number of elements; 0 is legal.
    pe
        As for put.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for put.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.5 (shmem_iput).
    """

def iget(dst: AnyArray, src: AnyArray, tst: int, sst: int, nelems: int, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src[i * sst] of PE pe to dst[i * tst], for i < nelems.

    Local; the data are in dst on return. get(dst[::tst], src[::sst], pe) does the same in NumPy's
    terms.

    Parameters
    ----------
    dst
        A contiguous array of src's dtype.
    src
        A contiguous symmetric array or view.
    tst, sst
        Strides of dst and src in elements, at least 1.
    nelems
        Number of elements; 0 is legal.
    pe
        As for get.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for get.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.5 (shmem_iget).
    """

def ibput(dst: AnyArray, src: AnyArray, tst: int, sst: int, bsize: int, nblocks: int, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy nblocks blocks of bsize elements to PE pe: block i from src[i * sst] on, to dst[i * tst] on.

    Local; completed like put.

    Parameters
    ----------
    dst
        A contiguous symmetric array or view.
    src
        A contiguous array of dst's dtype.
    tst, sst
        Elements from one block's start to the next in dst and src, at least bsize.
    bsize
        Elements of a block.
    nblocks
        Number of blocks; 0 is legal.
    pe
        As for put.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for put.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.5 (shmem_ibput).
    """

def ibget(dst: AnyArray, src: AnyArray, tst: int, sst: int, bsize: int, nblocks: int, pe: int, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy nblocks blocks of bsize elements from PE pe: block i from src[i * sst] on, to dst[i * tst] on.

    Local; the data are in dst on return.

    Parameters
    ----------
    dst
        A contiguous array of src's dtype.
    src
        A contiguous symmetric array or view.
    tst, sst
        Elements from one block's start to the next in dst and src, at least bsize.
    bsize
        Elements of a block.
    nblocks
        Number of blocks; 0 is legal.
    pe
        As for get.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for get.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.5 (shmem_ibget).
    """

@overload
def take(src: AnyArray, index: AnySource, pe: AnySource, out: None = None, *, ctx: Context | None = None, team: Team | None = None, stream: None = None) -> Array:
    """
    Return src.flat[index] of PE pe, for many elements of many PEs in one call, at C speed.

    Local; the data are there on return. All numbers are checked before the first element is read.

    Parameters
    ----------
    src
        A symmetric array or any view of one.
    index
        Element numbers in C order, an int or an array of integers. Negative numbers count from the end.
    pe
        The PEs of the elements, an int or an array. It broadcasts against index; that gives the
        result's shape.
    out
        A contiguous array of that shape and src's dtype for the result. It is also returned.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    array
        out, or a new NumPy array of src's dtype. On a stream None.

    Raises
    ------
    IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree
    KernelError
        A wrong number in memory of the GPU stopped the kernel.

    Notes
    -----
    For an array of a GPU, src is contiguous or has one axis. `index` and `pe` have one shape, or one of
    them has one element. They are numbers, lists, arrays of the host, or int64 or int32 arrays of the
    GPU. out may be in any memory.

    On a stream, index and pe are ints, or arrays of the GPU or in pinned memory. There out is needed,
    in such memory too.

    Examples
    --------
    >>> values = atoll.take(x, [3, 3, 0], [0, 1, 1])  # x[3] of PE 0, x[3] of PE 1, x[0] of PE 1
    """

@overload
def take(src: AnyArray, index: AnySource, pe: AnySource, out: OutArray, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> OutArray: ...

def put_at(dst: AnyArray, index: AnySource, values: AnySource, pe: AnySource, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Store dst.flat[index] = values on PE pe, for many elements of many PEs in one call, at C speed.

    Local; completed like put. All numbers are checked before the first element is written. If one
    element gets several values, any of them may remain.

    Parameters
    ----------
    dst
        A symmetric array or any view of one.
    index
        Element numbers in C order, an int or an array of integers. Negative numbers count from the end.
    values
        An array of dst's dtype, or a number. index, values and pe broadcast against each other.
    pe
        The PEs of the elements, an int or an array.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    For an array of a GPU, index, pe and stream are as for take. values has their shape, or one element.
    """

def add_at(dst: AnyArray, index: AnySource, values: AnySource, pe: AnySource, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add values to dst.flat[index] on PE pe atomically, for many elements of many PEs in one call, at C speed.

    Local; completed like put. Each addition is an atomic_add: an element that occurs several times,
    here or on other PEs at the same time, gets every value. Integers wrap.

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    index, values, pe
        As for put_at, also for arrays of a GPU.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree
        As for put_at.

    Examples
    --------
    >>> atoll.add_at(histogram, keys % m, 1, keys // m)  # m counts on each PE
    """

def _add_in_blocks(dst: Array, index: AnySource, values: AnySource, bounds: AnySource, *, ctx: Context | None = None, team: Team | None = None) -> None:
    """
    Add values atomically to elements of an array in blocks over the PEs, as add_at; for atoll.arrays.

    Parameters
    ----------
    dst
        This PE's block in memory of the host, with one axis.
    index
        Numbers in the whole array, from 0.
    values
        An array of dst's dtype with as many elements, or a number.
    bounds
        The first number of each PE's block, then that of all elements.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.

    Raises
    ------
    IndexError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree
    """

class _Boxes:
    """
    The base of distributed arrays: reads and writes of boxes on hosts. Other keys go to the methods _get, _put, _get_item and _set_item of its subclass.
    """
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def get(self, box: Any, out: Any = None) -> Any: ...
    def put(self, box: Any, value: Any) -> None: ...
    def _set_block(self, rows: tuple[Any, ...], memory: Array | None, team: Team | None, me: int, copies: type | None = None) -> None: ...
    def accumulate(self, box: Any, value: Any, scale: Any = 1, *, op: str = 'sum') -> None: ...
    def _add(self, box: Any, value: Any) -> bool: ...
    def _use_atomics(self) -> None: ...
    def _end(self) -> None: ...
    def _near(self, key: Any, /) -> tuple[int, tuple[Any, ...]] | None: ...

def _start_halo(neighbours: Any, ready: Array, arrived: Array, count: int, ctx: Context | None) -> None:
    """
    Tell the neighbours that this PE's halo may be overwritten, and put the rims that they get.

    Parameters
    ----------
    neighbours
        A list of atoll.arrays._halo.Neighbour.
    ready, arrived
        Signals, a word for each direction.
    count
        The number of this exchange, from 1.
    ctx
        A context of the array's team; None: the world's.
    """

def _finish_halo(neighbours: Any, arrived: Array, count: int) -> None:
    """
    Wait for the rims that the neighbours put.

    Parameters
    ----------
    neighbours, arrived, count
        As for _start_halo.
    """

def _row_products(indptr: Array, indices: Array, data: Array, x: Array, out: Array) -> None:
    """
    Write the products of compressed rows and a vector; for atoll.sparse, whose indices are in range.

    Parameters
    ----------
    indptr, indices, data
        Rows as in SciPy's CSR, with indices of int32 and values of float32 or float64.
    x
        A vector of that dtype.
    out
        The result; it shares no memory with x.

    Raises
    ------
    ShapeMismatch, DtypeMismatch
    """

def atomic_set(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Set one element to value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> atoll.atomic_set(counter, 1, pe=0)
    """

def atomic_inc(dst: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add 1 to one element; integers wrap.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> atoll.atomic_inc(counter, pe=0)
    """

def atomic_add(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add value to one element; integers wrap.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> atoll.atomic_add(counter, 1, pe=0)
    """

def atomic_and(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise and of one element with value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> atoll.atomic_and(counter, 1, pe=0)
    """

def atomic_or(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise or of one element with value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> atoll.atomic_or(counter, 1, pe=0)
    """

def atomic_xor(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise exclusive or of one element with value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> atoll.atomic_xor(counter, 1, pe=0)
    """

def atomic_fetch(src: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> Any:
    """
    Return one element.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host.

    Parameters
    ----------
    src
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    value
        The previous value, a Python number.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> previous = atoll.atomic_fetch(counter, pe=0)
    """

def atomic_fetch_nbi(fetch: AnyArray, dst: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Read one element into fetch.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    fetch
        A local array of the same dtype. Its first element holds the previous value after quiet().
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).
    """

def atomic_swap(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> Any:
    """
    Set one element to value; return the previous value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host.

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    value
        The previous value, a Python number.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> previous = atoll.atomic_swap(counter, 1, pe=0)
    """

def atomic_swap_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Set one element to value; the previous value goes to fetch.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    fetch
        A local array of the same dtype. Its first element holds the previous value after quiet().
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).
    """

def atomic_compare_swap(dst: AnyArray, expected: Value, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> int:
    """
    Set one element to value if it equals expected; return the previous value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host.

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers.
    expected
        The value that the element must have to be set; a number as `value`.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    value
        The previous value, a Python number.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> previous = atoll.atomic_compare_swap(counter, 0, 1, pe=0)
    """

def atomic_compare_swap_nbi(fetch: AnyArray, dst: AnyArray, expected: Value, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Set one element to value if it equals expected; the previous value goes to fetch.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    fetch
        A local array of the same dtype. Its first element holds the previous value after quiet().
    dst
        A symmetric array or view of 32- or 64-bit integers.
    expected
        The value that the element must have to be set; a number as `value`.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).
    """

def atomic_fetch_inc(dst: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> Any:
    """
    Add 1 to one element; return the previous value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host.

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    value
        The previous value, a Python number.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> previous = atoll.atomic_fetch_inc(counter, pe=0)
    """

def atomic_fetch_inc_nbi(fetch: AnyArray, dst: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add 1 to one element; the previous value goes to fetch.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    fetch
        A local array of the same dtype. Its first element holds the previous value after quiet().
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).
    """

def atomic_fetch_add(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> Any:
    """
    Add value to one element, integers wrapping; return the previous value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host.

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    value
        The previous value, a Python number.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> previous = atoll.atomic_fetch_add(counter, 1, pe=0)
    """

def atomic_fetch_add_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add value to one element, integers wrapping; the previous value goes to fetch.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    fetch
        A local array of the same dtype. Its first element holds the previous value after quiet().
    dst
        A symmetric array or view of 32- or 64-bit integers, float32 or float64.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).
    """

def atomic_fetch_and(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> int:
    """
    Bitwise and of one element with value; return the previous value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host.

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    value
        The previous value, a Python number.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> previous = atoll.atomic_fetch_and(counter, 1, pe=0)
    """

def atomic_fetch_and_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise and of one element with value; the previous value goes to fetch.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    fetch
        A local array of the same dtype. Its first element holds the previous value after quiet().
    dst
        A symmetric array or view of 32- or 64-bit integers.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).
    """

def atomic_fetch_or(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> int:
    """
    Bitwise or of one element with value; return the previous value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host.

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    value
        The previous value, a Python number.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> previous = atoll.atomic_fetch_or(counter, 1, pe=0)
    """

def atomic_fetch_or_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise or of one element with value; the previous value goes to fetch.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    fetch
        A local array of the same dtype. Its first element holds the previous value after quiet().
    dst
        A symmetric array or view of 32- or 64-bit integers.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).
    """

def atomic_fetch_xor(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> int:
    """
    Bitwise exclusive or of one element with value; return the previous value.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host.

    Parameters
    ----------
    dst
        A symmetric array or view of 32- or 64-bit integers.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    value
        The previous value, a Python number.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).

    Examples
    --------
    >>> previous = atoll.atomic_fetch_xor(counter, 1, pe=0)
    """

def atomic_fetch_xor_nbi(fetch: AnyArray, dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise exclusive or of one element with value; the previous value goes to fetch.

    Local, not collective. Atomic to all other atomic operations, signals and waits on the element,
    and ordered (acquire and release) if PE pe is on this host. Complete after quiet().

    Parameters
    ----------
    fetch
        A local array of the same dtype. Its first element holds the previous value after quiet().
    dst
        A symmetric array or view of 32- or 64-bit integers.
    value
        A Python number that fits the dtype, or a NumPy scalar of it.
    pe
        The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.
    index
        The element in C order; negative numbers count from the end. It may be left out if there is one
        element (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*_nbi).
    """

@overload
def put_signal(dst: AnyArray, src: AnySource, sig: AnyArray, value: int, op: SignalName, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Copy src into dst on PE pe, then set or increase a signal there.

    Local. On return src may be changed. A PE that sees the signal (signal_wait_until, signal_fetch)
    sees the data of this call. Earlier puts may come later. If dst has no elements, only the signal
    is sent.

    Parameters
    ----------
    dst, src, pe
        As for put.
    sig
        Symmetric words of uint64 (atoll.signal()).
    value
        0 to 2**64 - 1.
    op
        "set" or "add", or atoll.SIGNAL_SET, atoll.SIGNAL_ADD. Sums wrap. If it is left out, it is
        "set", and pe is passed as pe=.
    index
        The word of sig on PE pe that is the signal. It may be left out if there is one word.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for put.

    See Also
    --------
    put : without a signal
    signal_wait_until : the wait of the target

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal).

    Examples
    --------
    >>> atoll.put_signal(x, data, sig, 1, pe=right)
    >>> atoll.signal_wait_until(sig, ">=", 1)  # the left PE's data is in x
    1
    """

@overload
def put_signal(dst: AnyArray, src: AnySource, sig: AnyArray, value: int, op: SignalName = 'set', *, pe: int, index: int | None = None, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None: ...

@overload
def put_signal_nbi(dst: AnyArray, src: AnySource, sig: AnyArray, value: int, op: SignalName, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Like put_signal, but src must not be changed before quiet(). Local.

    Parameters
    ----------
    dst, src, sig, value, op, pe, index
        As for put_signal.
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
        As for put.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal_nbi).
    """

@overload
def put_signal_nbi(dst: AnyArray, src: AnySource, sig: AnyArray, value: int, op: SignalName = 'set', *, pe: int, index: int | None = None, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None: ...

def signal_set(sig: AnyArray, value: int, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Set signal word number `index` of sig on PE pe to value.

    Local. It is not ordered after puts: call fence() first, or use put_signal.

    Parameters
    ----------
    sig
        Symmetric words of uint64.
    value
        0 to 2**64 - 1.
    pe
        The PE of the word; within `team`, or the context's team, if given.
    index
        The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, NotSymmetric, PeError, IndexError, ShapeMismatch, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.8.
    """

def signal_add(sig: AnyArray, value: int, pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = None) -> None:
    """
    Add value to signal word number `index` of sig on PE pe, atomically.

    Local. It is not ordered after puts: call fence() first, or use put_signal.

    Parameters
    ----------
    sig
        Symmetric words of uint64.
    value
        0 to 2**64 - 1. Sums wrap.
    pe
        The PE of the word; within `team`, or the context's team, if given.
    index
        The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).
    ctx
        A Context, whose own fence and quiet order and complete the call. None: the default context.
    team
        The team that numbers the PEs. None: that of ctx, by default all PEs. Not with ctx=.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, NotSymmetric, PeError, IndexError, ShapeMismatch, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.8.
    """

def signal_fetch(sig: AnyArray, index: int | None = None) -> int:
    """
    Return this PE's own signal word number `index` of sig.

    Local. Acquires: data that the signalling PE put by put_signal are visible.

    Parameters
    ----------
    sig
        Symmetric words of uint64.
    index
        The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).

    Returns
    -------
    int
        0 to 2**64 - 1.

    Raises
    ------
    DtypeMismatch, NotSymmetric, IndexError, ShapeMismatch, UseAfterFree

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.8 (shmem_signal_fetch).
    """

@overload
def signal_wait_until(sig: AnyArray, cmp: CompareName, value: int, timeout: float | None = None, index: int | None = None, stream: None = None) -> int:
    """
    Wait until `sig[index] cmp value` is true on this PE; return the value found.

    Acquires: data that the signalling PE put by put_signal are visible. Other threads run meanwhile,
    and Ctrl-C interrupts the wait.

    Parameters
    ----------
    sig
        Symmetric words of uint64.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    value
        0 to 2**64 - 1.
    timeout
        Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.
    index
        The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    value
        The value found. On a stream None: the stream waits, and a captured graph compares with the same
        value in each replay (see signal_consume).

    Raises
    ------
    Timeout
        The error names the wait.
    PeDied, DtypeMismatch, NotSymmetric

    See Also
    --------
    put_signal : data and their signal
    wait_until : words of other dtypes

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.12 (shmem_signal_wait_until).

    Examples
    --------
    >>> atoll.put_signal(x, data, sig, 1, pe=right)
    >>> atoll.signal_wait_until(sig, ">=", 1)  # the left PE's data is in x
    1
    """

@overload
def signal_wait_until(sig: AnyArray, cmp: CompareName, value: int, timeout: None = None, index: int | None = None, *, stream: GivenStream) -> None: ...

def signal_consume(sig: AnyArray, n: int, index: int | None = None, stream: Stream = None) -> None:
    """
    Wait until this PE's own signal word is at least n, then subtract n.

    Other PEs add to the word by signal_add or put_signal in each round, and each round waits again. A
    captured graph can therefore be replayed.

    Parameters
    ----------
    sig
        Symmetric words of uint64. No other thread or PE may subtract from the word meanwhile.
    n
        The number to wait for and to subtract.
    index
        The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    Timeout, PeDied, DtypeMismatch, NotSymmetric

    Notes
    -----
    An extension; OpenSHMEM has no such call.
    """

@overload
def wait_until(ivar: AnyArray, cmp: CompareName, value: Value, timeout: float | None = None, index: int | None = None, stream: None = None) -> int:
    """
    Wait until `ivar[index] cmp value` is true on this PE; return the value found.

    Parameters
    ----------
    ivar
        A symmetric array of integers, or any view of one, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    value
        An integer that ivar's dtype holds.
    timeout
        Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.
    index
        The element of ivar in C order; negative numbers count from the end. It may be left out if
        ivar has one element (ShapeMismatch otherwise).
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    int
        The value found. On a stream None.

    Raises
    ------
    Timeout
        The error names the wait.
    PeDied, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Acquires: stores that the updating PEs ordered before their updates are visible on return. Other
    threads run meanwhile, and Ctrl-C interrupts the wait.

    Source: OpenSHMEM 1.6, section 9.12.

    Examples
    --------
    >>> atoll.p(counter, 1, pe=right)
    >>> atoll.wait_until(counter, ">=", 1)  # the left PE has stored it
    1
    """

@overload
def wait_until(ivar: AnyArray, cmp: CompareName, value: Value, timeout: None = None, index: int | None = None, *, stream: GivenStream) -> None: ...

@overload
def test(ivar: AnyArray, cmp: CompareName, value: Value, index: int | None = None, *, out: None = None, stream: None = None) -> bool:
    """
    True if `ivar[index] cmp value` is true on this PE.

    Parameters
    ----------
    ivar
        A symmetric array of integers, or any view of one, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    value
        An integer that ivar's dtype holds.
    index
        The element of ivar in C order; negative numbers count from the end. It may be left out if
        ivar has one element (ShapeMismatch otherwise).
    out
        Only with stream=: an int64 array for 1 or 0.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    bool
        On a stream None.

    Raises
    ------
    NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Never waits; a test that succeeds acquires.

    Source: OpenSHMEM 1.6, section 9.12.
    """

@overload
def test(ivar: AnyArray, cmp: CompareName, value: Value, index: int | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

def wait_until_all(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, timeout: float | None = None, *, stream: Stream = None) -> None:
    """
    Wait until the comparison has been true for every word, at any time of the wait.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    value
        An integer that ivars' dtype holds.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    timeout
        Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    Timeout
        The error names the wait.
    PeDied, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Acquires: stores that the updating PEs ordered before their updates are visible on return. Other
    threads run meanwhile, and Ctrl-C interrupts the wait.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

def wait_until_all_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, timeout: float | None = None, *, stream: Stream = None) -> None:
    """
    Wait until the comparison has been true for every word, at any time of the wait. Each word has a separate value.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    values
        One for each word, of ivars' dtype, or a list of Python numbers.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    timeout
        Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    Timeout
        The error names the wait.
    PeDied, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Acquires: stores that the updating PEs ordered before their updates are visible on return. Other
    threads run meanwhile, and Ctrl-C interrupts the wait.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array values is in such memory, too, in ivars' dtype.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def test_all(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, *, out: None = None, stream: None = None) -> bool:
    """
    True if the comparison is true for every word.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    value
        An integer that ivars' dtype holds.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    out
        Only with stream=: an int64 array for 1 or 0.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    bool
        On a stream None.

    Raises
    ------
    NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Never waits; a test that succeeds acquires.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def test_all(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_all_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, *, out: None = None, stream: None = None) -> bool:
    """
    True if the comparison is true for every word. Each word has a separate value.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    values
        One for each word, of ivars' dtype, or a list of Python numbers.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    out
        Only with stream=: an int64 array for 1 or 0.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    bool
        On a stream None.

    Raises
    ------
    NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Never waits; a test that succeeds acquires.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array values is in such memory, too, in ivars' dtype. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def test_all_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def wait_until_any(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, timeout: float | None = None, *, out: None = None, stream: None = None) -> int | None:
    """
    Wait until the comparison is true for a word; return its index, or None if all words are skipped.

    Calls return one after another of several such words.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    value
        An integer that ivars' dtype holds.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    timeout
        Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.
    out
        Only with stream=: an int64 array for the lowest such index, or -1 for None.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    int | None
        An index of ivars in C order. On a stream None.

    Raises
    ------
    Timeout
        The error names the wait.
    PeDied, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Acquires: stores that the updating PEs ordered before their updates are visible on return. Other
    threads run meanwhile, and Ctrl-C interrupts the wait.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def wait_until_any(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, timeout: None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def wait_until_any_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, timeout: float | None = None, *, out: None = None, stream: None = None) -> int | None:
    """
    Wait until the comparison is true for a word; return its index, or None if all words are skipped.

    Calls return one after another of several such words. Each word has a separate value.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    values
        One for each word, of ivars' dtype, or a list of Python numbers.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    timeout
        Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.
    out
        Only with stream=: an int64 array for the lowest such index, or -1 for None.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    int | None
        An index of ivars in C order. On a stream None.

    Raises
    ------
    Timeout
        The error names the wait.
    PeDied, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Acquires: stores that the updating PEs ordered before their updates are visible on return. Other
    threads run meanwhile, and Ctrl-C interrupts the wait.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array values is in such memory, too, in ivars' dtype. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def wait_until_any_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, timeout: None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_any(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, *, out: None = None, stream: None = None) -> int | None:
    """
    Return the index of a word for which the comparison is true, or None.

    Calls return one after another of several such words.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    value
        An integer that ivars' dtype holds.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    out
        Only with stream=: an int64 array for the lowest such index, or -1 for None.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    int | None
        An index of ivars in C order. On a stream None.

    Raises
    ------
    NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Never waits; a test that succeeds acquires.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def test_any(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_any_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, *, out: None = None, stream: None = None) -> int | None:
    """
    Return the index of a word for which the comparison is true, or None.

    Calls return one after another of several such words. Each word has a separate value.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    values
        One for each word, of ivars' dtype, or a list of Python numbers.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    out
        Only with stream=: an int64 array for the lowest such index, or -1 for None.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    int | None
        An index of ivars in C order. On a stream None.

    Raises
    ------
    NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Never waits; a test that succeeds acquires.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array values is in such memory, too, in ivars' dtype. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def test_any_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def wait_until_some(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, timeout: float | None = None, *, out: None = None, stream: None = None) -> IndexArray:
    """
    Wait until the comparison is true for a word; return the indices of all such words.

    The result is an integer array, empty if all words are skipped.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    value
        An integer that ivars' dtype holds.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    timeout
        Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.
    out
        Only with stream=: an int64 array for their number, followed by the indices: n + 1 elements for n words.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    IndexArray
        Indices of ivars in C order. On a stream None.

    Raises
    ------
    Timeout
        The error names the wait.
    PeDied, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Acquires: stores that the updating PEs ordered before their updates are visible on return. Other
    threads run meanwhile, and Ctrl-C interrupts the wait.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def wait_until_some(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, timeout: None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def wait_until_some_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, timeout: float | None = None, *, out: None = None, stream: None = None) -> IndexArray:
    """
    Wait until the comparison is true for a word; return the indices of all such words.

    The result is an integer array, empty if all words are skipped. Each word has a separate value.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    values
        One for each word, of ivars' dtype, or a list of Python numbers.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    timeout
        Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.
    out
        Only with stream=: an int64 array for their number, followed by the indices: n + 1 elements for n words.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    IndexArray
        Indices of ivars in C order. On a stream None.

    Raises
    ------
    Timeout
        The error names the wait.
    PeDied, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Acquires: stores that the updating PEs ordered before their updates are visible on return. Other
    threads run meanwhile, and Ctrl-C interrupts the wait.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array values is in such memory, too, in ivars' dtype. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def wait_until_some_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, timeout: None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_some(ivars: AnyArray, cmp: CompareName, value: Value, status: AnySource | None = None, *, out: None = None, stream: None = None) -> IndexArray:
    """
    Return the indices of all words for which the comparison is true.

    The result is an integer array.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    value
        An integer that ivars' dtype holds.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    out
        Only with stream=: an int64 array for their number, followed by the indices: n + 1 elements for n words.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    IndexArray
        Indices of ivars in C order. On a stream None.

    Raises
    ------
    NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Never waits; a test that succeeds acquires.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def test_some(ivars: AnyArray, cmp: CompareName, value: Value, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

@overload
def test_some_vector(ivars: AnyArray, cmp: CompareName, values: AnySource, status: AnySource | None = None, *, out: None = None, stream: None = None) -> IndexArray:
    """
    Return the indices of all words for which the comparison is true.

    The result is an integer array. Each word has a separate value.

    Parameters
    ----------
    ivars
        A contiguous symmetric array (or view) of integers, on this PE.
    cmp
        "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
    values
        One for each word, of ivars' dtype, or a list of Python numbers.
    status
        One integer for each word; words with a nonzero entry are skipped. None: all words count.
    out
        Only with stream=: an int64 array for their number, followed by the indices: n + 1 elements for n words.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    IndexArray
        Indices of ivars in C order. On a stream None.

    Raises
    ------
    NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

    Notes
    -----
    Never waits; a test that succeeds acquires.

    Source: OpenSHMEM 1.6, section 9.12.

    On a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for each
    word. The array values is in such memory, too, in ivars' dtype. The array out is in such memory, too, and may be larger.
    The stream reads them when it reaches the call, and again in each replay of a graph.
    """

@overload
def test_some_vector(ivars: AnyArray, cmp: CompareName, values: AnyArray, status: AnyArray | None = None, *, out: AnyArray, stream: GivenStream) -> None: ...

def barrier_all(*, stream: Stream = None) -> None:
    """
    Wait until all PEs have called it, and all their earlier puts are complete and visible.

    Collective over all PEs. Completes the default context's puts, atomics and signals, and plain stores
    into symmetric arrays. Other threads run meanwhile, and Ctrl-C interrupts a long wait. On a stream,
    the PEs' streams synchronize and the host continues; earlier work of each stream is then visible to
    all.

    Parameters
    ----------
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    PeDied
    Timeout
        ATOLL_WAIT_TIMEOUT has passed.
    CollectiveMismatch
        The PEs' calls differ; they are compared unless ATOLL_CHECK=none.

    See Also
    --------
    sync_all : completes no puts
    barrier : the PEs of a team

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11.

    Examples
    --------
    >>> atoll.put(x, data, pe=right)
    >>> atoll.barrier_all()
    >>> float(x[7])  # from the left PE
    7.0
    """

def sync_all(*, stream: Stream = None) -> None:
    """
    Wait until all PEs have called it; completes no puts.

    Collective over all PEs. Each PE's plain stores before it are visible to all PEs after it.

    Parameters
    ----------
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    CollectiveMismatch
        The PEs' calls differ; they are compared unless ATOLL_CHECK=none.
    PeDied, Timeout

    See Also
    --------
    barrier_all : completes puts, too

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11.
    """

def barrier(team: Team | None = None, *, stream: Stream = None) -> None:
    """
    A barrier_all among the PEs of a team: quiet on the team's default context, then sync.

    Collective over the team.

    Parameters
    ----------
    team
        The PEs; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    PeDied, UseAfterFree, Timeout
    CollectiveMismatch
        The PEs' calls differ; they are compared unless ATOLL_CHECK=none.

    See Also
    --------
    barrier_all : all PEs
    sync : completes no puts

    Examples
    --------
    >>> atoll.barrier(atoll.SHARED)  # the PEs of this host
    """

def sync(team: Team | None = None, *, stream: Stream = None) -> None:
    """
    Wait until all PEs of a team have called it; completes no puts.

    Collective over the team.

    Parameters
    ----------
    team
        The PEs; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    PeDied, UseAfterFree, Timeout
    CollectiveMismatch
        The PEs' calls differ; they are compared unless ATOLL_CHECK=none.

    See Also
    --------
    barrier : completes puts, too
    sync_all : all PEs

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11 (shmem_team_sync).
    """

@overload
def broadcast(dst: AnyArray, src: AnyArray, root: int = 0, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Give every PE the root's src.

    broadcast(dst, src, root) writes it into dst, on the root too. `broadcast(src, root)` returns it as a
    new ordinary array. src has dst's shape and dtype on every PE; only the root's contents are used.

    Collective over the team, with equal sizes, dtypes and roots on all PEs. On return dst is
    complete here and src may be changed. Completes no puts.

    Parameters
    ----------
    dst, src
        Symmetric (faster) or ordinary arrays of any strides. Arrays of a GPU are symmetric and
        contiguous, both, on every PE.
    root
        A PE number within the team.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The new array of the form without dst. None if dst was passed,
        and a Request with blocking=False.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree
    CollectiveMismatch
        The PEs' sizes and roots differ. They are compared unless ATOLL_CHECK=none;
        dtypes, too, if all PEs are Python.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11 (shmem_broadcast).

    Examples
    --------
    >>> atoll.broadcast(np.full(3, atoll.my_pe()), root=1)
    array([1, 1, 1])
    """

@overload
def broadcast(src: Array, root: int = 0, *, team: Team | None = None) -> Array: ...

@overload
def broadcast(src: ArrayLike, root: int = 0, *, team: Team | None = None) -> Any: ...

@overload
def broadcast(dst: AnyArray, src: AnyArray, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def broadcast(src: ArrayLike, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def fcollect(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Give every PE the src of all PEs, in PE order; src has one size on all.

    fcollect(dst, src) fills dst, which has n_pes times src's elements. `fcollect(src)` returns a new
    ordinary array of shape (n_pes, *src.shape).

    Collective over the team, with equal sizes and dtypes on all PEs. On return dst is
    complete here and src may be changed. Completes no puts.

    Parameters
    ----------
    dst, src
        Symmetric (faster) or ordinary arrays of any strides. Arrays of a GPU are symmetric and
        contiguous, both, on every PE.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The new array of the form without dst. None if dst was passed,
        and a Request with blocking=False.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree
    CollectiveMismatch
        The PEs' sizes differ. They are compared unless ATOLL_CHECK=none;
        dtypes, too, if all PEs are Python.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11 (shmem_fcollect).

    Examples
    --------
    >>> pes = atoll.fcollect([atoll.my_pe()])
    >>> pes.ravel().tolist() == list(range(atoll.n_pes()))
    True
    """

@overload
def fcollect(src: ArrayLike, *, team: Team | None = None) -> Array: ...

@overload
def fcollect(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def fcollect(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def collect(dst: AnyArray, src: AnySource, *, team: Team | None = None) -> int:
    """
    Give every PE the src of all PEs, concatenated in PE order; sizes may differ, and may be 0.

    collect(dst, src) fills the beginning of dst and returns the number of elements that arrived.
    `collect(src)` returns a new ordinary array, joined along the first axis (only its length may differ).
    A dst that is too small is a ShapeMismatch, with arrays of a GPU on every PE. On a stream, None is
    returned, and a dst that is too small ends the job with a KernelError.

    Collective over the team, with equal dtypes on all PEs. On return dst is
    complete here and src may be changed. Completes no puts.

    Parameters
    ----------
    dst, src
        Symmetric (faster) or ordinary arrays of any strides. Arrays of a GPU are symmetric and
        contiguous, both, on every PE.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    Array or int
        The new array of the form without dst, else the number of elements in dst.
        None on a stream.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree
    CollectiveMismatch
        The PEs' calls differ. They are compared unless ATOLL_CHECK=none;
        dtypes, too, if all PEs are Python.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11 (shmem_collect).
    """

@overload
def collect(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream) -> int | None: ...

@overload
def collect(src: ArrayLike, *, team: Team | None = None) -> Array: ...

@overload
def alltoall(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Exchange blocks: block j of this PE's src becomes block my_pe of PE j's dst.

    src consists of n_pes equal blocks in C order, such as an array of shape (n_pes, k). `alltoall(dst, src)` fills dst, of as many elements. `alltoall(src)` returns a new ordinary array of src's shape.

    Collective over the team, with equal sizes and dtypes on all PEs. On return dst is
    complete here and src may be changed. Completes no puts.

    Parameters
    ----------
    dst, src
        Symmetric (faster) or ordinary arrays of any strides. Arrays of a GPU are symmetric and
        contiguous, both, on every PE.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The new array of the form without dst. None if dst was passed,
        and a Request with blocking=False.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree
    CollectiveMismatch
        The PEs' sizes differ. They are compared unless ATOLL_CHECK=none;
        dtypes, too, if all PEs are Python.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11 (shmem_alltoall).

    Examples
    --------
    >>> blocks = np.full((atoll.n_pes(), 2), atoll.my_pe())
    >>> atoll.alltoall(blocks)[1]
    array([1, 1])
    """

@overload
def alltoall(src: ArrayLike, *, team: Team | None = None) -> Array: ...

@overload
def alltoall(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def alltoall(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

def alltoalls(dst: AnyArray, src: AnyArray, dst_stride: int, src_stride: int, nelems: int, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    alltoall of nelems elements a block, strided: element i of block j is at (j * nelems + i) * stride.

    dst and src are contiguous.

    Collective over the team, with equal sizes and dtypes on all PEs. On return dst is
    complete here and src may be changed. Completes no puts.

    Parameters
    ----------
    dst, src
        Symmetric (faster) or ordinary arrays of any strides. Arrays of a GPU are symmetric and
        contiguous, both, on every PE.
    dst_stride, src_stride
        Elements from one to the next, at least 1.
    nelems
        Elements of a block.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree
    CollectiveMismatch
        The PEs' sizes differ. They are compared unless ATOLL_CHECK=none;
        dtypes, too, if all PEs are Python.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11 (shmem_alltoalls).
    """

@overload
def gather(dst: AnyArray | None, src: AnyArray, root: int = 0, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Give the root the src of all PEs, in PE order; src has one size on all.

    gather(dst, src, root) fills the root's dst, which has n_pes times src's elements. On other PEs dst
    is not used and may be None. `gather(src, root)` returns a new ordinary array of shape (n_pes,
    *src.shape) on the root, and None elsewhere.

    Collective over the team, with equal sizes, dtypes and roots on all PEs. On return dst is
    complete here and src may be changed. Completes no puts.

    Parameters
    ----------
    dst, src
        Symmetric (faster) or ordinary arrays of any strides. Arrays of a GPU are symmetric and
        contiguous, both, on every PE.
    root
        A PE number within the team.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The new array of the form without dst. None if dst was passed,
        and a Request with blocking=False.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree
    CollectiveMismatch
        The PEs' sizes and roots differ. They are compared unless ATOLL_CHECK=none;
        dtypes, too, if all PEs are Python.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11.

    Examples
    --------
    >>> rows = atoll.gather(data, root=0)  # None on other PEs
    """

@overload
def gather(src: ArrayLike, root: int = 0, *, team: Team | None = None) -> Array | None: ...

@overload
def gather(dst: AnyArray | None, src: AnyArray, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def gather(src: ArrayLike, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def scatter(dst: AnyArray, src: AnyArray | None, root: int = 0, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Give every PE its own block of the root's src.

    scatter(dst, src, root) fills dst; src has n_pes times dst's elements, and only the root's is used.
    `scatter(src, root)` takes src of shape (n_pes, ...) on every PE and returns row my_pe of the root's,
    as a new ordinary array.

    Collective over the team, with equal sizes, dtypes and roots on all PEs. On return dst is
    complete here and src may be changed. Completes no puts.

    Parameters
    ----------
    dst, src
        Symmetric (faster) or ordinary arrays of any strides. Arrays of a GPU are symmetric and
        contiguous, both, on every PE.
    root
        A PE number within the team.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The new array of the form without dst. None if dst was passed,
        and a Request with blocking=False.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree
    CollectiveMismatch
        The PEs' sizes and roots differ. They are compared unless ATOLL_CHECK=none;
        dtypes, too, if all PEs are Python.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11.
    """

@overload
def scatter(src: Array, root: int = 0, *, team: Team | None = None) -> Array: ...

@overload
def scatter(dst: AnyArray, src: AnyArray | None, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def scatter(src: ArrayLike, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def sum_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs, on every PE.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of integers, float16, float32, float64, long double or complex (on a GPU bfloat16, too).
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The result of (src). None if dst was passed, and a Request with blocking=False.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    Examples
    --------
    >>> bool(atoll.sum_reduce(1) == atoll.n_pes())
    True
    """

@overload
def sum_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def sum_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def sum_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def sum_reduce(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def prod_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Product over PEs, on every PE.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of integers, float16, float32, float64, long double or complex (on a GPU bfloat16, too).
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The result of (src). None if dst was passed, and a Request with blocking=False.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """

@overload
def prod_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def prod_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def prod_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def prod_reduce(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def min_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Minimum over PEs, on every PE.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of integers, float16, float32, float64 or long double (on a GPU bfloat16, too).
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The result of (src). None if dst was passed, and a Request with blocking=False.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """

@overload
def min_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def min_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def min_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def min_reduce(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def max_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Maximum over PEs, on every PE.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of integers, float16, float32, float64 or long double (on a GPU bfloat16, too).
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The result of (src). None if dst was passed, and a Request with blocking=False.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).

    Examples
    --------
    >>> bool(atoll.max_reduce(atoll.my_pe()) == atoll.n_pes() - 1)
    True
    """

@overload
def max_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def max_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def max_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def max_reduce(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def avg_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Average over PEs, on every PE: the sum, divided by their number. An extension.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of float16, float32, float64 or long double (on a GPU bfloat16, too).
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The result of (src). None if dst was passed, and a Request with blocking=False.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """

@overload
def avg_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def avg_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def avg_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def avg_reduce(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

def premul_sum_reduce(dst: AnyArray, src: AnySource, factor: float, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs of factor times each element, on every PE. An extension.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of float16, float32, float64 or long double (on a GPU bfloat16, too).
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    factor
        A number, equal on all PEs.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """

def premul_sum_reduce_scatter(dst: AnyArray, src: AnySource, factor: float, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs of factor times each element; each PE gets its own block of the result. An extension.

    dst gets block my_pe; src has n_pes times its elements. Arrays in host memory need a scaled copy of
    src.

    Parameters
    ----------
    dst, src, factor, team
        As for premul_sum_reduce.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.
    """

@overload
def and_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise (bool: logical) and over PEs, on every PE.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of integers or bool.
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The result of (src). None if dst was passed, and a Request with blocking=False.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """

@overload
def and_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def and_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def and_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def and_reduce(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def or_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise (bool: logical) or over PEs, on every PE.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of integers or bool.
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The result of (src). None if dst was passed, and a Request with blocking=False.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """

@overload
def or_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def or_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def or_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def or_reduce(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def xor_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Bitwise (bool: logical) exclusive or over PEs, on every PE.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of integers or bool.
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        The result of (src). None if dst was passed, and a Request with blocking=False.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """

@overload
def xor_reduce(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def xor_reduce(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def xor_reduce(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def xor_reduce(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def reduce(dst: AnyArray, src: AnySource, op: ReduceName, root: int | None = None, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Reduce over PEs with an operator, on every PE or on one.

    reduce(dst, src, op, root=None) writes the result into dst. reduce(src, op, root=None) returns it as
    a new ordinary array.

    Parameters
    ----------
    dst, src, team
        As for sum_reduce.
    op
        "sum", "prod", "min", "max", "avg", "and", "or", "xor", or atoll.SUM and so on.
    root
        The PE that gets the result; None: every PE. Other PEs leave dst unchanged, and get None. Arrays
        of a GPU are passed on every PE.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array, number or Request
        As for sum_reduce; None on PEs that are not the root.

    Raises
    ------
    InvalidArgument
        op is wrong.
    PeError
        root is wrong.
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes, dtypes, op or root of the PEs differ; they are compared unless ATOLL_CHECK=none.
    """

@overload
def reduce(src: Array, op: ReduceName, *, team: Team | None = None) -> Array: ...

@overload
def reduce(src: Array, op: ReduceName, root: int, *, team: Team | None = None) -> Array | None: ...

@overload
def reduce(src: ArrayLike, op: ReduceName, root: int | None = None, *, team: Team | None = None) -> Any: ...

@overload
def reduce(dst: AnyArray, src: AnySource, op: ReduceName, root: int | None = None, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def reduce(src: ArrayLike, op: ReduceName, root: int | None = None, *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def reduce_scatter(dst: AnyArray, src: AnyArray, op: ReduceName = 'sum', *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Reduce over PEs; each PE gets its own block of the result.

    reduce_scatter(dst, src, op) writes block my_pe into dst; src has n_pes times dst's elements.
    `reduce_scatter(src, op)` takes src of shape (n_pes, ...) and returns row my_pe of the reduction.

    Parameters
    ----------
    dst, src, team
        As for sum_reduce, apart from the sizes.
    op
        "sum" (default), "prod", "min", "max", "avg", "and", "or", "xor".
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.
    blocking
        False: start the collective and return a Request, with wait, test and await. For arrays in host
        memory of PEs that share it. See "Collectives that do not block" in docs/python.md.

    Returns
    -------
    Array or Request
        Row my_pe of the reduction. None if dst was passed, and a Request with blocking=False.

    Raises
    ------
    InvalidArgument
        op is wrong.
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes, dtypes or op of the PEs differ; they are compared unless ATOLL_CHECK=none.
    """

@overload
def reduce_scatter(src: Array, op: ReduceName = 'sum', *, team: Team | None = None) -> Array: ...

@overload
def reduce_scatter(dst: AnyArray, src: AnyArray, op: ReduceName = 'sum', *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def reduce_scatter(src: Array, op: ReduceName = 'sum', *, team: Team | None = None, blocking: NotBlocking) -> Request: ...

@overload
def sum_inscan(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs 0 to my_pe, this PE included.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of integers, float16, float32, float64, long double or complex (on a GPU bfloat16, too).
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    Array or number
        The result of (src); None if dst was passed.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """

@overload
def sum_inscan(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def sum_inscan(src: ArrayLike, *, team: Team | None = None) -> Any: ...

@overload
def sum_exscan(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Sum over PEs 0 to my_pe - 1, this PE not included; 0 on the first.

    With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary array,
    or as a number if src is one. Collective over the team; on return dst is complete here and src may
    be changed. Completes no puts.

    Parameters
    ----------
    dst
        Like src; it may be src itself.
    src
        An array of integers, float16, float32, float64, long double or complex (on a GPU bfloat16, too).
        Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.
    team
        The PEs that take part; None: all.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Returns
    -------
    Array or number
        The result of (src); None if dst was passed.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
    CollectiveMismatch
        Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are
    combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.

    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """

@overload
def sum_exscan(src: Array, *, team: Team | None = None) -> Array: ...

@overload
def sum_exscan(src: ArrayLike, *, team: Team | None = None) -> Any: ...

def _pool_add(address: int, bytes: int, table: int, table_bytes: int, kept: object) -> None:
    """
    Add a slab for _pool_use, with a zeroed table in the host heap for other PEs, and an object that it keeps alive.
    """

def _pool_use(address: int) -> int:
    """
    Allocate from that slab from now on (0: from none); returns the previous one.
    """

def _pool_use_of(address: int) -> tuple[int, int, int]:
    """
    (a number that is equal if PEs allocated alike, bytes in use, number of failed allocations).
    """

def _pool_table_bytes(segments: int) -> int:
    """The size of the table of a slab with at most so many segments."""

def _pool_remove(address: int) -> Any:
    """Remove a slab; returns the object that it kept alive."""

def send(src: AnyArray | AnySource, pe: int, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Send src to PE pe, which calls recv.

    Returns when src may be changed. This may require that the receiver calls recv.

    Parameters
    ----------
    src
        Any array, on a GPU a symmetric one; or a list or number, as np.array makes it an array.
    pe
        Number of the receiver.
    team
        The team that numbers the PEs. None: all PEs.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, PeError, PeDied, Timeout, UseAfterFree

    Notes
    -----
    Messages between a pair of PEs are matched in order. Sizes and dtypes must be equal. Other threads
    run meanwhile, and Ctrl-C interrupts the wait.

    Inside `with atoll.group():` the call is only recorded. All calls of the group run together at its
    end, in any order, so that PEs may send to each other.

    Arrays of a GPU are contiguous on both sides, at most 64 in a group, and all on one stream. If sizes
    differ, the receiver's kernel stops (KernelError). In a group only its end may block the host.

    An extension of OpenSHMEM.
    """

def recv(dst: AnyArray, pe: int, *, team: Team | None = None, stream: Stream = None) -> None:
    """
    Receive a message of PE pe into dst; the data are there on return.

    Parameters
    ----------
    dst
        Any writeable array of the message's size.
    pe
        Number of the sender.
    team
        The team that numbers the PEs. None: all PEs.
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, PeError, PeDied, Timeout, UseAfterFree

    Notes
    -----
    Messages between a pair of PEs are matched in order. Sizes and dtypes must be equal. Other threads
    run meanwhile, and Ctrl-C interrupts the wait.

    Inside `with atoll.group():` the call is only recorded. All calls of the group run together at its
    end, in any order, so that PEs may send to each other.

    Arrays of a GPU are contiguous on both sides, at most 64 in a group, and all on one stream. If sizes
    differ, the receiver's kernel stops (KernelError). In a group only its end may block the host.

    An extension of OpenSHMEM.
    """

class group:
    """
    Several send and recv calls at once: they run together at the end of the `with` statement.

    Arrays must stay unchanged until then. After an exception in the statement nothing is sent. A thread
    has at most one open group, with messages of one team. The PEs of its messages call it.

    Parameters
    ----------
    team
        The team of the messages, which numbers the PEs. None: all PEs.

    Raises
    ------
    InvalidArgument
        The thread has an open group already.
    UseAfterFree, NotInitialized

    Examples
    --------
    >>> with atoll.group():
    ...     atoll.send(x, right)
    ...     atoll.recv(y, left)
    """

    def __init__(self, team: Team | None = None) -> None: ...

    def __repr__(self) -> str: ...

    def __enter__(self) -> group: ...

    def __exit__(self, *args: object) -> None: ...

def _warn_of_requests() -> None:
    """Write a line for each collective that is not done."""

class Request:
    """
    A collective that was started by blocking=False, and goes on.

    Its arrays must not be used until it is done. All PEs of the team start the same collectives in the
    same order, and wait for them in any order. A request that is dropped goes on, and keeps its arrays.

    Examples
    --------
    >>> request = atoll.sum_reduce(1.5, blocking=False)
    >>> bool(request.wait() == 1.5 * atoll.n_pes())
    True

    In a coroutine:

    >>> import asyncio
    >>> async def total():
    ...     return await atoll.sum_reduce(2, blocking=False)
    >>> bool(asyncio.run(total()) == 2 * atoll.n_pes())
    True
    """

    def test(self) -> bool:
        """
        Return True if the collective is done; its dst is then complete here. Never waits.

        Returns
        -------
        bool

        Raises
        ------
        CollectiveMismatch, PeDied
            The collective has failed.
        """

    def wait(self, timeout: float = 0.0) -> Any:
        """
        Wait until the collective is done, and return the result of the blocking call.

        Other threads run meanwhile, and Ctrl-C interrupts the wait; the collective then goes on. After an error that ended
        the collective, each further call raises that error again.

        Parameters
        ----------
        timeout
            In seconds, not negative; 0 is ATOLL_WAIT_TIMEOUT, by default no limit.

        Returns
        -------
        Array, number or None
            None if dst was passed.

        Raises
        ------
        Timeout
            The text names the PEs that have not started it. The request is as before.
        CollectiveMismatch, PeDied
            The collective has failed.
        """

    def __repr__(self) -> str: ...

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait in a coroutine; other tasks run."""

class Lock:
    """
    Mutual exclusion among all PEs, first come first served.

    The lock is not recursive. Creating it and free() are collective over all PEs. A lock that is only
    dropped is reclaimed later, like an array.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.13 (shmem_set_lock, shmem_test_lock, shmem_clear_lock).

    Examples
    --------
    >>> lock = atoll.Lock()  # collective over all PEs
    >>> with lock:  # one PE at a time
    ...     atoll.p(counter, atoll.g(counter, 0) + 1, 0)
    """

    def __init__(self) -> None: ...

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """
        Take the lock; wait while another PE holds it.

        Parameters
        ----------
        blocking
            False: do not wait if another PE holds it.
        timeout
            Seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.

        Returns
        -------
        bool
            True if this PE holds the lock now. False only with blocking=False.

        Raises
        ------
        Timeout, PeDied
        InvalidArgument
            This PE holds it already, or a timeout is given with blocking=False.
        """

    def release(self) -> None:
        """
        Release the lock, after completing this PE's puts on the default context.

        Raises
        ------
        InvalidArgument
            This PE does not hold it.
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

    Each word of a message carries a flag, so no message waits for a fence. Creating a mailbox and
    free() are collective over all PEs of the job, for any team. `receive` makes only the message itself
    visible. One thread at a time posts for each pair of PEs.

    Parameters
    ----------
    nbytes
        The size of the longest message.
    slots
        The number of unread messages to one PE before post() waits.
    team
        The PEs that exchange messages.
    device
        'cpu' or None; or 'cuda', for arrays of a GPU.

    Notes
    -----
    With device='cuda', arrays are contiguous ones of this PE's GPU (symmetric or not) or results of
    atoll.pin(), and calls accept stream=. Kernels post and receive in the same mailbox (`block`). slots
    is at most 4, and post waits at the latest with 8 unread messages. All PEs of the team must share
    memory (Unsupported).

    Calls without a stream wait on the host. Those on a stream wait in a kernel: they accept no timeout=
    and do not answer Ctrl-C. After ATOLL_WAIT_TIMEOUT they end the job with a report. For each pair and
    direction, one call runs at a time, by a host, a stream or a kernel. The
    size of dst must be that of a message that a kernel posted.
    """

    def __init__(self, nbytes: int, slots: int = 2, team: Team | None = None, device: str | None = None) -> None: ...

    def post(self, src: AnyArray, pe: int, timeout: float | None = None, *, stream: Stream = None) -> None:
        """
        Copy src to PE pe; on return src may be changed.

        The call waits while all slots to that PE hold unread messages. Other threads run meanwhile, and
        Ctrl-C interrupts the wait. An interrupted or timed-out wait has posted nothing. On a stream the
        call returns at once, and src must stay unchanged until the stream has reached it.

        Parameters
        ----------
        src
            Any array of at most nbytes bytes.
        pe
            Number of the receiver in the mailbox's team.
        timeout
            Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit. Not on a stream.
        stream
            For arrays of a GPU: enqueue the call on this stream. None: the host waits.

        Raises
        ------
        ShapeMismatch, PeError, Timeout, PeDied, UseAfterFree, InvalidArgument, Unsupported
        """

    @overload
    def receive(self, dst: AnyArray, from_pe: int, timeout: float | None = None) -> int:
        """
        Copy the next message from PE from_pe into dst.

        Messages of a pair arrive in order. Other threads run meanwhile, and Ctrl-C interrupts the wait. An
        interrupted or timed-out wait loses no message.

        Parameters
        ----------
        dst
            A writeable array, large enough for the message, of its dtype. In the host's memory a message stays,
            and can still be received, if dst has another dtype (DtypeMismatch) or less room (ShapeMismatch).
        from_pe
            Number of the sender in the mailbox's team.
        timeout
            Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.

        Returns
        -------
        int
            The number of elements that arrived.

        Raises
        ------
        ShapeMismatch, DtypeMismatch, PeError, Timeout, PeDied, UseAfterFree
        """

    @overload
    def receive(self, dst: AnyArray, from_pe: int, *, stream: Stream, count: AnyArray | None = None) -> int | None:
        """
        The same in stream order: returns at once.

        Parameters
        ----------
        dst
            A contiguous array of the GPU. The message is there once the stream has passed the call.
        from_pe
            Number of the sender in the mailbox's team.
        stream
            The stream of dst's GPU on which a kernel waits.
        count
            An int64 array of one element on the GPU, for the number of elements that arrived.

        Returns
        -------
        None
            Or the number of elements, if stream is None.

        Raises
        ------
        KernelError
            The message is larger than dst. (Without a stream that is ShapeMismatch, and the message stays
            unread.)
        InvalidArgument, Unsupported
        """

    def try_receive(self, dst: AnyArray, from_pe: int, *, stream: Stream = None, count: AnyArray | None = None) -> int | None:
        """
        Like receive, but return None at once if there is no message.

        Parameters
        ----------
        dst, from_pe
            As for receive.
        stream
            For arrays of a GPU: enqueue the call on this stream and return None at once.
        count
            An int64 array of one element on the GPU, needed on a stream. -1 there means that there was no message.

        Returns
        -------
        int or None
            The number of elements that arrived.

        Raises
        ------
        ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree, InvalidArgument, Unsupported
        """

    def capacity_bytes(self) -> int:
        """
        Return the size of the longest message. Local.

        Returns
        -------
        int
            Bytes.
        """

    @property
    def block(self) -> DeviceArray:
        """
        The mailbox for kernels of the team (device='cuda'): bytes on the GPU, with capacity_bytes() as the room.

        atoll.numba, atoll.cute and atoll.cupy have mailbox(box); Triton's calls take (block.torch(), room).

        Raises
        ------
        Unsupported, UseAfterFree
        """

    def __repr__(self) -> str: ...

    def free(self) -> None:
        """Free the mailbox's memory. Collective over all PEs of the job."""

    def __enter__(self) -> Mailbox: ...

    def __exit__(self, *args: object) -> None: ...

def check_kernels(*, stream: Stream = None) -> None:
    """
    Raise KernelError if the GPU stopped a kernel of this process. Local.

    The error names the operation, address, found and expected value, PE, and the tag= of the call.
    With stream=, the call first waits for the work on that stream. Without it, it only reports what is
    already known.

    Parameters
    ----------
    stream
        For arrays of a GPU: enqueue the call on this stream and return at once. None: wait until it is
        complete. See "Streams" in docs/python.md.

    Raises
    ------
    KernelError

    Notes
    -----
    A kernel's wait ends with the job, or after ATOLL_WAIT_TIMEOUT if that is set. Wrong PEs are
    detected unless ATOLL_CHECK=none. The kernel then reports and traps, and the GPU's context is
    lost. The next call of the GPU by any library fails with an error of CUDA ("unspecified launch
    failure").

    Atoll's own calls raise KernelError by themselves. If no call does so for 5 s, the job ends with
    that error.
    """

def _kernel_failure() -> str:
    """The error that check_kernels would raise, or an empty text."""

def _kernel_layout() -> dict[str, int]:
    """
    Return the offsets of the fields of a control block, for kernels written in Python.
    """

def _kernel_functions() -> dict[str, int]:
    """
    Return the addresses of the functions that kernels on the host call, by their names there.
    """

def _note_kernel(name: str, blocks: int, threads: int) -> None:
    """
    Record the name of a kernel at its launch, for the report of a stopped kernel.
    """

def _pes_at_once(gpu: int) -> int:
    """
    Return the number of PEs of the job that run on a GPU at the same time.
    """

def _resident_share(gpu: int, blocks: int) -> int:
    """
    Return the share of this PE in the `blocks` that a GPU can run at once: several PEs may run on it.
    """

def _grid_refusal(gpu: int, blocks: int, threads: int, whole: int) -> str:
    """
    The reason why a grid cannot be resident; the GPU can run `whole` such blocks at once.
    """

def _kernel_ended() -> None:
    """Raise the exception that ended a wait of this thread's kernel, if any."""

def _shmem_barrier_all() -> None:
    """
    Wait until all PEs have called it, and all their earlier puts are complete and visible.

    Collective over all PEs.

    Raises
    ------
    CollectiveMismatch
        The PEs' calls differ; they are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11.
    """

def _shmem_sync_all() -> None:
    """
    Wait until all PEs have called it; completes no puts.

    Collective over all PEs. Each PE's plain stores before it are visible to all PEs after it.

    Raises
    ------
    CollectiveMismatch
        The PEs' calls differ; they are compared unless ATOLL_CHECK=none.
    PeDied, Timeout

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.11.
    """

def _shmem_put(target: Array, source: Array, pe: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Copy the first elements of source into target on PE pe.

    Local, not collective. On return source may be changed. The data are in the target after quiet or
    barrier_all; fence orders puts to one PE. Shapes are ignored: elements are copied in memory order.

    Parameters
    ----------
    target
        A contiguous symmetric array, C or Fortran. The data go to the same place in PE pe's copy.
    source
        A contiguous array of target's dtype, symmetric or not.
    pe
        Number of the target PE.
    size
        The number of elements; None: that of the smaller array.
    ctx
        A shmem.Ctx, whose team numbers the PEs; None: the default context.

    Raises
    ------
    DtypeMismatch, NotSymmetric, PeError, UseAfterFree, NotInitialized
    ShapeMismatch
        size is larger than an array.
    InvalidArgument
        An array is not contiguous, or a target is read-only.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.5 (shmem_put).
    """

def _shmem_put_nbi(target: Array, source: Array, pe: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Like put, but source must not be changed before quiet. Local.

    Parameters
    ----------
    target, source, pe, size, ctx
        As for put.

    Notes
    -----
    Raises the errors of put. Source: OpenSHMEM 1.6, section 9.6 (shmem_put_nbi).
    """

def _shmem_get(target: Array, source: Array, pe: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Copy the first elements of source on PE pe into the local array target.

    Local, not collective. The data are in target on return. The call does not make PE pe's own writes
    visible: order the two by a barrier, a signal or an atomic. Shapes are ignored: elements are copied
    in memory order.

    Parameters
    ----------
    target
        A contiguous writeable array, C or Fortran, symmetric or not.
    source
        A contiguous symmetric array of target's dtype. The data come from the same place in PE pe's
        copy.
    pe
        Number of the PE to read from.
    size
        The number of elements; None: that of the smaller array.
    ctx
        A shmem.Ctx, whose team numbers the PEs; None: the default context.

    Raises
    ------
    DtypeMismatch, NotSymmetric, PeError, UseAfterFree, NotInitialized
    ShapeMismatch
        size is larger than an array.
    InvalidArgument
        An array is not contiguous, or a target is read-only.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.5 (shmem_get).
    """

def _shmem_get_nbi(target: Array, source: Array, pe: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Like get, but the data are in target only after quiet. Local.

    Parameters
    ----------
    target, source, pe, size, ctx
        As for get.

    Notes
    -----
    Raises the errors of get. Source: OpenSHMEM 1.6, section 9.6 (shmem_get_nbi).
    """

def _shmem_put_signal(target: Array, source: Array, pe: int, signal: Array, value: int, sigop: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Copy like put, then set or increase a signal on PE pe.

    Local. On return source may be changed. A PE that sees the signal (signal_wait_until, signal_fetch)
    sees this call's data, and no other.

    Parameters
    ----------
    target, source, pe, size, ctx
        As for put.
    signal
        A result of new_signal.
    value
        0 to 2**64 - 1.
    sigop
        SIGNAL_SET or SIGNAL_ADD; sums wrap.

    Raises
    ------
    DtypeMismatch, NotSymmetric, PeError, UseAfterFree, NotInitialized
    ShapeMismatch
        size is larger than an array.
    InvalidArgument
        An array is not contiguous, or a target is read-only.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal).
    """

def _shmem_put_signal_nbi(target: Array, source: Array, pe: int, signal: Array, value: int, sigop: int, size: int | None = None, ctx: Ctx | None = None) -> None:
    """
    Like put_signal, but source must not be changed before quiet. Local.

    Parameters
    ----------
    target, source, pe, signal, value, sigop, size, ctx
        As for put_signal.

    Notes
    -----
    Raises the errors of put_signal. Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal_nbi).
    """
