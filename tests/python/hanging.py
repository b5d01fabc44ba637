"""Jobs that hang, and the reports of their launcher."""

from __future__ import annotations

import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from jobs import HANG_GUARD, environment, free_port, launcher, rank_variables, write_program

Start = Callable[..., "Hanging"]
SAYS = "atoll run: "


class Hanging:
    """A job that hangs, and the lines of its launcher."""

    def __init__(
        self, folder: Path, code: str, n: int, *, python: str = sys.executable, **changes: str
    ) -> None:
        path = write_program(folder, code)
        self.job = subprocess.Popen(
            [launcher(), "run", "-n", str(n), python, path.name],
            cwd=folder,
            env=environment(**changes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.said: list[str] = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        assert self.job.stderr is not None
        for line in self.job.stderr:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def next_line(self) -> str:
        """Return the next line; a job that does not hang fails at once."""
        line = self.lines.get(timeout=HANG_GUARD)
        assert line is not None, "\n".join([f"the job has ended with {self.job.wait()}:", *self.said])
        self.said.append(line)
        return line

    def first_line(self) -> str:
        """Return the first line of the next report."""
        while not (line := self.next_line()).startswith(SAYS):
            pass
        return line.removeprefix(SAYS)

    def asked_until(self, pattern: str) -> str:
        """Ask for reports until the PEs have come so far that the first line matches."""
        while self.next_line() != "ready":
            pass
        end = time.monotonic() + HANG_GUARD
        while time.monotonic() < end:
            self.job.send_signal(signal.SIGQUIT)
            line = self.first_line()
            if re.match(pattern, line):
                return line
        raise AssertionError(f"the last report was: {line}")

    def close(self) -> None:
        self.job.send_signal(signal.SIGINT)
        self.job.send_signal(signal.SIGINT)
        try:
            self.job.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.job.kill()
        self.job.wait(timeout=HANG_GUARD)


class Ranks:
    """Processes started by hand with torchrun's variables, without a launcher of ours.

    They write to one file of standard error, which is the program's argument.
    """

    def __init__(
        self, folder: Path, code: str, n: int, *, python: str = sys.executable, **changes: str
    ) -> None:
        program = write_program(folder, code)
        self.errors = folder / "errors"
        port = free_port()
        with self.errors.open("ab") as errors:
            self.started = [
                subprocess.Popen(
                    [python, program.name, self.errors.name],
                    cwd=folder,
                    env=environment(**rank_variables(pe, n, port), **changes),
                    stdin=subprocess.DEVNULL,
                    stderr=errors,
                )
                for pe in range(n)
            ]

    def said(self) -> str:
        return self.errors.read_text()

    def wait_for(self, text: str) -> str:
        """Return the output of the PEs once it contains `text`. A job that ends before fails at once."""
        end = time.monotonic() + HANG_GUARD
        while text not in (said := self.said()):
            assert all(each.poll() is None for each in self.started), said
            assert time.monotonic() < end, said
            time.sleep(0.05)
        return said

    def succeed(self) -> str:
        """Wait for the end of the job, and return the output of the PEs."""
        statuses = [each.wait(timeout=HANG_GUARD) for each in self.started]
        assert not any(statuses), self.said()
        return self.said()

    def kill(self) -> None:
        for each in self.started:
            each.kill()
            each.wait(timeout=HANG_GUARD)
