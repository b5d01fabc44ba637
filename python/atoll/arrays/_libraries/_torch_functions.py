"""NumPy's ufuncs and elementwise functions on tensors of PyTorch, with NumPy's rules for dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._torch import Torch

# PyTorch's names of ufuncs, where it has another one. torch.equal compares whole tensors.
NAMES = {
    "equal": "eq",
    "power": "pow",
    "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "conjugate": "conj_physical",
    "rint": "round",
    "fabs": "abs",
}
# Those that PyTorch has by the same name.
_LIST = (
    "add subtract multiply divide floor_divide remainder fmod negative positive absolute sign sqrt "
    "square reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh "
    "cosh tanh arcsinh arccosh arctanh hypot maximum minimum fmax fmin floor ceil trunc logical_and "
    "logical_or logical_xor logical_not not_equal less less_equal greater greater_equal isnan isinf "
    "isfinite signbit copysign bitwise_and bitwise_or bitwise_xor logaddexp logaddexp2 deg2rad rad2deg "
    "float_power gcd lcm heaviside nextafter"
)
SAME = frozenset(_LIST.split())
WEAK = (bool, int, float, complex)  # numbers of Python take the dtype of the tensors
COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
LOSES_NAN = frozenset({"sign", "heaviside"})  # PyTorch's are 0 for NaN


def apply(
    library: Torch,
    ufunc: np.ufunc,
    operands: Sequence[Any],
    outs: tuple[Any, ...] | None,
    keywords: dict[str, Any],
) -> Any:
    """Return a ufunc's result. The operands are cast as NumPy casts them before PyTorch computes."""
    name = NAMES.get(ufunc.__name__, ufunc.__name__ if ufunc.__name__ in SAME else "")
    if not name or keywords:
        asks = f" with {', '.join(keywords)}" if keywords else ""
        raise TypeError(
            f"numpy.{ufunc.__name__}{asks} does not work on tensors of PyTorch; use a.map_blocks(f), a.local for this "
            "PE's part, or xp='cupy'."
        )
    given = [type(x) if type(x) in WEAK[1:] else _dtype(library, x) for x in operands]
    resolved = ufunc.resolve_dtypes((*given, None if outs is None else library.dtype(outs[0])))
    found = _computed(library, ufunc, name, operands, resolved)
    if outs is not None:
        outs[0].copy_(found)
        return outs[0]
    return library.cast(found, resolved[-1])


def _computed(
    library: Torch, ufunc: np.ufunc, name: str, operands: Sequence[Any], resolved: Sequence[np.dtype[Any]]
) -> Any:
    if ufunc.__name__ in COMPARISONS and not all(map(_fits, operands, resolved)):
        return _compared_outside(library, ufunc, operands)
    cast = [_cast(library, x, dtype) for x, dtype in zip(operands, resolved, strict=False)]
    if name == "pow" and resolved[0].kind == "i":
        is_negative = operands[1] < 0
        if is_negative.any() if hasattr(is_negative, "any") else is_negative:
            raise ValueError("Integers to negative integer powers are not allowed.")
    found = getattr(library.xp, name)(*cast)
    if name in LOSES_NAN and resolved[0].kind == "f":
        return library.xp.where(cast[0] != cast[0], cast[0], found)
    return found


def _dtype(library: Torch, x: Any) -> np.dtype[Any]:
    return library.dtype(x) if hasattr(x, "dtype") else np.asarray(x).dtype


def _fits(x: Any, dtype: np.dtype[Any]) -> bool:
    """False for an integer of Python that is outside a dtype of integers."""
    if type(x) is not int or dtype.kind not in "iu":
        return True
    its = np.iinfo(dtype)
    return bool(its.min <= x <= its.max)


def _compared_outside(library: Torch, ufunc: np.ufunc, operands: Sequence[Any]) -> Any:
    """Return a comparison with an integer outside the tensor's dtype: all elements compare as 0 does."""
    tensor = library.array(next(x for x in operands if type(x) is not int))
    found = bool(ufunc(*(x if type(x) is int else 0 for x in operands)))
    return library.xp.full_like(tensor, found, dtype=library.xp.bool)


def _cast(library: Torch, x: Any, dtype: np.dtype[Any]) -> Any:
    """Return an operand in a dtype. Raises OverflowError for an integer of Python outside it."""
    if type(x) is int:
        x = np.asarray(x, dtype)
    if not isinstance(x, library.xp.Tensor):
        x = library.array(np.asarray(x))
    return library.cast(x, dtype)


def _where(library: Torch, condition: Any, x: Any, y: Any) -> Any:
    dtype = np.result_type(*(value if type(value) in WEAK else _dtype(library, value) for value in (x, y)))
    return library.xp.where(
        _cast(library, condition, np.dtype(bool)), _cast(library, x, dtype), _cast(library, y, dtype)
    )


def _clip(library: Torch, a: Any, a_min: Any = None, a_max: Any = None, **more: Any) -> Any:
    low, high = more.pop("min", a_min), more.pop("max", a_max)
    if more:
        raise TypeError(f"numpy.clip on tensors of PyTorch takes no {', '.join(more)}.")
    if library.dtype(a).kind in "iu":  # bounds that no element passes, as in NumPy
        its = np.iinfo(library.dtype(a))
        low = None if type(low) is int and low <= its.min else low
        high = None if type(high) is int and high >= its.max else high
    if low is not None:
        a = apply(library, np.maximum, (a, low), None, {})
    return a if high is None else apply(library, np.minimum, (a, high), None, {})


def _round(library: Torch, a: Any, decimals: int = 0) -> Any:
    dtype = library.dtype(a)
    if dtype.kind in "iu" and decimals < 0:
        tens = 10**-decimals
        return library.cast((library.cast(a, np.dtype(float)) / tens).round() * tens, dtype)
    return library.xp.round(a, decimals=decimals) if a.is_floating_point() else a


def _isclose(
    library: Torch, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    dtype = np.result_type(_dtype(library, a), _dtype(library, b), np.float32)
    x, y = library.xp.broadcast_tensors(*(_cast(library, value, dtype) for value in (a, b)))
    return library.xp.isclose(x, y, rtol, atol, equal_nan)


def _real(library: Torch, a: Any) -> Any:
    return a.real if a.is_complex() else a


def _imag(library: Torch, a: Any) -> Any:
    return a.imag if a.is_complex() else library.xp.zeros_like(a)


def _nan_to_num(library: Torch, x: Any) -> Any:
    return library.xp.nan_to_num(x)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.clip: _clip,
    np.round: _round,
    np.isclose: _isclose,
    np.real: _real,
    np.imag: _imag,
    np.nan_to_num: _nan_to_num,
}


def elementwise(library: Torch, function: Any, operands: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Return the result of one of NumPy's functions that work element by element."""
    if function not in FUNCTIONS:
        raise TypeError(
            f"numpy.{function.__name__} does not work on tensors of PyTorch; use a.map_blocks(f), or xp='cupy'."
        )
    return FUNCTIONS[function](library, *operands, **keywords)
