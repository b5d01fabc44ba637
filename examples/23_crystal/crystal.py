"""The electric potential in rock salt by a distributed Fourier transform, and from it Madelung's constant."""

import sys

import atoll
import numpy as np
from atoll import arrays, fft

MADELUNG = 1.747564594633  # rock salt: the energy of an ion among all others, in units of charge and distance

atoll.init()
n = int(sys.argv[1]) if len(sys.argv) > 1 else 64  # points along each side of the cell, which is 4 ions wide
width, side = 0.15, 4
x = np.arange(n) * side / n

# Ions of alternating charge are at whole numbers. Each is a smooth charge: a narrow Gaussian, the product of one for each axis.
line = np.zeros(n)
for ion in range(-side, 2 * side):
    line += (-1) ** ion * np.exp(-(((x - ion) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))
charge = arrays.from_function(lambda i, j, k: line[i] * line[j] * line[k], (n, n, n))

# Poisson's equation, laplace(potential) = -4 pi charge, is a division by squared wave numbers after the transform.
k = 2 * np.pi * np.fft.fftfreq(n, side / n)
half = 2 * np.pi * np.fft.rfftfreq(n, side / n)
squares = arrays.from_function(
    lambda a, b, c: k[a] ** 2 + k[b] ** 2 + half[c] ** 2, (n, n, n // 2 + 1), grid=charge.grid
)
squares[squares == 0] = np.inf  # the mean of the potential is zero
spectrum = fft.rfftn(charge)
spectrum *= 4 * np.pi / squares
potential = fft.irfftn(spectrum, s=charge.shape)

# The potential at an ion contains that of its own Gaussian, which the constant leaves out.
madelung = np.sqrt(2 / np.pi) / width - potential[0, 0, 0]
error = abs(madelung - MADELUNG)
if atoll.my_pe() == 0:
    print(f"{n}^3 points on a grid of {charge.grid}: Madelung's constant {madelung:.9f}, error {error:.0e}")
    if len(sys.argv) > 2:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt

        fig, axes = plt.subplots(figsize=(4.6, 4))
        plane = np.roll(potential[:, :, 0], n // (2 * side), (0, 1))  # any PE reads a plane of the whole
        image = axes.imshow(
            plane, cmap="RdBu_r", origin="lower", extent=(-0.5, side - 0.5) * 2, interpolation="bicubic"
        )
        fig.colorbar(image, label="potential")
        axes.set(
            title="Potential in a plane of ions",
            xlabel="distance of two ions",
            xticks=range(side),
            yticks=range(side),
        )
        fig.savefig(sys.argv[2], dpi=80, bbox_inches="tight")
atoll.finalize()
sys.exit(0 if error < 1e-6 else 1)
