"""Rolls of two dice, counted by all PEs together: a program written for shmem4py, which runs on Atoll
unchanged.

    atoll run -n 4 examples/shmem4py/histogram.py               # from atoll import shmem oshrun -n 4 python
    examples/shmem4py/histogram.py shmem4py  # from shmem4py import shmem

It checks its result and prints the time of single operations; `times=FILE` writes these as JSON, too.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

if "shmem4py" in sys.argv:
    from shmem4py import shmem
else:
    from atoll import shmem

ROLLS = 20_000
me, n = shmem.my_pe(), shmem.n_pes()


def say(text):
    if me == 0:
        print(text, flush=True)


def count_rolls():
    """Count the sums of two dice, each on the PE that owns it; updates are gathered, then made by atomics."""
    mine = np.random.default_rng(me).integers(1, 7, (ROLLS, 2)).sum(axis=1)
    counts = shmem.zeros(13, dtype="i8")  # the PE with number `total % n` counts that total
    for total, times in enumerate(np.bincount(mine, minlength=13)):
        shmem.atomic_add(counts[total : total + 1], int(times), total % n)
    shmem.barrier_all()
    everywhere = shmem.zeros(13, dtype="i8")
    shmem.sum_reduce(everywhere, counts)
    return everywhere, mine


def check(everywhere, mine):
    """Check by other means: collect all rolls, and count them here."""
    rolls = shmem.zeros(n * ROLLS, dtype="i8")
    shmem.fcollect(rolls, shmem.array(mine, dtype="i8"))
    wanted = np.bincount(rolls, minlength=13)
    assert (everywhere == wanted).all(), (everywhere, wanted)
    most = int(everywhere.max())
    for total in range(2, 13):
        say(f"  {total:2} {'#' * (40 * int(everywhere[total]) // most):40} {everywhere[total]}")


def pass_round():
    """Pass a text around the ring; each PE waits for its neighbour's signal and adds a letter."""
    text, signal = shmem.zeros(n + 1, dtype="u1"), shmem.new_signal()
    if me > 0:
        shmem.signal_wait_until(signal, shmem.CMP_EQ, me)
    text[me] = ord("a") + me % 26
    if me < n - 1:
        shmem.put_signal(text, text.copy(), me + 1, signal, me + 1, shmem.SIGNAL_SET)
    shmem.barrier_all()
    all_of_it = np.zeros(n + 1, dtype="u1")
    shmem.get(all_of_it, text, n - 1)
    assert all_of_it[:n].tolist() == [ord("a") + pe % 26 for pe in range(n)], all_of_it
    say(f"  round the ring: {bytes(all_of_it[:n]).decode()}")


def take_turns():
    """Add to a number on PE 0, one PE after the other, under a lock. The even PEs also form a team."""
    number, lock = shmem.zeros(1), shmem.Lock()
    with lock:
        here = np.zeros(1)
        shmem.get(here, number, 0)
        shmem.put(number, here + 1, 0)
    shmem.barrier_all()
    with shmem.TEAM_WORLD.split_strided(0, 2) as even:
        if even:
            assert even.translate_pe(even.n_pes() - 1) == (n - 1) // 2 * 2
            even.sync()
    assert me != 0 or number[0] == n
    say(f"  the lock was held {n} times")


def measure(what, batch=2000, batches=15):
    """Return the nanoseconds of a call on this PE: the best of several batches."""
    best = float("inf")
    for _ in range(batches):
        start = time.perf_counter_ns()
        for _ in range(batch):
            what()
        best = min(best, (time.perf_counter_ns() - start) / batch)
    return best


def times():
    """Return the time of single operations from PE 0 to the next PE, while the others wait for it."""
    word, data = shmem.zeros(1, dtype="i8"), shmem.zeros(128)
    here, signal, pe = np.ones(128), shmem.new_signal(), 1 % n
    one, there, first = here[:1], data[:1], word[:1]
    found = {}
    shmem.barrier_all()
    if me == 0:
        found["put, 8 bytes"] = measure(lambda: shmem.put(there, one, pe))
        found["get, 1 KiB"] = measure(lambda: shmem.get(here, data, pe))
        found["put_signal"] = measure(lambda: shmem.put_signal(there, one, pe, signal, 1, shmem.SIGNAL_ADD))
        found["fetch_add"] = measure(lambda: shmem.atomic_fetch_add(first, 1, pe))
        found["test"] = measure(lambda: shmem.test(first, shmem.CMP_GE, 0))
    shmem.barrier_all()
    for name, nanoseconds in found.items():
        say(f"  {name:14} {nanoseconds / 1000:6.2f} µs")
    return found


say(f"{shmem.__name__} over {shmem.info_get_name()}, {n} PEs")
check(*count_rolls())
pass_round()
take_turns()
measured = times()
for argument in sys.argv[1:]:
    if argument.startswith("times=") and me == 0:
        Path(argument.removeprefix("times=")).write_text(json.dumps(measured))
