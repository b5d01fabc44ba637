"""Kernels of PE 0 wait forever, since PE 1 has none: the error of each collective and message.

No wait has a bound but its own.
"""

from __future__ import annotations

import time
from typing import Any

import atoll
import atoll.numba as dev
import numpy as np

BOUND = 20_000_000
WORDS = ("Timed out after 0.02 s in ", ", waiting for PE 1", "tag 7. Give this wait more time")
atoll.init()
waits: list[tuple[str, Any, tuple[Any, ...]]] = []
x, tiles = atoll.zeros(8, "i4"), atoll.zeros((4, 4), "f4")
large = atoll.zeros(40000, "f4")
box = dev.mailbox(16)
bytes_of_box = box.block.copy()


def waiting(operation: str, *arguments: Any) -> Any:
    """Return a kernel that waits in an operation by that name."""

    def register(function: Any) -> Any:
        waits.append((operation, dev.kernel(function, cache=True), arguments))
        return function

    return register


@waiting("sync", x)
def sync(team: Any, x: Any) -> None:
    dev.sync(team, tag=7, bound_ns=BOUND)


@waiting("sync", x)
def sync_relaxed(team: Any, x: Any) -> None:
    dev.sync(team, dev.BLOCK, dev.RELAXED, 7, BOUND)


@waiting("sync", x)
def meeting(team: Any, x: Any) -> None:
    met = dev.meeting(team, tag=7, bound_ns=BOUND)
    for _ in range(2):
        met = dev.sync_next(met)
    dev.close(met)


@waiting("barrier", x)
def barrier(team: Any, x: Any) -> None:
    dev.barrier(team, tag=7, bound_ns=BOUND)


@waiting("broadcast", x)
@waiting("broadcast", large)
def broadcast(team: Any, x: Any) -> None:
    dev.broadcast(team, x, x, 1, tag=7, bound_ns=BOUND)


@waiting("fcollect", x)
@waiting("fcollect", large)
def fcollect(team: Any, x: Any) -> None:
    dev.fcollect(team, x, x[: x.size // 2], tag=7, bound_ns=BOUND)


@waiting("collect", x)
def collect(team: Any, x: Any) -> None:
    dev.collect(team, x, x[:2], tag=7, bound_ns=BOUND)


@waiting("alltoall", x)
@waiting("alltoall", large)
def alltoall(team: Any, x: Any) -> None:
    dev.alltoall(team, x, x, tag=7, bound_ns=BOUND)


@waiting("reduce", x)
@waiting("reduce", large)
def reduce(team: Any, x: Any) -> None:
    dev.reduce(team, x, x, dev.MAX, tag=7, bound_ns=BOUND)


@waiting("reduce_scatter", x)
@waiting("reduce_scatter", large)
def reduce_scatter(team: Any, x: Any) -> None:
    dev.reduce_scatter(team, x[: x.size // 2], x, dev.MAX, tag=7, bound_ns=BOUND)


@waiting("tile_reduce", tiles)
def tile_reduce(team: Any, x: Any) -> None:
    dev.tile_reduce(team, x, x, dev.MAX, tag=7, bound_ns=BOUND)


@waiting("tile_allgather", tiles)
def tile_allgather(team: Any, x: Any) -> None:
    dev.tile_allgather(team, x, x[:2], tag=7, bound_ns=BOUND)


@waiting("receive", box, x)
def receive(team: Any, box: Any, x: Any) -> None:
    dev.receive(team, box, x[:4], 1, tag=7, bound_ns=BOUND)


@waiting("receive", box, x)
def receive_next(team: Any, box: Any, x: Any) -> None:
    come = dev.inbox(team, box, 1, tag=7, bound_ns=BOUND)
    for _ in range(2):
        come = dev.receive_next(come, x[:4])
    dev.close(come)


@waiting("receive", box, x)
def load(team: Any, box: Any, x: Any) -> None:
    come = dev.begin(dev.inbox(team, box, 1, tag=7, bound_ns=BOUND))
    x[0] = dev.load(come, 0)
    dev.close(dev.end(come))


@waiting("post", box, x)
def post(team: Any, box: Any, x: Any) -> None:
    for _ in range(9):
        dev.post(team, box, x[:4], 1, tag=7, bound_ns=BOUND)


@waiting("post", box, x)
def post_next(team: Any, box: Any, x: Any) -> None:
    out = dev.outbox(team, box, 1, tag=7, bound_ns=BOUND)
    for _ in range(9):
        out = dev.post_next(out, x[:4])
    dev.close(out)


def of_a_message_that_began(team: Any, box: Any, x: Any) -> None:
    if not dev.try_receive(team, box, x[:4], 1, tag=7, bound_ns=BOUND):
        x[0] = 5


def main() -> None:
    done = atoll.zeros(1, "i8")
    if atoll.my_pe() == 0:
        for operation, kernel, arguments in waits:
            begun = time.monotonic()
            try:
                dev.launch(kernel, 1, 1)(atoll.WORLD, *arguments)
            except atoll.Timeout as error:
                wanted = (f"{kernel.__name__}: ", f" in {operation}", *WORDS)
                assert all(words in str(error) for words in wanted), f"{error}; wanted {wanted}"
                assert time.monotonic() - begun < 60
            else:
                raise AssertionError(f"{kernel.__name__} did not end")
            box.block[:] = bytes_of_box  # resets the mailbox to the state before any message
        dev.launch(dev.kernel(of_a_message_that_began), 1, 1)(atoll.WORLD, box, x)
        assert x[0] == 5
        print(len(waits), "waits ended by their own bounds")
        atoll.put(done, np.ones(1, "i8"), pe=1)
    while atoll.my_pe() == 1 and done[0] == 0:
        time.sleep(0.01)


if __name__ == "__main__":
    main()
