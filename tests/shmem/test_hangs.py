"""Programs in C and C++ that hang: the first line of the launcher's report names the PE at fault and the line."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
PROGRAMS = Path(__file__).parent / "programs"
SAYS = "atoll run: "

# By the program's argument: the number of PEs and the first line, in which <name> is a marked line.
FAULTS = {
    "hangs.c": {
        "token": (
            3,
            r"PE 1 updated the awaited word of PE 0, where PE 2 follows the pattern of the others \((?:its|their) \w+: hangs\.\w+:\d+\); PE 0 waits in "
            r"wait_until on .*: found 2, waiting for == 3, at <token>",
        ),
        "done": (
            4,
            r"PE 2 is not known to have updated the awaited word \(PE 0,1,3 last added 1 to it(?: at|; updates:) hangs\.\w+:\d+\); PE 0 waits in "
            r"wait_until on .*: found 3, waiting for == 4, at <done>",
        ),
        "flags": (
            4,
            r"PE 2 last set the element before the awaited one to 1 \((?:its|their) \w+: hangs\.\w+:\d+\); PE 0-3 wait in wait_until on byte 8 of the 16 "
            r"bytes allocated at <flags>: found 0, waiting for == 1, at <ready>",
        ),
        "lock": (
            3,
            r"PE 0 waits in barrier at <end> for PE [12], which waits for it in set_lock at <lock>.*; PE 0 holds that lock, "
            r"acquired at <line:lock>\.",
        ),
        "credits": (
            3,
            r"PE 1 left out an update of PE 0: PE 0 waits in signal_wait_until at <credits> \(.*found 1, waiting for "
            r">= 2, PE 1 last added 1 to it(?: at hangs\.\w+:\d+)?, and updated that of PE 2 too(?:; updates: hangs\.\w+:\d+)?\)",
        ),
        "late": (
            4,
            r"PE 2 is behind; PE 3 waits for it in wait_until at <late> \(.*: found 4999, waiting for >= 5000, PE 2 "
            r"last set it to 4999; updates: hangs\.\w+:\d+\), and PE 0-2 wait for later values",
        ),
        "sync": (
            4,
            r"PE 3 waits in barrier of the world team at <end>, and PE 1,2 wait for it in sync of team 2 at <sync>",
        ),
        "tree": (
            7,
            r"PE 6 has added to the awaited word 2 times, and PE 5 3 times \(its updates: hangs\.c:\d+\); PE 2 waits in "
            r"wait_until on .*: found 5, waiting for >= 6, at <up>; PE 6 waits in barrier at <end>; PE 0 waits for other words",
        ),
    },
    "hangs.cpp": {
        "ring": (
            3,
            r"PE 1 signalled the awaited word of PE 0, where PE 2 follows the pattern of the others \((?:its signals|signals of others): hangs\.cpp:\d+\); PE 2 waits in "
            r"signal_wait_until on .*: found 0, waiting for >= 1, at <ring>",
        ),
        "steps": (
            4,
            r"PE 1 last set the awaited word to 2, where PE 0,2,3 last set other PEs' to 3 \((?:its|their) \w+: hangs\.\w+:\d+\); PE 2 waits in "
            r"wait_until on .*: found 2, waiting for >= 3, at <steps>",
        ),
        "handler": (
            4,
            r"PE 1 is not known to have signalled the awaited word, as the pattern of the others has it \(PE 0 signalled that of PE 1, .*\) \((?:its signals|signals of others): hangs\.cpp:\d+\); PE 2 waits in "
            r"signal_wait_until on .*, at <handler>",
        ),
        "mailbox": (
            3,
            r"PE 0 is in barrier at <barrier> without a receive of PE 1's message, for which PE 1 waits in mailbox post at "
            r"<post>",
        ),
        "swapped": (
            2,
            r"PE 0,1 wait for each other: PE 0 for PE 1 in Requests::wait at <all> \(sum_reduce, non-blocking call 1 of "
            r"the world team, started at .*\), PE 1 for PE 0 in Requests::wait at <pair> \(max_reduce, non-blocking "
            r"call 1 of team 1, started at .*\)",
        ),
        "started": (
            2,
            r"PE [01] called (sum|max)_reduce\(bytes=24, dtype=float64\).* as non-blocking call 1 of the world team, where "
            r"PE [01] called (sum|max)_reduce\(bytes=24, dtype=float64\).*: the calls differ",
        ),
        "thrown": (3, r"PE 1 was killed by SIGABRT \(abort.*\) in .*is_less.* at <line:thrown>, "),
        "crash": (3, r"PE 1 was killed by SIGSEGV \(.*\) in .*compare.* at <line:crash>, "),
        "divided": (2, r"PE 1 was killed by SIGFPE \(.*\) in .*quotient.* at <line:divided>, "),
        "deep": (
            3,
            r"PE 1 was killed by SIGSEGV \(.*\) in .*depth.* at hangs.cpp:\d+, .*; its stack was full, as ",
        ),
        "early": (
            3,
            r"PE 2 called barrier at <early> as call \d+ of the world team, where PE (?:0,1|0|1) called sum_reduce\(.*\) at "
            r"<reduce>: the calls differ",
        ),
    },
}


@pytest.fixture(scope="module")
def compiled(tree: Path, start: Run, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that compiles a program once."""
    folder = tmp_path_factory.mktemp("hangs")

    def compile_once(source: str) -> Path:
        target = folder / source.replace(".", "_")
        if target.exists():
            return target
        if source.endswith(".c"):
            done = start(tree / "bin/oshcc", "-g", PROGRAMS / source, "-o", target)
        else:
            compiler = [os.environ.get("CXX", "c++"), "-std=c++20", "-g", f"-I{tree}/include"]
            libraries = [f"-L{tree}/lib", f"-Wl,-rpath,{tree}/lib", "-latoll"]
            done = start(*compiler, PROGRAMS / source, *libraries, "-o", target)
        assert done.returncode == 0, done.stderr
        return target

    return compile_once


def first_line(tree: Path, n: int, *command: object, begin: str = SAYS) -> str:
    """Return the launcher's first line about a job, or the first with another beginning, and end the job."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ATOLL_", "SHMEM_", "SMA_"))}
    job = subprocess.Popen(
        [str(part) for part in (tree / "bin/atoll", "run", "-n", n, "--timeout", 400, *command)],
        env=kept, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert job.stderr is not None
    with job.stderr as lines:
        said = next((line for line in lines if line.startswith(begin)), "")
        for _ in range(2):  # the second one ends PEs that do not respond
            if job.poll() is None:
                job.send_signal(signal.SIGINT)
        lines.read()
    job.wait()
    return said.removeprefix(SAYS)


def with_lines(pattern: str, source: str) -> str:
    """Replace <name> by the place of the line that is marked so, and <line:name> by it without the function."""
    lines = (PROGRAMS / source).read_text().splitlines()

    def place(name: re.Match[str]) -> str:
        number = next(i for i, line in enumerate(lines, 1) if line.endswith(f"// LINE {name[2]}"))
        function = "" if name[1] else r" \(.*?\+0x[0-9a-f]+\)"
        return rf"{re.escape(source)}:{number}{function}"

    return re.sub(r"<(line:)?(\w+)>", place, pattern)


@pytest.mark.parametrize(
    ("source", "fault"), [(source, fault) for source, faults in FAULTS.items() for fault in faults]
)
def test_the_first_line_names_the_pe_at_fault(
    source: str, fault: str, tree: Path, compiled: Callable[[str], Path]
) -> None:
    n, pattern = FAULTS[source][fault]
    said = first_line(tree, n, compiled(source), fault)
    assert re.match(with_lines(pattern, source), said), said


def test_a_loop_of_tests_is_reported_by_itself(tree: Path, compiled: Callable[[str], Path]) -> None:
    said = first_line(tree, 3, "-x", "ATOLL_STALL_WARN=0.1", compiled("hangs.c"), "test")
    assert re.match(with_lines(r"PE 0 waits in a loop of test on .*: found 0, at <test>", "hangs.c"), said), (
        said
    )


def test_a_report_has_the_stacks_of_all_threads(tree: Path, compiled: Callable[[str], Path]) -> None:
    begin = "  PE 1, another thread: "
    said = first_line(tree, 2, compiled("hangs.cpp"), "thread", begin=begin)
    assert re.search(with_lines(r"thread.* at <line:thread>", "hangs.cpp"), said), said
