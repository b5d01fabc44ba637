"""Fingerprints of the sources of kernels, by which a cache keeps kernels of other sources apart."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from . import ptx


@functools.cache
def fingerprint(language: str) -> str:
    """Return a hash of a language's sources, of what it shares with others, and of the layout of memory."""
    package = Path(__file__).parents[1]
    parts = ("ptx", "constants", "tracing", "checking", "rules")
    shared = [package / f"_kernels/{name}.py" for name in parts]
    shared += sorted((package / "_kernels/bodies").glob("*.py"))
    if language == "numba":  # functions of other modules that kernels inline
        shared += [
            package / name for name in ("arrays/numba.py", "arrays/_kernel_view.py", "nbshmem/device.py")
        ]
    shared += [package / "nvshmem/device/_table.py"]
    sources = [*(package / language).rglob("*.py"), *(package / "nvshmem/device" / language).rglob("*.py")]
    text = b"".join(file.read_bytes() for file in [*sorted(sources), *shared])
    layout = repr((sorted(ptx.AT.items()), ptx.CHECKS_ADDRESSES, ptx.TRACES))
    return hashlib.sha256(text + layout.encode()).hexdigest()
