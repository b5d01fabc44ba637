"""nvshmem.core.device: operations in kernels, a module for each language. Each is imported when it is first named."""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["cute", "numba", "numba_cuda_mlir"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"nvshmem.core.device has no attribute {name!r}; it has: {', '.join(__all__)}")
