"""atoll.numba's functions for mailboxes, tiles, collectives and bulk copies.

On host arrays, or with the argument `cuda` on arrays in GPU memory. With `mlir` kernels of numba-cuda-mlir use
the latter. numba_kernels.py has the other functions.
"""

from __future__ import annotations

from types import SimpleNamespace

import atoll
import atoll.numba as dev
import numpy as np
from atoll.numba._dsl._registration import numba_cuda
from checks import CollectiveInputs, equal, raises, run
from numba import extending
from numba_setup import MLIR, cuda, kernel, kernel_of, left, me, n, new, read, right, start, where

# ---- mailboxes


@kernel
def messages(team, box, src, dst, out):
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe - 1) % team.n_pes
    for k in range(50):
        for i in range(dev.rank(dev.BLOCK), src.size, dev.size(dev.BLOCK)):
            src[i] = 1000 * team.my_pe + k + i
        dev.meet(team, dev.BLOCK)
        dev.post(team, box, src[: 1 + k % src.size], right, scope=dev.BLOCK)
        dev.receive(team, box, dst[: 1 + k % src.size], left, scope=dev.BLOCK)
        for i in range(dev.rank(dev.BLOCK), 1 + k % src.size, dev.size(dev.BLOCK)):
            if dst[i] != 1000 * left + k + i:
                out[0] = 1
        dev.meet(team, dev.BLOCK)
    none = dev.try_receive(team, box, dst, left, scope=dev.BLOCK)
    dev.sync(team, scope=dev.BLOCK)
    dev.post(team, box, src, right, scope=dev.BLOCK)
    tries = 0
    while not dev.try_receive(team, box, dst, left, scope=dev.BLOCK):
        tries += 1
    if dev.rank(dev.BLOCK) == 0 and none:
        out[0] = 2


def check_mailboxes() -> None:
    for dtype in (np.int32,):
        box = dev.mailbox(40 * np.dtype(dtype).itemsize, **where)
        src, dst, out = new(40, dtype), new(40, dtype), new(1, np.int64)
        start(messages, box, src, dst, out)
        assert read(out)[0] == 0, read(out)
        equal(read(dst), (1000 * left + 49 + np.arange(40)).astype(dtype))


@kernel
def ways(team, box, src, dst, out):
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe - 1) % team.n_pes
    here, there = dev.inbox(team, box, left, dev.BLOCK), dev.outbox(team, box, right, scope=dev.BLOCK)
    met = dev.meeting(team, dev.BLOCK)
    if dev.has_message(here):
        out[0] = 1
    met = dev.sync_next(met)
    for k in range(50):
        some = 1 + k % src.size
        for i in range(dev.rank(dev.BLOCK), some, dev.size(dev.BLOCK)):
            src[i] = 1000 * team.my_pe + k + i
        dev.meet(team, dev.BLOCK)
        there = dev.post_next(there, src[:some])
        while not dev.has_message(here):
            pass
        here = dev.receive_next(here, dst[:some])
        for i in range(dev.rank(dev.BLOCK), some, dev.size(dev.BLOCK)):
            if dst[i] != 1000 * left + k + i:
                out[0] = 2
        dev.meet(team, dev.BLOCK)
        met = dev.sync_next(met, dev.RELAXED)
    dev.close(there)
    dev.close(here)
    dev.close(met)
    dev.post(team, box, src, right, scope=dev.BLOCK)  # continues where they ended
    dev.receive(team, box, dst, left, scope=dev.BLOCK)
    dev.sync(team, scope=dev.BLOCK)


@kernel
def parts(team, box, n, out):
    """A running sum around the ring, without an array: part i is in the registers of one thread."""
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe - 1) % team.n_pes
    come, gone = dev.inbox(team, box, left, dev.BLOCK), dev.outbox(team, box, right, dev.BLOCK)
    for step in range(30):
        if step > 0:
            come = dev.begin(come)
        gone = dev.begin(gone)
        for i in range(dev.rank(dev.BLOCK), n, dev.size(dev.BLOCK)):
            word = np.uint64(0)
            if step > 0:
                word = dev.load(come, i)
            dev.store(gone, i, word + np.uint64(i + team.my_pe))
        if step > 0:
            come = dev.end(come)
        gone = dev.end(gone)
    come = dev.begin(come)
    for i in range(dev.rank(dev.BLOCK), n, dev.size(dev.BLOCK)):
        out[i] = dev.load(come, i)
    dev.close(dev.end(come))
    dev.close(gone)


def check_messages_by_parts() -> None:
    size = 100
    box, out = dev.mailbox(8 * size, **where), new(size, np.uint64)
    for _ in range(2):
        start(parts, box, size, out)
        senders = sum((me - 1 - hop) % n for hop in range(30))
        equal(read(out), (30 * np.arange(size) + senders).astype(np.uint64))


def check_counters_that_stay_in_registers() -> None:
    box = dev.mailbox(40 * 4, **where)
    src, dst, out = new(40, np.int32), new(40, np.int32), new(1, np.int64)
    for _ in range(2):
        start(ways, box, src, dst, out)
        assert read(out)[0] == 0, read(out)
        equal(read(dst)[:10], (1000 * left + 49 + np.arange(10)).astype(np.int32))


# ---- tiles


@kernel
def tiles(team, x, y, z, across, v, src):
    right = (team.my_pe + 1) % team.n_pes
    rows, cols = src.shape
    dev.tile_put(team, x[3 : 3 + rows, 5 : 5 + cols], src, right, scope=dev.BLOCK)
    dev.tile_put(team, z[::2], src, right, scope=dev.BLOCK)
    dev.sync(team, scope=dev.BLOCK)
    dev.tile_get(team, y[1 : 1 + rows, 2 : 2 + cols], x[3 : 3 + rows, 5 : 5 + cols], right, scope=dev.BLOCK)
    dev.tile_get(team, across, src, right, scope=dev.BLOCK)
    dev.tile_allgather(team, v[0], src, scope=dev.BLOCK)
    dev.tile_reduce(team, v[1, :rows], src, dev.SUM, scope=dev.BLOCK)
    dev.tile_reduce(team, v[1, rows : 2 * rows, :3], src[:, 1:4], dev.MAX, scope=dev.BLOCK)


def check_tiles() -> None:
    """Widths that are multiples of 16 bytes and others; the parts of x and y begin at other offsets than x
    and y.
    """
    for dtype, rows, cols in ((np.float32, 30, 64), (np.uint8, 7, 9)):
        base = np.arange(rows * cols).reshape(rows, cols) % 40
        given = [(base + pe).astype(dtype) for pe in range(n)]
        x, y = new((rows + 4, cols + 6), dtype), new((rows + 4, cols + 6), dtype)
        z, w, v = (
            new((2 * rows, cols), dtype),
            new((cols, rows), dtype),
            new((2, (n + 1) * rows, cols), dtype),
        )
        src = new((rows, cols), dtype, given[me])
        start(tiles, x, y, z, w[:cols, :rows].T, v, src, block=128)
        wanted = np.zeros((rows + 4, cols + 6), dtype)
        wanted[3 : 3 + rows, 5 : 5 + cols] = given[left]
        equal(read(x), wanted)
        wanted = np.zeros((rows + 4, cols + 6), dtype)
        wanted[1 : 1 + rows, 2 : 2 + cols] = given[me]
        equal(read(y), wanted)
        equal(read(z)[::2], given[left])
        assert not read(z)[1::2].any()
        equal(read(w).T.copy(), given[right])
        equal(read(v)[0, : n * rows], np.concatenate(given))
        equal(read(v)[1, :rows], sum(given[1:], given[0]).astype(dtype))
        equal(read(v)[1, rows : 2 * rows, :3], given[-1][:, 1:4])


# ---- collectives


@kernel
def collectives(team, src, dst, all_src, all_dst, uneven, uneven_dst, out):
    dev.broadcast(team, dst[0], src, team.n_pes - 1, scope=dev.BLOCK)
    dev.fcollect(team, all_dst[0], src, scope=dev.BLOCK)
    arrived = dev.collect(team, uneven_dst, uneven, scope=dev.BLOCK)
    dev.alltoall(team, all_dst[1], all_src, scope=dev.BLOCK)
    dev.reduce(team, dst[1], src, dev.SUM, scope=dev.BLOCK)
    dev.reduce(team, dst[2], src, dev.MIN, scope=dev.BLOCK)
    dev.reduce(team, dst[3], src, dev.MAX, scope=dev.BLOCK)
    dev.reduce(team, dst[4], src, dev.PROD, scope=dev.BLOCK)
    dev.reduce_scatter(team, dst[5], all_src, dev.SUM, scope=dev.BLOCK)
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
            start(collectives, src, dst, all_src, all_dst, uneven[: given.counts[me]], uneven_dst, out)
            given.check(read(dst), read(all_dst), read(uneven_dst), read(out)[0])


@kernel
def bits(team, src, dst):
    dev.reduce(team, dst[0], src, dev.AND, scope=dev.GRID)
    dev.reduce(team, dst[1], src, dev.OR, scope=dev.GRID)
    dev.reduce(team, dst[2], src, dev.XOR, scope=dev.GRID)
    dev.sync(team, scope=dev.GRID)


def check_bits_over_the_grid() -> None:
    for size in (3, 3000):
        everyone = np.stack([np.arange(size) * 3 + (1 << pe) for pe in range(n)]).astype(np.uint32)
        src, dst = new(size, np.uint32, everyone[me]), new((3, size), np.uint32)
        start(bits, src, dst, grid=4)
        reduced = [op.reduce(everyone, 0) for op in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
        equal(read(dst), np.stack(reduced))


# ---- bulk copies


def staged():
    """Return 512 doubles of a block's shared memory; on the host any memory."""


def bulk_from(tile, team, dst, odd, few, src, flags, out):
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe - 1) % team.n_pes
    for k in range(3):
        for i in range(dev.rank(dev.BLOCK), 512, dev.size(dev.BLOCK)):
            tile[i] = src[i] + k
        dev.async_put(team, dst[512 * k : 512 * k + 512], tile, right, scope=dev.BLOCK)
        dev.flush(team, scope=dev.BLOCK)
    dev.async_put(team, odd, tile[1:], right, scope=dev.BLOCK)  # unaligned, and not of whole units
    dev.async_put(team, few, src[:20], right, scope=dev.BLOCK)  # short, and not in shared memory
    dev.quiet(team, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        dev.signal_set(team, flags, 1, right)
    dev.signal_wait_until(team, flags, dev.GE, 1, scope=dev.BLOCK)
    for i in range(dev.rank(dev.BLOCK), 512, dev.size(dev.BLOCK)):
        for k in range(3):
            if dst[512 * k + i] != 1000 * left + i + k:
                out[0] = 1
    for i in range(dev.rank(dev.BLOCK), 512, dev.size(dev.BLOCK)):
        tile[i] = 7
    dev.async_put(team, dst[1536:], tile, right, scope=dev.BLOCK)
    dev.barrier(team, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0 and (dst[1536] != 7 or dst[2047] != 7):
        out[0] = 2


if MLIR:  # a shared array belongs to the kernel there
    bulk_from = cuda.jit(device=True)(bulk_from)

    @kernel
    def bulk(team, dst, odd, few, src, flags, out):
        bulk_from(cuda.shared.array(512, np.float64), team, dst, odd, few, src, flags, out)

else:
    extending.register_jitable(bulk_from)
    extending.overload(staged)(lambda: lambda: np.empty(512, np.float64))
    if numba_cuda is not None:  # inline: a function of Numba's cannot return such an array
        numba_cuda.extending.register_jitable(bulk_from)

        @numba_cuda.extending.overload(staged, target="cuda", inline="always")
        def _():
            return lambda: numba_cuda.shared.array(512, np.float64)

    @kernel
    def bulk(team, dst, odd, few, src, flags, out):
        bulk_from(staged(), team, dst, odd, few, src, flags, out)


def check_bulk_copies() -> None:
    src, dst = new(512, np.float64, 1000 * me + np.arange(512)), new(4 * 512, np.float64)
    odd, few, flags, out = new(511, np.float64), new(20, np.float64), new(1, np.uint64), new(1, np.int64)
    start(bulk, dst, odd, few, src, flags, out)
    assert read(out)[0] == 0, read(out)
    equal(read(odd), 1000.0 * left + 3 + np.arange(511))
    equal(read(few), 1000.0 * left + np.arange(20))


# ---- mailboxes of blocks


@kernel
def many_boxes(team, boxes, src, dst):
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe - 1) % team.n_pes
    for k in range(3):
        dev.post(team, dev.nth(boxes, k), src[5 * k : 5 * k + 5], right, scope=dev.BLOCK)
    for k in (2, 0, 1):
        dev.receive(team, dev.nth(boxes, k), dst[5 * k : 5 * k + 5], left, scope=dev.BLOCK)


def check_several_mailboxes() -> None:
    boxes = dev.mailbox(5 * 8, count=3, **where)
    src, dst = new(15, np.int64, 100 * me + np.arange(15)), new(15, np.int64)
    for _ in range(10):
        start(many_boxes, boxes, src, dst)
    equal(read(dst), 100 * left + np.arange(15))


# ---- refused calls


def check_wrong_types_are_refused_when_compiled() -> None:
    x, flags, half = new(4, np.float64), new(4, np.uint64), new(4, np.int16)
    cases = [
        (lambda team, x, flags, half: dev.atomic_set(team, half, 1, 0), "dst is of int16"),
        (lambda team, x, flags, half: dev.p(team, half, 1.5, 0), "value is float64"),
        (lambda team, x, flags, half: dev.p(team, x, 1.0, 0.7), "pe is float64; it must be an integer"),
        (
            lambda team, x, flags, half: dev.broadcast(team, x, x, 0.0),
            "root is float64; it must be an integer",
        ),
        (lambda team, x, flags, half: dev.iput(team, x, flags, 1, 1, 2, 0), "must have one type"),
        (
            lambda team, x, flags, half: dev.quiet(team, dev.BLOCK, bound_ns=9),
            "unexpected keyword argument 'bound_ns'; it takes (team, scope=dev.THREAD)",
        ),
        (
            lambda team, x, flags, half: dev.p(team, x, 1),
            "missing a required argument: 'pe'; it takes (team, dst, value, pe)",
        ),
        (lambda team, x, flags, half: dev.p(team, flags, 1.5, 0), "value is float64"),
        (lambda team, x, flags, half: dev.put(team, x, flags, 0), "must have one type"),
        (lambda team, x, flags, half: dev.put(team, x[::2], x[::2], 0), "iput"),
        (lambda team, x, flags, half: dev.put(team, x, x, 0, 3), "dev.BLOCK"),
        (lambda team, x, flags, half: dev.signal_set(team, x, 1, 0), "uint64"),
        (lambda team, x, flags, half: dev.atomic_or(team, x, 1, 0), "uint64"),
        (lambda team, x, flags, half: dev.reduce(team, x, x, dev.XOR), "SUM"),
        (lambda team, x, flags, half: dev.reduce(team, x, x, 5), "dev.SUM"),
        (lambda team, x, flags, half: dev.put_signal(team, x, x, flags, 1, dev.SUM, 0), "dev.SET"),
        (lambda team, x, flags, half: dev.get(team, x, 5, 0), "must be an array"),
        (lambda team, x, flags, half: dev.tile_put(team, x, x, 0), "two axes"),
        (lambda team, x, flags, half: dev.async_put(team, x, half, 0), "must have one type"),
        (lambda team, x, flags, half: dev.load_wide(half, 0), "float32, float64"),
        (lambda team, x, flags, half: dev.load_wide(flags, 0.5), "i is float64"),
        (lambda team, x, flags, half: dev.store_wide(flags, 0, (1, 2)), "a tuple of 2 of these"),
        (lambda team, x, flags, half: dev.nth(x, 0), "count=..."),
        (
            lambda team, x, flags, half: dev.post(team, x, x, 0),
            "box is array(float64, 1d, C); it must be the result of dev.mailbox",
        ),
        (lambda team, x, flags, half: dev.close(x), "dev.outbox or dev.inbox or dev.meeting"),
    ]
    for function, words in cases:
        try:
            dev.launch(kernel_of(function), 1, 1)(atoll.WORLD, x, flags, half)
        except Exception as error:
            assert "atoll.numba." in str(error) and words in str(error), (words, str(error))
        else:
            raise AssertionError(f"nothing was raised; expected {words}")
    raises(TypeError, lambda: dev.p(None, x, 1, 0), "for kernels")
    raises(TypeError, lambda: dev.launch(print, 1, 1), "@dev.kernel")
    raises(ValueError, lambda: dev.kernel(print, compiler="nvcc"), "'nvcc'", "numba-cuda, numba-cuda-mlir")
    raises(ValueError, lambda: dev.mailbox(-1), "-1")
    raises(ValueError, lambda: dev.mailbox(8, count=0), "count is 0")
    on_gpu = SimpleNamespace(__cuda_array_interface__={}, device=0)
    raises(
        TypeError,
        lambda: dev.launch(many_boxes, 1, 1)(None, on_gpu, np.zeros(3), on_gpu),
        "many_boxes:",
        "of NumPy",
    )
    other = SimpleNamespace(__cuda_array_interface__={}, device=SimpleNamespace(index=1))
    raises(
        ValueError, lambda: dev.launch(many_boxes, 1, 1)(None, on_gpu, other, other), "several GPUs: [0, 1]"
    )


run(globals())
