"""Graphs over all PEs: an element in row i and column j of a `SparseMatrix` is an edge from vertex i to vertex j.

>>> import numpy as np
>>> from atoll import sparse
>>> from atoll.sparse import csgraph
>>> A = sparse.from_triplets([0, 1, 3], [1, 2, 4], np.ones(3), (5, 5))
>>> levels, parents = csgraph.breadth_first(A, 0)
>>> levels.to_numpy(), parents.to_numpy()
(array([ 0,  1,  2, -1, -1]), array([-1,  0,  1, -1, -1]))

The names are those of `scipy.sparse.csgraph` where it has one.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import atoll

from ..arrays import DistArray
from ..arrays._compared import collective
from ..arrays._functions._sorting import dealt
from ..arrays._layout import Layout
from ..arrays._teams import _current
from ..arrays._together import raise_together
from ._frontier import Frontier
from ._matrix import SparseMatrix, from_triplets
from ._solvers import total

__all__ = ["breadth_first", "connected_components", "pagerank"]

Array = np.ndarray[Any, Any]


@collective()
def breadth_first(A: SparseMatrix, source: int, *, directed: bool = True) -> tuple[DistArray, DistArray]:
    """Return how far each vertex is from a source, and the vertices before them. Collective.

    Parameters
    ----------
    A
        The graph; values do not matter.
    source
        The vertex to start from, the same on every PE.
    directed
        False: edges lead both ways. This makes a matrix with twice the elements first.

    Returns
    -------
    levels, parents
        Vectors of int64 in blocks, visible to every PE. The level of a vertex is the least number of edges that lead to
        it from the source, -1 if none do. Its parent is the vertex of the least number one level before; -1 for the
        source and for vertices that are not reached. Both are the same for any number of PEs.

    Raises
    ------
    TypeError, ShapeMismatch
        If A is not a square `SparseMatrix`.
    IndexError
        If there is no such vertex.

    Notes
    -----
    A PE sends each vertex of another PE once, when the first of its own edges reaches it. Each level takes a barrier and a
    sum. Besides the graph a PE needs 16 bytes for each of its vertices, and 25 for each vertex of others that its edges
    lead to. The edges of one level need temporaries of 40 bytes each.
    """
    n = _checked("breadth_first", A)
    start = operator.index(source)
    if not 0 <= start < n:
        raise IndexError(
            f"breadth_first(): vertex {source} does not exist; the graph has vertices 0 to {n - 1}."
        )
    graph = A if directed else _symmetrized(A)
    frontier = Frontier(graph, start)
    while frontier.advance():
        pass
    axis = Layout.bare(graph._rows)
    return DistArray._from_part(axis, frontier.levels), DistArray._from_part(axis, frontier.final_parents())


@collective(on_gpus=True)
def pagerank(
    A: SparseMatrix, damping: float = 0.85, *, tol: float = 1e-6, maxiter: int = 100
) -> tuple[DistArray, int]:
    """Return the share of time that a random surfer spends at each vertex. Collective.

    Parameters
    ----------
    A
        The graph. From a vertex the surfer takes an edge with a probability in proportion to its value, 0 or more.
    damping
        The probability of following an edge, from 0 to 1. Else, and without edges, any vertex is next.
    tol
        The iteration ends when the sum of the absolute changes is at most this.
    maxiter
        Most steps.

    Returns
    -------
    ranks, info
        A vector of float64 in blocks whose sum is 1, where the graph lies, and 0, or the number of steps if they did not suffice.

    Raises
    ------
    ValueError
        If the damping is out of range. If a value is negative or not finite; then on every PE, with the PE's number.
    TypeError, ShapeMismatch
        If A is not a square `SparseMatrix`.

    Notes
    -----
    One transposed matrix of float64 and two vectors are kept. Each step is a product and two sums over all PEs. For a graph
    on GPUs the transposed matrix is made on the hosts.
    """
    n = _checked("pagerank", A)
    if not 0 <= damping <= 1:
        raise ValueError(f"pagerank(damping={damping}): expected 0 to 1.")
    row, column, data = A._triplets()
    problem = None
    if data.dtype.kind == "c" or not (np.isfinite(data) & (data >= 0)).all():
        problem = ValueError(f"pagerank(): PE {_current.my_pe()} has a value that is negative or not finite.")
    raise_together(problem)
    first, stop = A._rows.ends(_current.my_pe())
    weights = np.bincount(row - first, data, stop - first)
    follow = from_triplets(column, row, data / np.where(weights > 0, weights, 1)[row - first], (n, n))
    its = A._library
    follow._bring_to(its)
    is_end = its.array((weights == 0).astype(np.float64))
    x, y = (DistArray(n) for _ in range(2))
    x.local[...] = 1 / max(n, 1)
    for _ in range(maxiter):
        follow.dot(x, out=y)
        jumps = total(its.inner(is_end, x.local, False)).item()
        y.local[...] = damping * (y.local + jumps / max(n, 1)) + (1 - damping) / max(n, 1)
        change = total(its.reduced(np.add, abs(y.local - x.local), (0,)))
        x, y = y, x
        if change <= tol:
            _current.barrier()
            return x, 0
    _current.barrier()
    return x, maxiter


@collective()
def connected_components(A: SparseMatrix) -> tuple[int, DistArray]:
    """Return the number of components and the component of each vertex; edges lead both ways. Collective.

    Parameters
    ----------
    A
        The graph; values do not matter.

    Returns
    -------
    n_components, labels
        A vector of int64 in blocks. Components are numbered from 0 in the order of their first vertices.

    Raises
    ------
    TypeError, ShapeMismatch
        If A is not a square `SparseMatrix`.

    Notes
    -----
    Labels spread along edges, and jump along the vertices that they name (FastSV). So a path of n vertices takes about
    log(n) steps. A matrix with twice the elements is made first. Besides it a PE needs about 100 bytes for each of its vertices
    and 16 for each element.
    """
    _checked("connected_components", A)
    graph = _symmetrized(A)
    f = DistArray._from_part(Layout.bare(graph._rows), graph._rows.indices(_current.my_pe()))
    grand = f.copy()
    while True:
        least = graph._least_of_neighbours(grand)
        _lower(f, f.local.copy(), least)
        f.local[...] = np.minimum(f.local, np.minimum(least, grand.local))
        _current.barrier()
        now = f.at[f.local].get()
        _current.barrier()
        changes = total(np.count_nonzero(now != grand.local))
        grand.local[...] = now
        if not changes:
            return _numbered(f)


def _lower(f: DistArray, targets: Array, values: Array) -> None:
    """Set f[targets] to the values that are less; each PE passes some. Collective."""
    order = np.lexsort((values, targets))
    targets, values = targets[order], values[order]
    is_first = np.diff(targets, prepend=-1) != 0
    targets, values = targets[is_first], values[is_first]
    bounds = f._layout.axes[0].bounds or ()
    got = [each.local for each in dealt([targets, values], np.searchsorted(targets, bounds[1:-1]))]
    np.minimum.at(f.local, got[0] - bounds[_current.my_pe()], got[1])


def _numbered(f: DistArray) -> tuple[int, DistArray]:
    """Return the number of roots, and the place of each vertex's root among them."""
    first = f.bounds()[0][0]
    is_root = f.local == np.arange(first, first + len(f.local))
    counts = np.asarray(
        atoll.fcollect(np.array([np.count_nonzero(is_root)], np.int64), team=_current.team())
    ).ravel()
    ranks = DistArray._from_part(f._layout, np.cumsum(is_root) - 1 + counts[: _current.my_pe()].sum())
    labels = DistArray._from_part(f._layout, ranks.at[f.local].get())
    return int(counts.sum()), labels


def _symmetrized(A: SparseMatrix) -> SparseMatrix:
    """Return the graph with each edge in both directions."""
    row, column, _ = A._triplets()
    ones = np.ones(2 * len(row), np.int8)
    return from_triplets(np.concatenate([row, column]), np.concatenate([column, row]), ones, A.shape)


def _checked(call: str, A: Any) -> int:
    """Return the number of vertices."""
    if not isinstance(A, SparseMatrix):
        raise TypeError(
            f"{call}(): the graph is {type(A).__name__}; expected a SparseMatrix of atoll.sparse."
        )
    if A.shape[0] != A.shape[1]:
        raise atoll.ShapeMismatch(f"{call}(): shape {A.shape} is not square.")
    return A.shape[0]
