"""One table of mistakes, mistakes.tsv, in C, C++ and Python, at each level of ATOLL_CHECK: which calls are refused, and with what
words. `ok`: the call returns; its effect is not checked. `-`: not tried, because the standard leaves it undefined."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Rows = list[dict[str, str]]

HERE = Path(__file__).parent
HEAP_BYTES = 1 << 20
SAID = {
    "ok": "came back",
    "PE": r"PE -?\d+ does not exist: the team has 2 PEs",
    "NULL": "[Nn]ull pointer was passed|NULL was passed",
    "OUTSIDE": "neither in the symmetric heap nor in|are not in the symmetric heap",
    "HEAP": "reach past the end of the symmetric heap",
    "PEER": "are PE 1's memory seen through the window",
    "PAST": "reach past the end of their block|begin behind the end of their block",
    "FREED": "in no block of the symmetric heap that is allocated now",
    "ODD": "multiple of 8",
    "COMPARE": "9 is not a comparison",
}
LEVELS = ("none", "basic", "args", "all")


def rows(level: str, language: str = "") -> Rows:
    """The mistakes that are tried at a level."""
    column = language or ("args" if level == "all" else level)
    with (HERE / "mistakes.tsv").open() as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row[column] != "-"]


def arguments(row: dict[str, str]) -> list[str]:
    return [row[name] for name in ("call", "place", "local", "count", "pe")]


def judge(said: dict[str, str], tried: Rows, expected: Callable[[dict[str, str]], str]) -> None:
    wrong = {
        row["name"]: said.get(row["name"], "nothing")
        for row in tried
        if not re.search(expected(row), said.get(row["name"], "nothing"))
    }
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())


def run_all(tried: Rows, *command: object, **environment: str) -> dict[str, str]:
    """Return the result of each case, from a program that continues after an error."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ATOLL_", "SHMEM_", "SMA_"))}
    lines = "".join(" ".join([row["name"], *arguments(row)]) + "\n" for row in tried)
    done = subprocess.run(
        [str(part) for part in command], input=lines, capture_output=True, text=True, check=False, timeout=100,
        env=kept | {"ATOLL_HEAP_SIZE": str(HEAP_BYTES)} | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)


@pytest.mark.parametrize("level", LEVELS[:-1])  # a job each; test_checks.py has all of them at `all`
def test_in_c(level: str, program: Callable[[str], Path], oshrun: Run) -> None:
    said = {}
    tried = rows(level)
    for row in tried:
        done = oshrun(
            2, program("mistakes"), *arguments(row), HEAP_BYTES, ATOLL_CHECK=level,
            ATOLL_HEAP_SIZE=str(HEAP_BYTES),
        )  # fmt: skip
        said[row["name"]] = done.stdout + done.stderr
        refused = row[level] != "ok"
        assert (done.returncode == 1) == refused, f"{row['name']}: {done.stdout}{done.stderr}"
        assert "shmem_" in done.stderr or not refused, done.stderr
    judge(said, tried, lambda row: SAID[row[level]])


@pytest.fixture(scope="module")
def in_cpp(tree: Path, tmp_path_factory: pytest.TempPathFactory, start: Run) -> Path:
    target = tmp_path_factory.mktemp("mistakes") / "mistakes"
    done = start(
        os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{tree}/include",
        HERE / "programs/mistakes.cpp", f"-L{tree}/lib", f"-Wl,-rpath,{tree}/lib", "-latoll", "-o", target,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.parametrize("level", LEVELS)
def test_in_cpp(level: str, in_cpp: Path, tree: Path) -> None:
    tried = rows(level)
    said = run_all(tried, tree / "bin/atoll", "run", "-n", 2, "--timeout", 60, in_cpp, ATOLL_CHECK=level)
    assert said["heap"] == str(HEAP_BYTES)
    column = "args" if level == "all" else level
    judge(said, tried, lambda row: SAID[row[column]])


@pytest.mark.parametrize("level", LEVELS)
def test_in_python(level: str, tree: Path) -> None:
    """Python checks its own arrays at each level, but PE numbers only where checks are on."""
    tried = [row for row in rows(level, "python") if row["python"] != "PeError" or row.get(level) != "-"]
    command = [
        tree / "bin/atoll",
        "run",
        "-n",
        2,
        "--timeout",
        60,
        sys.executable,
        HERE / "programs/mistakes.py",
    ]
    said = run_all(tried, *command, ATOLL_CHECK=level)
    judge(said, tried, lambda row: SAID["ok"] if row["python"] == "ok" else f"^{row['python']}: ")


def test_the_defaults(program: Callable[[str], Path], oshrun: Run, in_cpp: Path, tree: Path) -> None:
    """`basic` in C and C++, `args` in Python."""
    row = next(row for row in rows("basic") if row["name"] == "put_past_block")
    done = oshrun(2, program("mistakes"), *arguments(row), HEAP_BYTES)
    assert done.returncode == 0 and "came back" in done.stdout, done.stderr
    row = next(row for row in rows("basic") if row["name"] == "put_to_stack")
    done = oshrun(2, program("mistakes"), *arguments(row), HEAP_BYTES)
    assert done.returncode == 1 and re.search(SAID["OUTSIDE"], done.stderr), done.stderr
    job = (tree / "bin/atoll", "run", "-n", 2, "--timeout", 60)
    said = run_all(rows("basic"), *job, in_cpp)
    judge(said, rows("basic"), lambda row: SAID[row["basic"]])
    code = "import atoll; atoll.init()"
    done = subprocess.run(
        [*map(str, job), sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100,
        env={k: v for k, v in os.environ.items() if k != "ATOLL_CHECK"} | {"ATOLL_INFO": "1"},
    )  # fmt: skip
    assert "ATOLL_CHECK = args (default)" in done.stderr, done.stderr
