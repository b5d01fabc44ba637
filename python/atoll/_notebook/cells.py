"""Cells of a notebook on a PE: the code runs in the PE's __main__, which lives on between cells."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from types import CodeType
from typing import Any

import numpy as np

import atoll

# The ways in which an object shows itself, from the richest.
_RICH = {"image/png": "_repr_png_", "image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


def run_cell(source: str, name: str) -> dict[str, Any]:
    """Run a cell; return its last expression's value in the forms that a notebook shows, or an empty dict."""
    program = sys.modules["__main__"].__dict__
    program.setdefault("atoll", atoll)
    program.setdefault("np", np)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    value = _value(_compiled(source, name), program)
    if value is None:
        return {}
    program["_"] = value
    return forms(value)


def _value(codes: list[CodeType], program: dict[str, Any]) -> Any:
    """Run the parts of a cell, and return the value of the last one. Parts with `await` share an event loop."""
    if any(code.co_flags & inspect.CO_COROUTINE for code in codes):
        import asyncio

        return asyncio.run(_awaited(codes, program))
    return [eval(code, program) for code in codes][-1]


async def _awaited(codes: list[CodeType], program: dict[str, Any]) -> Any:
    value: Any = None
    for code in codes:
        value = eval(code, program)
        if code.co_flags & inspect.CO_COROUTINE:
            value = await value
    return value


def _compiled(source: str, name: str) -> list[CodeType]:
    try:
        tree = ast.parse(source, name)
    except SyntaxError as error:
        raise error.with_traceback(None) from None
    last = []
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        expression = tree.body.pop()
        assert isinstance(expression, ast.Expr)
        last = [compile(ast.Expression(expression.value), name, "eval", flags)]
    return [compile(tree, name, "exec", flags), *last]


def forms(value: object) -> dict[str, Any]:
    """Return the value by MIME type: its repr, and a picture or HTML if it has one."""
    found: dict[str, Any] = {"text/plain": repr(value)}
    for kind, method in _RICH.items():
        show = getattr(type(value), method, None)
        rich = None if show is None else show(value)
        if rich is not None:
            found[kind] = rich
            break
    return found
