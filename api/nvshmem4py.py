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

from package_names import Names, as_json, offered

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
PARTS = ("rma", "direct", "amo", "collective", "mem")


def of_package(core: Path) -> dict[str, Names]:
    """Return the names of each module of nvshmem.core: those of the package itself in one."""
    merged: Names = {}
    for module in MODULES:
        merged.update(offered(core / f"{module}.py"))
    found = {"nvshmem.core": merged, "nvshmem.core.utils": offered(core / "utils.py", every=True)}
    for module in OTHERS:
        folder = core / module
        names: Names = offered(folder.with_suffix(".py")) if folder.with_suffix(".py").exists() else {}
        for part in PARTS:
            if (folder / f"{part}.py").exists():
                names.update(dict.fromkeys(offered(folder / f"{part}.py")))
        if names:
            found[f"nvshmem.core.{module.replace('/', '.')}"] = dict(sorted(names.items()))
    return {module: dict(sorted(names.items())) for module, names in found.items()}


def read() -> tuple[dict[str, Names], dict[str, Names], dict[str, dict[str, str]]]:
    """Return NVSHMEM4Py's names, ours, and the table of differences."""
    table: dict[str, dict[str, str]] = tomllib.loads((ROOT / "api/nvshmem4py.toml").read_text())
    return json.loads(NAMES.read_text()), of_package(OURS), table


def counts() -> tuple[int, int, int]:
    """Return how many names of the host's modules work as there, work with a difference, and are refused."""
    theirs, ours, table = read()
    refused = sum(name in table["refused"] for name in qualified(theirs, ours))
    differs = sum(name in table["differs"] for name in qualified(theirs, ours))
    return len(qualified(theirs, ours)) - refused - differs, differs, refused


def qualified(theirs: dict[str, Names], ours: dict[str, Names]) -> list[str]:
    """Return the names of NVSHMEM4Py's modules that exist here, with their modules."""
    return [f"{module}.{name}" for module in ours for name in theirs[module]]


def page() -> str:
    """Return docs/nvshmem4py-coverage.md."""
    theirs, ours, table = read()
    same, differs, refused = counts()
    total = same + differs + refused
    missing = {module: len(theirs[module]) for module in table["modules"]}
    lines = [
        "# NVSHMEM4Py's names on Atoll",
        "",
        "`python3 api/nvshmem4py.py page` prints this page from `api/nvshmem4py.toml` and `api/nvshmem4py_names.json`, the",
        "names of NVSHMEM4Py 0.4.1. [From NVSHMEM4Py](from-nvshmem4py.md#run-it-unchanged) tells how to run its programs.",
        "",
        f"Of the {total} names of `nvshmem.core` and `nvshmem.core.utils` {100 * (same + differs) / total:.0f} % work: {same} as there,",
        f"{differs} with a difference. The other {refused} raise NvshmemError with the reason. Another {sum(missing.values())} names are",
        "in modules that cannot be imported. Kernels have these operations by Atoll's names.",
        "",
        "| name | here |",
        "|---|---|",
    ]
    for name in qualified(theirs, ours):
        why = table["refused"].get(name)
        text = f"Refused. {why}" if why else table["differs"].get(name, "")
        lines.append(f"| `{name.removeprefix('nvshmem.core.')}` | {text} |")
    lines += ["", "| module | names | why it cannot be imported |", "|---|---|---|"]
    lines += [f"| `{module}` | {missing[module]} | {why} |" for module, why in table["modules"].items()]
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
