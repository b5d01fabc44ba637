"""Settings of the running program, which collective calls compare over the PEs."""

from __future__ import annotations

import contextvars

MIXED_KINDS = ("refuse", "redistribute")
mixed: contextvars.ContextVar[str] = contextvars.ContextVar("atoll.arrays.mixed_operands", default="refuse")


def text() -> str:
    """Return the unusual settings, as a part of the text by which calls are compared."""
    return "" if mixed.get() == "refuse" else f" within mixed_operands({mixed.get()!r})"
