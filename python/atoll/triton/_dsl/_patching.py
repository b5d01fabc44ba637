"""Triton's interpreter replaces triton.language's functions once for a kernel, not for each function that it calls.

Triton repeats that for each call of a function. With small functions it takes half of a kernel's time.
"""

# mypy: ignore-errors
from __future__ import annotations

import functools

import triton.language as tl
from triton.runtime import interpreter

MODULES = (tl, tl.core)


@functools.cache
def _modules_of(function) -> frozenset[str]:
    """Return the names of the modules to patch, which the function has among its globals."""
    found = function.__globals__.values()
    return frozenset(module.__name__ for module in MODULES if any(one is module for one in found))


def patch_once() -> None:
    """Change Triton's interpreter so. Without its inner function: do nothing."""
    patch = getattr(interpreter, "_patch_lang", None)
    empty = getattr(interpreter, "_LangPatchScope", None)
    if patch is None or empty is None:
        return
    patched: set[str] = set()

    def patch_what_is_not(function):
        modules = _modules_of(function)
        if modules and modules <= patched:
            return empty()
        scope = patch(function)
        if not patched:  # the kernel's own, whose end restores the modules
            restore = scope.restore

            def restored() -> None:
                restore()
                patched.clear()

            scope.restore = restored
        patched.update(modules)
        return scope

    interpreter._patch_lang = patch_what_is_not
