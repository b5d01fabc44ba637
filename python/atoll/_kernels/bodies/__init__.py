"""Functions with one text for Numba and CuTe DSL, over functions that each of them gives.

A module has a function `operations`, and others that return helper functions of its operations. A port calls each once
with its primitives, and gets functions for its language. Numba compiles them as they are written. In CuTe DSL they run
while a kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def by_name(*functions: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Return functions by their names, for the globals of a port's module."""
    return {one.__name__: one for one in functions}
