"""inspect.signature for methods of nanobind's classes, which tell theirs as text only."""

from __future__ import annotations

import inspect
from typing import Any


def signature(method: Any) -> inspect.Signature:
    """Return the signature of a method of a class of _atoll; of one with overloads, that of the first.

    Annotations are texts, as those of modules with postponed evaluation are.
    """
    text: str = method.__nb_signature__[0][0]
    made: dict[str, Any] = {}
    exec(f"from __future__ import annotations\n{text}: ...", {}, made)
    return inspect.signature(made.popitem()[1])  # after the import, the function
