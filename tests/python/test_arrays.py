"""atoll.arrays: the distributions of an axis, and every operation beside NumPy on 1 to 7 PEs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from atoll.arrays import _axis, _layout
from atoll.arrays._axis import Axis, Range
from hypothesis import given
from hypothesis import strategies as st
from jobs import ROOT, Job


@st.composite
def axes(draw: st.DrawFn) -> Axis:
    length, parts = draw(st.integers(0, 40)), draw(st.integers(1, 6))
    match draw(st.sampled_from(["block", "irregular", "cyclic"])):
        case "block":
            return _axis.block(length, parts)
        case "irregular":
            cuts = sorted(draw(st.lists(st.integers(0, length), min_size=parts - 1, max_size=parts - 1)))
            return _axis.irregular(length, [0, *cuts, length])
        case _:
            return _axis.cyclic(length, parts, draw(st.integers(1, 5)))


@given(axes())
def test_each_index_has_one_owner_and_place(axis: Axis) -> None:
    owners: dict[int, tuple[int, int]] = {}
    for part in range(axis.parts):
        indices = axis.indices(part)
        assert len(indices) == axis.extent(part) <= axis.largest()
        assert list(indices) == sorted(indices)
        for place, index in enumerate(indices):
            owners[int(index)] = (part, place)
    assert sorted(owners) == list(range(axis.length))
    for index, (part, place) in owners.items():
        assert (int(axis.owner(index)), int(axis.local(index))) == (part, place)


@given(axes(), st.data())
def test_segments_are_the_shares_of_a_range(axis: Axis, data: st.DataObject) -> None:
    if axis.length == 0:
        return
    start, step = data.draw(st.integers(0, axis.length - 1)), data.draw(st.integers(1, 7))
    count = data.draw(st.integers(0, len(range(start, axis.length, step))))
    wanted = Range(start, count, step)
    found = {}
    for part in range(axis.parts):
        indices = axis.indices(part)
        for segment in axis.segments(part, wanted):
            assert segment.local.count == segment.place.count > 0
            for local, place in zip(
                range(10**6)[segment.local.slice], range(10**6)[segment.place.slice], strict=True
            ):
                found[place] = int(indices[local])
    assert [found[place] for place in sorted(found)] == list(range(start, start + count * step, step))


@given(axes())
def test_owned_ranges_are_the_part(axis: Axis) -> None:
    for part in range(axis.parts):
        found = np.full(axis.extent(part), -1)
        for segment in axis.owned(part):
            found[segment.local.slice] = np.arange(10**4)[segment.place.slice]
        assert list(found) == list(axis.indices(part))


@pytest.mark.parametrize(
    ("lengths", "pes", "grid"),
    [
        ((100, 100), 4, (2, 2)),
        ((100, 100), 2, (2, 1)),
        ((10, 1000), 4, (1, 4)),
        ((100,), 7, (7,)),
        ((64, 64, 64), 8, (2, 2, 2)),
        ((2, 2, 50), 6, (1, 1, 6)),
    ],
)
def test_the_default_grid_cuts_little(lengths: tuple[int, ...], pes: int, grid: tuple[int, ...]) -> None:
    assert _layout.best_grid(lengths, pes) == grid


def test_every_operation_is_numpys(job: Job, tmp_path: Path) -> None:
    """The random numbers have the same bits on any number of PEs."""
    seen = set()
    for n, rounds in ((1, 3), (2, 6), (3, 3), (4, 4), (7, 2)):
        done = job("distributed_arrays.py", n, str(tmp_path), str(rounds))
        lines = done.stdout.splitlines()
        assert lines[-1] == "15 checks"
        seen.update(line for line in lines if line.startswith("random"))
    assert len(seen) == 1


PAGE = (ROOT / "docs/arrays.md").read_text()
BLOCKS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.S | re.M))


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_programs_of_the_page_run(job: Job, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(BLOCKS[name])
    done = job(str(tmp_path / name), 2)
    if name == "first.py":
        for line in done.stdout.splitlines():
            assert f"    {line}\n" in PAGE
        assert len(done.stdout.splitlines()) == 6
    else:
        said = done.stdout.splitlines()
        assert "(60, 80): smooth" in said and len(set(said)) == 2
