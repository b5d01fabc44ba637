"""ATOLL_NVTX=1: each of Atoll's calls is a range of NVTX, which Nsight Systems and Compute show on their time
lines.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

# Modules that offer NVTX, with their names for opening and closing a range.
_PROVIDERS = (
    ("nvtx", "push_range", "pop_range"),
    ("torch.cuda.nvtx", "range_push", "range_pop"),
    ("cupy.cuda.nvtx", "RangePush", "RangePop"),
)


Range = tuple[Callable[[str], Any], Callable[[], Any]]


@functools.cache
def _provider() -> Range:
    # A module that the program has already imported comes first, so that ranges load nothing large.
    for module, push, pop in sorted(_PROVIDERS, key=lambda row: row[0].partition(".")[0] not in sys.modules):
        try:
            found = importlib.import_module(module)
        except ImportError:
            continue
        return getattr(found, push), getattr(found, pop)
    raise ImportError("ATOLL_NVTX=1 needs NVTX for Python; install it: pip install nvtx")


def _in_range(function: Any, name: str) -> Any:
    @functools.wraps(function)
    def inside(*arguments: Any, **keywords: Any) -> Any:
        push, pop = _provider()
        push(name)
        try:
            return function(*arguments, **keywords)
        finally:
            pop()

    return inside


def ranged(functions: dict[str, Any]) -> dict[str, Any]:
    """Return the public functions among these, each within a range called atoll.NAME."""
    signatures = functions["__signatures__"]
    return {
        name: _in_range(f, f"atoll.{f.__name__}")
        for name, f in functions.items()
        if name in signatures and not name.startswith("_")
    }


def range_methods(*classes: type) -> None:
    """Put each public method of these, and the assignment to elements, within a range called atoll.CLASS.NAME."""
    for kind in classes:
        for name, method in list(vars(kind).items()):
            public = not name.startswith("_") or name == "__setitem__"
            if public and callable(method):
                setattr(kind, name, _in_range(method, f"atoll.{kind.__name__}.{name}"))
