"""The ground: the elevation model that matplotlib ships, or a made-up mountain."""

import sys

import numpy as np

SAMPLE = "jacksboro_fault_dem.npz"


def sample():
    """The Jacksboro fault in Tennessee, 344 x 403 cells of 3 seconds of arc. Returns heights, dx and dy in metres."""
    try:
        from matplotlib.cbook import get_sample_data
    except ImportError:
        sys.exit(
            "The elevation model comes with matplotlib: pip install matplotlib   (terrain.py also runs with --synthetic)"
        )
    with get_sample_data(SAMPLE) as data:
        degree = 111_200.0
        dy = degree * float(data["dy"])
        dx = degree * float(data["dx"]) * float(np.cos(np.radians(data["ymin"])))
        return data["elevation"].astype(np.float64), dx, dy


def synthetic(rows=96, columns=128):
    """A volcano with gullies and a lake in its crater, for machines without matplotlib."""
    y, x = np.mgrid[-1 : 1 : rows * 1j, -1.3 : 1.3 : columns * 1j]
    r, angle = np.hypot(x, y), np.arctan2(y, x)
    height = 900 * np.exp(-2.5 * r * r) - 500 * np.exp(-60 * r * r) + 25 * r * np.cos(9 * angle + 4 * r)
    return np.round(height), 80.0, 80.0


def refined(height, times):
    """Split each cell into `times` cells in each direction, by bilinear interpolation between the cells'
    middles.
    """
    for axis in (0, 1):
        n = height.shape[axis]
        where = np.clip((np.arange(n * times) + 0.5) / times - 0.5, 0, n - 1)
        below = np.minimum(where.astype(np.int64), max(n - 2, 0))
        part = np.expand_dims(where - below, 1 - axis)
        above = np.minimum(below + 1, n - 1)
        height = height.take(below, axis) * (1 - part) + height.take(above, axis) * part
    return height


def load(made_up, times):
    height, dx, dy = synthetic() if made_up else sample()
    return (height, dx, dy) if times == 1 else (refined(height, times), dx / times, dy / times)
