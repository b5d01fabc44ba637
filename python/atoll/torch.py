"""For PyTorch: tensors of the symmetric heap made by any code, and operations that torch.compile keeps.

    with atoll.torch.use_pool(1 << 30):
        y = model(x)                       # every tensor made in here is symmetric
    atoll.torch.sum_reduce(y, y)           # on torch's current stream; as a custom operator

The operators take tensors of the symmetric heap, enqueue on torch's current stream, and are atoll's functions of
the same names otherwise; inside torch.compile they stand in the graph as they are, in their order.
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

_versions.need("atoll.torch", "torch")

__all__ = [
    "Pool",
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
    "signal_consume",
    "sum_reduce",
    "use_pool",
]


class Pool:
    """A part of the symmetric heap that PyTorch makes tensors in, while `with pool:` holds.

    nbytes: the size, equal on all PEs: reserved here, collectively, and never more. Inside, allocation is local; PEs
    that allocate alike get equal offsets. The first operation that takes a tensor of the pool for a PE reads where that
    PE's stands, without its help, and raises NotSymmetric where it has another segment at that place; a collective
    looks at the next member. A PE that has not made as many segments yet is looked at again at the next use; a graph
    that is replayed and kernels do not look. `check()`, which leaving the block calls, compares all PEs, by segments.
    How PyTorch divides one, it alone knows, so a collective notes for its neighbours where dst and src stand, and at
    first use compares with what the next and the previous member noted: the one that comes later raises NotSymmetric where a place is
    another. One-sided operations do not see into segments. When the pool is full PyTorch raises its
    torch.cuda.OutOfMemoryError. PyTorch takes segments of 2 MiB for tensors up to 1 MiB, of 20 MiB up to 10 MiB, and whole
    2 MiB above. This PE's GPU becomes PyTorch's current device.

    Raises OutOfMemory, Unsupported. The memory stays until free(), which is collective, also where this object is dropped:
    PyTorch does not say when the last tensor of a pool is gone.
    """

    def __init__(self, nbytes: int) -> None:
        self._slab = atoll.empty(nbytes, "uint8", device="cuda", align=2 << 20)
        torch.cuda.set_device(self._slab.device)
        self._table = atoll.zeros(
            _atoll._pool_table_bytes(nbytes // (2 << 20) + 64), "uint8"
        )  # what other PEs read of it
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
        """Raise CollectiveMismatch unless all PEs have allocated alike so far. Collective over all PEs."""
        mine, _, _ = _atoll._pool_use_of(self._slab.ptr)
        logs = atoll.fcollect(atoll_uint64(mine))
        for pe, theirs in enumerate(logs):
            if int(theirs[0]) != mine:
                raise atoll.CollectiveMismatch(
                    f"Pool: this PE and PE {pe} have not made tensors of the same sizes in the same order, so theirs "
                    "do not stand at equal places; make what differs outside the pool."
                )

    @property
    def used_bytes(self) -> int:
        """Bytes that PyTorch's segments take of the pool. Local."""
        return _atoll._pool_use_of(self._slab.ptr)[1]

    def free(self) -> None:
        """Give the memory back. Collective; no tensor made in the pool may be used any more."""
        self._pool = None
        _atoll._pool_remove(self._slab.ptr)  # and with what it returns PyTorch's pool is gone
        atoll.free(self._slab)
        atoll.free(self._table)


@functools.cache
def _allocator() -> Any:
    """One for all pools, and never dropped: PyTorch's pools and the segments that outlive them have its bare address."""
    names = "atoll_pool_allocate", "atoll_pool_release"
    made = torch.cuda.memory.CUDAPluggableAllocator(str(_atoll.__file__), *names)
    _atoll._pool_add(0, 0, 0, 0, made)  # of a slab without room, which is never removed
    return made


def atoll_uint64(value: int) -> Any:
    """One word, for a collective."""
    import numpy as np

    return np.array([value], np.uint64)


@contextlib.contextmanager
def use_pool(nbytes: int) -> Iterator[Pool]:
    """Make a Pool of nbytes and tensors in it: `with use_pool(n): y = model(x)`. Collective at both ends."""
    with Pool(nbytes) as pool:
        yield pool


def backend(graph: Any, inputs: Any, *, mode: str | None = None, options: Any = None) -> Any:
    """torch.compile's backend for programs that change symmetric tensors in place: torch.compile(f, backend=atoll.torch.backend),
    or backend="atoll" where Atoll is installed by pip.

    The program runs as it is written: `x.mul_(2)` changes x's own memory before the next operator that changes an argument
    (those of this module, and of other libraries' and one's own) runs, operators get the tensors that the program names, and
    what one of them changed, or let another PE change, is read after it. For that Dynamo's graph, which stays whole
    (fullgraph=True), is cut at those operators, and what is between them is compiled by itself.

    mode: as torch.compile's. options: "inner" is the backend for the pieces, a name or a function ("inductor"); others are
    that backend's. Local.
    """
    from ._compiled import compile_pieces

    return compile_pieces(graph, inputs, mode, options or {})


def _operator(name: str, changes: tuple[str, ...], function: Any) -> Any:
    made = torch.library.custom_op(f"atoll::{name}", function, mutates_args=changes)
    made.register_fake(lambda *arguments: None)
    return made


def _call(function: Any, *arguments: Any) -> None:
    """On torch's current stream; of tensors of the host at once, as NumPy's arrays, which share their memory."""
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
        raise atoll.InvalidArgument("atoll.torch: one tensor is of the host and another of a GPU.")
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


# What is written on other PEs only is named as changed too, so that the compiler keeps the call, and its place.
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
    """atoll.reduce over all PEs, on torch's current stream. dst may be src. Collective."""
    _reduce_into(_reduce_operator, dst, src, op)


def reduce_scatter(dst: torch.Tensor, src: torch.Tensor, op: str = "sum") -> None:
    """atoll.reduce_scatter over all PEs, on torch's current stream. Collective."""
    _reduce_into(_reduce_scatter_operator, dst, src, op)


def sum_reduce(dst: torch.Tensor, src: torch.Tensor) -> None:
    """atoll.sum_reduce over all PEs, on torch's current stream. dst may be src. Collective."""
    _reduce_into(_reduce_operator, dst, src, "sum")


def _reduce_into(operator: Any, dst: torch.Tensor, src: torch.Tensor, op: str) -> None:
    operator(dst, src, op)
