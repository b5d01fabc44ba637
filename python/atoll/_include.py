"""The folders of the C++ headers and of NVSHMEM's names."""

from __future__ import annotations

from pathlib import Path

from . import _atoll


def include_dir() -> str:
    """Return the folder of Atoll's headers, for a compiler's -I. Local; works before init().

    For torch.utils.cpp_extension, cuda.core, cupy.RawModule and nvcc. The device headers need no library;
    programs for the host link the one in the folder lib beside it.

    Returns
    -------
    str
        The folder in which <atoll/device/device.hpp> is found.

    Raises
    ------
    FileNotFoundError
        The package was installed without its headers.
    """
    module = Path(str(_atoll.__file__)).resolve()
    for folder in module.parents:
        if (folder / "include" / "atoll" / "device" / "device.hpp").is_file():
            return str(folder / "include")
    raise FileNotFoundError(f"no folder include with Atoll's headers beside {module} or above it")


def nvshmem_home() -> Path:
    """Return the folder with NVSHMEM's names: `atoll config --nvshmem-home`."""
    return Path(include_dir()).parent / "nvshmem"


def lacks_bitcode(path: Path) -> str:
    """Return the sentence of errors about an Atoll without that file of bitcode."""
    return f"this Atoll was built without {path}. Install a wheel of Atoll, or clang 14 or newer, and build Atoll again."
