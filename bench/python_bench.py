"""Atoll's Python rows: run under `atoll run -n 2 bench/python_bench.py [--quick] [--json FILE]`.

Usage is as bench/core.cpp's. The same operations in shmem4py are in peers/shmem4py_bench.py; both use
pyharness.
"""

import atoll
import numpy as np
from pyharness import Bench

ELEMENTS = 1_000_000


def one_sided(bench: Bench) -> None:
    """Measure a put and an atomic of one element from PE 0 to PE 1, which waits in the last barrier."""
    x = atoll.zeros(8, np.int64)
    target, word = x[:1], x[1:2]
    value = np.ones(1, np.int64)

    def put(repeats: int) -> None:
        function = atoll.put
        for _ in range(repeats):
            function(target, value, 1)

    def fetch_add(repeats: int) -> None:
        function = atoll.atomic_fetch_add
        for _ in range(repeats):
            function(word, 1, 1)

    bench.measure("py_put", put, only_pe=0)
    bench.measure("py_atomic_fetch_add", fetch_add, only_pe=0)


def collective(bench: Bench) -> None:
    """Measure calls that all PEs make."""
    src, dst = atoll.ones(1, np.int64), atoll.zeros(1, np.int64)

    def sum_reduce(repeats: int) -> None:
        function = atoll.sum_reduce
        for _ in range(repeats):
            function(dst, src)

    def barrier(repeats: int) -> None:
        function = atoll.barrier_all
        for _ in range(repeats):
            function()

    bench.measure("py_barrier_all", barrier)
    bench.measure("py_sum_reduce", sum_reduce)
    sum_reduce(1)  # also if other rows were requested
    assert dst[0] == atoll.n_pes()


def add_at(bench: Bench) -> None:
    """Measure a million atomic additions at random elements of PE 1 in one call: the time of one."""
    table = atoll.zeros(ELEMENTS, np.int64)
    index = np.random.default_rng(1).integers(0, ELEMENTS, ELEMENTS)
    values = np.ones(ELEMENTS, np.int64)

    def run(repeats: int) -> None:
        for _ in range(repeats):
            atoll.add_at(table, index, values, 1)

    bench.measure("py_add_at", run, only_pe=0, parts=ELEMENTS)


def main() -> None:
    """Measure every row that makes sense at this number of PEs."""
    atoll.init()
    bench = Bench("atoll", atoll.my_pe(), atoll.n_pes(), atoll.barrier_all)
    word = atoll.zeros(1, np.float64)

    def share(value: float) -> float:
        if bench.my_pe == 0:
            for pe in range(bench.n_pes):
                atoll.p(word, value, pe)
        atoll.barrier_all()
        shared = float(word[0])
        atoll.barrier_all()
        return shared

    bench.share = share
    if bench.n_pes == 2:
        one_sided(bench)
        add_at(bench)
    collective(bench)
    atoll.finalize()


if __name__ == "__main__":
    main()
