"""State that programs read from NVSHMEM4Py's module of this name, though it is not documented."""

from __future__ import annotations

import enum
from typing import Any


class InternalInitStatus(enum.IntEnum):
    """States of the library between init() and finalize()."""

    UNINITIALIZED = 0
    INITIALIZED = 1
    DE_INITIALIZED = 2


_is_initialized = {"status": InternalInitStatus.UNINITIALIZED}
_cached_device: dict[str, Any] = {"device": None}


def joined(device: Any) -> None:
    """Note that init() succeeded, with its device or None."""
    _is_initialized["status"] = InternalInitStatus.INITIALIZED
    _cached_device["device"] = device


def left() -> None:
    """Note that finalize() left the job."""
    _is_initialized["status"] = InternalInitStatus.DE_INITIALIZED
    _cached_device["device"] = None
