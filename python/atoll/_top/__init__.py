"""The live display of `atoll top`, which the launcher starts: python -m atoll._top LAUNCHER [JOB].

The launcher reads the jobs; this program shows what `atoll top --json --every 1` prints. It needs rich (the extra
`top`).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import termios
import tty
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .screen import Screen

_EVERY_S = "1"
_KEYS = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\r": "enter",
    "\n": "enter",
    "\x1b": "list",
}


class Feed:
    """The figures of one job, or of all jobs without `job`, as a stream of dictionaries."""

    def __init__(self, launcher: str, job: int | None, each: bool) -> None:
        self.job = job
        command = [launcher, "top", "--json", "--every", _EVERY_S, *(["--each"] if each else [])]
        self._process = subprocess.Popen(
            command + ([] if job is None else [str(job)]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self.fd = self._process.stdout.fileno()
        self._rest = b""

    def read(self) -> list[dict[str, Any]]:
        """Return the pictures that have arrived. The last one, once the launcher has left, has the key `ended`
        or `failed`."""
        data = os.read(self.fd, 1 << 20)
        if not data:
            assert self._process.stderr is not None
            reason = self._process.stderr.read().decode(errors="replace").strip()
            return [{"failed": reason or "atoll top ended without a reason"}]
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """End the launcher."""
        self._process.kill()
        self._process.communicate()


@contextlib.contextmanager
def _single_keys() -> Iterator[None]:
    """Let the terminal deliver each key at once, without showing it."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _keys() -> list[str]:
    """Return the keys that were pressed: letters, or names for others."""
    text = os.read(sys.stdin.fileno(), 64).decode(errors="ignore")
    if not text:  # the end of a file
        return ["q"]
    if text in _KEYS:
        return [_KEYS[text]]
    return [_KEYS.get(letter, letter) for letter in text] if text[0] != "\x1b" else []


class Top:
    """The program: which job is shown, and what a key does."""

    def __init__(self, launcher: str, job: int | None, screen: Screen) -> None:
        self._launcher = launcher
        self._screen = screen
        self._only = job is not None  # started for one job, with whose end the program ends
        self._chosen = self._only  # the user has seen the list, or asked for a job
        self._each = False
        self.last = ""  # printed at the end
        self.status = 0
        self._feed = Feed(launcher, job, self._each)

    def run(self) -> None:
        """Show figures until a key or the end of the job."""
        try:
            self._screen.open(self._feed.job)
            going = True
            while going:
                inputs = [self._feed.fd, *([sys.stdin.fileno()] if sys.stdin.isatty() else [])]
                ready = select.select(inputs, [], [], 1)[0]
                if self._feed.fd in ready:
                    going = all(self._take(figures) for figures in self._feed.read())
                if going and len(inputs) > 1 and inputs[1] in ready:
                    going = all(self._press(key) for key in _keys())
                self._screen.draw()
        finally:
            self._feed.close()

    def _show(self, job: int | None, notice: str = "") -> None:
        self._feed.close()
        self._feed = Feed(self._launcher, job, self._each)
        self._screen.open(job, notice)
        self._chosen = True

    def _take(self, figures: dict[str, Any]) -> bool:
        """Take an object of the feed; return False if it is the last."""
        if "rows" in figures or "jobs" in figures:
            jobs = figures.get("jobs", [])
            if not self._chosen and len(jobs) == 1:
                self._show(jobs[0]["job"])
            elif ("jobs" in figures) == (self._feed.job is None):  # not the rest of an earlier feed
                self._screen.take(figures)
            self._chosen = True
            return True
        failed = "failed" in figures
        text = figures["failed"] if failed else f"job {figures['job']} has ended: {figures['ended']}"
        if self._feed.job is None or self._only:
            self.last, self.status = text, int(failed)
            return False
        self._show(None, text)
        return True

    def _press(self, key: str) -> bool:
        """Do what a key asks for; return False if the program ends."""
        if key == "q":
            return False
        if self._feed.job is None:
            if key == "enter" and (job := self._screen.selected()) is not None:
                self._show(job)
            else:
                self._screen.press(key)
        elif key == "f":
            self._each = not self._each
            self._show(self._feed.job)
        elif key in ("l", "list"):
            self._only = False
            self._show(None)
        else:
            self._screen.press(key)
        return True


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)  # leaves the screen as it was


def main() -> int:
    """Run the display and return the exit status."""
    launcher, *job = sys.argv[1:]
    try:
        from .screen import Screen
    except ImportError as error:
        if not (error.name or "").startswith("rich"):
            raise
        print(
            "atoll top: the live display needs the package rich, which is not installed: pip install rich. "
            "`atoll top --once` prints a table without it.",
            file=sys.stderr,
        )
        return 2
    signal.signal(signal.SIGTERM, _end)
    with _single_keys(), contextlib.suppress(KeyboardInterrupt), Screen() as screen:
        top = Top(launcher, int(job[0]) if job else None, screen)
        top.run()
    if top.last:
        print(top.last, file=sys.stderr if top.status else sys.stdout)
    return top.status
