"""Loaded modules of kernels: those of Atoll need no initialisation, and those of NVSHMEM's own library do not run."""

from __future__ import annotations

import ctypes
from typing import Any

from ._state import NvshmemError, NvshmemInvalid, require
from .nvshmem_types import NvshmemKernelObject

STATES = {
    "nvshmemi_device_lib_version_d": "it is linked with NVSHMEM's own library for kernels, which does not run on Atoll; import "
    "nvshmem.core.device on Atoll before the kernel is compiled",
    "nvshmemi_device_state_d": "it is compiled with the nvshmem.h of Atoll; call nvshmemx_culibrary_init or "
    "nvshmemx_cumodule_init of libnvshmem_host",
}
"""A symbol of a module, and the reason for which its kernels cannot run by nvshmem.core. The first that it has counts."""


def _has(handle: int, symbol: str, function: str) -> bool:
    try:
        find = getattr(ctypes.CDLL("libcuda.so.1"), function)
    except (OSError, AttributeError):
        return False
    address, nbytes = ctypes.c_uint64(), ctypes.c_size_t()
    name = ctypes.c_char_p(symbol.encode())
    return bool(
        find(ctypes.byref(address), ctypes.byref(nbytes), ctypes.c_void_p(handle), name) == 0 and nbytes.value
    )


def initialize(function: str, given: Any) -> None:
    """Accept a module whose kernels run here.

    Parameters
    ----------
    function
        "library_init" or "module_init".
    given
        An NvshmemKernelObject.

    Raises
    ------
    NvshmemInvalid
        `given` is something else, or the job is not joined.
    NvshmemError
        The module has kernels that cannot run.
    """
    require()
    check(function, given)
    get = "cuLibraryGetGlobal" if function == "library_init" else "cuModuleGetGlobal_v2"
    for symbol, reason in STATES.items():
        if given.handle and _has(int(given.handle), symbol, get):
            raise NvshmemError(f"nvshmem.core.{function}: the module has the symbol {symbol}: {reason}.")


def check(function: str, given: Any) -> None:
    """Refuse what is not an NvshmemKernelObject."""
    if not isinstance(given, NvshmemKernelObject):
        raise NvshmemInvalid(
            f"nvshmem.core.{function}: the argument is {type(given).__name__}; pass an NvshmemKernelObject, such as "
            "NvshmemKernelObject.from_handle(handle)."
        )
