"""Errors name the call sites of C and C++ programs: file and line with debug information, else function and offset."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAMS = Path(__file__).parent / "programs"


def line_of(source: str, call: str) -> int:
    lines = (PROGRAMS / source).read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.endswith(f"// LINE {call}"))


def compiled(source: str, tree: Path, start: Run, folder: Path, *options: str) -> Path:
    target = folder / "program"
    if source.endswith(".c"):
        command = [str(tree / "bin/oshcc"), *options]
    else:
        command = [os.environ.get("CXX", "c++"), "-std=c++20", f"-I{tree}/include", *options]
    libraries = [f"-L{tree}/lib", f"-Wl,-rpath,{tree}/lib", "-latoll"] if source.endswith(".cpp") else []
    done = start(*command, PROGRAMS / source, *libraries, "-o", target)
    assert done.returncode == 0, done.stderr
    return target


def said_by(program: Path, tree: Path, start: Run) -> str:
    done = start(tree / "bin/atoll", "run", "-n", 2, "--timeout", 60, program)
    assert done.returncode != 0, done.stdout
    said = re.search(r"PE 0 called .*", done.stderr)
    assert said, done.stderr
    return said[0]


@pytest.mark.parametrize(
    "options", ["-O0 -g", "-O2 -g", "-O2 -g -gdwarf-4", "-O0 -g -gdwarf-2 -gstrict-dwarf"]
)
def test_a_line_of_c(options: str, tree: Path, start: Run, tmp_path: Path) -> None:
    said = said_by(compiled("call_site.c", tree, start, tmp_path, *options.split()), tree, start)
    for call in ("barrier", "sum_reduce"):
        place = (
            rf"call_site\.c:{line_of('call_site.c', call.removeprefix('sum_'))} \(\w+(\.\S+)?\+0x[0-9a-f]+\)"
        )
        assert re.search(rf"called {call}\([^)]*\) at {place}", said), said


def test_a_line_of_cpp_through_our_headers(tree: Path, start: Run, tmp_path: Path) -> None:
    said = said_by(compiled("call_site.cpp", tree, start, tmp_path, "-O0", "-g"), tree, start)
    for call in ("barrier", "sum_reduce"):
        place = rf"call_site\.cpp:{line_of('call_site.cpp', call.removeprefix('sum_'))} \(main\+0x[0-9a-f]+\)"
        assert re.search(rf"called {call}\([^)]*\) at {place}", said), said


@pytest.mark.parametrize("options", ["-O2 -g", "-O2 -g -gdwarf-4"])
def test_the_line_before_inlined_functions_of_our_headers(
    options: str, tree: Path, start: Run, tmp_path: Path
) -> None:
    """A compiler may inline more or less, and move code by a line or two: only the function is sure."""
    said = said_by(compiled("call_site.cpp", tree, start, tmp_path, *options.split()), tree, start)
    near = r"(main\+0x[0-9a-f]+, near call_site\.cpp:\d+|call_site\.cpp:\d+ \(main\+0x[0-9a-f]+\))"
    for call in ("barrier", "sum_reduce"):
        assert re.search(rf"called {call}\([^)]*\) at {near}", said), said


@pytest.mark.parametrize("options", ["-O1 -g0", "-O1 -g -gz=zlib"])
def test_a_function_where_no_line_can_be_read(options: str, tree: Path, start: Run, tmp_path: Path) -> None:
    said = said_by(
        compiled("call_site.c", tree, start, tmp_path, "-fno-inline", *options.split()), tree, start
    )
    assert re.search(r"barrier\(\) at meet\+0x[0-9a-f]+ \(program\)", said), said
    assert re.search(r"reduce\(.*\) at add\+0x[0-9a-f]+ \(program\)", said), said


def test_an_offset_where_all_names_are_gone(tree: Path, start: Run, tmp_path: Path) -> None:
    said = said_by(compiled("call_site.c", tree, start, tmp_path, "-O1", "-s"), tree, start)
    assert re.search(r"barrier\(\) at (main|program)\+0x[0-9a-f]+", said), said


@pytest.mark.parametrize(
    ("mistake", "before", "after"),
    [
        ("wait", "wait_until on byte 8 of the 64 bytes allocated at ", ": found 0"),
        ("past", "reach past the end of their block.* Block: the 64 bytes allocated at ", r"\."),
        ("inside", "inside a block.* Block: byte 16 of the 64 bytes allocated at ", r"\."),
        ("freed", "freed already.* Block: byte 24 of the 64 bytes allocated at ", r", freed since\."),
    ],
)
def test_errors_name_the_allocation_of_a_block(
    mistake: str, before: str, after: str, tree: Path, start: Run, tmp_path: Path
) -> None:
    program = compiled("allocation_site.c", tree, start, tmp_path, "-O0", "-g")
    settings = {"ATOLL_CHECK": "args", "ATOLL_WAIT_TIMEOUT": "0.1"}
    done = start(tree / "bin/atoll", "run", "-n", 1, program, mistake, **settings)
    assert done.returncode != 0
    line = line_of("allocation_site.c", "allocation")
    place = rf"allocation_site\.c:{line} \(main\+0x[0-9a-f]+\)"
    assert re.search(before + place + after, done.stderr), done.stderr
