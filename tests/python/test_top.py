"""`atoll top`: the figures of running jobs as tables, as JSON and live in a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jobs import HANG_GUARD, environment, free_port, launcher, rank_variables, write_program

# PE 0 waits for a line in its own code, with 64 KiB of its heap allocated; the others wait for PE 0.
PROGRAM = """
atoll.init()
x = atoll.zeros(8192)
if atoll.my_pe() == 0:
    sys.stdin.readline()
atoll.barrier_all()
atoll.finalize()
"""
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a job of n PEs and keeps its standard input open."""
    jobs: list[subprocess.Popen[str]] = []

    def begin(n: int, *command: str) -> subprocess.Popen[str]:
        program = command or ("--stats", sys.executable, str(write_program(tmp_path, PROGRAM)))
        jobs.append(
            subprocess.Popen(
                [launcher(), "run", "-n", str(n), *program],
                env=environment(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                text=True, cwd=tmp_path,
            )
        )  # fmt: skip
        return jobs[-1]

    yield begin
    for job in jobs:
        job.kill()
        job.communicate()


def top(*arguments: object, ok: bool = True) -> str:
    done = subprocess.run(
        [launcher(), "top", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )
    assert (done.returncode == 0) == ok, done.stderr
    return done.stdout if ok else done.stderr


def figures_once(job: int, is_there: Callable[[dict[str, Any]], bool], *options: str) -> dict[str, Any]:
    """Return the figures of a job once they are as expected."""
    end = time.monotonic() + HANG_GUARD
    said = ""
    while time.monotonic() < end:
        done = subprocess.run(
            [launcher(), "top", str(job), "--json", *options], capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        if done.returncode == 0 and is_there(figures := json.loads(done.stdout)):
            return dict(figures)
    raise AssertionError(f"the last figures were: {said}")


def all_wait_for_pe_0(figures: dict[str, Any]) -> bool:
    rows = figures["rows"]
    return all(row["cpu_percent"] is not None for row in rows) and all(
        re.search(r"^barrier, for PE 0, at \S+:\d+$", row["text"]) for row in rows[1:]
    )


class Live:
    """`atoll top` in a terminal of 80 columns."""

    def __init__(self, job: int) -> None:
        self.terminal, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [launcher(), "top", str(job)], stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
            env=environment(TERM="xterm", ATOLL_PYTHON=sys.executable),
        )  # fmt: skip
        os.close(inner)
        self.shown = ""

    def until(self, pattern: str) -> None:
        """Read until the terminal has shown the pattern."""
        while not re.search(pattern, self.shown):
            assert select.select([self.terminal], [], [], HANG_GUARD)[0], self.shown
            self.read()

    def read(self) -> bool:
        try:
            data = os.read(self.terminal, 1 << 16)
        except OSError:  # the program has left
            return False
        self.shown += re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", data.decode(errors="replace"))
        return bool(data)

    def left(self) -> int:
        """Read the rest; return the exit status."""
        while select.select([self.terminal], [], [], HANG_GUARD)[0] and self.read():
            pass
        os.close(self.terminal)
        return self.process.wait(timeout=HANG_GUARD)


def test_a_running_job_once_and_live_until_its_end(start: Start) -> None:
    job = start(3)
    figures = figures_once(job.pid, all_wait_for_pe_0)
    first, second, third = figures["rows"]
    assert (first["state"], first["text"], first["waits_s"]) == ("running", "in its own code", 0)
    assert (second["state"], third["state"]) == ("waiting", "waiting") and second["waits_s"] > 0
    assert first["heap_bytes"] >= 8 * 8192 and first["resident_bytes"] > 1 << 20
    assert first["put_bytes_per_s"] == 0 and first["gpu"] is None and figures["waiting"] == 2
    assert figures["heap_limit_bytes"] >= first["heap_bytes"] and "program.py" in figures["program"]

    text = top(first["process"], "--once")  # by the process of a PE
    assert text.startswith(f"job {job.pid}: 3 PEs, 2 waiting, CPU ")
    assert re.search(r"^  PE +CPU % +memory +heap +put/s +got/s +coll/s +waits +state$", text, re.M), text
    assert re.search(r"^  0 .* in its own code$", text, re.M), text
    assert re.search(r"^  2 .*barrier, for PE 0, at program.py:\d+$", text, re.M), text
    assert re.search(rf"^ +{job.pid} +3 +2 .*program.py$", top(), re.M), "without a terminal, as with --once"

    pytest.importorskip("rich", reason="rich is not installed (pip install rich)")
    quits, watches = Live(job.pid), Live(job.pid)
    for live in (quits, watches):
        live.until(r"3 PEs, 2 waiting, CPU")
        live.until(r"barrier, for PE 0")
    os.write(quits.terminal, b"q")
    assert quits.left() == 0
    assert job.stdin is not None
    job.stdin.write("\n")
    job.stdin.flush()
    assert watches.left() == 0
    assert f"job {job.pid} has ended: every PE has finalized" in watches.shown


def test_pes_of_another_launcher(tmp_path: Path) -> None:
    """A job without `atoll run` has the number of the PE that made its board."""
    program = str(write_program(tmp_path, PROGRAM))
    port = free_port()
    pes = [
        subprocess.Popen(
            [sys.executable, program],
            env=environment(**rank_variables(pe, 2, port)),
            stdin=subprocess.PIPE,
            text=True,
        )
        for pe in range(2)
    ]
    try:
        figures = figures_once(pes[1].pid, all_wait_for_pe_0)
        assert [row["process"] for row in figures["rows"]] == [pe.pid for pe in pes]
        assert figures["job"] == pes[0].pid
        done = subprocess.run(
            [launcher(), "stacks", str(pes[1].pid)], capture_output=True, text=True, check=True
        )
        assert re.match(
            r"PE 0 is in its own code at program.py:\d+, and PE 1 waits for it in barrier at program.py:\d+",
            done.stdout,
        )
        assert re.search(rf"^ +{pes[0].pid} +2 +1 .*program.py$", top(), re.M), "once in the list"
        assert not re.search(rf"^ +{pes[1].pid} ", top(), re.M)
        assert pes[0].communicate("\n", timeout=HANG_GUARD) == (None, None)
        assert [pe.wait(timeout=HANG_GUARD) for pe in pes] == [0, 0]
    finally:
        for one in pes:
            one.kill()
            one.communicate()


def test_equal_pes_of_a_big_job_are_one_line(start: Start) -> None:
    job = start(17, "sleep", "1000")
    figures_once(job.pid, lambda figures: [row["pes"] for row in figures["rows"]] == [list(range(17))])
    text = top(job.pid)
    assert re.search(r"^  0-16 +- +- +- +- +has not called init$", text, re.M) and "--each" in text, text
    assert len(figures_once(job.pid, bool, "--each")["rows"]) == 17
    with subprocess.Popen(
        [launcher(), "top", str(job.pid), "--every", "0.1"], stdout=subprocess.PIPE, text=True
    ) as following:
        assert following.stdout is not None
        while not following.stdout.readline().startswith("  0-16"):
            pass
        job.terminate()
        assert re.search(rf"^job {job.pid} has ended: PE 0-16 ", following.stdout.read(), re.M)
    assert following.returncode == 0


def test_wrong_arguments_and_a_missing_library(tmp_path: Path) -> None:
    assert "is no process number" in top("1x", ok=False)
    assert "is no `atoll run` of yours" in top(os.getpid(), "--once", ok=False)
    assert "--every needs seconds" in top("--every", "0", ok=False)
    code = "import sys; sys.modules['rich'] = None; sys.argv[1:] = ['atoll']\nfrom atoll import _top; sys.exit(_top.main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "pip install rich" in done.stderr, done.stderr
