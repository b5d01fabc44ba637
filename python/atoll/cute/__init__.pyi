from .._kernels.cute import *
from ._types import (
    ACQUIRE_RELEASE as ACQUIRE_RELEASE, ADD as ADD, AND as AND, BLOCK as BLOCK, EQ as EQ, GE as GE, GRID as GRID,
    GT as GT, LE as LE, LT as LT, MAX as MAX, MIN as MIN, NE as NE, OR as OR, PROD as PROD, RELAXED as RELAXED,
    SET as SET, SUM as SUM, THREAD as THREAD, WARP as WARP, XOR as XOR, Team as Team, team as team,
)
from .._kernels.arguments import mailbox_bytes as mailbox_bytes
from ._collectives import Meeting as Meeting
from ._host import mailbox as mailbox, most_resident_blocks as most_resident_blocks, tensor as tensor
from ._mailboxes import Inbox as Inbox, Mailbox as Mailbox, Outbox as Outbox

__all__: list[str]
