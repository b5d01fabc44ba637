"""Each function of the array API that docs/arrays.md lists, beside array-api-strict. The names are arguments."""

from __future__ import annotations

import sys
from typing import Any

import array_api_strict as strict
import atoll
import numpy as np
from atoll import arrays

atoll.init()
A = np.array([[3.0, -1.5, 2.0, 0.25], [0.5, 7.0, -2.0, 3.0], [1.0, 0.75, 4.0, -6.0]])
B = np.abs(A.T.reshape(3, 4)) + 0.5
SMALL = {"acos", "asin", "atanh"}
WHOLE = {
    "isin",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "bitwise_invert",
}
LOGICAL = {"logical_and", "logical_or", "logical_xor", "logical_not"}
BINARY = {
    *(
        "add",
        "atan2",
        "copysign",
        "divide",
        "equal",
        "floor_divide",
        "greater",
        "greater_equal",
        "hypot",
        "less",
    ),
    *(
        "less_equal",
        "logaddexp",
        "maximum",
        "minimum",
        "multiply",
        "nextafter",
        "not_equal",
        "pow",
        "remainder",
    ),
    *("subtract", "logical_and", "logical_or", "logical_xor"),
} | WHOLE - {"bitwise_invert", "isin"}
# Calls of functions of the module with two matrices.
CASES: dict[str, Any] = {
    "where": lambda xp, a, b: xp.where(a > 1, a, b),
    "clip": lambda xp, a, b: xp.clip(a, 0, 2),
    "std": lambda xp, a, b: xp.std(a, axis=1, correction=1),
    "var": lambda xp, a, b: xp.var(a, axis=(0, 1), correction=0.5, keepdims=True),
    "cumulative_sum": lambda xp, a, b: xp.cumulative_sum(a, axis=1, include_initial=True),
    "cumulative_prod": lambda xp, a, b: xp.cumulative_prod(a, axis=0, dtype=xp.float32),
    "searchsorted": lambda xp, a, b: xp.searchsorted(
        xp.sort(xp.reshape(a, (-1,))), xp.reshape(b, (-1,)), side="right"
    ),
    "take": lambda xp, a, b: xp.take(a, strict_or(xp, [2, 0, 2]), axis=1),
    "take_along_axis": lambda xp, a, b: xp.take_along_axis(a, xp.argsort(a, axis=1), axis=1),
    "argsort": lambda xp, a, b: xp.argsort(a, axis=0, stable=True),
    "concat": lambda xp, a, b: xp.concat([a, b], axis=1),
    "stack": lambda xp, a, b: xp.stack([a, b], axis=1),
    "permute_dims": lambda xp, a, b: xp.permute_dims(a, (1, 0)),
    "reshape": lambda xp, a, b: xp.reshape(a, (2, 6)),
    "roll": lambda xp, a, b: xp.roll(a, (1, -2), axis=(0, 1)),
    "expand_dims": lambda xp, a, b: xp.expand_dims(a, axis=1),
    "squeeze": lambda xp, a, b: xp.squeeze(xp.expand_dims(a, axis=0), axis=0),
    "moveaxis": lambda xp, a, b: xp.moveaxis(a, 0, -1),
    "repeat": lambda xp, a, b: xp.repeat(a, 2, axis=1),
    "tile": lambda xp, a, b: xp.tile(a, (2, 1, 2)),
    "broadcast_to": lambda xp, a, b: xp.broadcast_to(a, (2, 3, 4)),
    "broadcast_arrays": lambda xp, a, b: tuple(xp.broadcast_arrays(a, b[:1, :])),
    "meshgrid": lambda xp, a, b: tuple(
        xp.meshgrid(xp.reshape(a, (-1,)), xp.reshape(b, (-1,)), indexing="ij")
    ),
    "unstack": lambda xp, a, b: xp.unstack(a, axis=1),
    "diff": lambda xp, a, b: xp.diff(a, n=2, axis=1),
    "isin": lambda xp, a, b: xp.isin(a, b),
    "matmul": lambda xp, a, b: xp.matmul(a, xp.matrix_transpose(b)),
    "tensordot": lambda xp, a, b: xp.tensordot(a, xp.matrix_transpose(b), axes=1),
    "vecdot": lambda xp, a, b: xp.vecdot(a, b, axis=-2),
    "vector_norm": lambda xp, a, b: xp.linalg.vector_norm(a, axis=(0, 1), ord=3),
    "outer": lambda xp, a, b: (
        xp.linalg.outer(a[0, :], b[1, :]) if xp is strict else np.outer(np.take(a, [0], 0), b[1])
    ),
    "astype": lambda xp, a, b: xp.astype(a, xp.int32),
    "can_cast": lambda xp, a, b: xp.can_cast(a, xp.float32),
    "result_type": lambda xp, a, b: str(xp.result_type(a, xp.float32)).split(".")[-1],
    "arange": lambda xp, a, b: xp.arange(2, 9, 3),
    "asarray": lambda xp, a, b: xp.asarray([[1, 2], [3, 4]]),
    "empty": lambda xp, a, b: xp.empty((2, 3)) * 0,
    "empty_like": lambda xp, a, b: xp.empty_like(a) * 0,
    "eye": lambda xp, a, b: xp.eye(3, 5, k=-1),
    "full": lambda xp, a, b: xp.full((2, 3), 2.5),
    "full_like": lambda xp, a, b: xp.full_like(a, 2.5),
    "linspace": lambda xp, a, b: xp.linspace(0, 2, 7, endpoint=False),
    "ones": lambda xp, a, b: xp.ones((2, 3)),
    "zeros": lambda xp, a, b: xp.zeros((2, 3)),
}


def strict_or(xp: Any, indices: list[int]) -> Any:
    return strict.asarray(indices) if xp is strict else indices


def _called(name: str) -> Any:
    """Return a function that calls another one by its name."""
    operands = 2 if name in BINARY else 1
    return lambda xp, a, b: getattr(xp, name)(*(a, b)[:operands])


def plain(found: Any) -> Any:
    if isinstance(found, tuple):
        return [plain(each) for each in found]
    return found.to_numpy() if isinstance(found, arrays.DistArray) else np.asarray(found)


a = arrays.from_array(A)
xp = a.__array_namespace__()
names = sys.argv[1:]
for name in names:
    x, y = (A / 8, B) if name in SMALL else (A.astype(int), B.astype(int)) if name in WHOLE else (A, B)
    x = (
        np.abs(x) + 1
        if name in ("log", "log2", "log10", "log1p", "sqrt", "acosh")
        else x > 1
        if name in LOGICAL
        else x
    )
    y = y > 1 if name in LOGICAL else y
    if name in ("conj", "real", "imag"):
        x = x + 2j * y
    case = CASES.get(name, _called(name))
    wanted = plain(case(strict, strict.asarray(x), strict.asarray(y)))
    found = plain(case(xp, arrays.from_array(x), arrays.from_array(y)))
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, list) else [(found, wanted)]
    for one, other in pairs:
        if other.dtype.kind in "US":
            assert one == other, (name, one, other)
            continue
        np.testing.assert_allclose(
            one, other, rtol=1e-6 if other.dtype == np.float32 else 1e-12, err_msg=name
        )
        assert (one.shape, one.dtype) == (other.shape, other.dtype), (name, one.dtype, other.dtype)
if atoll.my_pe() == 0:
    print(f"{len(names)} functions")
