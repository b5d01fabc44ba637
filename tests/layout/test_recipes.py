"""CONTRIBUTING's recipes against the sources: a recipe lists all files that a change needs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
OPERATORS = ("prod", "min", "max", "b?xor")
"""Names that only a list of reduction operators has together."""
OTHERS = {"python/atoll/arrays/_updates/_atomic.py"}
"""Files with these names that list the atomics of NumPy's ufuncs."""


def recipe(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)^## ", (ROOT / "CONTRIBUTING.md").read_text(), re.S | re.M)
    assert found is not None, title
    return found[1]


def is_listed(path: str, text: str) -> bool:
    """Return whether a text names a file, or its name and its folder."""
    folder, _, name = path.rpartition("/")
    return f"`{path}`" in text or (f"`{name}`" in text and f"`{folder}`" in text)


def lists_operators(text: str) -> bool:
    return all(re.search(rf"(?<![a-z]){name}(?![a-z])", text, re.IGNORECASE) for name in OPERATORS)


def test_the_recipe_of_a_reduction_operator_lists_all_files_with_operators() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "include", "include_nvshmem", "src", "python", "api"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    written = [
        path for path in tracked.stdout.splitlines()
        if path.endswith((".hpp", ".h", ".cpp", ".cuh", ".cu", ".py", ".toml"))
        and not path.startswith("api/generated/") and path not in OTHERS
    ]  # fmt: skip
    having = [path for path in written if lists_operators((ROOT / path).read_text())]
    assert "src/common/recorder/operation_names.hpp" in having
    text = recipe("Adding a reduction operator")
    missing = [path for path in having if not is_listed(path, text)]
    assert not missing, f"add to CONTRIBUTING's recipe, or take the names from one of its files: {missing}"


def test_files_of_recipes_exist() -> None:
    named = re.findall(r"`([\w/.]+/[\w.]+\.\w+)`", recipe("Adding a reduction operator"))
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).is_file()] == []
