"""Sparse matrices whose rows are distributed over all PEs, or over a team."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

import atoll

from ..arrays import DistArray, _axis, _libraries
from ..arrays._compared import collective, under_one_name
from ..arrays._dtypes import agreed_dtype, converted
from ..arrays._functions._sorting import dealt
from ..arrays._layout import Layout, numbers_of
from ..arrays._libraries import on_host
from ..arrays._teams import _current
from ..arrays._teams._exchange import gathered
from ..arrays._together import raise_together, together
from . import _whole
from ._arithmetic import Arithmetic, product_with_matrix
from ._entries import Entries
from ._local import Rows, compressed
from ._on_gpus import require, rows_on

Array = np.ndarray[Any, Any]


@under_one_name
class SparseMatrix(Arithmetic, _current.OverTeam):
    """A sparse matrix of which each PE has a block of rows in compressed form (CSR).

    `A @ x` multiplies by a distributed vector in blocks. A PE gets only the entries of x that its rows need. The first product
    makes the plan for that. Owners put entries, and meanwhile each PE multiplies what needs its own ones alone. Few entries
    on one host are read at once. `x @ A` is the product with the transpose. `2 * A`, `A + B` and others make new matrices.
    Make matrices by `from_triplets`, `from_rows` or `from_scipy`.

    Parameters
    ----------
    indptr, indices, data
        This PE's rows as in SciPy's CSR, with global columns: the rows of its part of a distributed vector in blocks.
    shape
        Global numbers of rows and columns.
    team
        The PEs that have the matrix, all by default.
    device, xp
        Where the rows lie, and their library, as for `DistArray`; hosts by default. On GPUs elements are float32, float64,
        complex64 or complex128.

    Notes
    -----
    Making one is collective. Rows and columns are distributed as `DistArray(n)` distributes n elements. A PE keeps its
    rows once, and 24 bytes for each entry of x that it fetches. If owners put entries, the first product adds 8 bytes
    for each of them. It also makes symmetric room, for each dtype of x, for the entries of the neediest PE. While rows are
    made, there are up to three copies of them, in memory of the host also for a matrix on GPUs. `from_triplets`, `A.T` and
    `A + B` take up to five times the memory of all triplets.
    """

    @collective("self", "indptr", "indices", "data", name="SparseMatrix", on_gpus=True)
    def __init__(
        self,
        indptr: Array,
        indices: Array,
        data: Array,
        shape: tuple[int, int],
        *,
        team: atoll.Team | None = None,
        device: Any = None,
        xp: Any = None,
    ) -> None:
        if team is not None and team != _current.team():
            raise atoll.InvalidArgument(
                "SparseMatrix(team=...): a matrix over another team within a collective call; make it by a separate call."
            )
        self._team = _current.team()
        self._library, to = _libraries.HOST, _libraries.chosen(device, xp, "SparseMatrix")
        n, me = _current.n_pes(), _current.my_pe()
        self.shape = shape
        indptr, indices, data = map(on_host, (indptr, indices, data))
        self._rows, self._columns = _axis.block(shape[0], n), _axis.block(shape[1], n)
        kinds = gathered((data.dtype, len(data)))
        self.dtype = agreed_dtype(kinds)
        self.nnz, self._most = sum(count for _, count in kinds), max(count for _, count in kinds)
        require(to, self.dtype, self._most, shape[1])
        first, stop = self._columns.ends(me)
        is_own = (indices >= first) & (indices < stop)
        row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        data = converted(data, self.dtype)
        own = np.concatenate([[0], np.cumsum(np.bincount(row[is_own], minlength=len(indptr) - 1))])
        self._own: Any = Rows(own, indices[is_own] - first, data[is_own], stop - first)
        # Rows with columns of other PEs; columns are numbered by their place among those that are fetched.
        self._far_columns, number = np.unique(indices[~is_own], return_inverse=True)
        self._far_rows, lengths = np.unique(row[~is_own], return_counts=True)
        self._far: Any = Rows(
            np.concatenate([[0], np.cumsum(lengths)]), number, data[~is_own], len(self._far_columns)
        )
        self._parts = np.asarray(self._columns.owner(self._far_columns), np.int64)
        self._numbers = np.asarray(self._columns.local(self._far_columns), np.int64)
        self._entries: Entries | None = None
        self._bring_to(to)

    def _bring_to(self, to: _libraries.Library) -> None:
        """Bring the rows and the plan of fetching to a library."""
        its = self._library
        if to is its:
            return
        require(to, self.dtype, self._most, self.shape[1])
        if not to.has_device():
            DistArray(self._team.n_pes(), np.uint8, device=to.device, xp=to.name)
        self._own, self._far = rows_on(to, self._own), rows_on(to, self._far)
        self._far_rows, self._parts, self._numbers = (
            to.array(its.to_numpy(x)) for x in (self._far_rows, self._parts, self._numbers)
        )
        self._library = to

    def _copy_on(self, to: _libraries.Library) -> SparseMatrix:
        made = copy.copy(self)
        made._bring_to(to)
        return made

    def __repr__(self) -> str:
        me = self._team.my_pe()
        first, stop = self._rows.ends(me)
        of = "" if self._team == atoll.WORLD else f" of a team of {self._team.n_pes()}"
        where = "" if self._library is _libraries.HOST else f", {self._library.text}"
        return (
            f"SparseMatrix(shape={self.shape}, dtype={self.dtype}, {self.nnz} elements, PE {me}{of} has rows "
            f"{first}:{stop} and fetches {len(self._far_columns)} entries{where})"
        )

    @collective(on_gpus=True)
    def dot(self, x: DistArray, out: DistArray | None = None) -> DistArray:
        """Return the product with a vector or a matrix. Collective.

        Parameters
        ----------
        x
            A distributed vector in blocks, on GPUs if the matrix is. Or a matrix on hosts whose rows are in blocks and
            whole: `dist=["block", "whole"]`. What this call finds there was written before it was called. On hosts it may be
            NumPy's, the same on every PE.
        out
            An array distributed as x for the result, another one than x. Then nothing is allocated, but by the first product
            with a vector, and the first one of each dtype of x: they may make symmetric memory for entries of other PEs.

        Returns
        -------
        DistArray
            `out`, or a new array distributed as x.

        Raises
        ------
        TypeError
            If x is not a distributed array.
        ShapeMismatch
            If x or `out` has another length, or is not in blocks, or `out` has another dtype.
        InvalidArgument
            If x or `out` is on hosts and the matrix on GPUs, or in arrays of another library, or belongs to another team.

        Notes
        -----
        On GPUs the entries are fetched, and the product is computed, on the library's current stream. If x has a wider
        dtype, each product there takes a copy of the values.
        """
        x = _whole.distributed(self, x)
        if isinstance(x, DistArray) and x.ndim == 2:
            return product_with_matrix(self, x, out)
        self._check("x", x, self._columns)
        dtype = np.result_type(self.dtype, x.dtype)
        if out is None:
            out = DistArray._of(Layout.bare(self._rows), dtype, zero=False)
        else:
            self._check("out", out, self._rows)
            self._check_out(x, out, dtype)
        _current.barrier()
        self._start(x)
        local = out.local
        self._own.times_into(x.local, local)
        fetched = self._fetched(x)
        if len(self._far_rows):
            local[self._far_rows] += self._far.times(fetched)
        _current.barrier()
        return out

    def _least_of_neighbours(self, x: DistArray) -> Array:
        """Return for each row of this PE the least entry of x at its columns, or its own. Collective.

        x is a vector in blocks; the matrix is square.
        """
        _current.barrier()
        self._start(x)
        found: Array = x.local.copy()
        self._own.lower(found, slice(None), x.local)
        self._far.lower(found, self._far_rows, self._fetched(x))
        _current.barrier()
        return found

    def _start(self, x: DistArray) -> None:
        """Begin to bring the entries of x to the PEs that need them. Collective."""
        if self._library is _libraries.HOST:
            if self._entries is None or not self._entries.exists:  # a matrix may be kept over a job's end
                is_near = all(x._memory.view(pe) is not None for pe in range(self._team.n_pes()))
                self._entries = Entries(self._team, self._parts, self._numbers, is_near)
            self._entries.start(x)

    def _fetched(self, x: DistArray) -> Any:
        """Return the entries of x that this PE needs of others."""
        if self._entries is not None and self._library is _libraries.HOST:
            return self._entries.finish(x)
        low, its = x._layout.halo[0][0], self._library
        found = its.empty((len(self._far_columns),), x.dtype)
        if len(self._far_columns):
            numbers = self._numbers + low if low else self._numbers
            more: dict[str, Any] = {"stream": its.current_stream()} if its.on_gpu else {}
            atoll.take(
                x._raw, its.raw(numbers), its.raw(self._parts), its.raw(found), team=self._team, **more
            )
        return found

    def _check_out(self, x: DistArray, out: DistArray, dtype: np.dtype[Any]) -> None:
        if out.dtype != dtype or out is x:
            raise atoll.ShapeMismatch(
                f"A.dot(x, out): out has dtype {out.dtype}; expected another array of {dtype}."
            )

    def _check(self, name: str, x: Any, *axes: _axis.Axis) -> None:
        if not isinstance(x, DistArray):
            raise TypeError(
                f"A.dot(): {name} is {type(x).__name__}, not a distributed array; use atoll.arrays.from_array."
            )
        if x._library is not self._library:
            raise atoll.InvalidArgument(
                f"A.dot(): {name} is {x._library.text}, and the matrix {self._library.text}. Bring one to the other's place by "
                "atoll.arrays.to_device(x, device), which takes matrices, too."
            )
        if x.team != self._team:
            raise atoll.InvalidArgument(
                f"A.dot(): {name} is {x!r}, and the matrix belongs to another team. Bring it there by "
                "atoll.arrays.redistribute(x, team=t)."
            )
        if x._layout.axes != axes:
            is_vector = len(axes) == 1
            advice = (
                "x.redistribute() makes blocks"
                if is_vector
                else 'x.redistribute(["block", "whole"]) makes them'
            )
            raise atoll.ShapeMismatch(
                f"A.dot(): {name} is {x!r}; expected {'one axis' if is_vector else 'rows'} of {axes[0].length} "
                f"{'elements' if is_vector else 'indices, whole,'} in blocks; {advice}."
            )

    def _triplets(self) -> tuple[Array, Array, Array]:
        """Return this PE's elements: global rows and columns, and values."""
        me = self._team.my_pe()
        first_row, first_column = self._rows.ends(me)[0], self._columns.ends(me)[0]
        row, column, data = self._own.triplets()
        far_row, number, far_data = self._far.triplets()
        return (
            np.concatenate([row, self._library.to_numpy(self._far_rows)[far_row]]) + first_row,
            np.concatenate([column + first_column, self._far_columns[number]]),
            np.concatenate([data, far_data]),
        )

    @property
    def T(self) -> SparseMatrix:
        """The transpose, a new matrix. Collective; elements move to the PEs that have their rows."""
        row, column, data = self._triplets()
        made = from_triplets(column, row, data, self.shape[::-1], team=self._team)
        made._bring_to(self._library)
        return made

    @collective(on_gpus=True)
    def diagonal(self) -> DistArray:
        """Return the main diagonal of a square matrix as a distributed vector. Collective.

        Returns
        -------
        DistArray
            In blocks, of this dtype.

        Raises
        ------
        ShapeMismatch
            If the matrix is not square.
        """
        if self.shape[0] != self.shape[1]:
            raise atoll.ShapeMismatch(f"A.diagonal(): shape {self.shape} is not square.")
        made = DistArray(self.shape[0], self.dtype)
        row, column, data = self._triplets()
        is_on = row == column
        first, stop = made.bounds()[0]
        found = np.zeros(stop - first, self.dtype)
        found[row[is_on] - first] = data[is_on]
        made.local[...] = self._library.array(found)
        _current.barrier()
        return made


def _require_triplets(row: Array, column: Array, data: Array, shape: Any) -> None:
    """Raise for triplets that do not make a matrix of a shape."""
    lengths = numbers_of(shape)
    if len(lengths) != 2 or min(lengths) < 0:
        raise ValueError(f"shape is {shape!r}; expected the numbers of rows and columns.")
    if not row.ndim == column.ndim == data.ndim == 1 or not len(row) == len(column) == len(data):
        raise atoll.ShapeMismatch(
            f"shapes {row.shape}, {column.shape} and {data.shape}; expected one axis of equal lengths."
        )
    if data.dtype.kind not in "biufc":
        raise TypeError(f"values of {data.dtype}; expected numbers.")
    for name, index, n in (("row", row, lengths[0]), ("column", column, lengths[1])):
        if not len(index):
            continue
        if index.dtype.kind not in "iu":
            raise IndexError(f"a {name} of {index.dtype}; expected integers.")
        wrong = np.flatnonzero((index < 0) | (index >= n))
        if len(wrong):
            raise IndexError(f"element {wrong[0]} has {name} {index[wrong[0]]}; expected 0 to {n - 1}.")


@collective("rows", "columns", "values")
def from_triplets(
    rows: Any,
    columns: Any,
    values: Any,
    shape: Sequence[int],
    *,
    team: atoll.Team | None = None,
    device: Any = None,
    xp: Any = None,
) -> SparseMatrix:
    """Return a matrix from places and values; those of equal places are added. Collective.

    Parameters
    ----------
    rows, columns, values
        One-axis arrays of equal lengths. Each PE passes elements of its own, of any rows, also none; the elements of
        all PEs together make the matrix.
    shape
        Numbers of rows and columns, the same on every PE.
    team
        The PEs that have the matrix, all by default. Only its members make it, and its calls are collective over the team.
        Memory for its elements and its products comes from `arrays.reserve`, for elements always that of hosts.
    device, xp
        As for `SparseMatrix`. Elements are exchanged and sorted on the hosts.

    Returns
    -------
    SparseMatrix

    Raises
    ------
    ShapeMismatch
        If the lengths differ.
    IndexError
        If a place is outside the shape.

    Examples
    --------
    >>> import numpy as np
    >>> from atoll import arrays, sparse
    >>> rows = np.arange(4)[atoll.my_pe() :: atoll.n_pes()]  # this PE's share of the elements
    >>> A = sparse.from_triplets(rows, 3 - rows, rows + 1.0, (4, 4))
    >>> (A @ arrays.ones(4)).to_numpy()
    array([1., 2., 3., 4.])
    """
    row, column, data = (np.asarray(on_host(x)) for x in (rows, columns, values))
    with together("from_triplets()"):
        _require_triplets(row, column, data, shape)
    order = np.argsort(row, kind="stable")
    dtype = agreed_dtype(gathered((data.dtype, len(data))))
    columns_of = [row[order].astype(np.int64), column[order].astype(np.int64), converted(data[order], dtype)]
    bounds = _axis.block(shape[0], _current.n_pes()).bounds or ()
    with _current.over(_current.team()):  # the arrays are on hosts, also if the call is on GPUs
        got = [each.local for each in dealt(columns_of, np.searchsorted(columns_of[0], bounds[1:-1]))]
    me = _current.my_pe()
    parts = compressed(got[0] - bounds[me], got[1], got[2], bounds[me + 1] - bounds[me])
    return SparseMatrix(*parts, (int(shape[0]), int(shape[1])), team=team, device=device, xp=xp)


@collective("rows")
def from_rows(
    rows: Any,
    shape: Sequence[int],
    *,
    team: atoll.Team | None = None,
    device: Any = None,
    xp: Any = None,
) -> SparseMatrix:
    """Return a matrix of which each PE passes its own block of rows. Collective.

    Parameters
    ----------
    rows
        A sparse matrix of SciPy or CuPy, with global columns and the rows from start to stop of
        `DistArray(shape[0]).bounds()`.
    shape
        Global numbers of rows and columns.
    team
        As for `from_triplets`; the bounds are those of `DistArray(shape[0], team=team)`.
    device, xp
        As for `SparseMatrix`.

    Returns
    -------
    SparseMatrix

    Raises
    ------
    ShapeMismatch
        If a PE's block has another shape; then on every PE.
    """
    me = _current.my_pe()
    start, stop = _axis.block(shape[0], _current.n_pes()).ends(me)
    problem = None
    if tuple(rows.shape) != (stop - start, shape[1]):
        problem = atoll.ShapeMismatch(
            f"from_rows(): PE {me} passed rows of shape {tuple(rows.shape)}; expected {(stop - start, shape[1])}, the rows "
            f"{start}:{stop}."
        )
    raise_together(problem)
    csr = rows.tocsr()
    csr.sum_duplicates()
    return SparseMatrix(
        csr.indptr.astype(np.int64),
        csr.indices.astype(np.int64),
        csr.data,
        (int(shape[0]), int(shape[1])),
        team=team,
        device=device,
        xp=xp,
    )


@collective("matrix")
def from_scipy(
    matrix: Any, *, team: atoll.Team | None = None, device: Any = None, xp: Any = None
) -> SparseMatrix:
    """Return a matrix of SciPy that is the same on every PE, each PE with its rows. Collective over a team.

    Parameters
    ----------
    matrix
        A sparse matrix of SciPy, the same on every PE.
    team
        As for `from_triplets`.
    device, xp
        As for `SparseMatrix`.

    Returns
    -------
    SparseMatrix

    Raises
    ------
    TypeError
        If it is no sparse matrix of SciPy.
    """
    if not hasattr(matrix, "tocsr"):
        raise TypeError(f"from_scipy() takes a sparse matrix of SciPy, not {type(matrix).__name__}.")
    start, stop = _axis.block(matrix.shape[0], _current.n_pes()).ends(_current.my_pe())
    return from_rows(matrix.tocsr()[start:stop], matrix.shape, team=team, device=device, xp=xp)
