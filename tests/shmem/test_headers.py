"""The headers: every language they promise, each alone, and only the specification's names in them."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
HEADERS = ["shmem.h", "shmemx.h", "pshmem.h", "mpp/shmem.h", "mpp/shmemx.h"]
LANGUAGES = [
    *[("c", compiler, f"c{year}") for compiler in ("gcc", "clang") for year in (99, 11, 17)],
    *[("c++", compiler, f"c++{year}") for compiler in ("g++", "clang++") for year in (11, 14, 17, 20)],
]


@pytest.mark.parametrize(("language", "compiler", "standard"), LANGUAGES)
def test_headers_compile_alone(
    language: str, compiler: str, standard: str, tree: Path, tmp_path: Path, start: Run
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    for header in HEADERS:
        source = tmp_path / "alone.c"
        source.write_text(f"#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n")
        flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{tree}/include", f"-std={standard}"]
        done = start(compiler, "-x", language, "-fsyntax-only", *flags, source)
        assert done.returncode == 0, f"{header}:\n{done.stderr[:2000]}"


def macros(tree: Path, tmp_path: Path, text: str, start: Run) -> set[str]:
    """Names of all macros that are defined after `text`."""
    source = tmp_path / "macros.c"
    source.write_text(text)
    done = start("gcc", "-std=c11", "-dM", "-E", f"-I{tree}/include", source)
    return set(re.findall(r"#define (\w+)", done.stdout))


def test_the_header_defines_only_names_of_the_specification(tree: Path, tmp_path: Path, start: Run) -> None:
    standard = macros(
        tree, tmp_path, start=start, text="#include <stddef.h>\n#include <stdint.h>\n#include <complex.h>\n"
    )
    ours = macros(tree, tmp_path, start=start, text="#include <stddef.h>\n#include <shmem.h>\n") - standard
    strangers = {name for name in ours if not re.match(r"_?SHMEM_|shmem_|ATOLL_SHMEM_", name)}
    assert not strangers
    assert "SHMEM_DEF_H" not in ours and "SHMEM_FUNCTION_ATTRIBUTES" not in ours


def test_global_exit_does_not_return(tree: Path, tmp_path: Path, start: Run) -> None:
    source = tmp_path / "noreturn.c"
    source.write_text(
        "#include <shmem.h>\nint main(void) { shmem_global_exit(0); }\nint f(void) { shmem_global_exit(1); }\n"
    )
    done = start(
        "gcc", "-std=c11", "-Wall", "-Wreturn-type", "-Werror", "-fsyntax-only", f"-I{tree}/include", source
    )
    assert done.returncode == 0, done.stderr


def test_a_generic_on_an_unknown_type_is_refused(tree: Path, tmp_path: Path, start: Run) -> None:
    source = tmp_path / "unknown.c"
    source.write_text(
        "#include <shmem.h>\nstruct s { int i; } a, b;\nvoid f(void) { shmem_put(&a, &b, 1, 0); }\n"
    )
    assert start("gcc", "-std=c11", "-fsyntax-only", f"-I{tree}/include", source).returncode != 0


def test_facts_that_shmem4py_relies_on(tree: Path, tmp_path: Path, start: Run) -> None:
    """Its build sees a library as plain 1.5 by two macros, which oshcc passes, and takes these for granted."""
    source = tmp_path / "facts.c"
    source.write_text(
        "#include <shmem.h>\n"
        "#if !defined(SHMEM_DEF_H) || !defined(SHMEM_FUNCTION_ATTRIBUTES)\n#error macros\n#endif\n"
        "_Static_assert(sizeof(SHMEM_VENDOR_STRING) > 1, SHMEM_VENDOR_STRING);\n"
        "_Static_assert(sizeof(shmem_team_config_t) == sizeof(int), \"one int\");\n"
        "static shmem_team_config_t config = {.num_contexts = 1};\n"
        "static const void* handles[] = {(shmem_ctx_t)0, (shmem_team_t)0};\n"
        "static long sync[SHMEM_BARRIER_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE +\n"
        "    SHMEM_REDUCE_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_ALLTOALLS_SYNC_SIZE + SHMEM_SYNC_SIZE +\n"
        "    SHMEM_REDUCE_MIN_WRKDATA_SIZE] = {SHMEM_SYNC_VALUE};\n"
        "int main(void) { return handles[config.num_contexts] != 0 || sync[0] != SHMEM_SYNC_VALUE; }\n"
    )  # fmt: skip
    done = start(tree / "bin" / "oshcc", "-std=c11", "-Wall", "-Werror", source, "-o", tmp_path / "facts")
    assert done.returncode == 0, done.stderr
    assert start(tmp_path / "facts").returncode == 0
