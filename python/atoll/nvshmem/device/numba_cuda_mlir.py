"""nvshmem.core.device.numba_cuda_mlir: the same operations in kernels of numba-cuda-mlir."""

from __future__ import annotations

# ruff: noqa: F403
from .numba import __all__ as _numba
from .numba import *

__all__ = [name for name in _numba if name not in ("SmemAmount", "ask_smem", "give_smem", "release_smem")]
