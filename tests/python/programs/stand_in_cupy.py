"""A module in CuPy's place, once this is imported: enough for Atoll to make its arrays and to start kernels.

It computes nothing; a kernel keeps its launch's arguments.
"""

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

cupy: Any = types.ModuleType("cupy")
sys.modules["cupy"] = cupy


class ndarray:
    """An array as CuPy shows it."""

    def __init__(self, shape: Any, dtype: Any, memptr: Any, strides: Any) -> None:
        self.shape, self.dtype, self.strides = shape, np.dtype(dtype), strides
        self.data = memptr
        self.device = types.SimpleNamespace(id=0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data, typestr = (self.data.ptr, False), self.dtype.str
        return {"shape": self.shape, "typestr": typestr, "data": data, "strides": self.strides, "version": 3}


class Kernel:
    """A function of a RawModule."""

    name = "stand_in"

    def __call__(self, grid: Any, block: Any, arguments: Any, *, shared_mem: int) -> None:
        self.started = (grid, block, arguments)
        self.gpu = gpus[-1]


def pointer(memory: Any, offset: int) -> Any:
    return types.SimpleNamespace(ptr=memory.ptr + offset, device_id=memory.device_id, mem=memory)


class PooledMemory:
    """The memory of CuPy's own arrays."""

    def __init__(self, address: int) -> None:
        self.ptr, self.device_id = address, 0


def unowned(address: int, size: int, owner: object, device: int) -> Any:
    return types.SimpleNamespace(ptr=address, device_id=device, owner=owner)


gpus = [0]  # the last one is current


@contextlib.contextmanager
def on_gpu(number: int) -> Iterator[None]:
    gpus.append(number)
    yield
    gpus.pop()


cupy.ndarray = ndarray
cupy.asarray = lambda x: x
cupy.cuda = types.SimpleNamespace(
    UnownedMemory=unowned,
    MemoryPointer=pointer,
    get_current_stream=contextlib.nullcontext,
    runtime=types.SimpleNamespace(getDevice=lambda: gpus[-1]),
    Device=on_gpu,
)
