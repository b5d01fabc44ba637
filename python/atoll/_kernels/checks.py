"""The number (device::Operation) by which a kernel's report names a check of a PE or an address."""

from __future__ import annotations

from .._ptx import AT
from .documentation import table


def _names() -> set[str]:
    """Return the names of all checks: the keys `check` and `check_LANGUAGE` of the table."""
    operations = table()["operations"].values()
    return {value for one in operations for key, value in one.items() if key.startswith("check")}


CHECKS = {name: AT.get(f"check {name}") or AT[name] for name in sorted(_names())}
