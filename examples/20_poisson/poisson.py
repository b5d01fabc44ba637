"""Poisson's equation on a square by conjugate gradients: distributed arrays, with halos for the five-point stencil."""

import sys

import atoll
import numpy as np
from atoll import arrays

atoll.init()
numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
n = numbers[0] if numbers else 200
h = 1 / (n + 1)


def laplace(u):
    """Return -(second derivatives) of u, which is zero outside the square."""
    u.exchange_halo()
    x = u.local_with_halo
    part = (4 * x[1:-1, 1:-1] - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:]) / h**2
    return u.map_blocks(lambda _: part)


# The right-hand side is the image of the known solution sin(pi x) sin(2 pi y), so that the answer can be checked.
exact = arrays.from_function(
    lambda i, j: np.sin(np.pi * (i + 1) * h) * np.sin(2 * np.pi * (j + 1) * h), (n, n), halo=1
)
b = laplace(exact) + 50 * laplace(
    arrays.from_function(lambda i, j: (i == n // 3) & (j == n // 2), (n, n), float, halo=1)
)
u = arrays.zeros((n, n), halo=1)
r = b.copy()
p = r.copy()
old = (r * r).sum()
steps = 0
while old > 1e-12 and steps < 10 * n:
    q = laplace(p)
    a = old / (p * q).sum()
    u += a * p
    r -= a * q
    new = (r * r).sum()
    p[...] = r + new / old * p
    old = new
    steps += 1

solution = u.gather(0) if picture else None
u.local[...] -= exact.local  # leaves the effect of the point of height 50
atoll.barrier_all()
error = max(abs(u[n // 3, n // 2] - 50), abs(u[0, 0]), abs(u[-1, n // 4]))
if atoll.my_pe() == 0:
    print(f"{n} x {n} unknowns on a grid of {u.grid}: {steps} steps, error {error:.1e}")
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, ax = pyplot.subplots(figsize=(4.4, 3.6), layout="constrained")
        shown = ax.imshow(solution, cmap="RdBu_r", vmin=-1.2, vmax=1.2, extent=(0, 1, 1, 0))
        figure.colorbar(shown, label="u")
        for pe in range(atoll.n_pes()):
            (top, bottom), (left, right) = u.bounds(pe)
            its = (left / n, top / n), (right - left) / n, (bottom - top) / n
            ax.add_patch(pyplot.Rectangle(*its, fill=False, lw=0.7, ls=":"))
        ax.set(title=f"The solution on {atoll.n_pes()} PEs (dotted)", xlabel="y", ylabel="x")
        figure.savefig(picture, dpi=80)
        print(f"picture: {picture}")
atoll.finalize()
sys.exit(0 if error < 1e-6 else 1)
