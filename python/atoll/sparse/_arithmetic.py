"""Sums, multiples and other products of sparse matrices over all PEs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import atoll

from ..arrays import DistArray, _axis, _libraries
from ..arrays._compared import collective
from ..arrays._functions._sorting import dealt
from ..arrays._layout import Layout
from ..arrays._teams import _current
from . import _whole
from ._local import compressed

if TYPE_CHECKING:
    from ._matrix import SparseMatrix

Array = np.ndarray[Any, Any]


class Arithmetic:
    """Operators of a sparse matrix. All are collective, and return new matrices and vectors."""

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError(
            "a sparse matrix is no array of NumPy, which would gather it; use A.to_scipy() or A @ x."
        )

    __array_ufunc__ = None  # an array of NumPy leaves the product to us

    def __matmul__(self, x: DistArray) -> DistArray:
        return _this(self).dot(x)

    def __rmatmul__(self, x: DistArray) -> DistArray:
        return transposed_product(_this(self), x)

    def __mul__(self, number: Any) -> SparseMatrix:
        if np.ndim(number) or isinstance(number, Arithmetic):
            return NotImplemented
        return multiple(_this(self), number)

    __rmul__ = __mul__

    def __truediv__(self, number: Any) -> SparseMatrix:
        if np.ndim(number) or isinstance(number, Arithmetic):
            return NotImplemented
        return multiple(_this(self), number, is_divided=True)

    def __neg__(self) -> SparseMatrix:
        return negative(_this(self))

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        return sum_of(_this(self), other) if isinstance(other, Arithmetic) else NotImplemented

    def toarray(self) -> Array:
        """Return all elements as a NumPy matrix on every PE. Collective.

        Returns
        -------
        numpy.ndarray
            Of the shape and dtype of the matrix; on hosts only.
        """
        return _whole.toarray(_this(self))

    def to_scipy(self) -> Any:
        """Return the matrix as SciPy's CSR on every PE. Collective.

        Returns
        -------
        scipy.sparse.csr_array

        Raises
        ------
        ImportError
            If SciPy is not installed.
        """
        return _whole.to_scipy(_this(self))

    def sum(self, axis: int | None = None) -> Any:
        """Return the sum of all elements, or sums along an axis. Collective.

        Parameters
        ----------
        axis
            0: the sums of columns, 1: those of rows. None: all.

        Returns
        -------
        DistArray or number
            Sums along an axis are a vector in blocks. A number is the same on every PE.

        Raises
        ------
        ValueError
            If it is another axis.
        """
        return _whole.sum_of_elements(_this(self), axis)

    def __sub__(self, other: SparseMatrix) -> SparseMatrix:
        return sum_of(_this(self), -other) if isinstance(other, Arithmetic) else NotImplemented


def _this(matrix: Arithmetic) -> SparseMatrix:
    return cast("SparseMatrix", matrix)


@collective(name="x @ A", on_gpus=True)
def transposed_product(a: SparseMatrix, x: DistArray) -> DistArray:
    """Return the product of a vector and a matrix, that of the transpose, without a new matrix. Collective.

    Each PE multiplies its rows. It sends what belongs to columns of other PEs, one number for each column. On GPUs the
    transpose is made.
    """
    if a._library is not _libraries.HOST:
        return a.T.dot(x)
    x = _whole.distributed(a, x)
    a._check("x", x, a._rows)
    dtype = np.result_type(a.dtype, x.dtype)
    made = DistArray._of(Layout.bare(a._columns), dtype, zero=False)
    x_local = x.local
    local = made.local
    local[...] = a._own.times_transposed(x_local)
    theirs = a._far.times_transposed(x_local[a._far_rows])
    bounds = a._columns.bounds or ()
    columns, values = dealt([a._far_columns, theirs], np.searchsorted(a._far_columns, bounds[1:-1]))
    np.add.at(local, columns.local - a._columns.ends(_current.my_pe())[0], values.local)
    _current.barrier()
    return made


@collective(name="A * number", on_gpus=True)
def multiple(a: SparseMatrix, number: Any, is_divided: bool = False) -> SparseMatrix:
    """Return the multiple of a matrix, with the same places of elements. Collective; nothing moves."""
    return _with_elements(a, lambda data: data / number if is_divided else data * number)


@collective(name="-A", on_gpus=True)
def negative(a: SparseMatrix) -> SparseMatrix:
    """Return the negative of a matrix; unsigned elements wrap, as NumPy's do. Collective; nothing moves."""
    return _with_elements(a, np.negative)


def _with_elements(a: SparseMatrix, function: Callable[[Array], Array]) -> SparseMatrix:
    """Return a matrix with the same places of elements, which a function computes."""
    on_host = a if a._library is _libraries.HOST else a._copy_on(_libraries.HOST)
    made = copy.copy(on_host)
    made._own, made._far = (rows.changed(function) for rows in (on_host._own, on_host._far))
    made.dtype = made._own.dtype
    made._bring_to(a._library)
    return made


@collective(name="A + B", on_gpus=True)
def sum_of(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    """Return the sum of two matrices of one shape. Collective; nothing moves.

    Raises
    ------
    ShapeMismatch
        If the shapes differ.
    """
    from ._matrix import SparseMatrix

    if a.shape != b.shape:
        raise atoll.ShapeMismatch(f"A + B: shapes {a.shape} and {b.shape}; they must be equal.")
    row, column, data = (np.concatenate(both) for both in zip(a._triplets(), b._triplets(), strict=True))
    first, stop = a._rows.ends(_current.my_pe())
    made = SparseMatrix(*compressed(row - first, column, data, stop - first), a.shape)
    made._bring_to(a._library)
    return made


def product_with_matrix(a: SparseMatrix, x: DistArray, out: DistArray | None) -> DistArray:
    """Return the product with a matrix whose rows are in blocks; see `SparseMatrix.dot`."""
    if a._library is not _libraries.HOST:
        raise atoll.Unsupported(
            f"A @ x of a matrix x works on hosts, and A is {a._library.text}; multiply the columns one by one."
        )
    columns = _axis.block(x.shape[1], 1)
    a._check("x", x, a._columns, columns)
    dtype = np.result_type(a.dtype, x.dtype)
    if out is None:
        out = DistArray._of(Layout.bare(a._rows, columns), dtype, zero=False)
    else:
        a._check("out", out, a._rows, columns)
        a._check_out(x, out, dtype)
    _current.barrier()
    local = out.local
    local[...] = a._own.times(x.local)
    if len(a._far_rows):
        local[a._far_rows] += a._far.times(_far_rows_of(a, x))
    _current.barrier()
    return out


def _far_rows_of(a: SparseMatrix, x: DistArray) -> Array:
    """Return the rows of a matrix in blocks that this PE's rows need of other PEs."""
    found = np.empty((len(a._far_columns), x.shape[1]), x.dtype)
    (low, _), (left, _) = x._layout.halo
    for pe in np.unique(a._parts):
        of_pe = np.flatnonzero(a._parts == pe)
        block = x._memory.view(int(pe))
        if block is None:
            found[of_pe] = x.at[a._far_columns[of_pe]].get()
        else:
            found[of_pe] = block[a._numbers[of_pe] + low, left : left + x.shape[1]]
    return found
