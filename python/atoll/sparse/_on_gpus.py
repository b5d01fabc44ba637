"""Rows of a sparse matrix in one PE on its GPU: products by CuPy or PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

import atoll

from ..arrays._libraries import HOST, Library
from ._local import Array, Rows

if TYPE_CHECKING:
    from ..arrays._libraries._cupy import CuPy

LARGEST = 2**31 - 1  # elements and columns of a PE, which the libraries number by 32 bits


class LibraryRows:
    """Rows in compressed form as arrays of a library; arguments as of `Rows`."""

    def __init__(self, library: CuPy, indptr: Array, indices: Array, data: Array, columns: int) -> None:
        self._library, self._columns = library, columns
        self._dtype = data.dtype
        self._n_rows, self._is_empty = len(indptr) - 1, not len(data)
        self._indptr, self._indices = (library.array(x.astype(np.int32)) for x in (indptr, indices))
        self._data = library.array(data)
        self._matrix = None if self._is_empty else self._matrix_of(self._data)

    def _matrix_of(self, data: Any) -> Any:
        return self._library.compressed(self._indptr, self._indices, data, self._columns)

    def times_into(self, x: Any, out: Any) -> None:
        """Write the product with a vector of the library."""
        out[...] = self.times(x)

    def times(self, x: Any) -> Any:
        """Return the product with a vector of the library, in the dtype that NumPy gives it."""
        its = self._library
        dtype = np.result_type(self._dtype, its.dtype(x))
        if self._is_empty:
            found = its.empty((self._n_rows,), dtype)
            found[...] = 0
            return found
        matrix = self._matrix
        if dtype != self._dtype:  # a copy of the values for this product
            matrix = self._matrix_of(its.cast(self._data, dtype))
        return its.times(matrix, its.cast(x, dtype))

    def on_host(self) -> Rows:
        """Return the same rows in memory of the host."""
        indptr, indices, data = map(self._library.to_numpy, (self._indptr, self._indices, self._data))
        return Rows(indptr.astype(np.int64), indices.astype(np.int64), data, self._columns)

    def triplets(self) -> tuple[Array, Array, Array]:
        """Return rows, columns and values of the elements as arrays of NumPy."""
        return self.on_host().triplets()


def require(library: Library, dtype: np.dtype[Any], elements: int, columns: int) -> None:
    """Raise Unsupported for a matrix of which the library makes no products."""
    if library is HOST:
        return
    if dtype.kind not in "fc" or dtype.itemsize not in (4, 8, 16) or dtype.char in "gG":
        raise atoll.Unsupported(
            f"a sparse matrix {library.text} has elements of float32, float64, complex64 or complex128, not {dtype}; convert "
            "the values first, such as by values.astype(float)."
        )
    if max(elements, columns) > LARGEST:
        raise atoll.Unsupported(
            f"a sparse matrix {library.text} has at most {LARGEST} elements and columns on a PE, not {elements} and "
            f"{columns}; use more PEs, or hosts."
        )


def rows_on(library: Library, rows: Rows | LibraryRows) -> Rows | LibraryRows:
    """Return rows as those of a library, through the host if they are on another GPU's."""
    given = rows.on_host() if isinstance(rows, LibraryRows) else rows
    return given if library is HOST else LibraryRows(cast("CuPy", library), *given.parts())
