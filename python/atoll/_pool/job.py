"""The job behind atoll.Pool: its launcher, its PEs, and the thread that serves them.

A PE sends its own connection, and the pipes of its output, through one socket that all PEs inherit. A closed
connection means that its PE has ended. The launcher, which ends the others then, says why.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from .. import _atoll
from .._launching.launch import launcher_path, named_by_launcher, surroundings
from .._launching.wire import close_all, load, receive, send
from .names import Key
from .output import Lines, Show
from .task import (
    ANSWER_SECONDS,
    Pe,
    PoolFuture,
    Task,
    late_text,
    reason,
    returned_text,
    runnable_seconds,
    submitted_text,
    unreadable,
    waits_for_returned,
)

GRACE_SECONDS = 1.0  # other PEs of a call in which one has failed may go on so long
END_SECONDS = 5.0
_STEP_BYTES = 8
_LAUNCHER = "atoll run: "
# src/cli/job/job.cpp recognises the PEs of a pool by this text.
_PROGRAM = "from atoll._pool.pe import main; main()"


class PoolJob:
    """The processes of a pool, from their start to their end. Every method may be called by any thread."""

    def __init__(self, n_pes: int, env: Mapping[str, str] | None, show: Show) -> None:
        self.n_pes = n_pes
        self.ready: Future[None] = Future()  # all PEs have imported everything
        self.ended = ""  # why, once the job has ended
        self.joins = 0
        self.owned_by_all: set[Key] = set()  # variables that all PEs have assigned by themselves
        self.owned_by_any: set[Key] = set()
        self._show = show
        self._hides = False  # lines of the launcher that belong to a report that is not shown
        self._pes: dict[int, Pe] = {}
        self._queue: deque[Task] = deque()
        self._late: list[Task] = []  # their time is over, and the report is being made
        self._lock = threading.RLock()
        self._lost: int | None = None  # the first PE whose connection closed
        self._quits = False
        self._kill_at = float("inf")
        self._ending: dict[int, float] = {}  # by process: its runnable seconds when it was to end
        self._ends_by = float("inf")  # the latest time of that, on a machine however busy
        self._terminated = False
        self._complaint: deque[str] = deque(maxlen=40)
        self._selector = selectors.DefaultSelector()
        self._woken, self._wakes = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._hello, inherited = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [launcher_path(), "run", "-n", str(n_pes), sys.executable, "-c", _PROGRAM]
        self._process = subprocess.Popen(
            [*command, str(inherited.fileno())],
            pass_fds=[inherited.fileno()],
            env=surroundings(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the pool, which interrupts the call
        )
        inherited.close()
        self._watch(self._woken, self._clear_wake)
        self._watch(self._hello.fileno(), self._greet)
        self._open = 0  # streams of the launcher that have not ended
        for number, stream in ((1, self._process.stdout), (2, self._process.stderr)):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._watch_output(Lines(stream.fileno(), self._say, -1, number), launcher=True)
            self._open += 1
        self._thread = threading.Thread(target=self._serve, name="atoll-pool", daemon=True)
        self._thread.start()

    # ---- for the pool

    @property
    def pid(self) -> int:
        """The launcher's process, the number of the job for `atoll stacks`."""
        return self._process.pid

    def states(self) -> list[tuple[int, int, str]]:
        """Return number, process and state of each PE."""
        with self._lock:
            found = []
            for number, pe in sorted(self._pes.items()):
                state = "ended" if self.ended else "busy" if pe.task else "idle" if pe.ready else "starting"
                found.append((number, pe.pid, state))
            return found

    def join(self) -> Future[Any]:
        """Let all PEs enter the job."""
        task = Task(None, True)
        self.add(task)
        return task.future

    def add(self, task: Task) -> None:
        """Queue a call; it starts at once if its PEs are idle. Raises PeDied if the job has ended.

        The thread starts it: Ctrl-C comes to the caller at any time, and would leave a call that some PEs have got.
        """
        with self._lock:
            if self.ended:
                raise self._death()
            self._queue.append(task)
            self._wake()  # with the lock: the pipe may be closed later

    def interrupt(self, task: Task) -> None:
        """Interrupt a call on all PEs that have not answered, as Ctrl-C does."""
        with self._lock:
            if task.future.cancel():
                return
            task.interrupt_at = 0.0
        self._wake()

    def interrupt_running(self, joins: bool = False) -> None:
        """Interrupt all calls that run; joins: also PEs that join the job, which end if they cannot."""
        with self._lock:
            for task in self._tasks():
                if joins or task.message is not None:
                    task.interrupt_at = 0.0
        self._wake()

    def drain(self, cancel: bool, interrupt: bool = False) -> None:
        """Wait until all calls have ended.

        cancel: those that have not begun are cancelled. interrupt: the others are interrupted.
        """
        with self._lock:
            waiting = list(self._queue)
            running = self._tasks()
        if interrupt:
            self.interrupt_running(joins=True)
        if cancel:
            waiting = [task for task in waiting if not task.future.cancel()]
        for task in [*running, *waiting]:
            with contextlib.suppress(BaseException):
                task.future.exception()

    def quit(self) -> None:
        """Let idle PEs leave the job and end; kill what remains after some seconds. Returns at once."""
        with self._lock:
            self._quits = True
            self._await_end()
            for pe in self._pes.values():
                with contextlib.suppress(OSError):
                    send(pe.sock, b"q")
        self._wake()

    def _await_end(self) -> None:
        """Give the PEs some seconds to end by themselves. Waits for a core do not count. Needs the lock."""
        for pe in self._pes.values():
            self._ending.setdefault(pe.pid, runnable_seconds(pe.pid))
        now = time.monotonic()
        self._kill_at = min(self._kill_at, now + END_SECONDS)
        self._ends_by = min(self._ends_by, now + 10 * END_SECONDS)

    def _end_seconds_left(self, now: float) -> float:
        with self._lock:
            ending = dict(self._ending)
        waited = (runnable_seconds(pid) - begun for pid, begun in ending.items())
        return min(END_SECONDS - min(waited, default=END_SECONDS), self._ends_by - now)

    def kill(self, why: str) -> None:
        """End all processes now. Calls that have not ended raise PeDied with the reason."""
        with self._lock:
            if not self.ended:
                self.ended = why
        with contextlib.suppress(OSError):
            self._process.kill()  # the PEs die with it

    def wait(self, timeout: float | None = None) -> None:
        """Wait until all processes have ended."""
        self._thread.join(timeout)

    # ---- calls (with the lock)

    def _in_step(self) -> bool:
        steps = {pe.step for pe in self._pes.values()}
        return len(steps) == 1 and steps.pop() >= 0

    def _dispatch(self) -> None:
        """Start the calls at the head of the queue whose PEs are idle. A call on all PEs waits for all."""
        if not self.ready.done() or self.ended or self._lost is not None:
            return
        while self._queue:
            idle = [pe for pe in self._pes.values() if pe.task is None]
            if not idle:
                return
            all_idle = len(idle) == self.n_pes
            task = self._queue[0]
            if all_idle:
                if task.message is not None and not self._in_step():
                    self._start(Task(None, True), idle)
                    return
            elif task.collective or self._is_broken():
                return
            self._queue.popleft()
            if task.future.set_running_or_notify_cancel():
                self._start(task, idle if task.collective else idle[:1])
            elif task.message is not None:
                task.message.close()

    def _is_broken(self) -> bool:
        """Return whether a call on all PEs ended early on some: a collective of theirs would meet one of that call."""
        together = next((task for task in self._tasks() if task.collective), None)
        return not self._in_step() if together is None else together.is_broken()

    def _start(self, task: Task, pes: list[Pe]) -> None:
        task.missing = {pe.number for pe in pes}
        task.begun = time.monotonic()
        if task.message is None:
            self.joins += 1
            kind, packet, file = b"j", b"", -1
        else:
            kind, packet, file = b"c", task.message.packet, task.message.fd
            if not task.collective and isinstance(task.future, PoolFuture):
                task.future.explain = lambda timeout: submitted_text(task, timeout, self._cause())
        for pe in pes:
            pe.task = task
            with contextlib.suppress(OSError):  # it has ended, and the thread finds that
                for value in task.variables:
                    if value.key not in pe.own and pe.sent.get(value.key) is not value:
                        pe.sent[value.key] = value
                        send(pe.sock, b"v", value.packet, value.fd)
                send(pe.sock, kind, packet, file)

    def _answered(self, pe: Pe, kind: bytes, packet: memoryview, fds: list[int]) -> Task | None:
        """Keep an answer; return its call if that was the last one."""
        task, pe.task = pe.task, None
        if task is None:
            close_all(fds)
            return None
        pe.step = int.from_bytes(packet[:_STEP_BYTES], "little", signed=True)
        try:
            value = load(packet[_STEP_BYTES:], fds, shared=True)
        except Exception as error:
            kind, value = b"e", unreadable(pe.number, error)
        (task.results if kind == b"r" else task.failures)[pe.number] = value
        task.missing.discard(pe.number)
        if not task.missing:
            return task
        if task.collective and task.message is not None and not task.results.keys() - {pe.number}:
            task.check_later()
        if kind == b"e" and not value["consequence"]:
            # The others may wait for this PE, which does not come.
            task.interrupt_at = min(task.interrupt_at, time.monotonic() + GRACE_SECONDS)
        return None

    # ---- the thread

    def _watch(self, fd: int, act: Callable[[], None]) -> None:
        self._selector.register(fd, selectors.EVENT_READ, act)

    def _watch_output(self, lines: Lines, launcher: bool) -> None:
        def read() -> None:
            if not lines.read():
                self._selector.unregister(lines.fd)
                if launcher:
                    self._open -= 1
                else:
                    os.close(lines.fd)

        self._watch(lines.fd, read)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._wakes, b"\0")

    def _clear_wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)
        with self._lock:
            self._dispatch()

    def _greet(self) -> None:
        data, fds, _, _ = socket.recv_fds(self._hello, 64, 3, socket.MSG_CMSG_CLOEXEC)
        if not data:
            self._selector.unregister(self._hello)
            return
        number, pid = int.from_bytes(data[:4], "little"), int.from_bytes(data[4:8], "little")
        pe = Pe(number, pid, socket.socket(fileno=fds[0]))
        for stream, fd in ((1, fds[1]), (2, fds[2])):
            os.set_blocking(fd, False)
            pe.outputs.append(Lines(fd, self._show, number, stream))
            self._watch_output(pe.outputs[-1], launcher=False)
        send(pe.sock, b"p", pickle.dumps(sys.path))
        with self._lock:
            self._pes[number] = pe
        self._watch(pe.sock.fileno(), lambda: self._receive(pe))

    def _receive(self, pe: Pe) -> None:
        try:
            kind, packet, fds = receive(pe.sock)
        except OSError:
            kind = b""
        if not kind:
            self._selector.unregister(pe.sock)
            self._lose(pe)
            return
        if kind == b"o":
            self._keep_own(pe, packet)
            return
        with self._lock:
            if kind == b"h":
                pe.ready = True
                if len(self._pes) == self.n_pes and all(other.ready for other in self._pes.values()):
                    self.ready.set_result(None)
                done = None
            else:
                done = self._answered(pe, kind, packet, fds)
        if done is not None:
            self._drain()
            done.finish()
            if done.message is None and done.failures:
                self.kill(f"the PEs could not join the job: {done.future.exception()}")
        with self._lock:
            self._dispatch()

    def _keep_own(self, pe: Pe, packet: memoryview) -> None:
        """Keep which variables are a PE's own, and which of those sent it has not got."""
        added, removed, lacking = pickle.loads(packet)
        with self._lock:
            pe.own = (pe.own | added) - removed
            for key in lacking:
                pe.sent.pop(key, None)
            owned = [other.own for other in self._pes.values()]
            self.owned_by_all, self.owned_by_any = set.intersection(*owned), set.union(*owned)

    def _drain(self) -> None:
        """Show the output of all PEs of a call before its result. PEs have flushed it before they answered."""
        for pe in self._pes.values():
            for lines in pe.outputs:
                lines.finish()

    def _lose(self, pe: Pe) -> None:
        """A PE's connection has closed: the others end, too, and the launcher says why the first one did."""
        with self._lock:
            if self._lost is not None:
                return
            self._lost = pe.number
            self._await_end()
            for other in self._pes.values():  # its call gets PeDied if it waits for the one that ended
                with contextlib.suppress(OSError):
                    send(other.sock, b"q")

    def _say(self, pe: int, stream: int, text: str) -> None:
        """Keep a line of the launcher. It is shown unless it tells about what is an error."""
        self._complaint.append(text)
        if (
            self._lost is None
            and self.ready.done()
            and not self.ended
            and (shown := self._without_checked(text))
        ):
            self._show(pe, stream, shown)

    def _without_checked(self, text: str) -> str:
        """Return the launcher's lines without a report on a call that ends as an error (`_check_waits`)."""
        shown = []
        for line in text.splitlines(keepends=True):
            if line.startswith(_LAUNCHER):
                line = line.replace(_LAUNCHER, "atoll: ", 1)
                if waits_for_returned(line):
                    self._hides = all(task.collective for task in self._tasks())  # it may have ended
                elif "and the waits of the others have not changed" not in line:
                    self._hides = False
            if not self._hides:
                shown.append(line)
        return "".join(shown)

    def _serve(self) -> None:
        try:
            due = self._next_time()
            while self._open:
                ready = self._selector.select(max(0.0, min(due - time.monotonic(), 3600.0)))
                if len(ready) > 1:  # a PE's end first: then the launcher's lines are about it
                    sockets = self._sockets()
                    ready.sort(key=lambda r: r[0].fd not in sockets)
                for key, _ in ready:
                    if key.fd in self._selector.get_map():
                        key.data()
                due = self._next_time()
                now = time.monotonic()  # after what has arrived: an answer is in time
                if now >= due or self._late:
                    self._act_on_time(now)
                    due = self._next_time()
            self._process.wait()
        finally:
            self._end()

    def _sockets(self) -> set[int]:
        return {pe.sock.fileno() for pe in self._pes.values()}

    def _tasks(self) -> list[Task]:
        with self._lock:
            return list({id(pe.task): pe.task for pe in self._pes.values() if pe.task is not None}.values())

    def _next_time(self) -> float:
        with self._lock:
            return min([self._kill_at, *(task.due() for task in (*self._tasks(), *self._queue))])

    def _act_on_time(self, now: float) -> None:
        if now >= self._kill_at and not self._terminated and (left := self._end_seconds_left(now)) > 0:
            self._kill_at = now + max(left, 0.1)
        elif now >= self._kill_at:
            politely = self._lost is not None and not self._terminated
            self._kill_at = now + 2.0 if politely else float("inf")
            self._terminated = True
            with contextlib.suppress(OSError):
                self._process.terminate() if politely else self._process.kill()
        with self._lock:
            running = self._tasks()
            for task in [task for task in (*running, *self._queue) if now >= task.times_out]:
                self._time_out(task)
            for task in [task for task in running if now >= task.check_at]:
                task.check_at = float("inf")
                threading.Thread(
                    target=self._check_waits, args=(task,), name="atoll-pool-check", daemon=True
                ).start()
        self._end_late()
        for task in running:
            waiting = [self._pes[pe] for pe in sorted(task.missing)]
            if now >= task.kill_at:
                if unresponsive := task.unresponsive(waiting):
                    task.interrupt_at = float("inf")
                    pes = ", ".join(map(str, unresponsive))
                    self.kill(
                        f"PE {pes} did not answer an interrupt within {ANSWER_SECONDS:.0f} s and was ended"
                    )
            elif now >= task.interrupt_at:
                task.interrupt_at = now + 1.0  # again: the PE may not have begun the call
                task.interrupted(waiting)
                for pe in waiting:
                    with contextlib.suppress(OSError):
                        os.kill(pe.pid, signal.SIGINT)

    def _time_out(self, task: Task) -> None:
        """Take a call from the queue whose time is over, and let a thread find what the PEs do (with the lock)."""
        task.times_out = float("inf")
        text = late_text(task, self._pes.values())
        if not task.begun:
            self._queue.remove(task)
            if task.message is not None:
                task.message.close()
            if not task.future.set_running_or_notify_cancel():
                return
        task.is_late = True
        self._late.append(task)

        def explain() -> None:
            why = self._cause()
            with self._lock:
                task.error = task.late_error(f"{text}\n{why}".rstrip())
                self._wake()

        threading.Thread(target=explain, name="atoll-pool-report", daemon=True).start()

    def _check_waits(self, task: Task) -> None:
        """End a call if PEs wait in a collective call for others that have returned from it. A thread does that."""
        cause = self._cause()
        with self._lock:
            if self.ended or not task.missing or task.is_late or task.failures:
                return
            if waits_for_returned(cause):
                task.error = _atoll.CollectiveMismatch(returned_text(task, self._pes.values(), cause))
                task.is_late = True
                task.times_out = float("inf")
                self._late.append(task)
            else:
                task.check_later()
            self._wake()

    def _end_late(self) -> None:
        """End calls beyond their time whose report is there, and interrupt their PEs, which the caller does not await."""
        with self._lock:
            ended = [task for task in self._late if task.error is not None]
            self._late = [task for task in self._late if task.error is None]
            for task in ended:
                task.interrupt_at = 0.0
        if ended:
            self._drain()
        for task in ended:
            assert task.error is not None
            task.fail(task.error)

    def _cause(self) -> str:
        """Return the report without the call stacks."""
        return self.report().partition("\n\n")[0]

    def report(self) -> str:
        """Return the output of `atoll stacks`: why the PEs wait, and their call stacks."""
        command = [launcher_path(), "stacks", str(self.pid)]
        try:
            found = subprocess.run(
                command, capture_output=True, text=True, timeout=10, check=False, errors="replace"
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"(no report: {error})"
        return found.stdout or found.stderr

    def _death(self, task: Task | None = None) -> BaseException:
        during = "" if task is None or self._lost not in task.missing else f" during {task.name}"
        error = _atoll.PeDied(f"Pool: {self.ended}{during}. Pool.restart() starts new PEs.")
        error.pe = -1 if self._lost is None else self._lost  # type: ignore[attr-defined]
        return error

    def _end(self) -> None:
        """All processes have ended: name the PE that was first, and end the calls."""
        complaint = "".join(self._complaint)
        with self._lock:
            first = named_by_launcher(complaint, sorted(self._pes))
            if first >= 0:
                self._lost = first
            if not self.ended:
                alone = self._terminated or self._quits  # the launcher tells only that it was ended
                self.ended = reason(
                    "" if alone else complaint, self._lost, self._process.returncode, self._quits
                )
            begun = [*self._tasks(), *self._late]
            queued = list(self._queue)
            self._queue.clear()
            self._late.clear()
            for pe in self._pes.values():
                pe.task = None
                pe.sock.close()
            self._selector.close()
            self._hello.close()
            for fd in (self._woken, self._wakes):
                os.close(fd)
            self._wakes = -1
        if not self.ready.done():
            self.ready.set_exception(
                _atoll.BootstrapError(f"Pool: the PEs did not start: {self.ended}.\n{complaint}".rstrip())
            )
        for task in (*begun, *queued):
            if task.message is not None:
                task.message.close()
            if task in begun or task.future.set_running_or_notify_cancel():
                task.fail(task.error or self._death(task if task in begun else None))
