"""A sparse matrix as an ordinary one on every PE, and its sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from ..arrays import DistArray, _libraries, from_array
from ..arrays._compared import collective
from ..arrays._functions import _moves
from ..arrays._makers import ones
from ..arrays._optional import required
from ..arrays._teams import _current

if TYPE_CHECKING:
    from ._matrix import SparseMatrix

Array = np.ndarray[Any, Any]


@collective(name="A.toarray")
def toarray(a: SparseMatrix) -> Array:
    """Return all elements as a NumPy matrix on every PE. Collective."""
    rows, columns, values = _all_triplets(a)
    found: Array = np.zeros(a.shape, a.dtype)
    np.add.at(found, (rows, columns), values)
    return found


@collective(name="A.to_scipy")
def to_scipy(a: SparseMatrix) -> Any:
    """Return the matrix as SciPy's CSR on every PE. Collective."""
    sparse = required("A.to_scipy()", "scipy.sparse")
    rows, columns, values = _all_triplets(a)
    return sparse.csr_array((values, (rows, columns)), shape=a.shape)


def _all_triplets(a: SparseMatrix) -> list[Array]:
    return [_moves.gathered(part).to_numpy() for part in a._triplets()]


@collective(name="A.sum")
def sum_of_elements(a: SparseMatrix, axis: int | None) -> Any:
    """Return the sum of all elements, or those of columns or rows in blocks. Collective."""
    dtype = np.zeros(1, a.dtype).sum().dtype
    if axis is None:
        mine = np.array([a._triplets()[2].sum(dtype=dtype)])
        return atoll.sum_reduce(mine, team=_current.team())[0]
    if axis not in (0, 1, -1, -2):
        raise ValueError(f"A.sum(axis={axis!r}): expected 0 for the columns, 1 for the rows, or None.")
    along = axis % 2
    factor = ones(a.shape[along], dtype=dtype)
    return a.dot(factor) if along else factor @ a


def distributed(a: SparseMatrix, x: Any) -> Any:
    """Return an array of NumPy as a distributed operand of products on hosts; anything else as it is. Collective."""
    if isinstance(x, DistArray) or not isinstance(x, (np.ndarray, list)) or a._library is not _libraries.HOST:
        return x
    given = np.asarray(x)
    if given.ndim not in (1, 2):
        return x
    return from_array(given, dist="block" if given.ndim == 1 else ["block", "whole"])
