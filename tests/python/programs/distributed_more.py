"""Arrays with replicated axes, indexed in-place operators and NumPy's integers, beside NumPy. Each check is by all PEs."""

from __future__ import annotations

import copy
import pickle
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
from atoll import arrays, fft
from atoll.arrays import DistArray, _axis
from distributed import CHECKS, check, equal, main, refused, some_array
from distributed_boxes import some_box

CHECKS.clear()  # those of the programs that have the functions above

IN_PLACE = [
    compile(f"a[box] {symbol}= operand", "in_place", "exec")
    for symbol in ("+", "-", "*", "**", "//", "%", "&", "|", "^", "<<", ">>")
]


def same(found: Any, wanted: Any) -> None:
    equal(found.to_numpy() if isinstance(found, DistArray) else found, wanted)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found.to_numpy() if isinstance(found, DistArray) else found, wanted, 1e-12)


def grid_of(rng: random.Random, axes: int) -> tuple[int, ...]:
    """Return a grid for all PEs."""
    left, found = atoll.n_pes(), []
    for _ in range(axes - 1):
        found.append(rng.choice([n for n in range(1, left + 1) if left % n == 0]))
        left //= found[-1]
    return (*found, left)


def with_copies(rng: random.Random, dtype: Any = None, axes: int | None = None) -> tuple[DistArray, Any]:
    """Return an array of which some axes are replicated, and its elements."""
    axes = axes or rng.randint(1, 3)
    shape = tuple(rng.randint(1, 7) for _ in range(axes))
    dist = [rng.choice(["block", "cyclic", "replicated", "cyclic(2)"]) for _ in range(axes)]
    dist[rng.randrange(axes)] = "replicated"
    whole = (
        (np.arange(np.prod(shape)) * 7 % 23)
        .reshape(shape)
        .astype(dtype or rng.choice(["i8", "f8", "f4", "c16"]))
    )
    return arrays.from_array(whole, dist=dist, grid=grid_of(rng, axes)), whole


def are_copies(a: DistArray, whole: Any) -> None:
    """Check the elements from any side, and this PE's part itself."""
    same(a, whole)
    equal(a.local, whole[np.ix_(*(a.global_indices(axis) for axis in range(a.ndim)))])
    atoll.barrier_all()


@check
def copies_are_written_and_read(rng: random.Random) -> None:
    a, whole = with_copies(rng)
    are_copies(a, whole)
    box = some_box(rng, a.shape)
    equal(a[box], whole[box])
    values = np.asarray(rng.randint(1, 9), a.dtype) * np.ones(np.shape(whole[box]), a.dtype)
    index = tuple(np.array([rng.randint(-n, n - 1) for _ in range(9)]) for n in a.shape)
    equal(a.at[index].get(), whole[index])
    atoll.barrier_all()
    if atoll.my_pe() == atoll.n_pes() - 1:
        a[box] = values
    whole[box] = values
    atoll.barrier_all()
    are_copies(a, whole)
    if atoll.my_pe() == 0:
        a.at[index].set(4)
    whole[index] = 4
    atoll.barrier_all()
    are_copies(a, whole)
    forward = tuple(slice(0, rng.randint(0, n)) for n in a.shape)
    out = np.empty_like(whole[forward])
    a.get_nbi(forward, out)
    atoll.quiet()
    equal(out, whole[forward])
    atoll.barrier_all()
    if atoll.my_pe() == 0:
        a.put_nbi(forward, out + 1)
    whole[forward] += 1
    atoll.barrier_all()
    are_copies(a, whole)
    a.fill(2)
    are_copies(a, np.full_like(whole, 2))
    first = (0,) * a.ndim
    if any(axis.has_copies for axis in a._layout.axes):
        assert "replicated" in repr(a) and 0 <= a.owner(first) < atoll.n_pes()
        cases: list[tuple[Callable[[], Any], str]] = [
            (lambda: a.accumulate(first, 1), "no update of several copies is atomic"),
            (lambda: a.fetch_add(first, 1), "redistribute"),
            (lambda: a.at[first].add(1), "redistribute"),
            (lambda: a.device(), "replicated"),
            (lambda: arrays.zeros(3, dist="replicated", halo=1), "a width for each axis"),
        ]
        refused(cases if atoll.n_pes() > 1 else [])


@check
def copies_are_computed_with(rng: random.Random) -> None:
    a, whole = with_copies(rng, rng.choice(["i8", "f8"]))
    b = a * 2 + 1
    assert b._layout == a._layout
    are_copies(b, whole * 2 + 1)
    a += b
    whole = whole * 3 + 1
    atoll.barrier_all()
    are_copies(a, whole)
    axis = rng.randrange(a.ndim)
    equal(a.sum(), whole.sum())
    equal(a.max(axis), whole.max(axis))
    equal(a.argmax(), whole.argmax())
    close(a.mean(axis), whole.mean(axis))
    same(np.cumsum(a, axis), np.cumsum(whole, axis))
    same(np.sort(a, axis), np.sort(whole, axis))
    same(a.T, whole.T)
    same(np.roll(a, 2, axis), np.roll(whole, 2, axis))
    same(np.concatenate([a, b], axis), np.concatenate([whole, whole * 0 + b.to_numpy()], axis))
    same(a.reshape(-1), whole.reshape(-1))
    same(a[a > 9], whole[whole > 9])
    assert np.count_nonzero(a) == np.count_nonzero(whole)
    equal(np.histogram(a, 3)[0], np.histogram(whole, 3)[0])
    a.sort(axis)
    are_copies(a, np.sort(whole, axis))
    arrays.shuffle(a, 3)
    are_copies(a, np.random.Generator(np.random.Philox(key=3)).permutation(np.sort(whole, axis)))
    whole = a.to_numpy()
    chosen = whole > np.median(whole)
    a[a > np.median(whole)] = arrays.from_array(np.arange(int(chosen.sum())).astype(whole.dtype))
    whole[chosen] = np.arange(int(chosen.sum()))
    are_copies(a, whole)


@check
def copies_come_and_go(rng: random.Random) -> None:
    a, whole = with_copies(rng)
    other, more = some_array(rng)
    are_copies(a.redistribute("block"), whole)
    dist = ["replicated", *("block" for _ in range(other.ndim - 1))]
    there = other.redistribute(dist, grid=grid_of(rng, other.ndim))
    are_copies(there, more)
    back = arrays.zeros(other.shape, other.dtype)
    are_copies(there.redistribute(out=back), more)
    other.redistribute(out=there)
    are_copies(there, more)
    n = rng.randint(1, 9)
    are_copies(arrays.arange(n, dist="replicated"), np.arange(n))
    assert arrays.zeros((n, 3), dist=["block", "replicated"]).grid == (atoll.n_pes(), 1)
    assert arrays.zeros((3, n), dist="replicated").grid == (atoll.n_pes(), 1)


@check
def halos_are_exchanged_beside_copies(rng: random.Random) -> None:
    grid = grid_of(rng, 2)
    a = arrays.from_function(
        lambda i, j: 10 * i + j, (3 * grid[0], 4), int, dist=["block", "replicated"], grid=grid, halo=[1, 0]
    )
    a.exchange_halo("periodic")
    whole = a.to_numpy()
    rows = np.arange(a.bounds()[0][0] - 1, a.bounds()[0][1] + 1)
    equal(a.local_with_halo, whole.take(rows, 0, mode="wrap"))


@check
def accumulated_values_may_be_the_memory_of_the_array(rng: random.Random) -> None:
    a = arrays.ones(12 * atoll.n_pes(), dtype="i8")
    atoll.barrier_all()
    if atoll.my_pe() == 0:
        first, step = rng.randint(1, 3), rng.choice((1, -1))
        a.accumulate(slice(first, first + 9) if step > 0 else slice(first + 8, first - 1, -1), a.local[:9])
        whole = np.ones_like(a.get(...))
        whole[first : first + 9] = 2
        equal(a.get(...), whole)
    atoll.barrier_all()
    words = arrays.from_array(np.array(["a", "", "b"]), dist="replicated")
    assert np.count_nonzero(words) == 2


@check
def boxes_change_in_place(rng: random.Random) -> None:
    a, whole = some_array(rng, "i8")
    atoll.barrier_all()
    if atoll.my_pe() == 0:
        for _ in range(6):
            box = some_box(rng, a.shape)
            change, number = rng.choice(IN_PLACE), rng.randint(1, 3)
            operand = number if rng.random() < 0.5 else np.full(np.shape(whole[box]), number)
            for array in (whole, a):
                exec(change, {"a": array, "box": box, "operand": operand})
        a[0] += 1
        whole[0] += 1
        a[..., [0, -1]] -= 2
        whole[..., [0, -1]] -= 2
        a[whole > 5] *= 3
        whole[whole > 5] *= 3
        same_row = a[0] if a.ndim > 1 else a[:]
        before = same_row.copy()
        assert type(same_row + 1) is type(before) is type(np.negative(same_row)) is np.ndarray
        assert type(same_row.sum()) is np.int64 and type(pickle.loads(pickle.dumps(same_row))) is np.ndarray
        assert type(copy.copy(same_row)) is type(copy.deepcopy(same_row)) is np.ndarray
        own = other = np.zeros_like(same_row)
        own += 1
        assert own is other and (other == 1).all()
        assert repr(same_row) == repr(before)
        matrix = arrays.DistArray.get(a, ...)
        assert type(matrix) is np.ndarray

        def lost() -> None:
            a[:][0:1] += 1

        def lost_by_name() -> None:
            row = a[:]
            row += 1

        def of_arrays() -> None:
            a[...] += a

        def inexact() -> None:
            a[0:1] += 1.5

        refused(
            [
                (lost, "read-only"),
                (lost_by_name, "a.get(box)"),
                (of_arrays, "b[box]"),
                (inexact, "Cannot cast"),
            ]
        )
    atoll.barrier_all()
    if atoll.my_pe() == 0:
        equal(a.get(...), whole)


@check
def large_boxes_with_gaps_are_written(rng: random.Random) -> None:
    """On one PE the box has more than 8 MiB, which bypasses the cache."""
    a, x = arrays.zeros((1100, 1001)), np.arange(1100 * 1010).reshape(1100, 1010) * 1.0
    row = rng.randint(0, 3)
    if atoll.my_pe() == 0:
        a[row:] = x[row:, 4:1005]
    x[:row] = 0
    atoll.barrier_all()
    equal(a.local, x[:, 4:1005][tuple(slice(*ends) for ends in a.bounds())])
    same(a.redistribute(["whole", "block"]), x[:, 4:1005])


def functions(k: Callable[[int], Any]) -> list[Callable[[Any, Any, Any], Any]]:
    """Return calls of NumPy with integers of some kind, for arrays of shapes (4, 6), (12,) and (4, 1, 6)."""
    return [
        lambda a, b, c: [
            a.sum(k(0)),
            a.sum((k(0), k(1))),
            np.mean(a, axis=k(1)),
            a.argmax(k(0)),
            a.var(k(0)),
        ],
        lambda a, b, c: [a.std(k(0), ddof=k(1)), np.any(a, axis=k(0)), a.prod(k(0)), np.ptp(a, axis=k(0))],
        lambda a, b, c: [np.count_nonzero(a, axis=k(0)), np.add.reduce(a, k(0)), np.size(a, k(0))],
        lambda a, b, c: [np.cumsum(a, k(0)), np.cumulative_sum(a, axis=k(0), include_initial=True)],
        lambda a, b, c: [np.sort(a, k(0)), np.argsort(a, k(0)), np.add.accumulate(a, k(0))],
        lambda a, b, c: [np.take(a, [1], axis=k(0)), np.repeat(a, k(2), k(0)), np.tile(a, k(2))],
        lambda a, b, c: [np.take_along_axis(a, np.zeros((1, 6), int), k(0)), np.tile(a, (k(2), k(1)))],
        lambda a, b, c: [np.pad(a, k(1)), np.pad(a, ((k(1), k(2)), (k(0), k(0))), constant_values=k(3))],
        lambda a, b, c: [
            np.expand_dims(a, k(1)),
            np.expand_dims(a, (k(1), k(0))),
            np.squeeze(c, k(1)),
            c.squeeze(k(1)),
        ],
        lambda a, b, c: [np.moveaxis(a, k(0), k(1)), np.stack([a, a], k(1)), np.unstack(a, axis=k(0))[1]],
        lambda a, b, c: [np.broadcast_to(b, (k(2), k(12))), np.broadcast_to(b[:1] * np.ones(1), k(5))],
        lambda a, b, c: [np.diff(a, k(2), k(1)), np.quantile(a, k(1)), np.percentile(a, k(50), axis=k(1))],
        lambda a, b, c: [np.median(a, k(0)), np.average(a, k(1), np.arange(6) + 1), np.nansum(a, k(0))],
        lambda a, b, c: [
            np.linalg.norm(a, axis=k(0)),
            np.linalg.norm(b, k(1)),
            np.linalg.vector_norm(a, axis=k(1)),
        ],
        lambda a, b, c: [np.histogram(a, k(5))[0], np.histogram(a, k(5), (k(0), k(9)))[0]],
        lambda a, b, c: [np.bincount(b, minlength=k(20)), np.searchsorted(b, k(3)), np.isin(b, k(3))],
        lambda a, b, c: [np.transpose(a, (k(1), k(0))), a.transpose(k(1), k(0)), a.swapaxes(k(0), k(1))],
        lambda a, b, c: [np.reshape(a, (k(6), k(4))), a.reshape(k(6), k(-1)), a.reshape(k(24))],
        lambda a, b, c: [np.roll(a, k(1), k(0)), np.roll(a, (k(1), k(2)), (k(0), k(1))), np.flip(a, k(0))],
        lambda a, b, c: [
            np.concatenate([a, a], k(1)),
            a.round(k(1)),
            np.clip(a, k(1), k(3)),
            np.full_like(a, k(3)),
        ],
        lambda a, b, c: [a[k(0), k(1)], a[k(0) : k(3) : k(2)], np.fft.fft(a, k(6), k(0)).real.round(9)],
    ]


@check
def integers_may_be_numpys(rng: random.Random) -> None:
    whole = np.arange(24.0).reshape(4, 6)
    ones, line = whole.reshape(4, 1, 6), np.arange(12)
    a, b, c = map(arrays.from_array, (whole, line, ones))
    kind: Callable[[int], Any] = rng.choice([np.int64, np.int8, np.int32, np.array])
    for ours, numpys in zip(functions(kind), functions(int), strict=True):
        try:
            found = ours(a, b, c)
        except Exception as error:
            raise AssertionError(f"{kind} in line {ours.__code__.co_firstlineno}: {error!r}") from error
        for one, wanted in zip(found, numpys(whole, line, ones), strict=True):
            np.testing.assert_allclose(one.to_numpy() if isinstance(one, DistArray) else one, wanted)
    k, n = kind, atoll.n_pes()
    assert arrays.zeros((k(5), k(4)), grid=(k(1), k(n))).shape == (5, 4)
    assert arrays.zeros((n, 6), halo=(k(1), (k(0), k(1))), grid=[k(n), 1])._layout.halo == ((1, 1), (0, 1))
    assert arrays.zeros(k(2 * n), halo=k(1)).shape == (2 * n,)
    assert arrays.zeros(k(4), dist=[k(0), *[k(2)] * (n - 1), k(4)]).shape == (4,)
    same(arrays.arange(k(3), k(9), k(2)), np.arange(3, 9, 2))
    same(arrays.linspace(k(0), k(3), k(4)), np.linspace(0, 3, 4))
    same(arrays.eye(k(3), k(4), k=k(1)), np.eye(3, 4, 1))
    same(arrays.random(k(9), seed=k(3)), arrays.random(9, seed=3).to_numpy())
    same(fft.fftshift(a, k(0)), np.fft.fftshift(whole, 0))
    close(fft.fftn(a, (k(4), k(6)), (k(0), k(1))), np.fft.fftn(whole))
    assert a.bounds(k(0)) == a.bounds(0) and a.owner((k(0), k(1))) == a.owner((0, 1))
    equal(a.global_indices(k(0), k(0)), a.global_indices(0, 0))
    equal(a.item(k(0), k(1)), 1.0)
    assert (a.gather(k(0)) is None) == (atoll.my_pe() != 0)
    atoll.barrier_all()
    b.fetch_add(k(0), k(1))
    b.accumulate(k(1), k(1), k(2))
    atoll.barrier_all()
    line[0], line[1] = n, 1 + 2 * n
    same(b, line)
    b.fill(k(3))
    same(b, np.full(12, 3))


def stand_in_for_mpi4py_fft(turn: int) -> None:
    """Put modules in place of mpi4py-fft, whose processes are the PEs, numbered from another one on."""
    n = atoll.n_pes()
    world = types.SimpleNamespace(Get_size=lambda: n, Get_rank=lambda: (atoll.my_pe() + turn) % n)

    class Subcomm(tuple[int, ...]):
        def __new__(cls, comm: Any, dims: list[int]) -> Any:
            assert comm is world and int(np.prod(dims)) == n
            return super().__new__(cls, dims)

    class Array(np.ndarray[Any, Any]):
        """Blocks of all axes, as of mpi4py-fft's pencils, of which one axis at least is whole."""

        def __new__(
            cls,
            shape: Any,
            subcomm: Any,
            dtype: Any = float,
            buffer: Any = None,
            alignment: int | None = None,
            rank: int = 0,
        ) -> Any:
            assert 1 in subcomm and len(shape) == len(subcomm) + rank
            place = np.unravel_index(world.Get_rank(), subcomm)
            ends = [
                _axis.block(m, p).ends(int(at)) for m, p, at in zip(shape[rank:], subcomm, place, strict=True)
            ]
            box = (*(slice(0, m) for m in shape[:rank]), *(slice(*each) for each in ends))
            made = super().__new__(cls, [each.stop - each.start for each in box], dtype, buffer)
            made.global_shape, made.commsizes, made.rank, made.pencil = (
                tuple(shape),
                list(subcomm),
                rank,
                object(),
            )
            made.local_slice = lambda: box
            made.alignment = max(np.flatnonzero(np.array(subcomm) == 1)) if alignment is None else alignment
            assert subcomm[made.alignment] == 1
            return made

    library = types.ModuleType("mpi4py_fft")
    library.DistArray = Array  # type: ignore[attr-defined]
    sys.modules["mpi4py_fft"] = library
    sys.modules["mpi4py_fft.pencil"] = types.SimpleNamespace(Subcomm=Subcomm)  # type: ignore[assignment]
    sys.modules["mpi4py.MPI"] = types.SimpleNamespace(COMM_WORLD=world)  # type: ignore[assignment]


@check
def pencils_of_mpi4py_fft_come_and_go(rng: random.Random) -> None:
    turn = rng.randrange(atoll.n_pes())
    stand_in_for_mpi4py_fft(turn)
    a, whole = some_array(rng) if rng.random() < 0.5 else with_copies(rng)
    if a.ndim == 1:
        refused(
            [
                (lambda: arrays.to_mpi4py_fft(a), "two or more"),
                (lambda: arrays.from_mpi4py_fft(whole), "more axes"),
            ]
        )
        return
    axis = rng.choice([None, *range(-a.ndim, a.ndim)])
    pencil = arrays.to_mpi4py_fft(a, axis)
    assert pencil.global_shape == whole.shape and (axis is None or pencil.alignment == axis % a.ndim)
    equal(np.asarray(pencil), whole[pencil.local_slice()])
    back = arrays.from_mpi4py_fft(pencil)
    same(back, whole)
    assert back.grid == tuple(pencil.commsizes)
    same(arrays.from_mpi4py_fft(pencil, dist="cyclic"), whole)
    again = arrays.to_mpi4py_fft(back)
    again[...] = 0
    atoll.barrier_all()
    is_shared = turn == 0 and all(back.bounds(pe) for pe in range(atoll.n_pes()))
    same(back, np.zeros_like(whole) if is_shared else whole)
    vectors = type(pencil)((3, 4, atoll.n_pes()), [1, atoll.n_pes()], float, rank=1)
    vectors[...] = atoll.my_pe()
    found = arrays.from_mpi4py_fft(vectors)
    assert found.shape == (3, 4, atoll.n_pes()) and found.sum() == 12 * sum(range(atoll.n_pes()))


if __name__ == "__main__":
    main(int(sys.argv[1]))
