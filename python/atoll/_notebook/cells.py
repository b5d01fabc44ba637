"""Cells of a notebook on a PE: the code runs in the PE's __main__, which lives on between cells."""

from __future__ import annotations

import ast
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
    body, last = _compiled(source, name)
    exec(body, program)
    value = None if last is None else eval(last, program)
    if value is None:
        return {}
    program["_"] = value
    return forms(value)


def _compiled(source: str, name: str) -> tuple[CodeType, CodeType | None]:
    try:
        tree = ast.parse(source, name)
    except SyntaxError as error:
        raise error.with_traceback(None) from None
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        expression = tree.body.pop()
        assert isinstance(expression, ast.Expr)
        last = compile(ast.Expression(expression.value), name, "eval")
    return compile(tree, name, "exec"), last


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
