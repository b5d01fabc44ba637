"""The picture of `atoll report --picture`, which the launcher starts: python -m atoll._picture FILE OUT.

The data of the report's page come on standard input (src/cli/trace/page/page_data.cpp). It needs matplotlib (the
extra `plot`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
_COLOURS = {"own code": "#d3d1c9", "moving data": "#2a78d6", "waiting": "#eb6834"}  # colours of the page
_ROW_PIXELS, _MOST_COLUMNS = 24, 2000


def _unit(largest: float, units: list[tuple[float, str]]) -> tuple[float, str]:
    """Return the largest unit that is at most `largest`."""
    return next((unit for unit in units if largest >= unit[0]), units[-1])


_TIMES = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")]
_SIZES = [(2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "bytes")]


def _rgb(name: str) -> list[int]:
    return [int(_COLOURS[name][i : i + 2], 16) for i in (1, 3, 5)]


def _shares(line: dict[str, Any]) -> NDArray[np.float64]:
    """Return the shares of waiting and of moving data: an array of rows, columns of the picture, and 2."""
    steps = int(line["steps"])
    values = np.zeros(128)
    values[[ord(digit) for digit in _DIGITS]] = np.arange(64) / 63
    rows = [values[np.frombuffer(text.encode(), np.uint8)].reshape(steps, 2) for text in line["shares"]]
    per_column = -(-steps // _MOST_COLUMNS)
    starts = np.arange(0, steps, per_column)
    counts = np.diff([*starts, steps])[:, None]
    return np.array([np.add.reduceat(row, starts, axis=0) / counts for row in rows])


def _draw_time_line(axes: Axes, data: dict[str, Any]) -> None:
    from matplotlib.patches import Patch

    shares = _shares(data["timeLine"])
    rows, columns, _ = shares.shape
    # From the top of each row: waiting, moving data, own code, and a gap.
    gap = 3
    depth = (np.arange(_ROW_PIXELS - gap) + 0.5)[:, None] / (_ROW_PIXELS - gap)
    picture = np.full((rows * _ROW_PIXELS, columns, 3), 255, np.uint8)
    for row in range(rows):
        waiting, moving = shares[row, :, 0], shares[row, :, 1]
        band = picture[row * _ROW_PIXELS : (row + 1) * _ROW_PIXELS - gap]
        band[:] = _rgb("own code")
        band[depth < waiting + moving] = _rgb("moving data")
        band[depth < waiting] = _rgb("waiting")
    unit, name = _unit(data["length"], _TIMES)
    axes.imshow(
        picture, aspect="auto", interpolation="nearest", extent=(0, data["length"] / unit, rows - 0.5, -0.5)
    )
    axes.set_xlabel(f"time ({name})")
    _label_rows(axes, data, "y", "PE")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.legend(
        handles=[Patch(color=colour, label=label) for label, colour in _COLOURS.items()],
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, borderaxespad=0.2, borderpad=0,
    )  # fmt: skip


def _label_rows(axes: Axes, data: dict[str, Any], which: str, title: str) -> None:
    """Name some rows by their first PE."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    every = -(-int(data["rows"]) // (16 if which == "y" else 8))
    ticks = list(range(0, data["rows"], every))
    axis.set_ticks(ticks, [str(row * data["width"]) for row in ticks])
    axis.set_tick_params(length=0)
    axis.set_label_text(title)


def _matrix(cells: list[list[int]], rows: int) -> NDArray[np.float64]:
    matrix = np.full((rows, rows), np.nan)
    for row, column, value, _ in cells:
        matrix[row, column] = np.nan_to_num(matrix[row, column]) + value
    return matrix


def _draw_matrix(
    axes: Axes, data: dict[str, Any], cells: list[list[int]], units: list[tuple[float, str]],
    title: str, sides: tuple[str, str], colours: str, empty: str,
) -> None:  # fmt: skip
    axes.set_title(title, loc="left")
    if not cells:
        axes.text(0.5, 0.5, empty, ha="center", va="center", transform=axes.transAxes, color="#5f5e58")
        axes.set_xticks([])
        axes.set_yticks([])
        return
    matrix = _matrix(cells, data["rows"])
    unit, name = _unit(float(np.nanmax(matrix)), units)
    image = axes.imshow(matrix / unit, cmap=colours, vmin=0, interpolation="nearest")
    axes.set_facecolor("#f3f2ee")
    _label_rows(axes, data, "y", sides[0])
    _label_rows(axes, data, "x", sides[1])
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.9, pad=0.03)
    bar.set_label(name)
    bar.outline.set_visible(False)


def draw(data: dict[str, Any]) -> Figure:
    """Return the picture: the time line, the traffic between PEs, and which PE made which other wait."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"font.size": 8, "axes.titlesize": 8}):
        tall = min(4.0, 0.6 + 0.22 * data["rows"])
        figure = Figure(figsize=(7, tall + 3), layout="constrained")
        parts = figure.subplot_mosaic("AA;BC", height_ratios=[tall, 3])
        _draw_time_line(parts["A"], data)
        traffic, late = data["traffic"], data["keptInCollectives"] + data["keptBySignals"]
        _draw_matrix(
            parts["B"], data, traffic, _SIZES, "Bytes of one-sided calls", ("PE that called", "PE of the memory"),
            "Blues", "no one-sided calls",
        )  # fmt: skip
        _draw_matrix(
            parts["C"], data, late, _TIMES, "Who kept whom waiting", ("PE that was late", "PE that waited"),
            "Oranges", "no PE waited",
        )  # fmt: skip
    return figure


def main() -> int:
    """Write the picture and return the exit status."""
    path = Path(sys.argv[1])
    try:
        import matplotlib
    except ImportError:
        print(
            "atoll report: --picture needs the package matplotlib, which is not installed: pip install matplotlib. "
            "--html writes a page without it.",
            file=sys.stderr,
        )
        return 2
    figure = draw(json.load(sys.stdin))
    try:
        with matplotlib.rc_context({"svg.fonttype": "none"}):  # text stays text
            figure.savefig(path, dpi=200)
    except OSError as error:
        print(f"atoll report: --picture {path} cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1
    print(f"{path}: {path.stat().st_size / 1024:.0f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
