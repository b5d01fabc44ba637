"""The folder of the C++ headers."""

from __future__ import annotations

from pathlib import Path

from . import _atoll


def include_dir() -> str:
    """Return the folder of Atoll's headers: the argument of a compiler's -I that finds
    <atoll/device/device.hpp>.

    For torch.utils.cpp_extension, cuda.core, cupy.RawModule and nvcc. The device headers need no library;
    programs for the host link the one in the folder lib beside it. Local; works before init().
    """
    module = Path(str(_atoll.__file__)).resolve()
    for folder in module.parents:
        if (folder / "include" / "atoll" / "device" / "device.hpp").is_file():
            return str(folder / "include")
    raise FileNotFoundError(f"no folder include with Atoll's headers beside {module} or above it")
