"""Every PE puts a message into the next PE's memory; the receiver makes no call for it."""

import sys

import atoll
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
following, previous = (me + 1) % n, (me - 1) % n

# Eight numbers on every PE, at the same offset in each symmetric heap: an ordinary NumPy array to its owner.
x = atoll.zeros(8, np.float64)

atoll.put(x, np.full(8, float(me)), following)  # `x` names the target: the same offset on the following PE
atoll.barrier_all()  # all puts have arrived, on all PEs

print(
    f"PE {me}: my x holds {x[0]:.0f}, put there by PE {previous}; PE 0's holds {atoll.g(x, 0, index=0):.0f}"
)
right = bool((x == previous).all())
atoll.finalize()
sys.exit(0 if right else 1)
