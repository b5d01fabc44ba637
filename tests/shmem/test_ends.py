"""Ends of programs, and the errors that they get: by global_exit, without finalize, by a crash, by wrong calls."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def ends(program: object, oshrun: Run) -> Run:
    """Runs programs/ends.c with a way to end."""
    return lambda n, *way, **environment: oshrun(n, program("ends"), *way, **environment)  # type: ignore[operator]


@pytest.mark.parametrize("status", [0, 5])
def test_global_exit_flushes_every_pe_and_keeps_the_status(ends: Run, status: int) -> None:
    done = ends(4, "global_exit", status)
    assert done.returncode == status
    assert sorted(done.stdout.splitlines()) == [f"PE {pe} was here" for pe in range(4)]
    assert bool(done.stderr) == (status != 0)


def test_leaving_without_finalize(ends: Run) -> None:
    done = ends(3, "no finalize")
    assert done.returncode == 0 and not done.stderr


def test_a_wait_for_a_pe_that_left_fails(ends: Run) -> None:
    done = ends(3, "one leaves")
    assert done.returncode == 1
    assert "PE 1 left the job" in done.stderr and "shmem_barrier_all" in done.stderr


def test_never_calling_init(ends: Run) -> None:
    done = ends(3, "never")
    assert done.returncode == 0 and not done.stderr


def test_a_crash_with_a_lock_held_ends_the_job(ends: Run) -> None:
    done = ends(3, "crash in lock")
    assert done.returncode == 134 and "PE 1 was killed by SIGABRT" in done.stderr


def test_a_pe_killed_while_others_are_in_a_barrier_ends_the_job(ends: Run) -> None:
    done = ends(3, "killed in barrier")
    assert done.returncode == 137 and "PE 1 was killed by SIGKILL" in done.stderr


@pytest.mark.parametrize("name", ["SHMEM_DEBUG", "SMA_DEBUG"])
def test_debug_says_why_a_status_was_returned_by_presence(ends: Run, name: str) -> None:
    brief = ends(2, "failed split")
    assert brief.returncode == 0
    once = r"atoll: PE \d, shmem_team_split_strided: split_strided\(start 0, .* The call returned status \d+; SHMEM_DEBUG=1 "
    assert re.fullmatch(rf"({once}reports all of them\.\n)+", brief.stderr) and brief.stderr.count("\n") == 2
    for value in ("", "0", "no"):
        done = ends(2, "failed split", **{name: value})
        assert done.returncode == 0
        assert done.stderr.count("shmem_team_split_strided: split_strided(start 0, stride 1, size 3)") == 2


@pytest.mark.parametrize(
    ("size", "fits", "too_much"),
    [("1m", 900_000, 1_100_000), ("0.5Mebibytes", 400_000, 600_000), ("2048k", 1_900_000, 2_200_000)],
)
def test_the_heap_has_the_requested_size(ends: Run, size: str, fits: int, too_much: int) -> None:
    for name in ("SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"):
        done = ends(2, "heap", too_much, fits, **{name: size})
        assert done.returncode == 0 and done.stdout.count("0 1") == 2, done.stdout + done.stderr


def test_a_wait_in_a_second_init_fails(ends: Run) -> None:
    done = ends(3, "one does not come back")
    assert done.returncode == 1 and "PE 1 ended after finalize" in done.stderr


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("not symmetric", "shmem_long_put: dest: 8 bytes at"),
        ("no such PE", "shmem_long_p: pe: PE 2 does not exist"),
        ("overlap", "shmem_long_put: dest: it overlaps source"),
        ("misaligned", "shmem_long_atomic_inc: dest: its address must"),
        ("different calls", "shmem_long_sum_reduce"),
    ],
)
def test_wrong_calls_are_named_where_that_was_asked_for(ends: Run, way: str, said: str) -> None:
    done = ends(2, way, ATOLL_CHECK="all")
    assert done.returncode == 1 and said in done.stderr and "PE " in done.stderr


def test_nonsense_as_heap_size_fails_init_thread(program: object, start: Run) -> None:
    for value, failed in (("lots", 1), ("-1", 1), (".5m", 0), ("4096kilo", 0), ("1.5g", 0)):
        done = start(program("ends"), "bad size", SHMEM_SYMMETRIC_SIZE=value)  # type: ignore[operator]
        assert done.returncode == 0 and f"status {failed}" in done.stdout, value
        assert bool(failed) == ("SHMEM_SYMMETRIC_SIZE" in done.stderr)
    done = start(program("ends"), "bad size", SMA_SYMMETRIC_SIZE="lots")  # type: ignore[operator]
    assert "status 1" in done.stdout
    both = start(program("ends"), "bad size", SMA_SYMMETRIC_SIZE="lots", SHMEM_SYMMETRIC_SIZE="1m")  # type: ignore[operator]
    assert "status 0" in both.stdout


@pytest.mark.parametrize("name", ["SHMEM_VERSION", "SMA_VERSION", "SHMEM_INFO", "SMA_INFO"])
def test_flags_count_by_presence(ends: Run, name: str) -> None:
    said = ends(2, "no finalize", **{name: "0"}).stderr
    assert said.count("OpenSHMEM 1.6") == 1
    assert ("SHMEM_DEBUG" in said) == name.endswith("INFO")


def test_different_executables_share_the_heap_and_no_statics(
    tree: Path, tmp_path: Path, oshrun: Run, start: Run
) -> None:
    source = Path(__file__).parent / "programs" / "symmetry.c"
    for name, flags in (("one", []), ("two", ["-DOTHER=100000"])):
        done = start(tree / "bin" / "oshcc", *flags, source, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
    script = tmp_path / "both.sh"
    script.write_text(
        f"case $ATOLL_LAUNCHED in 1:0:*) exec {tmp_path}/one ;; *) exec {tmp_path}/two ;; esac\n"
    )
    assert oshrun(2, tmp_path / "one").stdout == "heap 1, static 1\n" * 2
    assert oshrun(2, tmp_path / "two").stdout == "heap 1, static 1\n" * 2
    done = oshrun(2, "sh", script)
    assert done.returncode == 0 and done.stdout == "heap 1, static 0\n" * 2, done.stderr
