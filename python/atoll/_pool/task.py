"""Calls and PEs of atoll.Pool: their state, their time limits, and the texts that name them."""

from __future__ import annotations

import contextlib
import math
import re
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Any

from .. import _atoll
from .._launching.failures import Failure, caller_error, launch_error, pe_ranges
from .._launching.wire import Message, dumps
from .names import Key
from .output import Lines
from .variables import Value

ANSWER_SECONDS = 5.0  # a PE that was interrupted must have answered


EXPLAINED_SECONDS = 1.0  # a shorter time-out for a future may be a poll, which gets no report
CHECK_SECONDS = (
    1.0  # from the first return of a PE to the first check of the others' waits; the interval then doubles
)
MOST_CHECK_SECONDS = 10.0
AGAIN_SECONDS = 10.0  # the least time between two reports of one future


_RETURNED = re.compile(r"between calls of the pool, and PE [\d,-]+ waits? for (it|them) in ")


_GOES_ON = "The call goes on; Pool.interrupt() interrupts it."


class PoolFuture(Future[Any]):
    """A future whose TimeoutError tells why the call has not ended."""

    explain: Callable[[float], str] | None = None  # once the call has begun
    explained_at = -math.inf

    def result(self, timeout: float | None = None) -> Any:
        """Return the result, as Future.result."""
        try:
            return super().result(timeout)
        except FutureTimeoutError as error:
            if self.done():  # the call itself has raised it
                raise
            raise self._explained(error, timeout) from None

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return the exception, as Future.exception."""
        try:
            return super().exception(timeout)
        except FutureTimeoutError as error:
            raise self._explained(error, timeout) from None

    def _explained(self, error: FutureTimeoutError, timeout: float | None) -> FutureTimeoutError:
        explain = self.explain
        now = time.monotonic()
        # A report takes a while, so a program that asks again and again gets few.
        if timeout is None:
            return error
        if explain is None or timeout < EXPLAINED_SECONDS or now - self.explained_at < AGAIN_SECONDS:
            return FutureTimeoutError(f"No result within {timeout} seconds. {_GOES_ON}")
        self.explained_at = now
        return FutureTimeoutError(explain(timeout))


class Task:
    """One call, on one PE or on all. Without a message it is the step in which the PEs join the job."""

    def __init__(
        self,
        message: Message | None,
        collective: bool,
        timeout: float | None = None,
        name: str = "join",
        variables: Sequence[Value] = (),
    ) -> None:
        self.message = message
        self.variables = variables  # that its functions use, as they were when it was made
        self.collective = collective
        self.timeout = timeout
        self.name = "the join of the job" if message is None else call_name(name, collective)
        self.future = PoolFuture()
        self.begun = 0.0  # when it was sent; 0: it is queued
        self.missing: set[int] = set()
        self.results: dict[int, Any] = {}
        self.failures: dict[int, Failure] = {}
        self.error: BaseException | None = None  # takes precedence over the PEs' own
        self.is_late = False  # its time is over: it ends with the report
        self.times_out = self.interrupt_at = self.kill_at = self.check_at = float("inf")
        self._check_seconds = CHECK_SECONDS
        if timeout is not None:
            self.times_out = time.monotonic() + timeout
        self._interrupted: dict[int, float] = {}  # for each PE the time that it was able to run by then

    def due(self) -> float:
        """Return when the next of its limits is reached."""
        return min(self.times_out, self.interrupt_at, self.kill_at, self.check_at)

    def check_later(self) -> None:
        """Set when the PEs that have not returned are checked next."""
        self.check_at = time.monotonic() + self._check_seconds
        self._check_seconds = min(2 * self._check_seconds, MOST_CHECK_SECONDS)

    def is_broken(self) -> bool:
        """Return whether it is a call on all PEs that failed, or is interrupted, on one of them."""
        is_interrupted = self.is_late or self.interrupt_at < float("inf")
        return self.collective and (is_interrupted or bool(self.failures))

    def finish(self) -> None:
        """Set the future from what the PEs answered."""
        self.future.explain = None  # it refers to this task
        if self.message is not None:
            self.message.close()
        if self.is_late:
            return
        if self.error is not None:
            self.fail(self.error)
        elif self.failures:
            self.fail(caller_error("Pool", self.failures))
        elif self.collective:
            self.future.set_result([self.results[pe] for pe in sorted(self.results)])
        else:
            self.future.set_result(next(iter(self.results.values())))

    def fail(self, error: BaseException) -> None:
        """Set the future's exception, unless it has an outcome."""
        self.future.explain = None
        with contextlib.suppress(InvalidStateError):
            self.future.set_exception(error)

    def late_error(self, text: str) -> BaseException:
        """Return the error of a call beyond its time; its cause is the report of PEs that failed before."""
        error = _atoll.Timeout(text)
        if any(not failure["consequence"] for failure in self.failures.values()):
            error.__cause__ = launch_error("Pool", self.failures)
        return error

    def interrupted(self, pes: Sequence[Pe]) -> None:
        """Keep when these PEs were first interrupted. They must answer within some seconds."""
        for pe in pes:
            self._interrupted.setdefault(pe.number, runnable_seconds(pe.pid))
        self.kill_at = min(self.kill_at, time.monotonic() + ANSWER_SECONDS)

    def unresponsive(self, pes: Iterable[Pe]) -> list[int]:
        """Return the PEs that had CPU time to answer the interrupt and did not. Without one, set the next check.

        Time in which other processes had a PE's core does not count: on a busy machine that PE gets longer.
        """
        able = {
            pe.number: runnable_seconds(pe.pid) - self._interrupted[pe.number]
            for pe in pes
            if pe.number in self._interrupted
        }
        found = sorted(number for number, seconds in able.items() if seconds >= ANSWER_SECONDS)
        left = ANSWER_SECONDS - max(able.values(), default=0.0)
        self.kill_at = float("inf") if found else time.monotonic() + max(left, 0.1)
        return found


class Pe:
    """One PE as the pool sees it."""

    def __init__(self, number: int, pid: int, sock: socket.socket) -> None:
        self.number, self.pid, self.sock = number, pid, sock
        self.ready = False  # it has imported everything
        self.task: Task | None = None
        self.step = -2  # step of the world team at its last answer
        self.outputs: list[Lines] = []
        self.sent: dict[Key, Value] = {}  # variables, and the last value that it got
        self.own: set[Key] = set()  # variables that its own calls have assigned


def runnable_seconds(pid: int) -> float:
    """Return the time in seconds, less the time that a process's main thread waited for a core."""
    now = time.monotonic()
    try:
        return now - int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):  # it has ended, or this kernel does not count
        return now


def call_name(name: str, collective: bool) -> str:
    """Return the name of a call in messages."""
    return f"{'run' if collective else 'submit'}({name})"


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function in messages."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).rpartition("<locals>.")[2]


def late_text(task: Task, pes: Iterable[Pe]) -> str:
    """Say which PEs and calls keep a call of `run` from its end, with its time limit."""
    limit = f"within timeout={task.timeout} seconds"
    if task.begun:
        returned = [pe.number for pe in pes if pe.number not in task.missing]
        others = f"; PE {pe_ranges(returned)} did" if returned else ""
        return f"Pool.{task.name}: PE {pe_ranges(task.missing)} did not return {limit}{others}."
    calls: dict[int, tuple[Task, list[int]]] = {}
    for pe in pes:
        if pe.task is not None:
            calls.setdefault(id(pe.task), (pe.task, []))[1].append(pe.number)
    now = time.monotonic()
    busy = [
        f"{call.name} has run on PE {pe_ranges(numbers)} for {now - call.begun:.1f} s"
        for call, numbers in calls.values()
    ]
    return (
        f"Pool.{task.name} did not start {limit}: {' and '.join(busy) or 'earlier calls come first'}. "
        "Pool.interrupt() interrupts what runs, Pool.restart() starts new PEs."
    )


def waits_for_returned(cause: str) -> bool:
    """Return whether a report's first line is that PEs wait in a collective call for PEs that have returned."""
    return _RETURNED.search(cause.partition("\n")[0]) is not None


def returned_text(task: Task, pes: Iterable[Pe], report: str) -> str:
    """Say that PEs of a call of `run` have returned, for which the others wait in a collective call."""
    returned = [pe.number for pe in pes if pe.number not in task.missing]
    text = f"Pool.{task.name}: PE {pe_ranges(returned)} returned, and a collective call needs all PEs of its team."
    return f"{text}\n{report}"


def submitted_text(task: Task, timeout: float, report: str) -> str:
    """Say why a call of `submit` has not ended, from the report of its job."""
    text = f"Pool.{task.name}: PE {pe_ranges(task.missing)} did not return within timeout={timeout} seconds."
    cause = report.partition("\n")[0]
    if "between calls of" in cause and " in its own code" not in cause:
        text += (
            " One task runs on one PE, and a collective call needs all of its team: "
            "call functions with collectives by Pool.run."
        )
    text += f" {_GOES_ON}"
    return f"{text}\n{report}".rstrip()


def refused_argument(call: str, call_of: tuple[Any, ...], error: Exception) -> Exception:
    """Return the error of a call that cannot be sent, with the argument at fault if one cannot be pickled alone."""
    fn, args, kwargs = call_of
    parts = [("the function", fn)]
    parts += [(f"argument {i}", value) for i, value in enumerate(args, 1)]
    parts += [(f"argument {name}=", value) for name, value in kwargs.items()]
    for which, value in parts:
        try:
            dumps(value)
        except Exception as reason:
            text = f"Pool.{call}: {which}, {type(value).__name__!r}, cannot be sent to a PE: {reason}"
            return (type(error) if type(error) in (TypeError, ImportError) else TypeError)(text)
    return error


def refused_result(pe: int, value: object, error: Exception) -> Exception:
    """Return the error of a result that cannot be pickled."""
    text = f"the result of PE {pe}, {type(value).__name__!r}, cannot be sent to the pool: {error}"
    return (type(error) if type(error) in (TypeError, ImportError) else TypeError)(text)


def without_pool(text: str, function: str, shown: str) -> str:
    """Return the text of a pool's error for those who did not make the pool: `shown` is in the place of the call."""
    text = text.removeprefix("Pool: ").replace(f" during run({function})", "")
    return text.replace(f"Pool.run({function})", shown).replace(" Pool.restart() starts new PEs.", "")


def unreadable(pe: int, error: Exception) -> Failure:
    """Describe a result that this process cannot load."""
    text = f"The result of PE {pe} cannot be loaded here: {type(error).__name__}: {error}"
    return {"error": text, "traceback": text, "pickled": None, "time": time.monotonic(), "consequence": False}


def reason(complaint: str, lost: int | None, status: int, quits: bool) -> str:
    """Say why a job has ended, by the launcher's lines if there are any."""
    lines = [
        line.removeprefix("atoll run: ") for line in complaint.splitlines() if line.startswith("atoll run:")
    ]
    if lines:
        return lines[-1].rstrip(".")
    if quits:
        return "it was shut down"
    if lost is not None:
        return f"PE {lost} exited"
    return f"the job ended with status {status}: {complaint.strip()}".removesuffix(": ")
