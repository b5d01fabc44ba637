"""Shallow water on a raster, by the local-inertial scheme of Bates, Horritt and Fewtrell (2010), in NumPy.

doi:10.1016/j.jhydrol.2010.03.027. One thing differs. The paper's friction takes |q| of the previous step;
here it is that of the step itself, the positive root of a quadratic equation. With the former, thin sheets of
water on steep ground oscillate between too much and too little; with the latter they do not.

Nothing here knows of PEs: a `Water` holds some rows of the raster between two ghost rows, which its user
fills.

Every depth is a multiple of QUANTUM (2**-40 m, a picometre) and below 4096 m. So a double holds it exactly,
and all sums and differences of depths too. The amount that leaves a cell is exactly what its neighbour gets,
in whatever order. So mass is conserved exactly, and the result does not depend on how the rows are split.
"""

import math

import numpy as np

GRAVITY = 9.81
QUANTUM = 2.0**-40
# Adding and then subtracting it rounds to QUANTUM, the distance of doubles from 2**12 to 2**13.
ROUND = 1.5 * 2.0**12
DRY = 1e-6  # m; keeps the friction of a dry face finite
BLOCK = 16384  # faces of one pass, so that all their arrays fit the cache
LONGEST_STEP = 10.0  # s


def quanta(depths):
    """Return the sum of `depths` in units of QUANTUM, as an integer: exact in any order."""
    return int((depths * (1 / QUANTUM)).astype(np.int64).sum())


class Faces:
    """The faces between the cells `low` and their neighbours `high` to the south or east."""

    def __init__(self, water, low, high, flow, spacing):
        self.surface = water.surface[low], water.surface[high]
        self.depth = water.depth[low], water.depth[high]
        self.limit = water.limit[low], water.minus_limit[high]
        self.sill = np.maximum(water.ground[low], water.ground[high])
        self.flow = flow  # m²/s towards `high`; kept from step to step, since water has inertia
        self.spacing = spacing
        self.friction = GRAVITY * water.manning**2
        self.scratch = [np.empty(flow.shape) for _ in range(3)]

    def move(self, dt):
        """Update the flow and move the water, in arrays that exist already."""
        low, high = self.surface
        q = self.flow
        a, b, c = self.scratch
        # The depth h that flows: from the higher surface down to the higher ground.
        np.maximum(low, high, out=a)
        np.subtract(a, self.sill, out=a)
        np.maximum(a, DRY, out=a)
        # Pull:  b = g h dt (slope of the surface)
        np.subtract(high, low, out=b)
        np.multiply(b, a, out=b)
        np.multiply(b, GRAVITY * dt / self.spacing, out=b)
        np.subtract(q, b, out=q)
        # Friction:  q' = q / (1 + g dt n² |q'| / h^(7/3)), solved for q'
        np.cbrt(a, out=c)
        np.multiply(a, a, out=a)
        np.multiply(a, c, out=a)
        np.abs(q, out=c)
        np.multiply(c, self.friction * dt, out=c)
        np.divide(c, a, out=c)
        np.add(c, 0.25, out=c)
        np.sqrt(c, out=c)
        np.add(c, 0.5, out=c)
        np.divide(q, c, out=q)
        # The volume that crosses, as a change of depth: at most a quarter of the giving cell's depth, so that
        # none gets negative.
        np.multiply(q, dt / self.spacing, out=b)
        np.minimum(b, self.limit[0], out=b)
        np.maximum(b, self.limit[1], out=b)
        np.add(b, ROUND, out=b)
        np.subtract(b, ROUND, out=b)
        low, high = self.depth
        np.subtract(low, b, out=low)
        np.add(high, b, out=high)


class Brink:
    """Cells at an open edge of the raster, over which water falls at critical flow, q = h sqrt(g h)."""

    def __init__(self, water, cells, spacing):
        self.depth = water.depth[cells]
        self.limit = water.limit[cells]
        self.spacing = spacing

    def spill(self, before, dt):
        """Remove water, by the depths `before`; return the amount in quanta."""
        gone = np.minimum(before * np.sqrt(GRAVITY * before) * (dt / self.spacing), self.limit)
        gone = gone + ROUND - ROUND
        self.depth -= gone
        return quanta(gone)


class Water:
    """Rows of the raster, with a ghost row above and below. `depth` may be any array of ground's shape: a symmetric one."""

    def __init__(self, ground, depth, dx, dy, manning):
        self.ground, self.depth = ground, depth
        self.dx, self.dy, self.manning = dx, dy, manning
        self.rows, self.columns = ground.shape[0] - 2, ground.shape[1]
        self.own = depth[1:-1]
        self.surface, self.limit, self.minus_limit = (np.zeros_like(ground) for _ in range(3))
        self.flow_x = np.zeros((self.rows, self.columns - 1))
        self.flow_y = np.zeros((self.rows + 1, self.columns))  # face k is between rows k and k + 1
        self.inner = []
        height = max(1, BLOCK // self.columns)
        for first in range(1, self.rows + 1, height):
            last = min(first + height, self.rows + 1)
            self.inner.append(self.faces_x(first, last))
            if min(last, self.rows) > first:
                self.inner.append(self.faces_y(first, min(last, self.rows)))
        self.north = self.faces_y(0, 1)
        self.south = self.faces_y(self.rows, self.rows + 1)

    def faces_x(self, first, last):
        rows = slice(first, last)
        flow = self.flow_x[first - 1 : last - 1]
        return Faces(self, np.s_[rows, :-1], np.s_[rows, 1:], flow, self.dx)

    def faces_y(self, first, last):
        return Faces(self, np.s_[first:last], np.s_[first + 1 : last + 1], self.flow_y[first:last], self.dy)

    def look(self, first, last):
        """Update surface and limits of some rows from their depths; faces next to them may then move."""
        rows = slice(first, last)
        np.add(self.ground[rows], self.depth[rows], out=self.surface[rows])
        np.multiply(self.depth[rows], 0.25, out=self.limit[rows])
        np.subtract(
            self.limit[rows], QUANTUM / 2, out=self.limit[rows]
        )  # so that rounding does not exceed the quarter
        np.negative(self.limit[rows], out=self.minus_limit[rows])

    def deepest(self):
        return float(self.own.max())

    def discharge(self):
        """Return the discharge through each of this PE's cells, m³/s."""
        x = np.zeros((self.rows, self.columns))
        x[:, :-1] += self.flow_x
        x[:, 1:] += self.flow_x
        y = self.flow_y[:-1] + self.flow_y[1:]
        return np.hypot(x / 2 * self.dy, y / 2 * self.dx)


def time_step(deepest, spacing, courant=0.7):
    """Return the longest stable step: a wave in the deepest water must not cross more than a part of a cell."""
    if deepest <= 0:
        return LONGEST_STEP
    return min(LONGEST_STEP, courant * spacing / math.sqrt(GRAVITY * deepest))


def rain_on(water, rate, dt):
    """Rain at `rate` m/s for `dt` s on this PE's cells. Return the depth in quanta, the same on every cell."""
    depth = round(rate * dt / QUANTUM)
    water.own += depth * QUANTUM
    return depth
