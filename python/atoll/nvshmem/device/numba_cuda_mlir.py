"""nvshmem.core.device.numba_cuda_mlir: the same operations in kernels of numba-cuda-mlir."""

from __future__ import annotations

# ruff: noqa: F403
from . import numba as _numba
from .numba import *

LEFT_OUT = ("SmemAmount", "ask_smem", "give_smem", "release_smem")
__all__ = [name for name in _numba.__all__ if name not in LEFT_OUT]
