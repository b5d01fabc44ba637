"""Elementwise operations between distributed arrays: each PE computes its own part."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

if TYPE_CHECKING:
    from ._array import DistArray
    from ._layout import Layout

# Methods that do the work of ufunc.reduce.
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_or": "any",
    "logical_and": "all",
}


def apply(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Compute `ufunc(*inputs)`; see `DistArray.__array_ufunc__`. Collective."""
    from ._array import DistArray

    if method == "reduce" and ufunc.__name__ in _REDUCTIONS:
        return _reduce(_REDUCTIONS[ufunc.__name__], inputs[0], keywords)
    if method != "__call__" or ufunc.signature is not None or "where" in keywords:
        called = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise TypeError(
            f"numpy.{called} does not work on distributed arrays; use a.local for this PE's part, or a.to_numpy()."
        )
    outs = keywords.pop("out", None)
    if not all(isinstance(out, DistArray) for out in outs or ()):
        raise TypeError(f"numpy.{ufunc.__name__}: out= must be a distributed array, as the operands are.")
    its = _common_layout(ufunc.__name__, [x for x in (*inputs, *(outs or ())) if isinstance(x, DistArray)])
    locals_ = [part_of(x, its) for x in inputs]
    if outs is not None:
        ufunc(*locals_, out=tuple(out.local for out in outs), **keywords)
        return outs[0] if len(outs) == 1 else outs
    results = ufunc(*locals_, **keywords)
    parts = results if isinstance(results, tuple) else (results,)
    made = [DistArray._from_part(its, part) for part in parts]
    return made[0] if len(made) == 1 else tuple(made)


def _common_layout(name: str, arrays: list[DistArray]) -> Layout:
    first = arrays[0]._layout
    for other in arrays[1:]:
        if other.shape != first.shape:
            raise atoll.ShapeMismatch(
                f"numpy.{name}: distributed arrays of shapes {first.shape} and {other.shape}; they must be equal."
            )
        if not first.same_distribution(other._layout):
            raise atoll.ShapeMismatch(
                f"numpy.{name}: {arrays[0]!r} and {other!r} are distributed in different ways; redistribute one: "
                "b.redistribute(like=a)."
            )
    return first


def part_of(value: Any, its: Layout) -> Any:
    """Return the part of an operand that matches this PE's part. A NumPy operand is the same on every PE."""
    from ._array import DistArray

    if isinstance(value, DistArray):
        return value.local
    given = np.asarray(value)
    if given.ndim == 0:
        return value
    try:
        whole = np.broadcast_to(given, its.shape)
    except ValueError:
        raise atoll.ShapeMismatch(
            f"an array of shape {given.shape} does not broadcast to {its.shape}, the shape of the distributed one."
        ) from None
    return whole[its.mesh(atoll.my_pe())]


# Functions of NumPy that are methods here.
_METHODS = {
    getattr(np, name): name
    for name in ("sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax", "copy")
} | {np.amin: "min", np.amax: "max"}
# Functions that work element by element.
_ELEMENTWISE = {np.where, np.clip, np.round, np.isclose, np.nan_to_num, np.real, np.imag, np.angle}
_ATTRIBUTES = {np.shape: "shape", np.ndim: "ndim", np.size: "size"}


def call(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Compute a function of NumPy by the method of that name; see `DistArray.__array_function__`.

    Raises
    ------
    TypeError
        If there is none. Nothing is gathered in silence.
    """
    if function in _ATTRIBUTES and len(arguments) == 1 and not keywords:
        return getattr(arguments[0], _ATTRIBUTES[function])
    if function in _METHODS:
        return getattr(arguments[0], _METHODS[function])(*arguments[1:], **keywords)
    if function in _ELEMENTWISE and (function is not np.where or len(arguments) == 3):
        return _by_part(function, arguments, keywords)
    if function in (np.zeros_like, np.empty_like, np.ones_like, np.full_like) and len(arguments) <= 2:
        return _like(function, *arguments, **keywords)
    raise TypeError(
        f"{function.__module__}.{function.__name__} does not work on distributed arrays; use a.local for this PE's part, "
        "or a.to_numpy()."
    )


def _by_part(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    from ._array import DistArray

    given = [x for x in (*arguments, *keywords.values()) if isinstance(x, DistArray)]
    its = _common_layout(function.__name__, given)
    parts = [part_of(x, its) for x in arguments]
    named = {name: part_of(x, its) for name, x in keywords.items()}
    return DistArray._from_part(its, np.asarray(function(*parts, **named)))


def _like(function: Callable[..., Any], array: DistArray, fill: Any = 0, dtype: Any = None) -> DistArray:
    from ._array import DistArray

    made = DistArray._of(array._layout, array.dtype if dtype is None else dtype)
    made.local[...] = {np.ones_like: 1, np.full_like: fill}.get(function, 0)
    return made


def _reduce(name: str, array: DistArray, keywords: dict[str, Any]) -> Any:
    given = {key: value for key, value in keywords.items() if value is not None and value is not np._NoValue}
    if unknown := set(given) - {"axis", "keepdims"}:
        raise TypeError(
            f"numpy.{name} of a distributed array takes axis and keepdims, not {', '.join(sorted(unknown))}."
        )
    # ufunc.reduce has axis 0 by default, and None for all.
    return getattr(array, name)(axis=keywords.get("axis", 0), keepdims=bool(given.get("keepdims", False)))
