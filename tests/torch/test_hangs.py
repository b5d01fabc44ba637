"""Faulty programs of torch.distributed under `atoll run`: its report names the rank at fault and the cause.

Most ranks are forks of a process that has imported PyTorch (one_import.py). Tests that name PYTHON start new ones.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hanging import SAYS, Hanging, Ranks, Start
from jobs import HANG_GUARD, environment, launcher, write_program

PYTHON = Path(__file__).resolve().parents[2] / "build" / "torch" / "bin" / "python"
pytestmark = pytest.mark.skipif(
    not PYTHON.parents[1].joinpath("packages").exists(),
    reason="no build/torch; scripts/setup.sh torch makes it",
)
# A program begins at line 2, and its own part at line 4.
BEGIN = """\
import threading, time, torch, torch.distributed as dist; print("ready", file=sys.stderr, flush=True)
dist.init_process_group("atoll"); me = dist.get_rank(); x = torch.ones(10)
"""

# Programs in which all ranks wait in the end: name, their part behind BEGIN, first line of the report.
STALLS = {
    "a message that is never sent": (
        """\
if me == 0:
    dist.send(x, 1); dist.send(x, 1)
else:
    dist.recv(x, 0)
dist.barrier()
""",
        r"PE 0 is in barrier at program.py:8 \(call 1\) without a send to PE 2, which waits for it in recv at program.py:7 "
        r"\(40 bytes by tag 0, while rank 1 has not received one of rank 0\)\.$",
    ),
    "a message by another tag": (
        """\
if me == 0:
    dist.send(x, 1, tag=1)
if me == 1:
    dist.recv(x, 0, tag=2)
dist.barrier()
""",
        r"PE 0 has sent 40 bytes by tag 1, where PE 1 waits for tag 2 in recv at program.py:7, and PE 0 waits for it in "
        r"barrier at program.py:8 \(call 1\)\.$",
    ),
    "one message too few from any rank": (
        """\
if me == 0:
    for _ in range(3): dist.recv(x)
else:
    dist.send(x, 0)
dist.barrier()
""",
        r"PE 0 waits in recv of group 0 \(40 bytes by tag 0 from any rank\), at program.py:5, and every PE waits: "
        r"none is left that could send to it\.$",
    ),
    "a work that others do not begin": (
        """\
if me != 1:
    work = dist.all_reduce(x, async_op=True)
    work.wait()
else:
    dist.recv(x, 2)
""",
        r"PE 2 is in all_reduce at program.py:6 \(40 bytes, call 1\) without a send to PE 1, which waits for it in recv at "
        r"program.py:8 \(40 bytes by tag 0\)\.$",
    ),
    "two groups in another order": (
        """\
pair = dist.new_group([0, 1])
if me == 0:
    dist.all_reduce(x, group=pair)
dist.all_reduce(x)
if me == 1:
    dist.all_reduce(x, group=pair)
""",
        r"PE 0,1 wait for each other: PE 0 for PE 1 in all_reduce of group 1 at program.py:6 \(40 bytes, call 1\), "
        r"PE 1 for PE 0 in all_reduce of group 0 at program.py:7 \(40 bytes, call 1\)\.$",
    ),
    "a group that one rank does not make": (
        """\
if me != 1:
    dist.new_group([0, 1, 2])
dist.barrier()
""",
        r"PE 1 is in barrier at program.py:6 \(call 1\) without a new_group of ranks 0-2, for which PE 0 waits in "
        r"new_group at program.py:5\.$",
    ),
    "a group of others that one rank does not make": (
        """\
if me != 1:
    dist.new_group([0])
dist.new_group([1, 2])
dist.barrier()
""",
        r"PE 1 has left out a new_group: it is in new_group 1 at program.py:6 \(ranks 1,2\), where PE 2 is in "
        r"new_group 2 at program.py:6 \(ranks 1,2\); every rank must call new_group for each group, also for those of "
        r"others\.$",
    ),
    "a pair of others that one rank does not make": (
        """\
if me != 2:
    dist.new_group([0, 1])
time.sleep(0.2)
dist.new_group([0, 2])
dist.barrier()
""",
        r"PE 2 has left out a new_group: it is in new_group 1 at program.py:7 \(ranks 0,2\), where PE 0 is in "
        r"new_group 2 at program.py:7 \(ranks 0,2\); ",
    ),
    "a receive from another rank": (
        """\
if me == 0:
    dist.send(x, 1)
else:
    dist.recv(x, 3 - me)
dist.barrier()
""",
        r"40 bytes of PE 0 for PE 1 are not received, while PE 1 waits for PE 2 in recv at program.py:7; PE 1,2 wait for "
        r"each other: PE 1 for PE 2 in recv at program.py:7 \(40 bytes by tag 0, while one of rank 0 is here\), PE 2 ",
    ),
    "a barrier of Atoll's own": (
        """\
atoll.init()
if me == 1:
    atoll.barrier_all()
dist.all_reduce(x)
""",
        r"PE 1 waits in barrier at program.py:6, and PE 0,2 wait for it in all_reduce at program.py:7\.$",
    ),
}


@pytest.fixture
def hanging(tmp_path: Path, forks: str) -> Iterator[Start]:
    """Return a function that starts a faulty program on three ranks."""
    started: list[Hanging] = []

    def start(code: str, python: str = forks, **changes: str) -> Hanging:
        started.append(Hanging(tmp_path, BEGIN + code, 3, python=python, **changes))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.mark.parametrize("fault", STALLS)
def test_ranks_that_all_wait_are_reported_with_the_cause(hanging: Start, fault: str) -> None:
    code, first = STALLS[fault]
    job = hanging(code, ATOLL_STALL_WARN="0.4")
    line = job.first_line()
    assert re.match(first, line), line
    assert "every PE waits and nothing has moved for 0.4 s (ATOLL_STALL_WARN)" in job.next_line()


ALL_WAIT = "atoll: every PE waits and nothing has moved for 0.2 s"


def unwatched_report(
    python: str, folder: Path, code: str, heading: str = ALL_WAIT, limit: str = "0.2"
) -> str:
    """Return the first line of the report of three ranks that torchrun might have started."""
    ranks = Ranks(folder, BEGIN + code, 3, python=python, ATOLL_STALL_WARN=limit)
    try:
        lines = ranks.wait_for(heading).splitlines()
    finally:
        ranks.kill()
    at = next(number for number, line in enumerate(lines) if line.startswith(heading))
    assert at > 0, lines
    return lines[at - 1].removeprefix("atoll: ")


def test_ranks_without_our_launcher_report_that_all_wait(tmp_path: Path, forks: str) -> None:
    code, first = STALLS["two groups in another order"]
    line = unwatched_report(forks, tmp_path, code)
    assert re.match(first, line), line


def test_a_sleeping_rank_is_reported_without_our_launcher(tmp_path: Path, forks: str) -> None:
    code, first = ABSENT["a rank that sleeps, while DDP of others waits"]
    heading = "atoll: PEs wait, and their waits have not changed for at least 5 s"
    line = unwatched_report(forks, tmp_path, code, heading, "0.5")
    assert re.match(first, line), line


def test_ranks_without_our_launcher_that_make_their_group_again_are_watched(
    tmp_path: Path, forks: str
) -> None:
    """Two groups in turn, as after a restart of torchrun's agent; the second hangs."""
    code = """
dist.barrier(); dist.destroy_process_group()
dist.init_process_group("atoll", init_method="file://" + os.path.abspath("store"), rank=me, world_size=3)
dist.recv(x, (me + 1) % 3)
"""
    line = unwatched_report(forks, tmp_path, code)
    assert line.startswith("PE 0-2 wait for each other: PE 0 for PE 1 in recv at program.py:7 "), line


def test_atoll_stacks_names_a_rank_without_our_launcher_that_does_not_come(tmp_path: Path) -> None:
    code, first = ABSENT["a rank that sleeps"]
    ranks = Ranks(tmp_path, BEGIN + code, 3, python=str(PYTHON), ATOLL_STALL_WARN="0")
    command = [launcher(), "stacks", str(ranks.started[0].pid)]
    line = ""
    try:
        end = time.monotonic() + HANG_GUARD
        while not re.match(first, line):
            assert time.monotonic() < end and all(rank.poll() is None for rank in ranks.started), line
            done = subprocess.run(
                command, env=environment(), capture_output=True, text=True, timeout=HANG_GUARD, check=False
            )
            line = done.stdout.partition("\n")[0]
    finally:
        ranks.kill()


# Programs in which some rank does not wait in a call of ours: their part behind BEGIN, first line of a report.
ABSENT = {
    "a rank that sleeps": (
        """\
dist.all_reduce(x)
if me == 1:
    time.sleep(1000)
dist.all_reduce(x)
""",
        r"PE 1 is in its own code at program.py:6, and PE 0,2 wait for it in all_reduce at program.py:7\.$",
    ),
    "a rank that computes, while a work of others is pending": (
        """\
if me == 1:
    while True: pass
work = dist.all_reduce(x, async_op=True)
time.sleep(0.1)
work.wait()
""",
        r"PE 1 is in its own code at program.py:5, and PE 0,2 wait for it in all_reduce at program.py:8\.$",
    ),
    "a rank that sleeps, while DDP of others waits": (
        """\
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
if me == 1:
    time.sleep(1000)
model(torch.ones(2, 4)).sum().backward()
""",
        r"PE 1 is in its own code at program.py:6, and PE 0,2 wait for it in all_reduce at program.py:7\.$",
    ),
    "a thread that waits": (
        """\
if me == 1:
    time.sleep(1000)
thread = threading.Thread(target=lambda: dist.all_reduce(x))
thread.start(); thread.join()
""",
        r"PE 1 is in its own code at program.py:5, and PE 0,2 wait for it in all_reduce at program.py:6\.$",
    ),
}


@pytest.mark.parametrize("fault", ABSENT)
def test_a_rank_that_does_not_come_is_named(hanging: Start, fault: str) -> None:
    code, first = ABSENT[fault]
    hanging(code, ATOLL_STALL_WARN="0").asked_until(first)


def test_ranks_for_which_a_sleeping_one_is_missing_are_reported_without_a_question(hanging: Start) -> None:
    code, first = ABSENT["a rank that sleeps, while DDP of others waits"]
    job = hanging(code, python=str(PYTHON), ATOLL_STALL_WARN="0.2")
    line = job.first_line()
    assert re.match(first, line), line
    assert (
        "PE 1 sleeps outside Atoll, and the waits of the others have not changed for at least 2 s"
        in job.next_line()
    )


def test_work_that_is_pending_while_all_compute_is_not_taken_for_a_hang(tmp_path: Path, forks: str) -> None:
    code = """\
work = dist.all_reduce(x, async_op=True) if me != 1 else None
end = time.monotonic() + 2
while time.monotonic() < end: pass
work.wait() if work else dist.all_reduce(x)
assert x.tolist() == [3.0] * 10
dist.destroy_process_group()
"""
    done = ended(forks, tmp_path, code, ATOLL_STALL_WARN="0.1")
    assert done.returncode == 0, done.stderr
    assert SAYS not in done.stderr, done.stderr


def ended(python: str, folder: Path, code: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a program on three ranks to its end."""
    return subprocess.run(
        [launcher(), "run", "-n", "3", python, str(write_program(folder, BEGIN + code))],
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )


# Programs that end by an error: their part behind BEGIN, last line of the launcher.
ENDS = {
    "a call that one rank leaves out": (
        """\
for step in range(3):
    if me == 1 and step == 2:
        continue
    dist.all_reduce(x)
dist.barrier()
""",
        r"PE 1 called barrier at program.py:8 as call 3 of group 0, where PE [02,]+ called all_reduce \(sum\) of 40 "
        r"bytes of float32 at program.py:7: the calls differ; PE \d exited with status 1, ",
    ),
    "another call in a branch": (
        """\
if me == 2:
    dist.broadcast(x, 0)
else:
    dist.all_reduce(x)
""",
        r"PE 2 called broadcast of 40 bytes with root 0 at program.py:5 as call 1 of group 0, where PE [01,]+ called "
        r"all_reduce \(sum\) of 40 bytes of float32 at program.py:7: the calls differ; PE \d exited with status 1, ",
    ),
    "another size of a work that is pending": (
        "dist.all_reduce(torch.ones(10 + (me == 0)), async_op=True).wait()\n",
        r"PE 0 called all_reduce \(sum\) of 44 bytes of float32 as call 1 of group 0, where PE [12,]+ called "
        r"all_reduce \(sum\) of 40 bytes of float32: the calls differ; PE \d exited with status 1, ",
    ),
    "a rank that ends early": (
        """\
if me == 1:
    os._exit(0)
dist.all_reduce(x)
""",
        r"rank 1 \(process \d+\) ended without leaving the group of group 0, so all_reduce \(sum\) of 40 bytes of "
        r"float32 on rank \d cannot end; PE \d exited with status 1, ",
    ),
}


@pytest.mark.parametrize("fault", ENDS)
def test_the_last_line_tells_why_a_group_failed(tmp_path: Path, forks: str, fault: str) -> None:
    code, last = ENDS[fault]
    done = ended(forks, tmp_path, code)
    assert done.returncode == 1, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith(SAYS)]
    assert re.match(last, said[-1].removeprefix(SAYS)), done.stderr


def test_the_error_of_different_calls_has_both_places(tmp_path: Path) -> None:
    done = ended(str(PYTHON), tmp_path, "dist.barrier() if me == 1 else dist.all_reduce(x)\n")
    program = re.escape(f"{tmp_path}{os.sep}program.py:4")
    assert re.search(
        rf"rank 1 called barrier at {program} as call 1 of group 0, where rank 0,2 called all_reduce \(sum\) of 40 "
        rf"bytes of float32 at {program}\.",
        done.stderr,
    ), done.stderr


def test_the_error_of_different_calls_is_the_same_on_every_rank(tmp_path: Path, forks: str) -> None:
    code = """\
try:
    dist.all_reduce(x.double() if me == 1 else x)
except RuntimeError as error:
    print(f"error: {error}", flush=True)
"""
    done = ended(forks, tmp_path, code)
    errors = [line for line in done.stdout.splitlines() if line.startswith("error: ")]
    assert len(errors) == 3, done
    assert len(set(errors)) == 1, errors
    assert "rank 1 called all_reduce (sum) of 80 bytes of float64 at " in errors[0], errors[0]
    assert "where rank 0,2 called all_reduce (sum) of 40 bytes of float32 at " in errors[0], errors[0]


def test_the_failure_of_a_group_that_was_replaced_is_not_told(tmp_path: Path, forks: str) -> None:
    """A rank that has caught the error and gone on may end by another one."""
    code = """\
try:
    dist.barrier() if me == 1 else dist.all_reduce(x)
except RuntimeError:
    again = dist.new_group([0, 1, 2])
    dist.barrier(group=again)
sys.exit(3 if me == 2 else 0)
"""
    done = ended(forks, tmp_path, code)
    assert done.returncode == 3, done.stderr
    assert f"{SAYS}PE 2 exited with status 3, " in done.stderr, done.stderr
