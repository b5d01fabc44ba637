"""GUPS: atomic updates of random words of a table that all PEs hold together, as fast as possible.

One call of `add_at` takes all updates: the PE, the word and the value of each. The check replays them: adding
the negatives restores the table's first state, if no update was lost.
"""

import sys
import time

import atoll
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
updates = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
words = 1 << 18
table = atoll.zeros(words, np.int64)
table[:] = np.arange(words)
atoll.barrier_all()

random = np.random.default_rng(me)
pe = random.integers(0, n, updates)
index = random.integers(0, words, updates)
value = random.integers(1, 1 << 40, updates)

start = time.perf_counter()
atoll.add_at(table, index, value, pe)
atoll.barrier_all()
passed = time.perf_counter() - start

changed = np.count_nonzero(table != np.arange(words))
atoll.barrier_all()
atoll.add_at(table, index, -value, pe)  # the replay
atoll.barrier_all()
wrong = np.count_nonzero(table != np.arange(words))

changed, wrong = atoll.sum_reduce(np.array([changed, wrong]))
if me == 0:
    print(f"{updates * n} updates in {passed:.3f} s: {updates * n / passed / 1e9:.4f} GUPS")
    print(f"{changed} words had changed; after the replay {wrong} are wrong")
atoll.finalize()
sys.exit(0 if wrong == 0 and changed > 0 else 1)
