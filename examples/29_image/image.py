"""Filters of an image on tiles: atoll run -n 4 image.py [rows] [in.png] [out.png]

The image is a distributed array. Each PE filters its tile, for which `map_blocks` fetches the neighbours' pixels. The
result is compared with that of one PE, bit for bit.
"""

import sys

import atoll
import numpy as np
from atoll import arrays

atoll.init()
rows = next((int(word) for word in sys.argv[1:] if word.isdigit()), 120)
files = [word for word in sys.argv[1:] if word.endswith(".png")]
RADIUS = 4  # radius of the blur, in pixels
GAUSS = np.exp(-(np.arange(-RADIUS, RADIUS + 1) ** 2) / 8)
GAUSS /= GAUSS.sum()
SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]) / 4


def convolve(image, kernel):
    """Return the weighted sums of each pixel's neighbours; as many rows and columns fewer as the kernel reaches over."""
    n, m = kernel.shape
    height, width = image.shape[0] - n + 1, image.shape[1] - m + 1
    out = np.zeros((height, width))
    for i in range(n):
        for j in range(m):
            out += kernel[i, j] * image[i : i + height, j : j + width]
    return out


def blur(image):
    return convolve(convolve(image, GAUSS[:, None]), GAUSS[None])


def edges(image):
    return np.hypot(convolve(image, SOBEL), convolve(image, SOBEL.T))


def sharpen(image, blurred, amount):
    """Add to each pixel what a blur takes away."""
    return np.clip(image + amount * (image - blurred), 0, 1)


def drawn(i, j):
    """Return an image of a moon over waves, with noise that is the same at each start."""
    y, x = i / rows, j / rows
    moon = np.where((y - 0.35) ** 2 + (x - 0.9) ** 2 < 0.05, 0.95 - 0.3 * ((11 * y) % 1 < 0.3), 0)
    waves = np.where(y > 0.65 + 0.03 * np.sin(14 * x), 0.45 + 0.2 * np.sin(60 * y + 6 * np.sin(5 * x)), 0)
    noise = np.sin(i * 12.9898 + j * 78.233) * 43758.5453
    return np.clip(0.1 + np.maximum(moon, waves) + 0.15 * (noise - np.floor(noise) - 0.5), 0, 1)


if len(files) > 1 and atoll.my_pe() == 0:
    from matplotlib import pyplot

    given = pyplot.imread(files[0])
    given = given.astype(float) if given.ndim == 2 else given[..., :3].mean(-1).astype(float)
else:
    given = None
if len(files) > 1:
    image = arrays.from_array(given, root=0)
else:
    image = arrays.from_function(drawn, (rows, rows * 3 // 2))

blurred = image.map_blocks(blur, halo=RADIUS, border="reflect")
sharp = image.map_blocks(sharpen, blurred, amount=1.5)
outlines = blurred.map_blocks(edges, halo=1, border="reflect")
whole, found = image.to_numpy(), [each.to_numpy() for each in (blurred, sharp, outlines)]

status = 0
if atoll.my_pe() == 0:
    alone = blur(np.pad(whole, RADIUS, mode="reflect"))
    expected = alone, sharpen(whole, alone, 1.5), edges(np.pad(alone, 1, mode="reflect"))
    status = 0 if all(map(np.array_equal, found, expected)) else 1
    print(
        f"{whole.shape[0]} x {whole.shape[1]} pixels in tiles on a grid of {image.grid}: blurred, sharpened, outlined, "
        f"{'as' if status == 0 else 'NOT as'} by one PE"
    )
    if files:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(1, 4, figsize=(11, 2.2), layout="constrained")
        for ax, values, title in zip(
            axes, (whole, *found), ("given", "blurred", "sharpened", "outlines"), strict=True
        ):
            ax.imshow(values, cmap="gray", vmin=0, vmax=values.max())
            ax.set(title=title, xticks=[], yticks=[])
        for pe in range(atoll.n_pes()):
            (top, bottom), (left, right) = image.bounds(pe)
            tile = pyplot.Rectangle(
                (left - 0.5, top - 0.5), right - left, bottom - top, fill=False, ec="gold", lw=0.7
            )
            axes[0].add_patch(tile)
        figure.savefig(files[-1], dpi=80)
        print(f"picture: {files[-1]}")
atoll.finalize()
sys.exit(status)
