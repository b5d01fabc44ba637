"""The public names of a package of Python, read as text. nvshmem4py.py and nccl4py.py compare them."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

Names = dict[str, list[str] | None]
"""A name's parameters with their defaults; nothing for what is not a function."""


def parameters(function: ast.FunctionDef) -> list[str]:
    """Return the parameters of a function as texts: a star before those by keyword only, then defaults."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    pairs = [("", a.arg, d) for a, d in zip(plain, defaults, strict=True)]
    pairs += [("*", a.arg, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [f"{star}{name}" + ("" if d is None else f"={shown(d)}") for star, name, d in pairs]


def shown(default: ast.expr) -> str:
    """Return a default's text. Names of dtypes of PyTorch are texts here, where PyTorch may be missing."""
    return ast.unparse(default).strip("'")


def offered(path: Path, every: bool = False) -> Names:
    """Return the names of a module that its __all__ lists, or all public functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    listed = [name for name in functions if not name.startswith("_")] if every else []
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" and not every:
            listed = ast.literal_eval(node.value)
    return {name: parameters(functions[name]) if name in functions else None for name in listed}


def literal(path: Path, name: str) -> Any:
    """Return the value that a module gives a name."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.literal_eval(node.value)
    raise LookupError(f"{path} has no {name}")


def in_kernels(path: Path) -> Names:
    """Return the names of a module of functions for kernels. Numba's overload of a function has its parameters."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = offered(path)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("overload"):
                    of = ast.unparse(call.args[0])
                    found |= {of: parameters(node)} if of in found else {}
    return found


def as_json(found: dict[str, Names]) -> str:
    """Return the names of modules as JSON, a name a line."""
    modules = [
        f"{json.dumps(module)}: {{\n"
        + ",\n".join(f"  {json.dumps(name)}: {json.dumps(names[name])}" for name in names)
        + "\n}"
        for module, names in found.items()
    ]
    return "{\n" + ",\n".join(modules) + "\n}"


def differences(theirs: dict[str, Names], ours: dict[str, Names]) -> dict[str, tuple[object, object]]:
    """Return the names of our modules that are missing on one side, or have other parameters there."""
    found: dict[str, tuple[object, object]] = {}
    for module, names in ours.items():
        for name in {*theirs[module], *names}:
            pair = theirs[module].get(name, "none"), names.get(name, "none")
            if pair[0] != pair[1]:
                found[f"{module}.{name}"] = pair
    return found
