"""The memory that operations on distributed arrays take beside their operands, as docs/arrays.md states it in parts of a PE."""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import _parts

atoll.init()
n = atoll.n_pes()
allocated = 0  # bytes of symmetric memory for arrays on this PE
was = _parts.allocate


def allocate(team: Any, shape: Any, dtype: Any, *others: Any) -> Any:
    global allocated
    allocated += int(np.prod(shape)) * np.dtype(dtype).itemsize
    return was(team, shape, dtype, *others)


_parts.allocate = allocate
a, b = (arrays.random(400_000 * n, seed=seed) for seed in (1, 2))
rows = arrays.random((800 * n, 500), seed=3)
counts = (arrays.random(400_000 * n, seed=4) * 1000).astype(np.int64)
PART = a.local.nbytes
# Each PE's temporaries and result at most, in parts of the argument.
CASES: dict[float, dict[str, Callable[[], Any]]] = {
    0: {
        **{name: getattr(a, name) for name in ("sum", "prod", "min", "max", "any", "all", "mean")},
        "count_nonzero": lambda: np.count_nonzero(a),
        "ptp": lambda: np.ptp(a),
        "array_equal": lambda: np.array_equal(a, b),
        "dot": lambda: np.dot(a, b),
        "vdot": lambda: np.vdot(a, b),
        "bincount": lambda: np.bincount(counts),
        "average": lambda: np.average(a),
        "a += 1": lambda: b.__iadd__(1),
    },
    1: {
        "a + b": lambda: a + b,
        "histogram": lambda: np.histogram(a, 100),
        "cumsum": lambda: np.cumsum(a),
        "cumprod": lambda: np.cumprod(a),
        "copy": a.copy,
        "astype": lambda: a.astype("f4"),
        "transpose": lambda: np.transpose(rows),
        "flip": lambda: np.flip(a),
        "roll": lambda: np.roll(a, 7),
        "redistribute": lambda: a.redistribute("cyclic"),
        "redistribute(out=a)": lambda: a.redistribute("block", out=a),
    },
    2: {
        **{name: getattr(a, name) for name in ("var", "std", "argmin", "argmax")},
        "allclose": lambda: np.allclose(a, b),
        "linalg.norm": lambda: np.linalg.norm(a),
        "nansum": lambda: np.nansum(a),
        "nanmin": lambda: np.nanmin(a),
        "around": lambda: np.around(a, 2),
        "digitize": lambda: np.digitize(a, [0.2, 0.5]),
        "concatenate": lambda: np.concatenate([a, b]),
        "reshape": lambda: np.reshape(a, (800 * n, 500)),
        "where": lambda: np.where(a > 0.5, a, b),
        "a[mask]": lambda: a[a > 0.5],
    },
    3: {
        "sort": lambda: np.sort(a),
        "nanmean": lambda: np.nanmean(a),
        "tril": lambda: np.tril(rows),
        "diff": lambda: np.diff(a),
        "nanargmin": lambda: np.nanargmin(a),
    },
    4: {
        "sinc": lambda: np.sinc(a),
        "median": lambda: np.median(a),
        "quantile": lambda: np.quantile(a, 0.3),
    },
    7: {"nanvar": lambda: np.nanvar(a), "nanstd": lambda: np.nanstd(a)},
    9: {"argsort": lambda: np.argsort(a)},
    10: {"trapezoid": lambda: np.trapezoid(a)},
    11: {"unique": lambda: np.unique(a)},
}


def used(call: Callable[[], Any]) -> float:
    """Return the most memory that a PE took for a call, in parts: NumPy's at its peak, and all symmetric arrays."""
    global allocated
    call()  # caches and plans
    gc.collect()
    atoll.barrier_all()
    allocated = 0
    tracemalloc.start()
    result = call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return float(atoll.max_reduce(np.array([(peak + allocated) / PART]))[0])


SLACK = 0.45  # masks, which have an eighth of a part each, tables and Python's own objects
found = {(name, parts): used(call) for parts, calls in CASES.items() for name, call in calls.items()}
wrong = {key: round(most, 2) for key, most in found.items() if not most <= key[1] + SLACK}
assert not wrong, wrong
loose = {key: round(most, 2) for key, most in found.items() if key[1] >= 2 and most < key[1] / 2}
assert not loose, loose
if atoll.my_pe() == 0:
    print(f"{len(found)} operations")
atoll.finalize()
