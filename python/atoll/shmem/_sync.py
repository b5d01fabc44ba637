"""Signals and locks."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _atoll
from ._memory import MALLOC_SIGNAL_REMOTE, free, new_array

if TYPE_CHECKING:
    from ._types import LockHandle, SigAddr


class SIGNAL(enum.IntEnum):
    """Operators of put_signal: SET the signal to the value, or ADD the value to it. Both are atomic.

    Source: OpenSHMEM 1.6, section 9.8.
    """

    SET = 0
    ADD = 1


SIGNAL_SET: SIGNAL = SIGNAL.SET
SIGNAL_ADD: SIGNAL = SIGNAL.ADD


def new_signal() -> SigAddr:
    """Return a new signal, 0: a symmetric array of one uint64. Collective over all PEs.

    signal[0] is its value on this PE. Raises OutOfMemory, CollectiveMismatch. Source: OpenSHMEM 1.6, section 9.8.
    """
    return new_array(1, np.uint64, hints=MALLOC_SIGNAL_REMOTE)


def del_signal(signal: SigAddr) -> None:
    """Free a signal. Collective over all PEs. Raises UseAfterFree, DtypeMismatch, TypeError."""
    if not isinstance(signal, np.ndarray):
        raise TypeError(f"del_signal(): signal is {signal!r}; pass the result of new_signal.")
    if signal.dtype != np.uint64 or signal.size != 1:
        raise _atoll.DtypeMismatch(
            f"del_signal(): signal is an array of {signal.size} {signal.dtype}; pass the result of new_signal (one"
            " uint64), or free the array by shmem.free()."
        )
    free(signal)


def signal_fetch(signal: SigAddr) -> int:
    """Return the value of this PE's signal.

    Acquires: data that the signalling PE sent by put_signal are visible. Local. Raises DtypeMismatch,
    NotSymmetric, UseAfterFree. Source: OpenSHMEM 1.6, section 9.8 (shmem_signal_fetch).
    """
    return _atoll.signal_fetch(signal, None)


def new_lock() -> LockHandle:
    """Return a new lock, free. Collective over all PEs. Raises OutOfMemory, CollectiveMismatch."""
    return _atoll.Lock()


def _lock(function: str, lock: Any) -> _atoll.Lock:
    if not isinstance(lock, _atoll.Lock):
        raise TypeError(f"{function}(): lock is {lock!r}; pass the result of new_lock.")
    return lock


def del_lock(lock: LockHandle) -> None:
    """Free a lock's memory. Collective over all PEs. Raises UseAfterFree."""
    _lock("del_lock", lock).free()


def set_lock(lock: LockHandle) -> None:
    """Wait until this PE holds the lock; PEs get it in the order in which they asked.

    Local. Raises UseAfterFree, PeDied, Timeout (ATOLL_WAIT_TIMEOUT). Source: OpenSHMEM 1.6, section 9.13.
    """
    _lock("set_lock", lock)._set_lock()


def test_lock(lock: LockHandle) -> bool:
    """Take the lock if it is free, without waiting; False if this PE holds it now, True if another one does.

    Local. Raises UseAfterFree. Source: OpenSHMEM 1.6, section 9.13 (shmem_test_lock).
    """
    return not _lock("test_lock", lock)._test_lock()


def clear_lock(lock: LockHandle) -> None:
    """Release the lock, after completing this PE's operations on the default context.

    Local. Raises InvalidArgument if this PE does not hold it. Source: OpenSHMEM 1.6, section 9.13.
    """
    _lock("clear_lock", lock)._clear_lock()


class Lock:
    """Mutual exclusion among all PEs. Making it and destroy() are collective over all PEs.

    In a `with` statement it is held to the end. Not recursive. Source: OpenSHMEM 1.6, section 9.13.
    """

    _lock: LockHandle | None

    def __init__(self) -> None:
        self._lock = None
        self._lock = new_lock()

    def _held(self, function: str) -> LockHandle:
        if self._lock is None:
            raise _atoll.UseAfterFree(f"{function}(): this lock was destroyed; make another by shmem.Lock().")
        return self._lock

    def destroy(self) -> None:
        """Free the lock's memory. Collective over all PEs. A second call does nothing."""
        lock = self._lock
        self._lock = None
        if lock is not None:
            del_lock(lock)

    def acquire(self, blocking: bool = True) -> bool:
        """Acquire the lock; return True once this PE holds it. With blocking=False return False at once if
        another PE does.

        Local. Raises as set_lock does.
        """
        return self._held("Lock.acquire").acquire(blocking)

    def release(self) -> None:
        """Release the lock; as clear_lock. Local."""
        self._held("Lock.release").release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *args: object) -> None:
        self.release()
