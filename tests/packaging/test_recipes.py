"""The recipes of packaging/ agree with the build; `make packages` takes their steps in a clean Debian."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def options_of_the_build() -> set[str]:
    texts = [
        path.read_text() for path in (ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake")))
    ]
    return set(re.findall(r"^ *(?:option\(|set\()(ATOLL_\w+)(?= \"|.* CACHE )", "".join(texts), re.MULTILINE))


def test_spack_passes_options_that_the_build_has() -> None:
    run = subprocess.run(
        [sys.executable, ROOT / "packaging/spack/options.py"], capture_output=True, text=True, check=True
    )
    passed = dict(re.fullmatch(r"-D(\w+):BOOL=(ON|OFF)", line).groups() for line in run.stdout.splitlines())  # type: ignore[union-attr]
    assert passed["ATOLL_PYTHON"] == passed["ATOLL_CUDA"] == "OFF", passed
    assert passed.keys() <= options_of_the_build()


def test_debian_passes_options_that_the_build_has() -> None:
    passed = set(re.findall(r"-D(ATOLL_\w+)=", (ROOT / "packaging/debian/rules").read_text()))
    assert "ATOLL_PYTHON" in passed and passed <= options_of_the_build()


def test_conda_has_the_version_of_the_build() -> None:
    (version,) = re.findall(r"project\(atoll VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text()
    assert re.findall(r"^  version: ([0-9.]+)$", recipe, re.MULTILINE) == [version]
