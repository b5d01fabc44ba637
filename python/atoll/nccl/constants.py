"""Flags of nccl.core."""

from __future__ import annotations

import enum

__all__ = ["CTAPolicy", "CommShrinkFlag", "CommSuspendFlag", "WindowFlag"]


class CTAPolicy(enum.IntFlag):
    """Ways to use a GPU's blocks. They change nothing here."""

    DEFAULT = 0
    EFFICIENCY = 1
    ZERO = 2
    Default = 0
    Efficiency = 1
    Zero = 2


class CommShrinkFlag(enum.IntEnum):
    """Ways to shrink a communicator."""

    DEFAULT = 0
    ABORT = 1
    Default = 0
    Abort = 1


class CommSuspendFlag(enum.IntFlag):
    """Parts of a communicator that are suspended."""

    MEM = 1
    Mem = 1


class WindowFlag(enum.IntFlag):
    """Properties of a window. They change nothing here."""

    DEFAULT = 0
    COLL_SYMMETRIC = 1
    STRICT_ORDERING = 2
    GIN_ONLY = 4
    CFT_COUNTED = 8
    Default = 0
    CollSymmetric = 1
    StrictOrdering = 2
