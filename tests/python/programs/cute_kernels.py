"""Functions of atoll.cute: PEs, put and get, tiles, atomics, signals, waits, and refused calls. See
cute_start.py.
"""

from __future__ import annotations

from typing import Any

import atoll
import atoll.cute as dev
import cutlass
import cutlass.cute as cute
import numpy as np
from checks import raises
from cute_mistakes import MISTAKES
from cute_shared import shared_memory, shared_memory_of_the_rest
from cute_start import PTX, a_mailbox, left, me, n, new, right, run_checks, same, start
from cutlass import Float32, Int32, Int64

if not PTX:
    import torch


# ---- PEs and addresses


@cute.kernel
def who(team: dev.Team, values):
    x, out = values
    began = dev.trace_begin(team)
    right = (team.my_pe + 1) % team.n_pes
    there = dev.peer(team, x, right)
    i = dev.rank(dev.GRID)
    while i < cute.size(x):
        there[i] = team.my_pe * 1000 + i
        i += dev.size(dev.GRID)
    if dev.rank(dev.GRID) == 0:
        out[0] = Int64(dev.my_pe(team))
        out[1] = Int64(dev.n_pes(team))
        out[2] = Int64(dev.translate_pe(team, team.my_pe, team))
        out[3] = Int64(dev.translate_pe(team, team.n_pes, team))
        cute.make_tensor(dev.ptr(team, out.iterator + 4, team.my_pe), cute.make_layout(1))[0] = Int64(5)
        out[5] = Int64(dev.size(dev.THREAD))
    dev.meet(team, dev.BLOCK)
    dev.trace_end(team, began, "who", dev.BLOCK)


def check_who() -> None:
    x, out = new(300, np.int32), new(6, np.int64)
    start(who, x, out)
    same(x, left * 1000 + np.arange(300))
    same(out, [me, n, me, -1, 5, 1])


@cute.kernel
def of_split(team: dev.Team, values):
    (x,) = values
    if dev.rank(dev.BLOCK) == 0:
        dev.p(team, x, team.my_pe + 10 * team.n_pes, (team.my_pe + 1) % team.n_pes)


def check_teams_of_any_order() -> None:
    """The reversed order makes the team use its table."""
    x = new(1, np.int64)
    if PTX:
        return start(of_split, x)
    other = atoll.WORLD.split(0, key=-me)
    assert other is not None
    start(of_split, x, team=dev.team(other))
    same(x, [(other.my_pe() - 1) % n + 10 * n])
    atoll.barrier_all()
    other.destroy()
    return None


# ---- put, get


@cute.kernel
def moves(team: dev.Team, values):
    a, b, c, src, one, out = values
    right = (team.my_pe + 1) % team.n_pes
    dev.put(team, a, src, right, scope=dev.BLOCK)
    dev.put_nbi(team, b, src, right, scope=dev.BLOCK)
    dev.quiet(team, scope=dev.BLOCK)
    dev.iput(team, c, src, 3, 2, 10, right, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        dev.p(team, one, 2.5, right)
    dev.fence(team, scope=dev.BLOCK)
    dev.flush(team, scope=dev.BLOCK)
    dev.barrier(team, scope=dev.BLOCK)
    dev.get(team, out[0, None], src, right, scope=dev.BLOCK)
    dev.get_nbi(team, out[1, None], src, right, scope=dev.BLOCK)
    dev.quiet(team, scope=dev.BLOCK)
    dev.iget(team, out[2, None], src, 2, 3, 10, right, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        out[3, 0] = out.element_type(dev.g(team, one, right))
    dev.sync(team, scope=dev.BLOCK)


def check_moves() -> None:
    for dtype in (np.float64, np.float32, np.uint8):
        size = 1003
        mine = np.arange(size) + 3 * me
        of_left, of_right = ((np.arange(size) + 3 * pe).astype(dtype) for pe in (left, right))
        a, b, c, src = (new(size, dtype, mine if k == 3 else None) for k in range(4))
        out, one = new((4, size), dtype), new(1, np.float64)
        start(moves, a, b, c, src, one, out)
        if PTX:
            continue
        same(a, of_left)
        same(b, of_left)
        same(c[:30:3], of_left[:20:2])
        same(out[0], of_right)
        same(out[1], of_right)
        same(out[2, :20:2], of_right[:30:3])
        assert out[3, 0].item() == dtype(2.5) and one.item() == 2.5


@cute.kernel
def large(team: dev.Team, values):
    x, y, src = values
    right = (team.my_pe + 1) % team.n_pes
    dev.put(team, x, src, right, scope=dev.BLOCK)
    dev.sync(team, scope=dev.BLOCK)
    dev.get(team, y, src, right, scope=dev.BLOCK)


def check_moves_of_four_units_a_thread() -> None:
    """CuTe DSL 4.8.1 made an endless loop of this: unknown() of _threads.py."""
    for size, block in ((16384, 1024), (4096, 256), (2048, 128)):
        x, y = new(size, np.int32), new(size, np.int32)
        src = new(size, np.int32, np.arange(size) + 7 * me)
        start(large, x, y, src, block=block)
        same(x, np.arange(size) + 7 * left)
        same(y, np.arange(size) + 7 * right)


@cute.kernel
def tiles(team: dev.Team, values):
    """A tile of a matrix moves to another place of the neighbour's; so does a tile of shared memory. Signals
    announce them.
    """
    x, y, flags = values
    right = (team.my_pe + 1) % team.n_pes
    tile = (8, 16)
    dev.put_signal(
        team,
        cute.local_tile(y, tile, (1, 2)),
        cute.local_tile(x, tile, (0, 1)),
        flags,
        1,
        dev.SET,
        right,
        scope=dev.BLOCK,
    )
    dev.signal_wait_until(team, flags, dev.EQ, 1, scope=dev.BLOCK)
    staged = cute.make_tensor(cute.arch.alloc_smem(Float32, 64, 16), cute.make_layout(64))
    i = dev.rank(dev.BLOCK)
    if i < 64:
        staged[i] = Float32(100 * team.my_pe + i)
    dev.meet(team, dev.BLOCK)
    row = cute.make_tensor(y.iterator, cute.make_layout(64))
    dev.put_signal(team, row, staged, flags.iterator + 1, 1, dev.ADD, right, scope=dev.BLOCK)
    dev.signal_wait_until(team, flags.iterator + 1, dev.EQ, 1, scope=dev.BLOCK)


def check_tiles() -> None:
    x, y, flags = (
        new((16, 64), np.float32, np.arange(1024).reshape(16, 64) + me),
        new((16, 64), np.float32),
        new(2, np.int64),
    )
    start(tiles, x, y, flags)
    wanted = np.zeros((16, 64), np.float32)
    wanted[8:16, 32:48] = (np.arange(1024).reshape(16, 64) + left)[0:8, 16:32]
    wanted[0] = 100 * left + np.arange(64)
    same(y, wanted)


@cute.kernel
def bulk(team: dev.Team, values):
    """Bulk copies from shared memory, which is written again after flush. barrier completes them, or quiet
    and a signal.
    """
    x, flags, out = values
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe + team.n_pes - 1) % team.n_pes
    n, first, step = cute.size(x), dev.rank(dev.BLOCK), dev.size(dev.BLOCK)
    staged = cute.make_tensor(cute.arch.alloc_smem(Int32, n, 16), cute.make_layout(n))
    for round in cutlass.range(1, 21, unroll=1):
        for i in cutlass.range(first, n, step, unroll=1):
            staged[i] = 1000 * round + 10 * i + team.my_pe
        dev.async_put(team, x, staged, right, scope=dev.BLOCK)
        dev.flush(team, scope=dev.BLOCK)
        for i in cutlass.range(first, n, step, unroll=1):
            staged[i] = Int32(-1)
        if round % 2 == 0:
            dev.barrier(team, scope=dev.BLOCK)
        else:
            dev.quiet(team, scope=dev.BLOCK)
            if first == 0:
                dev.signal_set(team, flags, round, right)
            dev.signal_wait_until(team, flags, dev.GE, round, scope=dev.BLOCK)
        for i in cutlass.range(first, n, step, unroll=1):
            if x[i] != 1000 * round + 10 * i + left:
                out[0] = Int64(round)
        dev.sync(team, scope=dev.BLOCK)


def check_bulk_copies() -> None:
    for size in (4096, 1020, 100, 3):
        x, flags, out = new(size, np.int32), new(1, np.int64), new(1, np.int64)
        start(bulk, x, flags, out)
        same(out, [0])
        same(x, 20000 + 10 * np.arange(size) + left)


def check_shared_memory() -> None:
    for dtype in (np.float32, np.uint8, np.float64):
        x, flags, out = new((20, 256), dtype), new(5, np.int64), new((10, 256), dtype)
        start(shared_memory, x, flags, out, block=96)
        rows = (50 * left + np.arange(256)).astype(dtype)
        columns = rows.reshape(16, 16).T.reshape(256)
        same(x, np.repeat([columns, rows, rows, columns, rows], 4, axis=0))
        same(out, np.broadcast_to((50 * me + np.arange(256)).astype(dtype), (10, 256)))


def check_shared_memory_of_the_rest() -> None:
    box, memory = a_mailbox(400)
    x, out = new(100, np.int32), new((8, 100), np.int32)
    start(shared_memory_of_the_rest, box, x, out, block=96)
    base, wanted = np.arange(100), np.zeros((8, 100))
    wanted[0, :50] = 1000 * me + base[:50]
    wanted[1], wanted[2], wanted[3] = (1000 * pe + base for pe in (left, n - 1, n - 1))
    wanted[4:].flat[: 25 * n] = np.concatenate([1000 * pe + base[:25] for pe in range(n)])
    same(out, wanted)
    del memory


@cute.kernel
def two_dimensions(team: dev.Team, values):
    x, y, v, src = values
    right = (team.my_pe + 1) % team.n_pes
    tile = (8, 16)
    dev.tile_put(
        team, cute.local_tile(x, tile, (1, 2)), cute.local_tile(src, tile, (0, 1)), right, scope=dev.BLOCK
    )
    dev.sync(team, scope=dev.BLOCK)
    here, there = cute.local_tile(y, tile, (0, 0)), cute.local_tile(x, tile, (1, 2))
    dev.tile_get(team, here, there, right, scope=dev.BLOCK)
    columns = cute.make_tensor(y.iterator + 64, cute.make_layout((8, 3), stride=(1, 64)))
    dev.tile_get(team, columns, cute.local_tile(src, (8, 3), (0, 0)), right, scope=dev.BLOCK)
    low = cute.local_tile(src, (4, 64), (0, 0))
    dev.tile_allgather(team, v, low, scope=dev.BLOCK)
    sums = cute.make_tensor(y.iterator + 8 * 64, cute.make_layout((4, 64), stride=(64, 1)))
    dev.tile_reduce(team, sums, low, dev.SUM, scope=dev.BLOCK)
    most = cute.make_tensor(y.iterator + 12 * 64, cute.make_layout((4, 3), stride=(64, 1)))
    dev.tile_reduce(team, most, cute.local_tile(src, (4, 3), (0, 0)), dev.MAX, scope=dev.BLOCK)


def check_two_dimensions() -> None:
    for dtype in (np.float32, np.int64):
        base = np.arange(1024).reshape(16, 64)
        given = [(base + pe).astype(dtype) for pe in range(n)]
        x, y, v = new((16, 64), dtype), new((16, 64), dtype), new((4 * n, 64), dtype)
        src = new((16, 64), dtype, given[me])
        start(two_dimensions, x, y, v, src, block=128)
        wanted = np.zeros((16, 64), dtype)
        wanted[8:16, 32:48] = given[left][0:8, 16:32]
        same(x, wanted)
        wanted = np.zeros((16, 64), dtype)
        wanted[0:8, 0:16] = given[me][0:8, 16:32]
        wanted[1:4, 0:8] = given[right][0:8, 0:3].T
        wanted[8:12] = sum(given[1:], given[0])[:4]
        wanted[12:16, 0:3] = given[-1][0:4, 0:3]
        same(y, wanted)
        same(v, np.concatenate([one[:4] for one in given]))


# ---- atomics


@cute.kernel
def integers(team: dev.Team, values):
    x, out = values
    right = (team.my_pe + 1) % team.n_pes
    at = x.iterator
    for pe in cutlass.range(team.n_pes, unroll=1):
        dev.atomic_add(team, at, 2, pe)
        dev.atomic_inc(team, at + 1, pe)
        dev.atomic_or(team, at + 2, Int32(1) << team.my_pe, pe)
        dev.atomic_xor(team, at + 3, Int32(1) << team.my_pe, pe)
        dev.atomic_and(team, at + 4, -1 - (Int32(1) << team.my_pe), pe)
        dev.atomic_fetch_add(team, at + 5, 1, pe)
        dev.atomic_fetch_inc(team, at + 5, pe)
    dev.sync(team)
    out[0] = dev.atomic_fetch(team, at + 5, right)
    dev.atomic_set(team, at + 6, 7, right)
    out[1] = dev.atomic_swap(team, at + 7, 9, right)
    out[2] = dev.atomic_swap(team, at + 7, 10, right)
    out[3] = dev.atomic_compare_swap(team, at + 7, 10, 11, right)
    out[4] = dev.atomic_compare_swap(team, at + 7, 10, 12, right)
    out[5] = dev.atomic_fetch_or(team, at + 8, 6, right)
    out[6] = dev.atomic_fetch_and(team, at + 8, 3, right)
    out[7] = dev.atomic_fetch_xor(team, at + 8, 1, right)
    dev.sync(team)


def check_integers() -> None:
    ones = (1 << n) - 1
    for dtype in (np.int32, np.int64):
        x, out = new(9, dtype, [0, 0, 0, 0, 0x7FFFFFFF, 0, 0, 0, 0]), new(8, dtype)
        start(integers, x, out, block=1)
        same(x, [2 * n, n, ones, ones, 0x7FFFFFFF & ~ones, 2 * n, 7, 11, 3])
        same(out, [2 * n, 0, 9, 10, 11, 0, 6, 2])


@cute.kernel
def floats(team: dev.Team, values):
    x, out = values
    for pe in cutlass.range(team.n_pes, unroll=1):
        dev.atomic_add(team, x, 0.5, pe)
        dev.atomic_fetch_add(team, x, 1.0, pe)
    dev.sync(team)
    right = (team.my_pe + 1) % team.n_pes
    out[0] = dev.atomic_fetch(team, x, right)
    dev.atomic_set(team, x.iterator + 1, 3.5, right)
    out[1] = dev.atomic_swap(team, x.iterator + 1, 4.5, right)
    out[2] = dev.atomic_compare_swap(team, x.iterator + 1, 4.5, 5.5, right)
    dev.sync(team)


def check_floats() -> None:
    for dtype in (np.float32, np.float64):
        x, out = new(2, dtype), new(3, dtype)
        start(floats, x, out, block=1)
        same(x, [1.5 * n, 5.5])
        same(out, [1.5 * n, 3.5, 4.5])


@cute.kernel
def narrow(team: dev.Team, values):
    x, out = values
    right = (team.my_pe + 1) % team.n_pes
    dev.p(team, x, team.my_pe + 3, right)
    dev.sync(team)
    out[0] = dev.g(team, x, right)
    out[1] = x[0]


@cute.kernel
def halves(team: dev.Team, values):
    (x,) = values
    for pe in cutlass.range(team.n_pes, unroll=1):
        dev.atomic_add(team, x, 1.5, pe)
        dev.atomic_add(team, x.iterator + 1, team.my_pe, pe)
    dev.sync(team)


def check_narrow() -> None:
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.float16, "bfloat16"):
        x, out = new(2, dtype), new(2, dtype)
        start(narrow, x, out, block=1)
        same(out if PTX else out.float(), [me + 3, left + 3])
    for dtype in (np.float16, "bfloat16"):
        x = new(2, dtype)
        start(halves, x, block=1)
        same(x if PTX else x.float(), [1.5 * n, n * (n - 1) / 2])


# ---- signals


@cute.kernel
def signals(team: dev.Team, values):
    x, src, flags, out = values
    right = (team.my_pe + 1) % team.n_pes
    for step in cutlass.range(1, 21, unroll=1):
        dev.put_signal(
            team, x[step % 2, None], src[step % 2, None], flags, step, dev.SET, right, scope=dev.BLOCK
        )
        dev.put_signal_nbi(
            team, x[2, None], src[0, None], flags.iterator + 1, 2, dev.ADD, right, scope=dev.BLOCK
        )
        dev.signal_wait_until(team, flags, dev.GE, step, scope=dev.BLOCK, tag=3)
        dev.signal_consume(team, flags.iterator + 1, 2, scope=dev.BLOCK, bound_ns=60_000_000_000)
        i = dev.rank(dev.BLOCK)
        while i < cute.size(out):
            out[i] = out[i] + x[step % 2, i] + x[2, i]
            i += dev.size(dev.BLOCK)
        dev.sync(team, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        dev.signal_set(team, flags.iterator + 2, 41, right)
        dev.signal_wait_until(team, flags.iterator + 2, dev.EQ, 41, bound_ns=60_000_000_000)
        dev.signal_add(team, flags.iterator + 3, dev.signal_fetch(team, flags.iterator + 2) + 1, right)
        dev.signal_wait_until(team, flags.iterator + 3, dev.NE, 0)


def check_signals() -> None:
    x, out = new((3, 500), np.float64), new(500, np.float64)
    src = new((2, 500), np.float64, np.stack([np.arange(500) + me, np.full(500, me)]))
    flags = new(4, np.int64)
    start(signals, x, src, flags, out)
    base = np.arange(500.0) + left
    same(out, 10 * (base + base) + 10 * (left + base))
    same(flags, [20, 0, 41, 42])


# ---- waits


@cute.kernel
def waits(team: dev.Team, arguments):
    words, status, values, indices, out = arguments
    dev.sync(team, scope=dev.BLOCK)
    none = dev.test(team, words, dev.NE, 0, scope=dev.BLOCK)
    where = dev.test_any(team, words, None, dev.GT, 0, scope=dev.BLOCK)
    dev.sync(team, scope=dev.BLOCK)
    if dev.rank(dev.BLOCK) == 0:
        out[0] = Int64(none)
        out[1] = Int64(where)
        right = (team.my_pe + 1) % team.n_pes
        for i in cutlass.range(cute.size(words), unroll=1):
            dev.p(team, words.iterator + i, i + 1, right)
        dev.wait_until(team, words, dev.EQ, 1, bound_ns=60_000_000_000)
        dev.wait_until_all(team, words, None, dev.GE, 1, tag=5, bound_ns=60_000_000_000)
        dev.wait_until_all_vector(team, words, status, dev.EQ, values)
        out[2] = Int64(dev.wait_until_any(team, words, status, dev.GE, 2))
        out[3] = Int64(
            dev.wait_until_any_vector(team, words, status, dev.EQ, values, bound_ns=Int64(team.n_pes) << 36)
        )
        out[4] = Int64(dev.wait_until_some(team, words, indices, None, dev.LE, 3, bound_ns=0))
        out[5] = indices[0] + 10 * indices[1] + 100 * indices[2]
        out[6] = Int64(dev.wait_until_some_vector(team, words, indices, status, dev.EQ, values))
        out[7] = indices[0]
        out[8] = Int64(dev.test_all(team, words, None, dev.LT, 100))
        out[9] = Int64(dev.test_all_vector(team, words, None, dev.EQ, values))
        out[10] = Int64(dev.test_any(team, words, status, dev.GT, 0))
        out[11] = Int64(dev.test_any_vector(team, words, status, dev.NE, values))
        out[12] = Int64(dev.test_some(team, words, indices, status, dev.GT, 0))
        out[13] = Int64(dev.test_some_vector(team, words, indices, None, dev.EQ, values))
    dev.sync(team, scope=dev.BLOCK)


def check_waits() -> None:
    words, indices, out = new(5, np.int32), new(5, np.int64), new(14, np.int64)
    status, values = new(5, np.int32, [1, 0, 0, 0, 0]), new(5, np.int32, [99, 2, 3, 4, 5])
    start(waits, words, status, values, indices, out)
    same(out, [0, -1, 1, 1, 3, 210, 4, 1, 1, 0, 1, -1, 4, 4])


@cute.kernel
def in_turn(team: dev.Team, values):
    """Run each block of this PE after the one before it."""
    words, x = values
    block = cute.arch.block_idx()[0]
    if block > 0:
        dev.local_wait_until(
            team, words.iterator + block, dev.GE, block, scope=dev.BLOCK, tag=9, bound_ns=60_000_000_000
        )
    i = dev.rank(dev.BLOCK)
    x[block + 1, i] = x[block, i] + 1
    dev.meet(team, dev.BLOCK)
    if (i == 0) & (block + 1 < cute.arch.grid_dim()[0]):
        dev.local_set(team, words.iterator + block + 1, block + 1)


def check_words_within_a_pe() -> None:
    for dtype in (np.int32, np.int64):
        words, x = new(8, dtype), new((9, 64), np.int32)
        start(in_turn, words, x, grid=8)
        same(words, np.arange(8))
        same(x, np.broadcast_to(np.arange(9)[:, None], (9, 64)))


# ---- refused calls


def refused(function: Any, words: str, *arguments: Any) -> None:
    @cute.kernel
    def kernel(team: dev.Team, values):
        function(team, *values)

    try:
        start(kernel, *arguments)
    except Exception as error:
        assert "atoll.cute." in str(error) and words in str(error), (words, str(error))
    else:
        raise AssertionError(f"nothing was raised; expected {words}")


def check_mistakes_are_named_when_compiled() -> None:
    x, flags, small = new(4, np.float32), new(4, np.int64), new(4, np.uint8)
    for words, mistake in MISTAKES.items():
        refused(mistake, words, x, flags, small)


def check_mistakes_on_the_host_are_named() -> None:
    raises(TypeError, lambda: dev.team(3), "pass an atoll.Team")
    raises(TypeError, lambda: dev.tensor(np.zeros(3)), "in host memory; pass an array in GPU memory")
    raises(TypeError, lambda: dev.tensor([1]), "x is list; it must be an array in GPU memory")
    raises(TypeError, lambda: dev.mailbox(np.zeros(4096, np.uint8), 8), "it must be a symmetric uint8 array")
    if PTX:
        return
    raises(
        atoll.NotSymmetric,
        lambda: dev.mailbox(torch.zeros(4096, dtype=torch.uint8, device="cuda"), 8),
        "ordinary",
    )
    memory = new(4096, np.uint8)
    raises(ValueError, lambda: dev.mailbox(memory, 1 << 20), "it needs mailbox_bytes")
    raises(ValueError, lambda: dev.tensor(memory[1:], 16), "not a multiple")
    raises(TypeError, lambda: dev.tensor(torch.zeros(3)), "in host memory")
    atoll.free(memory)
    raises(atoll.UseAfterFree, lambda: dev.tensor(memory), "was freed by atoll.free()")


run_checks(globals())
