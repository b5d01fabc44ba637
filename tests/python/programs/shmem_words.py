"""atoll.shmem: atomics, signals, waits and locks, by shmem4py's rules."""

from __future__ import annotations

import atoll
import numpy as np
from atoll import shmem
from checks import ATOMIC_INTEGERS, INTEGERS, run

me, n = shmem.my_pe(), shmem.n_pes()
right, left = (me + 1) % n, (me - 1) % n


def check_atomics() -> None:
    for dtype in [*ATOMIC_INTEGERS, "f4", "f8"]:
        x = shmem.zeros((1, 1), dtype)
        for _ in range(50):
            shmem.atomic_add(x, np.int16(2), 0)
            shmem.atomic_inc(x, 0)
            shmem.atomic_fetch_inc(x, 0)
            assert shmem.atomic_fetch_add(x, 1, 0) >= 0
        shmem.barrier_all()
        assert shmem.atomic_fetch(x, 0) == 250 * n
        shmem.barrier_all()
        assert shmem.atomic_swap(x, me, me) == (250 * n if me == 0 else 0)
        shmem.barrier_all()
        shmem.atomic_set(x, np.array(me + 3, dtype), right, shmem.CTX_DEFAULT)
        shmem.barrier_all()
        fetched = np.zeros(1, dtype)
        shmem.atomic_fetch_nbi(fetched, x, me)
        shmem.quiet()
        assert fetched[0] == left + 3
        shmem.atomic_swap_nbi(fetched, x, 1, me)
        shmem.atomic_fetch_add_nbi(fetched, x, 1, me)
        shmem.atomic_fetch_inc_nbi(fetched, x, me)
        shmem.quiet()
        assert fetched[0] == 2 and x[0, 0] == 3
        shmem.barrier_all()


def check_bitwise_atomics() -> None:
    for dtype in ATOMIC_INTEGERS:
        x = shmem.zeros(1, dtype)
        shmem.atomic_or(x, 1 << me, 0)
        shmem.barrier_all()
        assert shmem.atomic_fetch_xor(x, 1 << me, 0) & (1 << me)
        shmem.barrier_all()
        assert shmem.atomic_fetch(x, 0) == 0
        shmem.barrier_all()
        shmem.atomic_xor(x, 3, me)
        shmem.atomic_and(x, 2, me)
        assert shmem.atomic_fetch_or(x, 4, me) == 2 and shmem.atomic_fetch_and(x, 4, me) == 6
        assert (
            shmem.atomic_compare_swap(x, 5, 9, me) == 4
            and shmem.atomic_compare_swap(x, np.int8(4), 9, me) == 4
        )
        fetched = np.zeros(1, dtype)
        for call, value in (
            (shmem.atomic_fetch_or_nbi, 9),
            (shmem.atomic_fetch_and_nbi, 11),
            (shmem.atomic_fetch_xor_nbi, 3),
        ):
            call(fetched, x, 3, me)
            shmem.quiet()
            assert fetched[0] == value
        shmem.atomic_compare_swap_nbi(fetched, x, 0, 77, me)
        shmem.quiet()
        assert fetched[0] == 0 and x[0] == 77
        shmem.barrier_all()


def check_atomics_by_operator() -> None:
    x, fetched = shmem.full(1, 12, "i8"), np.zeros(1, "i8")
    found = []
    for op, value in (
        (shmem.AMO_SET, 6),
        ("INC", 0),
        (shmem.AMO_ADD, 3),
        ("and", 14),
        (shmem.AMO_OR, 1),
        ("Xor", 2),
    ):
        shmem.atomic_op(x, value, op, me)
        found += [int(x[0]), shmem.atomic_fetch_op(x, value, op, me)]
        shmem.atomic_fetch_op_nbi(fetched, x, value, op, me)
        shmem.quiet()
        found.append(int(fetched[0]))
    assert found == [6, 6, 6, 7, 7, 8, 12, 12, 15, 2, 2, 2, 3, 3, 3, 1, 1, 3], found
    assert str(shmem.AMO.ADD) == "add" == shmem.AMO_ADD


def check_signals() -> None:
    sig = shmem.new_signal()
    assert sig[0] == 0 == shmem.signal_fetch(sig)
    for op in (shmem.SIGNAL_SET, shmem.SIGNAL_ADD):
        for put in (shmem.put_signal, shmem.put_signal_nbi):
            x = shmem.zeros((2, 2), "c16")
            before = shmem.signal_fetch(sig)
            shmem.barrier_all()
            value = before + 1 if op == shmem.SIGNAL_SET else 1
            put(x, np.full(4, me, "c16"), right, sig, np.int32(value), op, size=3, ctx=shmem.CTX_DEFAULT)
            assert shmem.signal_wait_until(sig, shmem.CMP_GT, before) == before + 1
            assert x.reshape(-1).tolist() == [left, left, left, 0]
            shmem.barrier_all()
    shmem.put_signal(x, x, right, sig, 100, shmem.SIGNAL_SET, 0)
    assert shmem.signal_wait_until(sig, "==", np.uint64(100)) == 100
    shmem.del_signal(sig)
    assert not atoll.is_symmetric(sig)


def check_one_word() -> None:
    for dtype in INTEGERS:
        x = shmem.zeros(1, dtype)
        shmem.barrier_all()
        shmem.put(x, np.full(1, 5, dtype), right)
        shmem.wait_until(x, shmem.CMP_EQ, 5)
        assert shmem.wait_until(x, "ge", np.int64(1)) is None
        for cmp, value in ((shmem.CMP_EQ, 5), ("!=", 4), (">", 4), ("LE", 5), ("<", 6), (shmem.CMP.GE, 5)):
            assert shmem.test(x, cmp, value) is True
        assert shmem.test(x, shmem.CMP_NE, 5) is False and shmem.test(x, 4, 5) is False
        shmem.barrier_all()


def check_several_words() -> None:
    for dtype in INTEGERS:
        x = shmem.zeros((n + 1, 1), dtype, "F")
        shmem.barrier_all()
        for pe in range(n):
            shmem.put(x[me], np.full(1, me + 1, dtype), pe)
        last = [0] * n + [1]
        shmem.wait_until_all(x, shmem.CMP_NE, 0, last)
        shmem.wait_until_all_vector(x, "==", [*range(1, n + 1), 0])
        assert shmem.wait_until_any(x, "==", n) == n - 1 and shmem.test_any(x, "==", 0) == n
        assert shmem.wait_until_some(x, ">", 0) == list(range(n)) == shmem.test_some(x, ">", 0)
        assert type(shmem.test_some(x, ">", 0)) is list
        assert shmem.test_all(x, ">=", 0) is True and shmem.test_all(x, ">", 0) is False
        assert shmem.test_all(x, ">", 0, np.array(last + [0, 0])) is True
        everything = [1] * (n + 1)
        assert shmem.wait_until_any(x, "==", 99, everything) is None and shmem.test_any(x, ">", 99) is None
        assert shmem.wait_until_some(x, "==", 99, everything) == [] == shmem.test_some(x, ">", 99)
        each = [9] * n + [0, 5]
        assert shmem.wait_until_any_vector(x, "==", each) == n == shmem.test_any_vector(x, "==", each)
        assert shmem.wait_until_some_vector(x, "==", each) == [n] == shmem.test_some_vector(x, "==", each)
        assert shmem.test_all_vector(x, "<=", np.arange(1, n + 2, dtype="i8")) is True
        assert shmem.test_all_vector(x, "<", np.array(each, "i2"), None) is False
        shmem.barrier_all()


def check_locks() -> None:
    count, lock = shmem.zeros(1, int), shmem.new_lock()
    here = np.zeros(1, int)
    for i in range(20):
        if i % 2:
            shmem.set_lock(lock)
        else:
            while shmem.test_lock(lock):
                pass
        shmem.get(here, count, 0)
        shmem.put(count, here + 1, 0)
        shmem.clear_lock(lock)
    shmem.del_lock(lock)
    made = shmem.Lock()
    for i in range(20):
        if i % 2:
            with made as held:
                assert held is None
                shmem.get(here, count, 0)
                shmem.put(count, here + 1, 0)
        else:
            assert made.acquire() is True
            assert made.acquire(blocking=False) is False
            shmem.get(here, count, 0)
            shmem.put(count, here + 1, 0)
            made.release()
    shmem.barrier_all()
    assert me != 0 or count[0] == 40 * n
    made.destroy()
    made.destroy()


run(globals())
