"""Whether CuTe DSL is there, and new enough."""

# mypy: ignore-errors
from __future__ import annotations

from .._versions import need

need("atoll.cute", "cute")
