"""Deprecated names of the package: they work on, warn, and name their replacement (docs/versioning.md)."""

from __future__ import annotations

import warnings

# By the old name: the name that replaces it, and the version that deprecated it.
NAMES: dict[str, tuple[str, str]] = {}


def replacement(name: str) -> str:
    """Return the name that replaces a deprecated one, with a warning to the caller's caller; else nothing."""
    if name not in NAMES:
        return ""
    ours, since = NAMES[name]
    text = f"atoll.{name} is deprecated since {since}; use atoll.{ours}"
    warnings.warn(text, DeprecationWarning, stacklevel=3)
    return ours
