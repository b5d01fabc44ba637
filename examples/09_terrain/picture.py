"""The picture: hill shade, with standing and flowing water over it."""

import numpy as np

EARTH = ["#c3cba6", "#dcd6b6", "#cdb892", "#b29a7c", "#f2eee6"]
WATER = ["#8fe3ff", "#2c9cf2", "#1550b8", "#0a1a5c"]


def save(path, ground, depth, discharge, dx, dy, headline, small_print):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.colors import LightSource, LinearSegmentedColormap, LogNorm

    earth, water = (LinearSegmentedColormap.from_list("", colours) for colours in (EARTH, WATER))
    rows, columns = ground.shape
    extent = (0, columns * dx / 1000, 0, rows * dy / 1000)
    shade = LightSource(azdeg=315, altdeg=40).hillshade(ground, vert_exag=2, dx=dx, dy=dy)
    low, high = np.percentile(ground, [0.5, 99.8])
    relief = earth((ground - low) / (high - low))[..., :3] * (0.3 + 0.7 * shade[..., None])

    fig = plt.figure(figsize=(13, 7.1))
    fig.text(0.045, 0.955, headline, fontsize=16, weight="bold")
    fig.text(0.045, 0.018, small_print, fontsize=8.5, color="#555555")

    def panel(left, title, values, ticks, label):
        smallest, largest = ticks[0], ticks[-1]
        ax = fig.add_axes((left, 0.095, 0.4, 0.8))
        ax.imshow(relief, extent=extent, interpolation="bilinear")
        norm = LogNorm(smallest, largest)
        layer = water(norm(np.clip(values, smallest, largest)))
        # Opaque for much water, transparent below the scale.
        layer[..., 3] = np.clip(np.log(np.maximum(values, smallest) / smallest), 0, 1)
        ax.imshow(layer, extent=extent, interpolation="nearest")
        ax.set_title(title, fontsize=12, loc="left")
        ax.set_xlabel("km", labelpad=1)
        box = ax.get_position()
        bar = fig.add_axes((left + 0.408, box.y0 + 0.1, 0.011, box.height - 0.2))
        scale = fig.colorbar(
            plt.cm.ScalarMappable(norm, water),
            cax=bar,
            extend="max",
            ticks=ticks,
            format="{x:g}",
            label=label,
        )
        scale.ax.minorticks_off()
        return ax

    panel(0.045, "Standing water", depth, (0.1, 0.2, 0.5, 1, 2, 5, 10), "depth, m").set_ylabel("km")
    panel(0.53, "Flowing water", discharge, (0.5, 1, 2, 5, 10, 20, 50), "discharge, m³/s").set_yticklabels([])
    fig.savefig(path, dpi=100)
    plt.close(fig)
