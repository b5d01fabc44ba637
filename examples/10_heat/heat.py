"""Heat in a plate, on CPUs or GPUs by one argument: atoll run -n 2 heat.py [cpu|cupy|torch] [rows] [steps]
[picture.png].

Each PE has a band of rows, with one more at either end, which its neighbours put there. The code after the
argument does not depend on the arrays' memory. NumPy, CuPy and PyTorch compute alike, and Atoll takes the
arrays of all three.
"""

import importlib
import sys

import atoll
import numpy as np

words = [word for word in sys.argv[1:] if not word.endswith(".png")]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
library = words[0] if words else "cpu"
rows, steps = (int(word) for word in (words[1:3] or (64, 50)))
width = 96
PACKAGES = {"cupy": "cupy-cuda13x", "torch": "torch"}

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
if library == "cpu":
    where, stream = {"device": "cpu", "xp": np}, None
elif library in PACKAGES:
    try:
        xp = importlib.import_module(library)
    except ImportError:
        sys.exit(f"heat.py {library} needs {library}: pip install {PACKAGES[library]}")
    where, stream = {"device": "cuda", "xp": xp}, "current"
else:
    sys.exit(f"heat.py takes cpu, cupy or torch, not {library!r}")

u = atoll.zeros((rows + 2, width), "float64", **where)


def start(row: int) -> np.ndarray:
    """Return a row of the whole plate, 0 to n * rows - 1."""
    return np.sin(0.1 * row) * np.cos(0.2 * np.arange(width)) + 1.0


def draw(file: str, before: np.ndarray, after: np.ndarray) -> None:
    """Draw the whole plate at both ends of the time."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("heat.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, sides = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    for ax, values, title in zip(sides, (before, after), ("before", f"after {steps} steps"), strict=True):
        shown = ax.imshow(values, cmap="inferno", vmin=0, vmax=2, aspect="auto")
        ax.set_title(title)
        for pe in range(1, n):
            ax.axhline(pe * rows - 0.5, color="white", lw=0.5, ls=":")
    figure.colorbar(shown, ax=sides, label="heat")
    figure.suptitle(f"Heat in a plate: {library}, {n} PEs (bands between the dots)")
    figure.savefig(file, dpi=90)
    print(f"picture: {file}")


band = np.zeros((rows + 2, width))
band[1:-1] = [start(me * rows + i) for i in range(rows)]
atoll.put(u, band, me)
atoll.barrier_all()

for _ in range(steps):
    if me > 0:
        atoll.put(u[-1], u[1], me - 1, stream=stream)
    if me < n - 1:
        atoll.put(u[0], u[-2], me + 1, stream=stream)
    atoll.barrier_all(stream=stream)  # the neighbours' rows have arrived
    new = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    atoll.barrier_all(stream=stream)  # the neighbours have read the old rows
    u[1:-1, 1:-1] = new

heat = atoll.zeros(1, "float64", **where)
heat[0] = u[1:-1].sum()
total = atoll.zeros(1, "float64", **where)
atoll.sum_reduce(total, heat, stream=stream)
atoll.barrier_all(stream=stream)

whole = np.zeros((n * rows + 2, width))
whole[1:-1] = before = np.array([start(i) for i in range(n * rows)])
for _ in range(steps):
    whole[1:-1, 1:-1] = 0.25 * (whole[:-2, 1:-1] + whole[2:, 1:-1] + whole[1:-1, :-2] + whole[1:-1, 2:])
mine = np.empty((rows + 2, width))
atoll.get(mine, u, me)  # waits for the library's stream
assert np.allclose(mine[1:-1], whole[1 + me * rows : 1 + (me + 1) * rows]), (
    "differs from the result of one PE alone"
)
found = atoll.g(total, me)
assert np.isclose(found, whole[1:-1].sum()), (found, whole[1:-1].sum())
if me == 0:
    print(
        f"{library}, {n} PEs: heat {found:.6f} after {steps} steps of {n * rows} x {width} cells, as one PE alone computes"
    )
if picture:
    after = atoll.gather(np.ascontiguousarray(mine[1:-1]), 0)
    if me == 0:
        draw(picture, before, after.reshape(n * rows, width))
