"""inspect.signature for methods of nanobind's classes, which have their signatures as text only."""

from __future__ import annotations

import inspect
from typing import Any


def signature(method: Any) -> inspect.Signature:
    """Return the signature of a method of a class of _atoll; for overloads, that of the first.

    A bound method's has no self. inspect binds __init__ for the signature of a class from Python 3.13 on.
    Annotations are strings, as in modules with postponed evaluation. A method without such a text raises
    AttributeError, which inspect.signature takes for "none known".
    """
    made: dict[str, Any] = {}
    try:
        exec(f"from __future__ import annotations\n{method.__nb_signature__[0][0]}: ...", {}, made)
    except Exception as error:
        raise AttributeError(f"{method!r} has no signature that can be read") from error
    found = inspect.signature(made.popitem()[1])  # the signature at first, the function after the import
    if not hasattr(method, "__self__"):
        return found
    return found.replace(parameters=list(found.parameters.values())[1:])
