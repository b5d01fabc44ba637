"""Jobs that no launcher of Atoll watches: the PEs that wait report that all of them do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from hanging import Ranks

HEADING = "atoll: every PE waits and nothing has moved for {} s (ATOLL_STALL_WARN); what the PEs are doing:"
# The PEs write to one file of standard error, which the programs may read.
BEGIN = """
import threading, time
atoll.init()
me = atoll.my_pe()
x = atoll.zeros(4, dtype="int64")
def reports():
    return open(sys.argv[1]).read().count("every PE waits and nothing has moved")
"""


def started(folder: Path, code: str, n: int, **changes: str) -> Ranks:
    """Start PEs of a program behind BEGIN. The file of their errors is its argument."""
    return Ranks(folder, BEGIN + textwrap.dedent(code), n, **changes)


@pytest.fixture
def jobs() -> Iterator[list[Ranks]]:
    all_of_test: list[Ranks] = []
    yield all_of_test
    for job in all_of_test:
        job.kill()


def test_each_standstill_is_reported_once(tmp_path: Path, jobs: list[Ranks]) -> None:
    """A thread sees the report, leaves time for another one, and ends the standstill."""
    code = """
        s = atoll.zeros(1, dtype="uint64")
        def free(number):
            while reports() < number: time.sleep(0.05)
            time.sleep(1)
            s[0] = number
        for number in 1, 2:
            if me == 0:
                thread = threading.Thread(target=free, args=(number,))
                thread.start()
                atoll.signal_wait_until(s, ">=", number)
                thread.join()
            atoll.barrier_all()
    """
    jobs.append(started(tmp_path, code, 3, ATOLL_STALL_WARN="0.1"))
    said = jobs[0].succeed()
    assert [line for line in said.splitlines() if "every PE waits and" in line] == [
        HEADING.format("0.1"), HEADING.format("0.2")
    ], said  # fmt: skip
    word = "the uint64 array of shape (1,) allocated at program.py:10"
    assert said.startswith(f"atoll: PE 0 waits in signal_wait_until on {word}: found 0,"), said
    assert "\n  PE 1,2: barrier, for PE 0, at program.py:21 (" in said, said


def test_calls_that_differ_are_named(tmp_path: Path, jobs: list[Ranks]) -> None:
    code = """
        if me == 0:
            atoll.barrier_all()
        atoll.sum_reduce(x, x)
    """
    jobs.append(started(tmp_path, code, 2, ATOLL_STALL_WARN="0.1", ATOLL_CHECK="none"))
    said = jobs[0].wait_for("(ATOLL_STALL_WARN); what the PEs are doing:")
    cause = said.splitlines()[0]
    assert cause.startswith("atoll: PE ") and "of the world team, where PE " in cause, said
    assert cause.endswith(": the calls differ."), said


def test_a_job_of_one_pe_is_watched(tmp_path: Path, jobs: list[Ranks]) -> None:
    jobs.append(started(tmp_path, "atoll.wait_until(x[:1], '==', 1)", 1, ATOLL_STALL_WARN="0.1"))
    said = jobs[0].wait_for(HEADING.format("0.1"))
    assert said.startswith("atoll: PE 0 waits in wait_until on "), said


def test_a_process_that_goes_on_after_its_job_is_unharmed(tmp_path: Path, jobs: list[Ranks]) -> None:
    """An exception that Python ignores and a question for stacks no longer reach the job board."""
    code = """
        import os, signal
        class Failing:
            def __del__(self): raise ValueError("in a callback")
        atoll.finalize()
        Failing()
        os.kill(os.getpid(), signal.SIGRTMAX - 3)
        atoll.init()
        atoll.barrier_all()
    """
    jobs.append(started(tmp_path, code, 2))
    assert jobs[0].succeed().count("ValueError: in a callback") == 2


def test_a_report_is_no_child_of_the_program(tmp_path: Path, jobs: list[Ranks]) -> None:
    code = """
        import os
        if me == 1:
            while "waits for it in barrier at" not in open(sys.argv[1]).read(): time.sleep(0.05)
        atoll.barrier_all()
        try:
            os.wait()
        except ChildProcessError:
            print("no child", file=sys.stderr)
    """
    jobs.append(started(tmp_path, code, 2, ATOLL_STALL_WARN="0.1"))
    assert jobs[0].succeed().count("no child") == 2


AWAY = {
    "sleeps": ("time.sleep(1000)", "1 s"),
    "computes": ("while True: pass", "5 s"),
}


@pytest.mark.parametrize("away", AWAY)
def test_a_pe_that_does_not_come_is_named_with_its_line(tmp_path: Path, jobs: list[Ranks], away: str) -> None:
    does, seconds = AWAY[away]
    code = f"""
        if me == 1:
            {does}
        atoll.barrier_all()
    """
    jobs.append(started(tmp_path, code, 3, ATOLL_STALL_WARN="0.1"))
    said = jobs[0].wait_for("PE 0,2: barrier, for PE 1, at program.py:12 (")
    cause = (
        "atoll: PE 1 is in its own code at program.py:11, and PE 0,2 wait for it in barrier at program.py:12"
    )
    heading = f"atoll: PEs wait, and their waits have not changed for at least {seconds} (ATOLL_STALL_WARN)"
    assert said.startswith(cause) and heading in said, said


# A thread that computes beside a wait is known by its CPU time: see tests/core/standstill_test.cpp.
LEGAL = {
    "the other computes": "while time.process_time() < began + 0.5: pass",
    "the other sleeps": "time.sleep(1)",
    "the other tests a word": "while time.process_time() < began + 0.5: atoll.test(x, '==', 1, index=0)",
}


@pytest.mark.parametrize("other", LEGAL)
def test_a_legal_wait_is_not_reported(tmp_path: Path, jobs: list[Ranks], other: str) -> None:
    code = f"""
        if me == 1:
            began = time.process_time()
            {LEGAL[other]}
        atoll.barrier_all()
    """
    jobs.append(started(tmp_path, code, 2, ATOLL_STALL_WARN="0.3"))
    assert jobs[0].succeed() == ""


def test_no_report_is_made_without_a_limit(tmp_path: Path, jobs: list[Ranks]) -> None:
    code = """
        def free():
            time.sleep(1)
            x[0] = 1
        if me == 0:
            threading.Thread(target=free).start()
            atoll.wait_until(x[:1], "==", 1)
        atoll.barrier_all()
    """
    jobs.append(started(tmp_path, code, 2, ATOLL_STALL_WARN="0"))
    assert jobs[0].succeed() == ""
