"""Memory of dropped arrays of all PEs, which the next collective call frees if there is much of it."""

from __future__ import annotations

import numpy as np

import atoll

MUCH = 1 << 20  # bytes: smaller arrays wait for the next allocation

dropped_bytes = 0
"""Bytes of this PE's blocks that were dropped since the last allocation."""


def note_allocation() -> None:
    """Note an allocation over all PEs, which has freed what all of them had dropped."""
    global dropped_bytes
    dropped_bytes = 0


def note_drop(nbytes: int) -> None:
    """Note that this PE has dropped a block. No other PE is asked."""
    global dropped_bytes
    dropped_bytes += nbytes


def is_much() -> bool:
    """Return True if this PE has dropped so much that all PEs should free it."""
    return dropped_bytes >= MUCH


def free() -> None:
    """Free the blocks that all PEs have dropped. Collective over all PEs: it makes an allocation, which frees them."""
    atoll.empty(1, np.uint8)
    note_allocation()
