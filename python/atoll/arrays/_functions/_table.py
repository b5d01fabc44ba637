"""The functions of NumPy for distributed arrays, each with ours that computes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import atoll

from .. import _replicated
from .._teams import _current
from . import (
    _composed,
    _contractions,
    _elements,
    _everyday,
    _factors,
    _matrices,
    _moves,
    _picking,
    _products,
    _quantiles,
    _scans,
    _solving,
    _sorting,
    _statistics,
)

if TYPE_CHECKING:
    from .._array import DistArray


def _cumulative(ufunc: np.ufunc) -> Callable[..., Any]:
    def function(x: DistArray, /, axis: int | None = None, dtype: Any = None) -> DistArray:
        return _scans.accumulate(x, ufunc, axis, dtype)

    return function


def _cumulative_with_initial(ufunc: np.ufunc) -> Callable[..., Any]:
    def function(
        x: DistArray, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> DistArray:
        if axis is None and x.ndim > 1:
            raise ValueError("cumulative_sum and cumulative_prod of several axes need axis=.")
        found = _scans.accumulate(x, ufunc, axis, dtype)
        if not include_initial:
            return found
        widths = [(int(number == (axis or 0) % x.ndim), 0) for number in range(x.ndim)]
        if not x.size:
            longer = [n + before for n, (before, _) in zip(x.shape, widths, strict=True)]
            from .._makers import full

            return full(longer, ufunc.identity, found.dtype)
        return _picking.pad(found, widths, "constant", ufunc.identity)

    return function


def _astype(x: DistArray, dtype: Any, /, *, copy: bool = True) -> DistArray:
    return x if not copy and x.dtype == np.dtype(dtype) else x.astype(dtype)


def _count_nonzero(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    if axis is None and not keepdims and a.dtype.kind not in "biufc":
        local = _replicated.in_blocks(a).local
        return int(atoll.sum_reduce(np.array([np.count_nonzero(local)]), team=_current.team())[0])
    found = (a != 0).sum(axis=axis, keepdims=keepdims)
    return int(found) if np.ndim(found) == 0 else found


def _allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    return bool(np.isclose(a, b, rtol, atol, equal_nan).all())


def _array_equal(a1: Any, a2: Any) -> bool:
    return np.shape(a1) == np.shape(a2) and bool(np.equal(a1, a2).all())


def _ptp(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    return a.max(axis, keepdims=keepdims) - a.min(axis, keepdims=keepdims)


class UniqueCounts(NamedTuple):
    """The values that occur, and how often each does: two distributed arrays."""

    values: DistArray
    counts: DistArray


def _unique_counts(x: DistArray, /) -> UniqueCounts:
    return UniqueCounts(*_sorting.unique(x, return_counts=True, equal_nan=False))


def _unique_values(x: DistArray, /) -> Any:
    return _sorting.unique(x, equal_nan=False)


def _vector_norm(x: DistArray, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return _products.vector_norm(x, None if ord == 2 else ord, axis, keepdims)


def _einsum(*operands: Any, optimize: Any = False) -> Any:
    return _contractions.einsum(operands)


def _stable(function: Callable[..., Any]) -> Callable[..., Any]:
    def sorted_(
        a: DistArray, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None
    ) -> Any:
        _sorting.require_kind(kind)
        return function(a, axis)

    return sorted_


def _flip(axis: int) -> Callable[[DistArray], DistArray]:
    return lambda m: _moves.flip(m, axis)


def _named_alike(
    module: ModuleType, names: str, theirs: ModuleType = np
) -> dict[Callable[..., Any], Callable[..., Any]]:
    """Map NumPy's functions of these names to the functions of the same names in a module."""
    return {getattr(theirs, name): getattr(module, name) for name in names.split()}


# The functions take NumPy's arguments as far as they make sense; other ones are a TypeError.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.cumsum: _cumulative(np.add),
    np.cumprod: _cumulative(np.multiply),
    np.cumulative_sum: _cumulative_with_initial(np.add),
    np.cumulative_prod: _cumulative_with_initial(np.multiply),
    np.sort: _stable(_sorting.sort),
    np.argsort: _stable(_sorting.argsort),
    np.unique: _statistics.unique,
    np.unique_all: _statistics.unique_all,
    np.unique_inverse: _statistics.unique_inverse,
    np.unique_values: _unique_values,
    np.unique_counts: _unique_counts,
    np.histogram: _statistics.histogram,
    np.bincount: _statistics.bincount,
    np.dot: _products.dot,
    np.tensordot: _contractions.tensordot,
    np.linalg.tensordot: _contractions.tensordot,
    np.linalg.vecdot: _contractions.vecdot,
    np.einsum: _einsum,
    np.vdot: _products.vecdot,
    np.linalg.norm: _products.norm,
    np.linalg.vector_norm: _vector_norm,
    np.linalg.matmul: _products.matmul,
    np.linalg.matrix_transpose: _moves.matrix_transpose,
    np.transpose: _moves.transpose,
    np.permute_dims: _moves.transpose,
    np.matrix_transpose: _moves.matrix_transpose,
    np.reshape: _moves.reshape,
    np.ravel: lambda a, order="C": a.ravel(order),
    np.roll: _moves.roll,
    np.flip: _moves.flip,
    np.vsplit: lambda ary, indices_or_sections: _matrices.split(ary, indices_or_sections, 0),
    np.hsplit: lambda ary, indices_or_sections: _matrices.split(
        ary, indices_or_sections, min(1, ary.ndim - 1)
    ),
    np.dsplit: lambda ary, indices_or_sections: _matrices.split(ary, indices_or_sections, 2),
    np.flipud: _flip(0),
    np.fliplr: _flip(1),
    np.concatenate: _moves.concatenate,
    np.concat: _moves.concatenate,
    np.nonzero: _moves.nonzero,
    np.count_nonzero: _count_nonzero,
    np.allclose: _allclose,
    np.array_equal: _array_equal,
    np.ptp: _ptp,
    np.astype: _astype,
    np.around: lambda a, decimals=0: a.round(decimals),
    np.linalg.trace: _matrices.trace,
    np.linalg.diagonal: _matrices.diagonal,
    np.linalg.cross: _composed.cross,
    np.linalg.outer: _statistics.outer,
    **_named_alike(_factors, "qr svd svdvals matrix_rank cond lstsq pinv eigh eigvalsh", np.linalg),
    **_named_alike(_solving, "solve inv det slogdet cholesky matrix_power multi_dot", np.linalg),
    **_named_alike(
        _everyday,
        "vander polyfit correlate delete insert array_equiv fill_diagonal copyto atleast_1d atleast_2d piecewise apply_along_axis",
    ),
    **_named_alike(
        _composed,
        "union1d intersect1d setdiff1d setxor1d partition argpartition convolve cross polyval rot90 ediff1d compress "
        "histogram2d histogramdd kron lexsort meshgrid broadcast_arrays",
    ),
    **_named_alike(
        _matrices,
        "swapaxes diagonal trace diag tril triu inner cov corrcoef split array_split column_stack dstack append gradient",
    ),
    **_named_alike(
        _elements,
        "fix isreal iscomplex sinc digitize interp select flatnonzero extract nancumsum nancumprod nanvar nanstd nanargmin "
        "nanargmax trapezoid",
    ),
    **_named_alike(
        _picking,
        "take take_along_axis repeat tile pad expand_dims squeeze moveaxis stack vstack hstack unstack broadcast_to diff",
    ),
    **_named_alike(_quantiles, "quantile percentile median nanquantile nanpercentile nanmedian"),
    **_named_alike(
        _statistics,
        "histogram_bin_edges average outer isin searchsorted argwhere nansum nanprod nanmean nanmin nanmax",
    ),
}


def function_of(function: Callable[..., Any], arguments: Sequence[Any]) -> Callable[..., Any] | None:
    """Return the function that computes a function of NumPy, or None."""
    if function is np.where and len(arguments) == 1:
        return _moves.nonzero
    return FUNCTIONS.get(function)
