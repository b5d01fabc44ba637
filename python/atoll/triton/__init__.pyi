from .._kernels.triton import *
from ._addresses import team_at as team_at
from ._host import kernel as kernel, most_resident_blocks as most_resident_blocks
from ._host import most_resident_programs as most_resident_programs
from .._kernels.arguments import mailbox_bytes as mailbox_bytes
from ._types import (
    ACQUIRE_RELEASE as ACQUIRE_RELEASE, ADD as ADD, AND as AND, EQ as EQ, GE as GE, GT as GT, LE as LE, LT as LT,
    MAX as MAX, MIN as MIN, NE as NE, OR as OR, PROD as PROD, RELAXED as RELAXED, SET as SET,
    SUM as SUM, XOR as XOR,
)

__all__: list[str]
