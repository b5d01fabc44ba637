"""Places of a pool on several PEs, with a PyTorch that makes no tensors: segments are requested as by
libtorch.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import stand_in_torch  # noqa: F401

# isort: split
import atoll
import atoll.torch
import numpy as np
from atoll import _atoll

MIB = 1 << 20
libtorch = ctypes.CDLL(_atoll.__file__)
libtorch.atoll_pool_allocate.restype = ctypes.c_void_p
libtorch.atoll_pool_allocate.argtypes = ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p
libtorch.atoll_pool_release.restype = None
libtorch.atoll_pool_release.argtypes = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p


class Words:
    """Eight words at the start of a new segment of the pool."""

    def __init__(self, segment_bytes: int) -> None:
        self.address = libtorch.atoll_pool_allocate(segment_bytes, 0, None)
        assert self.address is not None

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.address, False), "shape": (8,), "typestr": "<u8", "version": 3}

    def release(self) -> None:
        libtorch.atoll_pool_release(self.address, 0, 0, None)


def refused(call: Callable[[], Any], *words: str) -> None:
    try:
        call()
    except atoll.NotSymmetric as error:
        for word in words:
            assert word in str(error), (word, str(error))
    else:
        raise AssertionError(f"no error that says {words}")


def uses(x: Any, pe: int) -> list[Callable[[], Any]]:
    """Return all operations that take x as the data on `pe`."""
    eight, local = np.arange(8, dtype=np.uint64), atoll.zeros(8, "uint64", device="cuda")
    ones = np.zeros(8, np.uint64)
    return [
        lambda: atoll.put(x, eight, pe),
        lambda: atoll.put(x, local, pe, stream=0),
        lambda: atoll.get(ones, x, pe),
        lambda: atoll.get(local, x, pe, stream=0),
        lambda: atoll.p(x, 1, pe, 0),
        lambda: atoll.g(x, pe, 0),
        lambda: atoll.atomic_add(x, 1, pe, 0),
        lambda: atoll.put_signal(local, eight, x, 1, "add", pe, 0),
        lambda: atoll.put_signal(x, eight, local, 1, "add", pe, 0),
        lambda: atoll.signal_add(x, 1, pe, 0),
        lambda: atoll.iput(x, eight, 1, 1, 8, pe),
        lambda: atoll.peer(x, pe),
    ]


atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
next_pe = (me + 1) % n

# Equal allocations: all operations work, also after one was freed and made again.
with atoll.torch.use_pool(32 * MIB) as pool:
    a, b = Words(2 * MIB), Words(4 * MIB)
    atoll.barrier_all()
    for call in uses(b, next_pe):
        call()
    a.release()
    a = Words(2 * MIB)
    atoll.barrier_all()
    for call in uses(a, next_pe):
        call()
    atoll.sum_reduce(a, b)
    atoll.barrier_all()
a.release()
b.release()
pool.free()

# PE 0's first segment is larger, so it overlaps the others' second. Both sides must find that.
pool = atoll.torch.Pool(32 * MIB)
pool.__enter__()
first = Words((4 if me == 0 else 2) * MIB)
second = Words(2 * MIB)
atoll.barrier_all()
if me == 0:
    said = f"allocation 1 of the pool, {4 * MIB} bytes at offset 0", f"PE 1's allocation 1 is {2 * MIB} bytes"
    for call in uses(first, 1):
        refused(call, *said, "outside the pool")
    refused(lambda: atoll.put(second, 1, 1), f"allocation 2 of the pool, {2 * MIB} bytes at offset {4 * MIB}",
            f"PE 1's allocation 2 is {2 * MIB} bytes at offset {2 * MIB}")  # fmt: skip
else:
    for call in uses(second, 0):
        refused(call, f"allocation 2 of the pool, {2 * MIB} bytes at offset {2 * MIB}",
                f"PE 0's allocation 1 is {4 * MIB} bytes at offset 0")  # fmt: skip
    atoll.put(second, 1, n - 1)  # PEs 1 and 2 are equal
if me in (0, n - 1):  # the next member of these in a collective differs
    refused(lambda: atoll.sum_reduce(first, first), "offset 0")
    refused(lambda: atoll.sum_reduce(first, first, stream=0), "offset 0")
atoll.barrier_all()
refused_at_the_end = False
try:
    pool.__exit__(None, None, None)
except atoll.CollectiveMismatch:
    refused_at_the_end = True
assert refused_at_the_end
pool.free()

# PEs compare a segment only when each has made it.
pool = atoll.torch.Pool(32 * MIB)
pool.__enter__()
if me == 0:
    x = Words(2 * MIB)
    atoll.put(x, 1, 1)
    atoll.put(x, 1, 1)
atoll.barrier_all()
if me != 0:
    x = Words(4 * MIB)
atoll.barrier_all()
if me == 0:
    refused(lambda: atoll.put(x, 1, 1), f"PE 1's allocation 1 is {4 * MIB} bytes")
team = atoll.WORLD.split_strided(n - 2, 1, 2)  # PE numbers are those of the call's team
if team and me == n - 1:
    peer = n - 2
    if peer == 0:
        refused(lambda: atoll.put(x, 1, 0, team=team), "PE 0's allocation 1")
    else:
        atoll.put(x, 1, 0, team=team)
        refused(lambda: atoll.put(x, 1, 0), "PE 0's allocation 1")
atoll.barrier_all()
_atoll._pool_use(0)
pool.free()
print("done")
