"""Helpers of these programs: they run all checks of a module, and tell which one failed."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import atoll
import numpy as np

# True if all PEs can load and store each other's memory. False in tests that force a transport, as those on
# several hosts do.
LOAD_STORE = os.environ.get("ATOLL_TRANSPORT") not in ("loopback", "ucx")


def loads(pe):
    """Return whether this PE reaches that PE's memory by load and store."""
    if not LOAD_STORE and atoll.SHARED == atoll.WORLD:  # within one host, with a forced transport
        return pe == atoll.my_pe()
    return atoll.WORLD.translate_pe(pe, atoll.SHARED) >= 0


INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
ATOMIC_INTEGERS = ["i4", "i8", "u4", "u8"]
FLOATS = ["f4", "f8", "g"]
COMPLEX = ["c8", "c16"]
OTHERS = ["?", "f2", "G", "S5", "U3", "M8[ms]", "m8[us]", [("a", "i2"), ("b", "f8")]]


def sample(shape: int | tuple[int, ...], dtype: Any, seed: int) -> np.ndarray[Any, Any]:
    """Return contents that differ between seeds, the same on all PEs."""
    kind = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape)) * kind.itemsize
    if kind.kind == "b":
        return rng.integers(0, 2, shape).astype(kind)
    if kind.kind in "fc":
        return rng.integers(-99, 99, shape).astype(kind)
    if kind.kind == "U":
        return rng.choice(np.array(["abc", "de", "f"], kind), shape)
    return np.frombuffer(rng.bytes(count), kind).reshape(shape).copy()


class CollectiveInputs:
    """The inputs of each PE to the collectives in kernels.

    They are `values`, `blocks` (one for each PE), and `counts`, the numbers of values for collect.
    """

    def __init__(self, me: int, n: int, size: int, dtype: Any) -> None:
        self.me, self.n, self.size, self.dtype = me, n, size, np.dtype(dtype)
        self.counts = [size - pe % 2 or 1 for pe in range(n)]

    def values(self, pe: int) -> np.ndarray[Any, Any]:
        return (np.arange(self.size) % 7 + pe + 1).astype(self.dtype)

    def blocks(self, pe: int) -> np.ndarray[Any, Any]:
        return np.concatenate([self.values(pe + 3 * k) for k in range(self.n)])

    def check(self, dst: Any, all_dst: Any, uneven_dst: Any, total: int) -> None:
        """Check results. Rows of `dst`: broadcast from the last PE, sum, min, max, prod, reduce_scatter. Rows of
        `all_dst`: fcollect, alltoall. `uneven_dst` and `total`: the array and the size from collect."""
        everyone = np.stack([self.values(pe) for pe in range(self.n)])
        mine = slice(self.me * self.size, (self.me + 1) * self.size)
        for_me = np.stack([self.blocks(pe)[mine] for pe in range(self.n)])
        reduced = [everyone.sum(0), everyone.min(0), everyone.max(0), everyone.prod(0), for_me.sum(0)]
        equal(dst, np.stack([self.values(self.n - 1), *reduced]).astype(self.dtype))
        equal(all_dst, np.stack([everyone.reshape(-1), for_me.reshape(-1)]))
        parts = [self.values(pe)[: self.counts[pe]] for pe in range(self.n)]
        equal(uneven_dst[: sum(self.counts)], np.concatenate(parts))
        assert total == sum(self.counts), f"{total} in all, expected {sum(self.counts)}"


def equal(found: Any, wanted: Any) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, f"shape {found.shape}, expected {wanted.shape}"
    assert found.dtype == wanted.dtype, f"dtype {found.dtype}, expected {wanted.dtype}"
    # Compare bytes, so that NaNs of random contents count. long double has padding without meaning.
    same = (found == wanted).all() if found.dtype.char in "gG" else found.tobytes() == wanted.tobytes()
    assert same, f"found\n{found}\nexpected\n{wanted}"


def raises(kind: type[BaseException], call: Callable[[], object], *words: str) -> None:
    """Check that the call raises exactly `kind`, and that the error text contains all of `words`."""
    try:
        call()
    except BaseException as error:
        assert type(error) is kind, f"{type(error).__name__} instead of {kind.__name__}: {error}"
        for word in words:
            assert word in str(error), f"{word!r} is missing in: {error}"
        return
    raise AssertionError(f"nothing was raised; expected {kind.__name__}")


class says:
    """`with says(kind, "word", ...):` checks that the block raises this or a derived class, with these words
    in its text.
    """

    def __init__(self, kind: type[BaseException], *words: str) -> None:
        self.kind, self.words = kind, words

    def __enter__(self) -> None: ...

    def __exit__(self, found: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        name = self.kind.__name__
        assert found is not None, f"nothing was raised; {name} was expected: {self.words}"
        assert issubclass(found, self.kind), f"{found.__name__}, not {name}: {error}"
        missing = [word for word in self.words if word not in str(error)]
        assert not missing, f"{missing} not in: {error}"
        return True


def run(checks: dict[str, Any]) -> None:
    """Run every check_* of a module in order, on all PEs together, then end the job."""
    for name, check in list(checks.items()):
        if not name.startswith("check_"):
            continue
        try:
            check()
        except BaseException as error:
            traceback.print_exc()
            print(f"{name} failed on PE {atoll.my_pe()} of {atoll.n_pes()}", file=sys.stderr, flush=True)
            atoll.abort(f"{name}: {error}")
        atoll.barrier_all()
        if atoll.my_pe() == 0:
            print("passed:", name, flush=True)  # test_numba.py and others make a case of each
    if atoll.my_pe() == 0:
        print("all checks passed")
    atoll.finalize()
