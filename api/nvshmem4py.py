"""NVSHMEM4Py's public names beside those of atoll.nvshmem.

    python3 api/nvshmem4py.py names FOLDER    prints the names that the package in FOLDER offers, as JSON
    python3 api/nvshmem4py.py page            prints docs/nvshmem4py-coverage.md

nvshmem4py_names.json was printed once, from the sources of nvshmem4py-cu13 0.4.1 of PyPI (pip download --no-deps). Both
packages are read as text, so that neither needs a GPU.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import tomllib

sys.path.insert(0, str(Path(__file__).resolve().parent))

from package_names import Names, as_json, in_kernels, literal, offered

ROOT = Path(__file__).resolve().parent.parent
OURS = ROOT / "python/atoll/nvshmem"
NAMES = ROOT / "api/nvshmem4py_names.json"
MODULES = (
    "init_fini",
    "nvshmem_types",
    "memory",
    "interop/cupy",
    "interop/torch",
    "direct",
    "collective",
    "rma",
    "amo",
    "teams",
)
OTHERS = ("interop/cute", "device/numba", "device/numba_cuda_mlir", "device/cute")
MLIR, NUMBA = "device/numba_cuda_mlir", "nvshmem.core.device.numba"
PARTS = ("rma", "direct", "amo", "collective", "mem")


def of_package(core: Path) -> dict[str, Names]:
    """Return the names of each module of nvshmem.core: those of the package itself in one."""
    merged: Names = {}
    for module in MODULES:
        merged.update(offered(core / f"{module}.py"))
    found = {"nvshmem.core": merged, "nvshmem.core.utils": offered(core / "utils.py", every=True)}
    for module in OTHERS:
        folder, file = core / module, (core / module).with_suffix(".py")
        names: Names = {}
        for part in PARTS:
            if (folder / f"{part}.py").exists():
                # collective.py has what direct.py only names again.
                names |= {
                    one: of
                    for one, of in in_kernels(folder / f"{part}.py").items()
                    if of is not None or one not in names
                }
        if module == MLIR and file.exists():  # all names of device/numba but some
            left_out = literal(file, "LEFT_OUT")
            names = {one: of for one, of in found[NUMBA].items() if one not in left_out}
        elif file.exists():
            names = offered(file)
        if names:
            found[f"nvshmem.core.{module.replace('/', '.')}"] = dict(sorted(names.items()))
    return {module: dict(sorted(names.items())) for module, names in found.items()}


def read() -> tuple[dict[str, Names], dict[str, Names], dict[str, dict[str, str]]]:
    """Return NVSHMEM4Py's names, ours, and the table of differences."""
    table: dict[str, dict[str, str]] = tomllib.loads((ROOT / "api/nvshmem4py.toml").read_text())
    return json.loads(NAMES.read_text()), of_package(OURS), table


def counts() -> tuple[int, int, int]:
    """Return the numbers of names of the host's modules that work as in NVSHMEM4Py, that differ, and that are refused."""
    theirs, ours, table = read()
    refused = sum(name in table["refused"] for name in qualified(theirs, ours))
    differs = sum(name in table["differs"] for name in qualified(theirs, ours))
    return len(qualified(theirs, ours)) - refused - differs, differs, refused


def qualified(theirs: dict[str, Names], ours: dict[str, Names]) -> list[str]:
    """Return the names of NVSHMEM4Py's modules that exist here, with their modules."""
    return [f"{module}.{name}" for module in ours for name in theirs[module]]


def shown(module: str, names: list[str], table: dict[str, dict[str, str]]) -> list[str]:
    """Return the rows of a module's names: all of nvshmem.core's, and those of others that differ or are refused."""
    rows = []
    for name in names:
        full = f"{module}.{name}"
        why, differs = table["refused"].get(full), table["differs"].get(full)
        if why or differs or not module.startswith(("nvshmem.core.device", "nvshmem.core.interop")):
            text = f"Refused. {why}" if why else differs or ""
            rows.append(f"| `{full.removeprefix('nvshmem.core.')}` | {text} |")
    return rows


def page() -> str:
    """Return docs/nvshmem4py-coverage.md."""
    theirs, ours, table = read()
    same, differs, refused = counts()
    total = same + differs + refused
    meaningless = sum("ulticast" in name for name in table["refused"])
    with_meaning = total - meaningless
    lines = [
        "# NVSHMEM4Py's names on Atoll",
        "",
        f"Of the {total} names of `nvshmem.core` and its modules {100 * (same + differs) / total:.1f} % work: {same} as there, {differs} with a",
        f"difference. The other {refused} raise an error with the reason; in a kernel it is one of the compiler.",
        f"Of these, {meaningless} are for multicast memory, which Atoll has not; without them {100 * (same + differs) / with_meaning:.1f} % work.",
        "",
        "[From NVSHMEM4Py](from-nvshmem4py.md#run-it-unchanged) tells how to run its programs. The names are those of NVSHMEM4Py",
        "0.4.1: `python3 api/nvshmem4py.py page` prints this page from `api/nvshmem4py.toml` and `api/nvshmem4py_names.json`.",
        "",
        "| module | names | as there | with a difference | refused |",
        "|---|---|---|---|---|",
    ]
    for module in ours:
        names = [f"{module}.{name}" for name in theirs[module]]
        no, but = (sum(name in table[kind] for name in names) for kind in ("refused", "differs"))
        lines.append(f"| `{module}` | {len(names)} | {len(names) - no - but} | {but} | {no} |")
    lines += [
        "",
        "Kernels reach the PEs of one host. On a job of several hosts they end with a sentence about it. The parameters of",
        "all functions are compared with NVSHMEM4Py's by a test. Of the modules for kernels and of `interop.cute` the table lists",
        "the names that differ; the others work as there.",
        "",
        "| name | here |",
        "|---|---|",
    ]
    for module in ours:
        lines += shown(module, list(theirs[module]), table)
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> Any:
    """Run a command of the module's docstring."""
    if arguments[:1] == ["names"] and len(arguments) == 2:
        found = of_package(Path(arguments[1]) / "nvshmem/core")
        print(as_json(found))
    elif arguments == ["page"]:
        print(page(), end="")
    else:
        sys.exit("usage: python3 api/nvshmem4py.py (names FOLDER | page)")


if __name__ == "__main__":
    main(sys.argv[1:])
