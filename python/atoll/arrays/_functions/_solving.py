"""Linear equations, inverses, determinants and Cholesky factors of square matrices, by panels of columns.

Columns are dealt to the PEs in panels. The owner of a panel factors it, all PEs read it, and each applies it to the columns
that it has.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import atoll

from .._compared import collective
from .._teams import _current
from .._teams._exchange import from_root
from .._together import before_barrier
from . import _factors, _matrices, _moves, _products

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]
WIDTH = 64  # columns of a panel
NARROW = 8  # columns that are eliminated one by one


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


def _in_panels(call: str, a: DistArray, dtype: Any = None) -> DistArray:
    """Return a copy of a square matrix whose columns are dealt to the PEs in panels. Collective."""
    _factors.require_square(call, a)
    dtype = _factors.lapack_dtype(a.dtype) if dtype is None else dtype
    given = a if a.dtype == dtype else a.astype(dtype)
    return given.redistribute(("whole", f"cyclic({WIDTH})"))


def _panels(n: int) -> list[tuple[int, int]]:
    return [(start, min(start + WIDTH, n)) for start in range(0, n, WIDTH)]


def _own(work: DistArray, start: int, stop: int) -> Array:
    """Return a view of columns of one panel, which this PE owns."""
    first = int(np.searchsorted(work.global_indices(1), start))
    return np.asarray(work.local[:, first : first + stop - start])


def _from_column(work: DistArray, start: int) -> Array:
    """Return a view of the columns that this PE has from one column on."""
    return np.asarray(work.local[:, int(np.searchsorted(work.global_indices(1), start)) :])


# No step of one PE raises, nor warns, of infinite numbers, whatever the program's `numpy.errstate` is; NumPy's neither.
@np.errstate(all="ignore")
def _eliminated(work: DistArray, right: DistArray | None) -> tuple[Array, int]:
    """Factor a matrix in panels in place, with exchanged rows, and apply each step to right sides, too. Collective.

    Returns
    -------
    pivots, exchanges
        The diagonal of the upper triangle, and the number of rows that were exchanged; the same on every PE.
    """
    n, pivots, exchanges = work.shape[0], [np.empty(0, work.dtype)], 0
    for start, stop in _panels(n):
        owner, found = work.owner((0, start)), None
        with before_barrier():
            if owner == _current.my_pe():
                own = _own(work, start, stop)[start:]
                panel = own.copy("F")
                found = _factored(panel)
                own[...] = panel
        order, exchanged = from_root(found, owner)
        panel = np.asarray(work.get((slice(start, n), slice(start, stop))))
        width, moved = stop - start, np.flatnonzero(order != np.arange(n - start))  # few rows of many
        pivots.append(panel.diagonal().copy())
        exchanges += exchanged
        for columns in [_from_column(work, stop), *([] if right is None else [right.local])]:
            if columns.size:
                columns[start + moved] = columns[start + order[moved]]
                columns[start:stop] = _lower_solved(panel[:width], columns[start:stop])
                columns[stop:] -= panel[width:] @ columns[start:stop]
    _current.barrier()
    return np.concatenate(pivots), exchanges


def _factored(panel: Array) -> tuple[Array, int]:
    """Factor a panel with at least as many rows as columns in place. Return the order of its rows, and the exchanges.

    Halves of the columns are factored one after the other, so that most of the work is a product of matrices.
    """
    order, exchanged = np.arange(len(panel)), 0
    if panel.shape[1] <= NARROW:
        for k in range(panel.shape[1]):
            best = k + int(np.argmax(abs(panel[k:, k])))
            if best > k:
                exchanged += 1
                order[[k, best]] = order[[best, k]]
                panel[[k, best]] = panel[[best, k]]
            if panel[k, k] != 0:
                panel[k + 1 :, k] /= panel[k, k]
            panel[k + 1 :, k + 1 :] -= np.multiply.outer(panel[k + 1 :, k], panel[k, k + 1 :])
        return order, exchanged
    half = panel.shape[1] // 2
    left, right = panel[:, :half], panel[:, half:]
    order, exchanged = _factored(left)
    right[...] = right[order]
    right[:half] = _lower_solved(left[:half], right[:half])
    right[half:] -= left[half:] @ right[:half]
    lower, more = _factored(right[half:])
    left[half:] = left[half:][lower]
    order[half:] = order[half:][lower]
    return order, exchanged + more


def _lower_solved(lower: Array, right: Array) -> Array:
    """Solve with the lower triangle of a matrix, whose diagonal counts as ones."""
    return np.linalg.solve(np.tril(lower, -1) + np.eye(len(lower), dtype=lower.dtype), right)


@np.errstate(all="ignore")
def _solved(call: str, work: DistArray, right: DistArray) -> None:
    """Solve for right sides in place; their columns are whole, as those of the matrix in panels. Collective."""
    pivots, _ = _eliminated(work, right)
    if not pivots.all():
        raise np.linalg.LinAlgError(f"{call}: Singular matrix")
    x = right.local
    for start, stop in reversed(_panels(work.shape[0])) if x.size else ():
        upper = np.asarray(work.get((slice(0, stop), slice(start, stop))))
        x[start:stop] = np.linalg.solve(np.triu(upper[start:]), x[start:stop])
        x[:start] -= upper[:start] @ x[start:stop]
    _current.barrier()


@collective()
def solve(a: Any, b: Any) -> DistArray:
    """Return the x of `a @ x = b`. Collective, by elimination with exchanged rows.

    Each PE makes a copy of its parts of both, and a part more for products. It reads panels of n × 64 numbers of the others.

    Parameters
    ----------
    a
        A square matrix.
    b
        A vector, or a matrix of vectors in columns. One of `a` and `b` may be NumPy's, the same on every PE.

    Returns
    -------
    DistArray
        In the distribution of b, or in blocks for a b of NumPy.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is singular, or not square.
    ShapeMismatch
        If b has another number of rows.
    TypeError
        If an array has no numbers that LAPACK takes.
    """
    call = "numpy.linalg.solve"
    for each in (a, b):
        _factors.require_lapack(call, each.dtype if hasattr(each, "dtype") else np.asarray(each).dtype)
    matrix, given = _matrices.distributed([a, b])
    _factors.require_square(call, matrix)
    if given.ndim not in (1, 2) or given.shape[0] != matrix.shape[0]:
        raise atoll.ShapeMismatch(
            f"{call}: a has shape {matrix.shape} and b {np.shape(b)}; expected as many rows in b, and one or two axes."
        )
    dtype = np.result_type(*(_factors.lapack_dtype(each.dtype) for each in (matrix, given)))
    columns = given if given.ndim == 2 else _moves.reshape(given, (-1, 1))
    right = columns.astype(dtype).redistribute(("whole", "block"))
    _solved(call, _in_panels(call, matrix, dtype), right)
    found = right if given.ndim == 2 else _moves.reshape(right, (-1,))
    return _factors.distributed_as(found, given._layout.without_halo())


@collective()
def inv(a: DistArray) -> DistArray:
    """Return the inverse of a matrix in its distribution. Collective; as `solve` with n right sides."""
    call = "numpy.linalg.inv"
    work = _in_panels(call, a)
    right = type(a)(work.shape, work.dtype, dist=("whole", "block"))
    right.local[right.global_indices(1), np.arange(right.local.shape[1])] = 1
    _current.barrier()
    _solved(call, work, right)
    return _factors.distributed_as(right, a._layout.without_halo())


@collective()
def slogdet(a: DistArray) -> SlogdetResult:
    """Return the sign of the determinant and the logarithm of its absolute value, on every PE. Collective; as `solve`."""
    return _slogdet("numpy.linalg.slogdet", a)


@collective()
def det(a: DistArray) -> Any:
    """Return the determinant, the same on every PE. Collective; as `solve`."""
    found = _slogdet("numpy.linalg.det", a)
    with np.errstate(over="ignore", under="ignore"):
        return found.sign * np.exp(found.logabsdet).astype(found.sign.dtype)


@np.errstate(all="ignore")
def _slogdet(call: str, a: DistArray) -> SlogdetResult:
    pivots, exchanges = _eliminated(_in_panels(call, a), None)
    sizes = abs(pivots)
    if not pivots.all():
        return SlogdetResult(pivots.dtype.type(0), sizes.dtype.type(-np.inf))
    # An infinite pivot has a sign, too.
    signs = pivots / sizes if pivots.dtype.kind == "c" else np.where(pivots < 0, -1, 1).astype(pivots.dtype)
    sign = np.prod(signs) * pivots.dtype.type((-1) ** exchanges)
    return SlogdetResult(sign, np.log(sizes).sum())


@collective()
def cholesky(a: DistArray, *, upper: bool = False) -> DistArray:
    """Return the Cholesky factor of a positive definite matrix, in its distribution. Collective.

    Each PE makes a copy of its part, and reads panels of n × 64 numbers of the others. The upper triangle is not read.

    Parameters
    ----------
    a
        A symmetric matrix, or a Hermitian one.
    upper
        Return the upper factor, and read the upper triangle.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite, or not square.
    """
    call = "numpy.linalg.cholesky"
    _factors.require_square(call, a)
    work = _in_panels(call, _moves.transpose(a).conj() if upper else a)
    _cholesky_factored(work)
    if upper:
        work = _moves.transpose(work).conj()
    return _factors.distributed_as(work, a._layout.without_halo())


@np.errstate(all="ignore")
def _cholesky_factored(work: DistArray) -> None:
    """Replace a matrix in panels by its lower Cholesky factor. Collective."""
    n, own = work.shape[0], work.global_indices(1)
    for start, stop in _panels(n):
        with before_barrier():
            if work.owner((0, start)) == _current.my_pe():
                columns = _own(work, start, stop)
                columns[:start] = 0
                columns[start:stop] = top = np.linalg.cholesky(columns[start:stop])
                columns[stop:] = np.linalg.solve(top, columns[stop:].conj().T).conj().T
        panel = np.asarray(work.get((slice(start, n), slice(start, stop))))
        for first, last in _panels(n):
            mine = np.flatnonzero((own >= max(first, stop)) & (own < last))
            if mine.size:
                work.local[first:, mine] -= (
                    panel[first - start :] @ panel[first - start : last - start].conj().T
                )
    _current.barrier()


@collective()
def matrix_power(a: DistArray, n: int) -> DistArray:
    """Return a matrix to an integer power, in blocks. Collective; by products, after `inv` of a negative power."""
    _factors.require_square("numpy.linalg.matrix_power", a)
    n = operator.index(n)
    if n == 0:
        from ..api import eye

        return eye(a.shape[0], dtype=a.dtype)
    base = inv(a) if n < 0 else type(a)._from_part(a._layout.without_halo(), a.local)
    found, rest = None, abs(n)
    while True:
        if rest % 2:
            found = base if found is None else _products.matmul(found, base)
        rest //= 2
        if found is not None and not rest:
            return found
        base = _products.matmul(base, base)


@collective()
def multi_dot(arrays: Sequence[Any]) -> Any:
    """Return the product of several matrices, in blocks. Collective; the cheapest product of two neighbours comes first.

    Parameters
    ----------
    arrays
        Two or more matrices, some distributed. The first and the last one may be vectors.

    Raises
    ------
    numpy.linalg.LinAlgError
        If another one of three or more is no matrix.
    """
    left = list(arrays)
    if len(left) < 2:
        raise ValueError("multi_dot: expected two arrays or more.")
    if len(left) == 2:
        return _products.dot(*left)
    for number, each in enumerate(left):
        if np.ndim(each) != 2 and (np.ndim(each) != 1 or number not in (0, len(left) - 1)):
            raise np.linalg.LinAlgError(
                f"numpy.linalg.multi_dot: array {number} has shape {np.shape(each)}; expected a matrix, or a vector at an end."
            )
    while len(left) > 1:
        costs = [np.size(x) * np.size(y) // max(np.shape(x)[-1], 1) for x, y in itertools.pairwise(left)]
        at = costs.index(min(costs))
        pair = left[at : at + 2]
        is_ours = any(hasattr(each, "_layout") for each in pair)
        left[at : at + 2] = [_products.matmul(*pair) if is_ours else np.matmul(*pair)]
    return left[0]
