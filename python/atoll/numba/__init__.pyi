from .._kernels.numba import *
from ._host import (
    RESIDENT as RESIDENT, Kernel as Kernel, Mailbox as Mailbox, kernel as kernel, launch as launch,
    mailbox as mailbox, most_resident_blocks as most_resident_blocks,
)
from ._types import (
    ACQUIRE_RELEASE as ACQUIRE_RELEASE, ADD as ADD, AND as AND, BLOCK as BLOCK, EQ as EQ, GE as GE, GRID as GRID,
    GT as GT, LE as LE, LT as LT, MAX as MAX, MIN as MIN, NE as NE, OR as OR, PROD as PROD, RELAXED as RELAXED,
    SET as SET, SUM as SUM, THREAD as THREAD, WARP as WARP, XOR as XOR,
)

__all__: list[str]
