"""Lennard-Jones molecular dynamics with cell lists: atoll run -n 4 molecules.py [atoms along a side] [steps] [atoms.png]

The box is divided into cells, which are the blocks of a distributed array with a halo. A PE has the atoms of its cells.
If an atom leaves them, it is put to its new owner, which makes no call for it. Energy is conserved, and the atoms
move as those of one PE that knows no cells.
"""

import sys

import atoll
import numpy as np
from atoll import arrays

CUT, DT, ROOM = 2.5, 0.004, 40  # range of the force, time step, atoms that a cell has room for

atoll.init()
numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
side, steps = (numbers + [8, 200][len(numbers) :])[:2]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
n, box = side**3, side * 1.25
n_cells = int(box // CUT)
assert n_cells >= 3, "fewer than three cells along a side; use six or more atoms"
AT_CUT = 4 * (CUT**-12 - CUT**-6)

cells = arrays.full(
    (n_cells,) * 3 + (ROOM, 3), np.nan, dist=["block"] * 3 + ["whole"] * 2, halo=[1, 1, 1, 0, 0]
)
inbox = arrays.zeros((atoll.n_pes(), n, 7), dist=["block", "whole", "whole"])  # row p belongs to PE p
waiting = arrays.zeros(atoll.n_pes(), int)
bounds = np.array(cells.bounds()[:3])


def pairs(d):
    """Return the force and the potential of atoms at distances d, a vector each; NaN has none."""
    d = d - box * np.round(d / box)  # vector to the nearest periodic image
    r2 = (d * d).sum(-1)
    near = (r2 < CUT**2) & (r2 > 0)
    s6 = np.where(near, r2, 1.0) ** -3
    force = np.where(near, 24 * (2 * s6 * s6 - s6) / np.where(near, r2, 1), 0)[..., None] * np.where(
        near[..., None], d, 0
    )
    return force, np.where(near, 4 * (s6 * s6 - s6) - AT_CUT, 0)


def cell_of(x):
    return np.minimum((x % box / box * n_cells).astype(int), n_cells - 1)


def forces(x):
    """Return the force on each of this PE's atoms, and their share of the potential."""
    place = cell_of(x) - bounds[:, 0]
    flat = np.ravel_multi_index(tuple(place.T), tuple(cells.local.shape[:3]))
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], flat[order])  # first atom of each atom's cell
    slot = np.empty(len(x), int)
    slot[order] = np.arange(len(x)) - starts
    if len(x) and slot.max() >= ROOM:
        sys.exit("molecules.py: a cell has too many atoms")
    cells.local[...] = np.nan
    cells.local[(*place.T, slot)] = x
    cells.exchange_halo("periodic")
    own, around = cells.local, cells.local_with_halo
    most = int(slot.max()) + 1 if len(x) else 0
    force, potential = np.zeros((*own.shape[:3], most, 3)), np.zeros((*own.shape[:3], most))
    for i, j, k in np.ndindex(3, 3, 3):
        other = around[i : i + own.shape[0], j : j + own.shape[1], k : k + own.shape[2]]
        f, e = pairs(own[:, :, :, :most, None] - other[:, :, :, None])
        force += f.sum(-2)
        potential += e.sum(-1) / 2
    return force[(*place.T, slot)], float(potential.sum())


def migrate(atoms):
    """Return this PE's atoms after those that left its cells were put to the PEs that own the new ones."""
    cell = cell_of(atoms[:, 1:4])
    leaves = ((cell < bounds[:, 0]) | (cell >= bounds[:, 1])).any(1)
    for row, place in zip(atoms[leaves], cell[leaves], strict=True):
        pe = cells.owner((*map(int, place), 0, 0))
        inbox[pe, waiting.fetch_add(pe, 1)] = row
    atoll.barrier_all()
    came = int(waiting.local[0])
    atoms = np.concatenate([atoms[~leaves], inbox.local[0, :came]])
    waiting.local[...] = 0
    atoll.barrier_all()  # before the next atoms come
    return atoms, int(leaves.sum())


# An atom is a row: its number, place and velocity. It starts near a point of a cubic lattice.
start = np.empty((n, 7))
random = np.random.default_rng(1)
start[:, 0] = np.arange(n)
start[:, 1:4] = (np.indices((side,) * 3).reshape(3, -1).T + 0.5) * box / side + random.uniform(
    -0.05, 0.05, (n, 3)
)
velocity = random.normal(size=(n, 3))
start[:, 4:] = velocity - velocity.mean(0)

first = cell_of(start[:, 1:4])
atoms = start[((first >= bounds[:, 0]) & (first < bounds[:, 1])).all(1)]
force, potential = forces(atoms[:, 1:4])
energies, moved = [], 0
for _ in range(steps):
    atoms[:, 4:] += DT / 2 * force
    atoms[:, 1:4] = (atoms[:, 1:4] + DT * atoms[:, 4:]) % box
    atoms, left = migrate(atoms)
    moved += left
    force, potential = forces(atoms[:, 1:4])
    atoms[:, 4:] += DT / 2 * force
    energies.append(atoll.sum_reduce(np.array([(atoms[:, 4:] ** 2).sum() / 2, potential])))

every = atoll.allgather_object(atoms)
moved = int(atoll.sum_reduce(moved))
status = 0
if atoll.my_pe() == 0:
    x, v = start[:, 1:4].copy(), start[:, 4:].copy()
    alone = pairs(x[:, None] - x)[0].sum(1)
    for _ in range(steps):
        v += DT / 2 * alone
        x = (x + DT * v) % box
        alone = pairs(x[:, None] - x)[0].sum(1)
        v += DT / 2 * alone
    rows = np.concatenate(every)
    found = rows[np.argsort(rows[:, 0])]
    apart = found[:, 1:4] - x if len(found) == n else np.full((n, 3), np.inf)
    difference = abs(apart - box * np.round(apart / box)).max() if len(found) == n else np.inf
    total = np.array(energies).sum(1)
    drift = np.ptp(total) / np.array(energies)[:, 0].mean()
    status = 0 if difference < 1e-6 and drift < 1e-2 else 1
    print(
        f"{n} atoms in {n_cells}^3 cells on {atoll.n_pes()} PEs, {steps} steps: {moved} times an atom changed its PE, energy "
        f"within {drift:.0e}, {'as' if status == 0 else 'NOT as'} by one PE"
    )
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, (a, b) = pyplot.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
        for pe, its in enumerate(every):
            a.scatter(its[:, 1], its[:, 2], s=14, label=f"PE {pe}")
        a.set(title="Atoms by their PE", xlim=(0, box), ylim=(0, box), aspect="equal", xlabel="x", ylabel="y")
        a.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        times = DT * np.arange(1, steps + 1)
        for values, label in zip(
            (*np.array(energies).T, total), ("kinetic", "potential", "total"), strict=True
        ):
            b.plot(times, values / n, label=label)
        b.set(title="Energy of an atom", xlabel="time")
        b.legend(frameon=False)
        figure.savefig(picture, dpi=80)
        print(f"picture: {picture}")
atoll.finalize()
sys.exit(status)
