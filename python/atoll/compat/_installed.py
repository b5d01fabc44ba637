"""Installed packages behind the names that atoll.compat finds first."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


def spec_of(name: str) -> ModuleSpec | None:
    """Find an installed package of this name, past the finder of atoll.compat."""
    parent = name.rpartition(".")[0]
    return PathFinder.find_spec(name, sys.modules[parent].__path__ if parent in sys.modules else None)


broken: dict[str, ImportError] = {}
"""Errors of packages that are installed, and cannot be imported."""


def module_of(name: str) -> ModuleType | None:
    """Import an installed package of this name, and return it. None: no such package, or one that cannot be imported."""
    spec = spec_of(name)
    if spec is None or spec.loader is None:
        return None
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(made)
    except ImportError as error:
        broken[name] = error
        return None
    return made
