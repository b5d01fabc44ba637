"""Sums of products over chosen axes: tensordot and einsum, by products of matrices and elementwise products."""

from __future__ import annotations

import math
import operator
import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import atoll

from .._compared import collective
from .._layout import is_one, listed
from .._libraries import on_host
from . import _products
from ._products import matmul

Axes = int | Sequence[int] | Sequence[Sequence[int]]


@collective()
def tensordot(a: Any, b: Any, axes: Axes = 2) -> Any:
    """Return the sums of products over axes of both arrays. Collective; by `a @ b` of matrices or of stacks.

    Parameters
    ----------
    a, b
        Arrays; one may be a NumPy array that is the same on every PE.
    axes
        A number n: the last n axes of a and the first n of b. Or the axes of a and those of b.

    Returns
    -------
    DistArray or number
        The other axes of a, then those of b; a number if there are none.

    Raises
    ------
    ShapeMismatch
        If the axes have different lengths.
    """
    from .._array import DistArray

    a, b = (x if isinstance(x, DistArray) else np.asarray(x) for x in (a, b))
    first, second = _pairs(a, b, axes)
    if not isinstance(a, DistArray) and not isinstance(b, DistArray):
        return np.tensordot(a, b, (first, second))
    rows = [axis for axis in range(a.ndim) if axis not in first]
    columns = [axis for axis in range(b.ndim) if axis not in second]
    if not rows and not columns:
        return _inner(a, _permuted(b, [second[first.index(axis)] for axis in range(a.ndim)]))
    if len(first) == len(columns) == 1 and len(rows) > 1:  # a stack of matrices; nothing is reshaped
        return matmul(_permuted(a, rows + first), _permuted(b, second + columns))
    found = matmul(_grouped(a, [rows, first]), _grouped(b, [second, columns]))
    return _reshaped(found, [a.shape[axis] for axis in rows] + [b.shape[axis] for axis in columns])


@collective(on_gpus=True)
def vecdot(x1: Any, x2: Any, axis: int = -1) -> Any:
    """Return the products of vectors along an axis of each operand, the first ones conjugated.

    Collective; the same on every PE. The other axes broadcast; those of the vectors do not.
    """
    from .._array import DistArray

    given = [x if isinstance(x, DistArray) else np.asarray(on_host(x)) for x in (x1, x2)]
    first, second = (_number("vecdot", x, axis) for x in given)
    a, b = given
    if a.shape[first] != b.shape[second]:
        raise atoll.ShapeMismatch(
            f"vecdot: shapes {a.shape} and {b.shape}, axis {axis}; vectors of different lengths."
        )
    shared = first - a.ndim
    if shared != second - b.ndim:
        a, b = (_with_last(x, at) for x, at in ((a, first), (b, second)))
        shared = -1
    products = np.multiply(np.conj(a) if a.dtype.kind == "c" else a, b)
    return products.sum(axis=shared, dtype=products.dtype)


def _with_last(x: Any, axis: int) -> Any:
    return _permuted(x, [*(each for each in range(x.ndim) if each != axis), axis])


def _pairs(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    """Return the axes to sum over, from 0 on, of both arrays."""
    if is_one(axes):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise atoll.ShapeMismatch(f"tensordot: axes={axes} of arrays of {a.ndim} and {b.ndim} axes.")
        given: list[Sequence[int]] = [range(a.ndim - axes, a.ndim), range(axes)]
    else:
        given = [listed(each) for each in axes]
    if len(given) != 2 or len(given[0]) != len(given[1]):
        raise ValueError(f"tensordot: axes are {axes}; expected a number, or as many axes of a as of b.")
    first, second = (
        [_number("tensordot", x, axis) for axis in each] for x, each in zip((a, b), given, strict=True)
    )
    if len(set(first)) != len(first) or len(set(second)) != len(second):
        raise ValueError(f"tensordot: axes are {axes}; one is named twice.")
    if any(a.shape[i] != b.shape[j] for i, j in zip(first, second, strict=True)):
        raise atoll.ShapeMismatch(
            f"tensordot: shapes {a.shape} and {b.shape}, axes {first} and {second}; those have different lengths."
        )
    return first, second


def _number(name: str, x: Any, axis: int) -> int:
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"{name}: axis {axis} is out of bounds for an array of {x.ndim} axes.")
    return operator.index(axis) % int(x.ndim)


def _inner(a: Any, b: Any) -> Any:
    """Return the sum of the products of the elements of two arrays of one shape."""
    return _alike(_products.vecdot, a, b, conjugate=False)


def _permuted(x: Any, order: Sequence[int]) -> Any:
    return x if list(order) == list(range(x.ndim)) else np.transpose(x, order)


def _reshaped(x: Any, shape: Sequence[int]) -> Any:
    """Return an array in another shape; where only axes of length 1 come or go, nothing moves."""
    shape, was = tuple(shape), tuple(x.shape)
    if shape == was:
        return x
    long = [axis for axis, n in enumerate(shape) if n != 1]
    if shape and was and [n for n in shape if n != 1] == [n for n in was if n != 1] and long:
        ones = tuple(axis for axis, n in enumerate(was) if n == 1)
        flat = np.squeeze(x, ones) if ones else x
        new = tuple(axis for axis, n in enumerate(shape) if n == 1)
        return np.expand_dims(flat, new) if new else flat
    return np.reshape(x, shape)


def _grouped(x: Any, groups: Sequence[Sequence[int]]) -> Any:
    """Return an array with its axes in groups, each of them one axis."""
    made = _permuted(x, [axis for group in groups for axis in group])
    return _reshaped(made, [math.prod(x.shape[axis] for axis in group) for group in groups])


@collective()
def einsum(operands: Sequence[Any]) -> Any:
    """Return the sums of products that subscripts name. Collective.

    Operands are multiplied from left to right. The product is elementwise if nothing is summed. Else it is
    `a @ b` if one operand has an axis that the other lacks, and else an elementwise product and `sum`.

    Parameters
    ----------
    operands
        The subscripts, such as "ij,jk->ik", and the arrays; some may be NumPy's.

    Returns
    -------
    DistArray, array or number
        A distributed array. A NumPy array, the same on every PE, where a sum over axes is the last step, as of `a.sum(axis)`.
        A number if no axis is left.

    Raises
    ------
    ValueError
        If the subscripts do not fit.
    """
    from .._array import DistArray

    subscripts, *given = operands
    values = [x if isinstance(x, DistArray) else np.asarray(x) for x in given]
    inputs, output = _subscripts(subscripts, values)
    for number, value in enumerate(values):
        inputs[number], values[number] = _diagonals(inputs[number], value)
    dtype = np.result_type(*(x.dtype for x in values))
    labels, value = inputs[0], values[0]
    for number in range(1, len(values)):
        later = output + "".join(inputs[number + 1 :])
        labels, value = _multiplied(labels, value, inputs[number], values[number], later, dtype)
    labels, value = _summed(labels, value, output, dtype)
    if not labels:
        return value
    found = _permuted(value, [labels.index(label) for label in output])
    return found.copy() if any(found is x for x in values) else found


def _diagonals(labels: str, value: Any) -> tuple[str, Any]:
    """Return the labels and elements of an operand in which no letter is twice: those of the diagonals."""
    from ._matrices import diagonal

    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            one = labels.index(label)
            two = labels.index(label, one + 1)
            function: Any = diagonal if hasattr(value, "_layout") else np.diagonal
            value = function(value, 0, one, two)
            labels = labels[:one] + labels[one + 1 : two] + labels[two + 1 :] + label
    return labels, value


def _without_ellipsis(text: str, values: Sequence[Any]) -> str:
    """Return subscripts with a letter for each axis that "..." means; they are the last ones of the same letters."""
    unused = [label for label in string.ascii_letters if label not in text]
    left, arrow, output = text.partition("->")
    inputs, most = left.split(","), ""
    for number, value in enumerate(values[: len(inputs)]):
        if "..." in inputs[number]:
            n = max(value.ndim - len(inputs[number]) + 3, 0)
            most = max(most, "".join(unused[len(unused) - n :]), key=len)
            inputs[number] = inputs[number].replace("...", "".join(unused[len(unused) - n :]))
    if arrow and most and "..." not in output:
        raise ValueError(
            f"einsum({text!r}): '...' are {len(most)} axes of an operand, and the result {output!r} has none; write "
            "'...' there, or letters and no dots."
        )
    once = sorted(label for label in set(left) - {",", "."} if left.count(label) == 1)
    return f"{','.join(inputs)}->{output.replace('...', most) if arrow else most + ''.join(once)}"


def _subscripts(subscripts: Any, values: Sequence[Any]) -> tuple[list[str], str]:
    """Return the letters of the operands, and those of the result."""
    if not isinstance(subscripts, str):
        raise TypeError('einsum of distributed arrays takes subscripts as text, such as "ij,jk->ik".')
    text = subscripts.replace(" ", "")
    if "." in text:
        text = _without_ellipsis(text, values)
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if not arrow:
        output = "".join(sorted(label for label in set(left) - {","} if left.count(label) == 1))
    if len(inputs) != len(values) or any(len(x) != v.ndim for x, v in zip(inputs, values, strict=False)):
        raise ValueError(
            f"einsum({subscripts!r}): operands of shapes {[x.shape for x in values]}; expected an array for each group of "
            "letters, and an axis for each letter."
        )
    for each in inputs:
        if not (each + "a").isalpha():
            raise ValueError(f"einsum({subscripts!r}): expected letters, ',' and '->'.")
    if len(set(output)) != len(output) or not set(output) <= set(left) - {","}:
        raise ValueError(
            f"einsum({subscripts!r}): the result {output!r} has a letter twice, or one of no operand."
        )
    lengths: dict[str, int] = {}
    for each, value in zip(inputs, values, strict=True):
        for label, n in zip(each, value.shape, strict=True):
            if lengths.setdefault(label, n) != n:
                raise atoll.ShapeMismatch(
                    f"einsum({subscripts!r}): axis {label!r} has lengths {lengths[label]} and {n}."
                )
    return inputs, output


def _summed(labels: str, value: Any, kept: str, dtype: np.dtype[Any]) -> tuple[str, Any]:
    """Return the labels and the array after sums, in a dtype, over the axes that are not needed."""
    axes = tuple(axis for axis, label in enumerate(labels) if label not in kept)
    if not axes:
        return labels, value
    return "".join(label for label in labels if label in kept), value.sum(axis=axes, dtype=dtype)


def _multiplied(first: str, a: Any, second: str, b: Any, later: str, dtype: np.dtype[Any]) -> tuple[str, Any]:
    """Return the product of two arrays in the dtype of all operands, summed over labels that do not occur later."""
    first, a = _summed(first, a, second + later, dtype)
    second, b = _summed(second, b, first + later, dtype)
    if np.result_type(a.dtype, b.dtype) != dtype:  # a third operand has it
        a = a.astype(dtype)
    if not (hasattr(a, "_layout") or hasattr(b, "_layout")):  # sums, the same on every PE
        labels = "".join(label for label in dict.fromkeys(first + second) if label in later)
        return labels, np.einsum(f"{first},{second}->{labels}", a, b)
    inner = [label for label in first if label in second and label not in later]
    stack = [label for label in first if label in second and label in later]
    rows = [label for label in first if label not in second]
    columns = [label for label in second if label not in first]
    if not inner:
        order = first + "".join(columns)
        x, y = _aligned(a, first, order), _aligned(b, second, order)
        # An operand of NumPy does not make the result larger than the distributed ones.
        x, y = (_distributed(x) if rows else x), (_distributed(y) if columns else y)
        return order, _elementwise(x, y)
    if not rows and not columns:
        other = _permuted(b, [second.index(label) for label in first])
        return (
            ("", _inner(a, other))
            if not stack
            else _summed(first, _elementwise(a, other), "".join(stack), dtype)
        )
    labels = "".join(stack + rows + columns)
    if not stack:
        return labels, tensordot(
            a, b, ([first.index(label) for label in inner], [second.index(label) for label in inner])
        )
    sizes = {**dict(zip(first, a.shape, strict=True)), **dict(zip(second, b.shape, strict=True))}
    groups = [[label] for label in stack]
    x = _grouped(a, [[first.index(label) for label in group] for group in (*groups, rows, inner)])
    y = _grouped(b, [[second.index(label) for label in group] for group in (*groups, inner, columns)])
    return labels, _reshaped(matmul(x, y), [sizes[label] for label in labels])


def _alike(function: Callable[..., Any], x: Any, y: Any, **more: Any) -> Any:
    """Return a function of two arrays; y is brought to the distribution of x, as operands of `a @ b` are."""
    from .._ufuncs import mixed_operands

    with mixed_operands("redistribute"):
        return function(x, y, **more)


def _elementwise(x: Any, y: Any) -> Any:
    return _alike(np.multiply, x, y)


def _distributed(x: Any) -> Any:
    from .._makers import from_array

    return x if hasattr(x, "_layout") or not x.ndim else from_array(x)


def _aligned(x: Any, labels: str, order: str) -> Any:
    """Return an array with its axes in an order; those that it lacks have length 1."""
    made = _permuted(x, [labels.index(label) for label in order if label in labels])
    new = tuple(axis for axis, label in enumerate(order) if label not in labels)
    return np.expand_dims(made, new) if new and made.ndim else made
