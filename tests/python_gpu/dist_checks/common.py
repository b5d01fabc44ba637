"""Parts that the checks of distributed arrays on GPUs share: the kinds of arrays, arrays to check, comparisons."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import atoll
import numpy as np

PROGRAMS = Path(__file__).resolve().parents[2] / "python/programs"
if "simulated" in sys.argv[1:]:
    sys.path.insert(0, str(PROGRAMS))
    import cupy_on_numpy  # noqa: F401

from atoll import arrays  # noqa: E402
from atoll.arrays import DistArray  # noqa: E402

# Library, device= and xp= of each name.
KINDS = {
    "cupy": {"device": "cuda", "xp": "cupy"},
    "torch": {"device": "cuda", "xp": "torch"},
    "simulated": {"device": "cuda"},
    "tensors": {"xp": "torch"},
}
BOXES = [
    np.s_[...],
    np.s_[2:9, 1:7],
    np.s_[::3, ::2],
    np.s_[5],
    np.s_[:, 4],
    np.s_[1:2, 3:4],
    np.s_[3:3],
    np.s_[-1, -2],
]
REVERSED = [np.s_[::-1], np.s_[9:1:-2, ::-1], np.s_[4, ::-3]]
DISTS: list[Any] = ["block", "cyclic", ["cyclic(2)", "block"], ["whole", "block"]]
DTYPES = ["float32", "float64", "int32", "int64", "complex64", "bool", "uint8"]
# On a GPU each function is compiled for each pair.
PAIRS = [("float32", "float32"), ("float32", "int32"), ("int64", "int32"), ("float64", "float32")]
REDUCED = ["float32", "int64", "complex64", "bool"]
WORDS = ["float32", "float64", "int32", "int64"]
SHAPE = (13, 9)

checks: dict[str, int] = {}
kind: dict[str, Any] = {}


def host(x: Any) -> Any:
    """Return an array of any library as NumPy's."""
    if isinstance(x, DistArray):
        return x.to_numpy()
    if type(x).__module__ == "torch":
        return x.cpu().numpy()
    return x.get() if hasattr(x, "get") else np.asarray(x)


def equal(what: str, found: Any, expected: Any, exact: bool = True) -> None:
    found, expected = host(found), np.asarray(expected)
    same = np.array_equal(found, expected) if exact else np.allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert found.shape == expected.shape and same, (atoll.my_pe(), what, found, expected)
    checks[what] = checks.get(what, 0) + 1


def refused(what: str, error: type[Exception], words: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except error as found:
        assert words in str(found), (what, found)
        checks["refused"] = checks.get("refused", 0) + 1
        return
    raise AssertionError(f"{what}: no {error.__name__}")


def whole_of(dtype: str, shift: int = 0) -> Any:
    numbers = np.arange(SHAPE[0] * SHAPE[1]).reshape(SHAPE) + shift
    if dtype == "bool":
        return numbers % 3 == 0
    return numbers.astype(dtype) * np.asarray(1 - 0.5j if dtype.startswith("c") else 1, dtype)


def made(dtype: str, dist: Any = "block", shift: int = 0, halo: Any = 0) -> tuple[DistArray, Any]:
    whole = whole_of(dtype, shift)
    return arrays.from_array(whole, dist=dist, halo=halo, **kind), whole


@contextlib.contextmanager
def alone(array: DistArray) -> Iterator[bool]:
    """One PE works, while the others wait."""
    array.barrier()
    yield atoll.my_pe() == 0
    atoll.barrier_all()  # waits for no GPU: the calls themselves have
