"""Whether CuTe DSL is there, and new enough."""

# mypy: ignore-errors
from __future__ import annotations

import importlib.metadata

_INSTALL = "pip install -U 'nvidia-cutlass-dsl[cu13]>=4.8'"
try:
    import cutlass.cute  # noqa: F401
except ImportError as missing:
    raise ImportError(f"atoll.cute needs NVIDIA's CuTe DSL 4.8: {_INSTALL}") from missing
try:
    _found = importlib.metadata.version("nvidia-cutlass-dsl")
except importlib.metadata.PackageNotFoundError:
    _found = "4.8"  # from a source tree
if tuple(int(part) for part in _found.split(".")[:2]) < (4, 8):
    raise ImportError(f"atoll.cute needs NVIDIA's CuTe DSL 4.8 or later, and found {_found}: {_INSTALL}")
