"""Distributed arrays on hosts: elements at random indices beside NumPy, boxes beside bare strided puts and gets.

atoll run -n 2 arrays.py [INDICES]   10 000 000 by default

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

import atoll
import numpy as np
from atoll import arrays

Call = Callable[[], object]
ROUNDS, WARM_UP = 15, 2


def timed(call: Call, times: int) -> tuple[float, float]:
    """Return the seconds of a call: of the processor, and on the clock."""
    busy, clock = time.process_time(), time.perf_counter()
    for _ in range(times):
        call()
    return (time.process_time() - busy) / times, (time.perf_counter() - clock) / times


def compare(name: str, ours: Call, other: Call, times: int, is_shared: bool) -> None:
    """Print a row; with `is_shared` all PEs make our call, else PE 0 alone."""
    rows = []
    for _ in range(WARM_UP + ROUNDS):
        atoll.barrier_all()
        mine = timed(ours, times) if is_shared or atoll.my_pe() == 0 else (0.0, 0.0)
        slowest = np.asarray(atoll.max_reduce(np.array(mine)))  # the call is over when the last PE's is
        theirs = timed(other, times) if atoll.my_pe() == 0 else (0.0, 0.0)
        rows.append((*map(float, slowest), *theirs))
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


atoll.init()
boxes()
elements(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
atoll.finalize()
