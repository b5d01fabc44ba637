"""PEs that are kept between tests: each program finds them as new ones, and one that leaves something is found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import write_program
from kept import Failed, KeptJobs


@pytest.fixture(scope="module")
def jobs() -> Iterator[KeptJobs]:
    jobs = KeptJobs()
    yield jobs
    jobs.end()


def run(jobs: KeptJobs, folder: Path, code: str, n: int = 2, **changes: str) -> list[str]:
    return jobs.run(write_program(folder, code), n, ["an argument"], changes, 60).stdout.splitlines()


TELL = """
    atoll.init()
    print(os.getpid(), sys.argv[1], atoll.my_pe(), os.environ.get("ATOLL_TEST_MARK"), "left" in globals(), np.geterr()["divide"])
    left = atoll.zeros(1000)
    atoll.put(left, 1.0, 1 - atoll.my_pe())
    os.environ["ATOLL_TEST_MARK"] = "changed"
    os.chdir("/")
    np.seterr(divide="raise")
    """


def test_programs_share_processes_and_nothing_else(jobs: KeptJobs, tmp_path: Path) -> None:
    first, second = (run(jobs, tmp_path, TELL) for _ in range(2))
    assert first == second
    for pe, line in enumerate(first):
        assert re.fullmatch(rf"\d+ an argument {pe} None False warn", line), first


def test_settings_are_those_of_the_test(jobs: KeptJobs, tmp_path: Path) -> None:
    code = "atoll.init(); print(os.environ['ATOLL_HEAP_SIZE']); atoll.zeros(3 << 20, 'u1')"
    assert run(jobs, tmp_path, code, ATOLL_HEAP_SIZE="8M", ATOLL_CHECK="none") == ["8M"] * 2
    assert run(jobs, tmp_path, code, ATOLL_HEAP_SIZE="4M", ATOLL_CHECK="all") == ["4M"] * 2


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("atoll.init(); 1 / 0", "ZeroDivisionError"),
        ("sys.exit(3)", "'status': 3"),
        ("sys.exit('a reason')", "a reason"),
        ("os._exit(0)", "it ended"),
        ("atoll.init()\nif atoll.my_pe(): raise ValueError('of one')\natoll.barrier_all()", "of one"),
        ("import threading, time; threading.Thread(target=time.sleep, args=(99,), name='idle', daemon=True).start()", "the thread idle"),
    ],
)  # fmt: skip
def test_new_pes_after_a_failure(jobs: KeptJobs, tmp_path: Path, code: str, said: str) -> None:
    before = run(jobs, tmp_path, TELL)
    with pytest.raises(Failed, match=re.escape(said)):
        run(jobs, tmp_path, code)
    after = run(jobs, tmp_path, TELL)
    assert {line.split()[0] for line in before}.isdisjoint(line.split()[0] for line in after)


def test_a_program_that_hangs_ends(jobs: KeptJobs, tmp_path: Path) -> None:
    program = write_program(tmp_path, "import threading; threading.Event().wait()")
    with pytest.raises(Failed, match="no answer"):
        jobs.run(program, 2, [], {}, 1)
    assert len(run(jobs, tmp_path, TELL)) == 2
