"""Faulty programs: the first line of the launcher's report names the PE at fault and the cause."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import textwrap
import time
from pathlib import Path

import pytest
from faulty_programs import FAULTY
from hanging import Start
from jobs import HANG_GUARD, launcher

# The first line tells that the launcher handles signals.
BEGIN = (
    "print('ready', file=sys.stderr); atoll.init(); me = atoll.my_pe(); x = atoll.zeros(4, dtype='int64')\n"
)

# Programs in which all PEs wait in the end: name, number of PEs, program behind BEGIN, first line.
STALLS = {
    "two locks": (
        3,
        """
        a, b = atoll.Lock(), atoll.Lock()
        first, second = (a, b) if me == 0 else (b, a)
        if me < 2:
            first.acquire()
        atoll.barrier_all()
        if me < 2:
            second.acquire()
        atoll.barrier_all()
        """,
        r"PE 0,1 wait for each other: PE 0 for PE 1 in Lock.acquire at program.py:10 \(the .*\), PE 1 for PE 0 in Lock"
        r".*; PE 1 holds the lock that PE 0 waits for, acquired at program.py:7; PE 0 holds the lock that PE 1 waits for",
    ),
    "a lock that is never released": (
        3,
        """
        a = atoll.Lock()
        if me == 0:
            a.acquire()
        atoll.barrier_all()
        if me != 0:
            a.acquire()
        atoll.barrier_all()
        """,
        r"PE 0 waits in barrier at program.py:10 for PE [12], which waits for it in Lock.acquire at program.py:9 \(the",
    ),
    "a lost signal": (
        3,
        """
        s = atoll.zeros(1, dtype="uint64")
        atoll.signal_add(s, 1, (me + 1) % 3 if me else 2)
        if me == 1:
            atoll.signal_wait_until(s, ">=", 1)
        atoll.barrier_all()
        """,
        r"PE 0 signalled the awaited word of PE 2, where PE 1 follows the pattern of the others \((?:its|their) \w+: program\.py:\d+\); PE 1 waits in "
        r"signal_wait_until on the uint64 array .*: found 0, waiting for >= 1, at program.py:7; PE 0 waits in barrier at program.py:8, and every PE waits",
    ),
    "a signal to an array that was freed": (
        2,
        """
        s = atoll.zeros(1, dtype="uint64")
        if me == 1:
            atoll.signal_add(s, 1, 0)
        atoll.free(s)
        s = atoll.zeros(1, dtype="uint64")
        if me == 0:
            atoll.signal_wait_until(s, ">=", 2)
        atoll.barrier_all()
        """,
        r"PE 0 waits in signal_wait_until on the uint64 array .*: found 0, waiting for >= 2, at program.py:10, and",
    ),
    "a signal of the only PE that sends one": (
        2,
        """
        s = atoll.zeros(1, dtype="uint64")
        if me == 1:
            atoll.signal_add(s, 1, 0)
        if me == 0:
            atoll.signal_wait_until(s, ">=", 2)
        atoll.barrier_all()
        """,
        r"PE 1 waits in barrier at program.py:9 for PE 0, which waits for it in signal_wait_until at program.py:8 "
        r"\(the uint64 array .*: found 1, waiting for >= 2, PE 1 last added 1 to it(?: at|; updates:) program\.py:\d+\)",
    ),
    "a wait for the wrong word": (
        2,
        """
        if me == 0:
            atoll.put(x[0:1], np.ones(1, dtype="int64"), 1)
        else:
            atoll.wait_until(x, "==", 1, index=1)
        atoll.barrier_all()
        """,
        r"PE 0 last set the element before the awaited one to 1 \((?:its|their) \w+: program\.py:\d+\); PE 1 waits in wait_until on element 1 .*: "
        r"found 0, waiting for == 1, at program.py:7; PE 0 waits in barrier at program.py:8, and every PE waits",
    ),
    "a receive from the next PE": (
        3,
        "atoll.recv(np.zeros(1), (me + 1) % 3)",
        r"PE 0-2 wait for each other: PE 0 for PE 1 in recv at program.py:3, PE 1 for PE 2 in recv",
    ),
    "large sends to each other": (
        2,
        "atoll.send(np.zeros(1 << 20), 1 - me)",
        r"PE 0,1 wait for each other: PE 0 for PE 1 in send at program.py:3, PE 1 for PE 0 in send",
    ),
    "another collective": (
        3,
        """
        if me == 1:
            atoll.barrier_all()
        else:
            atoll.sum_reduce(x, x)
        atoll.barrier_all()
        """,
        r"PE 1 called barrier.* at program.py:5 as call \d+ of the world team, where PE (?:0,2|0|2) called sum_reduce",
    ),
    "an object that one PE does not gather": (
        2,
        """
        if me == 1:
            atoll.barrier_all()
        atoll.gather_object(me)
        """,
        r"PE [01] called (barrier|gather_object at program.py:6 \(its fcollect).* where PE [01] called "
        r"(barrier|gather_object at program.py:6 \(its fcollect)",
    ),
    "a barrier that one PE leaves out": (
        3,
        """
        if me != 2:
            atoll.barrier_all()
        atoll.sum_reduce(x, x)
        """,
        r"PE 2 called sum_reduce.* as call \d+ of the world team, where PE (?:0,1|0|1) called barrier.*: the calls differ",
    ),
    "an exception in a try with a barrier in its finally": (
        3,
        """
        try:
            if me == 1:
                raise ValueError("a bad record")
            atoll.sum_reduce(x, x)
        finally:
            atoll.barrier_all()
        """,
        r"PE 1 called barrier at program.py:9 as call \d+ of the world team, where PE 0,2 called sum_reduce\(.*\) at "
        r"program.py:7: the calls differ; PE 1 handles ValueError at program.py:6 meanwhile\.",
    ),
    "the wrong team": (
        3,
        """
        pair = atoll.WORLD.split_strided(0, 1, 2)
        if me == 0:
            pair.barrier()
        atoll.barrier_all()
        """,
        r"PE 0,1 wait for each other: PE 0 for PE 1 in barrier of team 1 at program.py:6, PE 1 for PE 0 in barrier of the "
        r"world team at",
    ),
}

# Blocks of 2 x 2 PEs exchange halos. PE AT stops to signal its neighbour across from step FROM on.
STENCIL = """
s = atoll.signal(4)
row, column = divmod(me, 2)
others = [me - 2 if row else None, None if row else me + 2, me - 1 if column else None, None if column else me + 1]
for step in range(1, 60):
    for side, pe in enumerate(others):
        if pe is not None and ((me, side) != (AT, SIDE) or step < FROM):
            atoll.put_signal(x[:1], [step], s, step, pe=pe, index=side ^ 1)
    for side, pe in enumerate(others):
        if pe is not None:
            atoll.signal_wait_until(s, ">=", step, index=side)
"""
for at, side, to in ((0, 1, 2), (1, 2, 0), (2, 3, 3), (3, 0, 1)):
    for since, line in (
        (1, rf"PE {at} is not known to have signalled the awaited element, where PE \d signalled one beside it, and .*PE {to}"),
        (30, rf"PE {at} left out an update of PE {to}: PE {to} waits in signal_wait_until at .*found 29, waiting for >= 30"),
    ):  # fmt: skip
        code = STENCIL.replace("AT", str(at)).replace("SIDE", str(side)).replace("FROM", str(since))
        STALLS[f"a stencil without a signal of PE {at} from step {since} on"] = (4, code, line)


REQUEST = r"at program.py:6 \(sum_reduce, non-blocking call 1 of the world team, started at program.py:{}\)"
STARTED = "if me == 0:\n    request = atoll.sum_reduce(x, blocking=False)\n    "
STALLS |= {
    "a request that the other PE does not start": (
        2,
        "\n" + STARTED + "request.wait()\natoll.barrier_all()",
        rf"PE 1 waits in barrier at program.py:7 for PE 0, which waits for it in Request.wait {REQUEST.format(5)}",
    ),
    "a loop of tests": (
        2,
        "\n" + STARTED + "while not request.test(): pass\natoll.barrier_all()",
        rf"PE 1 waits in barrier at program.py:7 for PE 0, which waits for it in Request.test {REQUEST.format(5)}",
    ),
    "a coroutine": (
        2,
        "\nimport asyncio\nasync def main():\n    await atoll.sum_reduce(x, blocking=False)\n"
        "if me == 0:\n    asyncio.run(main())\natoll.barrier_all()",
        rf"PE 1 waits in barrier at program.py:9 for PE 0, which waits for it in Request.test {REQUEST.format(6)}",
    ),
}


@pytest.mark.parametrize("fault", STALLS)
def test_a_stall_is_explained(hanging: Start, fault: str) -> None:
    n, code, first = STALLS[fault]
    job = hanging(BEGIN + textwrap.dedent(code), n, ATOLL_CHECK="none")
    line = job.first_line()
    assert re.match(first, line), line
    assert "every PE waits and nothing has moved" in job.next_line()


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_program_is_explained(hanging: Start, fault: str) -> None:
    n, code, first = FAULTY[fault]
    line = hanging(BEGIN + textwrap.dedent(code), n, ATOLL_CHECK="args").first_line()
    assert re.match(first, line), line


# Programs in which a PE is elsewhere: number of PEs, program, first line of a report on request.
ABSENT = {
    "an endless loop": (
        3,
        "if me == 1:\n    while True: pass\natoll.barrier_all()",
        r"PE 1 is in its own code.*, and PE 0,2 wait for it in barrier at program.py:5",
    ),
    "a slow PE": (
        3,
        "import threading\nif me == 0: threading.Event().wait()\natoll.sum_reduce(x, x)",
        r"PE 0 is in its own code at program.py:4, and PE 1,2 wait for it in sum_reduce at program.py:5",
    ),
    "a stopped PE": (
        3,
        "if me == 2: os.kill(os.getpid(), 19)\natoll.barrier_all()",
        r"PE 2 is stopped \(kill -CONT \d+ lets it go on\), and PE 0,1 wait for it in barrier at program.py:4",
    ),
    "a signal of a PE that computes": (
        2,
        "if me == 0:\n    while True: pass\natoll.wait_until(x, '==', 1, index=0)",
        r"PE 0 is in its own code.*, and PE 1 waits in wait_until on .* at program.py:5",
    ),
    "a loop of fetches": (
        4,
        """
        if me == 0:
            while atoll.atomic_fetch(x, 0, index=0) < 3: pass
        elif me < 3:
            atoll.atomic_inc(x, 0, index=0)
        atoll.barrier_all()
        """,
        r"PE 3 is not known to have updated the awaited word \(PE 1,2 last added 1 to it(?: at|; updates:) program\.py:\d+\); PE 0 waits in a loop of "
        r"atomic_fetch on element 0 of the int64 array .*: found 2, at program.py:5; PE 3 waits in barrier at program.py:8, and every PE waits",
    ),
    "a lock of the program": (
        3,
        """
        for i in range(20):
            while atoll.atomic_compare_swap(x, 0, me + 1, 0, index=0) != 0: pass
            atoll.atomic_set(x, 0, 0, index=0)
        atoll.barrier_all()
        if me == 2: atoll.atomic_compare_swap(x, 0, 3, 0, index=0)
        atoll.barrier_all()
        while me < 2 and atoll.atomic_compare_swap(x, 0, me + 1, 0, index=0) != 0: pass
        atoll.barrier_all()
        """,
        r"PE 2 last set the awaited word to 3, and PE 0,1 last set it to 0 \((?:its|their) \w+: program\.py:\d+\); PE .* in a loop of atomic_compare_swap on .*: "
        r"found 3, at program.py:10",
    ),
    "a lock of the program that its holder tries, too": (
        3,
        """
        for i in range(20):
            while atoll.atomic_compare_swap(x, 0, me + 1, 0, index=0) != 0: pass
            atoll.atomic_set(x, 0, 0, index=0)
        atoll.barrier_all()
        if me == 2: atoll.atomic_compare_swap(x, 0, 3, 0, index=0)
        atoll.barrier_all()
        while atoll.atomic_compare_swap(x, 0, me + 1, 0, index=0) != 0: pass
        """,
        r"PE 2 last set the awaited word to 3, and PE 0,1 last set it to 0 \((?:its|their) \w+: program\.py:\d+\); PE .* in a loop of atomic_compare_swap on .*: "
        r"found 3, at program.py:10",
    ),
    "a lock that is tried in a loop": (
        2,
        """
        a = atoll.Lock()
        if me == 0: a.acquire()
        atoll.barrier_all()
        while me == 1 and not a.acquire(blocking=False): pass
        atoll.barrier_all()
        """,
        r"PE 0 waits in barrier at program.py:8 for PE 1, which waits for it in a loop of test_lock at program.py:7 \(the "
        r"atoll.Lock .*\); PE 0 holds that lock, acquired at program.py:5",
    ),
    "a message of a PE that computes": (
        2,
        "if me == 0:\n    while True: pass\natoll.recv(x, 0)",
        r"PE 0 is in its own code.*, and PE 1 waits for it in recv at program.py:5",
    ),
}


@pytest.mark.parametrize("fault", ABSENT)
def test_a_pe_that_does_not_come_is_named(hanging: Start, fault: str) -> None:
    n, code, first = ABSENT[fault]
    hanging(BEGIN + textwrap.dedent(code), n).asked_until(first)


def test_loops_of_all_pes_are_reported_by_themselves(hanging: Start) -> None:
    code = "while atoll.atomic_fetch(x, 0, index=0) == 0: pass\natoll.barrier_all()"
    job = hanging(BEGIN + code, 3, ATOLL_STALL_WARN="0.1")
    line = job.first_line()
    assert re.match(r"PE .* in a loop of atomic_fetch on element 0 of .*: found 0, at program.py:3", line), (
        line
    )
    assert re.search(r"every PE waits,? and nothing has moved for (at least 1|0\.1) s", job.next_line())


def test_the_holder_of_the_lock_of_a_file_is_named(hanging: Start, tmp_path: Path) -> None:
    code = f"""
    import fcntl, time
    file = open({str(tmp_path / "results.txt")!r}, "w")
    if me == 1: fcntl.flock(file, fcntl.LOCK_EX)
    atoll.barrier_all()
    if me == 0: fcntl.flock(file, fcntl.LOCK_EX)
    atoll.barrier_all()
    """
    with (tmp_path / "own.txt").open("w") as own:
        fcntl.flock(own, fcntl.LOCK_EX)
        locks = Path("/proc/locks")
        if not locks.exists() or f" {os.getpid()} " not in locks.read_text():
            pytest.skip("this system does not list locks of files")
    first = r"PE 1 holds the lock of the file results\.txt, and waits in barrier at program\.py:9; PE 0 waits for that lock at program\.py:8"
    hanging(BEGIN + textwrap.dedent(code), 3).asked_until(first)


def test_a_loop_of_tests_is_reported_by_itself(hanging: Start) -> None:
    code = "if me == 0:\n    while not atoll.test(x, '==', 1, index=0): pass\natoll.barrier_all()"
    job = hanging(BEGIN + code, 3, ATOLL_STALL_WARN="0.1")
    line = job.first_line()
    assert re.match(
        r"PE 0 waits in a loop of test on element 0 of .*: found 0, at program.py:4, and", line
    ), line
    # The other report comes first if PE 0 had no CPU while the launcher asked it.
    assert re.search(r"every PE waits,? and nothing has moved for (at least 1|0\.1) s", job.next_line())


def test_the_error_of_a_wait_that_runs_out_has_the_cause(hanging: Start) -> None:
    code = "if me == 1:\n    while True: pass\natoll.barrier_all()"
    job = hanging(BEGIN + code, 2, ATOLL_WAIT_TIMEOUT="1")
    while "atoll.Timeout: " not in (line := job.next_line()):
        pass
    assert re.search(
        r"Cause: PE 1 is in its own code.*, and PE 0 waits for it in barrier at program.py:5", line
    ), line


def test_the_line_of_a_pe_in_its_own_code_is_told(hanging: Start) -> None:
    job = hanging(BEGIN + "def spin():\n    while True: pass\nif me == 1: spin()\natoll.barrier_all()", 2)
    pattern = r"PE 1 is in its own code at program.py:4, and PE 0 waits for it in barrier at program.py:6"
    assert job.asked_until(pattern)


NESTED = """
import threading
def inner():
    atoll.barrier_all() if me != 1 else atoll.sum_reduce(x, x)
def step():
    inner()
def helper():
    threading.Event().wait()
if me == 0: threading.Thread(target=helper, daemon=True).start()
step()
"""


def test_a_report_has_the_stack_of_one_pe_of_each_place(hanging: Start) -> None:
    """Calls within calls and other threads of the program are shown; a frame that the table names is not."""
    job = hanging(BEGIN + NESTED, 3, ATOLL_CHECK="none")
    job.asked_until(r"PE 1 called sum_reduce\(.* at program.py:6 .*: the calls differ")
    while job.next_line() != "stacks in the program, of one PE of each line:":
        pass  # the first reports of a busy machine may lack it
    lines = [job.next_line() for _ in range(3)]
    assert lines == [
        "  PE 1: inner at program.py:6, from step at program.py:8, from program.py:12",
        "  PE 0: inner at program.py:6, from step at program.py:8, from program.py:12",
        "  PE 0, another thread: helper at program.py:10",
    ]


COROUTINES = """
async def worker():
    await asyncio.sleep(1000)
async def main():
    others = [asyncio.create_task(worker()) for _ in range(2)]
    await asyncio.Event().wait()
if me == 1: asyncio.run(main())
atoll.barrier_all()
"""


def test_a_report_has_the_tasks_of_an_event_loop(hanging: Start) -> None:
    """A coroutine that waits is on no thread's stack."""
    job = hanging("import asyncio\n" + BEGIN + COROUTINES, 2)
    job.asked_until(
        r"PE 1 is in its own code at program.py:9, and PE 0 waits for it in barrier at program.py:11"
    )
    while job.next_line() != "stacks in the program, of one PE of each line:":
        pass
    assert [job.next_line() for _ in range(2)] == [
        "  PE 1: main at program.py:9, from program.py:10",
        "  PE 1, task Task-2 and 1 more: worker at program.py:6",
    ]
    stacks = told("stacks", str(job.job.pid))
    task = stacks.split("Task Task-3 (most recent call first):\n")[1]
    assert re.match(r'(?: +File .*\n)?    File ".*program.py", line 6 in worker\n', task), stacks


def test_stacks_of_a_running_job(hanging: Start) -> None:
    """`atoll ps` lists the job; `atoll stacks` and `atoll record` accept the launcher's number and a PE's."""
    code = "print(os.getpid(), file=sys.stderr)\ndef spin():\n    while True: pass\nif me == 1: spin()\natoll.barrier_all()"
    job = hanging(BEGIN + code, 2)
    job.asked_until(
        r"PE 1 is in its own code at program.py:5, and PE 0 waits for it in barrier at program.py:7"
    )
    launched = str(job.job.pid)
    assert re.search(rf"^job {launched}: 2 PEs, 1 waiting: python\S* program.py$", told("ps"), re.M)
    stacks = told("stacks", launched)
    assert stacks.startswith(
        "PE 1 is in its own code at program.py:5, and PE 0 waits for it in barrier at program.py:7"
    )
    of_pe_0, of_pe_1 = stacks.split("PE 1 (process ")
    assert re.search(r'File ".*program.py", line 7 in <module>', of_pe_0), stacks
    assert re.search(r'File ".*program.py", line 5 in spin', of_pe_1), stacks
    pid = of_pe_1.split(")")[0]
    events = [json.loads(line) for line in told("record", pid).splitlines()]
    assert {event["pe"] for event in events} == {0, 1}
    last = [event for event in events if event["pe"] == 0][-1]
    assert (last["event"], last["operation"], last["state"], last["peer"]) == ("wait", "barrier", "met", 1)
    assert last["site"] == "program.py:7"


def test_an_interrupt_before_a_report_tells_the_cause(hanging: Start) -> None:
    job = hanging(BEGIN + "if me == 1:\n    while True: pass\natoll.barrier_all()", 2, ATOLL_STALL_WARN="0")
    pattern = rf"^job {job.job.pid}: 2 PEs, 1 waiting"
    while not re.search(pattern, told("ps"), re.M):
        time.sleep(0.1)
    time.sleep(2)  # shorter waits are usual
    job.job.send_signal(signal.SIGINT)
    assert re.match(
        r"PE 1 is in its own code at program.py:4, and PE 0 waits for it in barrier", job.first_line()
    )


def test_an_invalid_job(hanging: Start) -> None:
    for number, reason in (("1x", "is no process number"), (str(os.getpid()), "is no `atoll run` of yours")):
        done = subprocess.run([launcher(), "stacks", number], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and reason in done.stderr, done.stderr


def test_without_a_number_the_only_job_is_taken_and_several_are_listed(hanging: Start) -> None:
    """Jobs of other tests may run, too."""
    job = hanging(BEGIN + "if me == 0: atoll.barrier_all()\nwhile True: pass", 2)
    job.asked_until(r"PE 1 is in its own code")
    for command in ("stacks", "record"):
        done = subprocess.run([launcher(), command], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            assert "barrier" in done.stdout
        else:
            assert done.returncode == 2
            numbers = re.findall(r"\d+", done.stderr.split("run on this host: ")[1].split(";")[0])
            assert str(job.job.pid) in numbers and len(numbers) > 1, done.stderr


def told(*arguments: str) -> str:
    """Return the output of a command of atoll."""
    command = [launcher(), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG_GUARD).stdout
