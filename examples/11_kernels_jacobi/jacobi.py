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
U = np.uint64  # of what indices are made: Numba looks whether a signed one counts from the end
ONE, TWO, FOUR, LOW, SHIFT = U(1), U(2), U(4), U(0xFFFFFFFF), U(32)


@register_jitable
def first_of(pair):
    return np.uint32(pair & LOW).view(np.float32)


@register_jitable
def second_of(pair):
    return np.uint32(pair >> SHIFT).view(np.float32)


@register_jitable
def pair_of(first, second):
    return U(np.float32(first).view(np.uint32)) | (U(np.float32(second).view(np.uint32)) << SHIFT)


@register_jitable
def mean(above, below, left, right):
    return QUARTER * (above + below + (left + right))


@register_jitable
def relaxed(i, pairs, above, old, below, left, right):
    """Two new cells; those at the sides of the plate stay."""
    first, second = first_of(old), second_of(old)
    return pair_of(
        mean(first_of(above), first_of(below), left, second) if i > 0 else first,
        mean(second_of(above), second_of(below), first, right) if i + ONE < pairs else second,
    )


@register_jitable
def one_row(old, cells, new, row, pairs, thread, threads):
    i = thread
    while i < pairs:
        at = row * pairs + i
        new[at] = relaxed(
            i, pairs, old[at - pairs], old[at], old[at + pairs], cells[TWO * at - ONE], cells[TWO * at + TWO]
        )
        i += threads


@register_jitable
def seam_row(old, cells, new, row, beyond, pairs, thread, threads, come, out, takes):
    """The row beside another PE's, which is `beyond` pairs away: it comes as parts of a message, straight into registers, as the
    new cells go."""
    if takes:
        come = dev.begin(come)
    out = dev.begin(out)
    i = thread
    while i < pairs:
        at = row * pairs + i
        theirs = dev.load(come, i) if takes else old[at + beyond]
        pair = relaxed(
            i, pairs, theirs, old[at], old[at - beyond], cells[TWO * at - ONE], cells[TWO * at + TWO]
        )
        dev.store(out, i, pair)
        new[at] = pair
        i += threads
    return dev.end(come) if takes else come, dev.end(out)


@register_jitable
def end_of_seam(rows, begin, pairs, thread, threads, come, out):
    """What the last step sent."""
    come = dev.begin(come)
    i = thread
    while i < pairs:
        rows[begin + i] = dev.load(come, i)
        i += threads
    dev.close(dev.end(come))
    dev.close(out)


@register_jitable
def four_rows(old, cells, new, row, pairs, thread, threads):
    """All that a thread loads is on its way before it stores."""
    i = thread
    while i < pairs:
        at = row * pairs + i
        a, b, c = old[at - pairs], old[at], old[at + pairs]
        d, e, f = old[at + TWO * pairs], old[at + (TWO + ONE) * pairs], old[at + FOUR * pairs]
        side, width = TWO * at, TWO * pairs
        b0, b1 = cells[side - ONE], cells[side + TWO]
        side += width
        c0, c1 = cells[side - ONE], cells[side + TWO]
        side += width
        d0, d1 = cells[side - ONE], cells[side + TWO]
        side += width
        e0, e1 = cells[side - ONE], cells[side + TWO]
        new[at] = relaxed(i, pairs, a, b, c, b0, b1)
        at += pairs
        new[at] = relaxed(i, pairs, b, c, d, c0, c1)
        at += pairs
        new[at] = relaxed(i, pairs, c, d, e, d0, d1)
        at += pairs
        new[at] = relaxed(i, pairs, d, e, f, e0, e1)
        i += threads


def jacobi(team, grid, cells, rows, up, down, flags, steps):
    """grid: the cells of both steps in pairs, cells: the same one by one. A block has two rows at least."""
    rows = U(rows)
    pairs = U(grid.shape[1]) // (rows + TWO)
    threads, thread = U(dev.size(dev.BLOCK)), U(dev.rank(dev.BLOCK))
    blocks, block = U(dev.size(dev.GRID)) // threads, U(dev.rank(dev.GRID)) // threads
    first, last = ONE + rows * block // blocks, rows * (block + ONE) // blocks  # this block's rows
    top, bottom = block == 0, block + ONE == blocks
    above, below = (team.my_pe - 1) % team.n_pes, (team.my_pe + 1) % team.n_pes
    from_above, to_above = dev.inbox(team, down, above, dev.BLOCK), dev.outbox(team, up, above, dev.BLOCK)
    from_below, to_below = dev.inbox(team, up, below, dev.BLOCK), dev.outbox(team, down, below, dev.BLOCK)
    for step in range(steps):
        old, new, single = grid[step & 1], grid[1 - (step & 1)], cells[step & 1]
        # First the rows that others wait for. Those beside them are another PE's, or another block's, which says when they are there.
        if not top:
            dev.local_wait_until(team, flags[block - ONE :], dev.GE, step)
        if not bottom:
            dev.local_wait_until(team, flags[block + ONE :], dev.GE, step)
        dev.meet(team, dev.BLOCK)
        if top:
            from_above, to_above = seam_row(
                old, single, new, first, U(0) - pairs, pairs, thread, threads, from_above, to_above, step > 0
            )
        else:
            one_row(old, single, new, first, pairs, thread, threads)
        if bottom:
            from_below, to_below = seam_row(
                old, single, new, last, pairs, pairs, thread, threads, from_below, to_below, step > 0
            )
        else:
            one_row(old, single, new, last, pairs, thread, threads)
        dev.meet(team, dev.BLOCK)
        if thread == 0:
            dev.local_set(team, flags[block:], step + 1)
        # Then those between.
        row = first + ONE
        while row + FOUR <= last:
            four_rows(old, single, new, row, pairs, thread, threads)
            row += FOUR
        while row < last:
            one_row(old, single, new, row, pairs, thread, threads)
            row += ONE
    if top and steps > 0:
        end_of_seam(grid[steps & 1], U(0), pairs, thread, threads, from_above, to_above)
    if bottom and steps > 0:
        end_of_seam(grid[steps & 1], (rows + ONE) * pairs, pairs, thread, threads, from_below, to_below)


# Registers for as many threads: a block has 65,536.
KERNELS = {threads: dev.kernel(max_registers=65536 // threads)(jacobi) for threads in (512, 1024)}


class Solver:
    """A grid of `rows` rows a PE."""

    def __init__(self, where, rows, width):
        self.where, self.rows = where, rows
        self.u = atoll.zeros((2, rows + 2, width), np.float32, device=where)
        self.cells = self.u.reshape(2, -1)
        self.pairs = self.cells.view(np.uint64)
        self.up, self.down = (dev.mailbox(4 * width, device=where) for _ in range(2))
        self.flags = atoll.zeros(rows, np.uint64, device=where)

    def start(self, whole):
        """`whole`: the rows of all PEs, and of each end one more."""
        band = whole[atoll.my_pe() * self.rows :][: self.rows + 2]
        self.u[...] = np.stack([band, band])
        self.flags[...] = 0
        atoll.barrier_all()

    def run(self, steps, blocks, threads):
        kernel = KERNELS[512 if threads <= 512 else 1024]
        arguments = atoll.WORLD, self.pairs, self.cells, self.rows, self.up, self.down, self.flags, steps
        dev.launch(kernel, blocks, threads, cooperative=True)(*arguments)

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
        for blocks in (2, 4, 8, 16, 32, 64, 132):
            for threads in (64, 128, 256, 512, 1024):
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
