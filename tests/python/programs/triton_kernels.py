"""atoll.triton on real GPUs: every function; needs PyTorch with CUDA."""

from __future__ import annotations

from typing import Any

import atoll
import atoll.triton as dev
import numpy as np
import torch
import triton.language as tl
from checks import equal, run

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
torch.cuda.set_device(atoll.zeros(1, device="cuda").device)


def new(shape: Any, dtype: Any, values: Any = None) -> Any:
    x = atoll.zeros(shape, dtype, device="cuda", xp=torch)
    if values is not None:
        x.copy_(torch.as_tensor(np.ascontiguousarray(np.broadcast_to(values, x.shape))).to(x.dtype))
    torch.cuda.synchronize()
    atoll.barrier_all()
    return x


def start(kernel: Any, *arguments: Any, **constants: Any) -> None:
    kernel[(1,)](atoll.WORLD, *arguments, **constants)
    torch.cuda.synchronize()
    atoll.barrier_all()


@dev.kernel
def moves(team, a, b, c, src, out, one, N: tl.constexpr):
    right = (team.my_pe + 1) % team.n_pes
    began = dev.trace_begin(team)  # traced_triton.py has a job with a trace
    dev.put(team, a, src, N, right)
    dev.put_nbi(team, b, src, N, right)
    dev.flush(team)
    dev.iput(team, c, src, 3, 2, 10, right)
    dev.p(team, one, 2.5, right)
    dev.p(team, one + 1 + tl.arange(0, 4), tl.arange(0, 4).to(tl.float32), right)
    dev.fence(team)
    dev.barrier(team)
    dev.get(team, out, src, N, right)
    dev.get_nbi(team, out + N, src, N, right)
    dev.quiet(team)
    dev.iget(team, out + 2 * N, src, 2, 3, 10, right)
    dev.trace_end(team, began, "moves")
    tl.store(out + 3 * N, dev.g(team, one, right))
    dev.sync(team)
    tl.store(dev.ptr(team, out + 3 * N + 2, right), 8.5)
    tl.store(dev.peer(team, out + 3 * N + 3 + tl.arange(0, 2), right), 9.5)
    tl.store(out + 3 * N + 1, dev.my_pe(team) + 10 * dev.n_pes(team))
    dev.sync(team, dev.RELAXED)
    dev.sync(team)


def check_moves() -> None:
    size = 1003
    a, b, c, out = (
        new(size, np.float32),
        new(size, np.float32),
        new(size, np.float32),
        new((4, size), np.float32),
    )
    one, src = new(5, np.float32), new(size, np.float32, np.arange(size) + 3 * me)
    of_left, of_right = ((np.arange(size) + 3 * pe).astype(np.float32) for pe in (left, right))
    start(moves, a, b, c, src, out, one, N=size)
    equal(a.cpu().numpy(), of_left)
    equal(b.cpu().numpy(), of_left)
    equal(c.cpu().numpy()[:30:3], of_left[:20:2])
    got = out.cpu().numpy()
    equal(got[0], of_right)
    equal(got[1], of_right)
    equal(got[2, :20:2], of_right[:30:3])
    equal(got[3, :5], np.array([2.5, me + 10 * n, 8.5, 9.5, 9.5], np.float32))
    equal(one.cpu().numpy(), np.array([2.5, 0, 1, 2, 3], np.float32))


@dev.kernel
def signals(team, x, src, flags, out, N: tl.constexpr):
    right = (team.my_pe + 1) % team.n_pes
    at = tl.arange(0, 1024)
    for step in range(1, 21):
        dev.put_signal(team, x + (step % 2) * N, src + (step % 2) * N, N, flags, step, dev.SET, right)
        dev.put_signal_nbi(team, x + 2 * N, src, N, flags + 1, 2, dev.ADD, right)
        dev.signal_wait_until(team, flags, dev.GE, step, tag=3)
        dev.signal_consume(team, flags + 1, 2, bound_ns=60_000_000_000)
        got = tl.load(x + (step % 2) * N + at, mask=at < N, volatile=True)
        got += tl.load(x + 2 * N + at, mask=at < N, volatile=True)
        tl.store(out + at, tl.load(out + at, mask=at < N) + got, mask=at < N)
        dev.sync(team)
    dev.signal_set(team, flags + 2, 41, right)
    dev.wait_until(team, flags + 2, dev.EQ, 41, bound_ns=60_000_000_000)
    dev.signal_add(team, flags + 3, dev.signal_fetch(team, flags + 2) + 1, right)
    dev.signal_wait_until(team, flags + 3, dev.NE, 0, bound_ns=(team.n_pes + tl.full((), 0, tl.int64)) << 36)
    if dev.test(team, flags + 3, dev.LE, 42):
        tl.store(flags + 4, 7)


def check_signals() -> None:
    x, out, flags = new((3, 500), np.float32), new(500, np.float32), new(5, np.int64)
    src = new((2, 500), np.float32, np.stack([np.arange(500) + me, np.full(500, me)]))
    start(signals, x, src, flags, out, N=500)
    base = np.arange(500, dtype=np.float32) + left
    equal(out.cpu().numpy(), 10 * (base + base) + 10 * (left + base))
    equal(flags.cpu().numpy(), np.array([20, 0, 41, 42, 7]))


@dev.kernel
def waits(team, words, status, values, indices, out, N: tl.constexpr):
    dev.sync(team)
    tl.store(out, dev.test_any(team, words, N, None, dev.GT, 0))
    dev.sync(team)
    right = (team.my_pe + 1) % team.n_pes
    for i in range(N):
        dev.p(team, words + i, i + 1, right)
    dev.wait_until_all(team, words, N, None, dev.GE, 1, tag=5, bound_ns=60_000_000_000)
    dev.wait_until_all_vector(team, words, N, status, dev.EQ, values)
    tl.store(out + 1, dev.wait_until_any(team, words, N, status, dev.GE, 2))
    tl.store(
        out + 2, dev.wait_until_any_vector(team, words, N, status, dev.EQ, values, bound_ns=60_000_000_000)
    )
    tl.store(out + 3, dev.wait_until_some(team, words, N, indices, None, dev.LE, 3, bound_ns=0))
    tl.store(out + 4, tl.load(indices) + 10 * tl.load(indices + 1) + 100 * tl.load(indices + 2))
    tl.store(out + 5, dev.wait_until_some_vector(team, words, N, indices, status, dev.EQ, values))
    tl.store(out + 6, tl.load(indices))
    tl.store(out + 7, dev.test_all(team, words, N, None, dev.LT, 10000).to(tl.int32))
    tl.store(out + 8, dev.test_all_vector(team, words, N, None, dev.EQ, values).to(tl.int32))
    tl.store(out + 9, dev.test_any(team, words, N, status, dev.GT, 0))
    tl.store(out + 10, dev.test_any_vector(team, words, N, status, dev.NE, values))
    tl.store(out + 11, dev.test_some(team, words, N, indices, status, dev.GT, 0))
    tl.store(out + 12, dev.test_some_vector(team, words, N, indices, None, dev.EQ, values))
    tl.store(out + 13, dev.wait_until_any(team, words, 1, status, dev.GE, 0))
    dev.sync(team)


def check_waits() -> None:
    for dtype, size in ((np.int64, 5), (np.int32, 300)):
        words, indices, out = new(size, dtype), new(size, np.int64), new(14, np.int64)
        status = new(size, np.int32, np.arange(size) == 0)
        values = new(size, dtype, np.where(np.arange(size) == 0, 99, np.arange(size) + 1))
        start(waits, words, status, values, indices, out, N=size)
        rest = size - 1
        equal(out.cpu().numpy(), np.array([-1, 1, 1, 3, 210, rest, 1, 1, 0, 1, -1, rest, rest, -1]))


@dev.kernel
def atomics(team, x, floats, out):
    right = (team.my_pe + 1) % team.n_pes
    for pe in range(team.n_pes):
        dev.atomic_add(team, x, 2, pe)
        dev.atomic_inc(team, x + 1, pe)
        dev.atomic_or(team, x + 2, 1 << team.my_pe, pe)
        dev.atomic_xor(team, x + 3, 1 << team.my_pe, pe)
        dev.atomic_and(team, x + 4, ~(1 << team.my_pe), pe)
        dev.atomic_fetch_inc(team, x + 5, pe)
        dev.atomic_add(team, floats, 0.5, pe)
    dev.quiet(team)
    dev.sync(team)
    tl.store(out, dev.atomic_fetch(team, x + 5, right))
    dev.atomic_set(team, x + 6, 7, right)
    tl.store(out + 1, dev.atomic_swap(team, x + 7, 9, right))
    tl.store(out + 2, dev.atomic_swap(team, x + 7, 10, right))
    tl.store(out + 3, dev.atomic_compare_swap(team, x + 7, 10, 11, right))
    tl.store(out + 4, dev.atomic_compare_swap(team, x + 7, 10, 12, right))
    tl.store(out + 5, dev.atomic_fetch_or(team, x + 8, 6, right))
    tl.store(out + 6, dev.atomic_fetch_and(team, x + 8, 3, right))
    tl.store(out + 7, dev.atomic_fetch_xor(team, x + 8, 1, right))
    tl.store(out + 8, dev.atomic_fetch_add(team, x + 9, 5, right))
    dev.sync(team)


def check_atomics() -> None:
    ones = (1 << n) - 1
    for dtype in (np.int32, np.int64):
        x, out = new(10, dtype, [0, 0, 0, 0, 0xFFFF, 0, 0, 0, 0, 0]), new(9, dtype)
        floats = new(1, np.float32)
        start(atomics, x, floats, out)
        equal(x.cpu().numpy(), np.array([2 * n, n, ones, ones, 0xFFFF & ~ones, n, 7, 11, 3, 5], dtype))
        equal(out.cpu().numpy(), np.array([n, 0, 9, 10, 11, 0, 6, 2, 0], dtype))
        assert floats.item() == 0.5 * n


@dev.kernel
def collectives(team, src, all_src, dst, all_dst, N: tl.constexpr):
    dev.broadcast(team, dst, src, N, team.n_pes - 1)
    dev.fcollect(team, all_dst, src, N)
    dev.alltoall(team, all_dst + N * team.n_pes, all_src, N)
    dev.reduce(team, dst + N, src, N, dev.SUM)
    dev.reduce(team, dst + 2 * N, src, N, dev.MIN)
    dev.reduce(team, dst + 3 * N, src, N, dev.MAX)
    dev.reduce(team, dst + 4 * N, src, N, dev.PROD)
    dev.reduce_scatter(team, dst + 5 * N, all_src, N, dev.SUM)
    arrived = dev.collect(team, all_dst + 2 * N * team.n_pes, src, N - team.my_pe % 2)
    tl.store(all_dst + 3 * N * team.n_pes, arrived.to(tl.float32))


def check_collectives() -> None:
    for size in (5, 3000):
        values = lambda pe, size=size: (np.arange(size) + 7 * pe).astype(np.float32)  # noqa: E731
        blocks = lambda pe: np.concatenate([values(pe + 3 * k) for k in range(n)])  # noqa: B023, E731
        src, all_src = new(size, np.float32, values(me)), new(n * size, np.float32, blocks(me))
        dst, all_dst = new((6, size), np.float32), new(3 * n * size + 1, np.float32)
        start(collectives, src, all_src, dst, all_dst, N=size)
        everyone, found = np.stack([values(pe) for pe in range(n)]), dst.cpu().numpy()
        equal(found[0], values(n - 1))
        equal(found[1], everyone.sum(0))
        equal(found[2], everyone.min(0))
        equal(found[3], everyone.max(0))
        equal(found[4], everyone.prod(0))
        equal(found[5], np.stack([blocks(pe)[me * size : (me + 1) * size] for pe in range(n)]).sum(0))
        arrived = np.concatenate([values(pe)[: size - pe % 2] for pe in range(n)])
        equal(all_dst.cpu().numpy()[2 * n * size :][: len(arrived)], arrived)
        assert all_dst[-1].item() == len(arrived)
        equal(all_dst.cpu().numpy()[: n * size], np.concatenate([values(pe) for pe in range(n)]))
        equal(
            all_dst.cpu().numpy()[n * size : 2 * n * size],
            np.concatenate([blocks(pe)[me * size : (me + 1) * size] for pe in range(n)]),
        )


@dev.kernel
def bits(team, src, dst, N: tl.constexpr):
    dev.reduce(team, dst, src, N, dev.AND)
    dev.reduce(team, dst + N, src, N, dev.OR)
    dev.reduce(team, dst + 2 * N, src, N, dev.XOR)


def check_bits() -> None:
    everyone = np.stack([np.arange(300) * 3 + (1 << pe) for pe in range(n)]).astype(np.int32)
    src, dst = new(300, np.int32, everyone[me]), new((3, 300), np.int32)
    start(bits, src, dst, N=300)
    equal(
        dst.cpu().numpy(),
        np.stack([op.reduce(everyone, 0) for op in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]),
    )


@dev.kernel
def tiles(team, x, y, N: tl.constexpr):
    """Tiles of 10 x 20 of matrices that are 64 wide."""
    right = (team.my_pe + 1) % team.n_pes
    dev.tile_put(team, y + 64 + 2, x + 3, 64, 64, 10, 20, right)
    dev.barrier(team)
    dev.tile_get(team, y + 32, y + 64 + 2, 64, 64, 10, 20, right)
    dev.tile_reduce(team, y + 16 * 64, x, 64, 64, 10, 20, dev.SUM)
    dev.tile_allgather(team, y + 32 * 64, x, 64, 64, 10, 20)
    tl.store(y + 31 * 64, dev.translate_pe(team, right, team).to(tl.float32))
    tl.store(y + 31 * 64 + 1, dev.translate_pe(team, team.n_pes, team).to(tl.float32))


def check_tiles() -> None:
    values = lambda pe: (np.arange(1024).reshape(16, 64) + 5 * pe).astype(np.float32)  # noqa: E731
    x, y = new((16, 64), np.float32, values(me)), new((32 + 10 * n, 64), np.float32)
    start(tiles, x, y, N=1)
    found = y.cpu().numpy()
    equal(found[1:11, 2:22], values(left)[:10, 3:23])
    equal(found[:10, 32:52], values(me)[:10, 3:23])
    equal(found[16:26, :20], sum(values(pe)[:10, :20] for pe in range(n)))
    equal(found[32:, :20], np.concatenate([values(pe)[:10, :20] for pe in range(n)]))
    equal(found[31, :2], np.array([right, -1], np.float32))


@dev.kernel
def messages(team, box, room, src, dst, wrong, N: tl.constexpr):
    right = (team.my_pe + 1) % team.n_pes
    left = (team.my_pe + team.n_pes - 1) % team.n_pes
    at = tl.arange(0, 1024)
    for k in range(50):
        tl.store(src + at, 1000 * team.my_pe + k + at, mask=at < N)
        tl.debug_barrier()
        dev.post(team, box, room, src, N, right)
        dev.receive(team, box, room, dst, N, left)
        got = tl.load(dst + at, mask=at < N, volatile=True)
        bad = tl.sum(((got != 1000 * left + k + at) & (at < N)).to(tl.int32), 0)
        if bad != 0:
            tl.store(wrong, bad)
    none = dev.try_receive(team, box, room, dst, N, left)
    if none != 0:
        tl.store(wrong, -1)
    dev.sync(team)
    dev.post(team, box, room, src, N, right)
    here = 0
    while here == 0:
        here = dev.try_receive(team, box, room, dst, N, left)


def check_mailboxes() -> None:
    for size in (1, 2, 40, 777):
        box = new(dev.mailbox_bytes(n, 4 * size), np.uint8)
        src, dst, wrong = new(size, np.int32), new(size, np.int32), new(1, np.int32)
        start(messages, box, 4 * size, src, dst, wrong, N=size)
        assert wrong.item() == 0
        equal(dst.cpu().numpy(), (1000 * left + 49 + np.arange(size)).astype(np.int32))
        with atoll.Mailbox(4 * size, device="cuda") as kept:  # used by the host and by kernels
            start(messages, kept.block.torch(), kept.capacity_bytes(), src, dst.zero_(), wrong, N=size)
            assert wrong.item() == 0
            equal(dst.cpu().numpy(), (1000 * left + 49 + np.arange(size)).astype(np.int32))
            kept.post(src, right)
            assert kept.receive(dst, left) == size


run(globals())
