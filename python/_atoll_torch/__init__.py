"""Registers the backend `atoll` of torch.distributed. PyTorch calls `register` at the end of its own import.

This module imports nothing of atoll: the package is loaded when a program first makes a group. Nothing here
may make `import torch` fail, so every exception is dropped. A program that wants the backend then gets
PyTorch's own error for an unknown backend.
"""

from __future__ import annotations

import os
import sys
from typing import Any

BACKEND = "atoll"
# Device files of NVIDIA's driver, of WSL and of Jetson. A query by CUDA would load its driver into every program.
GPU_FILES = ("/dev/nvidiactl", "/dev/dxg", "/dev/nvmap")
SYMMETRIC_BACKEND = "ATOLL"


def register() -> None:
    """Register the backend with PyTorch, if its distributed package is there."""
    try:
        import torch.distributed as dist

        if dist.is_available() and BACKEND not in dist.Backend.backend_list:
            dist.Backend.register_backend(BACKEND, _create, extended_api=True, devices=_devices())
            _offer_symmetric_memory()
        if names := os.environ.get("ATOLL_TORCH_REPLACE"):
            from ._replace import replace

            replace(names)
        if "ATOLL_RUN_RANKS" in os.environ and dist.is_available():
            from ._store import keep

            keep()
    except Exception as error:
        if sys.flags.dev_mode:
            print(f"atoll: the backend of torch.distributed was not registered: {error!r}", file=sys.stderr)


def _devices() -> list[str]:
    """Return the devices of groups that name none. Parts of PyTorch use a GPU wherever a group could."""
    return ["cpu", "cuda"] if any(map(os.path.exists, GPU_FILES)) else ["cpu"]


def _create(group: Any, options: Any) -> Any:
    """Make the backend of one group."""
    from atoll._c10d import create

    return create(group, options)


def _offer_symmetric_memory() -> None:
    """Let `symm_mem.set_backend("ATOLL")` load the backend first. PyTorch has no hook for that."""
    from torch._C._distributed_c10d import _SymmetricMemory

    set_backend = _SymmetricMemory.set_backend

    def load_and_set_backend(name: str) -> None:
        if name == SYMMETRIC_BACKEND:
            from atoll._c10d import module

            module()
        set_backend(name)

    _SymmetricMemory.set_backend = staticmethod(load_and_set_backend)
