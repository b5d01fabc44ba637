"""Rain on a real mountain: shallow water by several PEs.     atoll run -n 4 terrain.py

The depths are one distributed array, whose rows are split over the PEs. In each time step a PE sends its first and
its last row to its neighbours. Meanwhile it computes all its inner rows, and then those that need the neighbours'
rows.
"""

import argparse
import hashlib
import os
import sys
import time
from pathlib import Path

import atoll
import elevation
import numpy as np
import progress
from atoll import arrays
from solver import QUANTUM, Brink, Water, quanta, rain_on, time_step


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0].split("     ")[0])
    parser.add_argument("--hours", type=float, default=6.0, help="how long it rains (default: %(default)s)")
    parser.add_argument("--steps", type=int, help="stop after so many steps")
    parser.add_argument("--rain", type=float, default=30.0, help="mm per hour (default: %(default)s)")
    parser.add_argument(
        "--manning", type=float, default=0.05, help="roughness of the ground (default: %(default)s)"
    )
    parser.add_argument("--refine", type=int, default=1, metavar="K", help="K x K cells for one, bilinear")
    parser.add_argument(
        "--open", action="store_true", help="water may leave at the edges (default: it may not)"
    )
    parser.add_argument("--synthetic", action="store_true", help="a made-up mountain instead of matplotlib's")
    parser.add_argument("--rows", type=int, help="only so many rows of the ground, from the north")
    parser.add_argument(
        "--output", type=Path, default=Path("terrain.png"), help="the picture (default: %(default)s)"
    )
    parser.add_argument("--no-picture", action="store_true", help="compute only")
    parser.add_argument(
        "--check", action="store_true", help="compute it once more on one PE alone, compare every bit"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    choice = parser.parse_args()
    if choice.rows is not None and choice.rows < 1:
        parser.error("--rows must be positive")
    if choice.hours <= 0 or choice.rain < 0 or choice.manning <= 0 or choice.refine < 1:
        parser.error("--hours, --manning and --refine must be positive, --rain not negative")
    if not choice.no_picture:
        if not choice.output.resolve().parent.is_dir():
            parser.error(f"--output: there is no folder {choice.output.resolve().parent}")
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            parser.error("the picture needs matplotlib: pip install matplotlib   (or run with --no-picture)")
    return choice


class Slab:
    """The rows of one PE as a part of the raster, by default all of it: their depths, and the edges that they touch."""

    def __init__(self, ground, dx, dy, choice, rows=None, depth=None):
        self.choice, self.ground, self.dx, self.dy = choice, ground, dx, dy
        self.spacing = min(dx, dy)
        first, last = rows or (0, len(ground))
        padded = np.pad(ground, ((1, 1), (0, 0)), mode="edge")[first : last + 2]
        depth = np.zeros_like(padded) if depth is None else depth
        self.water = water = Water(padded, depth, dx, dy, choice.manning)
        self.has_north, self.has_south = first > 0, last < len(ground)
        self.brinks = []
        if choice.open:
            self.brinks += [Brink(water, np.s_[1:-1, side], dx) for side in (0, -1)]
            self.brinks += [] if self.has_north else [Brink(water, np.s_[1], dy)]
            self.brinks += [] if self.has_south else [Brink(water, np.s_[-2], dy)]
        self.time, self.steps, self.rained, self.spilled = 0.0, 0, 0, 0

    def finished(self):
        return self.time >= 3600 * self.choice.hours or self.steps == self.choice.steps

    def step(self, deepest, wait_for_neighbours=lambda: None):
        """Do one time step. It reads no row of a neighbour before `wait_for_neighbours` returns."""
        water = self.water
        dt = min(time_step(deepest, self.spacing), 3600 * self.choice.hours - self.time)
        water.look(1, water.rows + 1)
        before = [brink.depth.copy() for brink in self.brinks]
        for faces in water.inner:
            faces.move(dt)
        self.spilled += sum(brink.spill(b, dt) for brink, b in zip(self.brinks, before, strict=True))
        wait_for_neighbours()
        if self.has_north:
            water.look(0, 1)
            water.north.move(dt)
        if self.has_south:
            water.look(water.rows + 1, water.rows + 2)
            water.south.move(dt)
        self.rained += rain_on(water, self.choice.rain / 3.6e6, dt)
        self.time += dt
        self.steps += 1


class Clock:
    """Measures the time that a PE spends in communication: `with clock:`. Wall and processor time, in
    seconds.
    """

    def __init__(self):
        self.wall = self.processor = 0.0

    def __enter__(self):
        self.start = time.perf_counter(), time.thread_time()

    def __exit__(self, *_):
        self.wall += time.perf_counter() - self.start[0]
        self.processor += time.thread_time() - self.start[1]


def rain_together(ground, dx, dy, choice):
    """Run the simulation on all PEs. Return this PE's slab, the depths of all, and two clocks: all, and communication."""
    depth = arrays.zeros(ground.shape, dist=["block", "whole"], halo=[1, 0])  # a ghost row above and below
    slab = Slab(ground, dx, dy, choice, depth.bounds()[0], depth.local_with_halo)

    def wait_for_neighbours():
        with communication:
            depth.finish_halo()

    bar = progress.bar(choice.hours, choice.quiet or atoll.my_pe() != 0)
    everything, communication = Clock(), Clock()
    atoll.barrier_all()
    with everything:
        while not slab.finished():
            deepest = slab.water.deepest()
            with communication:
                depth.start_halo()
                deepest = float(atoll.max_reduce(deepest))
            slab.step(deepest, wait_for_neighbours)
            bar.to(slab.time / 3600)
    bar.close()
    return slab, depth, everything, communication


def rain_alone(ground, dx, dy, choice):
    """Run the same on one PE, without Atoll."""
    slab = Slab(ground, dx, dy, choice)
    while not slab.finished():
        slab.step(slab.water.deepest())
    return slab


def main():
    choice = options()
    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    ground, dx, dy = elevation.load(choice.synthetic, choice.refine)
    ground = ground[: choice.rows]
    if n > len(ground):
        if me == 0:
            refusal = f"{n} PEs cannot share {len(ground)} rows: run with at most {len(ground)}, or --refine"
            print(refusal, file=sys.stderr)
        atoll.finalize()  # waits for all: the first PE that fails ends the others
        sys.exit(1)

    slab, depth, everything, communication = rain_together(ground, dx, dy, choice)

    # Depths are multiples of QUANTUM, so the sums are integers and exact.
    stored, spilled = atoll.sum_reduce(np.array([quanta(slab.water.own), slab.spilled], np.int64))
    clocks = (everything.wall, everything.processor, communication.wall, communication.processor)
    clocks = atoll.sum_reduce(np.array(clocks))
    whole_depth = depth.gather(0)
    whole_discharge = arrays.from_array(local=slab.water.discharge()).gather(0)

    right = True
    if me == 0:
        right = report(slab, whole_depth, int(stored), int(spilled), clocks)
        if not choice.no_picture:
            draw(slab, whole_depth, whole_discharge)
    atoll.finalize()
    sys.exit(0 if right else 1)


def report(slab, depth, stored, spilled, clocks):
    """Print the result and its times. Return True if it is right."""
    n, cores = atoll.n_pes(), len(os.sched_getaffinity(0))
    choice, ground, dx, dy = slab.choice, slab.ground, slab.dx, slab.dy
    rained = slab.rained * ground.size
    volume = QUANTUM * dx * dy / 1e6
    lost = rained - stored - spilled
    seconds = clocks[0] / n
    rate = ground.size * slab.steps / seconds / 1e6
    print(f"{ground.shape[0]} x {ground.shape[1]} cells, {slab.steps} steps, {n} PEs: {seconds:.1f} s")
    print(
        f"{rate:.1f} million cell updates per second; communication took {clocks[3] / clocks[1]:.0%} of the processors' time"
    )
    print(
        f"{clocks[2] / clocks[0]:.0%} of the elapsed time went into communication and waiting for it"
        + (f" ({n} PEs share {cores} cores)" if n > cores else "")
    )
    print(
        f"water: {rained * volume:.6f} million m³ rained = {stored * volume:.6f} stored + {spilled * volume:.6f} left"
        f"; unaccounted for: {lost * volume:g}"
    )
    digest = hashlib.sha256(depth.tobytes()).hexdigest()[:16]
    print(f"depths: {digest}, on this machine the same bits for any number of PEs")
    right = lost == 0 and depth.min() >= 0
    if choice.check:
        same = np.array_equal(rain_alone(ground, dx, dy, choice).water.own, depth)
        print(f"check: {'the same, bit for bit, as' if same else 'DIFFERENT from'} a run on one PE alone")
        right = right and same
    return right


def draw(slab, depth, discharge):
    import picture

    choice, ground, dx, dy = slab.choice, slab.ground, slab.dx, slab.dy
    place = "A made-up volcano" if choice.synthetic else "Rain on the Jacksboro fault, Tennessee"
    headline = f"{place}: {choice.rain:g} mm/h for {slab.time / 3600:.3g} hours"
    small_print = (
        f"Shallow water, local-inertial scheme (Bates, Horritt, Fewtrell 2010); {ground.shape[0]} x {ground.shape[1]} cells "
        f"of {dx:.0f} x {dy:.0f} m, {slab.steps} steps, Manning n = {choice.manning:g}. Computed by {atoll.n_pes()} PEs with Atoll"
    )
    picture.save(choice.output, ground, depth, discharge, dx, dy, headline, small_print)
    print(f"picture: {choice.output.resolve()}")


main()
