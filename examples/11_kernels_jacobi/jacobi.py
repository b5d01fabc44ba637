"""2-D Jacobi in one kernel that talks to its neighbours: atoll run -n 2 jacobi.py [cpu|cuda] [rows] [width] [steps] [picture.png].

Written with Numba. Each PE has a band of rows of a grid that closes around from the last PE to the first, and one more row at either
end: its neighbours'. The kernel runs all steps; on a CPU the same text is compiled for one thread. `jacobi.py cuda times` prints
what a step costs.
"""

import json
import sys

import atoll
import numpy as np

try:
    import atoll.numba as dev
    from numba.extending import register_jitable
except ImportError as error:
    sys.exit(f"jacobi.py: {error}")

QUARTER = np.float32(0.25)


@register_jitable  # for CPUs and GPUs
def relax(old, new, begin, end, thread, threads):
    """Rows begin … end - 1, whose columns are dealt to the threads: four rows at a time, so that a thread has many loads on their way."""
    k = 1 + thread
    while k < old.shape[1] - 1:
        row = begin
        while row + 4 <= end:
            a, b, c = old[row - 1, k], old[row, k], old[row + 1, k]
            d, e, f = old[row + 2, k], old[row + 3, k], old[row + 4, k]
            side0 = old[row, k - 1] + old[row, k + 1]
            side1 = old[row + 1, k - 1] + old[row + 1, k + 1]
            side2 = old[row + 2, k - 1] + old[row + 2, k + 1]
            side3 = old[row + 3, k - 1] + old[row + 3, k + 1]
            new[row, k] = QUARTER * (a + c + side0)
            new[row + 1, k] = QUARTER * (b + d + side1)
            new[row + 2, k] = QUARTER * (c + e + side2)
            new[row + 3, k] = QUARTER * (d + f + side3)
            row += 4
        while row < end:
            new[row, k] = QUARTER * (old[row - 1, k] + old[row + 1, k] + (old[row, k - 1] + old[row, k + 1]))
            row += 1
        k += threads


@dev.kernel
def jacobi(team, u, up, down, flags, steps):
    rows = u.shape[1] - 2
    threads, thread = dev.size(dev.BLOCK), dev.rank(dev.BLOCK)
    block, blocks = dev.rank(dev.GRID) // threads, dev.size(dev.GRID) // threads
    first, last = 1 + rows * block // blocks, rows * (block + 1) // blocks  # this block's rows
    above, below = (team.my_pe - 1) % team.n_pes, (team.my_pe + 1) % team.n_pes
    for step in range(steps):
        old, new = u[step % 2], u[(step + 1) % 2]
        # The rows beside this block's are another PE's, and come by mailbox, or another block's, which says when they are there.
        if block > 0:
            dev.wait_until(team, flags[block - 1 :], dev.GE, step, scope=dev.BLOCK)
        elif step > 0:
            dev.receive(team, down, old[0], above, scope=dev.BLOCK)
        if block < blocks - 1:
            dev.wait_until(team, flags[block + 1 :], dev.GE, step, scope=dev.BLOCK)
        elif step > 0:
            dev.receive(team, up, old[rows + 1], below, scope=dev.BLOCK)
        # First the rows that others wait for, then those between.
        relax(old, new, first, first + 1, thread, threads)
        if last > first:
            relax(old, new, last, last + 1, thread, threads)
        dev.meet(team, dev.BLOCK)
        if block == 0:
            dev.post(team, up, new[1], above, scope=dev.BLOCK)
        if block == blocks - 1:
            dev.post(team, down, new[rows], below, scope=dev.BLOCK)
        if thread == 0:
            dev.signal_set(team, flags[block:], step + 1, team.my_pe)
        relax(old, new, first + 1, last, thread, threads)
        dev.meet(team, dev.BLOCK)
    if block == 0 and steps > 0:  # what the last step sent
        dev.receive(team, down, u[steps % 2, 0], above, scope=dev.BLOCK)
    if block == blocks - 1 and steps > 0:
        dev.receive(team, up, u[steps % 2, rows + 1], below, scope=dev.BLOCK)


class Solver:
    """A grid of `rows` rows a PE."""

    def __init__(self, where, rows, width):
        self.where, self.rows = where, rows
        self.u = atoll.zeros((2, rows + 2, width), np.float32, device=where)
        self.up, self.down = (dev.mailbox(4 * width, device=where) for _ in range(2))
        self.flags = atoll.zeros(rows, np.uint64, device=where)

    def start(self, whole):
        """`whole`: the rows of all PEs, and of each end one more."""
        band = whole[atoll.my_pe() * self.rows :][: self.rows + 2]
        self.u[...] = np.stack([band, band])
        self.flags[...] = 0
        atoll.barrier_all()

    def run(self, steps, blocks, threads):
        arguments = atoll.WORLD, self.u, self.up, self.down, self.flags, steps
        dev.launch(jacobi, blocks, threads, cooperative=True)(*arguments)

    def result(self, steps):
        if self.where == "cuda":
            synchronize(self.u.device)
        atoll.barrier_all()
        return (self.u if self.where == "cpu" else self.u.numpy())[steps % 2, 1:-1]


def synchronize(device):
    from numba import cuda

    cuda.select_device(device)
    cuda.synchronize()


def beginning(rows, width):
    """A plate with a hot left side and hot spots, its first row behind its last and its last before its first."""
    whole = np.zeros((rows + 2, width), np.float32)
    whole[:, 0] = 1
    random = np.random.default_rng(1)
    for _ in range(12):
        r, k, size = random.integers(rows), random.integers(width), max(2, rows // 12)
        whole[max(r - size, 1) : r + size, max(k - size, 0) : k + size] += 1
    whole[0], whole[-1] = whole[rows], whole[1]
    return whole


def alone(whole, steps):
    """The same by NumPy."""
    for _ in range(steps):
        inner = whole[:-2, 1:-1] + whole[2:, 1:-1] + (whole[1:-1, :-2] + whole[1:-1, 2:])
        whole[1:-1, 1:-1] = QUARTER * inner
        whole[0], whole[-1] = whole[-2], whole[1]
    return whole


def measured(solver, steps, blocks, threads):
    """Microseconds a step; infinite where so many blocks cannot run at once."""
    from numba import cuda

    begin, end = cuda.event(), cuda.event()
    for _ in range(2):  # the first warms up
        solver.flags[...] = 0
        atoll.barrier_all()
        begin.record()
        try:
            solver.run(steps, blocks, threads)
        except ValueError:
            return float("inf")
        end.record()
        end.synchronize()
        atoll.barrier_all()
    return atoll.max_reduce(1e3 * begin.elapsed_time(end) / steps)


def times():
    """A step in microseconds, for the best of some numbers of blocks and threads. For GPUs."""
    from numba import cuda

    for size in (64, 128, 256, 512, 1024, 2048, 4096, 8192):
        solver = Solver("cuda", size, size)
        cuda.select_device(solver.u.device)
        solver.start(beginning(atoll.n_pes() * size, size))
        steps, best = 2000 if size < 4096 else 200, 1e30
        for blocks in (1, 2, 4, 8, 16, 32, 64, 132, 264):
            for threads in (64, 128, 256, 384, 512):
                if 2 * blocks <= size and blocks * threads >= min(size * size // 64, 32768):
                    best = min(best, measured(solver, steps, blocks, threads))
        if atoll.my_pe() == 0:
            row = {"side": "atoll", "op": f"Jacobi step, Numba, {size} x {size} a GPU", "bytes": 4 * size}
            print(json.dumps({**row, "pes": atoll.n_pes(), "median_us": round(best, 4)}), flush=True)
        for array in (solver.u, solver.up.block, solver.down.block, solver.flags):
            atoll.free(array)


def draw(file, before, after, steps, n, where):
    try:
        import matplotlib
    except ImportError:
        sys.exit("jacobi.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, sides = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    for ax, values, title in zip(sides, (before, after), ("before", f"after {steps} steps"), strict=True):
        shown = ax.imshow(values, cmap="inferno", vmin=0, vmax=2, aspect="auto")
        ax.set_title(title)
        for pe in range(1, n):
            ax.axhline(pe * len(values) / n - 0.5, color="white", lw=0.5, ls=":")
    figure.colorbar(shown, ax=sides, label="heat")
    figure.suptitle(
        f"Jacobi in one kernel on {n} {'GPUs' if where == 'cuda' else 'CPUs'} (bands between the dots)"
    )
    figure.savefig(file, dpi=90)
    print(f"picture: {file}")


words = [word for word in sys.argv[1:] if not word.endswith(".png")]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
where = words[0] if words else "cpu"
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
if words[1:] == ["times"]:
    times()
else:
    rows, width, steps = (int(word) for word in (words[1:4] or (40, 64, 60)))
    solver, whole = Solver(where, rows, width), beginning(n * rows, width)
    solver.start(whole)
    solver.run(steps, max(1, min(rows // 2, 64)), 128)
    found, before = solver.result(steps), whole.copy()
    whole = alone(whole, steps)
    assert np.allclose(found, whole[1 + me * rows : 1 + (me + 1) * rows]), "not what one PE alone computes"
    if me == 0:
        print(
            f"{where}, {n} PEs: {steps} steps of {n * rows} x {width} cells in one kernel, as one PE alone computes"
        )
    everything = atoll.gather(np.ascontiguousarray(found), 0)
    if me == 0 and picture:
        draw(picture, before[1:-1], everything.reshape(n * rows, width), steps, n, where)
atoll.finalize()
