"""The number (device::Operation) by which a kernel's report names a check of a PE or an address."""

from __future__ import annotations

from .documentation import table
from .ptx import AT

NAMES = {one["check"] for one in table()["operations"].values() if "check" in one}
CHECKS = {name: AT[name] for name in sorted(NAMES)}
