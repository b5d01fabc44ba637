"""A copy of the package with the simulated GPU (tests/simulated) in place of libatoll_cuda.so."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest
from jobs import ROOT, launcher

# The editable package's finder comes before all of sys.path; this code puts the copy before it.
SITE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "Scikit" not in type(finder).__name__]
"""


def plugin() -> Path:
    return ROOT / "build/release/simulated/libatoll_cuda.so"


needs_plugin = pytest.mark.skipif(
    not plugin().exists(), reason="no simulated GPU: build the target atoll_cuda_simulated"
)


needs_ucx = pytest.mark.skipif(
    not re.search("UCX [0-9]", subprocess.run([launcher(), "info"], capture_output=True, text=True).stdout),
    reason="no UCX was found",
)


def between(hosts: str) -> dict[str, str]:
    """Return settings of a job whose PEs are on these pretended hosts."""
    return {"ATOLL_HOST_ID": hosts, "ATOLL_TRANSPORT": "ucx", "UCX_TLS": "tcp,self"}


def make_package(folder: Path) -> Path:
    """Make the package in `folder`, which is to be in PYTHONPATH."""
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
