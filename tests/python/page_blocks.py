"""The blocks of Python on a page of docs/, and the names of Atoll in one that needs a GPU."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str) -> list[str]:
    """Return the blocks of a page in their order."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def block_with(page: str, words: str) -> str:
    """Return the only block of a page that has these words."""
    (found,) = (block for block in blocks(page) if words in block)
    return found


def wrong_uses(source: str, modules: dict[str, Any]) -> list[str]:
    """Return the dotted names of a program that `modules` lack, and the calls that their signatures refuse.

    Nothing is called, so types and values of arguments are not looked at.
    """
    wrong = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and name_of(node).partition(".")[0] in modules:
            try:
                look_up(name_of(node), modules)
            except AttributeError as error:
                wrong.append(f"{name_of(node)}: {error}")
        if isinstance(node, ast.Call) and name_of(node.func).partition(".")[0] in modules:
            try:
                function = look_up(name_of(node.func), modules)
                inspect.signature(function).bind(*node.args, **{str(k.arg): k.value for k in node.keywords})
            except (AttributeError, ValueError):  # found above, or a function without a signature
                continue
            except TypeError as error:
                wrong.append(f"{name_of(node.func)}: {error}")
    return wrong


def name_of(node: ast.expr) -> str:
    """Return a dotted name, or nothing for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (start := name_of(node.value)):
        return f"{start}.{node.attr}"
    return ""


def look_up(name: str, modules: dict[str, Any]) -> Any:
    first, *rest = name.split(".")
    found = modules[first]
    for part in rest:
        found = getattr(found, part)
    return found
