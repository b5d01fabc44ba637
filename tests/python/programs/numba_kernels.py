"""atoll.numba's functions for PEs, put and get, atomics, signals and waits.

On host arrays, or with the argument `cuda` on arrays in GPU memory. With `mlir` kernels of numba-cuda-mlir use
the latter. numba_messages.py has the other functions.
"""

from __future__ import annotations

import os

import atoll
import atoll.numba as dev
import numpy as np
from checks import equal, run
from numba_setup import CUDA, cuda, kernel, left, me, n, new, read, right, start, write

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


# ---- ranges of a trace (tests/python/programs/traced_numba.py has a job with one)


@kernel
def ranges(team, out):
    began = dev.trace_begin(team)
    dev.trace_end(team, began, "nothing", dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        out[0] = began


def check_ranges() -> None:
    out = new(1, np.int64, 1)
    start(ranges, out)
    assert (read(out)[0] != 0) == bool(os.environ.get("ATOLL_TRACE"))


run(globals())
