"""Functions of atoll.cute: mailboxes, collectives, the largest grid. See cute_start.py."""

from __future__ import annotations

import atoll.cute as dev
import cutlass
import cutlass.cute as cute
import numpy as np
from checks import CollectiveInputs
from cute_launches import largest_grid
from cute_start import PTX, a_mailbox, left, me, n, new, run_checks, same, start, team
from cutlass import Int32, Int64

if not PTX:
    import torch


MINUTE = 60_000_000_000  # a bound that no wait here reaches

# ---- mailboxes


@cute.kernel
def messages(team: dev.Team, values):
    box, src, dst, out = values
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe + team.n_pes - 1) % team.n_pes
    first, step = dev.rank(dev.BLOCK), dev.size(dev.BLOCK)
    for k in cutlass.range(50, unroll=1):
        i = first
        while i < cute.size(src):
            src[i] = 1000 * team.my_pe + k + i
            i += step
        dev.meet(team, dev.BLOCK)
        dev.post(team, box, src, right, scope=dev.BLOCK)
        dev.receive(team, box, dst, left, scope=dev.BLOCK)
        i = first
        while i < cute.size(dst):
            if dst[i] != 1000 * left + k + i:
                out[0] = Int64(1)
            i += step
        dev.meet(team, dev.BLOCK)
    none = dev.try_receive(team, box, dst, left, scope=dev.BLOCK)
    dev.sync(team, scope=dev.BLOCK)
    dev.post(team, box, src, right, scope=dev.BLOCK, tag=1, bound_ns=MINUTE)
    here = Int32(0)
    while here == 0:
        here = Int32(dev.try_receive(team, box, dst, left, scope=dev.BLOCK, bound_ns=MINUTE))
    if (dev.rank(dev.BLOCK) == 0) & none:
        out[0] = Int64(2)


def check_mailboxes() -> None:
    for size, block in (
        (1, 64),
        (2, 64),
        (40, 64),
        (777, 64),
        (4096, 1024),
    ):  # the last one has more parts than threads
        room = 4 * size
        box, memory = a_mailbox(room)
        src, dst, out = new(size, np.int32), new(size, np.int32), new(1, np.int64)
        start(messages, box, src, dst, out, block=block)
        same(out, [0])
        same(dst, 1000 * left + 49 + np.arange(size))
        del memory


@cute.kernel
def ways(team: dev.Team, values):
    box, src, dst, out = values
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe + team.n_pes - 1) % team.n_pes
    first, step = dev.rank(dev.BLOCK), dev.size(dev.BLOCK)
    to = dev.outbox(team, box, right, dev.BLOCK, bound_ns=MINUTE)
    come = dev.inbox(team, box, left, dev.BLOCK, tag=5, bound_ns=Int64(team.n_pes) << 36)
    for k in cutlass.range(50, unroll=1):
        for i in cutlass.range(first, cute.size(src), step, unroll=1):
            src[i] = 1000 * team.my_pe + k + i
        dev.meet(team, dev.BLOCK)
        to = dev.post_next(to, src)
        if k > 2:  # three are in flight
            come = dev.receive_next(come, dst)
            for i in cutlass.range(first, cute.size(dst), step, unroll=1):
                if dst[i] != 1000 * left + k - 3 + i:
                    out[0] = Int64(1)
        dev.meet(team, dev.BLOCK)
    for _ in cutlass.range(3, unroll=1):
        come = dev.receive_next(come, dst)
    met = dev.meeting(team, dev.BLOCK, bound_ns=MINUTE)
    none = dev.has_message(come)
    for _ in cutlass.range(5, unroll=1):
        met = dev.sync_next(met)
    met = dev.sync_next(met, order=dev.RELAXED)
    dev.close(met)
    to = dev.post_next(to, src)
    here = Int32(0)
    while here == 0:
        here = Int32(dev.has_message(come))
    come = dev.receive_next(come, dst)
    dev.close(to)
    dev.close(come)
    dev.sync(team, scope=dev.BLOCK, bound_ns=MINUTE)  # sync continues the numbers of the meeting above
    dev.post(team, box, src, right, scope=dev.BLOCK)
    dev.receive(team, box, dst, left, scope=dev.BLOCK, bound_ns=MINUTE)
    if (first == 0) & none:
        out[0] = Int64(2)


def check_ways() -> None:
    sizes = (
        (1, np.int32, 64),
        (2, np.int32, 64),
        (41, np.int32, 64),
        (777, np.int64, 64),
        (2500, np.int64, 1024),
    )
    for size, dtype, block in sizes:
        box, memory = a_mailbox(size * np.dtype(dtype).itemsize)
        src, dst, out = new(size, dtype), new(size, dtype), new(1, np.int64)
        start(ways, box, src, dst, out, block=block)
        same(out, [0])
        same(dst, 1000 * left + 49 + np.arange(size))
        del memory


@cute.kernel
def parts(team: dev.Team, values):
    """A message from and to registers, a part of each thread."""
    box, out = values
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe + team.n_pes - 1) % team.n_pes
    i = dev.rank(dev.BLOCK)
    to, come = dev.outbox(team, box, right, dev.BLOCK), dev.inbox(team, box, left, dev.BLOCK)
    sum = cutlass.Uint64(0)
    for k in cutlass.range(30, unroll=1):
        to = dev.begin(to)
        dev.store(to, i, (Int64(team.my_pe + 1) << 40) + 100 * k + i)
        to = dev.end(to)
        come = dev.begin(come)
        sum += dev.load(come, cute.size(out) - 1 - i)
        come = dev.end(come)
    out[i] = Int64(sum)
    dev.close(to)
    dev.close(come)


def check_parts_of_messages() -> None:
    box, memory = a_mailbox(8 * 64)
    out = new(64, np.int64)
    start(parts, box, out)
    same(out, 30 * ((left + 1) << 40) + 100 * 29 * 15 + 30 * np.arange(64)[::-1])
    del memory


# ---- collectives


@cute.kernel
def collectives(team: dev.Team, values):
    src, dst, all_src, all_dst, uneven, uneven_dst, out = values
    dev.broadcast(team, dst[0, None], src, team.n_pes - 1, scope=dev.BLOCK)
    dev.fcollect(team, all_dst[0, None], src, scope=dev.BLOCK)
    count = cute.size(src) - team.my_pe % 2
    if count == 0:
        count = Int32(1)
    arrived = dev.collect(team, uneven_dst, uneven, count, scope=dev.BLOCK, bound_ns=MINUTE)
    dev.alltoall(team, all_dst[1, None], all_src, scope=dev.BLOCK)
    dev.reduce(team, dst[1, None], src, dev.SUM, scope=dev.BLOCK)
    dev.reduce(team, dst[2, None], src, dev.MIN, scope=dev.BLOCK, tag=2, bound_ns=MINUTE)
    dev.reduce(team, dst[3, None], src, dev.MAX, scope=dev.BLOCK)
    dev.reduce(team, dst[4, None], src, dev.PROD, scope=dev.BLOCK)
    dev.reduce_scatter(team, dst[5, None], all_src, dev.SUM, scope=dev.BLOCK)
    dev.sync(team, scope=dev.BLOCK, order=dev.RELAXED)
    if dev.rank(dev.BLOCK) == 0:
        out[0] = arrived


def check_collectives() -> None:
    for dtype in (np.float32, np.int64):
        for size in (1, 5, 3000):
            given = CollectiveInputs(me, n, size, dtype)
            src, dst = new(size, dtype, given.values(me)), new((6, size), dtype)
            all_src, all_dst = new(n * size, dtype, given.blocks(me)), new((2, n * size), dtype)
            uneven, uneven_dst, out = (
                new(size, dtype, given.values(me)),
                new(n * size, dtype),
                new(1, np.int64),
            )
            start(collectives, src, dst, all_src, all_dst, uneven, uneven_dst, out)
            if not PTX:
                given.check(*(x.cpu().numpy() for x in (dst, all_dst, uneven_dst)), out.cpu().numpy()[0])


@cute.kernel
def bits(team: dev.Team, values):
    src, dst = values
    dev.reduce(team, dst[0, None], src, dev.AND, scope=dev.GRID)
    dev.reduce(team, dst[1, None], src, dev.OR, scope=dev.GRID)
    dev.reduce(team, dst[2, None], src, dev.XOR, scope=dev.GRID)
    dev.sync(team, scope=dev.GRID)


def check_bits_over_the_grid() -> None:
    for size in (3, 3000):
        everyone = np.stack([np.arange(size) * 3 + (1 << pe) for pe in range(n)])
        src, dst = new(size, np.int32, everyone[me]), new((3, size), np.int32)
        start(bits, src, dst, grid=4)
        same(
            dst, np.stack([op.reduce(everyone, 0) for op in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)])
        )


def check_the_largest_grid() -> None:
    out = new(1, np.int64, 0)
    largest_grid(team, out) if PTX else largest_grid(team, out, dev.tensor, torch.cuda.synchronize)


run_checks(globals())
