"""Every PE puts a message into the next PE's memory; nobody receives anything by a call of its own."""

import sys

import atoll
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
following, previous = (me + 1) % n, (me - 1) % n

# Eight numbers on every PE, at the same place in the symmetric heap of each: an ordinary NumPy array to its owner.
x = atoll.zeros(8, np.float64)

atoll.put(x, np.full(8, float(me)), following)  # my `x` names the target: the same place on the following PE
atoll.barrier_all()  # all puts have arrived, everywhere

print(
    f"PE {me}: my x holds {x[0]:.0f}, put there by PE {previous}; PE 0's holds {atoll.g(x, 0, index=0):.0f}"
)
right = bool((x == previous).all())
atoll.finalize()
sys.exit(0 if right else 1)
