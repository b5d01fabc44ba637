"""Atomics, signals and waits, by dtype."""

from __future__ import annotations

import sys

import atoll
import numpy as np
from checks import ATOMIC_INTEGERS, INTEGERS, equal, raises, run
from numpy.lib.stride_tricks import as_strided

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n


def check_atomics() -> None:
    for dtype in [*ATOMIC_INTEGERS, "f4", "f8"]:
        x = atoll.zeros((2, 3), dtype)
        one = type(atoll.g(x, 0, 0))
        for _ in range(200):
            atoll.atomic_add(x, 2, 0, index=4)
            atoll.atomic_inc(x, 0, index=-1)
            assert type(atoll.atomic_fetch_add(x, 1, 0, 0)) is one
            atoll.atomic_fetch_inc(x, 0, 1)
        atoll.barrier_all()
        if me == 0:
            equal(x, np.array([[200 * n, 200 * n, 0], [0, 400 * n, 200 * n]], dtype))
        atoll.barrier_all()
        assert atoll.atomic_fetch(x, 0, 4) == 400 * n
        atoll.barrier_all()
        assert atoll.atomic_swap(x, me + 5, right, 2) == 0
        atoll.barrier_all()
        assert x[0, 2] == left + 5
        atoll.barrier_all()
        atoll.atomic_set(x, me + 50, right, 2)
        atoll.barrier_all()
        assert x[0, 2] == left + 50
        fetched = np.zeros(1, dtype)
        atoll.atomic_fetch_nbi(fetched, x, right, 2)
        atoll.quiet()
        assert fetched[0] == me + 50
        atoll.atomic_swap_nbi(fetched, x, 1, me, 5)
        atoll.atomic_fetch_add_nbi(fetched, x, 1, me, 5)
        atoll.atomic_fetch_inc_nbi(fetched, x, me, 5)
        atoll.quiet()
        assert fetched[0] == 2 and x[1, 2] == 3
        atoll.barrier_all()


def check_wrap() -> None:
    x = atoll.zeros(1, "i4")
    atoll.atomic_set(x, 2**31 - 1, me)
    assert atoll.atomic_fetch_add(x, 1, me) == 2**31 - 1 and x[0] == -(2**31)
    u = atoll.zeros(1, "u8")
    atoll.atomic_set(u, 2**64 - 1, me)
    assert atoll.atomic_fetch_inc(u, me) == 2**64 - 1 and u[0] == 0


def check_bitwise_atomics() -> None:
    for dtype in ATOMIC_INTEGERS:
        x = atoll.zeros(4, dtype)
        atoll.atomic_or(x, 1 << me, 0, 0)
        atoll.atomic_xor(x, 1 << me, 0, 1)
        atoll.barrier_all()
        if me == 0:
            assert x[0] == (1 << n) - 1 and x[1] == (1 << n) - 1
        atoll.barrier_all()
        assert atoll.atomic_fetch_and(x, (1 << n) - 1 - (1 << me), 0, 0) & (1 << me)
        assert atoll.atomic_fetch_xor(x, 1 << me, 0, 1) & (1 << me)
        assert not atoll.atomic_fetch_or(x, 1 << me, 0, 2) & (1 << me)
        atoll.barrier_all()
        if me == 0:
            assert x.tolist() == [0, 0, (1 << n) - 1, 0]
        atoll.barrier_all()
        found = atoll.atomic_compare_swap(x, 0, me + 1, 0, 3)
        winner = atoll.atomic_fetch(x, 0, 3)
        assert (found == 0) == (winner == me + 1)
        atoll.barrier_all()
        fetched = np.zeros(1, dtype)
        atoll.atomic_compare_swap_nbi(fetched, x, 77, 78, 0, 3)
        atoll.atomic_and(x, 3, right, 0)
        atoll.atomic_fetch_and_nbi(fetched, x, 1, right, 0)
        atoll.atomic_fetch_or_nbi(fetched, x, 1, right, 0)
        atoll.atomic_fetch_xor_nbi(fetched, x, 1, right, 0)
        atoll.quiet()
        atoll.barrier_all()


def check_signals() -> None:
    x, sig = atoll.zeros(8), atoll.signal(4)
    for step in range(1, 20):
        atoll.put_signal(x, np.full(8, 100.0 * step + me), sig, step, "set", right, 0)
        assert atoll.signal_wait_until(sig, atoll.GE, step, index=0) >= step
        assert (x == 100 * step + left).all()
        atoll.signal_set(sig, step, left, index=1)
        atoll.signal_wait_until(sig, "==", step, timeout=60, index=1)
    atoll.barrier_all()
    atoll.put_signal(x[::2], 5.0, sig, 3, atoll.SIGNAL_ADD, right, 2)
    atoll.signal_wait_until(sig, ">", 0, index=2)
    assert (x[::2] == 5).all()
    atoll.put_signal_nbi(x[:0], x[:0], sig, 9, "set", right, 3)
    assert atoll.signal_wait_until(sig[3:], "!=", 0) == 9 == atoll.signal_fetch(sig, 3)
    atoll.barrier_all()
    one = atoll.signal()
    atoll.put_signal(x, 7.0, one, 5, pe=right)
    assert atoll.signal_wait_until(one, "!=", 0) == 5 and (x == 7).all()
    raises(TypeError, lambda: atoll.put_signal(x, 7.0, one, 5), "misses the argument 'pe'")
    raises(TypeError, lambda: atoll.put_signal(x, 7.0, one, 5, right), f"pass pe={right}")
    atoll.barrier_all()
    atoll.signal_add(sig, 1, right, index=3)
    atoll.barrier_all()
    assert atoll.signal_fetch(sig, -1) == 10


def check_names_in_errors() -> None:
    """Waits name an array by its allocation."""
    line = sys._getframe().f_lineno + 1
    words = atoll.zeros((2, 3), np.int32)
    named = f"the int32 array of shape (2, 3) allocated at words.py:{line}"
    late = lambda **k: atoll.wait_until(words, "==", 7, 0.01, **k)  # noqa: E731
    raises(atoll.Timeout, lambda: late(index=4), f"wait_until on element 4 of {named}: found 0")
    raises(atoll.Timeout, lambda: atoll.wait_until_all(words[1], "==", 1, None, 0), f"element 3 of {named}")
    one = atoll.signal()
    raises(
        atoll.Timeout, lambda: atoll.signal_wait_until(one, ">", 0, 0.01), "on the uint64 array of shape (1,)"
    )
    raises(
        atoll.NotSymmetric, lambda: atoll.put(as_strided(words, (9,), (4,)), 1, me), "reaches outside", named
    )
    raises(atoll.InvalidArgument, lambda: atoll.free(words[1]), "12 of the 24 bytes of", named)
    atoll.free(words)
    line = sys._getframe().f_lineno + 1
    other = atoll.zeros((2, 3), np.int32)
    raises(
        atoll.Timeout,
        lambda: atoll.wait_until(other[:1, :1], "==", 1, 0),
        f"allocated at words.py:{line}",
    )


def check_names_of_locks() -> None:
    lock = atoll.Lock()
    raises(atoll.InvalidArgument, lock.release, "Lock.release on a lock that PE", "does not hold")
    assert repr(lock) == "<atoll.Lock, not held by this PE>"
    with lock:
        assert repr(lock) == "<atoll.Lock, held by this PE>"
        raises(atoll.InvalidArgument, lock.acquire, "Lock.acquire would never return")
    atoll.barrier_all()
    if me == 0:
        lock.acquire()
    atoll.barrier_all()
    if me != 0:
        raises(
            atoll.Timeout,
            lambda: lock.acquire(timeout=0.01),
            "in Lock.acquire on the atoll.Lock allocated at words.py:",
        )
    atoll.barrier_all()
    if me == 0:
        lock.release()
    lock.free()
    assert repr(lock) == "<atoll.Lock, freed>"


def check_representations() -> None:
    size = f"PE {me} of {n}"
    assert repr(atoll.WORLD) == f"<atoll.WORLD, {size}>"
    with atoll.WORLD.split(0) as team:
        assert repr(team) == f"<atoll.Team, {size}>"
    assert repr(team) == "<atoll.Team, destroyed>"
    with atoll.Context() as ctx:
        assert repr(ctx) == f"<atoll.Context of <atoll.WORLD, {size}>>"
    assert repr(ctx) == "<atoll.Context, destroyed>"
    with atoll.Mailbox(64, 3) as box:
        assert repr(box) == f"<atoll.Mailbox of 3 slots of 64 bytes between {n} PEs>"
    assert repr(box) == "<atoll.Mailbox, freed>"


def check_waits() -> None:
    for dtype in INTEGERS:
        x = atoll.zeros(n + 1, dtype)
        atoll.barrier_all()
        for pe in range(n):
            atoll.p(x, me + 1, pe, index=me)
        atoll.wait_until_all(x[:n], "!=", 0)
        equal(x[:n], np.arange(1, n + 1).astype(dtype))
        atoll.wait_until_all_vector(x, "==", [*range(1, n + 1), 0])
        assert atoll.test(x, ">", 0, 0) and atoll.test(x, "==", 0, index=n)
        assert atoll.test_all(x, ">=", 0) and not atoll.test_all(x, ">", 0)
        assert atoll.test_all_vector(x, "<=", list(range(1, n + 2)))
        assert atoll.test_any(x, ">", 100) is None and atoll.test_any(x, "<", 1) == n
        assert atoll.wait_until_any(x, "==", n) == n - 1
        seen = {atoll.wait_until_any(x[:n], ">", 0) for _ in range(4 * n)}
        assert seen == set(range(n)), "wait_until_any must report every word in time"
        assert atoll.wait_until_some(x, ">", 0).tolist() == list(range(n))
        status = np.ones(n + 1, np.int32)
        assert atoll.wait_until_any(x, "==", 99, status) is None
        assert atoll.wait_until_some(x, "==", 99, status).size == 0
        status[n] = 0
        each = [9] * n + [0]
        assert atoll.test_some(x, "==", 0, status).tolist() == [n]
        assert atoll.wait_until_some_vector(x, "==", each).tolist() == [n]
        assert atoll.wait_until_any_vector(x, "==", each) == n == atoll.test_any_vector(x, "==", each)
        assert atoll.test_some_vector(x, "==", [9] * n + [1]).size == 0
        assert atoll.wait_until(x, ">=", 1, 60.0, 0) == 1
        atoll.wait_until_all(x[:0], "==", 1)
        atoll.barrier_all()
        raises(
            atoll.Timeout,
            lambda x=x: atoll.wait_until(x, ">", 100, timeout=0.01, index=0),
            "> 100",
            "found 1",
        )
        raises(atoll.Timeout, lambda x=x: atoll.wait_until_all(x, ">", 100, timeout=0), "wait_until_all")


run(globals())
