"""Abnormal ends print the last events of the PEs that matter."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from jobs import HANG_GUARD, Done, environment, launcher, write_program

BEGIN = """
    import time
    atoll.init()
    me = atoll.my_pe()
    x = atoll.zeros(3)
    atoll.sum_reduce(x, x)
"""
HEAD = "the last events of the PEs, the newest last:\n"
REDUCE = (
    r"    sum_reduce\(bytes=24, dtype=float64\), call \d+ of the world team\n(    wait in sum_reduce .*\n)*"
)


def command(path: Path, n: int, *options: str) -> list[str]:
    return [launcher(), "run", "-n", str(n), *options, sys.executable, path.name]


def run(folder: Path, code: str, n: int, *options: str, **changes: str) -> Done:
    path = write_program(folder, BEGIN + code)
    return subprocess.run(
        command(path, n, *options), cwd=folder, env=environment(**changes), capture_output=True, text=True,
        timeout=HANG_GUARD, check=False,
    )  # fmt: skip


def start(folder: Path, code: str, n: int) -> subprocess.Popen[str]:
    path = write_program(folder, BEGIN + code)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command(path, n), cwd=folder, env=environment(), text=True, **pipes)


def ask_until(job: subprocess.Popen[str], pattern: str) -> None:
    """Ask the launcher what the PEs are doing until a line of its answer matches."""
    assert job.stderr is not None
    job.send_signal(signal.SIGQUIT)
    while not re.search(pattern, line := job.stderr.readline()):
        assert line, "the job has ended"
        if "what the PEs are doing" in line:
            job.send_signal(signal.SIGQUIT)


def events_of(done: Done) -> str:
    assert HEAD in done.stderr, done.stderr
    return done.stderr.split(HEAD)[1]


def test_after_sigkill_the_dead_pe_comes_first(tmp_path: Path) -> None:
    code = """
    if me == 1:
        print(os.getpid(), flush=True)
        time.sleep(1000)
    atoll.barrier_all()
    """
    job = start(tmp_path, code, 4)
    assert job.stdout is not None
    number = int(job.stdout.readline())
    ask_until(job, r"PE 0,2[-,]3 wait for it in barrier")
    os.kill(number, signal.SIGKILL)
    _, err = job.communicate(timeout=HANG_GUARD)
    assert job.returncode == 137
    assert HEAD in err, err
    text = err.split(HEAD)[1]
    first = re.match(rf"  PE 1:\n(    .*\n)*{REDUCE}    in its own code\n(?=  PE 0)", text)
    assert first, text
    # PEs that had slow waits before are shown apart.
    others = re.split(r"^  (?:PE [\d,]+):\n", text[first.end() :], flags=re.MULTILINE)[1:]
    pes = re.findall(r"^  PE ([\d,]+):\n", text[first.end() :], re.MULTILINE)
    assert sorted(",".join(pes).split(",")) == ["0", "2", "3"], text
    waits = r"    wait in barrier for PE 1, for [\d.]+( to [\d.]+)? s, at program.py:\d+: not ended\n"
    for last in others:
        assert re.search(r"    barrier, call \d+ of the world team: not ended\n", last), text
        assert re.search(waits, last), text


def test_the_last_events_at_a_time_out(tmp_path: Path) -> None:
    code = "\n    if me == 0: time.sleep(1000)\n    atoll.barrier_all()\n"
    seconds = 3
    # On a busy machine the PEs may not have come to the barrier by then.
    while "wait in barrier" not in (done := run(tmp_path, code, 2, "--timeout", str(seconds))).stderr:
        assert done.returncode == 124 and seconds < HANG_GUARD, done.stderr
        seconds *= 3
    assert re.match(rf"  PE 0:\n(    .*\n)*{REDUCE}    in its own code\n  PE 1:\n", events_of(done)), (
        done.stderr
    )


def test_the_last_events_of_a_wait_that_ran_out(tmp_path: Path) -> None:
    code = "\n    if me == 0: time.sleep(1000)\n    atoll.barrier_all()\n"
    done = run(tmp_path, code, 2, ATOLL_WAIT_TIMEOUT="1")
    assert re.search(r"  PE 0:\n(    .*\n)*" + REDUCE, events_of(done)), done.stderr
    waits = r"    barrier, call \d+ of the world team, ended by an error\n    wait in barrier for PE 0, ended by an error, for"
    assert re.search(waits, done.stderr), done.stderr
    assert done.stderr.index("atoll.Timeout: ") < done.stderr.index(HEAD)


def test_a_traceback_needs_no_events(tmp_path: Path) -> None:
    code = "\n    if me == 0: raise ValueError('mine')\n    atoll.barrier_all()\n"
    done = run(tmp_path, code, 2)
    assert "ValueError: mine" in done.stderr and HEAD not in done.stderr, done.stderr


def test_the_last_events_at_ctrl_c_are_those_before_it(tmp_path: Path) -> None:
    code = """
    if me == 0:
        print("ready", flush=True)
        time.sleep(1000)
    atoll.barrier_all()
    """
    job = start(tmp_path, code, 2)
    assert job.stdout is not None
    assert job.stdout.readline() == "ready\n"
    ask_until(job, "PE 1 waits for it in barrier")
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=HANG_GUARD)
    assert HEAD in err, err
    text = err.split(HEAD)[1]
    assert re.search(r"barrier, call \d+ of the world team: not ended", text), err


def test_ends_before_any_call_print_no_events(tmp_path: Path) -> None:
    path = write_program(tmp_path, "atoll.init(); sys.exit(3)")
    done = subprocess.run(
        command(path, 2), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 3 and HEAD not in done.stderr, done.stderr
