"""2-D Jacobi in one kernel that communicates: atoll run -n 2 jacobi.py [cpu|cuda] [rows] [width] [steps]
[picture.png].

Written with Numba. Each PE has a band of rows of a grid that wraps around from the last PE to the first. It
has one more row at either end, whose cells no sum uses: they are beside a row's first and last cell. The
kernel runs all steps; on a CPU the same text is compiled for one thread. `jacobi.py cuda times` prints the
time of a step.
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
U = np.uint64  # the type of indices: Numba checks whether a signed one counts from the end
ONE, TWO, FOUR, EIGHT, LOW, SHIFT = U(1), U(2), U(4), U(8), U(0xFFFFFFFF), U(32)


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


# ---- in pairs of cells, the parts of a message


@register_jitable
def beside(old, at):
    """The cells left and right of a pair."""
    return second_of(old[at - ONE]), first_of(old[at + ONE])


@register_jitable
def relaxed(i, pairs, above, old, below, sides):
    """Return two new cells; those at the sides of the plate do not change."""
    first, second = first_of(old), second_of(old)
    return pair_of(
        mean(first_of(above), first_of(below), sides[0], second) if i > 0 else first,
        mean(second_of(above), second_of(below), first, sides[1]) if i + ONE < pairs else second,
    )


@register_jitable
def column_of(old, new, at, count, pairs, i):
    """Compute column i of `count` rows from `at` on. A thread loads all it needs for four rows before it
    stores.
    """
    a, b = old[at - pairs], old[at]
    while count >= FOUR:
        second = at + pairs
        third = second + pairs
        fourth = third + pairs
        c, d, e, f = old[second], old[third], old[fourth], old[fourth + pairs]
        sides = beside(old, at), beside(old, second), beside(old, third), beside(old, fourth)
        new[at] = relaxed(i, pairs, a, b, c, sides[0])
        new[second] = relaxed(i, pairs, b, c, d, sides[1])
        new[third] = relaxed(i, pairs, c, d, e, sides[2])
        new[fourth] = relaxed(i, pairs, d, e, f, sides[3])
        a, b = e, f
        at = fourth + pairs
        count -= FOUR
    while count > 0:
        c = old[at + pairs]
        new[at] = relaxed(i, pairs, a, b, c, beside(old, at))
        a, b = b, c
        at += pairs
        count -= ONE


@register_jitable
def edge_row(old, new, row, inner, pairs, thread, threads, come, out, sends):
    """Compute the row at the edge of this block, whose inner neighbour is at `inner`.

    The row beyond the edge arrives as parts of a message, in registers, and the new cells leave in the same
    way. All other loads come before the wait.
    """
    i = thread
    while i < pairs:
        at = row * pairs + i
        here, other, sides = old[at], old[inner * pairs + i], beside(old, at)
        pair = relaxed(i, pairs, dev.load(come, i), here, other, sides)
        if sends:
            dev.store(out, i, pair)
        new[at] = pair
        i += threads


@register_jitable
def send_row(cells, row, pairs, thread, threads, out):
    out = dev.begin(out)
    i = thread
    while i < pairs:
        dev.store(out, i, cells[row * pairs + i])
        i += threads
    return dev.end(out)


@register_jitable
def mine(team):
    """Return the numbers of threads, of this thread, of blocks and of this block."""
    threads, thread = U(dev.size(dev.BLOCK)), U(dev.rank(dev.BLOCK))
    return threads, thread, U(dev.size(dev.GRID)) // threads, U(dev.rank(dev.GRID)) // threads


def by_messages(team, cells, grid, rows, up, down, steps):
    """Run all steps with messages between the blocks. cells: the grids of both steps by cells, grid: the same
    by pairs.

    A block has at least two consecutive rows. It sends those at its edges as messages to the blocks above and
    below, of this PE or another. It waits for these two blocks only.
    """
    rows = U(rows)
    pairs = U(grid.shape[1]) // (rows + TWO)
    threads, thread, blocks, block = mine(team)
    first, last = ONE + rows * block // blocks, rows * (block + ONE) // blocks
    # With enough threads, some compute the first row, others the last, and others those between. A thread
    # that computed both edges would take longer than a message is in flight.
    across = min(threads, pairs)
    other = (thread + threads - across) % threads
    workers = threads - TWO * across if threads >= FOUR * across else threads
    worker = thread - (threads - workers)
    bands, band = workers // across, worker // across
    between = last - first - ONE
    row = first + ONE + between * band // bands
    count = first + ONE + between * (band + ONE) // bands - row if band < bands else U(0)

    above = team.my_pe if block > 0 else (team.my_pe - 1) % team.n_pes
    below = team.my_pe if block + ONE < blocks else (team.my_pe + 1) % team.n_pes
    # A block owns the mailboxes that it sends to.
    from_above = dev.inbox(team, dev.nth(down, (block + blocks - ONE) % blocks), above, dev.BLOCK)
    from_below = dev.inbox(team, dev.nth(up, (block + ONE) % blocks), below, dev.BLOCK)
    to_above = dev.outbox(team, dev.nth(up, block), above, dev.BLOCK)
    to_below = dev.outbox(team, dev.nth(down, block), below, dev.BLOCK)
    if steps > 0:
        to_above = send_row(grid[0], first, pairs, thread, threads, to_above)
        to_below = send_row(grid[0], last, pairs, thread, threads, to_below)

    for step in range(steps):
        old, new = grid[step & 1], grid[1 - (step & 1)]
        sends = step + 1 < steps
        # The rows that other blocks wait for come first.
        from_above, from_below = dev.begin(from_above), dev.begin(from_below)
        if sends:
            to_above, to_below = dev.begin(to_above), dev.begin(to_below)
        edge_row(old, new, first, first + ONE, pairs, thread, threads, from_above, to_above, sends)
        edge_row(old, new, last, last - ONE, pairs, other, threads, from_below, to_below, sends)
        if count > 0:
            i = worker % across
            while i < pairs:
                column_of(old, new, row * pairs + i, count, pairs, i)
                i += across
        from_above, from_below = dev.end(from_above), dev.end(from_below)
        if sends:
            to_above, to_below = dev.end(to_above), dev.end(to_below)
        dev.meet(team, dev.BLOCK)
    dev.close(from_above)
    dev.close(from_below)
    dev.close(to_above)
    dev.close(to_below)


# ---- in fours of cells: 16 bytes, the most that a thread loads or stores at once


@register_jitable
def sides_of(cells, at):
    return cells[at - ONE], cells[at + FOUR]


@register_jitable
def four(column, width, above, old, below, sides):
    """Return four new cells; those at the sides of the plate do not change."""
    return (
        mean(above[0], below[0], sides[0], old[1]) if column > 0 else old[0],
        mean(above[1], below[1], old[0], old[2]),
        mean(above[2], below[2], old[1], old[3]),
        mean(above[3], below[3], old[2], sides[1]) if column + FOUR < width else old[3],
    )


@register_jitable
def one_row(old, new, at, column, width):
    a, b, c = dev.load_wide(old, at - width), dev.load_wide(old, at), dev.load_wide(old, at + width)
    dev.store_wide(new, at, four(column, width, a, b, c, sides_of(old, at)))


@register_jitable
def eight_rows(old, new, at, column, width):
    """Compute eight rows. All loads of a thread are in flight before it stores: latency bounds it, not
    bandwidth.
    """
    at_2 = at + width
    at_3 = at_2 + width
    at_4 = at_3 + width
    at_5 = at_4 + width
    at_6 = at_5 + width
    at_7 = at_6 + width
    at_8 = at_7 + width
    above, row_1, row_2 = dev.load_wide(old, at - width), dev.load_wide(old, at), dev.load_wide(old, at_2)
    row_3, row_4, row_5 = dev.load_wide(old, at_3), dev.load_wide(old, at_4), dev.load_wide(old, at_5)
    row_6, row_7, row_8 = dev.load_wide(old, at_6), dev.load_wide(old, at_7), dev.load_wide(old, at_8)
    below = dev.load_wide(old, at_8 + width)
    sides_1, sides_2, sides_3, sides_4 = (
        sides_of(old, at),
        sides_of(old, at_2),
        sides_of(old, at_3),
        sides_of(old, at_4),
    )
    sides_5, sides_6, sides_7, sides_8 = (
        sides_of(old, at_5),
        sides_of(old, at_6),
        sides_of(old, at_7),
        sides_of(old, at_8),
    )
    dev.store_wide(new, at, four(column, width, above, row_1, row_2, sides_1))
    dev.store_wide(new, at_2, four(column, width, row_1, row_2, row_3, sides_2))
    dev.store_wide(new, at_3, four(column, width, row_2, row_3, row_4, sides_3))
    dev.store_wide(new, at_4, four(column, width, row_3, row_4, row_5, sides_4))
    dev.store_wide(new, at_5, four(column, width, row_4, row_5, row_6, sides_5))
    dev.store_wide(new, at_6, four(column, width, row_5, row_6, row_7, sides_6))
    dev.store_wide(new, at_7, four(column, width, row_6, row_7, row_8, sides_7))
    dev.store_wide(new, at_8, four(column, width, row_7, row_8, below, sides_8))


@register_jitable
def sweep(old, new, rows, width, thread, threads, worker, workers, forth):
    """Compute this block's share of rows 2 … rows - 1, in pieces of eight rows and as many columns as its
    threads have.

    Every other step runs backwards, since the cache still holds what was written last. A block keeps its
    pieces: the cache has two halves, and its pieces are in the near one.
    """
    strips = (width + FOUR * threads - ONE) // (FOUR * threads)
    pieces = strips * ((rows - TWO + EIGHT - ONE) // EIGHT)
    turns = (pieces + workers - ONE - worker) // workers
    turn = U(0)
    while turn < turns:
        piece = worker + workers * (turn if forth else turns - ONE - turn)
        row, column = TWO + EIGHT * (piece // strips), FOUR * (piece % strips * threads + thread)
        if column < width:
            if row + EIGHT <= rows:
                eight_rows(old, new, row * width + column, column, width)
            else:
                while row < rows:
                    one_row(old, new, row * width + column, column, width)
                    row += ONE
        turn += ONE


def by_meetings(team, cells, grid, rows, up, down, steps):
    """Run all steps for large grids, with a barrier of the PE's blocks after each.

    The blocks take pieces in turn, so that all work in one region of memory. A row that another PE needs is
    sent as a message, as above. Only the first and the last block do that. Unless they are the only blocks,
    they do nothing else, so that their state takes no registers in the others' loop.
    """
    rows = U(rows)
    width = U(cells.shape[1]) // (rows + TWO)
    pairs = width // TWO
    threads, thread, blocks, block = mine(team)
    top, bottom, few = block == 0, block + ONE == blocks, blocks <= TWO
    if not (top or bottom):
        for step in range(steps):
            this, other = step & 1, 1 - (step & 1)
            sweep(
                cells[this], cells[other], rows, width, thread, threads, block - ONE, blocks - TWO, this == 0
            )
            dev.meet(team, dev.GRID)
        return

    above, below = (team.my_pe - 1) % team.n_pes, (team.my_pe + 1) % team.n_pes
    from_above = dev.inbox(team, dev.nth(down, 0), above, dev.BLOCK)
    from_below = dev.inbox(team, dev.nth(up, 0), below, dev.BLOCK)
    to_above = dev.outbox(team, dev.nth(up, 0), above, dev.BLOCK)
    to_below = dev.outbox(team, dev.nth(down, 0), below, dev.BLOCK)
    if top and steps > 0:
        to_above = send_row(grid[0], ONE, pairs, thread, threads, to_above)
    if bottom and steps > 0:
        to_below = send_row(grid[0], rows, pairs, thread, threads, to_below)
    for step in range(steps):
        this, other = step & 1, 1 - (step & 1)
        sends = step + 1 < steps
        if top:
            from_above = dev.begin(from_above)
            if sends:
                to_above = dev.begin(to_above)
            edge_row(grid[this], grid[other], ONE, TWO, pairs, thread, threads, from_above, to_above, sends)
            from_above = dev.end(from_above)
            if sends:
                to_above = dev.end(to_above)
        if bottom:
            from_below = dev.begin(from_below)
            if sends:
                to_below = dev.begin(to_below)
            edge_row(
                grid[this], grid[other], rows, rows - ONE, pairs, thread, threads, from_below, to_below, sends
            )
            from_below = dev.end(from_below)
            if sends:
                to_below = dev.end(to_below)
        if few:
            sweep(cells[this], cells[other], rows, width, thread, threads, block, blocks, this == 0)
        dev.meet(team, dev.GRID)
    if top:
        dev.close(from_above)
        dev.close(to_above)
    if bottom:
        dev.close(from_below)
        dev.close(to_below)


# A multiprocessor has 65,536 registers, too few for more than 512 threads of this kernel. Spilled registers
# would be slow, since every wait for another block empties the L1 cache.
MULTIPROCESSORS, MOST_THREADS = 132, 512
WAYS = {
    way: dev.kernel(cache=True, max_registers=65536 // MOST_THREADS)(way)
    for way in (by_messages, by_meetings)
}


class Solver:
    """A grid of `rows` rows on each PE, with a mailbox each way for every block."""

    def __init__(self, where, rows, width, blocks):
        if width % 4 != 0:
            sys.exit(f"jacobi.py: the width is {width}; it must be a multiple of 4")
        self.where, self.rows = where, rows
        self.u = atoll.zeros((2, rows + 2, width), np.float32, device=where)
        self.cells = self.u.reshape(2, -1)
        self.pairs = self.cells.view(np.uint64)
        self.up, self.down = (dev.mailbox(4 * width, count=blocks, device=where) for _ in range(2))

    def start(self, whole):
        """`whole`: the rows of all PEs, and one more at each end."""
        band = whole[atoll.my_pe() * self.rows :][: self.rows + 2]
        self.u[...] = np.stack([band, band])
        atoll.barrier_all()

    def run(self, way, steps, blocks, threads):
        arguments = atoll.WORLD, self.cells, self.pairs, self.rows, self.up, self.down, steps
        dev.launch(WAYS[way], blocks, threads, cooperative=True)(*arguments)

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
    """A plate with a hot left side and hot spots, its first row after its last and its last before its first."""
    whole = np.zeros((rows + 2, width), np.float32)
    whole[:, 0] = 1
    random = np.random.default_rng(1)
    for _ in range(12):
        r, k, size = random.integers(rows), random.integers(width), max(2, rows // 12)
        whole[max(r - size, 1) : r + size, max(k - size, 0) : k + size] += 1
    whole[0], whole[-1] = whole[rows], whole[1]
    return whole


def alone(whole, steps):
    """Compute the same by NumPy."""
    for _ in range(steps):
        inner = whole[:-2, 1:-1] + whole[2:, 1:-1] + (whole[1:-1, :-2] + whole[1:-1, 2:])
        whole[1:-1, 1:-1] = QUARTER * inner
        whole[0], whole[-1] = whole[-2], whole[1]
    return whole


def measured(solver, way, steps, blocks, threads):
    """Return the microseconds of a step, or infinity if that many blocks cannot run at once."""
    from numba import cuda

    begin, end = cuda.event(), cuda.event()
    for _ in range(2):  # the first run warms up
        atoll.barrier_all()
        begin.record()
        try:
            solver.run(way, steps, blocks, threads)
        except ValueError:
            return float("inf")
        end.record()
        end.synchronize()
        atoll.barrier_all()
    return atoll.max_reduce(1e3 * begin.elapsed_time(end) / steps)


def times():
    """Print the time of a step in microseconds, for the best of some numbers of blocks and threads. For GPUs."""
    from numba import cuda

    for size in (64, 128, 256, 512, 1024, 2048, 4096, 8192):
        way = by_messages if size <= 1024 else by_meetings
        solver = Solver("cuda", size, size, MULTIPROCESSORS if way is by_messages else 1)
        cuda.select_device(solver.u.device)
        solver.start(beginning(atoll.n_pes() * size, size))
        steps, best = 2000 if size < 4096 else 200, 1e30
        for blocks in (2, 4, 8, 16, 32, 64, 128, 132, 264, 528):
            for threads in (64, 128, 256, 512):
                many = blocks * threads >= min(size * size // 64, 32768)
                if 2 * blocks <= size and many and (blocks <= MULTIPROCESSORS or way is by_meetings):
                    best = min(best, measured(solver, way, steps, blocks, threads))
        if atoll.my_pe() == 0:
            row = {"side": "atoll", "op": f"Jacobi step, Numba, {size} x {size} a GPU", "bytes": 4 * size}
            print(json.dumps({**row, "pes": atoll.n_pes(), "median_us": round(best, 4)}), flush=True)
        for array in (solver.u, solver.up.block, solver.down.block):
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
    blocks = max(1, min(rows // 2, 64))
    solver, whole = Solver(where, rows, width, blocks), beginning(n * rows, width)
    after = alone(whole.copy(), steps)
    for way in WAYS:
        solver.start(whole)
        solver.run(way, steps, blocks, 128)
        found = solver.result(steps)
        assert np.array_equal(found, after[1 + me * rows :][:rows]), "differs from the result of one PE alone"
    if me == 0:
        print(
            f"{where}, {n} PEs: {steps} steps of {n * rows} x {width} cells in one kernel, as one PE alone computes"
        )
    everything = atoll.gather(np.ascontiguousarray(found), 0)
    if me == 0 and picture:
        draw(picture, whole[1:-1], everything.reshape(n * rows, width), steps, n, where)
atoll.finalize()
