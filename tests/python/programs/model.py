"""Random programs against a sequential model in NumPy: every PE runs the same program and knows every PE's
operations.
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

import atoll
import numpy as np
from checks import equal
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
ROWS, COLUMNS = 6, 8
Array = np.ndarray[Any, Any]

dtypes = st.sampled_from(["i4", "u8", "f4", "f8", "i2", "c16", "u1"])
pes = st.integers(0, n - 1)


def slices(length: int) -> st.SearchStrategy[slice]:
    ends = st.integers(-length - 2, length + 2) | st.none()
    return st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, 3, -1, -2]))


views = st.tuples(slices(ROWS), slices(COLUMNS), st.booleans())
steps = st.tuples(
    st.sampled_from(["put", "put_scalar", "get", "put_at", "take", "atomic", "p", "self", "reduce", "broadcast"]),
    pes, pes, views, views, st.integers(0, 2**31),
)  # fmt: skip


def view(x: Array, v: tuple[slice, slice, bool]) -> Array:
    rows, columns, transposed = v
    seen = x[rows, columns]
    return seen.T if transposed else seen


def values(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 9, shape).astype(dtype)


class Machine:
    """The symmetric array here, and the contents that a sequential machine would have in all of them."""

    def __init__(self, dtype: str) -> None:
        self.x = atoll.zeros((ROWS, COLUMNS), dtype)
        self.model = np.zeros((n, ROWS, COLUMNS), dtype)

    def put(self, who: int, pe: int, v: Any, _: Any, seed: int) -> None:
        src = values(view(self.model[pe], v).shape, self.model.dtype, seed)
        if me == who:
            atoll.put(view(self.x, v), src, pe)
        view(self.model[pe], v)[...] = src

    def put_scalar(self, who: int, pe: int, v: Any, _: Any, seed: int) -> None:
        if me == who:
            atoll.put(view(self.x, v), self.model.dtype.type(seed % 9), pe)
        view(self.model[pe], v)[...] = seed % 9

    def p(self, who: int, pe: int, _v: Any, _w: Any, seed: int) -> None:
        index = seed % (ROWS * COLUMNS)
        if me == who:
            atoll.p(self.x.T, seed % 9, pe, index)
        self.model[pe].T.flat[index] = seed % 9

    def get(self, who: int, pe: int, v: Any, _: Any, seed: int) -> None:
        if me == who:
            found = np.zeros_like(view(self.x, v))
            atoll.get(found, view(self.x, v), pe)
            equal(found, view(self.model[pe], v))

    def self(self, who: int, _: int, v: Any, w: Any, seed: int) -> None:
        """Put between two views of one array that may overlap."""
        to, from_ = view(self.model[who], v), view(self.model[who], w)
        rows, columns = (min(a, b) for a, b in zip(to.shape, from_.shape, strict=True))
        if me == who:
            atoll.put(view(self.x, v)[:rows, :columns], view(self.x, w)[:rows, :columns], me)
        to[:rows, :columns] = from_[:rows, :columns].copy()

    def put_at(self, who: int, _: int, v: Any, _w: Any, seed: int) -> None:
        rng = np.random.default_rng(seed)
        size = view(self.model[0], v).size
        if size == 0:
            return
        at = rng.permutation(n * size)[: min(10, n * size)]
        new = values(at.shape, self.model.dtype, seed)
        if me == who:
            atoll.put_at(view(self.x, v), at % size - size * (seed % 2), new, at // size)
        for k, value in zip(at, new, strict=True):
            view(self.model[k // size], v).flat[k % size] = value

    def take(self, who: int, _: int, v: Any, _w: Any, seed: int) -> None:
        size = view(self.model[0], v).size
        if me != who or size == 0:
            return
        rng = np.random.default_rng(seed)
        index, pe = rng.integers(0, size, (4, 1)), rng.integers(0, n, 3)
        wanted = np.array([[view(self.model[p], v).flat[i] for p in pe] for (i,) in index], self.model.dtype)
        equal(atoll.take(view(self.x, v), index, pe), wanted)

    def atomic(self, who: int, pe: int, _v: Any, _w: Any, seed: int) -> None:
        if self.model.dtype.kind == "c" or self.model.dtype.itemsize < 4:
            return
        index = seed % (ROWS * COLUMNS)
        place = np.unravel_index(index, (ROWS, COLUMNS))
        for pe_of in range(n):
            if me == pe_of:
                atoll.atomic_add(self.x, 1 + me, pe, index)
            self.model[pe][place] += 1 + pe_of

    def reduce(self, _who: int, _pe: int, v: Any, _w: Any, _seed: int) -> None:
        total = view(self.model[0], v).copy()
        for pe in range(1, n):
            total = np.add(total, view(self.model[pe], v), dtype=self.model.dtype)
        atoll.sum_reduce(view(self.x, v), view(self.x, v))
        for pe in range(n):
            view(self.model[pe], v)[...] = total

    def broadcast(self, who: int, _pe: int, v: Any, _w: Any, _seed: int) -> None:
        atoll.broadcast(view(self.x, v), view(self.x, v), who)
        for pe in range(n):
            view(self.model[pe], v)[...] = view(self.model[who], v)


@settings(
    max_examples=40, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(dtypes, st.lists(steps, min_size=1, max_size=12))
def programs(dtype: str, program: list[Any]) -> None:
    try:
        machine = Machine(dtype)
        for operation, *arguments in program:
            getattr(machine, operation)(*arguments)
            atoll.barrier_all()
            equal(machine.x, machine.model[me])
            atoll.barrier_all()
        atoll.free(machine.x)
    except BaseException as error:
        traceback.print_exc()
        print(f"PE {me} of {n}, {dtype}: {program}", file=sys.stderr)
        atoll.abort(str(error))


programs()
if me == 0:
    print("all checks passed")
atoll.finalize()
