"""The number of blocks of a kernel that a PE may run at once on the current GPU.

It depends on CUDA's driver and on the PEs that share the GPU.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .. import _atoll

_MULTIPROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT


def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _ask(name: str, result: Any, *arguments: Any) -> Any:
    """Return the value that a call of the driver stores in its first argument."""
    failed = getattr(_driver(), name)(ctypes.byref(result), *arguments)
    if failed:
        raise RuntimeError(f"{name}: CUDA error {failed}")
    return result.value


def kernel_of(library: int, name: str) -> int:
    """Return the CUfunction of a kernel in a CUlibrary."""
    kernel = _ask(
        "cuLibraryGetKernel", ctypes.c_void_p(), ctypes.c_void_p(library), ctypes.c_char_p(name.encode())
    )
    return int(_ask("cuKernelGetFunction", ctypes.c_void_p(), ctypes.c_void_p(kernel)))


def current_gpu() -> int:
    """Return the number of the current GPU within this process."""
    return int(_ask("cuCtxGetDevice", ctypes.c_int()))


def whole_blocks(function: int, threads: int, shared: int) -> int:
    """Return the most blocks of a CUfunction that the current GPU runs at once, for all processes together.

    threads: of a block. shared: bytes of dynamic shared memory.
    """
    each = _ask(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        ctypes.c_int(),
        ctypes.c_void_p(function),
        ctypes.c_int(threads),
        ctypes.c_size_t(shared),
    )
    count = _ask("cuDeviceGetAttribute", ctypes.c_int(), ctypes.c_int(_MULTIPROCESSORS), current_gpu())
    return int(each * count)


def most_blocks(function: int, threads: int, shared: int) -> int:
    """Return the most blocks that this PE may run at once: PEs that share the GPU have equal shares."""
    return _atoll._resident_share(current_gpu(), whole_blocks(function, threads, shared))


def check_grid(blocks: int, threads: int, whole: int, gpu: int) -> None:
    """Refuse a grid that cannot be resident. `whole`: the number of such blocks that the GPU can run at once.

    Raises
    ------
    ValueError
        The grid has more blocks than this PE may run there, or no block.
    """
    if not 1 <= blocks <= _atoll._resident_share(gpu, whole):
        raise ValueError(_atoll._grid_refusal(gpu, max(blocks, 0), threads, whole))
