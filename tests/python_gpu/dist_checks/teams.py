"""Distributed arrays of teams on GPUs: the same operations by two teams at once, and the way between teams."""

from __future__ import annotations

from collections.abc import Callable

import atoll
import numpy as np
from atoll import arrays, fft, sparse

from .common import SHAPE, equal, kind, refused, whole_of

ROOM = 1 << 20
reserved: set[str] = set()


def teams() -> None:
    n, color = atoll.n_pes(), atoll.my_pe() % 2
    half = atoll.WORLD.split(color)
    place = kind.get("device", "cpu")
    if half.size < n and place not in reserved:
        what = "no memory is reserved for it"
        refused("a team without memory", atoll.OutOfMemory, what, lambda: arrays.zeros(3, team=half, **kind))
    for each in sorted({place, "cpu"} - reserved):  # elements of sparse matrices are exchanged on hosts
        reserved.add(each)
        arrays.reserve(ROOM, each)
    whole = whole_of("float64", color)
    a = arrays.from_array(whole, team=half, halo=1, **kind)
    assert a.team == half and (half.size == n or f"of a team of {half.size}" in repr(a)), a
    equal("of a team", a, whole)
    with_boxes(a, whole, half)
    computed(a, whole)
    multiplied(half)
    kept(half)
    if half.size < n:
        b = arrays.ones(SHAPE, **kind)
        refused("other teams", atoll.InvalidArgument, "different teams", lambda: a + b)
        asks = "reserve(nbytes, device='cuda')" if "device" in kind else "reserve(nbytes)"
        refused("no room", atoll.OutOfMemory, asks, lambda: arrays.zeros(ROOM * n, team=half, **kind))
    atoll.barrier_all()
    there_and_back(half, color)


def multiplied(half: atoll.Team) -> None:
    n = 12
    i = np.arange(n) if half.my_pe() == 0 else np.arange(0)
    matrix = sparse.from_triplets(i, i[::-1], i + 1.0, (n, n), team=half, **kind)
    x = arrays.arange(n, dtype=float, team=half, **kind)
    equal("sparse A @ x of a team", matrix @ x, np.arange(1, n + 1) * np.arange(n)[::-1])


def with_boxes(a: arrays.DistArray, whole: np.ndarray, half: atoll.Team) -> None:
    me = half.my_pe()
    equal("a[box] of a team", a[2:11, ::-2], whole[2:11, ::-2])
    a.barrier()
    if me == half.size - 1:
        a[1:5, 2:7] = -1
        a[9] = a._library.array(np.arange(9.0))
    whole[1:5, 2:7] = -1
    whole[9] = np.arange(9)
    a.barrier()
    equal("a[box] = x of a team", a[...], whole)
    a.barrier()
    a.accumulate(np.s_[::3, 1], 2)
    a.at[[0, 12, 12], [8, 0, 0]].add(1)
    a.barrier()
    whole[::3, 1] += 2 * half.size
    np.add.at(whole, ([0, 12, 12], [8, 0, 0]), half.size)
    equal("a.at of a team", a.at[[0, 3, 12], [8, 1, 0]].get(), whole[[0, 3, 12], [8, 1, 0]])
    a.barrier()
    before = a.fetch_add((6, 6), 1)
    a.barrier()
    assert whole[6, 6] <= before < whole[6, 6] + half.size, before
    whole[6, 6] += half.size
    for _ in range(2):
        a.exchange_halo("periodic")
        rows, columns = (slice(start, stop + 2) for start, stop in a.bounds())
        equal("halo of a team", a.local_with_halo, np.pad(whole, 1, mode="wrap")[rows, columns])
        a.local[...] += 1
        whole += 1
    a.barrier()


def computed(a: arrays.DistArray, whole: np.ndarray) -> None:
    equal("a + b of a team", a * 2 + a, whole * 3)
    equal("sum of a team", a.sum(0), whole.sum(0))
    equal("transpose of a team", a.T, whole.T)
    equal("@ of a team", a @ a.T, whole @ whole.T, exact=False)
    equal("cumsum of a team", a.cumsum(0), whole.cumsum(0), exact=False)
    equal("a[mask] of a team", a[a > 40], whole[whole > 40])
    line = a.ravel()
    equal("sort of a team", np.sort(line), np.sort(whole, axis=None))
    equal("unique of a team", np.unique(a), np.unique(whole))
    equal("fft of a team", fft.irfft2(fft.rfft2(a), whole.shape), whole, exact=False)


def kept(half: atoll.Team) -> None:
    """A view keeps the memory of an array that was dropped; without views it is used again."""
    rows = ROOM // 8 // 8 * half.size  # an eighth of the room
    for turn in range(20):
        dropped = arrays.full(rows, float(turn), team=half, **kind)
        view = dropped.local[:3]
        del dropped
        other = arrays.full(rows, -1.0, team=half, **kind)
        equal("a view", view, np.full(3, float(turn)))
        equal("beside it", other[:2], np.full(2, -1.0))
        half.barrier()
        del view, other


def there_and_back(half: atoll.Team, color: int) -> None:
    """The even PEs' array goes to the odd ones, to all, and to the first team again."""
    whole = whole_of("float32")
    a = arrays.from_array(whole, team=half, dist=["cyclic", "block"], **kind) if color == 0 else None
    b = arrays.redistribute(a, team=half if color == min(1, atoll.n_pes() - 1) else None)
    if b is not None:
        assert type(b.local) is type(b._library.array(np.zeros(1)))
        equal("another team's", b, whole)
    c = arrays.redistribute(b, team=atoll.WORLD)
    assert c is not None
    equal("all PEs'", c + 1, whole + 1)
    d = arrays.redistribute(c, team=half if color == 0 else None, dist="cyclic")
    if d is not None:
        equal("a team's", d, whole)
    atoll.barrier_all()


TEAMS: list[Callable[[], None]] = [teams]
