"""The kernels of bench/gpu/kernels.py in Triton. One program does what a block does in other languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import atoll
import atoll.triton as dev
import numpy as np
import torch
import triton.language as tl

ROOM = tl.constexpr(65536)


@dev.kernel
def flags(team, flag, first, rounds):
    peer = 1 - team.my_pe
    for i in range(first, first + rounds):
        if team.my_pe == 0:
            dev.p(team, flag, i, peer)
        dev.signal_wait_until(team, flag, dev.GE, i)
        if team.my_pe == 1:
            dev.p(team, flag, i, peer)


@dev.kernel
def put_signals(team, dst, src, flag, first, rounds, N: tl.constexpr, BLOCK: tl.constexpr):
    peer = 1 - team.my_pe
    for i in range(first, first + rounds):
        if team.my_pe == 0:
            dev.put_signal(team, dst, src, N, flag, i, dev.SET, peer, BLOCK)
        dev.signal_wait_until(team, flag, dev.GE, i)
        if team.my_pe == 1:
            dev.put_signal(team, dst, src, N, flag, i, dev.SET, peer, BLOCK)


@dev.kernel
def messages(team, box, dst, src, rounds, N: tl.constexpr):
    peer = 1 - team.my_pe
    for _ in range(rounds):
        if team.my_pe == 0:
            dev.post(team, box, ROOM, src, N, peer)
        dev.receive(team, box, ROOM, dst, N, peer)
        if team.my_pe == 1:
            dev.post(team, box, ROOM, src, N, peer)


@dev.kernel
def syncs(team, rounds):
    for _ in range(rounds):
        dev.sync(team)


@dev.kernel
def reduces(team, dst, src, rounds, N: tl.constexpr, BLOCK: tl.constexpr):
    for _ in range(rounds):
        dev.reduce(team, dst, src, N, dev.SUM, BLOCK)


@dev.kernel
def barriers(team, rounds):
    for _ in range(rounds):
        dev.barrier(team)


KERNELS = {
    "flags": flags,
    "put_signals": put_signals,
    "messages": messages,
    "syncs": syncs,
    "barriers": barriers,
    "reduces": reduces,
}


def launches(arrays: Any) -> Callable[[Any], Callable[[int, int], None] | None]:
    team = atoll.WORLD.device("device")
    box = atoll.zeros(dev.mailbox_bytes(team.n_pes, ROOM.value), np.uint8, device="cuda", xp=torch)
    flag = arrays.flag.torch()

    def launch_of(row: Any) -> Callable[[int, int], None] | None:
        if row.kernel not in KERNELS:
            return None
        start, warps = KERNELS[row.kernel][(1,)], max(1, row.threads // 32)
        values = [x.torch() for x in arrays.of(row)]
        n = row.nbytes // 4
        sizes: dict[str, int] = {"N": n} if values else {}
        if row.kernel in ("put_signals", "reduces"):
            sizes["BLOCK"] = min(max(n, 32), 4096)
        if row.kernel == "messages":
            values.insert(0, box)
        if row.is_numbered:
            return lambda first, rounds: start(team, *values, flag, first, rounds, num_warps=warps, **sizes)
        return lambda first, rounds: start(team, *values, rounds, num_warps=warps, **sizes)

    return launch_of
