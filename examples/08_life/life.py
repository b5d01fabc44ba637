"""Conway's Life. Every PE owns some rows, and its neighbours put their border rows beside them.

A signal comes with each row and tells that generation g has arrived. No barrier: a PE waits for its two
neighbours only.
"""

import sys

import atoll
import numpy as np

ROWS, COLUMNS = 192, 256  # a torus


def evolve(cells):
    """Return the next generation of all rows of `cells` but the first and the last, which are only read."""
    wide = np.concatenate([cells[:, -1:], cells, cells[:, :1]], axis=1)
    three = wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]
    around = three[:-2] + three[1:-1] + three[2:] - cells[1:-1]
    return ((around == 3) | ((around == 2) & (cells[1:-1] == 1))).astype(np.uint8)


atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
if n > ROWS // 2:
    if me == 0:
        print(f"{n} PEs cannot share {ROWS} rows: run with at most {ROWS // 2}", file=sys.stderr)
    atoll.finalize()  # waits for all: the first PE that fails ends the others
    sys.exit(1)
generations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
start = (np.random.default_rng(1970).random((ROWS, COLUMNS)) < 1 / 3).astype(np.uint8)
first, last = me * ROWS // n, (me + 1) * ROWS // n
up, down = (me - 1) % n, (me + 1) % n

# Two rows of the neighbours for even generations and two for odd ones. A neighbour may be one generation
# ahead, but not two, since it needs this PE's row in between.
halo = atoll.zeros((2, 2, COLUMNS), np.uint8)  # [generation % 2, (from above, from below)]
arrived = atoll.signal(2)
cells = start[first:last]

for g in range(generations):
    from_above, from_below = halo[g % 2]
    atoll.put_signal(from_below, cells[0], arrived[1:], g + 1, "set", up)
    atoll.put_signal(from_above, cells[-1], arrived[:1], g + 1, "set", down)
    inner = evolve(cells)  # while the rows are in flight
    atoll.signal_wait_until(arrived[:1], ">=", g + 1)
    atoll.signal_wait_until(arrived[1:], ">=", g + 1)
    top = evolve(np.stack([from_above, cells[0], cells[1]]))
    bottom = evolve(np.stack([cells[-2], cells[-1], from_below]))
    cells = np.concatenate([top, inner, bottom])

# Compute all of it on this PE alone, and compare with its rows.
alone = start
for _ in range(generations):
    alone = evolve(np.concatenate([alone[-1:], alone, alone[:1]]))
alive, wrong = atoll.sum_reduce(
    np.array([cells.sum(), np.count_nonzero(cells != alone[first:last])], np.int64)
)
if me == 0:
    print(f"{alive} cells live after {generations} generations; {wrong} differ from a run on one PE")
atoll.finalize()
sys.exit(0 if wrong == 0 else 1)
