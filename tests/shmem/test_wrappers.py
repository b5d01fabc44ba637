"""oshcc, oshc++, oshCC and oshrun, pkg-config and CMake: each from an installed tree that was moved."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = """
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    shmem_init();
    const char* variable = getenv("WRAPPED");
    printf("PE %d of %d %s\\n", shmem_my_pe(), shmem_n_pes(), variable ? variable : "-");
    shmem_finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM)
    return file


@pytest.mark.parametrize("wrapper", ["oshcc", "oshc++", "oshCC"])
def test_compile_and_run(wrapper: str, tree: Path, source: Path, tmp_path: Path, start: Run) -> None:
    done = start(tree / "bin" / wrapper, source.name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for count in ("-n", "-np"):
        done = start(tree / "bin" / "oshrun", count, 3, "-x", "WRAPPED=yes", "./a.out", cwd=tmp_path)
        assert sorted(done.stdout.splitlines()) == [f"PE {pe} of 3 yes" for pe in range(3)], done.stderr
    done = start(
        tree / "bin" / "oshrun", "-n", 2, "-x", "WRAPPED", "./a.out", 7, cwd=tmp_path, WRAPPED="here"
    )
    assert done.returncode == 7 and "PE 1 of 2 here" in done.stdout


def test_steps(tree: Path, source: Path, tmp_path: Path, start: Run) -> None:
    oshcc = tree / "bin" / "oshcc"
    for step, result in (("-c", "program.o"), ("-S", "program.s")):
        done = start(oshcc, step, source.name, cwd=tmp_path)
        assert done.returncode == 0 and not done.stderr and (tmp_path / result).exists()
    done = start(oshcc, "-E", source.name, cwd=tmp_path)
    assert done.returncode == 0 and "shmem_init" in done.stdout
    assert start(oshcc, "program.o", "-o", "linked", cwd=tmp_path).returncode == 0
    assert start(tmp_path / "linked").stdout == "PE 0 of 1 -\n"
    assert start(oshcc, "-shared", "-fPIC", source.name, "-o", "libprogram.so", cwd=tmp_path).returncode == 0
    assert "libatoll_shmem.so" in start("readelf", "-d", tmp_path / "libprogram.so").stdout
    assert start(oshcc, "--version").returncode == 0
    assert start(oshcc, "-DBROKEN(", source.name, cwd=tmp_path).returncode != 0


def test_show_says_what_would_be_done(tree: Path, source: Path, tmp_path: Path, start: Run) -> None:
    said = start(tree / "bin" / "oshcc", "-show", source.name, cwd=tmp_path).stdout.split()
    assert f"-I{tree}/include" in said and "-latoll_shmem" in said and not (tmp_path / "a.out").exists()
    assert "-latoll_shmem" not in start(tree / "bin" / "oshcc", "-show", "-c", source.name).stdout
    other = start(tree / "bin" / "oshcc", "-show", source.name, SHMEM_CC="other-cc")
    assert other.stdout.startswith("other-cc ")


@pytest.mark.parametrize("dashes", ["-", "--"])
def test_parts_of_the_flags_compile_and_link(
    dashes: str, tree: Path, source: Path, tmp_path: Path, start: Run
) -> None:
    oshcc = tree / "bin" / "oshcc"
    compile_flags = start(oshcc, f"{dashes}showme:compile").stdout.split()
    link_flags = start(oshcc, f"{dashes}showme:link").stdout.split()
    assert "-latoll_shmem" not in compile_flags and f"-I{tree}/include" not in link_flags
    assert start("gcc", *compile_flags, "-c", source.name, cwd=tmp_path).returncode == 0
    assert start("gcc", "program.o", *link_flags, cwd=tmp_path).returncode == 0
    assert start(tmp_path / "a.out").stdout == "PE 0 of 1 -\n"
    by_nvcc = start(oshcc, "-showme:link", SHMEM_CC="nvcc").stdout
    assert f"-Xlinker -rpath={tree}/lib" in by_nvcc and "-Wl" not in by_nvcc


def test_help_is_of_the_wrapper(tree: Path, start: Run) -> None:
    done = start(tree / "bin" / "oshc++", "--help")
    assert done.returncode == 0 and "\nUsage: oshc++ [OPTIONS] FILES\n" in done.stdout, done.stdout


def test_by_a_link_and_by_path(tree: Path, source: Path, tmp_path: Path, start: Run) -> None:
    (tmp_path / "cc").symlink_to(tree / "bin" / "oshcc")
    assert start(tmp_path / "cc", source.name, cwd=tmp_path).returncode == 0
    path = f"{tree / 'bin'}:{os.environ['PATH']}"
    assert (
        start(
            "sh", "-c", "oshcc program.c -o other && oshrun -n 2 ./other", cwd=tmp_path, PATH=path
        ).returncode
        == 0
    )


def test_oshrun_of_what_cannot_run(oshrun: Run, tmp_path: Path) -> None:
    assert oshrun(2, tmp_path / "missing").returncode == 127
    (tmp_path / "text").write_text("no program")
    assert oshrun(2, tmp_path / "text").returncode == 126


def test_pkg_config(tree: Path, source: Path, tmp_path: Path, start: Run) -> None:
    flags = start(
        "pkg-config", "--cflags", "--libs", "atoll-shmem", PKG_CONFIG_PATH=f"{tree}/lib/pkgconfig"
    ).stdout
    assert start("gcc", source.name, *flags.split(), cwd=tmp_path).returncode == 0
    assert start(tmp_path / "a.out").stdout == "PE 0 of 1 -\n"


def test_cmake_target(tree: Path, source: Path, tmp_path: Path, start: Run) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(consumer C)\nfind_package(atoll REQUIRED)\n"
        "add_executable(consumer program.c)\ntarget_link_libraries(consumer PRIVATE atoll::shmem)\n"
    )
    done = start("cmake", "-G", "Ninja", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tree}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert start("cmake", "--build", tmp_path / "build").returncode == 0
    assert start(tmp_path / "build" / "consumer").stdout == "PE 0 of 1 -\n"
