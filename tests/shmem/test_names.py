"""The names that libatoll_shmem.so exports, against this folder's own list of OpenSHMEM 1.6's names."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]

HERE = Path(__file__).parent
EXTENSIONS = {
    "shmemx_float_atomic_add", "shmemx_double_atomic_add", "shmemx_float_atomic_fetch_add",
    "shmemx_double_atomic_fetch_add", "shmemx_int_sum_reduce_scatter", "shmemx_long_sum_reduce_scatter",
    "shmemx_float_sum_reduce_scatter", "shmemx_double_sum_reduce_scatter", "shmemx_team_split", "shmemx_last_error",
    "shmemx_team_get_unique_id", "shmemx_team_init",
    "shmemx_init_callbacks",
}  # fmt: skip
# Names of the specification's families, for types that these lack there.
EXTRA_TYPES = {
    f"shmem_{kind}_{call}_{which}{vector}"
    for kind in ("short", "ushort")
    for call in ("wait_until", "test")
    for which in ("all", "any", "some")
    for vector in ("", "_vector")
}


def names() -> set[str]:
    """The specification's."""
    return {line.split("\t")[1] for line in (HERE / "names.tsv").read_text().splitlines()}


def test_the_list_is_whole() -> None:
    assert len(names()) == 1788


def test_the_library_exports_the_names_and_nothing_else(tree: Path, start: Run) -> None:
    done = start("nm", "-D", "--defined-only", tree / "lib" / "libatoll_shmem.so")
    symbols = dict(reversed(line.split()[-2:]) for line in done.stdout.splitlines())
    twins = names() | EXTRA_TYPES
    assert symbols.keys() == twins | {f"p{name}" for name in twins} | EXTENSIONS
    assert all(symbols[name] in "WV" for name in twins), "a tool must be able to put its own in their place"
    assert all(symbols[f"p{name}"] == "T" for name in twins)


def test_every_name_is_called_by_a_test() -> None:
    text = "".join(
        file.read_text()
        for file in [*HERE.glob("*.c"), *HERE.glob("*.cpp"), *HERE.glob("*/*.c"), HERE / "sweep.h"]
    )
    called = set(re.findall(r"\b\w+\b", text))
    assert not {name for name in names() if name not in called}
    # Macros call these, and put the type's name before the rest of the name.
    assert not {name for name in EXTRA_TYPES if f"_{name.split('_', 2)[2]}" not in called}
    assert {name for name in EXTENSIONS - called if "_int_" not in name and "_float_sum" not in name} <= {
        "shmemx_double_sum_reduce_scatter"
    }, "of the extensions' types one is enough"
