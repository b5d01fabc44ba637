"""QR and singular values of matrices with many rows, or many columns, and the least squares that rest on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import atoll

from .. import _axis
from .._compared import collective
from .._layout import Layout
from .._teams import _current
from .._teams._exchange import gathered
from .._together import on_first, together
from ._combined import summed

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


class QRResult(NamedTuple):
    """An orthonormal matrix, distributed as the rows of the first one, and a triangular one of NumPy."""

    Q: DistArray
    R: Array


class SVDResult(NamedTuple):
    """The factors of a matrix. The one along its longer axis is distributed, the others are NumPy's."""

    U: Any
    S: Array
    Vh: Any


def require_matrix(call: str, a: Any) -> None:
    """Raise unless an array is a matrix of numbers that LAPACK takes, or that become such."""
    if a.ndim != 2:
        raise np.linalg.LinAlgError(f"{call}: an array of shape {a.shape}; expected two axes.")
    require_lapack(call, a.dtype)


def require_lapack(call: str, dtype: Any) -> None:
    """Raise TypeError unless LAPACK takes numbers of a dtype, or they become such."""
    if dtype.kind not in "biufc" or dtype.char in "egG":
        raise TypeError(
            f"{call}: elements of {dtype}; LAPACK takes float32, float64, complex64 and complex128."
        )


def require_square(call: str, a: Any) -> None:
    """Raise unless an array is a square matrix of numbers that LAPACK takes."""
    require_matrix(call, a)
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError(f"{call}: a matrix of shape {a.shape}; expected a square one.")


def lapack_dtype(dtype: Any) -> Any:
    """Return the dtype in which LAPACK computes with numbers of another one."""
    return np.dtype(np.float64) if dtype.kind in "biu" else dtype


def distributed_as(found: DistArray, its: Layout) -> DistArray:
    """Return an array, or its elements in another layout. Collective."""
    if its.same_distribution(found._layout):
        return found
    return type(found)._moved(found._layout, found.local, its)


def _in_rows(call: str, a: Any) -> DistArray:
    """Return a matrix whose rows are whole, with elements that LAPACK takes. Collective."""
    require_matrix(call, a)
    rows: DistArray = a if a._layout.axes[1].parts == 1 else a.redistribute(("block", "whole"))
    dtype = lapack_dtype(a.dtype)
    return rows if a.dtype == dtype else rows.astype(dtype)


def _factored(call: str, a: DistArray) -> tuple[Array, Array]:
    """Return this PE's rows of Q, and R, the same on every PE. Collective.

    Each PE factors its rows. PE 0 factors the triangles of all, of which each has at most as many rows as columns.
    """
    with together(call):
        own, triangle = np.linalg.qr(a.local)
    every = gathered(triangle)
    rest, r = on_first(call, lambda: np.linalg.qr(np.concatenate(every)))
    start = sum(len(each) for each in every[: _current.my_pe()])
    return own @ rest[start : start + len(triangle)], r


def _with_columns(a: DistArray, part: Array, columns: int) -> DistArray:
    its = Layout.bare(a._layout.axes[0], _axis.block(columns, 1))
    return type(a)._from_part(its, part)


@collective()
def qr(a: DistArray, mode: str = "reduced") -> Any:
    """Return the QR factors of a matrix. Collective; rows that are not whole are redistributed.

    Each PE factors its own rows, and PE 0 the triangles of all: n rows of n numbers for each PE and n columns. So it pays for
    many more rows than columns.

    Parameters
    ----------
    a
        A matrix.
    mode
        "reduced", or "r" for R alone.

    Raises
    ------
    ValueError
        If it is another mode, whose results have as many columns as there are rows.
    """
    if mode not in ("reduced", "r"):
        raise ValueError(f"qr: mode={mode!r} of a distributed array; expected 'reduced' or 'r'.")
    rows = _in_rows("numpy.linalg.qr", a)
    own, r = _factored("numpy.linalg.qr", rows)
    return r if mode == "r" else QRResult(_with_columns(rows, own, len(r)), r)


@collective()
def svd(a: DistArray, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Return the singular values of a matrix with their vectors. Collective, by `qr` along its longer axis.

    Parameters
    ----------
    a
        A matrix.
    full_matrices
        False unless the matrix is square: the vectors beyond the shorter axis are not made.
    compute_uv
        False: the singular values alone, as a NumPy array.

    Raises
    ------
    ValueError
        If all vectors of a matrix that is not square are asked for.
    """
    if compute_uv and full_matrices and a.ndim == 2 and a.shape[0] != a.shape[1]:
        raise ValueError(
            f"svd: full_matrices=True of a distributed array of shape {a.shape} would make {max(a.shape)} x {max(a.shape)} "
            "numbers; pass full_matrices=False."
        )
    return _svd("numpy.linalg.svd", a, compute_uv)


def _svd(call: str, a: DistArray, compute_uv: bool = True) -> Any:
    if a.ndim == 2 and a.shape[0] < a.shape[1]:
        found = _svd(call, a.T, compute_uv)
        return SVDResult(found.Vh.T, found.S, found.U.T) if compute_uv else found
    rows = _in_rows(call, a)
    own, r = _factored(call, rows)
    if not compute_uv:
        return on_first(call, lambda: np.linalg.svd(r, compute_uv=False))
    u, s, vh = on_first(call, lambda: tuple(np.linalg.svd(r)))
    return SVDResult(_with_columns(rows, own @ u, len(s)), s, vh)


@collective()
def svdvals(x: DistArray, /) -> Array:
    """Return the singular values, largest first, as a NumPy array. Collective."""
    found: Array = _svd("numpy.linalg.svdvals", x, compute_uv=False)
    return found


@collective()
def matrix_rank(A: DistArray, tol: float | None = None) -> int:
    """Return the number of singular values above a bound, by default rounding errors of the largest. Collective."""
    s = _svd("numpy.linalg.matrix_rank", A, compute_uv=False)
    return int((s > (s.max(initial=0) * max(A.shape) * np.finfo(s.dtype).eps if tol is None else tol)).sum())


@collective()
def cond(x: DistArray, p: Any = None) -> Any:
    """Return the largest singular value over the smallest, or with p=-2 the inverse. Collective."""
    if p not in (None, 2, -2):
        raise ValueError(f"cond: p={p!r} of a distributed array; expected None, 2 or -2.")
    s = _svd("numpy.linalg.cond", x, compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = s[-1] / s[0] if p == -2 else s[0] / s[-1]
    return s.dtype.type(np.inf) if np.isnan(found) and not np.isnan(s).any() else found


@collective()
def lstsq(a: DistArray, b: Any, rcond: float | None = None) -> tuple[Array, Array, int, Array]:
    """Return the x of least squares of `a @ x - b`, the sums of squares, the rank and the singular values. Collective.

    All are NumPy's, the same on every PE.

    Parameters
    ----------
    a
        A matrix with at least as many rows as columns.
    b
        A vector, or a matrix of vectors in columns, distributed or of NumPy.
    rcond
        Singular values up to this times the largest count as 0. By default rounding errors times the longer axis.

    Raises
    ------
    ShapeMismatch
        If there are fewer rows than columns, or another number of rows in b.
    """
    from .._ufuncs import part_of

    call = "numpy.linalg.lstsq"
    if not hasattr(a, "_layout"):
        raise TypeError(f"{call}: the matrix is NumPy's, only b is distributed; pass b.to_numpy().")
    shape = tuple(np.shape(b))
    if a.ndim == 2 and (a.shape[0] < a.shape[1] or len(shape) not in (1, 2) or shape[0] != a.shape[0]):
        raise atoll.ShapeMismatch(
            f"{call}: a has shape {a.shape} and b {shape}; expected at least as many rows as columns in a, and as many rows in b."
        )
    rows = _in_rows(call, a)
    its_dtype = b.dtype if hasattr(b, "dtype") else np.asarray(b).dtype
    require_lapack(call, its_dtype)
    dtype = np.result_type(rows.dtype, lapack_dtype(its_dtype))  # the results have it, as in NumPy
    rows = rows if rows.dtype == dtype else rows.astype(dtype)
    u, s, vh = _svd(call, rows)
    its = Layout.bare(rows._layout.axes[0], *(_axis.block(n, 1) for n in shape[1:]))
    with together(call):
        right = np.asarray(part_of(b, its))
        own = np.asarray(u.local.conj().T @ right)
    bound = (np.finfo(s.dtype).eps * max(a.shape) if rcond is None else rcond) * s.max(initial=0)
    rank = int((s > bound).sum())
    along = summed(own)[:rank]
    scaled = along / s[:rank].reshape(-1, *([1] * (len(shape) - 1)))
    x = vh[:rank].conj().T @ scaled
    is_unique = rank == a.shape[1] < a.shape[0]
    rest = (
        summed((abs(right - rows.local @ x) ** 2).sum(0, keepdims=True)).reshape(-1)
        if is_unique
        else np.empty(0, s.dtype)
    )
    return x, rest, rank, s


class EighResult(NamedTuple):
    """The eigenvalues, ascending, as NumPy's array; and their vectors in columns, distributed as the matrix."""

    eigenvalues: Array
    eigenvectors: DistArray


def _eigen(call: str, a: DistArray, triangle: str, has_vectors: bool) -> tuple[Array, Any]:
    """Return the eigenvalues of a symmetric matrix, the same on every PE, and on PE 0 the vectors. Collective."""
    require_square(call, a)
    triangle = triangle.upper()
    if triangle not in ("L", "U"):
        raise ValueError(f"{call}: UPLO={triangle!r}; expected 'L' or 'U'.")
    whole: Any = a.gather(0)
    reads: Any = triangle
    vectors = None

    def values() -> Array:
        nonlocal vectors
        if not has_vectors:
            return np.asarray(np.linalg.eigvalsh(whole, reads))
        found, vectors = np.linalg.eigh(whole, reads)
        return np.asarray(found)

    return on_first(call, values), vectors


@collective()
def eigh(a: DistArray, UPLO: str = "L") -> EighResult:
    """Return the eigenvalues and eigenvectors of a symmetric matrix, or a Hermitian one. Collective.

    PE 0 gathers the matrix, and computes and holds alone: up to six times n × n numbers.

    Parameters
    ----------
    a
        The matrix.
    UPLO
        "L" or "U": the triangle that is read.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not square, or the computation does not converge.
    """
    from .._makers import from_array

    values, vectors = _eigen("numpy.linalg.eigh", a, UPLO, has_vectors=True)
    made = from_array(vectors, root=0)
    return EighResult(values, distributed_as(made, a._layout.without_halo()))


@collective()
def eigvalsh(a: DistArray, UPLO: str = "L") -> Array:
    """Return the eigenvalues of a symmetric matrix, or a Hermitian one, on every PE. Collective; on PE 0, as `eigh`."""
    return _eigen("numpy.linalg.eigvalsh", a, UPLO, has_vectors=False)[0]


@collective()
def pinv(a: DistArray, rcond: float | None = None) -> DistArray:
    """Return the pseudoinverse of a matrix, in blocks. Collective; by `svd`.

    Parameters
    ----------
    a
        A matrix.
    rcond
        Singular values up to this times the largest count as 0. By default 1e-15.
    """
    from ._products import matmul

    u, s, vh = _svd("numpy.linalg.pinv", a)
    is_used = s > (1e-15 if rcond is None else rcond) * s.max(initial=0)
    inverse = np.divide(1, s, where=is_used, out=np.zeros_like(s))
    found: DistArray = matmul(vh.conj().T * inverse, u.conj().T)
    return found
