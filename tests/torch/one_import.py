"""Starts programs in forks of one process that has imported PyTorch (preloaded.py), which takes seconds each time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT_S = 800


class Started:
    """A program that was started."""

    def __init__(self, server: Server, process: int, folder: Path) -> None:
        self.process = process
        self._server = server
        self._folder = folder

    def wait(self) -> subprocess.CompletedProcess[str]:
        """Return the end of the program and its output. A program that takes too long is killed."""
        late = threading.Timer(LIMIT_S, os.kill, (self.process, signal.SIGKILL))
        late.daemon = True
        late.start()
        try:
            status = self._server.ask(self.process)
        finally:
            late.cancel()
        out, err = ((self._folder / kind).read_text() for kind in ("out", "err"))
        return subprocess.CompletedProcess([], status, out, err)


class Server:
    """The process that forks."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        start = f"import sys; sys.path.insert(0, {str(HERE)!r}); import preloaded; preloaded.main()"
        self._process = subprocess.Popen(
            [str(python), "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, request: object) -> int:
        """Return the number that answers a request."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def start(self, program: Path | str, *arguments: str, **environment: str) -> Started:
        """Start a file, or a text like Python's option -c."""
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        request = {
            "program": str(program),
            "arguments": arguments,
            "environment": os.environ | environment,
            "out": str(folder / "out"),
            "err": str(folder / "err"),
        }
        return Started(self, self.ask(request), folder)

    def run(
        self, program: Path | str, *arguments: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Start a program and wait for its end."""
        return self.start(program, *arguments, **environment).wait()

    def end(self) -> None:
        """End the process."""
        self._process.communicate(timeout=LIMIT_S)
