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

from .pictures import Forms, begin, display, forms, taken


def run_cell(source: str, name: str) -> tuple[list[Forms], Forms]:
    """Run a cell; return all that it shows, and the forms of its last expression's value."""
    program = sys.modules["__main__"].__dict__
    program.setdefault("atoll", atoll)
    program.setdefault("np", np)
    program.setdefault("display", display)
    begin()
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    value = _value(_compiled(source, name), program)
    last = {} if value is None else forms(value)  # first: its error must leave what the cell has displayed
    if value is not None:
        program["_"] = value
    return taken(value), last


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
