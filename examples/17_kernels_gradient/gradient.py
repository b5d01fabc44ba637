"""Conjugate gradients on a real sparse matrix, in one kernel: atoll run -n 2 gradient.py [cpu|cuda] [rows of
the mountain] [picture.png].

How high is the ground water under a mountain? Rain trickles in and spreads between neighbouring cells, slower
through steep ground. It leaks out of low ground. That is a symmetric positive definite matrix with a row for
each cell of the elevation model of 09_terrain: 138,632 rows of five numbers.

PEs own rows. Written with Numba: the product with the matrix loads other PEs' data directly, and the dot
products are reductions inside the kernel. So the host starts it once and gets the answer.
"""

import sys
import time
from pathlib import Path

import atoll
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "09_terrain"))
import elevation

try:
    import atoll.numba as dev
except ImportError as error:
    sys.exit(f"gradient.py: {error}")

BLOCKS, THREADS = 64, 256  # grid of the kernel on a GPU
TOLERANCE, MOST = 1e-9, 2000


def matrix(height, dx, dy):
    """Return the mountain as a matrix in compressed rows: (starts, columns, values). And the right side: rain
    on each cell.
    """
    cell = np.arange(height.size).reshape(height.shape)
    links = []
    for low, high, length in (
        (np.s_[:, :-1], np.s_[:, 1:], dx),
        (np.s_[:-1], np.s_[1:], dy),
    ):
        slope = (height[high] - height[low]) / length
        conductance = (1 / (1 + 20 * slope**2)).ravel()
        links += [
            (cell[low].ravel(), cell[high].ravel(), -conductance),
            (cell[high].ravel(), cell[low].ravel(), -conductance),
        ]
    i, j, a = (np.concatenate(parts) for parts in zip(*links, strict=True))
    leak = 2e-3 * np.exp(-(height.ravel() - height.min()) / 100)
    diagonal = np.bincount(i, -a, height.size) + leak + 2e-3
    i, j, a = np.append(i, cell), np.append(j, cell), np.append(a, diagonal)
    order = np.lexsort((j, i))
    starts = np.append(0, np.cumsum(np.bincount(i, minlength=height.size)))
    return starts, j[order], a[order], np.full(height.size, 1e-4)


@dev.kernel(cache=True)
def solve(team, starts, columns, values, x, r, w, p, s, partial, sums, log, each, tolerance, most):
    """Conjugate gradients with one reduction in an iteration (Chronopoulos and Gear 1989). r begins as the
    right side.
    """
    own = starts.size - 1
    threads, thread = dev.size(dev.BLOCK), dev.rank(dev.BLOCK)
    me, block, blocks = dev.rank(dev.GRID), dev.rank(dev.GRID) // threads, dev.size(dev.GRID) // threads
    first, gamma, alpha, beta = 0.0, 1.0, 1.0, 0.0
    for iteration in range(most):
        rr, wr = 0.0, 0.0
        for i in dev.grid_range(own):  # w = A r, which also loads rows of other PEs
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                j = columns[k]
                total += values[k] * dev.g(team, r[j % each :], j // each)
            w[i] = total
            rr += r[i] * r[i]
            wr += total * r[i]
        partial[0, me], partial[1, me] = rr, wr
        dev.meet(team, dev.BLOCK)
        if thread == 0:
            for i in range(1, threads):
                rr += partial[0, me + i]
                wr += partial[1, me + i]
            sums[0, block], sums[0, blocks + block] = rr, wr
        dev.meet(team, dev.GRID)
        dev.reduce(team, sums[1, : 2 * blocks], sums[0, : 2 * blocks], dev.SUM, scope=dev.GRID)
        rr, wr = 0.0, 0.0
        for i in range(blocks):  # in the same order everywhere: all threads of all PEs get the same bits
            rr += sums[1, i]
            wr += sums[1, blocks + i]
        if iteration == 0:
            first = rr
            alpha = rr / wr
        else:
            beta = rr / gamma
            alpha = rr / (wr - beta * rr / alpha)
        gamma = rr
        if me == 0:
            log[iteration] = rr / first
        if rr <= tolerance * tolerance * first:
            break
        for i in dev.grid_range(own):
            p[i] = r[i] + beta * p[i]
            s[i] = w[i] + beta * s[i]
            x[i] += alpha * p[i]
            r[i] -= alpha * s[i]
        dev.barrier(team, scope=dev.GRID)  # all PEs have their new r


def product(starts, columns, values, x):
    """Return the matrix times x, by NumPy."""
    return np.add.reduceat(values * x[columns], starts[:-1])


def alone(starts, columns, values, b):
    """Plain conjugate gradients, by NumPy."""
    x, r = np.zeros_like(b), b.copy()
    p, rr = r.copy(), r @ r
    limit = TOLERANCE**2 * rr
    while rr > limit:
        q = product(starts, columns, values, p)
        alpha = rr / (p @ q)
        x += alpha * p
        r -= alpha * q
        rr, before = r @ r, rr
        p = r + rr / before * p
    return x


def draw(file, height, water, log, dx, dy, n, where):
    try:
        import matplotlib
    except ImportError:
        sys.exit("gradient.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.colors import LightSource

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), width_ratios=[1.3, 1], layout="constrained")
    extent = (0, height.shape[1] * dx / 1000, 0, height.shape[0] * dy / 1000)
    shade = LightSource(315, 40).hillshade(height, vert_exag=2, dx=dx, dy=dy)
    shown = left.imshow(water, extent=extent, cmap="YlGnBu")
    left.imshow(shade, extent=extent, cmap="gray", alpha=0.35)
    left.set(title="Ground water under the Jacksboro fault", xlabel="km", ylabel="km")
    figure.colorbar(shown, ax=left, label="head (no unit: conductances are made up)", shrink=0.8)
    right.semilogy(np.sqrt(log))
    right.set(
        title=f"{height.size} unknowns, {n} {'GPUs' if where == 'cuda' else 'CPUs'}, one kernel",
        xlabel="iteration",
        ylabel="residual, of the first",
    )
    right.grid(alpha=0.3)
    figure.savefig(file, dpi=90)
    print(f"picture: {file}")


words = [word for word in sys.argv[1:] if not word.endswith(".png")]
picture_file = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
where = words[0] if words else "cpu"

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
height, dx, dy = elevation.load(False, 1)
height = height[: int(words[1]) if len(words) > 1 else None]
starts, columns, values, b = matrix(height, dx, dy)
each = -(-b.size // n)  # rows of the matrix on a PE; the last PE has fewer
begin, end = min(me * each, b.size), min((me + 1) * each, b.size)
mine = starts[begin : end + 1]

x, r, w, p, s = (atoll.zeros(each, device=where) for _ in range(5))
r[: end - begin] = b[begin:end]
partial, sums, log = (
    atoll.zeros(shape, device=where) for shape in ((2, BLOCKS * THREADS), (2, 2 * BLOCKS), MOST)
)
# Other PEs do not read the matrix, but the kernel needs it in its memory. Every PE has room for the largest
# part.
room = int(atoll.max_reduce(int(mine[-1] - mine[0])))
my_columns, my_values = atoll.zeros(room, np.int64, device=where), atoll.zeros(room, device=where)
my_columns[: mine[-1] - mine[0]] = columns[mine[0] : mine[-1]]
my_values[: mine[-1] - mine[0]] = values[mine[0] : mine[-1]]
my_starts = atoll.zeros(each + 1, np.int64, device=where)
my_starts[: mine.size] = mine - mine[0]

atoll.barrier_all()
start = time.perf_counter()
dev.launch(solve, BLOCKS, THREADS, cooperative=True)(
    atoll.WORLD, my_starts[: mine.size], my_columns, my_values, x, r, w, p, s, partial, sums, log, each, TOLERANCE, MOST
)  # fmt: skip
if where == "cuda":
    from numba import cuda

    cuda.select_device(x.device)
    cuda.synchronize()
atoll.barrier_all()
seconds = time.perf_counter() - start


def host(array):
    return array if where == "cpu" else array.numpy()


found = atoll.collect(np.ascontiguousarray(host(x)[: end - begin]))
if me == 0:
    errors = host(log)
    iterations = int(np.count_nonzero(errors)) - 1
    residual = np.linalg.norm(b - product(starts, columns, values, found)) / np.linalg.norm(b)
    assert residual < 10 * TOLERANCE, residual
    expected = alone(starts, columns, values, b)
    assert np.allclose(found, expected, rtol=1e-6), np.abs(found / expected - 1).max()
    print(
        f"{where}, {n} PEs: {b.size} unknowns, {values.size} numbers, {iterations} iterations in one kernel, {seconds:.2f} s with its "
        f"compilation; residual {residual:.0e}, equal to NumPy's result"
    )
    if picture_file:
        draw(picture_file, height, found.reshape(height.shape), errors[: iterations + 1], dx, dy, n, where)
atoll.finalize()
