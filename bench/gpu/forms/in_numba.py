"""The kernels of bench/gpu/kernels.py in Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import atoll
import atoll.numba as dev
from numba import cuda


@dev.kernel(cache=True)
def flags(team, flag, first, rounds):
    peer = 1 - team.my_pe
    for i in range(first, first + rounds):
        if team.my_pe == 0:
            dev.p(team, flag, i, peer)
        dev.signal_wait_until(team, flag, dev.GE, i)
        if team.my_pe == 1:
            dev.p(team, flag, i, peer)


@dev.kernel(cache=True)
def put_signals(team, dst, src, flag, first, rounds):
    peer = 1 - team.my_pe
    for i in range(first, first + rounds):
        if team.my_pe == 0:
            dev.put_signal(team, dst, src, flag, i, dev.SET, peer, scope=dev.BLOCK)
        dev.signal_wait_until(team, flag, dev.GE, i, scope=dev.BLOCK)
        if team.my_pe == 1:
            dev.put_signal(team, dst, src, flag, i, dev.SET, peer, scope=dev.BLOCK)


@dev.kernel(cache=True)
def messages(team, box, dst, src, rounds):
    peer = 1 - team.my_pe
    for _ in range(rounds):
        if team.my_pe == 0:
            dev.post(team, box, src, peer, scope=dev.BLOCK)
        dev.receive(team, box, dst, peer, scope=dev.BLOCK)
        if team.my_pe == 1:
            dev.post(team, box, src, peer, scope=dev.BLOCK)


@dev.kernel(cache=True)
def ways(team, box, dst, src, rounds):
    peer = 1 - team.my_pe
    out, come = dev.outbox(team, box, peer, dev.BLOCK), dev.inbox(team, box, peer, dev.BLOCK)
    for _ in range(rounds):
        if team.my_pe == 0:
            out = dev.post_next(out, src)
        come = dev.receive_next(come, dst)
        if team.my_pe == 1:
            out = dev.post_next(out, src)
    dev.close(out)
    dev.close(come)


@dev.kernel(cache=True)
def tiles(team, dst, src, flag, first, rounds):
    peer = 1 - team.my_pe
    for i in range(first, first + rounds):
        if team.my_pe == 0:
            dev.tile_put(team, dst, src, peer, scope=dev.BLOCK)
            if dev.rank(dev.BLOCK) == 0:
                dev.signal_set(team, flag, i, peer)
        dev.signal_wait_until(team, flag, dev.GE, i, scope=dev.BLOCK)
        if team.my_pe == 1:
            dev.tile_put(team, dst, src, peer, scope=dev.BLOCK)
            if dev.rank(dev.BLOCK) == 0:
                dev.signal_set(team, flag, i, peer)


@dev.kernel(cache=True)
def syncs(team, rounds):
    for _ in range(rounds):
        dev.sync(team, scope=dev.BLOCK)


@dev.kernel(cache=True)
def meetings(team, rounds):
    met = dev.meeting(team, dev.BLOCK)
    for _ in range(rounds):
        met = dev.sync_next(met)
    dev.close(met)


@dev.kernel(cache=True)
def tile_reduces(team, dst, src, rounds):
    for _ in range(rounds):
        dev.tile_reduce(team, dst, src, dev.SUM, scope=dev.BLOCK)


@dev.kernel(cache=True)
def reduces(team, dst, src, rounds):
    for _ in range(rounds):
        dev.reduce(team, dst, src, dev.SUM, scope=dev.BLOCK)


@dev.kernel(cache=True)
def barriers(team, rounds):
    for _ in range(rounds):
        dev.barrier(team, scope=dev.BLOCK)


def launches(arrays: Any) -> Callable[[Any], Callable[[int, int], None]]:
    team, box = atoll.WORLD.device("device"), dev.mailbox(arrays.room, device="cuda")
    names = globals()

    def launch_of(row: Any) -> Callable[[int, int], None]:
        given = arrays.of(row)
        values = (box, *given) if row.kernel in ("messages", "ways") else given
        kernel = names[row.kernel]
        if row.is_numbered:
            start = dev.launch(kernel, 1, row.threads, arrays.stream)
            return lambda first, rounds: start(team, *values, arrays.flag, first, rounds)
        if values:
            start = dev.launch(kernel, 1, row.threads, arrays.stream)
        else:  # no argument selects the GPU, so the launch does
            start = kernel.device[1, row.threads, cuda.external_stream(arrays.stream)]
        return lambda first, rounds: start(team, *values, rounds)

    return launch_of
