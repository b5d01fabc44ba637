"""Distributed arrays on hosts: elements at random indices beside NumPy, boxes beside bare strided puts and gets.

atoll run -n 2 arrays.py [TOPIC...]   boxes, elements, halos, whole, matrices, transforms; all by default
mpirun -n 2 python arrays.py peers     beside MPI: array_peers.py

The two sides of a ratio alternate. While NumPy works on PE 0, the other PEs rest in a barrier. PE 0 prints a line of JSON
for each operation. It has the medians of the processor's time in us, which other programs change little. The ratios are
medians over the rounds, of that time and of the time on the clock.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import array_peers
import atoll
import numpy as np
from atoll import arrays

Array = np.ndarray[Any, Any]
Call = Callable[[], object]
Side = tuple[int, int, Array, Array]
ROUNDS, WARM_UP = 15, 2


def timed(call: Call, times: int) -> tuple[float, float]:
    """Return the seconds of a call: of the processor, and on the clock."""
    busy, clock = time.process_time(), time.perf_counter()
    for _ in range(times):
        call()
    return (time.process_time() - busy) / times, (time.perf_counter() - clock) / times


def compare(
    name: str, ours: Call, other: Call, times: int, is_shared: bool, is_other_shared: bool = False
) -> None:
    """Print a row. Calls that are shared are made by all PEs, the others by PE 0 alone."""
    rows = []
    for _ in range(WARM_UP + ROUNDS):
        atoll.barrier_all()
        mine = timed(ours, times) if is_shared or atoll.my_pe() == 0 else (0.0, 0.0)
        atoll.barrier_all()
        theirs = timed(other, times) if is_other_shared or atoll.my_pe() == 0 else (0.0, 0.0)
        # A call is over when the last PE's is.
        rows.append(tuple(map(float, np.asarray(atoll.max_reduce(np.array((*mine, *theirs)))))))
    if atoll.my_pe() == 0:
        kept = rows[WARM_UP:]
        print(
            json.dumps(
                {
                    "op": name,
                    "array_us": round(statistics.median(row[0] for row in kept) * 1e6, 2),
                    "other_us": round(statistics.median(row[2] for row in kept) * 1e6, 2),
                    "ratio": round(statistics.median(row[0] / row[2] for row in kept), 3),
                    "ratio_clock": round(statistics.median(row[1] / row[3] for row in kept), 3),
                }
            ),
            flush=True,
        )


def elements(n: int) -> None:
    """Print rows of a vector of `n` elements, of which each PE gets or changes a share of `n` random ones."""
    index = np.random.default_rng(5).integers(0, n, n)
    mine = index[atoll.my_pe() :: atoll.n_pes()].copy()
    values, all_values = np.ones(len(mine)), np.ones(n)
    a, x = arrays.ones(n), np.ones(n)
    compare("gather", lambda: a.at[mine].get(), lambda: x[index], 1, True)
    compare("scatter-add", lambda: a.at[mine].add(values), lambda: np.add.at(x, index, all_values), 1, True)


def boxes() -> None:
    """Print rows of boxes of another PE, of which PE 0 makes all calls."""
    n, other = atoll.n_pes(), atoll.n_pes() - 1
    a = arrays.zeros((1024 * n, 1024), grid=(n, 1))
    raw, low = a._raw, 1024 * other
    for rows in (1, 8, 64, 256):
        box, there = np.s_[low : low + rows, :rows], np.s_[:rows, :rows]
        out, value = np.empty((rows, rows)), np.ones((rows, rows))
        times = 2000 if rows < 256 else 200
        get = lambda there, out: atoll.get(out, raw[there], other)  # noqa: E731
        put = lambda there, value: atoll.put(raw[there], value, other)  # noqa: E731
        size = f"{rows} x {rows}"
        compare(f"get of {size}", partial(a.get, box, out), partial(get, there, out), times, False)
        compare(f"put of {size}", partial(a.put, box, value), partial(put, there, value), times, False)
    box, there = np.s_[low : low + 8, :8], np.s_[:8, :8]
    compare("a[8 x 8]", lambda: a[box], lambda: get(there, np.empty((8, 8))), 2000, False)
    compare("a[i, j]", lambda: a[low, 9], lambda: atoll.g(raw, other, 9), 2000, False)
    compare(
        "a[i, j] = x", lambda: a.__setitem__((low, 9), 2.0), lambda: atoll.p(raw, 2.0, other, 9), 2000, False
    )
    between, across = np.s_[low - 4 : low + 4, :8], (np.s_[-4:, :8], np.s_[:4, :8])
    out = np.empty((8, 8))

    def both() -> None:
        atoll.get(out[:4], raw[across[0]], other - 1)
        atoll.get(out[4:], raw[across[1]], other)

    if n > 1:
        compare("get of 8 x 8 of two PEs", partial(a.get, between, out), both, 2000, False)


def exchange_by_hand(sides: list[Side], words: tuple[Array, Array, Array]) -> None:
    """Exchange rows with the neighbours: a PE, its side, the rim that it gets, and the place there."""
    ready, arrived, count = words
    count += 1
    for pe, side, _, _ in sides:
        atoll.signal_add(ready, 1, pe, index=1 - side)
    for pe, side, rim, there in sides:
        atoll.signal_wait_until(ready, atoll.GE, int(count[0]), index=side)
        atoll.put_signal(there, rim, arrived, 1, "add", pe, 1 - side)
    for _, side, _, _ in sides:
        atoll.signal_wait_until(arrived, atoll.GE, int(count[0]), index=side)


def halos() -> None:
    """Print rows of exchanges between parts along the first axis, beside puts and signals by hand."""
    n, me = atoll.n_pes(), atoll.my_pe()
    for shape in ((512 * n, 512), (64 * n, 64, 64)):
        axes = len(shape)
        halo = [(1, 1), *[(0, 0)] * (axes - 1)]
        a, b = (arrays.zeros(shape, grid=(n, *[1] * (axes - 1)), halo=halo) for _ in range(2))
        block, words = b._raw, (atoll.signal(2), atoll.signal(2), np.zeros(1, np.int64))
        sides = [(me - 1, 0, block[1], block[-1]), (me + 1, 1, block[-2], block[0])]
        sides = [side for side in sides if 0 <= side[0] < n]
        compare(f"halo, {axes}-D", a.exchange_halo, partial(exchange_by_hand, sides, words), 500, True, True)


def whole_arrays(n: int) -> None:
    """Print rows of calls on arrays of n elements: redistribution beside a copy, sorting beside NumPy."""
    side = int(n**0.5)
    a = arrays.random((side, side), dist=("block", "whole"))
    whole = np.random.default_rng(3).random(n)
    line = arrays.from_array(whole)
    there, same = (arrays.zeros((side, side), dist=dist) for dist in (("whole", "block"), ("block", "whole")))
    part, copy = a.local.copy(), np.empty_like(a.local)

    def copied(target: Array, source: Array) -> None:
        """Copy on every PE. A redistribution ends by a barrier, too."""
        np.copyto(target, source)
        atoll.barrier_all()

    def to_new_memory() -> None:
        part.copy()
        atoll.barrier_all()

    into, to_new_array = lambda: a.redistribute(out=there), lambda: a.redistribute(("whole", "block")).free()
    compare(
        "redistribute, by a copy in symmetric memory",
        into,
        lambda: copied(same.local, a.local),
        1,
        True,
        True,
    )
    compare("redistribute, by a copy in NumPy's memory", into, lambda: copied(copy, part), 1, True, True)
    compare(
        "redistribute to a new array, by a copy to new memory", to_new_array, to_new_memory, 1, True, True
    )
    compare("sort", lambda: np.sort(line).free(), lambda: np.sort(whole), 1, True)


def transforms(side: int) -> None:
    """Print rows of transforms of side^3 points, whose redistributions overlap with them, beside the same without slabs."""
    from atoll import fft
    from atoll.fft import _overlap

    a = arrays.random((side, side, side)) + 0j

    def call(least: int, transposed: bool) -> None:
        kept, _overlap.LEAST = _overlap.LEAST, least
        fft.fftn(a, transposed=transposed).free()
        _overlap.LEAST = kept

    for transposed, of in ((True, ", transposed"), (False, "")):
        compare(
            f"fftn of {side}^3{of}, beside whole parts",
            partial(call, _overlap.LEAST, transposed),
            partial(call, 1 << 62, transposed),
            1,
            True,
            True,
        )


def matrices(side: int) -> None:
    """Print rows of the 5-point matrix of side x side points beside SciPy on PE 0, and of a triad for their ratio."""
    import scipy.sparse
    import scipy.sparse.linalg
    from atoll import sparse

    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    one = scipy.sparse.eye_array(side)
    matrix = (scipy.sparse.kron(one, line) + scipy.sparse.kron(line, one)).tocsr()
    its, x = sparse.from_scipy(matrix), np.ones(side * side)
    b = arrays.from_array(x)
    out = its @ b
    n = 4 * len(x)  # beyond the caches, as the matrix is
    parts, wholes = [np.ones(n // atoll.n_pes()) for _ in range(3)], [np.ones(n) for _ in range(3)]

    def triad(a: Array, b: Array, c: Array) -> None:
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)

    compare("triad", partial(triad, *parts), partial(triad, *wholes), 10, True)
    compare(
        "A @ x",
        lambda: its.dot(b, out),
        lambda: matrix @ x,
        10,
        True,
    )
    steps = {"maxiter": 20, "rtol": 0.0}
    compare(
        "20 steps of cg",
        lambda: sparse.cg(its, b, **steps),
        lambda: scipy.sparse.linalg.cg(matrix, x, **steps),
        1,
        True,
    )


if sys.argv[1:] == ["peers"]:
    array_peers.library("mpi4py.MPI")  # MPI starts first
atoll.init()
TOPICS = {
    "boxes": boxes,
    "elements": partial(elements, 10_000_000),
    "halos": halos,
    "whole": partial(whole_arrays, 10_000_000),
    "matrices": partial(matrices, 1000),
    "transforms": partial(transforms, 256),
}
if sys.argv[1:] == ["peers"]:
    TOPICS["peers"] = partial(array_peers.rows, compare)
for topic in sys.argv[1:] or TOPICS:
    TOPICS[topic]()
atoll.finalize()
