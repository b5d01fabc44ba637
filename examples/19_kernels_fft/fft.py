"""A picture's Fourier transform over several GPUs: atoll run -n 2 fft.py [cupy|cpu] [picture.png]. CuPy for
GPUs; NumPy needs none.

The mountain of 09_terrain, smoothed. A transform in two dimensions is one along the rows, a transposition,
and one along the rows again. Each PE has some rows. On GPUs the transposition is a kernel in CUDA C++. It
transposes each tile in shared memory and stores it straight into the memory of the PE that needs it. On CPUs
it is `put`. Smoothing is a product in between, and the inverse transform works alike.
"""

import sys
from pathlib import Path

import atoll
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "09_terrain"))
import elevation

CODE = r"""
#include <atoll/device/device.hpp>
namespace dev = atl::device;
constexpr int side = 16;

/// Rows `rows` of this PE of a square of `size` to columns of all PEs: 16 x 16 blocks of 16 x 16 threads.
extern "C" __global__ void transpose(dev::Team team, const double2* from, double2* to, long long rows, long long size) {
    __shared__ double2 tile[side][side + 1];
    for (long long top = side * blockIdx.y; top < rows; top += side * gridDim.y)
        for (long long left = side * blockIdx.x; left < size; left += side * gridDim.x) {
            const long long row = top + threadIdx.y, column = left + threadIdx.x;
            if (row < rows && column < size) tile[threadIdx.y][threadIdx.x] = from[row * size + column];
            __syncthreads();
            const long long new_row = left + threadIdx.y, new_column = top + threadIdx.x;
            if (new_row < size && new_column < rows) {
                const int pe = int(new_row / rows);
                double2* there = dev::peer(team, to, pe);
                there[(new_row - pe * rows) * size + team.my_pe * rows + new_column] = tile[threadIdx.x][threadIdx.y];
            }
            __syncthreads();
        }
}
"""
words = [word for word in sys.argv[1:] if not word.endswith(".png")]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
library = words[0] if words else "cupy"
if library == "cpu":
    xp, where = np, {"device": "cpu"}
elif library in ("cupy", "cuda"):
    try:
        import atoll.cupy as dev
        import cupy as xp
    except ImportError as error:
        sys.exit(f"fft.py: {error}; CuPy: pip install cupy-cuda13x, or run: fft.py cpu")
    where = {"device": "cuda", "xp": xp}
else:
    sys.exit(f"fft.py takes cupy or cpu, not {library!r}")

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
height, dx, dy = elevation.load(False, 1)
size = min(height.shape) // n * n  # a square with equal numbers of rows on the PEs
height = height[:size, :size]
rows = size // n
a, b = (atoll.zeros((rows, size), "complex128", **where) for _ in range(2))
if xp is not np:
    a.device.use()
    kernel = dev.RawKernel(CODE, "transpose")


def transposed(source, target):
    """Set target on all PEs to the transpose of source on all PEs. Collective."""
    if xp is np:
        for pe in range(n):
            block = np.ascontiguousarray(source[:, pe * rows : (pe + 1) * rows].T)
            atoll.put(target[:, me * rows : (me + 1) * rows], block, pe)
        atoll.barrier_all()
    else:
        tiles = -(-size // 16), -(-rows // 16)
        dev.launch(kernel, tiles, (16, 16), atoll.WORLD, source, target, rows, size)
        atoll.barrier_all(stream="current")
    return target


def smoothed(width):
    """Return each PE's rows of the ground without structures narrower than about `width` metres."""
    a[...] = xp.fft.fft(xp.asarray(height[me * rows : (me + 1) * rows]))
    atoll.barrier_all(stream=None if xp is np else "current")  # all PEs have finished the last call
    b_is = transposed(a, b)
    b_is[...] = xp.fft.fft(b_is)  # row k of the transpose is wave number k along the columns
    along = 2 * np.pi * np.fft.fftfreq(size, dx)[me * rows : (me + 1) * rows]
    across = 2 * np.pi * np.fft.fftfreq(size, dy)
    weight = np.exp(-((along[:, None] * width) ** 2 + (across[None, :] * width) ** 2) / 8)
    b_is[...] = xp.fft.ifft(b_is * xp.asarray(weight))
    if xp is not np:
        atoll.barrier_all(stream="current")
    else:
        atoll.barrier_all()
    return xp.fft.ifft(transposed(b, a)).real


def draw(file, low):
    try:
        import matplotlib
    except ImportError:
        sys.exit("fft.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.colors import LightSource

    figure, sides = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    extent = (0, size * dx / 1000, 0, size * dy / 1000)
    for ax, ground, title in zip(
        sides, (height, low, height - low), ("the ground", "wider than 1.5 km", "narrower"), strict=True
    ):
        ax.imshow(
            LightSource(315, 40).hillshade(ground, vert_exag=2, dx=dx, dy=dy), cmap="gray", extent=extent
        )
        ax.set(title=title, xlabel="km")
    figure.suptitle(
        f"The Jacksboro fault through a Fourier transform on {n} {'CPUs' if xp is np else 'GPUs'}"
    )
    figure.savefig(file, dpi=80)
    print(f"picture: {file}")


found = smoothed(1500.0)
mine = found if xp is np else found.get()
along, across = 2 * np.pi * np.fft.fftfreq(size, dx), 2 * np.pi * np.fft.fftfreq(size, dy)
weight = np.exp(-((along[None, :] * 1500.0) ** 2 + (across[:, None] * 1500.0) ** 2) / 8)
expected = np.fft.ifft2(np.fft.fft2(height) * weight).real
assert np.allclose(mine, expected[me * rows : (me + 1) * rows], rtol=1e-9), "differs from NumPy's fft2"
whole = atoll.gather(np.ascontiguousarray(mine), 0)
if me == 0:
    print(f"{library}, {n} PEs: {size} x {size} heights there and back, as NumPy's fft2 has them")
    if picture:
        draw(picture, whole.reshape(size, size))
atoll.finalize()
