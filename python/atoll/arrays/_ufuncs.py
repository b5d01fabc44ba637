"""Elementwise operations between distributed arrays: each PE computes its own part."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from . import _libraries
from ._compared import compared, library_of, team_of
from ._functions._contractions import vecdot
from ._functions._elements import reduction
from ._functions._picking import expand_dims
from ._functions._products import matmul
from ._functions._scans import ASSOCIATIVE, accumulate
from ._functions._table import function_of
from ._layout import Layout, layout
from ._libraries import _numpy_warnings
from ._settings import MIXED_KINDS, mixed
from ._teams import _current
from ._together import before_barrier, in_place
from ._updates._by_all import ADDING, add_at

if TYPE_CHECKING:
    from ._array import DistArray
    from ._axis import Axis

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
    """Compute `ufunc(*inputs)`; see `DistArray.__array_ufunc__`. Collective, but for `out` on GPUs."""
    name = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    _libraries.refuse_subclasses(name, inputs)
    if method == "at" and ufunc in ADDING and isinstance(inputs[0], _current.OverTeam):
        return in_place(name, inputs, {}, lambda: add_at(ufunc, *inputs))
    if "out" not in keywords:
        return compared(name, inputs, keywords, lambda: _apply(ufunc, method, inputs, keywords))
    if not all(isinstance(out, _current.OverTeam) for out in keywords["out"] if out is not None):
        raise _not_distributed_out(ufunc.__name__)
    operands = (*inputs, *keywords["out"])
    its = library_of(name, operands, {})
    if its.on_gpu:  # the GPU computes later, and no PE waits for another
        with _current.over(team_of(name, operands, {}, None), its, name), _numpy_warnings.named(name):
            return _apply(ufunc, method, inputs, keywords)
    return in_place(name, inputs, dict(keywords), lambda: _apply(ufunc, method, inputs, keywords))


def _apply(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    from ._array import DistArray

    if ufunc is np.matmul and method == "__call__" and not keywords:
        return matmul(*inputs)
    if ufunc is np.vecdot and method == "__call__" and not set(keywords) - {"axis"}:
        return vecdot(*inputs, **keywords)
    if method == "outer" and len(inputs) == 2:
        other = inputs[1] if isinstance(inputs[1], DistArray) else np.asarray(inputs[1])
        return _apply(ufunc, "__call__", (_before(*inputs), other), keywords)
    if method == "accumulate" and ufunc in ASSOCIATIVE:
        return accumulate(inputs[0], ufunc, *inputs[1:], **{"axis": 0, **keywords})
    if method == "reduce" and ufunc.__name__ in _REDUCTIONS:
        return _reduce(_REDUCTIONS[ufunc.__name__], inputs[0], keywords)
    _refuse_other_options(ufunc, method, keywords)
    outs = keywords.pop("out", None)
    if not all(isinstance(out, DistArray) for out in outs or ()):
        raise _not_distributed_out(ufunc.__name__)
    for out in outs or ():
        _require_own(out)
    given = [x for x in (*(outs or ()), *inputs) if isinstance(x, DistArray)]
    its = _common_layout(ufunc.__name__, given, others=_plain_shapes(inputs))
    _meet(given, its, outs)
    where = library_of(f"numpy.{ufunc.__name__}", (*inputs, *(outs or ())), {})
    locals_ = [part_of(x, its, where) for x in inputs]
    if outs is None and not keywords and ufunc in _EQUALITY and _have_records(inputs):
        return DistArray._from_part(its, np.asarray(_EQUALITY[ufunc](*locals_)))
    if outs is not None:
        where.apply(ufunc, locals_, tuple(out.local for out in outs), keywords)
        return outs[0] if len(outs) == 1 else outs
    is_plain = not keywords and (ufunc.nout == 1 or where is _libraries.HOST)
    dtypes = _result_dtypes(ufunc, locals_, where) if is_plain else None
    if dtypes is not None:
        new = [DistArray._of(its, dtype, zero=False) for dtype in dtypes]
        with before_barrier():
            where.apply(ufunc, locals_, tuple(each.local for each in new), {})
        return new[0] if len(new) == 1 else tuple(new)
    with before_barrier():
        results = where.apply(ufunc, locals_, None, keywords)
    parts = results if isinstance(results, tuple) else (results,)
    if any(where.dtype(part).hasobject for part in parts):
        raise atoll.DtypeMismatch(
            f"numpy.{ufunc.__name__}: its results are objects of Python, which a distributed array does not have. Convert "
            "them, such as a.map_blocks(lambda part: function(part).astype(float))."
        )
    made = [DistArray._from_part(its, part) for part in parts]
    return made[0] if len(made) == 1 else tuple(made)


def _before(a: Any, b: Any) -> Any:
    """Return an array with axes of length 1 behind its own, one for each of another array."""
    from ._array import DistArray

    more = [np.ndim(a) + number for number in range(np.ndim(b))]
    return expand_dims(a, more) if isinstance(a, DistArray) else np.expand_dims(np.asarray(a), tuple(more))


# NumPy compares records by these, not by the ufuncs.
_EQUALITY: dict[np.ufunc, Callable[[Any, Any], Any]] = {np.equal: operator.eq, np.not_equal: operator.ne}


def _have_records(inputs: tuple[Any, ...]) -> bool:
    return all(getattr(x, "dtype", None) is not None and x.dtype.names is not None for x in inputs)


def _refuse_other_options(ufunc: np.ufunc, method: str, keywords: dict[str, Any]) -> None:
    """Raise for a call of a ufunc that has no meaning on parts; the text has the cure."""
    name = ufunc.__name__
    if method == "__call__" and "where" in keywords:
        raise TypeError(
            f"numpy.{name} of distributed arrays takes no where=; write numpy.where(mask, numpy.{name}(...), a)."
        )
    if ufunc is np.matmul and method == "__call__":
        raise TypeError(
            f"numpy.matmul of distributed arrays takes no {' and no '.join(f'{key}=' for key in keywords)}, and "
            "A @= B is that; write A = A @ B."
        )
    if method != "__call__" or ufunc.signature is not None:
        called = name if method == "__call__" else f"{name}.{method}"
        raise TypeError(
            f"numpy.{called} does not work on distributed arrays; use a.local for this PE's part, or a.to_numpy()."
        )


def _result_dtypes(
    ufunc: np.ufunc, operands: list[Any], where: _libraries.Library
) -> tuple[np.dtype[Any], ...] | None:
    """Return the dtypes of the results, which are then computed in place; None if NumPy cannot tell before."""
    weak = (int, float, complex)  # numbers of Python take the dtype of the arrays
    given = [
        type(x) if type(x) in weak else where.dtype(x) if hasattr(x, "dtype") else np.asarray(x).dtype
        for x in operands
    ]
    try:
        found: tuple[np.dtype[Any], ...] = ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout))[ufunc.nin :]
    except TypeError:
        return None  # the computation raises a better error
    return None if any(dtype.hasobject for dtype in found) else found


@contextlib.contextmanager
def mixed_operands(what: str) -> Iterator[None]:
    """Say what operators do with arrays of one shape in different distributions, within a `with` block.

    Parameters
    ----------
    what
        "refuse", which is so outside: an error. "redistribute": the others are brought to the distribution of the first
        array, or of `out`. That is collective, also with `out` and `+=`, and takes a temporary part for each. All PEs
        pass the same word; calls compare it, but for those with `out` and `+=`.

    Returns
    -------
    contextlib.AbstractContextManager
        For a `with` statement.

    Raises
    ------
    ValueError
        If it is another word.
    """
    if what not in MIXED_KINDS:
        raise ValueError(f"mixed_operands({what!r}): expected one of {', '.join(MIXED_KINDS)}.")
    token = mixed.set(what)
    try:
        yield
    finally:
        mixed.reset(token)


def _require_own(out: Any) -> None:
    from ._methods._derived import require_own

    require_own(out, "b += x, or out=b")


def _not_distributed_out(name: str) -> TypeError:
    return TypeError(
        f"numpy.{name}: out= must be a distributed array, as the operands are. w -= x with a "
        "w of NumPy is such a call. Write w = w - x, which makes a distributed w, or w -= x.to_numpy()."
    )


def _plain_shapes(values: Sequence[Any]) -> list[tuple[int, ...]]:
    """Return the shapes of operands that have axes and are not distributed."""
    from ._array import DistArray

    return [
        np.shape(x) if isinstance(x, (list, tuple)) else tuple(x.shape)
        for x in values
        if isinstance(x, (list, tuple)) or (hasattr(x, "shape") and not isinstance(x, DistArray))
    ]


def _common_layout(
    name: str, arrays: list[DistArray], strict: bool = False, others: Sequence[tuple[int, ...]] = ()
) -> Layout:
    """Return the layout of a result: of the first array that has its shape, else blocks. `others` are NumPy's shapes.

    Raises
    ------
    ShapeMismatch
        If the shapes do not broadcast, or arrays of that shape are distributed in different ways. With `strict` all must be
        equal, whatever `mixed_operands` says.
    """
    try:
        shape = np.broadcast_shapes(*(each.shape for each in arrays))
    except ValueError:
        shape = ()
    if not shape or (strict and any(each.shape != shape for each in arrays)):
        shapes = " and ".join(str(each.shape) for each in arrays)
        raise atoll.ShapeMismatch(
            f"numpy.{name}: distributed arrays of shapes {shapes}; they must be equal{'' if strict else ' or broadcast'}."
        )
    with contextlib.suppress(ValueError):  # part_of names the one that does not broadcast
        shape = np.broadcast_shapes(shape, *others) if others else shape
    full = [each for each in arrays if each.shape == shape]
    if not full:
        return layout(shape, _current.n_pes())
    first = full[0]
    for other in full[1:]:
        if (strict or mixed.get() == "refuse") and not first._layout.same_distribution(other._layout):
            raise atoll.ShapeMismatch(
                f"numpy.{name}: {first!r} and {other!r} are distributed in different ways; redistribute one: "
                "b.redistribute(like=a), or all within `with arrays.mixed_operands('redistribute'):`."
            )
    return first._layout


def _meet(given: list[DistArray], its: Layout, outs: Any) -> None:
    """Wait for all PEs before elements of others are read, unless the call has an `out`, which is checked."""
    from ._array import DistArray

    for each in (outs if isinstance(outs, tuple) else (outs,)) if outs is not None else ():
        if isinstance(each, DistArray) and (
            each.shape != its.shape or not its.same_distribution(each._layout)
        ):
            raise atoll.ShapeMismatch(
                f"out= has shape {each.shape}; expected {its.shape}, and one distribution."
            )
    if outs is None and any(each.shape != its.shape for each in given):
        _current.barrier()


def _brought(value: DistArray, its: Layout, where: _libraries.Library) -> Any:
    """Return the elements that this PE's part needs of an array in another distribution, or with a shape to
    broadcast."""
    from ._array import DistArray

    if value.shape == its.shape:
        return DistArray._moved(value._layout, value.local, its.without_halo()).local
    me, missing = _current.my_pe(), len(its.shape) - value.ndim
    if 0 in its.extents(me):
        return where.empty(its.extents(me), value.dtype)
    own = [axis.indices(part) for axis, part in zip(its.axes, its.coordinates(me), strict=True)][missing:]
    own = [each if n > 1 else np.zeros(1, np.int64) for each, n in zip(own, value.shape, strict=True)]
    if all(len(each) == 1 or its.axes[missing + i].is_contiguous for i, each in enumerate(own)):
        found = value.get(tuple(slice(int(each[0]), int(each[-1]) + 1) for each in own))
    else:
        found = value.at[np.ix_(*own)].get()
    return where.broadcast(found, its.extents(me))


def part_of(value: Any, its: Layout, where: _libraries.Library = _libraries.HOST) -> Any:
    """Return the part of an operand that matches this PE's part, in its library.

    An operand of NumPy, or one of the library, is the same on every PE.
    """
    from ._array import DistArray

    if isinstance(value, DistArray):
        is_there = value.shape == its.shape and its.same_distribution(value._layout)
        return value.local if is_there else _brought(value, its, where)
    source = where if where.takes(value) else _libraries.HOST
    given = source.array(value)
    if given.ndim == 0:
        return value[()] if isinstance(value, np.ndarray) else value
    shape = tuple(given.shape)
    missing = len(its.shape) - len(shape)
    if missing < 0 or any(n not in (1, whole) for n, whole in zip(shape, its.shape[missing:], strict=True)):
        raise atoll.ShapeMismatch(
            f"an array of shape {shape} does not broadcast to {its.shape}, the shape of the distributed arrays."
        )
    me = _current.my_pe()
    positions = its.coordinates(me)
    for number, n in enumerate(shape):
        if n > 1:
            axis, part = its.axes[missing + number], positions[missing + number]
            given = given[(slice(None),) * number + (_indices(axis, part, source),)]
    # A view that repeats elements: an axis of length 1 takes no more memory.
    return where.broadcast(where.array(given), its.extents(me))


def _indices(axis: Axis, part: int, source: _libraries.Library) -> Any:
    """Return the global indices of a part of an axis as an index of a library's array, a slice if it can be."""
    return slice(*axis.ends(part)) if axis.is_contiguous else source.array(axis.indices(part))


# Functions of NumPy that are methods here.
_METHODS = {
    getattr(np, name): name
    for name in ("sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax", "copy")
} | {np.amin: "min", np.amax: "max"}
# Functions that work element by element.
_ELEMENTWISE = {np.where, np.clip, np.round, np.isclose, np.nan_to_num, np.real, np.imag, np.angle}
_PARTS = {np.real, np.imag}
# Functions of NumPy that return views of their argument; ours return copies, which refuse writes.
_VIEWS = {
    *(np.transpose, np.permute_dims, np.matrix_transpose, np.linalg.matrix_transpose, np.reshape, np.ravel),
    *(np.flip, np.flipud, np.fliplr, np.expand_dims, np.squeeze, np.moveaxis, np.swapaxes),
}
_OF_DTYPES = {np.can_cast, np.result_type}
_ATTRIBUTES = {np.shape: "shape", np.ndim: "ndim"}


def call(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Compute a function of NumPy by the method of that name; see `DistArray.__array_function__`.

    Raises
    ------
    TypeError
        If there is none. Nothing is gathered in silence.
    """
    from ._array import DistArray
    from ._methods._derived import derived

    _libraries.refuse_subclasses(f"numpy.{function.__name__}", (*arguments, *keywords.values()))
    first: Any = arguments[0] if arguments else next(iter(keywords.values()), None)
    if function is np.size:
        return _size(*arguments, **keywords)
    if function in _ATTRIBUTES:
        return getattr(first, _ATTRIBUTES[function])
    if function in _OF_DTYPES:  # these depend on dtypes alone, so they are not collective
        return function(*(x.dtype if isinstance(x, DistArray) else x for x in arguments), **keywords)
    if function in (np.iscomplexobj, np.isrealobj):
        return (first.dtype.kind == "c") is (function is np.iscomplexobj)
    name = f"{function.__module__}.{function.__name__}"
    if function in _ELEMENTWISE and (function is not np.where or len(arguments) == 3):
        meet = in_place if keywords.get("out") is not None else compared
        found = meet(name, arguments, keywords, lambda: _by_part(function, arguments, keywords))
        return derived(first, found, f"np.{function.__name__}(a)") if function in _PARTS else found
    is_of_some = function in _METHODS and not {"where", "initial"}.isdisjoint(keywords)
    ours = reduction(_METHODS[function]) if is_of_some else _ours(function, arguments)
    if ours is not None:
        required, named = _by_name(function, ours, arguments, keywords)
        is_on_first = function in _METHODS or function in _LIKE
        if required and (not is_on_first or isinstance(required[0], DistArray)):
            found = compared(name, required, named, lambda: ours(*required, **named))
            return derived(required[0], found, f"np.{function.__name__}(a)") if function in _VIEWS else found
    raise TypeError(
        f"{function.__module__}.{function.__name__} does not work on distributed arrays; use a.local for this PE's part, "
        "or a.to_numpy()."
    )


def _size(a: DistArray, axis: int | tuple[int, ...] | None = None) -> int:
    axes = axis if isinstance(axis, tuple) else range(a.ndim) if axis is None else (axis,)
    return math.prod(a.shape[a._layout.axis_number(number)] for number in axes)


def _ours(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
    """Return the function that computes a function of NumPy, or None."""
    from ._array import DistArray

    if function in _METHODS:
        method: Callable[..., Any] = getattr(DistArray, _METHODS[function])
        return method
    if function in _LIKE:
        return _LIKE[function]
    if function.__module__ == "numpy.fft":
        from .. import fft

        return getattr(fft, function.__name__) if function.__name__ in fft.__all__ else None
    return function_of(function, arguments)


def takes(name: str) -> bool:
    """Return True if the function of NumPy of this name takes distributed arrays."""
    found = getattr(np, name, None)
    if not callable(found) or isinstance(found, type):
        return False
    is_simple = (
        isinstance(found, np.ufunc) or found in _ELEMENTWISE or found in _ATTRIBUTES or found is np.size
    )
    return is_simple or _ours(found, ()) is not None


_signature = functools.cache(inspect.signature)


def _by_name(
    function: Callable[..., Any],
    ours: Callable[..., Any],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Return the arguments of a call of NumPy for our function: required ones by position, the others by name.

    Those that have NumPy's default are left out.

    Raises
    ------
    TypeError
        If our function does not take one.
    """
    try:
        its = _signature(function)
    except ValueError:
        return arguments, keywords  # older NumPy does not tell for functions of C; ours have its order
    required: list[Any] = []
    named: dict[str, Any] = {}
    for name, value in its.bind(*arguments, **keywords).arguments.items():
        default = its.parameters[name].default
        if its.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        elif its.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            required.extend(value)
        elif default is inspect.Parameter.empty:
            required.append(value)
        elif value is not default and (type(value) is not type(default) or value != default):
            named[name] = value
    known = list(_signature(ours).parameters)
    takes_any = any(
        each.kind is inspect.Parameter.VAR_KEYWORD for each in _signature(ours).parameters.values()
    )
    if not takes_any and (unknown := [name for name in named if name not in known]):
        takes = ", ".join(name for name in known[len(required) :] if name in its.parameters) or "nothing else"
        raise TypeError(
            f"{function.__module__}.{function.__name__} of a distributed array takes {takes}, not {', '.join(unknown)}; "
            "use a.local for this PE's part, or a.to_numpy()."
        )
    return required, named


def _by_part(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    from ._array import DistArray

    if function in (np.clip, np.round):  # the others have no out
        bound = _signature(function).bind(*arguments, **keywords)
        out = bound.arguments.pop("out", None)
        arguments, keywords = bound.args, bound.kwargs
    else:
        out = None
    if not isinstance(out, DistArray | None):
        raise _not_distributed_out(function.__name__)
    _require_own(out)
    given = [x for x in (out, *arguments, *keywords.values()) if isinstance(x, DistArray)]
    its = _common_layout(function.__name__, given, others=_plain_shapes((*arguments, *keywords.values())))
    _meet(given, its, out)
    where = given[0]._library
    parts = [part_of(x, its, where) for x in arguments]
    named = {name: part_of(x, its, where) for name, x in keywords.items()}
    if out is not None:
        where.elementwise(function, parts, {**named, "out": out.local})
        return out
    with before_barrier():
        part = where.array(where.elementwise(function, parts, named))
    return DistArray._from_part(its, part)


def fill(made: DistArray, value: Any) -> None:
    """Write a value into this PE's part of an array; one with axes broadcasts to the whole array."""
    given = made._library.assigned(value, made.dtype)
    made.local[...] = part_of(given, made._layout, made._library) if tuple(given.shape) else given


def _full_like(a: DistArray, fill_value: Any, dtype: Any = None) -> DistArray:
    from ._array import DistArray

    made = DistArray._of(a._layout, a.dtype if dtype is None else dtype)
    fill(made, fill_value)
    _current.barrier()
    return made


def _ones_like(a: DistArray, dtype: Any = None) -> DistArray:
    return _full_like(a, 1, dtype)


def _zeros_like(a: DistArray, dtype: Any = None) -> DistArray:
    return _full_like(a, 0, dtype)


_LIKE: dict[Callable[..., Any], Callable[..., DistArray]] = {
    np.full_like: _full_like,
    np.ones_like: _ones_like,
    np.zeros_like: _zeros_like,
    np.empty_like: _zeros_like,
}


def _reduce(name: str, array: DistArray, keywords: dict[str, Any]) -> Any:
    usual = [id(None), id(np._NoValue)]
    given = {key: value for key, value in keywords.items() if key != "axis" and id(value) not in usual}
    known = [*_signature(getattr(type(array), name)).parameters]
    known = [
        each for each in known if each in ("self", "axis", "dtype", "keepdims")
    ]  # the arguments of ufunc.reduce
    if unknown := set(given) - set(known):
        raise TypeError(
            f"numpy.{name} of a distributed array takes {', '.join(known[1:])}, not {', '.join(sorted(unknown))}."
        )
    # ufunc.reduce has axis 0 by default, and None for all.
    return getattr(array, name)(axis=keywords.get("axis", 0), **given)
