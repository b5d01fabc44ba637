"""nvshmem.core.device.cute: NVSHMEM's operations in kernels of CuTe DSL, by atoll.cute."""

# mypy: ignore-errors
from __future__ import annotations

# ruff: noqa: F403
from . import amo, collective, direct, mem, rma
from .amo import *
from .collective import *
from .direct import *
from .mem import *
from .rma import *

__all__ = rma.__all__ + direct.__all__ + amo.__all__ + collective.__all__ + mem.__all__
