"""The functions of cuda.pathfinder that find NVSHMEM, for programs of NVSHMEM4Py: they find Atoll's form of it.

NVIDIA's examples in CuTe DSL load "nvshmem_host" so. NVSHMEM's own library would have Atoll's names in the process.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .._include import lacks_bitcode, nvshmem_home
from ._installed import broken, module_of

__all__ = [
    "BitcodeLibNotFoundError",
    "DynamicLibNotFoundError",
    "LoadedDL",
    "LocatedBitcodeLib",
    "find_bitcode_lib",
    "find_nvidia_header_directory",
    "load_nvidia_dynamic_lib",
    "locate_bitcode_lib",
]

__path__: list[str] = []  # import takes it for a package, as cuda.pathfinder is one


class DynamicLibNotFoundError(RuntimeError):
    """A library that is not there."""


class BitcodeLibNotFoundError(RuntimeError):
    """A file of bitcode that is not there."""


@dataclass(frozen=True)
class LocatedBitcodeLib:
    """A file of bitcode."""

    name: str
    abs_path: str
    filename: str
    found_via: str = "atoll"


@dataclass
class LoadedDL:
    """A library in this process."""

    abs_path: str | None
    was_already_loaded_from_elsewhere: bool
    _handle_uint: int
    found_via: str = "atoll"


@functools.cache
def _host_library() -> LoadedDL:
    path = nvshmem_home() / "lib" / "libnvshmem_host.so"
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise DynamicLibNotFoundError(
            f"Atoll's form of NVSHMEM's library cannot be loaded: {error}"
        ) from error
    return LoadedDL(str(path), False, int(library._handle))


def load_nvidia_dynamic_lib(libname: str) -> Any:
    """Load a library by cuda.pathfinder's name. Local.

    Parameters
    ----------
    libname
        "nvshmem_host" is Atoll's library. Others are those of the installed cuda.pathfinder.

    Returns
    -------
    LoadedDL
        The library's path and handle.

    Raises
    ------
    DynamicLibNotFoundError
        There is no such library.
    """
    if libname == "nvshmem_host":
        return _host_library()
    error = broken.get("cuda.pathfinder")
    if error is not None:
        raise DynamicLibNotFoundError(
            f"{libname}: the installed cuda.pathfinder cannot be imported ({error}); Atoll's substitute for it finds "
            "nvshmem_host alone. Install cuda.pathfinder again."
        ) from error
    raise DynamicLibNotFoundError(
        f"{libname}: cuda.pathfinder is not installed; Atoll's substitute for it finds nvshmem_host alone."
    )


def find_nvidia_header_directory(libname: str) -> str | None:
    """Return the folder of a library's headers by cuda.pathfinder's name: for "nvshmem" Atoll's, else None. Local."""
    return str(nvshmem_home() / "include") if libname == "nvshmem" else None


def locate_bitcode_lib(name: str) -> LocatedBitcodeLib:
    """Find a file of bitcode by cuda.pathfinder's name: for "nvshmem_device" Atoll's. Local.

    Raises
    ------
    BitcodeLibNotFoundError
        This Atoll was built without it, or it is another file and cuda.pathfinder is not installed.
    """
    path = nvshmem_home() / "lib" / "libnvshmem_device.bc"
    if name != "nvshmem_device":
        raise BitcodeLibNotFoundError(
            f"{name}: cuda.pathfinder is not installed; Atoll's substitute for it finds nvshmem_device alone."
        )
    if not path.exists():
        raise BitcodeLibNotFoundError(f"{name}: {lacks_bitcode(path)}")
    return LocatedBitcodeLib(name, str(path), path.name)


def find_bitcode_lib(name: str) -> str:
    """Return the path that locate_bitcode_lib finds. Local."""
    return locate_bitcode_lib(name).abs_path


def _first(own: Callable[[str], Any], name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return `own` for the library `name`, and `theirs` for all others."""

    @functools.wraps(theirs)
    def find(libname: str, *arguments: Any, **keywords: Any) -> Any:
        return own(libname) if libname == name else theirs(libname, *arguments, **keywords)

    return find


def in_place_of(name: str) -> ModuleType:
    """Return the module for `import NAME`: the installed package with these functions first, or this one."""
    mine = sys.modules[__name__]
    made = module_of(name)
    if made is None:
        return mine
    for own, library in (
        (load_nvidia_dynamic_lib, "nvshmem_host"),
        (find_nvidia_header_directory, "nvshmem"),
        (locate_bitcode_lib, "nvshmem_device"),
        (find_bitcode_lib, "nvshmem_device"),
    ):
        theirs = getattr(made, own.__name__, None)
        if theirs is not None:
            setattr(made, own.__name__, _first(own, library, theirs))
    return made
