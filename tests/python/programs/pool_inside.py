"""Tensors inside one segment of a pool: PyTorch divides it, so only the arguments of collectives show their
places.

With `swapped` the last PE has made two of them in the other order; with `alike` it has not.
"""

import ctypes
import sys
from typing import Any

import stand_in_torch  # noqa: F401

# isort: split
import atoll
import atoll.torch
from atoll import _atoll

libtorch = ctypes.CDLL(_atoll.__file__)
libtorch.atoll_pool_allocate.restype = ctypes.c_void_p
libtorch.atoll_pool_allocate.argtypes = ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p


class Words:
    """Eight words somewhere in a segment."""

    def __init__(self, address: int) -> None:
        self.address = address

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.address, False), "shape": (8,), "typestr": "<u8", "version": 3}


atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
is_other = sys.argv[1] == "swapped" and me == n - 1
pool = atoll.torch.Pool(32 << 20)
with pool:
    segment = libtorch.atoll_pool_allocate(2 << 20, 0, None)
    first, second = (Words(segment + 512 * number) for number in (0, 1))
    third = Words(segment + 1024)
    if is_other:
        first, second = second, first
    atoll.put(first, second, (me + 1) % n)  # within one segment: their places are unknown
    atoll.barrier_all()
    team = atoll.WORLD.split_strided(0, 1, n)
    part = atoll.WORLD.split_strided(0, 1, max(1, n - 1))  # without the PE that differs
    if part:
        atoll.sum_reduce(first, second, team=part)
        atoll.sum_reduce(second, first, team=part)
    for _ in range(300):  # more than are kept
        atoll.sum_reduce(third, third)
        atoll.sum_reduce(third, third, stream=0)
    local = atoll.zeros(8, "uint64", device="cuda")
    atoll.broadcast(third, local, 0)  # one in the pool, one not
    atoll.barrier_all()
    atoll.sum_reduce(first, third)
    for _ in range(3):
        atoll.sum_reduce(second, first, team=team)
        atoll.sum_reduce(first, first, stream=0)
    atoll.barrier_all()
print("done")
