"""Distributed arrays on GPUs beside the calls that they are made of, in one run: boxes, halos, sparse products.

dist_arrays.py [cupy|torch|simulated...]   by default the libraries that are installed

The two sides of a ratio alternate. PE 0 prints a line of JSON for each operation: the medians in us, and the median of the
rounds' ratios.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import atoll
import numpy as np

if "simulated" in sys.argv[1:]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/python/programs"))
    import cupy_on_numpy  # noqa: F401

from atoll import arrays, sparse

ROUNDS, WARM_UP = 15, 3
Call = Callable[[], object]


def timed(call: Call, times: int, finish: Call) -> float:
    """Return the microseconds of a call; all PEs begin together."""
    finish()
    atoll.barrier_all()
    start = time.perf_counter()
    for _ in range(times):
        call()
    finish()
    return (time.perf_counter() - start) / times * 1e6


def compare(name: str, ours: Call, bare: Call, times: int, finish: Call) -> None:
    rows = []
    for turn in range(WARM_UP + ROUNDS):
        row = timed(ours, times, finish), timed(bare, times, finish)
        if turn >= WARM_UP:
            rows.append(row)
    if atoll.my_pe() == 0:
        medians = [statistics.median(side) for side in zip(*rows, strict=True)]
        ratio = statistics.median(a / b for a, b in rows)
        print(
            json.dumps(
                {
                    "op": name,
                    "array_us": round(medians[0], 2),
                    "bare_us": round(medians[1], 2),
                    "ratio": round(ratio, 3),
                }
            ),
            flush=True,
        )
    atoll.barrier_all()


def boxes(library: str, its: Any, where: dict[str, Any], finish: Call) -> None:
    n, right = atoll.n_pes(), (atoll.my_pe() + 1) % atoll.n_pes()
    a = arrays.zeros((1024 * n, 1024), "float32", grid=(n, 1), **where)
    x = atoll.zeros((1024, 1024), "float32", device="cuda", xp=its.xp)
    for rows, columns, times in ((1, 1, 100), (16, 16, 100), (256, 256, 100), (1024, 512, 50)):
        low = 1024 * right
        value = its.array(np.ones((rows, columns), "float32"))
        out = its.empty((rows, columns), np.dtype("float32"))
        box, there = np.s_[low : low + rows, :columns], np.s_[:rows, :columns]
        size = f"{library}, {rows} x {columns}"
        compare(
            f"put of a box, {size}",
            *(partial(a.put, box, value), partial(put_view, x, there, value, right)),
            *(times, finish),
        )
        compare(
            f"get of a box, {size}",
            *(partial(a.get, box, out), partial(get_view, out, x, there, right)),
            *(times, finish),
        )


def put_view(x: Any, there: Any, value: Any, pe: int) -> None:
    atoll.put(x[there], value, pe)


def get_view(out: Any, x: Any, there: Any, pe: int) -> None:
    atoll.get(out, x[there], pe)


class ByHand:
    """The halo of an array in blocks of rows, by the same puts and signals without distributed arrays."""

    def __init__(self, a: Any, its: Any) -> None:
        me, n = atoll.my_pe(), atoll.n_pes()
        x, inner = a._memory.raw, (slice(1, -1),) * (a.ndim - 1)
        self.words = atoll.signal(4, device="cuda", xp=its.xp)  # from above and below: ready, arrived
        self.sides = []
        if me > 0:
            self.sides.append((me - 1, 0, 1, x[(-1, *inner)], x[(1, *inner)]))
        if me < n - 1:
            self.sides.append((me + 1, 1, 0, x[(0, *inner)], x[(-2, *inner)]))

    def exchange(self) -> None:
        for pe, _, there, _, _ in self.sides:
            atoll.signal_add(self.words, 1, pe, there, stream="current")
        for pe, here, there, target, source in self.sides:
            atoll.signal_consume(self.words, 1, here, stream="current")
            atoll.put_signal(target, source, self.words, 1, atoll.SIGNAL_ADD, pe, 2 + there, stream="current")
        for _, here, _, _, _ in self.sides:
            atoll.signal_consume(self.words, 1, 2 + here, stream="current")


def halos(library: str, where: dict[str, Any], finish: Call) -> None:
    n = atoll.n_pes()
    for shape in ((1024 * n, 1024), (64 * n, 128, 128)):
        a = arrays.zeros(shape, "float32", halo=1, grid=(n, *(1,) * (len(shape) - 1)), **where)
        hand = ByHand(a, a._library)
        kind = f"{library}, {len(shape)}-D"

        on_stream = partial(a.exchange_halo, stream="current")
        compare(f"halo, {kind}", a.exchange_halo, partial(in_turn, hand.exchange, finish), 50, finish)
        compare(f"halo on a stream, {kind}", on_stream, hand.exchange, 50, finish)
        if library == "torch":
            graphs(f"halo in a graph, {kind}", on_stream, hand.exchange, finish)


def in_turn(*calls: Call) -> None:
    for call in calls:
        call()


def graphs(name: str, ours: Call, bare: Call, finish: Call) -> None:
    import torch

    made = []
    for call in (ours, bare):
        graph = torch.cuda.CUDAGraph()
        finish()
        with torch.cuda.graph(graph):
            for _ in range(10):
                call()
        made.append(graph)
    atoll.barrier_all()
    compare(f"{name}, 10 times", made[0].replay, made[1].replay, 20, finish)


def plate(n: int, where: dict[str, Any]) -> sparse.SparseMatrix:
    """Return the matrix of a plate of n x n points, five elements in a row."""
    k = np.arange(*arrays.zeros(n * n).bounds()[0])
    i, j = np.divmod(k, n)
    rows, columns, values = [k], [k], [np.full(len(k), 4.0)]
    for inside, other in ((i > 0, k - n), (i < n - 1, k + n), (j > 0, k - 1), (j < n - 1, k + 1)):
        rows.append(k[inside])
        columns.append(other[inside])
        values.append(np.full(inside.sum(), -1.0))
    return sparse.from_triplets(*map(np.concatenate, (rows, columns, values)), (n * n, n * n), **where)


def products(library: str, its: Any, where: dict[str, Any], finish: Call, n: int) -> None:
    a = plate(n, where)
    x, y = arrays.random(n * n, seed=1, **where), arrays.zeros(n * n, **where)
    own, far, part = a._own._matrix, a._far._matrix, x.local
    fetched = its.empty((len(a._far_columns),), x.dtype)

    def by_hand() -> None:
        in_turn(finish, atoll.barrier_all)
        if far is not None:
            atoll.take(x._raw, a._numbers, a._parts, fetched, stream="current")
        y.local[...] = its.times(own, part)
        if far is not None:
            y.local[a._far_rows] += its.times(far, fetched)
        in_turn(finish, atoll.barrier_all)

    size, ours = f"{library}, {n} x {n} points", partial(a.dot, x, out=y)
    compare(f"A @ x, {size}", ours, by_hand, 20, finish)
    compare(
        f"A @ x beside the product of a PE's own columns, {size}",
        ours,
        partial(its.times, own, part),
        20,
        finish,
    )


def main() -> None:
    names = sys.argv[1:] or [name for name in ("cupy", "torch") if importlib.util.find_spec(name)]
    atoll.init()
    for name in names:
        where = {"device": "cuda", "xp": "cupy" if name == "simulated" else name}
        its = arrays.zeros(1, **where)._library
        boxes(name, its, where, its.finish)
        halos(name, where, its.finish)
        for n in (64,) if name == "simulated" else (256, 2048):
            products(name, its, where, its.finish, n)
    atoll.finalize()


main()
