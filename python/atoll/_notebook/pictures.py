"""Objects that a cell on a PE shows: `display`, figures of matplotlib, and the forms that a notebook shows."""

from __future__ import annotations

import io
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

Forms = dict[str, Any]  # by MIME type

# The ways in which an object shows itself, from the richest.
_RICH = {
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "image/svg+xml": "_repr_svg_",
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
}
_DISPLAY_MODULE = "IPython.core.display_functions"
_shown: list[Forms] = []


def display(*values: object, raw: bool = False, **_: object) -> None:
    """Show objects below the cell, with pictures and HTML, as IPython's function does."""
    for value in values:
        _shown.append(value if raw and isinstance(value, dict) else forms(value))


def forms(value: object) -> Forms:
    """Return the value by MIME type: its repr, and a picture or HTML if it has one."""
    found: Forms = {"text/plain": repr(value)}
    if _is_figure(value):
        return {**found, "image/png": _png_of(value)}
    if callable(bundle := getattr(type(value), "_repr_mimebundle_", None)):
        made = bundle(value)
        return {**found, **(made[0] if isinstance(made, tuple) else made or {})}
    for kind, method in _RICH.items():
        show = getattr(type(value), method, None)
        rich = None if show is None else show(value)
        if rich is not None:
            found[kind] = rich[0] if isinstance(rich, tuple) else rich  # with metadata
            break
    return found


def taken(value: object) -> list[Forms]:
    """Return the objects that the cell has shown, and its open figures, which are closed; but not twice the value."""
    for figure in _open_figures():
        if figure is not value:
            display(figure)
    found, _shown[:] = list(_shown), []
    return found


def begin() -> None:
    """Forget what a cell that failed has shown, and let IPython's `display` be the one of this module."""
    _open_figures()
    _shown.clear()
    if _DISPLAY_MODULE in sys.modules:
        sys.modules[_DISPLAY_MODULE].__dict__["display"] = display
    elif not any(isinstance(finder, _Replacing) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Replacing())


class _Replacing(MetaPathFinder):
    """Replaces `display` when IPython is imported, which is too slow to be done for every cell."""

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != _DISPLAY_MODULE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_replace(module: ModuleType) -> None:
                load(module)
                module.__dict__["display"] = display

            spec.loader.exec_module = load_and_replace  # type: ignore[method-assign]
        return spec


def _is_figure(value: object) -> bool:
    module = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


def _png_of(figure: Any) -> bytes:
    with io.BytesIO() as file:
        figure.savefig(file, format="png", bbox_inches="tight")
        return file.getvalue()


def _open_figures() -> list[Any]:
    """Close the open figures of matplotlib, and return them. A backend with windows keeps its own."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or pyplot.get_backend().lower().rpartition(".")[2] not in (
        "agg",
        "inline",
        "backend_inline",
    ):
        return []
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return figures
