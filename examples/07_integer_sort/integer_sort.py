"""Integer sort by buckets: PE k gets all keys of the k-th part of the range.

The PEs first tell each other how many keys they will send (alltoall). So each PE knows where its keys go in
the others' memory (irregular puts). Then each sorts the keys that it received.
"""

import sys

import atoll
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
limits = np.arange(n + 1) * (1 << 27) // n  # PE k sorts the keys from limits[k] up to limits[k + 1]
keys = np.random.default_rng(me).integers(0, 1 << 27, count)

# This PE's keys, those for PE 0 first, then those for PE 1, ...
bucket = np.searchsorted(limits, keys, side="right") - 1
outgoing = keys[np.argsort(bucket, kind="stable")]
send = np.bincount(bucket, minlength=n)

# The number of keys from each PE, and the offset of these keys in this PE's memory, sent back to the sender.
receive = atoll.alltoall(send)
to = atoll.alltoall(np.cumsum(receive) - receive)

mine = int(receive.sum())
most = int(atoll.max_reduce(np.array([mine]))[0])
inbox = atoll.zeros(most, np.int64)  # the same size on every PE, so the largest
first = np.cumsum(send) - send
for pe in range(n):
    atoll.put(inbox[to[pe] : to[pe] + send[pe]], outgoing[first[pe] : first[pe] + send[pe]], pe)
atoll.barrier_all()
part = np.sort(inbox[:mine])

# Right if every PE's part is in its range and no key was lost or changed: number and sum agree.
wrong = mine > 0 and (part[0] < limits[me] or part[-1] >= limits[me + 1])
before, before_sum, after, after_sum, wrong = atoll.sum_reduce(
    np.array([count, keys.sum(), mine, part.sum(), wrong], np.int64)
)
right = wrong == 0 and before == after and before_sum == after_sum
if me == 0:
    print(f"{before} keys sorted by {n} PEs: {'right' if right else 'WRONG'}")
atoll.finalize()
sys.exit(0 if right else 1)
