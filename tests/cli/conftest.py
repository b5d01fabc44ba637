"""The launcher under test, and ways to start it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A bound for hangs only; no wait takes this long.
HANG_GUARD = 300
# nohup and a shell's background jobs ignore some signals, and children inherit that.
for _number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def find_atoll() -> Path:
    candidates = [ROOT / "build/release/bin/atoll", ROOT / ".venv/bin/atoll"]
    if "ATOLL_BIN" in os.environ:
        candidates.insert(0, Path(os.environ["ATOLL_BIN"]))
    for candidate in candidates:
        if candidate.exists():
            return candidate
    raise FileNotFoundError(f"no launcher among {candidates}: build it with make")


class Atoll:
    """Starts the command, with an environment of only the variables that a test sets."""

    def __init__(self) -> None:
        self.path = str(find_atoll())
        self.environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("ATOLL_", "SHMEM_", "SMA_"))
        }
        self.environment["ATOLL_PYTHON"] = sys.executable
        self.environment["PYTHONPATH"] = str(Path(__file__).parent)
        self.started: list[subprocess.Popen[str]] = []

    def __call__(self, *arguments: object, env: dict[str, str] | None = None, **options: object):
        """Run the command to its end."""
        return subprocess.run(
            [self.path, *map(str, arguments)],
            env={**self.environment, **(env or {})},
            timeout=HANG_GUARD,
            text=True,
            **{"capture_output": True, "stdin": subprocess.DEVNULL, **options},
        )

    def start(self, *arguments: object, env: dict[str, str] | None = None, **options: object):
        """Start the command, for tests that do something meanwhile."""
        process = subprocess.Popen(
            [self.path, *map(str, arguments)],
            env={**self.environment, **(env or {})},
            text=True,
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                **options,
            },
        )
        self.started.append(process)
        return process

    def close(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=HANG_GUARD)


@pytest.fixture(scope="session")
def board_layout() -> str:
    info = subprocess.run(
        [find_atoll(), "info", "--json"], capture_output=True, check=True, timeout=HANG_GUARD
    )
    return json.dumps(json.loads(info.stdout)["board"])


@pytest.fixture
def atoll(board_layout: str) -> Iterator[Atoll]:
    command = Atoll()
    command.environment["ATOLL_TEST_BOARD"] = board_layout
    yield command
    command.close()


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a Python program for the launcher; `pe` in it is the module beside this
    file.
    """

    def write(text: str) -> Path:
        path = tmp_path / "program.py"
        path.write_text("import os, signal, sys, time\nimport pe\n" + text)
        return path

    return write


class Terminal:
    """A program on a separate terminal."""

    def __init__(self, path: str, arguments: list[str], environment: dict[str, str]) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(path, [path, *arguments], environment)
        self.seen = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def expect(self, text: str) -> None:
        while text not in self.seen:
            assert self.read(), f"{text!r} did not come, only {self.seen!r}"

    def read(self) -> bool:
        if not select.select([self.fd], [], [], 60)[0]:
            return False
        try:
            data = os.read(self.fd, 4096)
        except OSError:  # Linux's error when the other side is closed
            return False
        self.seen += data.decode()
        return bool(data)

    def end(self) -> int:
        while self.read():
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


@pytest.fixture
def start_on_terminal(atoll: Atoll) -> Callable[..., Terminal]:
    def start(*arguments: object, path: str | None = None) -> Terminal:
        return Terminal(path or atoll.path, list(map(str, arguments)), atoll.environment)

    return start


class Witness:
    """A pipe whose writing end every process of a job inherits: end of file means that all of them have
    ended.
    """

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()

    def pass_fds(self) -> list[int]:
        return [self.writer]

    def all_gone(self) -> bool:
        os.close(self.writer)
        self.writer = -1
        readable, _, _ = select.select([self.reader], [], [], HANG_GUARD)
        return bool(readable) and os.read(self.reader, 1) == b""


@pytest.fixture
def witness() -> Iterator[Witness]:
    pipe = Witness()
    yield pipe
    os.close(pipe.reader)
    if pipe.writer >= 0:
        os.close(pipe.writer)
