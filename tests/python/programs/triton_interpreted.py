"""atoll.triton on CPUs, by Triton's interpreter (TRITON_INTERPRET=1): the algorithms, not the PTX.

It needs Triton alone, so arrays are passed as addresses.
"""

from __future__ import annotations

from typing import Any

import atoll
import atoll.triton as dev
import numpy as np
import triton.language as tl
from atoll._kernels.ptx import AT
from checks import equal, raises, run
from triton.runtime import interpreter

# Compiled kernels do not check sums for overflow either; the interpreter's checks take half of the time.
interpreter.interpreter_builder.options = interpreter.InterpreterOptions(sanitize_overflow=False)
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n


def new(shape: Any, dtype: Any, values: Any = 0) -> Any:
    x = atoll.zeros(shape, dtype)
    x[...] = values
    atoll.barrier_all()
    return x


def start(kernel: Any, *arrays: Any, **constants: Any) -> None:
    kernel[(1,)](atoll.WORLD.device("host"), *(x.ctypes.data for x in arrays), **constants)
    atoll.barrier_all()


@dev.kernel
def meetings(team, flags, seen):
    flags, seen = flags.to(tl.pointer_type(tl.int64)), seen.to(tl.pointer_type(tl.int64))
    right = (team.my_pe + 1) % team.n_pes
    for step in range(1, 6):
        dev.p(team, flags, step, right)
        dev.sync(team)
        tl.store(seen + step, tl.load(flags))
        dev.sync(team, dev.RELAXED)
    dev.signal_add(team, flags + 1, 3, right)
    dev.signal_consume(team, flags + 1, 2)
    dev.signal_wait_until(team, flags + 1, dev.EQ, 1)


def check_meetings() -> None:
    flags, seen = new(2, np.int64), new(6, np.int64)
    start(meetings, flags, seen)
    equal(seen[1:], np.arange(1, 6))
    assert flags[1] == 1


@dev.kernel
def waits(team, words, status, values, indices, out, N: tl.constexpr):
    words, values = words.to(tl.pointer_type(tl.int64)), values.to(tl.pointer_type(tl.int64))
    indices, out = indices.to(tl.pointer_type(tl.int64)), out.to(tl.pointer_type(tl.int64))
    status = status.to(tl.pointer_type(tl.int32))
    dev.sync(team)
    tl.store(out, dev.test_any(team, words, N, None, dev.GT, 0))
    dev.sync(team)
    right = (team.my_pe + 1) % team.n_pes
    for i in range(N):
        dev.p(team, words + i, i + 1, right)
    dev.wait_until_all(team, words, N, None, dev.GE, 1, tag=5)
    dev.wait_until_all_vector(team, words, N, status, dev.EQ, values)
    tl.store(out + 1, dev.wait_until_any(team, words, N, status, dev.GE, 2))
    tl.store(out + 2, dev.wait_until_any_vector(team, words, N, status, dev.EQ, values))
    tl.store(out + 3, dev.wait_until_some(team, words, N, indices, None, dev.LE, 3))
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
    words, indices, out = new(5, np.int64), new(5, np.int64), new(14, np.int64)
    status, values = new(5, np.int32, [1, 0, 0, 0, 0]), new(5, np.int64, [99, 2, 3, 4, 5])
    start(waits, words, status, values, indices, out, N=5)
    equal(out, np.array([-1, 1, 1, 3, 210, 4, 1, 1, 0, 1, -1, 4, 4, -1]))


@dev.kernel
def messages(team, box, src, dst, sums, N: tl.constexpr, WIDE: tl.constexpr, ROOM: tl.constexpr):
    kind: tl.constexpr = tl.pointer_type(tl.int64) if WIDE else tl.pointer_type(tl.int16)
    src, dst, sums = src.to(kind), dst.to(kind), sums.to(tl.pointer_type(tl.int64))
    right = (team.my_pe + 1) % team.n_pes
    left = (team.my_pe + team.n_pes - 1) % team.n_pes
    for k in range(20):
        tl.store(src, k)
        dev.post(team, box, ROOM, src, N, right)
        dev.receive(team, box, ROOM, dst, N, left)
        tl.store(sums + k, tl.load(dst).to(tl.int64))
    tl.store(sums + 20, dev.try_receive(team, box, ROOM, dst, N, left).to(tl.int64))


def check_messages() -> None:
    for dtype, size in ((np.int16, 5), (np.int64, 7)):  # 7 pairs, which one thread takes two by two
        src, dst = new(size, dtype, np.arange(size) + 100 * me), new(size, dtype)
        room = src.nbytes + 24
        box, sums = new(dev.mailbox_bytes(n, room), np.uint8), new(21, np.int64, -1)
        start(messages, box, src, dst, sums, N=size, WIDE=dtype == np.int64, ROOM=room)
        equal(sums, np.array([*range(20), 0]))
        equal(dst[1:], (np.arange(1, size) + 100 * left).astype(dtype))


@dev.kernel
def collectives(team, src, dst, N: tl.constexpr):
    src, dst = src.to(tl.pointer_type(tl.float32)), dst.to(tl.pointer_type(tl.float32))
    for root in range(team.n_pes):
        dev.broadcast(team, dst, src, N, root)
        dev.fcollect(team, dst + N, src, N)
    every = dst + N + N * team.n_pes
    dev.alltoall(team, every, src, N)
    every += N * team.n_pes
    dev.reduce(team, every, src, N, dev.SUM)
    dev.reduce_scatter(team, every + N, src, N, dev.MAX)
    arrived = dev.collect(team, every + 2 * N, src, N - team.my_pe % 2)
    tl.store(every + 2 * N + N * team.n_pes, arrived.to(tl.float32))
    dev.reduce(team, src, src, N, dev.MIN)


def check_collectives() -> None:
    most = 2 * max(AT["slot_area_pairs"] // n, AT["least_slot_pairs"])  # elements of a small one
    for size in (1, 5, most + 2):
        all_of = [(np.arange(n * size) * (7 - pe) + pe).astype(np.float32) for pe in range(n)]
        src, dst = new(n * size, np.float32, all_of[me]), new(3 * (n + 1) * size + size + 1, np.float32)
        start(collectives, src, dst, N=size)
        firsts = np.stack([of[:size] for of in all_of])
        equal(dst[:size], firsts[n - 1])
        equal(dst[size:][: n * size], firsts.reshape(-1))
        at = (n + 1) * size
        equal(dst[at:][: n * size], np.concatenate([of[me * size :][:size] for of in all_of]))
        at += n * size
        equal(dst[at:][:size], firsts.sum(0))
        equal(dst[at + size :][:size], np.stack([of[me * size :][:size] for of in all_of]).max(0))
        collected = np.concatenate([of[: size - pe % 2] for pe, of in enumerate(all_of)])
        equal(dst[at + 2 * size :][: len(collected)], collected)
        assert dst[at + (2 + n) * size] == len(collected)
        equal(src[:size], firsts.min(0))


@dev.kernel
def late(team, words, indices, status, HOW: tl.constexpr):
    words, indices = words.to(tl.pointer_type(tl.int32)), indices.to(tl.pointer_type(tl.int64))
    status = status.to(tl.pointer_type(tl.int32))
    if HOW == 0:
        dev.signal_wait_until(team, words, dev.EQ, -2, tag=7, bound_ns=20_000_000)
    elif HOW == 1:
        dev.wait_until(team, words, dev.GE, 5, 8, team.n_pes * 0 + 20_000_000)
    elif HOW == 2:
        dev.signal_consume(team, words, 1, bound_ns=20_000_000)
    elif HOW == 3:
        dev.wait_until_all(team, words, 3, None, dev.NE, -1, bound_ns=20_000_000)
    elif HOW == 4:
        dev.wait_until_any(team, words, 3, status, dev.EQ, 9, bound_ns=20_000_000)
    elif HOW == 5:
        dev.wait_until_some_vector(team, words, 3, indices, None, dev.LT, words, bound_ns=20_000_000)
    elif HOW == 6:
        dev.put(team, words, words, 1, team.n_pes + 5)
    elif HOW == 7:
        dev.put_nbi(team, words, words, 1, team.n_pes + 5)
    elif HOW == 8:
        dev.get_nbi(team, words, words, 1, team.n_pes + 5)
    elif HOW == 9:
        dev.put_signal(team, words, words, 1, words, 1, dev.SET, team.n_pes + 5)
    elif HOW == 10:
        dev.put_signal_nbi(team, words, words, 1, words, 1, dev.ADD, team.n_pes + 5)
    else:
        dev.ptr(team, words, tl.arange(0, 2) - 1)


def check_errors_that_end_a_kernel() -> None:
    words, indices, status = new(3, np.int32, -1), new(3, np.int64), new(3, np.int32)
    within = "Timed out after 0.02 s in "
    for how, (kind, *said) in enumerate(
        (
            (
                atoll.Timeout,
                f"late: {within}signal_wait_until",
                "found -1, waiting for == -2, tag 7",
                "more time",
            ),
            (atoll.Timeout, f"{within}wait_until", "found -1, waiting for >= 5, tag 8"),
            (atoll.Timeout, f"{within}signal_consume", "found -1, waiting for >= 1"),
            (atoll.Timeout, f"{within}wait_until", "waiting for != -1"),
            (atoll.Timeout, f"{within}wait_until", "waiting for == 9"),
            (atoll.Timeout, f"{within}wait_until", "found -1, waiting for < -1"),
            (atoll.PeError, f"late: No such PE, in put for team PE {n + 5}"),
            *(
                (atoll.PeError, f"late: No such PE, in {name} for team PE {n + 5}")
                for name in ("put_nbi", "get_nbi", "put_signal", "put_signal_nbi")
            ),
            (atoll.PeError, "in peer for team PE -1"),
        )
    ):
        try:
            late[(1,)](
                atoll.WORLD.device("host"), *(x.ctypes.data for x in (words, indices, status)), HOW=how
            )
        except kind as error:
            assert all(one in str(error) for one in said), (said, str(error))
        else:
            raise AssertionError(f"no error for {how}")
    atoll.barrier_all()


COLLECTIVES = ("sync", "sync", "barrier", "broadcast", "fcollect", "collect", "alltoall", "reduce", "reduce", "reduce_scatter", "reduce_scatter", "tile_reduce", "tile_allgather")  # fmt: skip


@dev.kernel
def alone(team, x, y, HOW: tl.constexpr):
    """Call it on member 0 only."""
    x, y = x.to(tl.pointer_type(tl.float32)), y.to(tl.pointer_type(tl.float32))
    bound = team.n_pes * 0 + 20_000_000
    if HOW == 0:
        dev.sync(team, tag=7, bound_ns=20_000_000)
    elif HOW == 1:
        dev.sync(team, dev.RELAXED, 7, bound)
    elif HOW == 2:
        dev.barrier(team, 7, bound)
    elif HOW == 3:
        dev.broadcast(team, x, y, 3, 1, tag=7, bound_ns=20_000_000)
    elif HOW == 4:
        dev.fcollect(team, x, y, 3, tag=7, bound_ns=20_000_000)
    elif HOW == 5:
        dev.collect(team, x, y, 3, 1024, 7, 20_000_000)
    elif HOW == 6:
        dev.alltoall(team, x, y, 3, tag=7, bound_ns=20_000_000)
    elif HOW == 7:
        dev.reduce(team, x, y, 3, dev.SUM, tag=7, bound_ns=20_000_000)
    elif HOW == 8:
        dev.reduce(team, x, y, 1 << 16, dev.SUM, tag=7, bound_ns=bound)
    elif HOW == 9:
        dev.reduce_scatter(team, x, y, 3, dev.SUM, tag=7, bound_ns=20_000_000)
    elif HOW == 10:
        dev.reduce_scatter(team, x, y, 1 << 16, dev.SUM, 1024, 7, 20_000_000)
    elif HOW == 11:
        dev.tile_reduce(team, x, y, 8, 8, 2, 2, dev.SUM, tag=7, bound_ns=20_000_000)
    else:
        dev.tile_allgather(team, x, y, 8, 8, 2, 2, tag=7, bound_ns=20_000_000)


def check_bounds_of_collectives() -> None:
    """Collectives end at their time limit. They use a separate team, which is unusable afterwards."""
    if n > 1:
        team, x, y = atoll.WORLD.split(0), new(n << 16, np.float32), new(n << 16, np.float32)
        for how, name in enumerate(COLLECTIVES if me == 0 else ()):
            call = lambda how=how: alone[(1,)](team, x.ctypes.data, y.ctypes.data, HOW=how)  # noqa: E731
            words = f"alone: Timed out after 0.02 s in {name} of team"
            raises(atoll.Timeout, call, words, "waiting for team PE 1, tag 7", "Give this wait more time")
    atoll.barrier_all()


@dev.kernel
def unanswered(team, box, x, HOW: tl.constexpr):
    x = x.to(tl.pointer_type(tl.int64))
    right = (team.my_pe + 1) % team.n_pes
    left = (team.my_pe + team.n_pes - 1) % team.n_pes
    if HOW == 0:
        dev.receive(team, box, 800, x, 1, left, tag=7, bound_ns=20_000_000)
    elif HOW == 1:  # more than the interpreter's threads
        dev.receive(team, box, 800, x, 100, left, 7, team.n_pes * 0 + 20_000_000)
    elif HOW == 2:
        dev.try_receive(team, box, 800, x, 1, left, tag=7, bound_ns=20_000_000)
    else:
        for _ in range(9):
            dev.post(team, box, 800, x, 1, right, 7, 20_000_000)


def check_bounds_of_messages() -> None:
    box, x = new(dev.mailbox_bytes(n, 800), np.uint8), new(100, np.int64)
    for how, name in enumerate(("receive", "receive", "receive", "post")):
        if how == 2:  # the first half of message 1 has arrived
            at = n * AT["post_bytes"] + (left * AT["mailbox_depth"] + 1) * 100 * 16
            box[at:][:8].view(np.int64)[0] = 1 << 32
        call = lambda how=how: unanswered[(1,)](atoll.WORLD, box.ctypes.data, x.ctypes.data, HOW=how)  # noqa: E731
        words = f"unanswered: Timed out after 0.02 s in {name}"
        raises(atoll.Timeout, call, words, f"team PE {left if how < 3 else right}, tag 7", "more time")
        atoll.barrier_all()


run(globals())
