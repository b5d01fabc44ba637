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

try:
    import torch
except ImportError as error:
    raise ImportError(f"atoll.torch needs PyTorch; install it: pip install torch ({error})") from error

import atoll

from . import _atoll

__all__ = [
    "Pool",
    "alltoall",
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
    that is replayed and kernels do not look. `check()`, which leaving the block calls, compares all PEs. Segments are
    compared: how PyTorch divides one, it alone knows. When the pool is full PyTorch raises its torch.cuda.OutOfMemoryError. PyTorch takes segments of 2 MiB for
    tensors up to 1 MiB, of 20 MiB up to 10 MiB, and whole 2 MiB above. This PE's GPU becomes PyTorch's current device.

    Raises OutOfMemory, Unsupported. The memory stays until free(), which is collective, also where this object is dropped:
    PyTorch does not say when the last tensor of a pool is gone.
    """

    def __init__(self, nbytes: int) -> None:
        self._slab = atoll.empty(nbytes, "uint8", device="cuda", align=2 << 20)
        torch.cuda.set_device(self._slab.device)
        self._table = atoll.zeros(3 + 3 * (nbytes // (2 << 20) + 64), "uint64")  # what other PEs read of it
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


def _operator(name: str, changes: tuple[str, ...], function: Any) -> Any:
    made = torch.library.custom_op(f"atoll::{name}", function, mutates_args=changes)
    made.register_fake(lambda *arguments: None)
    return made


def _put(dst: torch.Tensor, src: torch.Tensor, pe: int) -> None:
    atoll.put(dst, src, pe, stream="current")


def _get(dst: torch.Tensor, src: torch.Tensor, pe: int) -> None:
    atoll.get(dst, src, pe, stream="current")


def _put_signal(
    dst: torch.Tensor, src: torch.Tensor, sig: torch.Tensor, value: int, op: str, pe: int
) -> None:
    which: Any = op
    atoll.put_signal(dst, src, sig, value, which, pe, stream="current")


def _signal_consume(sig: torch.Tensor, n: int) -> None:
    atoll.signal_consume(sig, n, stream="current")


def _reduce(dst: torch.Tensor, src: torch.Tensor, op: str) -> None:
    names: Any = op
    atoll.reduce(dst, src, names, stream="current")


def _reduce_scatter(dst: torch.Tensor, src: torch.Tensor, op: str) -> None:
    names: Any = op
    atoll.reduce_scatter(dst, src, names, stream="current")


def _broadcast(dst: torch.Tensor, src: torch.Tensor, root: int) -> None:
    atoll.broadcast(dst, src, root, stream="current")


def _fcollect(dst: torch.Tensor, src: torch.Tensor) -> None:
    atoll.fcollect(dst, src, stream="current")


def _alltoall(dst: torch.Tensor, src: torch.Tensor) -> None:
    atoll.alltoall(dst, src, stream="current")


def _barrier(orders: torch.Tensor) -> None:
    atoll.barrier_all(stream=torch.cuda.current_stream(orders.device))


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
