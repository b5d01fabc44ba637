"""The tasks of asyncio's event loops, for reports of hangs.

A coroutine that waits is on no thread's stack: the thread shows its event loop alone.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from . import _atoll

MOST_TASKS = 64
MOST_FRAMES = 40
Task = asyncio.Task[Any]


def offer() -> None:
    """Let a thread write the tasks when the launcher asks for stacks."""
    _atoll._offer_tasks(text)


def text() -> str:
    """Return the tasks of all loops, in the form in which Python's faulthandler writes threads."""
    parts = []
    frames = sys._current_frames()
    for thread, frame in frames.items():
        loop, main = _loop_of(frame)
        if loop is None:
            continue
        tasks = _tasks_of(loop)
        if thread == threading.main_thread().ident:
            main = main if main in tasks else next(iter(tasks), None)
            if main is not None:
                awaited = list(_awaited(main))
                lines = [line for task in reversed(awaited) for line in _stack(task)]
                parts.append(_part(f"Awaited task {main.get_name()}", lines))
                tasks = [task for task in tasks if task not in awaited]
        parts += [_part(f"Task {task.get_name()}", _stack(task)) for task in tasks[:MOST_TASKS]]
    return "".join(parts)


def _part(heading: str, lines: list[str]) -> str:
    return "\n".join([f"{heading} (most recent call first):", *lines[:MOST_FRAMES]]) + "\n\n" if lines else ""


def _tasks_of(loop: asyncio.AbstractEventLoop) -> list[Task]:
    """Return the tasks that are not done, in the order of their names: Task-2 comes before Task-10."""
    return sorted(asyncio.all_tasks(loop), key=lambda task: (len(task.get_name()), task.get_name()))


def _loop_of(frame: FrameType | None) -> tuple[asyncio.AbstractEventLoop | None, Task | None]:
    """Return the loop that a thread runs, and the task until whose end it runs."""
    loop: asyncio.AbstractEventLoop | None = None
    task: Task | None = None
    while frame is not None:
        if "asyncio" in frame.f_code.co_filename:
            values = frame.f_locals
            its = values.get("self")
            its = getattr(its, "_loop", its)  # an asyncio.Runner has it
            if loop is None and isinstance(its, asyncio.AbstractEventLoop):
                loop = its
            until = values.get("future", values.get("task"))
            if task is None and loop is not None and isinstance(until, asyncio.Task):
                task = until
        frame = frame.f_back
    return loop, task


def _frames(task: Task) -> list[FrameType]:
    """Return the frames of a task that waits, the outermost first."""
    found: list[FrameType] = []
    awaited: Any = task.get_coro()
    while awaited is not None and len(found) < MOST_FRAMES:
        for kind in ("cr", "gi", "ag"):
            if hasattr(awaited, f"{kind}_frame"):
                frame = getattr(awaited, f"{kind}_frame")
                found += [frame] if frame is not None else []
                awaited = getattr(awaited, "gi_yieldfrom" if kind == "gi" else f"{kind}_await")
                break
        else:
            break
    return found


def _stack(task: Task) -> list[str]:
    """Return the lines of a task, the innermost first."""
    return [
        f'  File "{frame.f_code.co_filename}", line {frame.f_lineno} in {frame.f_code.co_name}'
        for frame in reversed(_frames(task))
    ]


def _awaited(task: Task) -> Iterator[Task]:
    """Iterate over a task and those behind its wait: the awaited one first, then the one awaited by that."""
    seen: set[int] = set()
    following: Task | None = task
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = next((one for one in _waited_for(following) if not one.done()), None)


def _waited_for(task: Task) -> Iterator[Task]:
    """Iterate over the tasks that a task waits for, by await, gather(), wait() or a TaskGroup."""
    future: Any = getattr(task, "_fut_waiter", None)
    several: Any = [future, *(getattr(future, "_children", None) or ())]
    for frame in _frames(task):
        if "asyncio" in frame.f_code.co_filename:
            values = frame.f_locals
            several += list(values.get("fs") or ())
            several += list(getattr(values.get("self"), "_tasks", None) or ())
    for one in several:
        if isinstance(one, asyncio.Task):
            yield one
