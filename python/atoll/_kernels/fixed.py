"""Functions for kernels that call another one with some arguments fixed, for compilers that pass no texts on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FREE = object()
"""Marks an argument that is not fixed."""


def fixing(function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Callable[..., Any]:
    """Return a function of the free arguments, which calls `function` with all of them."""
    values: dict[str, Any] = {"function": function}
    parameters, passed = [], []
    for at, (name, value) in enumerate([*(("", value) for value in positional), *named.items()]):
        own = name or f"a{at}"
        passed.append(f"{name}={own}" if name else own)
        if value is FREE:
            parameters.append(own)
        else:
            values[own] = value
    exec(f"def call({', '.join(parameters)}):\n    return function({', '.join(passed)})", values)
    made: Callable[..., Any] = values["call"]
    return made
