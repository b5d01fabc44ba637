"""Iterative solvers of linear equations, for any operator on distributed arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import atoll

from ..arrays import DistArray
from ..arrays._compared import collective
from ..arrays._libraries import Library
from ..arrays._teams import _current
from ._matrix import SparseMatrix

PIECE = 16 * 1024  # elements of a vector that are updated at once
Operator = Callable[[DistArray], DistArray] | Any


@collective(on_gpus=True)
def cg(
    A: Operator,
    b: DistArray,
    x0: DistArray | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Operator | None = None,
    callback: Callable[[DistArray], Any] | None = None,
) -> tuple[DistArray, int]:
    """Solve A x = b by conjugate gradients, for a Hermitian positive definite A. Collective.

    Parameters
    ----------
    A
        A `SparseMatrix`, another object with `A @ x`, or a function of a distributed array. All PEs see the elements
        of the array that it gets. It may write its result into the same array each time.
    b
        The right-hand side, of any shape; x gets its distribution and halo, and lies where b lies.
    x0
        The start; by default zeros. It is not changed.
    rtol, atol
        The iteration ends when norm(b - A x) <= max(rtol * norm(b), atol).
    maxiter
        Most steps; by default ten times the number of unknowns.
    M
        A preconditioner that approximates the inverse of A: as A.
    callback
        Called with x after each step, on every PE.

    Returns
    -------
    x, info
        The solution, and 0, or the number of steps if they did not suffice, as in SciPy.

    Notes
    -----
    Four vectors are kept, besides those that A returns. Each step applies A once and combines two numbers of all PEs. On
    GPUs the vectors stay there; the numbers go through the hosts.
    """
    apply, precondition = _function(A), _function(M) if M is not None else None
    x, r = _start(apply, b, x0)
    its = b._library
    wanted = max(rtol * _norm(its, its.cast(b.local, r.dtype)), atol)
    steps = 10 * b.size if maxiter is None else maxiter
    p = DistArray._of(b._layout, r.dtype)
    rho = 1.0
    for step in range(steps):
        square = _dot(its, r.local, r.local)
        if np.sqrt(square.real) <= wanted:
            break
        z = r if precondition is None else precondition(r)
        rho, before = square if z is r else _dot(its, r.local, z.local), rho
        direction, beta = p.local, _number(rho / before) if step else 0
        for some in _pieces(its, direction):
            direction[some] *= beta
            direction[some] += z.local[some]
        q = apply(p)
        alpha = _number(rho / _dot(its, p.local, q.local))
        _add_multiple(its, x.local, alpha, p.local)
        _add_multiple(its, r.local, -alpha, q.local)
        if callback is not None:
            _current.barrier()
            callback(x)
    return _end(x, r, wanted, steps)


@collective(on_gpus=True)
def bicgstab(
    A: Operator,
    b: DistArray,
    x0: DistArray | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Operator | None = None,
    callback: Callable[[DistArray], Any] | None = None,
) -> tuple[DistArray, int]:
    """Solve A x = b by stabilized biconjugate gradients, for any A. Collective.

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, M, callback
        As for `cg`.

    Returns
    -------
    x, info
        As for `cg`; -1 if the iteration breaks down.
    """
    apply, precondition = _function(A), _function(M) if M is not None else None
    x, r = _start(apply, b, x0)
    its = b._library
    wanted = max(rtol * _norm(its, its.cast(b.local, r.dtype)), atol)
    steps = 10 * b.size if maxiter is None else maxiter
    shadow, p, s = _copied(its, r.local), DistArray._of(b._layout, r.dtype), DistArray._of(b._layout, r.dtype)

    def images(vector: DistArray) -> tuple[Any, Any]:
        """Return copies of a vector preconditioned, and of what A makes of it: operators may reuse their results."""
        prepared = vector if precondition is None else precondition(vector)
        copy = _copied(its, prepared.local)
        return copy, _copied(its, apply(prepared).local)

    rho = alpha = omega = np.float64(1)
    v = p.local
    for step in range(steps):
        if _norm(its, r.local) <= wanted:
            break
        rho, before = _dot(its, shadow, r.local), rho
        if rho == 0 or omega == 0:
            _current.barrier()
            return x, -1
        if step == 0:
            p.local[...] = r.local
        else:
            beta = _number(rho / before * (alpha / omega))
            p.local[...] = r.local + beta * (p.local - _number(omega) * v)
        y, v = images(p)
        alpha = rho / _dot(its, shadow, v)
        s.local[...] = r.local - _number(alpha) * v
        z, t = images(s)
        squares = _dot(its, t, t)
        omega = _dot(its, t, s.local) / squares if squares else np.float64(0)
        _add_multiple(its, x.local, _number(alpha), y)
        _add_multiple(its, x.local, _number(omega), z)
        r.local[...] = s.local - _number(omega) * t
        if callback is not None:
            _current.barrier()
            callback(x)
    return _end(x, r, wanted, steps)


def _function(operator: Operator) -> Callable[[DistArray], DistArray]:
    """Return a function that applies an operator to a vector which all PEs see by then."""
    if isinstance(operator, SparseMatrix):
        return operator.dot  # it meets the other PEs itself
    if not callable(operator) and not hasattr(operator, "__matmul__"):
        raise TypeError(
            f"an operator is a SparseMatrix, a function of a distributed array, or has A @ x, not {type(operator).__name__}."
        )

    def applied(x: DistArray) -> DistArray:
        _current.barrier()
        found: DistArray = operator(x) if callable(operator) else operator @ x
        return found

    return applied


def _start(
    apply: Callable[[DistArray], DistArray], b: DistArray, x0: DistArray | None
) -> tuple[DistArray, DistArray]:
    """Return a copy of the start, and what it leaves of b."""
    if not isinstance(b, DistArray):
        raise TypeError(f"b is {type(b).__name__}, not a distributed array; use atoll.arrays.from_array.")
    dtypes = [b.dtype, np.dtype(np.float32 if b.dtype.kind == "f" else np.float64)]
    if x0 is not None:
        if not isinstance(x0, DistArray):
            raise TypeError(
                f"x0 is {type(x0).__name__}, not a distributed array; use atoll.arrays.from_array."
            )
        dtypes.append(x0.dtype)
    x = DistArray._of(b._layout, np.result_type(*dtypes))
    if x0 is not None:
        if not x0._layout.same_distribution(b._layout):
            raise atoll.ShapeMismatch(f"x0 is {x0!r}, b is {b!r}; expected the same distribution.")
        x.local[...] = x0.local
    image = apply(x)
    if not isinstance(image, DistArray) or not image._layout.same_distribution(b._layout):
        raise atoll.ShapeMismatch(
            f"the operator returned {image!r}; expected an array distributed as b, {b!r}."
        )
    dtype = np.result_type(x.dtype, image.dtype)
    if dtype != x.dtype:
        x = x.astype(dtype)
    r = DistArray._of(b._layout, dtype)
    r.local[...] = r._library.cast(b.local, dtype) - image.local
    return x, r


def _end(x: DistArray, r: DistArray, wanted: float, steps: int) -> tuple[DistArray, int]:
    _current.barrier()
    return x, 0 if _norm(r._library, r.local) <= wanted else steps


def total(number: Any) -> Any:
    """Return the sum of a number over the PEs of the call. Collective."""
    return atoll.sum_reduce(np.atleast_1d(number), team=_current.team())[0]


def _dot(its: Library, x: Any, y: Any) -> Any:
    """Return the product of two vectors, the first one conjugated, as a number of NumPy. Collective."""
    return total(its.inner(x, y, True))


def _norm(its: Library, x: Any) -> float:
    return float(np.sqrt(_dot(its, x, x).real))


def _number(x: Any) -> Any:
    """Return a number of NumPy as one of Python, which takes the precision of the multiplied vectors."""
    return x.item() if isinstance(x, np.generic) else x


def _pieces(its: Library, x: Any) -> Iterator[Any]:
    """Yield indices of pieces along the first axis, which stay in the cache; on GPUs all at once."""
    if its.on_gpu or x.ndim == 0:
        yield ...
        return
    rows = max(1, PIECE * len(x) // max(math.prod(x.shape), 1))
    yield from (slice(start, start + rows) for start in range(0, len(x), rows))


def _add_multiple(its: Library, x: Any, factor: Any, y: Any) -> None:
    """Add a multiple of a vector to another one."""
    for some in _pieces(its, x):
        x[some] += factor * y[some]


def _copied(its: Library, x: Any) -> Any:
    made = its.empty(x.shape, its.dtype(x))
    made[...] = x
    return made
