"""Two galaxies that collide, forces by a kernel in Numba: atoll run -n 4 galaxies.py [stars] [steps] [galaxies.png]

Stars are rows of distributed arrays. The kernel of a PE computes the forces on its own stars, and reads the others from
the PEs that own them, by global index.
"""

import sys

import atoll
import numpy as np
from atoll import arrays

try:
    import atoll.numba as dev
    from atoll.arrays import numba as dist
except ImportError as error:
    sys.exit(f"galaxies.py: {error}")

SOFT, DT = 0.15, 0.01  # distance below which stars do not feel each other more, time step


@dev.kernel(cache=True)
def attract(team, axes, x, weights, weight, own, force):
    """Compute the forces on this PE's stars, `own`; x: the places of all stars, weight: their masses."""
    for i in dev.grid_range(own.shape[0]):
        fx, fy, fz = 0.0, 0.0, 0.0
        for j in range(weights[0].length):
            dx = dist.get(team, axes, x, (j, 0)) - own[i, 0]
            dy = dist.get(team, axes, x, (j, 1)) - own[i, 1]
            dz = dist.get(team, axes, x, (j, 2)) - own[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + SOFT * SOFT
            pull = dist.get(team, weights, weight, (j,)) / (r2 * np.sqrt(r2))
            fx += pull * dx
            fy += pull * dy
            fz += pull * dz
        force[i, 0], force[i, 1], force[i, 2] = fx, fy, fz


def alone(x, mass):
    """Return all forces by NumPy."""
    d = x[None] - x[:, None]
    r2 = (d * d).sum(-1) + SOFT**2
    return (mass[None, :, None] * d / (r2 * np.sqrt(r2))[..., None]).sum(1)


def energy(x, v, mass):
    r = np.sqrt(((x[None] - x[:, None]) ** 2).sum(-1) + SOFT**2)
    each = -mass * mass[:, None] / r
    return (mass * (v**2).sum(1)).sum() / 2 + (each.sum() - np.trace(each)) / 2


def beginning(n):
    """Return places, velocities and masses: two discs of light stars around heavy ones, on their way to each other."""
    random = np.random.default_rng(3)
    x, v, mass = np.zeros((n, 3)), np.zeros((n, 3)), np.full(n, 0.1 / n)
    mass[0], mass[n // 2] = 1, 0.6
    r, angle = random.uniform(0.4, 1.2, n), random.uniform(0, 2 * np.pi, n)
    for first, last, center, way, tilt in (
        (0, n // 2, (-1.4, -0.5, 0), (0.35, 0, 0), 0.2),
        (n // 2, n, (1.6, 0.7, 0), (-0.55, 0, 0), 1.0),
    ):
        its = slice(first, last)
        r[first] = 0
        disc = np.stack(
            [np.cos(angle[its]), np.cos(tilt) * np.sin(angle[its]), np.sin(tilt) * np.sin(angle[its])], 1
        )
        turn = np.stack(
            [-np.sin(angle[its]), np.cos(tilt) * np.cos(angle[its]), np.sin(tilt) * np.cos(angle[its])], 1
        )
        x[its] = center + r[its, None] * disc
        speed = np.sqrt(mass[first] * r[its] ** 2 / (r[its] ** 2 + SOFT**2) ** 1.5)
        v[its] = way + speed[:, None] * turn
    return x, v, mass


atoll.init()
numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
n, steps = (numbers + [400, 200][len(numbers) :])[:2]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
places, velocities, masses = beginning(n)
x, mass = arrays.from_array(places, dist=["block", "whole"]), arrays.from_array(masses)
v = arrays.from_array(velocities, dist=["block", "whole"])
force = np.zeros(x.local.shape)


def forces():
    """Compute the forces on this PE's stars after all have moved."""
    atoll.barrier_all()
    dev.launch(attract, 1, 1)(atoll.WORLD, *x.device(), *mass.device(), x.local, force)
    atoll.barrier_all()


pictures = []
forces()
for step in range(steps):
    v.local[...] += DT / 2 * force
    x.local[...] += DT * v.local
    forces()
    v.local[...] += DT / 2 * force
    if picture and step in (0, steps // 2, steps - 1):
        pictures.append((step + 1, x.gather(0)))

found, speeds = x.to_numpy(), v.to_numpy()
status = 0
if atoll.my_pe() == 0:
    here, speed = places.copy(), velocities.copy()
    pull = alone(here, masses)
    for _ in range(steps):
        speed += DT / 2 * pull
        here += DT * speed
        pull = alone(here, masses)
        speed += DT / 2 * pull
    difference = abs(found - here).max()
    before, after = energy(places, velocities, masses), energy(found, speeds, masses)
    drift = abs(after / before - 1)
    status = 0 if difference < 1e-8 and drift < 1e-2 else 1
    print(
        f"cpu, {atoll.n_pes()} PEs: {n} stars, {steps} steps; energy changed by {drift:.0e}, difference from NumPy "
        f"{difference:.0e}"
    )
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
        for ax, (step, stars) in zip(axes, pictures, strict=True):
            ax.set_facecolor("black")
            for first, last, color in ((0, n // 2, "gold"), (n // 2, n, "skyblue")):
                ax.scatter(stars[first:last, 0], stars[first:last, 1], s=2, color=color)
            ax.set(
                title=f"after {step} steps",
                xlim=(-3.5, 3.5),
                ylim=(-3, 3),
                aspect="equal",
                xticks=[],
                yticks=[],
            )
        figure.savefig(picture, dpi=80)
        print(f"picture: {picture}")
atoll.finalize()
sys.exit(status)
