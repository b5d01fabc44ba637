"""Pictures of a distributed array: the owners of its parts, and some of its elements."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._optional import required

if TYPE_CHECKING:
    from ._array import DistArray
    from ._axis import Axis

MOST_RUNS = 24  # runs drawn per axis, so that a picture remains small
MOST_POINTS = 200  # along an axis are read for a picture
COLOURS = ("#8dd3c7", "#ffed6f", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5", "#d9d9d9")
WIDTH, LOWEST, HIGHEST = 240, 30, 240  # size of the owners' picture in a notebook, in pixels
Array = np.ndarray[Any, Any]


class Cell(NamedTuple):
    """A rectangle of indices that one PE owns: rows from top to bottom, columns from left to right."""

    pe: int
    top: int
    bottom: int
    left: int
    right: int


def axes_to_draw(a: DistArray) -> tuple[int, ...]:
    """Return the two axes with the most parts, in their order; the only axis if there is one."""
    by_parts = sorted(range(a.ndim), key=lambda number: -a.grid[number])
    return tuple(sorted(by_parts[:2]))


def runs(axis: Axis) -> list[tuple[int, int, int]]:
    """Return the first ranges of an axis as start, stop and part, in the order of indices."""
    if axis.has_copies:
        return [(0, axis.length, 0)] if axis.length else []
    if axis.bounds is not None:
        every = [(*axis.ends(part), part) for part in range(axis.parts)]
        return [run for run in every if run[0] < run[1]][:MOST_RUNS]
    starts = range(0, axis.length, axis.block)[:MOST_RUNS]
    return [(start, min(start + axis.block, axis.length), int(axis.owner(start))) for start in starts]


def cells(a: DistArray, shown: tuple[int, ...]) -> list[Cell]:
    """Return the owners along one or two axes, in the middle of the others."""
    rows = runs(a._layout.axes[shown[0]]) if len(shown) == 2 else [(0, 1, 0)]
    found = []
    for top, bottom, row in rows:
        for left, right, column in runs(a._layout.axes[shown[-1]]):
            position = [int(axis.owner(axis.length // 2)) for axis in a._layout.axes]
            if len(shown) == 2:
                position[shown[0]] = row
            position[shown[-1]] = column
            found.append(Cell(a._layout.pe_at(position), top, bottom, left, right))
    return found


def _note(a: DistArray, shown: tuple[int, ...], drawn: list[Cell]) -> str:
    """Return a note of the cells that the picture of the owners leaves out."""
    ends = [max(cell.bottom for cell in drawn), max(cell.right for cell in drawn)][-len(shown) :]
    parts = [
        f"indices 0:{end} of {a.shape[number]} along axis {number}"
        for number, end in zip(shown, ends, strict=True)
        if end < a.shape[number]
    ]
    if a.ndim > 2:
        parts.append(f"axes {shown[0]} and {shown[1]} of {a.ndim}, in the middle of the others")
    return "; ".join(parts)


def in_html(a: DistArray) -> str:
    """Return a table of an array's properties, and its owners as a picture."""
    part, position = " x ".join(map(str, a.local.shape)), a._layout.ranges_text(a._me)
    rows = {
        "shape": " x ".join(map(str, a.shape)),
        "dtype": str(a.dtype),
        "distribution": f"{a._layout.kinds} on a grid of {' x '.join(map(str, a.grid))}",
        **({"halo": str(a._layout.halo)} if a._layout.has_halo else {}),
        f"part of PE {a._me}": f"{part} at {position}" if position else part,
        "memory": f"{a._block.nbytes:,} bytes on each PE",
    }
    table = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows.items())
    picture = _svg(a) if a.size else ""
    return f"<div><b>DistArray</b><table>{table}</table>{picture}</div>"


def _svg(a: DistArray) -> str:
    shown = axes_to_draw(a)
    drawn = cells(a, shown)
    rows, columns = max(cell.bottom for cell in drawn), max(cell.right for cell in drawn)
    height = min(max(WIDTH * rows // columns, LOWEST), HIGHEST) if len(shown) == 2 else LOWEST
    boxes = []
    for pe, top, bottom, left, right in drawn:
        x, y = left * WIDTH / columns, top * height / rows
        wide, high = (right - left) * WIDTH / columns, (bottom - top) * height / rows
        boxes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{_colour(pe)}" stroke="#555"/>'
        )
        if wide >= 16 and high >= 12:
            middle = f'x="{x + wide / 2:.1f}" y="{y + high / 2 + 4:.1f}"'
            boxes.append(f'<text {middle} font-size="11" fill="#000" text-anchor="middle">{pe}</text>')
    note = _note(a, shown, drawn)
    caption = f"<div>owners{': ' + html.escape(note) if note else ''}</div>"
    view = f'width="{WIDTH + 2}" height="{height + 2}" viewBox="-1 -1 {WIDTH + 2} {height + 2}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view}>{"".join(boxes)}</svg>{caption}'


def _colour(pe: int) -> str:
    return COLOURS[pe % len(COLOURS)]


def some_elements(a: DistArray, shown: tuple[int, ...]) -> tuple[Array, tuple[int, ...]]:
    """Return at most MOST_POINTS elements along each axis drawn, in the middle of the others; and the steps."""
    steps = tuple(-(-a.shape[number] // MOST_POINTS) for number in shown)
    key: list[Any] = [n // 2 for n in a.shape]
    for number, step in zip(shown, steps, strict=True):
        key[number] = slice(None, None, step)
    found = a._on_host(tuple(key))
    return np.abs(found) if found.dtype.kind == "c" else found, steps


def plot(a: DistArray, path: Any = None) -> Any:
    """See `DistArray.plot`."""
    plt = required("a.plot()", "matplotlib.pyplot")
    if not a.size:
        raise ValueError(f"a.plot(): an array of shape {a.shape} has no elements to draw.")
    shown = axes_to_draw(a)
    figure, (owners, data) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    _draw_owners(a, shown, owners, plt.Rectangle)
    _draw_data(a, shown, figure, data)
    for picture in (owners, data):
        picture.set_xlabel(f"axis {shown[-1]}")
        if len(shown) == 2:
            picture.set_ylabel(f"axis {shown[0]}")
    if path is None:
        return figure
    try:
        figure.savefig(path)
    finally:
        plt.close(figure)
    return None


def _draw_owners(a: DistArray, shown: tuple[int, ...], picture: Any, rectangle: Any) -> None:
    drawn = cells(a, shown)
    for pe, top, bottom, left, right in drawn:
        position = (left, top), right - left, bottom - top
        picture.add_patch(rectangle(*position, facecolor=_colour(pe), edgecolor="#555"))
        if len(drawn) <= 144:
            picture.text((left + right) / 2, (top + bottom) / 2, str(pe), ha="center", va="center")
    picture.set_xlim(0, max(cell.right for cell in drawn))
    picture.set_ylim(max(cell.bottom for cell in drawn), 0)
    if len(shown) == 1:
        picture.set_yticks([])
    note = _note(a, shown, drawn)
    picture.set_title("PEs that own the elements" + (f"\n{note}" if note else ""), fontsize=10)


def _draw_data(a: DistArray, shown: tuple[int, ...], figure: Any, picture: Any) -> None:
    if a.dtype.kind not in "biufc":
        picture.set_title(f"elements of {a.dtype.kind!r} are not drawn", fontsize=10)
        return
    values, steps = some_elements(a, shown)
    if len(shown) == 1:
        picture.plot(np.arange(0, a.shape[0], steps[0]), values)
    else:
        ends = a.shape[shown[1]], a.shape[shown[0]]
        image = picture.imshow(
            values, extent=(0, ends[0], ends[1], 0), aspect="auto", interpolation="nearest"
        )
        figure.colorbar(image, ax=picture)
    what = "absolute values" if a.dtype.kind == "c" else "elements"
    every = f" in steps of {' x '.join(map(str, steps))}" if max(steps) > 1 else ""
    others = (
        f"\nat {', '.join(f'{a.shape[k] // 2} of axis {k}' for k in range(a.ndim) if k not in shown)}"
        if a.ndim > 2
        else ""
    )
    picture.set_title(f"{what}{every}{others}", fontsize=10)
