"""inspect.signature for methods of nanobind's classes, which have their signatures as text only."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

_KINDS: dict[str, type | tuple[type, ...]] = {
    "int": numbers.Integral,
    "float": numbers.Real,
    "str": str,
    "bool": bool,
    "None": type(None),
}


def signature(method: Any) -> inspect.Signature:
    """Return the signature of a method of a class of _atoll; for overloads, that of the first.

    A bound method's has no self. inspect binds __init__ for the signature of a class from Python 3.13 on.
    Annotations are strings, as in modules with postponed evaluation. A method without such a text raises
    AttributeError, which inspect.signature takes for "none known".
    """
    found = _read(method, 0)
    if not hasattr(method, "__self__"):
        return found
    return found.replace(parameters=list(found.parameters.values())[1:])


def _read(method: Any, overload: int) -> inspect.Signature:
    made: dict[str, Any] = {}
    try:
        exec(f"from __future__ import annotations\n{method.__nb_signature__[overload][0]}: ...", {}, made)
    except Exception as error:
        raise AttributeError(f"{method!r} has no signature that can be read") from error
    return inspect.signature(made.popitem()[1])  # the signature at first, the function after the import


def wrong_call(method: Any, args: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Return the fault in the arguments of a call that a method has refused; the first one is self.

    The texts are those of the module's functions. If there are several overloads, the fault is that of the first one
    that takes the names.
    """
    name = str(method.__qualname__).removesuffix(".__init__")
    forms = [_read(method, i) for i in range(len(method.__nb_signature__))]
    found = next((form for form in forms if set(named) <= set(form.parameters)), forms[0])
    return f"{name}() {_fault(found, args, named)}; see help(atoll.{name})"


def _fault(form: inspect.Signature, args: Sequence[Any], named: Mapping[str, Any]) -> str:
    parameters = form.parameters
    by_position = [
        each.name
        for each in parameters.values()
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    most = len(by_position) - 1
    if len(args) - 1 > most:
        return f"takes at most {most} positional argument{'' if most == 1 else 's'} ({len(args) - 1} given)"
    for each in named:
        if each not in parameters:
            return f"has no argument {each!r}"
    values = dict(zip(by_position, args, strict=False))
    for each in named:
        if each in values:
            return f"got its argument {each!r} twice"
    values |= named
    for parameter in parameters.values():
        is_needed = parameter.default is parameter.empty and parameter.name in by_position
        if is_needed and parameter.name not in values:
            return f"lacks its argument {parameter.name!r}"
    for each, value in list(values.items())[1:]:
        wanted = str(parameters[each].annotation)
        if not _takes(wanted, value):
            return f"got {each}={value!r}, of type {type(value).__name__}; pass {wanted}"
    return f"takes {form}, and got values of other types"


def _takes(annotation: str, value: Any) -> bool:
    """Return False if a value is of none of the types in an annotation, as far as they are known here."""
    parts = annotation.split(" | ")
    if any(part in ("object", "Any") for part in parts):
        return True
    known = [isinstance(value, _KINDS[part]) for part in parts if part in _KINDS]
    rest = [part for part in parts if part not in _KINDS]
    return (
        any(known)
        or type(value).__name__ in rest
        or any(part not in ("Team", "Context", "Request") for part in rest)
    )
