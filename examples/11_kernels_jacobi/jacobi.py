"""2-D Jacobi in one kernel that talks to its neighbours: atoll run -n 2 jacobi.py [cpu|cuda] [rows] [width] [steps].

Written with Numba. Each PE has a band of rows and one more at either end, which its neighbours put there, with a signal
that says of which step they are. The kernel runs all steps; on a CPU the same text is compiled for one thread.
"""

import sys

import atoll
import numpy as np

try:
    import atoll.numba as dev
except ImportError as error:
    sys.exit(f"jacobi.py: {error}")

where = sys.argv[1] if len(sys.argv) > 1 else "cpu"
rows, width, steps = (int(word) for word in (sys.argv[2:5] or (40, 64, 60)))


@dev.kernel
def jacobi(team, u, signals, steps):
    rows, width = u.shape[1] - 2, u.shape[2]
    threads, thread = dev.size(dev.BLOCK), dev.rank(dev.BLOCK)
    block, blocks = dev.rank(dev.GRID) // threads, dev.size(dev.GRID) // threads
    above, below = team.my_pe - 1, team.my_pe + 1
    for step in range(steps):
        old, new = u[step % 2], u[(step + 1) % 2]
        for row in range(1 + block, rows + 1, blocks):
            if row == 1 and above >= 0:
                dev.signal_wait_until(team, signals, dev.GE, step, scope=dev.BLOCK)
            if row == rows and below < team.n_pes:
                dev.signal_wait_until(team, signals[1:], dev.GE, step, scope=dev.BLOCK)
            for k in range(1 + thread, width - 1, threads):
                new[row, k] = 0.25 * (old[row - 1, k] + old[row + 1, k] + old[row, k - 1] + old[row, k + 1])
            dev.meet(team, dev.BLOCK)  # the row is there
            if row == 1 and above >= 0:
                dev.put_signal(
                    team, new[rows + 1], new[1], signals[1:], step + 1, dev.SET, above, scope=dev.BLOCK
                )
            if row == rows and below < team.n_pes:
                dev.put_signal(team, new[0], new[rows], signals, step + 1, dev.SET, below, scope=dev.BLOCK)
        dev.meet(team, dev.GRID)  # this step's rows are there for all blocks


atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
whole = np.zeros((n * rows + 2, width))
whole[0] = 1.0
whole[:, 0] = np.linspace(1, 0, n * rows + 2)

u = atoll.zeros((2, rows + 2, width), device=where)
signals = atoll.zeros(2, np.uint64, device=where)
band = whole[me * rows : (me + 1) * rows + 2]
u[...] = np.stack([band, band])
atoll.barrier_all()

dev.launch(jacobi, min(rows, 64), 128, cooperative=True)(atoll.WORLD, u, signals, steps)

if where == "cuda":
    from numba import cuda

    cuda.select_device(u.device)
    cuda.synchronize()
atoll.barrier_all()
for _ in range(steps):
    whole[1:-1, 1:-1] = 0.25 * (whole[:-2, 1:-1] + whole[2:, 1:-1] + whole[1:-1, :-2] + whole[1:-1, 2:])
mine = u if where == "cpu" else u.numpy()
assert np.allclose(mine[steps % 2, 1:-1], whole[1 + me * rows : 1 + (me + 1) * rows]), (
    "not what one PE alone computes"
)
if me == 0:
    print(
        f"{where}, {n} PEs: {steps} steps of {n * rows} x {width} cells in one kernel, as one PE alone computes"
    )
atoll.finalize()
