"""The time of a host call by nvshmem.core, beside the same call of atoll's. PE 0 prints ns, the least of many rounds.

atoll run -n 2 bench/layers/nvshmem4py.py
"""

from __future__ import annotations

import time
from typing import Any

import atoll
import atoll.nvshmem as nvshmem
import numpy as np

ROUNDS, CALLS = 60, 2000


def nanoseconds(call: Any, *arguments: Any) -> float:
    """Return the time of a call."""
    least = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            call(*arguments)
        least = min(least, (time.perf_counter_ns() - begin) / CALLS)
    return least


def row(name: str, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> None:
    """Print the times of a call by both names."""
    of_ours, of_theirs = nanoseconds(*ours), nanoseconds(*theirs)
    print(
        f"{name:18} atoll {of_ours:5.0f}   nvshmem.core {of_theirs:5.0f}   layer {of_theirs - of_ours:+5.0f}"
    )


nvshmem.init()
me, n = nvshmem.my_pe(), nvshmem.n_pes()
right = (me + 1) % n
x, signal = nvshmem.array((512,), dtype="int64"), nvshmem.buffer(8)
y, word = np.zeros(512, np.int64), atoll.zeros(1, dtype=np.uint64)
first, mine = x[:1], y[:1]
change = nvshmem.SignalOp.SIGNAL_SET
nvshmem.signal_op(signal, 0, change, right)
nvshmem.barrier_all()
if me == 0:
    row("put, 8 B", (atoll.put, first, mine, right), (nvshmem.put, first, mine, right))
    row("put, 4 KiB", (atoll.put, x, y, right), (nvshmem.put, x, y, right))
    row("get, 8 B", (atoll.get, mine, first, right), (nvshmem.get, mine, first, right))
    row(
        "put_signal, 8 B",
        (atoll.put_signal, first, mine, word, 1, "set", right),
        (nvshmem.put_signal, first, mine, signal, 1, change, right),
    )
    row("signal_op", (atoll.signal_set, word, 1, right), (nvshmem.signal_op, signal, 1, change, right))
    row("signal_fetch", (atoll.signal_fetch, word), (nvshmem.signal_fetch, signal))
    row("atomic_add", (atoll.atomic_add, x, 1, right, 0), (nvshmem.atomic_add, x, 1, right))
    row("atomic_fetch_add", (atoll.atomic_fetch_add, x, 1, right, 0), (nvshmem.atomic_fetch_add, x, 1, right))
    row("atomic_fetch", (atoll.atomic_fetch, x, right, 0), (nvshmem.atomic_fetch, x, right))
    row("quiet", (atoll.quiet,), (nvshmem.quiet,))
nvshmem.barrier_all()
nvshmem.finalize()
