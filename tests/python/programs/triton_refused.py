"""What a launch of a Triton kernel refuses, with GPU memory that is simulated; and takes, where it is interpreted."""

from __future__ import annotations

from typing import Any

import atoll
import atoll.triton as dev
import numpy as np
import triton.language as tl
from atoll.triton import _host
from checks import raises, run

atoll.init()


class Tensor:
    """As much of a tensor as a launch looks at before it starts anything."""

    def __init__(self, array: Any) -> None:
        self.interface, self.shape = array.__cuda_array_interface__, array.shape

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.interface

    def data_ptr(self) -> int:
        return int(self.interface["data"][0])


@dev.kernel
def one(team, x, y):
    dev.p(team, x, 1, 0)


def check_freed_arrays() -> None:
    memory, kept = atoll.zeros(8, np.int64, device="cuda"), atoll.zeros(8, np.int64, device="cuda")
    x, y = Tensor(memory), Tensor(kept)
    team = atoll.WORLD.device("device")
    atoll.free(memory)
    words = "one: argument 2, an array of shape (8,), was freed by atoll.free()"
    raises(atoll.UseAfterFree, lambda: one[(1,)](team, x, y), words)
    raises(atoll.UseAfterFree, lambda: one[(1,)](team, y, y=x), "one: argument y, an array")


@dev.kernel
def moves(team, x, y, n, pe):
    dev.put(team, x, y, n, pe)


@dev.kernel
def sums(team, x, y, n):
    dev.reduce(team, x, y, n, dev.SUM)


@dev.kernel
def posts(team, block, x, pe):
    dev.post(team, block, 64, x, 1, pe)


@dev.kernel
def stores_a_part(team, x, pe):
    at = tl.arange(0, 8) - 4
    dev.p(team, x + at, at, pe)


def check_ordinary_arrays() -> None:
    """Where a symmetric one is needed; what stands that far from an ordinary one is anybody's."""
    x, y, team = np.zeros(2048), atoll.zeros(2048), atoll.WORLD.device("host")
    right, other = (atoll.my_pe() + 1) % atoll.n_pes(), np.zeros(4096, np.int64)
    for name, call in {
        f"moves: atoll.triton.put: {x.ctypes.data:#x} is": lambda: moves[(1,)](team, x, y, 3, right),
        "sums: atoll.triton.reduce": lambda: sums[(1,)](team, x, x, 2048),
        "posts: atoll.triton.post": lambda: posts[(1,)](team, other, other, right),
        "stores_a_part: atoll.triton.p": lambda: stores_a_part[(1,)](team, other, right),
        "one: atoll.triton.p": lambda: one[(1,)](atoll.WORLD.device("device"), y, y),
    }.items():
        raises(atoll.NotSymmetric, call, name, "is not in the symmetric memory", "atoll.zeros()")
    moves[(1,)](team, y, x, 3, right)  # a source is any array
    stores_a_part[(1,)](team, y[8:].view(np.int64), right)
    atoll.barrier_all()


def check_arrays_of_numpy() -> None:
    """Interpreted kernels have them as they are; compiled ones would not start."""
    x, y = atoll.zeros(2, np.int16), atoll.zeros(2, np.int16)
    team = atoll.WORLD.device("host")
    one[(1,)](team, x, y)
    atoll.barrier_all()
    assert x[0] == (atoll.my_pe() == 0)
    atoll.free(x)
    raises(atoll.UseAfterFree, lambda: one[(1,)](team, x, y), "one: argument 2, an array of shape (2,)")
    _host.INTERPRETED = False
    words = "one: argument 3 is an array of NumPy, in host memory; pass a tensor of PyTorch"
    raises(TypeError, lambda: one[(1,)](team, 1, np.zeros(3)), words)
    _host.INTERPRETED = True


run(globals())
