"""nvshmem.core.device.numba: NVSHMEM's operations in kernels of numba.cuda, by atoll.numba.

The functions also compile in numba.njit, for memory of the host; there every scope is one thread.
"""

from __future__ import annotations

# ruff: noqa: F403
from ....numba._dsl import _registration
from . import amo, collective, direct, mem, rma
from .amo import *
from .collective import *
from .direct import *
from .mem import *
from .rma import *

_registration.registered()
__all__ = rma.__all__ + direct.__all__ + amo.__all__ + collective.__all__ + mem.__all__
