"""Waves in shallow water on a torus: atoll run -n 4 shallow_water.py [rows] [steps] [waves.gif]

The height of the surface and the two components of the velocity are distributed arrays with a halo. Each step needs
one row and one column of the neighbours. The result is compared with that of one PE, bit for bit.
"""

import sys

import atoll
import numpy as np
from atoll import arrays

atoll.init()
numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
rows, steps = (numbers + [64, 200][len(numbers) :])[:2]
columns = rows * 3 // 2
picture = next((word for word in sys.argv[1:] if word.endswith(".gif")), None)
C = 0.25  # gravity, depth, time step and spacing in one number


def start(i, j):
    """Return the height of the first surface: a hill, and a valley of half its depth."""
    hill = np.exp(-((i - 0.3 * rows) ** 2 + (j - 0.3 * columns) ** 2) / (0.004 * rows * columns))
    valley = np.exp(-((i - 0.7 * rows) ** 2 + (j - 0.6 * columns) ** 2) / (0.01 * rows * columns))
    return hill - 0.5 * valley


h = arrays.from_function(start, (rows, columns), halo=1)
u = arrays.zeros((rows, columns), halo=1)
v = arrays.zeros((rows, columns), halo=1)
first = h.to_numpy()
frames = []
for step in range(steps):
    h.exchange_halo("periodic")
    around = h.local_with_halo
    u.local[...] -= C * (around[2:, 1:-1] - h.local)
    v.local[...] -= C * (around[1:-1, 2:] - h.local)
    u.exchange_halo("periodic")
    v.exchange_halo("periodic")
    out = (u.local - u.local_with_halo[:-2, 1:-1]) + (v.local - v.local_with_halo[1:-1, :-2])
    h.local[...] -= C * out
    if picture and step % 4 == 0:
        frames.append(h.gather(0))

found = h.to_numpy()


def draw(file):
    """Write the surface as an animation."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import animation, pyplot

    figure, ax = pyplot.subplots(figsize=(4.2, 3), layout="constrained")
    # Few colours keep the file small.
    image = ax.imshow(frames[0], cmap=pyplot.get_cmap("RdBu_r", 15), vmin=-0.4, vmax=0.4)
    for pe in range(atoll.n_pes()):
        (top, bottom), (left, right) = h.bounds(pe)
        ax.add_patch(
            pyplot.Rectangle((left - 0.5, top - 0.5), right - left, bottom - top, fill=False, lw=0.5, ls=":")
        )
    ax.set(xticks=[], yticks=[], title=f"{atoll.n_pes()} PEs (dotted)")
    shown = animation.FuncAnimation(figure, lambda frame: [image.set_data(frame)], frames, blit=False)
    shown.save(file, writer=animation.PillowWriter(fps=12), dpi=64)
    print(f"animation: {file}")


status = 0
if atoll.my_pe() == 0:
    expected, eu, ev = first, np.zeros_like(first), np.zeros_like(first)
    for _ in range(steps):
        eu -= C * (np.roll(expected, -1, 0) - expected)
        ev -= C * (np.roll(expected, -1, 1) - expected)
        expected = expected - C * ((eu - np.roll(eu, 1, 0)) + (ev - np.roll(ev, 1, 1)))
    status = 0 if np.array_equal(found, expected) else 1
    lost = abs(found.sum() - first.sum()) / np.abs(first).sum()
    print(
        f"{rows} x {columns} points, {steps} steps on a grid of {h.grid}: waves from {found.min():.3f} to "
        f"{found.max():.3f}, water lost {lost:.0e}, {'as' if status == 0 else 'NOT as'} by one PE"
    )
    if picture:
        draw(picture)
atoll.finalize()
sys.exit(status)
