"""Checks that CuTe DSL is installed, in a supported version."""

# mypy: ignore-errors
from __future__ import annotations

from .._versions import need

need("atoll.cute", "cute")
