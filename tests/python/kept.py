"""Jobs that are kept between tests: PEs that have imported the usual modules run one program after another.

A job serves one number of PEs and one environment. The job of a program that failed, hung or left something
behind ends; the next test that wants one starts a new one. ATOLL_TEST_FRESH=1 runs every program in new
processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from pathlib import Path
from typing import IO, Any

from jobs import HERE, Done, environment, launcher

MOST_PES = 20  # alive at once
START_SECONDS = 120
Key = tuple[int, tuple[tuple[str, str], ...]]


def read_at_init(name: str) -> bool:
    """Return whether each init reads the variable, so that a kept job can change it. Others are read once by
    a process.
    """
    return name.startswith("ATOLL_") and not name.startswith(("ATOLL_SIMULATED_", "ATOLL_NVTX"))


class Failed(Exception):
    """A kept job has ended; the text has the reason."""


class KeptJob:
    """One job of our launcher whose PEs wait for programs."""

    def __init__(self, n: int, changes: dict[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="atoll-kept-")
        place = Path(self._folder.name)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(place / "socket"))
        listener.listen(n)
        listener.settimeout(START_SECONDS)
        self._said = (place / "said").open("w+")
        self._process = subprocess.Popen(
            [launcher(), "run", "-n", str(n), sys.executable, str(HERE / "kept_server.py"), str(place / "socket")],
            env=environment(**changes), stdin=subprocess.DEVNULL, stdout=self._said, stderr=self._said,
        )  # fmt: skip
        self._pes: dict[int, tuple[socket.socket, IO[str]]] = {}
        try:
            for _ in range(n):
                connection = self._accept(listener)
                connection.settimeout(START_SECONDS)
                stream = connection.makefile("rw")
                self._pes[json.loads(stream.readline())["pe"]] = connection, stream
        except (OSError, ValueError) as error:
            said = self.end()
            raise Failed(f"{n} PEs did not come up: {error}\n{said}") from error
        finally:
            listener.close()

    def _accept(self, listener: socket.socket) -> socket.socket:
        deadline = time.monotonic() + START_SECONDS
        listener.settimeout(1)
        while True:
            try:
                return listener.accept()[0]
            except TimeoutError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise

    def run(self, program: Path, arguments: list[str], changes: dict[str, str], seconds: float) -> Done:
        """Run the program on all PEs. Raises Failed, after which the job is gone."""
        folder = Path(tempfile.mkdtemp(dir=self._folder.name))
        for pe, (_, stream) in self._pes.items():
            request = {"program": str(program), "arguments": arguments, "environment": changes}
            stream.write(
                json.dumps({**request, "out": f"{folder}/out{pe}", "err": f"{folder}/err{pe}"}) + "\n"
            )
            stream.flush()
        deadline = time.monotonic() + seconds
        answers = {pe: self._answer(pe, deadline) for pe in self._pes}
        texts = {
            kind: "".join(
                file.read_text() for pe in sorted(self._pes) if (file := folder / f"{kind}{pe}").exists()
            )
            for kind in ("out", "err")
        }
        bad = {pe: answer for pe, answer in answers.items() if answer["status"] != 0 or answer["left"]}
        if bad:
            said = self.end()
            reasons = "\n".join(f"PE {pe}: {answer}" for pe, answer in bad.items())
            raise Failed(f"{reasons}\n{texts['out']}\n{texts['err']}\n{said}")
        return Done([str(program), *arguments], 0, texts["out"], texts["err"])

    def _answer(self, pe: int, deadline: float) -> dict[str, Any]:
        connection, stream = self._pes[pe]
        connection.settimeout(max(deadline - time.monotonic(), 0.1))
        try:
            line = stream.readline()
        except OSError as error:
            return {"status": f"no answer ({error or 'it took too long'})", "left": []}
        if not line:
            return {"status": "it ended", "left": []}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> str:
        """End the job; return the output of its PEs and the launcher outside of programs."""
        for connection, stream in self._pes.values():
            with contextlib.suppress(OSError):
                stream.close()
            connection.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._said.seek(0)
        said = self._said.read()
        self._said.close()
        self._folder.cleanup()
        return said


class KeptJobs:
    """The kept jobs of a session, in order of their last use."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[Key, KeptJob] = OrderedDict()

    def run(
        self, program: Path, n: int, arguments: list[str], changes: dict[str, str], seconds: float
    ) -> Done:
        """Run the program as a job of n PEs. Raises Failed."""
        of_process = {name: value for name, value in changes.items() if not read_at_init(name)}
        key: Key = (n, tuple(sorted(of_process.items())))
        job = self._jobs.pop(key, None)
        while job is None and self._jobs and n + sum(k[0] for k in self._jobs) > MOST_PES:
            self._jobs.popitem(last=False)[1].end()
        job = job or KeptJob(n, of_process)
        of_program = {name: value for name, value in changes.items() if name not in of_process}
        done = job.run(program, arguments, of_program, seconds)
        self._jobs[key] = job
        return done

    def end(self) -> None:
        """End all jobs."""
        while self._jobs:
            self._jobs.popitem()[1].end()


def wants_fresh() -> bool:
    """Return whether every program runs in new processes: ATOLL_TEST_FRESH=1."""
    return os.environ.get("ATOLL_TEST_FRESH", "") not in ("", "0")
