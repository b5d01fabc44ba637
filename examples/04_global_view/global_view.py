"""The PEs of one host load and store each other's memory: the symmetric array of all PEs is one table with a row a PE."""

import sys

import atoll
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
row = atoll.zeros(5, np.int64)
row[:] = 10 * me + np.arange(5)
atoll.barrier_all()

everyone = atoll.global_view(row)  # shape (n, 5): nothing is copied, and NumPy does the rest
columns = everyone.sum(axis=0)
atoll.barrier_all()  # all PEs have read the values that are overwritten next

everyone[(me + 1) % n, 0] = -me  # a store into the next PE's row
atoll.barrier_all()

if me == 0:
    print("the rows of all PEs, as PE 0 sees them:")
    print(everyone)
    print("sums of the columns before:", columns)
right = columns[3] == 10 * n * (n - 1) // 2 + 3 * n and row[0] == -((me - 1) % n)
atoll.finalize()
sys.exit(0 if right else 1)
