"""Heat in a plate, on CPUs or GPUs by one argument: atoll run -n 2 heat.py [cpu|cupy|torch] [rows] [steps].

Each PE has a band of rows and one more at either end, which its neighbours put there. Nothing below the argument
knows where the arrays are: NumPy, CuPy and PyTorch compute alike, and Atoll takes the arrays of all three.
"""

import importlib
import sys

import atoll
import numpy as np

library = sys.argv[1] if len(sys.argv) > 1 else "cpu"
rows, steps = (int(word) for word in (sys.argv[2:4] or (64, 50)))
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
if library == "cupy":
    u.device.use()
elif library == "torch":
    xp.cuda.set_device(u.device)


def start(row: int) -> np.ndarray:
    """A row of the whole plate, 0 to n * rows - 1."""
    return np.sin(0.1 * row) * np.cos(0.2 * np.arange(width)) + 1.0


band = np.zeros((rows + 2, width))
band[1:-1] = [start(me * rows + i) for i in range(rows)]
atoll.put(u, band, me)
atoll.barrier_all()

for _ in range(steps):
    if me > 0:
        atoll.put(u[-1], u[1], me - 1, stream=stream)
    if me < n - 1:
        atoll.put(u[0], u[-2], me + 1, stream=stream)
    atoll.barrier_all(stream=stream)  # the neighbours' rows are here
    new = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    atoll.barrier_all(stream=stream)  # nobody reads the old rows any more
    u[1:-1, 1:-1] = new

heat = atoll.zeros(1, "float64", **where)
heat[0] = u[1:-1].sum()
total = atoll.zeros(1, "float64", **where)
atoll.sum_reduce(total, heat, stream=stream)
atoll.barrier_all(stream=stream)

whole = np.zeros((n * rows + 2, width))
whole[1:-1] = [start(i) for i in range(n * rows)]
for _ in range(steps):
    whole[1:-1, 1:-1] = 0.25 * (whole[:-2, 1:-1] + whole[2:, 1:-1] + whole[1:-1, :-2] + whole[1:-1, 2:])
mine = np.empty((rows + 2, width))
atoll.get(mine, u, me)  # waits for what the library's stream still does
assert np.allclose(mine[1:-1], whole[1 + me * rows : 1 + (me + 1) * rows]), "not what one PE alone computes"
found = atoll.g(total, me)
assert np.isclose(found, whole[1:-1].sum()), (found, whole[1:-1].sum())
if me == 0:
    print(
        f"{library}, {n} PEs: heat {found:.6f} after {steps} steps of {n * rows} x {width} cells, as one PE alone computes"
    )
