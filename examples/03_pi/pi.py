"""π as the area under 4 / (1 + x²) from 0 to 1: every PE adds up its share of the strips, a reduction adds
the shares.
"""

import math
import sys

import atoll
import numpy as np

atoll.init()
strips = 10_000_000
x = (np.arange(atoll.my_pe(), strips, atoll.n_pes()) + 0.5) / strips
share = np.sum(4 / (1 + x * x)) / strips

area = float(atoll.sum_reduce(np.array([share]))[0])  # added in PE order: every PE gets the same bits

error = abs(area - math.pi)
if atoll.my_pe() == 0:
    print(f"pi = {area:.12f} from {strips} strips, off by {error:.1e}")
atoll.finalize()
sys.exit(0 if error < 1e-10 else 1)
