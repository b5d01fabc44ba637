"""PE 0's kernels wait forever, since PE 1 has none: the error of each wait, after 1.5 s by
ATOLL_WAIT_TIMEOUT.
"""

from __future__ import annotations

import time
from typing import Any

import atoll
import atoll.numba as dev

atoll.init()


@dev.kernel
def signed(team: Any, x: Any) -> None:
    dev.wait_until(team, x, dev.EQ, -2, tag=3)


@dev.kernel
def unsigned(team: Any, x: Any) -> None:
    dev.signal_wait_until(team, x, dev.EQ, 1)


@dev.kernel
def consume(team: Any, x: Any) -> None:
    dev.signal_consume(team, x, 1)


@dev.kernel
def bounded(team: Any, x: Any) -> None:
    dev.signal_wait_until(team, x, dev.EQ, 1, tag=7, bound_ns=20_000_000)


@dev.kernel
def bounded_consume(team: Any, x: Any) -> None:
    dev.signal_consume(team, x[1:], 1, bound_ns=20_000_000)


@dev.kernel
def bounded_local(team: Any, x: Any) -> None:
    dev.local_wait_until(team, x, dev.EQ, 1, bound_ns=20_000_000)


@dev.kernel
def bounded_all(team: Any, x: Any) -> None:
    dev.wait_until_all(team, x, None, dev.EQ, 1, bound_ns=x.size * 10_000_000)


@dev.kernel
def bounded_any(team: Any, x: Any) -> None:
    dev.wait_until_any_vector(team, x[1:], None, dev.NE, x[1:], tag=8, bound_ns=20_000_000)


@dev.kernel
def bounded_some(team: Any, x: Any) -> None:
    dev.wait_until_some(team, x, x, None, dev.EQ, 5, bound_ns=20_000_000)


@dev.kernel
def by_the_teams(team: Any, x: Any) -> None:
    dev.wait_until(team, x, dev.EQ, 1, bound_ns=0)


@dev.kernel
def reduce(team: Any, x: Any) -> None:
    dev.reduce(team, x, x, dev.SUM)


@dev.kernel
def collect(team: Any, x: Any) -> None:
    dev.collect(team, x, x[:1])


words, signals = atoll.zeros(1, "i4"), atoll.zeros(2, "u4")
done = atoll.zeros(1, "i8")
small, large = atoll.zeros(2, "f4"), atoll.zeros(20000, "f4")
words[0], signals[0] = -1, 0xFFFFFFFF
atoll.barrier_all()
if atoll.my_pe() == 0:
    for kernel, array, wanted in (
        (
            signed,
            words,
            (
                "in wait_until on the int32 array of shape (1,) allocated at",
                "found -1, waiting for == -2, tag 3",
            ),
        ),
        (
            unsigned,
            signals,
            ("in signal_wait_until on element 0 of the uint32 array", "found 4294967295, waiting for == 1"),
        ),
        (consume, signals[1:], ("in signal_consume on", "found 0, waiting for >= 1")),
        (
            bounded,
            signals,
            ("bounded: Timed out after 0.02 s in signal_wait_until", "tag 7. Give this wait more"),
        ),
        (bounded_consume, signals, ("Timed out after 0.02 s in signal_consume", "found 0, waiting for >= 1")),
        (bounded_local, signals, ("Timed out after 0.02 s in wait_until", "waiting for == 1")),
        (
            bounded_all,
            signals,
            ("Timed out after 0.02 s in wait_until", "found 4294967295, waiting for == 1"),
        ),
        (bounded_any, signals, ("Timed out after 0.02 s in wait_until", "waiting for != 0, tag 8")),
        (bounded_some, signals, ("Timed out after 0.02 s in wait_until", "waiting for == 5")),
        (by_the_teams, signals, ("Timed out after 1.5 s in wait_until", "raise ATOLL_WAIT_TIMEOUT")),
        (reduce, small, ("in reduce, waiting for PE 1",)),
        (reduce, large, ("in reduce, waiting for PE 1",)),
        (collect, small, ("in collect, waiting for PE 1",)),
    ):
        try:
            dev.launch(kernel, 1, 1)(atoll.WORLD, array)
        except atoll.Timeout as error:
            assert all(words in str(error) for words in wanted), f"{error}; wanted {wanted}"
        else:
            raise AssertionError(f"{wanted} did not end")
    print("all waits are named")
    atoll.put(done, 1, pe=1)
while atoll.my_pe() == 1 and done[0] == 0:  # a plain loop: a wait of Atoll would end when PE 0's ends
    time.sleep(0.01)
