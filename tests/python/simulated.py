"""Atoll with a GPU made of memory of the host (tests/simulated): a copy of the package in which that stands in for
libatoll_cuda.so."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from jobs import ROOT

# The editable package's finder stands before all of sys.path; here the copy is meant.
SITE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "Scikit" not in type(finder).__name__]
"""


def plugin() -> Path:
    return ROOT / "build/release/simulated/libatoll_cuda.so"


needs_plugin = pytest.mark.skipif(
    not plugin().exists(), reason="no simulated GPU: build the target atoll_cuda_simulated"
)


def make_package(folder: Path) -> Path:
    """Lay out the package in `folder`; that folder is for PYTHONPATH."""
    spec = importlib.util.find_spec("atoll._atoll")
    assert spec is not None
    assert spec.origin is not None
    built = Path(spec.origin)
    package = folder / "atoll"
    (package / "lib").mkdir(parents=True)
    for source in (ROOT / "python/atoll").iterdir():
        if source.name != "__pycache__":
            (package / source.name).symlink_to(source)
    (package / built.name).symlink_to(built)
    for library in built.parent.joinpath("lib").glob("libatoll*.so*"):
        (package / "lib" / library.name).symlink_to(
            plugin() if library.name == "libatoll_cuda.so" else library
        )
    if not (package / "lib/libatoll_cuda.so").exists():
        (package / "lib/libatoll_cuda.so").symlink_to(plugin())
    (folder / "sitecustomize.py").write_text(SITE)
    return folder
