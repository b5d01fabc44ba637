"""Every function of atoll.numba, on host arrays, or with the argument `cuda` on arrays in GPU memory.

With `mlir` also on GPU memory, by kernels of numba-cuda-mlir.
"""

from __future__ import annotations

import functools
import sys
from types import SimpleNamespace
from typing import Any

import atoll
import atoll.numba as dev
import numpy as np
from atoll.numba._registration import numba_cuda
from checks import CollectiveInputs, equal, raises, run
from numba import extending

MLIR = "mlir" in sys.argv
CUDA = "cuda" in sys.argv or MLIR
SCOPE = dev.BLOCK
where: dict[str, Any] = {"device": "cuda"} if CUDA else {}
if MLIR:
    from numba_cuda_mlir import cuda
elif CUDA:
    from numba import cuda

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
if CUDA:
    cuda.select_device(atoll.zeros(1, **where).device)
right, left = (me + 1) % n, (me - 1) % n
kernel_of = functools.partial(dev.kernel, compiler="numba-cuda-mlir" if MLIR else "numba-cuda")
kernel = kernel_of(cache=True)


def new(shape: Any, dtype: Any, values: Any = None) -> Any:
    """A symmetric array that holds `values`."""
    x = atoll.zeros(shape, dtype, **where)
    if values is not None:
        write(x, values)
    return x


def write(x: Any, values: Any) -> None:
    x[...] = np.broadcast_to(np.asarray(values, x.dtype), x.shape)
    atoll.barrier_all()


def read(x: Any) -> Any:
    return x.numpy() if CUDA else x.copy()


def start(function: Any, *arguments: Any, grid: int = 1, block: int = 64) -> None:
    """Start a kernel on all PEs, and wait until it is done on all of them."""
    cooperative = grid > 1
    dev.launch(function, grid, block, cooperative=cooperative)(atoll.WORLD, *arguments)
    if CUDA:
        cuda.synchronize()
    atoll.barrier_all()


# ---- PEs and addresses


@kernel
def who(team, x, out):
    for i in dev.grid_range(x.size):
        dev.peer(team, x, (team.my_pe + 1) % team.n_pes)[i] = team.my_pe * 1000 + i
    if dev.rank(dev.GRID) == 0:
        out[0] = dev.my_pe(team)
        out[1] = dev.n_pes(team)
        out[2] = dev.translate_pe(team, team.my_pe, team)
        out[3] = dev.translate_pe(team, team.n_pes, team)
        out[4] = dev.ptr(team, x, team.my_pe) == dev.ptr(team, x[0:1], team.my_pe)
        out[5] = dev.size(dev.THREAD)
    dev.meet(team, dev.BLOCK)


def check_who() -> None:
    x, out = new(300, np.int32), new(6, np.int64)
    start(who, x, out)
    equal(read(x), (left * 1000 + np.arange(300)).astype(np.int32))
    equal(read(out), np.array([me, n, me, -1, 1, 1]))


@kernel
def of_split(team, x):
    if dev.rank(dev.BLOCK) == 0:
        dev.p(team, x, team.my_pe + 10 * team.n_pes, (team.my_pe + 1) % team.n_pes)


def check_teams_of_any_order() -> None:
    """The reversed order makes the team use its table."""
    team = atoll.WORLD.split(0, key=-me)
    assert team is not None
    x = new(1, np.int64)
    dev.launch(of_split, 1, 32)(team, x)
    if CUDA:
        cuda.synchronize()
    atoll.barrier_all()
    equal(read(x), np.array([(team.my_pe() - 1) % n + 10 * n]))
    atoll.barrier_all()
    team.destroy()


# ---- put, get


@kernel
def moves(team, a, b, c, src, one, out):
    right = (team.my_pe + 1) % team.n_pes
    dev.put(team, a, src, right, scope=dev.BLOCK)
    dev.put_nbi(team, b[1:], src[1:], right, scope=dev.BLOCK)
    dev.quiet(team, scope=dev.BLOCK)
    dev.iput(team, c, src, 3, 2, 10, right, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        dev.p(team, one, 2.5, right)
    dev.fence(team, scope=dev.BLOCK)
    dev.flush(team, scope=dev.BLOCK)
    dev.barrier(team, scope=dev.BLOCK)
    dev.get(team, out[0], src, right, scope=dev.BLOCK)
    dev.get_nbi(team, out[1, 1:], src[1:], right, scope=dev.BLOCK)
    dev.quiet(team, scope=dev.BLOCK)
    dev.iget(team, out[2], src, 2, 3, 10, right, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        out[3, 0] = src.dtype.type(dev.g(team, one, right))
    dev.sync(team, scope=dev.BLOCK)


def check_moves() -> None:
    for dtype in (np.float64, np.uint8):
        size = 1003
        mine = (np.arange(size) + 3 * me).astype(dtype)
        of_left, of_right = ((np.arange(size) + 3 * pe).astype(dtype) for pe in (left, right))
        a, b, c, src = (new(size, dtype) for _ in range(4))
        out, one = new((4, size), dtype), new(1, np.float64)
        write(src, mine)
        start(moves, a, b, c, src, one, out)
        equal(read(a), of_left)
        equal(read(b)[1:], of_left[1:])
        equal(read(c)[:30:3], of_left[:20:2])
        assert not read(c)[1:30:3].any() and read(b)[0] == 0
        equal(read(out)[0], of_right)
        equal(read(out)[1, 1:], of_right[1:])
        equal(read(out)[2, :20:2], of_right[:30:3])
        assert read(out)[3, 0] == dtype(2.5) and read(one)[0] == 2.5


@kernel
def strided(team, dst, src, back):
    right = (team.my_pe + 1) % team.n_pes
    dev.iput(team, dst, src, 3, 2, 10, right, scope=dev.BLOCK)
    dev.barrier(team, scope=dev.BLOCK)
    dev.iget(team, back, src, 2, 3, 10, right, scope=dev.BLOCK)
    dev.sync(team, scope=dev.BLOCK)


def check_strided_elements_of_any_type() -> None:
    """complex64 is aligned to 4 bytes only."""
    for dtype in (np.bool_, np.complex64, np.complex128):
        of_left, of_right = (
            (np.arange(30) % (3 + pe) * (1 + 2j * pe if dtype is not np.bool_ else 1)).astype(dtype)
            for pe in (left, right)
        )
        mine = (np.arange(30) % (3 + me) * (1 + 2j * me if dtype is not np.bool_ else 1)).astype(dtype)
        src, dst, back = (new(30, dtype, values) for values in (mine, 0, 0))
        if dtype is np.complex64:
            shifted = new(61, np.float32)[1:]
            dst = shifted.view(np.complex64)
        start(strided, dst, src, back)
        equal(read(dst)[:30:3], of_left[:20:2])
        assert not read(dst)[1:30:3].any() and not read(back)[1::2].any()
        equal(read(back)[:20:2], of_right[:30:3])


@kernel
def singles(team, shorts, bytes, bools, out):
    right = (team.my_pe + 1) % team.n_pes
    dev.p(team, shorts[1:], -300 - team.my_pe, right)
    dev.p(team, bytes[2:], 200 + team.my_pe, right)
    dev.p(team, bools[1:], team.my_pe >= 0, right)
    dev.p(team, bools[2:], 0, right)
    dev.barrier(team)
    out[0] = dev.g(team, shorts[1:], right)
    out[1] = dev.g(team, bytes[2:], right)
    out[2] = dev.g(team, bools[1:], right)
    out[3] = dev.g(team, bools[2:], right)
    dev.sync(team)


def check_elements_of_one_and_two_bytes() -> None:
    shorts, bytes, bools = new(3, np.int16, 7), new(4, np.uint8, 8), new(4, np.bool_, True)
    out = new(4, np.int64, 99)
    start(singles, shorts, bytes, bools, out, block=1)
    equal(read(shorts), np.array([7, -300 - left, 7], np.int16))
    equal(read(bytes), np.array([8, 8, 200 + left, 8], np.uint8))
    equal(read(bools), np.array([True, True, False, True]))
    equal(read(out), np.array([-300 - me, 200 + me, 1, 0]))


# ---- atomics


@kernel
def integers(team, x, out):
    right = (team.my_pe + 1) % team.n_pes
    for pe in range(team.n_pes):
        dev.atomic_add(team, x[0:], 2, pe)
        dev.atomic_inc(team, x[1:], pe)
        dev.atomic_or(team, x[2:], 1 << team.my_pe, pe)
        dev.atomic_xor(team, x[3:], 1 << team.my_pe, pe)
        dev.atomic_and(team, x[4:], ~(1 << team.my_pe), pe)
        dev.atomic_fetch_add(team, x[5:], 1, pe)
        dev.atomic_fetch_inc(team, x[5:], pe)
    dev.sync(team)
    out[0] = dev.atomic_fetch(team, x[5:], right)
    dev.atomic_set(team, x[6:], 7, right)
    out[1] = dev.atomic_swap(team, x[7:], 9, right)
    out[2] = dev.atomic_swap(team, x[7:], 10, right)
    out[3] = dev.atomic_compare_swap(team, x[7:], 10, 11, right)
    out[4] = dev.atomic_compare_swap(team, x[7:], 10, 12, right)
    out[5] = dev.atomic_fetch_or(team, x[8:], 6, right)
    out[6] = dev.atomic_fetch_and(team, x[8:], 3, right)
    out[7] = dev.atomic_fetch_xor(team, x[8:], 1, right)
    dev.sync(team)


def check_integers() -> None:
    ones = (1 << n) - 1
    for dtype in (np.int32, np.uint64):
        x, out = new(9, dtype, [0, 0, 0, 0, -1 & 0x7FFFFFFF, 0, 0, 0, 0]), new(8, dtype)
        start(integers, x, out, block=1)
        wanted = [2 * n, n, ones, ones, 0x7FFFFFFF & ~ones, 2 * n, 7, 11, 3]
        equal(read(x), np.array(wanted, dtype))
        equal(read(out), np.array([2 * n, 0, 9, 10, 11, 0, 6, 2], dtype))


@kernel
def floats(team, x, out):
    for pe in range(team.n_pes):
        dev.atomic_add(team, x, 0.5, pe)
        dev.atomic_fetch_add(team, x, 1.0, pe)
    dev.sync(team)
    right = (team.my_pe + 1) % team.n_pes
    out[0] = dev.atomic_fetch(team, x, right)
    dev.atomic_set(team, x[1:], 3.5, right)
    out[1] = dev.atomic_swap(team, x[1:], 4.5, right)
    out[2] = dev.atomic_compare_swap(team, x[1:], 4.5, 5.5, right)
    dev.sync(team)


def check_floats() -> None:
    for dtype in (np.float32, np.float64):
        x, out = new(2, dtype), new(3, dtype)
        start(floats, x, out, block=1)
        equal(read(x), np.array([1.5 * n, 5.5], dtype))
        equal(read(out), np.array([1.5 * n, 3.5, 4.5], dtype))


# ---- signals


@kernel
def signals(team, x, src, flags, out):
    right = (team.my_pe + 1) % team.n_pes
    for step in range(1, 21):
        dev.put_signal(team, x[step % 2], src[step % 2], flags, step, dev.SET, right, scope=dev.BLOCK)
        dev.put_signal_nbi(team, x[2], src[0], flags[1:], 2, dev.ADD, right, scope=dev.BLOCK)
        dev.signal_wait_until(team, flags, dev.GE, step, scope=dev.BLOCK, tag=3)
        dev.signal_consume(team, flags[1:], 2, scope=dev.BLOCK, bound_ns=60_000_000_000)
        for i in range(dev.rank(dev.BLOCK), out.size, dev.size(dev.BLOCK)):
            out[i] += x[step % 2, i] + x[2, i]
        dev.sync(team, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        dev.signal_set(team, flags[2:], 41, right)
        dev.signal_wait_until(team, flags[2:], dev.EQ, 41, bound_ns=60_000_000_000)
        dev.signal_add(team, flags[3:], dev.signal_fetch(team, flags[2:]) + 1, right)
        dev.signal_wait_until(team, flags[3:], dev.NE, 0)


def check_signals() -> None:
    for word in (np.uint64,):
        x, out = new((3, 500), np.float64), new(500, np.float64)
        src = new((2, 500), np.float64, np.stack([np.arange(500) + me, np.full(500, me)]))
        flags = new(4, word)
        start(signals, x, src, flags, out)
        base = np.arange(500.0) + left
        equal(read(out), 10 * (base + base) + 10 * (left + base))
        equal(read(flags), np.array([20, 0, 41, 42], word))


# ---- words within a PE


@kernel
def chain(team, words, x):
    """Each block continues after the one before it."""
    block = dev.rank(dev.GRID) // dev.size(dev.BLOCK)
    for step in range(1, 51):
        if block > 0:
            dev.local_wait_until(
                team, words[block - 1 :], dev.GE, step, scope=dev.BLOCK, tag=9, bound_ns=60_000_000_000
            )
        if dev.rank(dev.BLOCK) == dev.size(dev.BLOCK) - 1:
            x[step, block + 1] = x[step, block] + x[step - 1, block + 1] + 1
        dev.meet(team, dev.BLOCK)
        if dev.rank(dev.BLOCK) == 0:
            dev.local_set(team, words[block:], step)


def check_local() -> None:
    blocks = 8 if CUDA else 1
    for word in (np.int32, np.uint64):
        words, x = new(blocks, word), new((51, blocks + 1), np.int64)
        start(chain, words, x, grid=blocks)
        expected = np.zeros((51, blocks + 1), np.int64)
        for step in range(1, 51):
            for block in range(blocks):
                expected[step, block + 1] = expected[step, block] + expected[step - 1, block + 1] + 1
        equal(read(x), expected)
        equal(read(words), np.full(blocks, 50, word))


@kernel
def wide(team, x, y, per):
    """y is x backwards in units of 16 bytes, of `per` elements, at the right neighbour, by wide loads and
    stores.
    """
    right = dev.peer(team, y, (team.my_pe + 1) % team.n_pes)
    units = x.size // per
    for i in dev.grid_range(units):
        dev.store_wide(right, (units - 1 - i) * per, dev.load_wide(x, np.uint64(i * per)))


def check_wide() -> None:
    for dtype in (np.float32, np.int32, np.uint32, np.float64, np.int64, np.uint64):
        per = 16 // np.dtype(dtype).itemsize
        values = np.arange(per * 37, dtype=dtype) * dtype(3) + dtype(1)
        x, y = new(values.size, dtype, values + dtype(me)), new(values.size, dtype, 0)
        start(wide, x, y, per)
        equal(read(y), (values.reshape(-1, per)[::-1] + dtype(left)).reshape(-1))


# ---- waits


@kernel
def waits(team, words, status, values, indices, out):
    dev.sync(team, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        out[0] = dev.test(team, words, dev.NE, 0)
        out[1] = dev.test_any(team, words, None, dev.GT, 0)
    dev.sync(team, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        right = (team.my_pe + 1) % team.n_pes
        for i in range(words.size):
            dev.p(team, words[i:], i + 1, right)
        dev.wait_until(team, words, dev.EQ, 1, bound_ns=60_000_000_000)
        dev.wait_until_all(team, words, None, dev.GE, 1, tag=5, bound_ns=60_000_000_000)
        dev.wait_until_all_vector(team, words, status, dev.EQ, values)
        out[2] = dev.wait_until_any(team, words, status, dev.GE, 2)
        out[3] = dev.wait_until_any_vector(team, words, status, dev.EQ, values, bound_ns=words.size << 36)
        out[4] = dev.wait_until_some(team, words, indices, None, dev.LE, 3, bound_ns=0)
        out[5] = indices[0] + 10 * indices[1] + 100 * indices[2]
        out[6] = dev.wait_until_some_vector(team, words, indices, status, dev.EQ, values)
        out[7] = indices[0]
        out[8] = dev.test_all(team, words, None, dev.LT, 100)
        out[9] = dev.test_all_vector(team, words, None, dev.EQ, values)
        out[10] = dev.test_any(team, words, status, dev.GT, 0)
        out[11] = dev.test_any_vector(team, words, status, dev.NE, values)
        out[12] = dev.test_some(team, words, indices, status, dev.GT, 0)
        out[13] = dev.test_some_vector(team, words, indices, None, dev.EQ, values)
    dev.sync(team, scope=dev.BLOCK)


def check_waits() -> None:
    for dtype in (np.uint32,):
        words, indices, out = new(5, dtype), new(5, np.int64), new(14, np.int64)
        status = new(5, np.int32, [1, 0, 0, 0, 0])
        values = new(5, dtype, [99, 2, 3, 4, 5])
        start(waits, words, status, values, indices, out)
        equal(read(out), np.array([0, -1, 1, 1, 3, 210, 4, 1, 1, 0, 1, -1, 4, 4]))


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
    raises(TypeError, lambda: dev.launch(who, 1, 1)(None, on_gpu, np.zeros(3)), "who:", "of NumPy")
    other = SimpleNamespace(__cuda_array_interface__={}, device=SimpleNamespace(index=1))
    raises(ValueError, lambda: dev.launch(who, 1, 1)(None, on_gpu, other), "several GPUs: [0, 1]")


run(globals())
