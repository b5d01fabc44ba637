"""The rows of python_bench.py in shmem4py, by the same harness: run under `oshrun -n 2`."""

import sys
from pathlib import Path

import numpy as np
from shmem4py import shmem

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pyharness import Bench


def one_sided(bench: Bench) -> None:
    """Measure the rows of python_bench.one_sided."""
    x = shmem.zeros(8, dtype=np.int64)
    target, word = x[:1], x[1:2]
    value = np.ones(1, np.int64)

    def put(repeats: int) -> None:
        function = shmem.put
        for _ in range(repeats):
            function(target, value, 1)

    def fetch_add(repeats: int) -> None:
        function = shmem.atomic_fetch_add
        for _ in range(repeats):
            function(word, 1, 1)

    bench.measure("py_put", put, only_pe=0)
    bench.measure("py_atomic_fetch_add", fetch_add, only_pe=0)


def collective(bench: Bench) -> None:
    """Measure the rows of python_bench.collective."""
    src, dst = shmem.ones(1, dtype=np.int64), shmem.zeros(1, dtype=np.int64)

    def sum_reduce(repeats: int) -> None:
        function = shmem.sum_reduce
        for _ in range(repeats):
            function(dst, src)

    def barrier(repeats: int) -> None:
        function = shmem.barrier_all
        for _ in range(repeats):
            function()

    bench.measure("py_barrier_all", barrier)
    bench.measure("py_sum_reduce", sum_reduce)
    assert dst[0] == shmem.n_pes()


def main() -> None:
    """Measure every row that makes sense at this number of PEs."""
    bench = Bench("shmem4py", shmem.my_pe(), shmem.n_pes(), shmem.barrier_all)
    word = shmem.zeros(1, dtype=np.float64)

    def share(value: float) -> float:
        if bench.my_pe == 0:
            for pe in range(bench.n_pes):
                shmem.put(word, np.array([value]), pe)
        shmem.barrier_all()
        shared = float(word[0])
        shmem.barrier_all()
        return shared

    bench.share = share
    if bench.n_pes == 2:
        one_sided(bench)
    collective(bench)


if __name__ == "__main__":
    main()
