"""Packages that a user may have installed."""

from __future__ import annotations

import functools
import importlib
from typing import Any


@functools.cache
def scipy(module: str) -> Any:
    """Return a module of SciPy, which computes faster, such as "fft"; None without SciPy."""
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError:
        return None


def required(whose: str, module: str) -> Any:
    """Return a module that a call needs, or raise ImportError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.split(".")[0]
        raise ImportError(
            f"{whose} needs the package {package}, which is not installed: pip install {package}"
        ) from None
