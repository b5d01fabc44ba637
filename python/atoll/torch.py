"""For PyTorch: tensors of the symmetric heap made by any code, and operations that torch.compile keeps.

    with atoll.torch.use_pool(1 << 30):
        y = model(x)                       # every tensor made in here is symmetric
    atoll.torch.sum_reduce(y, y)           # on torch's current stream; as a custom operator

    shared = atoll.torch.share(atoll.torch.symmetric_empty(1024))   # over torch's ranks; needs no atoll.init
    shared.put(torch.ones(10), rank=1)

The operators take tensors of the symmetric heap and enqueue on torch's current stream. Otherwise they are
atoll's functions of the same names. torch.compile keeps them in the graph unchanged, in their order.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from . import _versions

try:
    import torch
except ImportError as error:
    raise ImportError(_versions.missing("atoll.torch", "torch", error)) from error

import atoll

from . import _atoll
from ._torch.shared import SharedTensor, share, symmetric_empty

_versions.need("atoll.torch", "torch")

__all__ = [
    "Pool",
    "SharedTensor",
    "alltoall",
    "backend",
    "barrier",
    "broadcast",
    "fcollect",
    "get",
    "put",
    "put_signal",
    "reduce",
    "reduce_scatter",
    "share",
    "signal_consume",
    "sum_reduce",
    "symmetric_empty",
    "use_pool",
]


class Pool:
    """A part of the symmetric heap in which PyTorch makes tensors while `with pool:` holds.

    Parameters
    ----------
    nbytes
        The size, equal on all PEs. It is reserved here, collectively, and does not grow.

    Raises
    ------
    OutOfMemory, Unsupported
        The heap has too little room, or this PE has no GPU.

    Notes
    -----
    Allocation inside the pool is local; PEs that allocate alike get equal offsets. This PE's GPU becomes
    PyTorch's current device. When the pool is full, PyTorch raises its torch.cuda.OutOfMemoryError. PyTorch takes segments of 2 MiB for
    tensors up to 1 MiB, and of 20 MiB for tensors up to 10 MiB. Larger ones take multiples of 2 MiB. The memory stays until free(), which is collective, even if this object is dropped:
    PyTorch does not tell when a pool's last tensor is gone.

    Checks of the places of tensors:

    - The first operation on a tensor of the pool reads the target PE's table of segments, without its help.
      It raises NotSymmetric if that PE has another segment at this place. A collective reads the next
      member's table.
    - A PE that has not made as many segments yet is checked again at the next use. A replayed graph and
      kernels do not check.
    - `check()`, which leaving the block calls, compares the segments of all PEs.
    - Only PyTorch knows the places inside a segment. So a collective notes for its neighbours where dst and
      src are. At first use it compares them with the notes of the next and the previous member. The later of
      two that differ raises NotSymmetric. One-sided operations do not check places inside segments.
    """

    def __init__(self, nbytes: int) -> None:
        self._slab = atoll.empty(nbytes, "uint8", device="cuda", align=2 << 20)
        torch.cuda.set_device(self._slab.device)
        self._table = atoll.zeros(
            _atoll._pool_table_bytes(nbytes // (2 << 20) + 64), "uint8"
        )  # other PEs read it
        self._pool = torch.cuda.MemPool(_allocator().allocator())
        table = self._table.ctypes.data, self._table.nbytes
        _atoll._pool_add(self._slab.ptr, nbytes, *table, (self._slab, self._table, self._pool))
        self._outer: list[Any] = []

    def __enter__(self) -> Pool:
        use = torch.cuda.use_mem_pool(self._pool)
        before = _atoll._pool_use(self._slab.ptr)
        use.__enter__()
        self._outer.append((use, before))
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        use, before = self._outer.pop()
        use.__exit__(kind, value, trace)
        _atoll._pool_use(before)
        if kind is None:
            self.check()

    def check(self) -> None:
        """Compare the tensors that all PEs have made in the pool so far. Collective over all PEs.

        Raises
        ------
        CollectiveMismatch
            PEs made tensors of other sizes, or in another order.
        """
        mine, _, _ = _atoll._pool_use_of(self._slab.ptr)
        logs = atoll.fcollect(atoll_uint64(mine))
        for pe, theirs in enumerate(logs):
            if int(theirs[0]) != mine:
                raise atoll.CollectiveMismatch(
                    f"Pool: this PE and PE {pe} have not made tensors of the same sizes in the same order, so theirs "
                    "are at different places. Make tensors that differ outside the pool."
                )

    @property
    def used_bytes(self) -> int:
        """Bytes that PyTorch's segments take of the pool. Local."""
        return _atoll._pool_use_of(self._slab.ptr)[1]

    def free(self) -> None:
        """Free the memory. Collective; no tensor made in the pool may be used any more."""
        self._pool = None
        _atoll._pool_remove(self._slab.ptr)  # the last reference to PyTorch's pool is in its result
        atoll.free(self._slab)
        atoll.free(self._table)


@functools.cache
def _allocator() -> Any:
    """Return the allocator of all pools. It is never dropped: PyTorch's pools and segments that outlive them
    hold its bare address.
    """
    names = "atoll_pool_allocate", "atoll_pool_release"
    made = torch.cuda.memory.CUDAPluggableAllocator(str(_atoll.__file__), *names)
    _atoll._pool_add(0, 0, 0, 0, made)  # an entry without room, which is never removed
    return made


def atoll_uint64(value: int) -> Any:
    """Return one uint64 as an array, for a collective."""
    import numpy as np

    return np.array([value], np.uint64)


@contextlib.contextmanager
def use_pool(nbytes: int) -> Iterator[Pool]:
    """Make a Pool of nbytes and tensors in it: `with use_pool(n): y = model(x)`. Collective at both ends.

    Parameters
    ----------
    nbytes
        As for `Pool`.

    Returns
    -------
    context manager
        Its value is the pool, which is freed at the end.

    Raises
    ------
    OutOfMemory, Unsupported, CollectiveMismatch
        As for `Pool`, and `Pool.check` at the end.
    """
    with Pool(nbytes) as pool:
        yield pool


def backend(graph: Any, inputs: Any, *, mode: str | None = None, options: Any = None) -> Any:
    """Compile programs that change symmetric tensors in place: torch.compile(f, backend=atoll.torch.backend).

    backend="atoll" is the same if Atoll is installed by pip. The program runs in the order in which it is
    written. An
    operation such as `x.mul_(2)` changes x's own memory before the next operator that changes an argument. Such
    an operator may be Atoll's, another library's or the program's own. Operators get the tensors that the
    program names. Data that an operator changed, or let another PE change, are read after it. To do so,
    Dynamo's graph, which stays unbroken (fullgraph=True), is cut at those operators, and each piece between
    them is compiled by itself.

    Parameters
    ----------
    graph, inputs
        The graph from Dynamo and its example inputs.
    mode
        As torch.compile's.
    options
        "inner" is the backend for the pieces, a name or a function ("inductor"); others are that backend's.

    Returns
    -------
    callable
        The compiled program.

    Notes
    -----
    Local.
    """
    from ._torch.compiled import compile_pieces

    return compile_pieces(graph, inputs, mode, options or {})


def _operator(name: str, changes: tuple[str, ...], function: Any) -> Any:
    made = torch.library.custom_op(f"atoll::{name}", function, mutates_args=changes)
    made.register_fake(lambda *arguments: None)
    return made


def _call(function: Any, *arguments: Any) -> None:
    """Call on torch's current stream. Tensors of the host are passed as NumPy arrays of the same memory, and
    the call is immediate.
    """
    try:
        if arguments[0].device.type == "cpu":
            function(*(_shared(each) if isinstance(each, torch.Tensor) else each for each in arguments))
        else:
            function(*arguments, stream="current")
    except atoll.NotSymmetric as error:
        raise atoll.NotSymmetric(
            f"{error} If torch.compile made that tensor of a symmetric one which the function changes, compile with "
            "backend=atoll.torch.backend."
        ) from None


def _shared(x: torch.Tensor) -> Any:
    if x.device.type != "cpu":
        raise atoll.InvalidArgument(
            "atoll.torch: one tensor is in host memory and another on a GPU; pass all in one memory."
        )
    return x.detach().numpy()


def _put(dst: torch.Tensor, src: torch.Tensor, pe: int) -> None:
    _call(atoll.put, dst, src, pe)


def _get(dst: torch.Tensor, src: torch.Tensor, pe: int) -> None:
    _call(atoll.get, dst, src, pe)


def _put_signal(
    dst: torch.Tensor, src: torch.Tensor, sig: torch.Tensor, value: int, op: str, pe: int
) -> None:
    _call(atoll.put_signal, dst, src, sig, value, op, pe)


def _signal_consume(sig: torch.Tensor, n: int) -> None:
    _call(atoll.signal_consume, sig, n)


def _reduce(dst: torch.Tensor, src: torch.Tensor, op: str) -> None:
    _call(atoll.reduce, dst, src, op)


def _reduce_scatter(dst: torch.Tensor, src: torch.Tensor, op: str) -> None:
    _call(atoll.reduce_scatter, dst, src, op)


def _broadcast(dst: torch.Tensor, src: torch.Tensor, root: int) -> None:
    _call(atoll.broadcast, dst, src, root)


def _fcollect(dst: torch.Tensor, src: torch.Tensor) -> None:
    _call(atoll.fcollect, dst, src)


def _alltoall(dst: torch.Tensor, src: torch.Tensor) -> None:
    _call(atoll.alltoall, dst, src)


def _barrier(orders: torch.Tensor) -> None:
    on_host = orders.device.type == "cpu"
    atoll.barrier_all(stream=None if on_host else torch.cuda.current_stream(orders.device))


# `changes` names also an argument that is written on other PEs only, so that the compiler keeps the call and
# its place.
put = _operator("put", ("dst",), _put)
get = _operator("get", ("dst",), _get)
put_signal = _operator("put_signal", ("dst", "sig"), _put_signal)
signal_consume = _operator("signal_consume", ("sig",), _signal_consume)
_reduce_operator = _operator("reduce", ("dst",), _reduce)
_reduce_scatter_operator = _operator("reduce_scatter", ("dst",), _reduce_scatter)
broadcast = _operator("broadcast", ("dst",), _broadcast)
fcollect = _operator("fcollect", ("dst",), _fcollect)
alltoall = _operator("alltoall", ("dst",), _alltoall)
barrier = _operator("barrier", ("orders",), _barrier)


def reduce(dst: torch.Tensor, src: torch.Tensor, op: str = "sum") -> None:
    """Reduce over all PEs, on torch's current stream: atoll.reduce. Collective.

    Parameters
    ----------
    dst, src
        Tensors of the symmetric heap, of equal dtype and shape, on this PE's GPU or host. dst may be src.
    op
        "sum", "prod", "min", "max", "avg", "and", "or" or "xor".

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, InvalidArgument
        As for atoll.reduce.
    """
    _reduce_into(_reduce_operator, dst, src, op)


def reduce_scatter(dst: torch.Tensor, src: torch.Tensor, op: str = "sum") -> None:
    """Reduce and give each PE its block, on torch's current stream: atoll.reduce_scatter. Collective.

    Parameters
    ----------
    dst, src
        Tensors of the symmetric heap, of equal dtype; src has n_pes times the elements of dst.
    op
        "sum", "prod", "min", "max", "avg", "and", "or" or "xor".

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, InvalidArgument
        As for atoll.reduce_scatter.
    """
    _reduce_into(_reduce_scatter_operator, dst, src, op)


def sum_reduce(dst: torch.Tensor, src: torch.Tensor) -> None:
    """Sum over all PEs, on torch's current stream: atoll.sum_reduce. Collective.

    Parameters
    ----------
    dst, src
        Tensors of the symmetric heap, of equal dtype and shape, on this PE's GPU or host. dst may be src.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, InvalidArgument
        As for atoll.sum_reduce.
    """
    _reduce_into(_reduce_operator, dst, src, "sum")


def _reduce_into(operator: Any, dst: torch.Tensor, src: torch.Tensor, op: str) -> None:
    operator(dst, src, op)
