"""Typical OpenSHMEM programs, built unmodified by oshcc in every language that they are valid in, and run."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAMS = sorted((Path(__file__).parent / "programs" / "usage").iterdir())
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
STANDARDS = {".c": ["c99", "c11", "c17"], ".cc": ["c++11", "c++14", "c++17", "c++20"]}
COMPILERS = {".c": ["gcc", "clang"], ".cc": ["g++", "clang++"]}
WRAPPER = {".c": "oshcc", ".cc": "oshc++"}


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda source: source.name)
def test_it_compiles_everywhere(source: Path, tree: Path, start: Run) -> None:
    for standard in STANDARDS[source.suffix]:
        if source.name == "generic.c" and standard == "c99":
            continue  # the program uses features of C11
        for compiler in COMPILERS[source.suffix]:
            if not shutil.which(compiler):
                continue
            done = start(compiler, f"-std={standard}", *STRICT, "-fsyntax-only", f"-I{tree}/include", source)
            assert done.returncode == 0, f"{compiler} -std={standard}:\n{done.stderr[:2000]}"


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda source: source.name)
def test_it_runs(source: Path, tree: Path, tmp_path: Path, start: Run, oshrun: Run) -> None:
    target = tmp_path / source.stem
    done = start(tree / "bin" / WRAPPER[source.suffix], *STRICT, source, "-o", target)
    assert done.returncode == 0, done.stderr[:2000]
    for n, check in ((1, "none"), (3, "all"), (4, "basic")):
        done = oshrun(n, target, ATOLL_CHECK=check)
        assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.parametrize("compiler", ["clang", "clang++", "nvcc"])
def test_the_wrapper_calls_the_compiler_that_is_named(
    compiler: str, tree: Path, tmp_path: Path, start: Run, oshrun: Run
) -> None:
    """With static data, which must be found in what that compiler links."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / ("kernel.cu" if compiler == "nvcc" else "count.c")
    source.write_text(
        "#include <shmem.h>\nstatic long count;\n"
        + ("__global__ void twice(long* x) { *x *= 2; }\n" if compiler == "nvcc" else "")
        + "int main(void) {\n    shmem_init();\n    shmem_long_atomic_inc(&count, 0);\n    shmem_barrier_all();\n"
        "    long seen = shmem_long_g(&count, 0);\n    shmem_finalize();\n    return seen != 2;\n}\n"
    )
    variable, wrapper = ("SHMEM_CC", "oshcc") if compiler == "clang" else ("SHMEM_CXX", "oshc++")
    done = start(tree / "bin" / wrapper, source, "-o", tmp_path / "count", **{variable: compiler})
    assert done.returncode == 0, done.stderr[:2000]
    assert oshrun(2, tmp_path / "count").returncode == 0


@pytest.mark.parametrize("launcher", ["oshrun", "nvshmrun"])
def test_the_launchers_have_a_version(launcher: str, tree: Path, start: Run) -> None:
    wanted = start(tree / "bin/atoll", "--version").stdout
    done = start(tree / "bin" / launcher, "--version")
    assert (done.returncode, done.stdout) == (0, wanted) and wanted.startswith("atoll ")


@pytest.mark.parametrize(
    "asked", ["", "COMPONENTS atoll shmem nvshmem", "OPTIONAL_COMPONENTS other", "COMPONENTS shmem other"]
)
def test_find_package_takes_components(asked: str, tree: Path, tmp_path: Path, start: Run) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(uses LANGUAGES C CXX)\n"
        f'find_package(atoll REQUIRED {asked})\nmessage(STATUS "shmem: ${{atoll_shmem_FOUND}}.")\n'
    )
    done = start("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tree}")
    if asked.endswith(" shmem other"):
        said = " ".join(done.stderr.split())
        assert done.returncode != 0
        assert "there is no component other; the components are atoll, shmem and nvshmem" in said, said
    else:
        assert done.returncode == 0, done.stderr
        assert ("shmem: TRUE." in done.stdout) == ("shmem" in asked), done.stdout


def test_words_that_old_programs_declare_volatile(
    tree: Path, tmp_path: Path, start: Run, oshrun: Run
) -> None:
    """Compiles without an error, because prototypes had `volatile` until 1.3; compilers may warn."""
    source = tmp_path / "volatile.c"
    source.write_text(
        "#include <shmem.h>\nstatic volatile long flag;\nint main(void) {\n    shmem_init();\n"
        "    shmem_atomic_add(&flag, 1L, shmem_my_pe());\n    shmem_wait_until(&flag, SHMEM_CMP_EQ, 1);\n"
        "    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);\n    shmem_finalize();\n    return 0;\n}\n"
    )
    done = start(tree / "bin" / "oshcc", "-std=c11", source, "-o", tmp_path / "volatile")
    assert done.returncode == 0, done.stderr
    assert oshrun(2, tmp_path / "volatile").returncode == 0


def test_global_exit_from_a_thread(tree: Path, tmp_path: Path, start: Run, oshrun: Run) -> None:
    """While the main thread waits in a collective that no other PE joins."""

    source = tmp_path / "thread.c"
    source.write_text(
        "#include <pthread.h>\n#include <shmem.h>\n#include <stddef.h>\n"
        "static void* leave(void* p) { shmem_global_exit(7); return p; }\nint main(void) {\n    int provided;\n"
        "    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);\n    pthread_t thread;\n"
        "    if (shmem_my_pe() == 1) pthread_create(&thread, NULL, leave, NULL);\n"
        "    if (shmem_my_pe() != 2) shmem_barrier_all();\n    for (;;) {\n    }\n}\n"
    )
    done = start(tree / "bin" / "oshcc", source, "-o", tmp_path / "thread", "-pthread")
    assert done.returncode == 0, done.stderr
    assert oshrun(3, tmp_path / "thread").returncode == 7
