"""How many blocks of a kernel run at once on the current GPU, by CUDA's driver."""

from __future__ import annotations

import ctypes
from typing import Any

_MULTIPROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT


def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _ask(name: str, result: Any, *arguments: Any) -> Any:
    """What a call of the driver stores in its first argument."""
    failed = getattr(_driver(), name)(ctypes.byref(result), *arguments)
    if failed:
        raise RuntimeError(f"{name}: CUDA error {failed}")
    return result.value


def kernel_of(library: int, name: str) -> int:
    """The CUfunction of a kernel in a CUlibrary."""
    kernel = _ask(
        "cuLibraryGetKernel", ctypes.c_void_p(), ctypes.c_void_p(library), ctypes.c_char_p(name.encode())
    )
    return int(_ask("cuKernelGetFunction", ctypes.c_void_p(), ctypes.c_void_p(kernel)))


def most_blocks(function: int, threads: int, shared: int) -> int:
    """The most blocks of a CUfunction that run at once, of so many threads and bytes of dynamic shared memory."""
    each = _ask(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        ctypes.c_int(),
        ctypes.c_void_p(function),
        ctypes.c_int(threads),
        ctypes.c_size_t(shared),
    )
    gpu = _ask("cuCtxGetDevice", ctypes.c_int())
    return int(each * _ask("cuDeviceGetAttribute", ctypes.c_int(), ctypes.c_int(_MULTIPROCESSORS), gpu))
