"""The public names of the package, with their docstrings: those that `help` shows.

``python tests/python/public_names.py`` prints, as JSON, the modules missing here with the reason, the names whose
docstrings have examples, and the faults of form.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import atoll
from numpydoc_form import faults

# Optional packages: without one of them its modules are skipped.
OPTIONAL = ("cupy", "cutlass", "numba", "torch", "triton")
# Modules whose docstrings have all sections (CONTRIBUTING, "Docstrings").
NUMPYDOC = {
    *("atoll", "atoll.arrays", "atoll.arrays.numba", "atoll.compat", "atoll.cupy"),
    *(f"atoll.{group}" for group in atoll._GROUPS),
    *("atoll.fft", "atoll.logging", "atoll.sparse", "atoll.sparse.csgraph", "atoll.torch"),
}

# Modules of kernels: api/kernels.toml has their docstrings, which tests/layout/test_kernels.py compares.
KERNELS = {"atoll.cute", "atoll.numba", "atoll.triton"}


def modules() -> Iterator[str]:
    """Yield the package and its public modules."""
    yield "atoll"
    for module in pkgutil.walk_packages(atoll.__path__, "atoll.", onerror=lambda name: None):
        if not any(part.startswith("_") for part in module.name.split(".")):
            yield module.name


def imported(name: str) -> ModuleType | str:
    """Return the module, or the reason why it cannot be imported here."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ModuleNotFoundError) and (cause.name or "").split(".")[0] in OPTIONAL:
                return str(error)
            cause = cause.__cause__ or cause.__context__
        raise


def names(module: ModuleType) -> list[str]:
    """Return the names of `__all__`, else the public ones that the module defines."""
    given = getattr(module, "__all__", None)
    if given is not None:
        return list(given)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def has_docstring(value: Any) -> bool:
    """Return True for functions, classes and properties; the docstring of a constant is its class's."""
    kinds = property, functools.cached_property, classmethod, staticmethod
    return inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, kinds)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public functions and properties of a class and of its bases in the package."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.split(".")[0] == "atoll":
            found.update(vars(base))
    for name, value in sorted(found.items()):
        if not name.startswith("_") and has_docstring(value):
            yield name, value


def documented(name: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield a module, its public functions and classes, and the members of these, with their names."""
    yield name, module
    within = {found.name for found in pkgutil.iter_modules(getattr(module, "__path__", ()))}
    for public in names(module):
        if public in within and public not in vars(module):
            continue  # a module that is imported when it is first used
        value = getattr(module, public)
        if not has_docstring(value):
            continue
        yield f"{name}:{public}", value
        if inspect.isclass(value):
            for member, method in members(value):
                yield f"{name}:{public}.{member}", method


def main() -> None:
    skipped, examples, wrong, seen = dict[str, str](), list[str](), list[str](), set[int]()
    kept = list[Any]()
    for name in sys.argv[1:] or modules():
        module = imported(name)
        if isinstance(module, str):
            skipped[name] = module
            continue
        for public, value in documented(name, module):
            if id(value) in seen:
                continue
            seen.add(id(value))
            kept.append(value)  # its id must not be given to another
            if ">>>" in (inspect.getdoc(value) or ""):
                examples.append(public)
            if name in NUMPYDOC:
                wrong += [f"{public}: {fault}" for fault in faults(value)]
            elif name not in KERNELS and not inspect.getdoc(value):
                wrong.append(f"{public}: no docstring")
    json.dump({"skipped": skipped, "examples": examples, "faults": wrong}, sys.stdout)


if __name__ == "__main__":
    main()
