"""What a launch of a Triton kernel refuses, with GPU memory that is simulated; and takes, where it is interpreted."""

from __future__ import annotations

from typing import Any

import atoll
import atoll.triton as dev
import numpy as np
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
