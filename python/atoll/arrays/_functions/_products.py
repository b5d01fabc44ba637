"""Products of vectors, matrices and stacks of them, and norms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _axis
from .._compared import collective
from .._layout import Layout, is_one, layout
from .._libraries import on_host
from .._teams import _current

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]
PANEL_BYTES = 1 << 24  # bytes of an operand's panel that a PE fetches at a time


@collective(on_gpus=True)
def matmul(a: Any, b: Any) -> Any:
    """Return the product of vectors and matrices, `a @ b`. Collective.

    One operand may be a NumPy array that is the same on every PE. Two vectors give a number. A matrix and a vector give
    a distributed vector in blocks; the matrix stays where it is. Two matrices give a matrix in blocks, and each PE
    fetches panels of 16 MB of the rows and columns that its block needs. With more axes an operand is a stack of
    matrices, which broadcast as NumPy's. Each PE multiplies the matrices of its part of the stack.

    Raises
    ------
    ShapeMismatch
        If the shapes do not fit, or an operand is a number.
    """
    from .._array import DistArray
    from .._makers import from_array

    a, b = (x if isinstance(x, DistArray) else np.asarray(on_host(x)) for x in (a, b))
    if not a.ndim or not b.ndim:
        raise atoll.ShapeMismatch("matmul: an operand is a number; write a * b, or numpy.dot(a, b).")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise atoll.ShapeMismatch(
            f"matmul: operands of shapes {a.shape} and {b.shape}; expected the last axis of the first as long as the "
            f"{'last but one' if b.ndim > 1 else 'only one'} of the second."
        )
    _current.library().require_product(np.result_type(a.dtype, b.dtype))
    if max(a.ndim, b.ndim) > 2:
        return _stacked(a, b)
    if a.ndim == b.ndim == 1:
        return vecdot(a, b, conjugate=False)
    if isinstance(a, DistArray) and b.ndim == 1:
        return _applied(a, b, 1)
    if isinstance(b, DistArray) and a.ndim == 1:
        return _applied(b, a, 0)
    if not isinstance(a, DistArray) and a.ndim == 2:
        a = from_array(a)
    if not isinstance(b, DistArray):
        b = from_array(b)
    if a.ndim == 1:
        return _applied(b, a, 0)
    return _applied(a, b, 1) if b.ndim == 1 else _product(a, b)


@collective(on_gpus=True)
def vecdot(a: Any, b: Any, conjugate: bool = True) -> Any:
    """Return the sum of the products of two arrays' elements, `a` conjugated. Collective; the same on every PE."""
    from .._array import DistArray
    from .._ufuncs import _common_layout, part_of

    if np.shape(a) != np.shape(b):
        raise atoll.ShapeMismatch(f"dot: shapes {np.shape(a)} and {np.shape(b)}; they must be equal.")
    its = _common_layout("dot", [x for x in (a, b) if isinstance(x, DistArray)])
    where = _current.library()
    x, y = (part_of(value, its, where).reshape(-1) for value in (a, b))
    part = where.inner(x, y, conjugate)
    if part.dtype == np.bool_:
        return atoll.max_reduce(part.reshape(1).view(np.uint8), team=_current.team()).astype(np.bool_)[0]
    return atoll.sum_reduce(part.reshape(1), team=_current.team())[0]


@collective(on_gpus=True)
def dot(a: Any, b: Any) -> Any:
    """Return NumPy's product `dot`. Collective.

    With a number it is `a * b`, of vectors and matrices `a @ b`. With more axes it is the sum over the last axis of a and
    the last but one of b.
    """
    from ._contractions import tensordot

    if not np.ndim(a) or not np.ndim(b):
        return np.multiply(a, b)
    if np.ndim(b) > 1 and max(np.ndim(a), np.ndim(b)) > 2:
        return tensordot(a, b, (-1, -2))
    return matmul(a, b)


def _stacked(a: Any, b: Any) -> DistArray:
    """Return the products of stacks of matrices, or of a stack and a vector.

    The result has the distribution of a stack of its shape whose matrices are whole. Else the stack is in blocks. Elements
    of an operand that a PE lacks are copied to it as a temporary part.
    """
    from .._array import DistArray
    from .._ufuncs import part_of

    where = _current.library()
    _current.barrier()  # a vector, and a stack that broadcasts, are read below
    is_row, is_column = a.ndim == 1, b.ndim == 1
    if is_row:
        a = _in_library(a)[None, :]
    if is_column:
        b = _in_library(b)[:, None]
    try:
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise atoll.ShapeMismatch(
            f"matmul: stacks of shapes {a.shape[:-2]} and {b.shape[:-2]}, the axes before the last two, do not broadcast."
        ) from None
    axes = _stack_axes(stack, (a, b))
    (n, inner), m = a.shape[-2:], b.shape[-1]
    x, y = (
        part_of(each, Layout.bare(*axes, _axis.block(rows, 1), _axis.block(columns, 1)), where)
        for each, rows, columns in ((a, n, inner), (b, inner, m))
    )
    part = where.product(x, y)
    part = part[..., 0, :] if is_row else part[..., 0] if is_column else part
    last = [m] if is_row else [n] if is_column else [n, m]
    return DistArray._from_part(Layout.bare(*axes, *(_axis.block(length, 1) for length in last)), part)


def _in_library(vector: Any) -> Any:
    """Return all elements of a vector on every PE."""
    return vector.get(...) if hasattr(vector, "_layout") else _current.library().array(vector)


def _stack_axes(stack: tuple[int, ...], operands: tuple[Any, ...]) -> tuple[_axis.Axis, ...]:
    for each in operands:
        its = getattr(each, "_layout", None)
        if its is not None and each.shape[:-2] == stack and its.grid[-2:] == (1, 1):
            return tuple(its.axes[:-2])
    return tuple(layout(stack, _current.n_pes()).axes)


def _applied(matrix: DistArray, vector: Any, axis: int) -> DistArray:
    """Return the product of a matrix and a vector that goes along an axis of it.

    Each PE multiplies its part; the PE that owns an element of the result adds what several PEs have for it.
    """
    from .._array import DistArray

    own = matrix.global_indices(axis)
    if isinstance(vector, DistArray):
        _current.barrier()
        x = vector.at[own].get()
    else:
        x = matrix._library.array(np.asarray(vector)[own])
    part = matrix._library.product(*((matrix.local, x) if axis == 1 else (x, matrix.local)))
    rows, parts = matrix._layout.axes[1 - axis], matrix._layout.axes[axis].parts
    sums = _axis.block(parts, parts)
    axes = (rows, sums) if axis == 1 else (sums, rows)
    partial = DistArray._of(Layout.bare(*axes), matrix._library.dtype(part))
    partial.local[...] = part.reshape(partial.local.shape)
    made = DistArray(rows.length, partial.dtype)
    _current.barrier()
    start, stop = made.bounds()[0]
    if start < stop:
        box = (slice(start, stop), slice(None)) if axis == 1 else (slice(None), slice(start, stop))
        made.local[...] = partial.get(box).sum(axis)
    _current.barrier()
    return made


def _product(a: DistArray, b: DistArray) -> DistArray:
    from .._array import DistArray

    (rows, inner), columns = a.shape, b.shape[1]
    dtype = np.result_type(a.dtype, b.dtype)
    made = DistArray._of(layout((rows, columns), _current.n_pes()), dtype)
    (top, bottom), (left, right) = made.bounds()
    _current.barrier()
    if top < bottom and left < right:
        widest = max(bottom - top, right - left) * max(a.dtype.itemsize, b.dtype.itemsize)
        width = max(1, min(inner, PANEL_BYTES // widest))
        panels = math.ceil(inner / width)
        for turn in range(panels):
            # PEs begin at different panels, so that they do not read from one owner at the same time.
            first = (turn + _current.my_pe() * panels // _current.n_pes()) % panels * width
            end = min(first + width, inner)
            made.local[...] += made._library.product(a[top:bottom, first:end], b[first:end, left:right])
    _current.barrier()
    return made


@collective(on_gpus=True)
def norm(a: DistArray, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return a norm: of all elements, or of vectors along an axis. Collective; the result is the same on every PE.

    Parameters
    ----------
    a
        The array.
    ord
        None or 2: the square root of the sum of squares. 1, inf, -inf, 0 or another number: as numpy.linalg.norm of
        vectors. Of a matrix, without an axis: "fro" is as None. 1 and -1 are the largest and smallest sum of a column, inf and
        -inf those of a row. 2, -2 and "nuc" are the largest singular value, the smallest, and the sum of all.
    axis
        The axis of the vectors. None: all elements are one vector, or a matrix.
    keepdims
        Keep the axes, with length 1.
    """
    if axis is None and a.ndim == 2 and ord is not None:
        found = _matrix_norm(a, ord)
        return found.reshape(1, 1) if keepdims else found
    if axis is not None and not is_one(axis):
        raise ValueError(f"norm: axis is {axis!r}; expected one axis or None.")
    if isinstance(ord, str) or (axis is None and a.ndim > 1 and ord is not None):
        raise ValueError(f"norm: ord={ord!r} of shape {a.shape}; expected None, or an axis, or a matrix.")
    return vector_norm(a, ord, axis, keepdims)


def _matrix_norm(a: DistArray, ord: Any) -> Any:
    from ._factors import svdvals

    if ord == "fro":
        return vector_norm(a, None, None, False)
    if ord in (1, -1, np.inf, -np.inf):
        sums = vector_norm(a, 1, 0 if abs(ord) == 1 else 1, False)
        return sums.max(initial=0) if ord > 0 else sums.min()
    if ord in (2, -2, "nuc"):
        s = svdvals(a)
        return s.sum() if ord == "nuc" else s.max(initial=0) if ord == 2 else s.min()
    raise ValueError(
        f"norm: ord={ord!r} of a matrix; expected 'fro', 'nuc', 1, -1, 2, -2, inf, -inf or None."
    )


@collective(on_gpus=True)
def vector_norm(a: DistArray, ord: Any, axis: Any, keepdims: bool) -> Any:
    """Return the norm of vectors along axes, by default all; None is the square root of the sum of squares. Collective."""
    size = abs(a.astype(np.float64) if a.dtype.kind in "biu" else a)
    if ord == np.inf and not size.size:  # the largest of no sizes is 0
        return size.sum(axis=axis, keepdims=keepdims)
    if ord in (np.inf, -np.inf):
        return (size.max if ord > 0 else size.min)(axis=axis, keepdims=keepdims)
    if ord == 0:
        return (size != 0).sum(axis=axis, keepdims=keepdims).astype(size.dtype)
    power = 2 if ord is None else ord
    if power == 1:
        return size.sum(axis=axis, keepdims=keepdims)
    return (size**power).sum(axis=axis, keepdims=keepdims) ** (1 / power)
