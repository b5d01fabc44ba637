"""Rows of a sparse matrix in one PE: products by SciPy if it is installed, else by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import atoll

from ..arrays._optional import scipy

Array = np.ndarray[Any, Any]


class Rows:
    """Some rows in compressed form; those without elements may be left out.

    Parameters
    ----------
    indptr, indices, data
        As in SciPy's CSR: row i has columns indices[indptr[i]:indptr[i + 1]].
    columns
        Number of columns.
    """

    def __init__(self, indptr: Array, indices: Array, data: Array, columns: int) -> None:
        # A product reads all of them, and SciPy keeps wide ones.
        narrow = np.int32 if max(columns, len(data)) <= np.iinfo(np.int32).max else np.int64
        indptr, indices = indptr.astype(narrow, copy=False), indices.astype(narrow, copy=False)
        sparse = scipy("sparse")
        self._matrix: Any = None
        if sparse is not None:
            self._matrix = sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))
            # SciPy may have narrower copies.
            indptr, indices, data = self._matrix.indptr, self._matrix.indices, self._matrix.data
        self._indptr, self._indices, self._data = indptr, indices, data
        self._columns = columns

    def parts(self) -> tuple[Array, Array, Array, int]:
        """Return the arguments that make the same rows."""
        return self._indptr, self._indices, self._data, self._columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        found: np.dtype[Any] = self._data.dtype
        return found

    def changed(self, function: Callable[[Array], Array]) -> Rows:
        """Return the same places with elements that a function computes."""
        return Rows(self._indptr, self._indices, function(self._data), self._columns)

    def times_transposed(self, x: Array) -> Array:
        """Return the product of a vector and these rows."""
        if self._matrix is not None:
            return np.asarray(self._matrix.T @ x)
        found = np.zeros(self._columns, np.result_type(self._data, x))
        np.add.at(found, self._indices, self._data * np.repeat(x, np.diff(self._indptr)))
        return found

    def triplets(self) -> tuple[Array, Array, Array]:
        """Return rows, columns and values of the elements."""
        rows = np.repeat(np.arange(len(self._indptr) - 1), np.diff(self._indptr))
        return rows, self._indices.astype(np.int64), self._data

    def elements_of(self, rows: Array) -> tuple[Array, Array]:
        """Return rows and columns of the elements of some rows, in their order."""
        starts = self._indptr[rows].astype(np.int64)
        counts = self._indptr[rows + 1] - starts
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        at = np.arange(total) + np.repeat(starts - (ends - counts), counts)
        return np.repeat(rows, counts), self._indices[at].astype(np.int64)

    def lower(self, found: Array, rows: Array | slice, x: Array) -> None:
        """Lower the numbers of rows to the least entry of x at a column of the row, if that is less."""
        filled = np.flatnonzero(np.diff(self._indptr))
        if len(filled):
            least = np.minimum.reduceat(x[self._indices], self._indptr[filled])
            targets = np.arange(len(found))[rows][filled]
            found[targets] = np.minimum(found[targets], least)

    def times_into(self, x: Array, out: Array) -> None:
        """Write the product with a vector; both are without gaps, and share no memory."""
        kind = self._data.dtype
        if kind.char in "df" and x.dtype == out.dtype == kind and self._indices.dtype == np.int32:
            atoll._atoll._row_products(self._indptr, self._indices, self._data, x, out)
        else:
            out[...] = self.times(x)

    def times(self, x: Array) -> Array:
        """Return the product with a vector, or with a matrix."""
        if self._matrix is not None:
            return np.asarray(self._matrix @ x)
        found = np.zeros((len(self._indptr) - 1, *x.shape[1:]), np.result_type(self._data, x))
        filled = np.flatnonzero(np.diff(self._indptr))
        if len(filled):
            data = self._data.reshape((-1,) + (1,) * (x.ndim - 1))
            found[filled] = np.add.reduceat(data * x[self._indices], self._indptr[filled])
        return found


def compressed(rows: Array, columns: Array, data: Array, n_rows: int) -> tuple[Array, Array, Array]:
    """Return triplets as indptr, indices and data, in the order of rows and columns; equal places are added."""
    order = np.lexsort((columns, rows))
    rows, columns, data = rows[order], columns[order], data[order]
    if len(rows):
        is_new = np.concatenate([[True], (np.diff(rows) != 0) | (np.diff(columns) != 0)])
        starts = np.flatnonzero(is_new)
        rows, columns, data = rows[starts], columns[starts], np.add.reduceat(data, starts)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
    return indptr.astype(np.int64), columns, data
