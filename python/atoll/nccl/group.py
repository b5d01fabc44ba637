"""Groups of calls, which are carried out together at their end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal, overload

from ._errors import NcclInvalid, translated
from ._gpu import Message, messages

__all__ = ["GroupSimInfo", "group", "group_end", "group_start"]


@dataclass(frozen=True)
class GroupSimInfo:
    """The result of group_end(simulate=True)."""

    estimated_time: float
    """Seconds; 0 here, since nothing is estimated."""


@dataclass(frozen=True)
class Waiting:
    """A call that waits for its group's end."""

    order: bytes
    """The communicator's, by which all of its ranks sort calls of different communicators."""
    run: Callable[[], Any]


class _Open(threading.local):
    """This thread's open groups, and their calls."""

    depth = 0

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Drop the calls."""
        self.puts: list[Waiting] = []
        self.collectives: list[Waiting] = []
        self.messages: list[tuple[bytes, Message]] = []
        self.waits: list[Waiting] = []


_open = _Open()


def is_open() -> bool:
    """Return whether this thread has a group open."""
    return _open.depth > 0


def submit_message(order: bytes, message: Message) -> None:
    """Carry out a send or a receive now, or at the end of this thread's open group."""
    if _open.depth:
        _open.messages.append((order, message))
    else:
        messages([message])


def submit(kind: Literal["puts", "collectives", "waits"], order: bytes, run: Any) -> None:
    """Carry out a call now, or at the end of this thread's open group."""
    if _open.depth:
        getattr(_open, kind).append(Waiting(order, run))
    else:
        run()


def group_start() -> None:
    """Open a group: calls of this thread wait until its end. Local. Groups nest; the outermost one counts."""
    _open.depth += 1


@overload
def group_end(*, simulate: Literal[False] = False) -> None: ...
@overload
def group_end(*, simulate: Literal[True]) -> GroupSimInfo: ...
@overload
def group_end(*, simulate: bool) -> GroupSimInfo | None: ...
def group_end(*, simulate: bool = False) -> GroupSimInfo | None:
    """End a group, and carry out its calls.

    Puts and signals go first, then collectives, then all messages at once, so that ranks may send to each other in any
    order. Waits for signals are last.

    Parameters
    ----------
    simulate
        True: drop the calls, and return an estimate.

    Raises
    ------
    NcclInvalid, NCCLError
        No group is open, or a call failed.
    """
    if not _open.depth:
        raise NcclInvalid("nccl.core: group_end: no group is open in this thread; call group_start first.")
    _open.depth -= 1
    if _open.depth:
        return GroupSimInfo(0.0) if simulate else None
    puts, collectives, listed, waits = _open.puts, _open.collectives, _open.messages, _open.waits
    _open.clear()
    if simulate:
        return GroupSimInfo(0.0)
    _group_end(puts, collectives, listed, waits)
    return None


@translated
def _group_end(
    puts: list[Waiting],
    collectives: list[Waiting],
    listed: list[tuple[bytes, Message]],
    waits: list[Waiting],
) -> None:
    # By communicator, alike on all ranks; calls of one communicator keep their order.
    for call in [*puts, *sorted(collectives, key=lambda call: call.order)]:
        call.run()
    if len(listed) > 1:
        listed = sorted(listed, key=itemgetter(0))
    if listed:
        messages([message for _, message in listed])
    for call in waits:
        call.run()


class _Group:
    def __enter__(self) -> None:
        group_start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            group_end()
            return
        _open.depth -= 1
        if not _open.depth:
            _open.clear()


_group = _Group()


def group() -> AbstractContextManager[None]:
    """Open a group for a `with` statement. After an exception in it, its calls are dropped."""
    return _group
