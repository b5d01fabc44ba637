"""Rain on a real mountain in one kernel, on CPUs or GPUs by one argument: atoll run -n 2 water.py [cpu|cuda]
[steps] [picture.png].

The scheme, the mountain and the picture are those of 09_terrain; here all time steps are one kernel, written
with Numba. The PEs communicate inside it, between two barriers of all threads of all PEs. The deepest water
of all determines the length of a step (reduce), and two rows go to the neighbours (put).
"""

import math
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import atoll
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "09_terrain"))
import elevation
from solver import DRY, GRAVITY, LONGEST_STEP, QUANTUM, ROUND, Water, quanta, rain_on, time_step

try:
    import atoll.numba as dev
    from numba.extending import register_jitable
except ImportError as error:
    sys.exit(f"water.py: {error}")

RAIN, MANNING = 30 / 3.6e6, 0.05  # m/s; the roughness of the ground
BLOCKS, THREADS = 64, 256  # grid of the kernel on a GPU


@register_jitable  # for CPUs and GPUs
def flow_through(q, ground_low, ground_high, depth_low, depth_high, dt, spacing):
    """Do the work of Faces.move of 09_terrain/solver.py for one face: return the new flow, and the depth that
    crosses.
    """
    low, high = ground_low + depth_low, ground_high + depth_high
    h = max(max(low, high) - max(ground_low, ground_high), DRY)
    q -= (high - low) * h * (GRAVITY * dt / spacing)
    friction = GRAVITY * MANNING * MANNING * dt * abs(q) / (h * h * math.pow(h, 1 / 3))
    q /= 0.5 + math.sqrt(0.25 + friction)
    crosses = min(q * (dt / spacing), 0.25 * depth_low - QUANTUM / 2)
    crosses = max(crosses, QUANTUM / 2 - 0.25 * depth_high)
    return q, crosses + ROUND - ROUND


@dev.kernel(cache=True)
def rain(team, ground, depth, flow_x, flow_y, moved_x, moved_y, most, top, clock, sizes, steps, dx, dy):
    rows, rows_of_north = sizes[0], sizes[1]
    columns = depth.shape[1]
    threads, thread = dev.size(dev.BLOCK), dev.rank(dev.BLOCK)
    me, block, blocks = dev.rank(dev.GRID), dev.rank(dev.GRID) // threads, dev.size(dev.GRID) // threads
    north, south = team.my_pe - 1, team.my_pe + 1
    begin = 0 if north >= 0 else 1  # faces between rows k and k + 1; the raster's edges have no faces
    end = rows + 1 if south < team.n_pes else rows
    now = clock[0]
    for _ in range(steps):
        # The deepest water: of this thread's cells, of its block's, of the same block on all PEs, of all.
        deep = 0.0
        for i in dev.grid_range(rows * columns):
            deep = max(deep, depth[1 + i // columns, i % columns])
        most[me] = deep
        dev.meet(team, dev.BLOCK)
        if thread == 0:
            for i in range(threads):
                deep = max(deep, most[me + i])
            top[block] = deep
        dev.meet(team, dev.GRID)
        dev.reduce(team, top[blocks : 2 * blocks], top[:blocks], dev.MAX, scope=dev.GRID)
        deep = 0.0
        for i in range(blocks):
            deep = max(deep, top[blocks + i])
        dt = LONGEST_STEP
        if deep > 0:
            dt = min(dt, 0.7 * min(dx, dy) / math.sqrt(GRAVITY * deep))
        # After the reduction, all PEs have finished reading the last step's rows of others.
        if block == 0 and north >= 0:
            dev.put(team, depth[rows_of_north + 1], depth[1], north, scope=dev.BLOCK)
        if block == blocks - 1 and south < team.n_pes:
            dev.put(team, depth[0], depth[rows], south, scope=dev.BLOCK)
        dev.barrier(team, scope=dev.GRID)
        for i in dev.grid_range(rows * (columns - 1)):
            r, c = 1 + i // (columns - 1), i % (columns - 1)
            flow_x[r - 1, c], moved_x[r - 1, c] = flow_through(
                flow_x[r - 1, c], ground[r, c], ground[r, c + 1], depth[r, c], depth[r, c + 1], dt, dx
            )
        for i in dev.grid_range((end - begin) * columns):
            r, c = begin + i // columns, i % columns
            flow_y[r, c], moved_y[r, c] = flow_through(
                flow_y[r, c], ground[r, c], ground[r + 1, c], depth[r, c], depth[r + 1, c], dt, dy
            )
        dev.meet(team, dev.GRID)
        fallen = RAIN * dt + ROUND - ROUND
        for i in dev.grid_range(rows * columns):
            r, c = i // columns, i % columns
            gain = moved_y[r, c] - moved_y[r + 1, c] + fallen
            if c > 0:
                gain += moved_x[r, c - 1]
            if c < columns - 1:
                gain -= moved_x[r, c]
            depth[r + 1, c] += gain
        now += dt
        if me == 0:
            clock[0], clock[1] = now, clock[1] + fallen


def alone(ground, dx, dy, steps):
    """Compute the same by NumPy, on one PE."""
    padded = np.pad(ground, ((1, 1), (0, 0)), mode="edge")
    water = Water(padded, np.zeros_like(padded), dx, dy, MANNING)
    for _ in range(steps):
        dt = time_step(water.deepest(), min(dx, dy))
        water.look(1, water.rows + 1)
        for faces in water.inner:
            faces.move(dt)
        rain_on(water, RAIN, dt)
    return water.own


def draw(file, ground, depth, discharge, dx, dy, hours, n, where, steps):
    import picture

    headline = f"Rain on the Jacksboro fault, Tennessee: {RAIN * 3.6e6:g} mm/h for {hours:.3g} hours"
    small_print = (
        f"Shallow water, local-inertial scheme; {ground.shape[0]} x {ground.shape[1]} cells, {steps} steps in one kernel "
        f"written with Numba, on {n} {'GPUs' if where == 'cuda' else 'CPUs'} with Atoll"
    )
    picture.save(file, ground, depth, discharge, dx, dy, headline, small_print)
    print(f"picture: {file}")


words = [word for word in sys.argv[1:] if not word.endswith(".png")]
picture_file = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
where = words[0] if words else "cpu"
steps = int(words[1]) if len(words) > 1 else 200

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
ground, dx, dy = elevation.load(False, 1)
bounds = [pe * len(ground) // n for pe in range(n + 1)]
first, last = bounds[me], bounds[me + 1]
rows, columns = last - first, ground.shape[1]
tall = -(-len(ground) // n) + 2  # rows of every PE's arrays, equal: its own between two of its neighbours'


def array(*shape):
    return atoll.zeros(shape, device=where)


depth, terrain = array(tall, columns), array(tall, columns)
flow_x, moved_x = array(tall, columns - 1), array(tall, columns - 1)
flow_y, moved_y = array(tall, columns), array(tall, columns)
most, top, clock = array(BLOCKS * THREADS), array(2 * BLOCKS), array(2)
sizes = atoll.array([rows, first - bounds[me - 1] if me else 0], np.int64, device=where)
terrain[: rows + 2] = np.pad(ground, ((1, 1), (0, 0)), mode="edge")[first : last + 2]

atoll.barrier_all()
start = time.perf_counter()
dev.launch(rain, BLOCKS, THREADS, cooperative=True)(
    atoll.WORLD, terrain, depth, flow_x, flow_y, moved_x, moved_y, most, top, clock, sizes, steps, dx, dy
)
if where == "cuda":
    from numba import cuda

    cuda.select_device(depth.device)
    cuda.synchronize()
atoll.barrier_all()
seconds = time.perf_counter() - start


def host(x):
    return x if where == "cpu" else x.numpy()


mine = SimpleNamespace(rows=rows, columns=columns, dx=dx, dy=dy)
mine.flow_x, mine.flow_y = host(flow_x)[:rows], host(flow_y)[: rows + 1]
whole = atoll.collect(np.ascontiguousarray(host(depth)[1 : rows + 1]))
discharge = atoll.collect(Water.discharge(mine))
if me == 0:
    hours, fallen = host(clock)[0] / 3600, host(clock)[1]
    lost = quanta(np.full_like(whole, fallen)) - quanta(whole)
    assert lost == 0, f"{lost} quanta of water are unaccounted for"
    expected = alone(ground, dx, dy, steps)
    assert np.allclose(whole, expected, rtol=1e-6, atol=1e-7), np.abs(whole - expected).max()
    print(
        f"{where}, {n} PEs: {steps} steps of {len(ground)} x {columns} cells in one kernel, {seconds:.2f} s with its compilation. No "
        f"water is lost; depths are equal to NumPy's (largest difference {np.abs(whole - expected).max():.1e} m)"
    )
    if picture_file:
        draw(picture_file, ground, whole, discharge, dx, dy, hours, n, where, steps)
atoll.finalize()
