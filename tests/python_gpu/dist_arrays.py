"""Distributed arrays on GPUs beside NumPy: boxes, elements, halos, computation, redistribution, files, refusals.

dist_arrays.py [LIBRARY...]   cupy, torch: those that are installed by default. "simulated": a CuPy made of NumPy on the
                              simulated GPU. "tensors": PyTorch's tensors in memory of the host.

Every PE checks everything, and prints how many checks of each kind it made.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from atoll.arrays._ufuncs import part_of
from dist_checks.common import (
    BOXES,
    DISTS,
    DTYPES,
    KINDS,
    PAIRS,
    REDUCED,
    REVERSED,
    SHAPE,
    WORDS,
    alone,
    checks,
    equal,
    host,
    kind,
    made,
    refused,
    whole_of,
)
from dist_checks.equations import EQUATIONS
from dist_checks.functions import FUNCTIONS
from dist_checks.rules import RULES
from dist_checks.streams import STREAMS
from dist_checks.teams import TEAMS

# ---- properties of an array


def makers() -> None:
    library = "tensors of PyTorch" if "device" not in kind else "on GPUs"
    if "device" in kind:
        other = {**kind, "device": "cuda:99"}
        refused("another GPU", atoll.InvalidArgument, "cuda:99", lambda: arrays.zeros(3, **other))
    a = arrays.zeros(SHAPE, **kind)
    assert library in repr(a), a
    if "device" in kind:
        numbered = {**kind, "device": f"cuda:{a._raw.device}"}
        equal("cuda:N", a + arrays.ones(SHAPE, **numbered), np.ones(SHAPE))
        refused("another GPU", atoll.InvalidArgument, "cuda:99", lambda: arrays.zeros(3, **other))
    equal("zeros", a, np.zeros(SHAPE))
    equal("ones", arrays.ones(SHAPE, "int32", **kind), np.ones(SHAPE, "int32"))
    equal("full", arrays.full(SHAPE, 2.5, "float32", **kind), np.full(SHAPE, 2.5, "float32"))
    equal("arange", arrays.arange(3, 40, 2, **kind), np.arange(3, 40, 2))
    equal("from_function", arrays.from_function(lambda i, j: 10 * i + j, SHAPE, int, **kind),
          np.fromfunction(lambda i, j: 10 * i + j, SHAPE, dtype=int))  # fmt: skip
    equal("random", arrays.random(SHAPE, seed=4, **kind), arrays.random(SHAPE, seed=4).to_numpy())
    root = arrays.from_array(whole_of("float32") if atoll.my_pe() == 0 else None, root=0, **kind)
    equal("from_array(root=)", root, whole_of("float32"))
    equal("from_array of the library", arrays.from_array(root.get(...), **kind), whole_of("float32"))
    equal("zeros_like", np.ones_like(root), np.ones(SHAPE, "float32"))
    a.free()
    refused("freed", atoll.UseAfterFree, "freed", lambda: a[0])


def parts() -> None:
    for dist in DISTS:
        a, whole = made("float64", dist)
        mine = np.ix_(*(a.global_indices(axis) for axis in range(2)))
        equal("local", a.local, whole[mine])
        a.local[...] = a.local * 2
        a.barrier()
        equal("local written", a, whole * 2)
    a, whole = made("float32", halo=[(1, 2), 1])
    (top, bottom), (left, right) = a.bounds()
    assert tuple(a.local_with_halo.shape) == (bottom - top + 3, right - left + 2)
    equal("local", a.local_with_halo[1:-2, 1:-1], whole[top:bottom, left:right])


# ---- boxes and elements


def boxes() -> None:
    for dtype, dist in [*itertools.product(DTYPES, DISTS[:1]), *itertools.product(["float32"], DISTS[1:])]:
        a, whole = made(dtype, dist)
        for box in BOXES + REVERSED:
            equal("a[box]", a[box], whole[box])
            out = np.empty_like(whole[box])
            if out.ndim:
                assert a.get(box, out=out) is out
                equal("get(out=) of NumPy", out, whole[box])
        a.barrier()
        for number, box in enumerate(BOXES + REVERSED):
            value = whole_of(dtype, number + 1)[box]
            with alone(a) as works:
                if works:
                    a[box] = value if number % 2 else a._library.array(np.array(value))
            whole[box] = value
            equal("a[box] = x", a[box], whole[box])
        with alone(a) as works:
            if works:
                a[2:7, ::2] = 1
        whole[2:7, ::2] = 1
        equal("a[box] = number", a, whole)
        a.barrier()
    a, whole = made("float32", halo=1)
    out = a._library.empty((4, 9), a.dtype)
    assert a.get(np.s_[2:10:2, ::-1], out=out) is out
    equal("get(out=)", out, whole[2:10:2, ::-1])
    b, _ = made("float32", shift=5)
    with alone(a) as works:
        if works:
            a[3:6, 1:5] = b[3:6, 1:5]
    whole[3:6, 1:5] = whole_of("float32", 5)[3:6, 1:5]
    equal("a[box] = b[box]", a, whole)
    a.barrier()  # all have read
    a[...] = b
    a.barrier()
    equal("a[...] = b", a, b.to_numpy())
    a[b > 50] = 0
    a.barrier()
    equal("a[mask] = x", a, np.where(b.to_numpy() > 50, 0, b.to_numpy()))


def many_rounds() -> None:
    """Writes of this PE's part by kernels, then reads by the other PEs: each round must see the last one."""
    a = arrays.zeros((4 * atoll.n_pes(), 500), "float32", grid=(atoll.n_pes(), 1), **kind)
    right = (atoll.my_pe() + 1) % atoll.n_pes()
    for turn in range(1, 20):
        for _ in range(5):
            a.local[...] += 1
        a.barrier()
        if turn % atoll.n_pes() == atoll.my_pe():
            equal("rounds", a[4 * right, ::100], np.full(5, 5 * turn, "float32"))
        atoll.barrier_all()


def order() -> None:
    """A call without a stream is complete on return, though no PE waits for its GPU afterwards."""
    n, me = atoll.n_pes(), atoll.my_pe()
    a = arrays.zeros((n, 8), grid=(n, 1), **kind)
    right, mine = (me + 1) % n, slice(me, me + 1)

    def seen(expected: Any) -> None:
        atoll.barrier_all()
        if me == 0:
            equal("order", a._on_host(...), expected)
        atoll.barrier_all()

    out = a._library.empty((1, 8), a.dtype)
    for read in (lambda: a[mine], lambda: a.get((mine, slice(None, None, -1)), out=out)):
        a[mine] = 0
        atoll.barrier_all()
        found = read()
        atoll.barrier_all()
        if me == 0:
            a[1:] = np.arange(8.0)
        atoll.barrier_all()
        equal("order", found, np.zeros((1, 8)))
        atoll.barrier_all()
    a[right] = np.arange(8.0)
    seen(np.tile(np.arange(8.0), (n, 1)))
    a[a > 5] = 1
    seen(np.tile([0, 1, 2, 3, 4, 5, 1, 1], (n, 1)))
    b = arrays.full((n, 8), 4.0, grid=(n, 1), **kind)
    a[...] = b
    seen(np.full((n, 8), 4))
    a[mine] = 5
    seen(np.full((n, 8), 5))
    a[mine, ::2] = a._library.array(np.full((1, 4), 6.0))
    seen(np.tile([6.0, 5.0], (n, 4)))
    a.local[...] = 3
    equal("order", a.fetch_add((me, 1), 2), 3)
    a.local[...] = 8
    a.at[np.full(8, me), np.arange(8)].add(1)
    seen(np.full((n, 8), 9))
    a.local[...] = 1
    twice = a * 2
    a += twice
    del twice
    c = arrays.full((n, 8), 7.0, grid=(n, 1), **kind)  # in the memory of twice
    equal("order", a + c, np.full((n, 8), 10))


def elements() -> None:
    rng = np.random.default_rng(3)
    n, me = atoll.n_pes(), atoll.my_pe()
    for dtype, dist in [*itertools.product(WORDS, DISTS[:1]), *itertools.product(["float64"], DISTS[1:])]:
        a, whole = made(dtype, dist)
        a.accumulate(np.s_[1:9, ::2], whole_of(dtype)[1:9, ::2], 2)
        a.accumulate(np.s_[::-1, 3], 1)
        a.barrier()
        whole[1:9, ::2] += n * 2 * whole_of(dtype)[1:9, ::2]
        whole[:, 3] += np.asarray(n, dtype)
        equal("accumulate", a, whole)
        rows, columns = rng.integers(-SHAPE[0], SHAPE[0], 300), rng.integers(0, SHAPE[1], 300)
        equal("at.get", a.at[rows, columns].get(), whole[rows, columns])
        on_gpu = [a._library.array(index) for index in (rows, columns)]
        equal("at.get of GPU indices", a.at[tuple(on_gpu)].get(), whole[rows, columns])
        a.barrier()
        a.at[rows, columns].add(1)
        a.at[tuple(on_gpu)].add(a._library.array(np.arange(300).astype(dtype)))
        a.barrier()
        np.add.at(whole, (rows, columns), np.asarray(n, dtype))
        np.add.at(whole, (rows, columns), n * np.arange(300).astype(dtype))
        equal("at.add", a, whole)
        places = rng.permutation(SHAPE[0] * SHAPE[1])[me::n]
        a.barrier()
        a.at[np.unravel_index(places, SHAPE)].set(places.astype(dtype))
        a.barrier()
        equal("at.set", a, np.arange(SHAPE[0] * SHAPE[1]).reshape(SHAPE).astype(dtype))
        a.barrier()
        before = a.fetch_add((7, 5), 1)
        assert 68 <= before < 68 + n, before
        a.barrier()
        equal("fetch_add", a[7, 5], 68 + n)
        a.barrier()
    refused("a wrong index", IndexError, "out of bounds", lambda: a.at[a._library.array(np.array([40])), 0])


# ---- halos


def padded(whole: Any, width: int, border: Any) -> Any:
    if not isinstance(border, str):
        return np.pad(whole, width, constant_values=border)
    mode: Any = {"periodic": "wrap", "fixed": "constant"}.get(border, border)
    return np.pad(whole, width, mode=mode)


def halos() -> None:
    borders = ("periodic", "reflect", "symmetric", "edge", 2.5, "fixed")
    for border, width in itertools.product(borders, (1, 2)):
        for dist in ("block", ["block", "whole"]):
            a, whole = made("float64", dist, halo=width)
            for turn in range(3):
                a.local[...] += turn
                whole += turn
                if turn == 1:
                    a.start_halo(border)
                    a.finish_halo()
                else:
                    a.exchange_halo(border)
                rows, columns = (slice(start, stop + 2 * width) for start, stop in a.bounds())
                equal(f"halo, {border}", a.local_with_halo, padded(whole, width, border)[rows, columns])
    a, whole = made("int32", halo=[(1, 2), (0, 1)])
    a.exchange_halo("periodic")
    rows, columns = (
        slice(start, stop + more) for (start, stop), more in zip(a.bounds(), (3, 1), strict=True)
    )
    equal(
        "halo, of uneven widths",
        a.local_with_halo,
        np.pad(whole, [(1, 2), (0, 1)], mode="wrap")[rows, columns],
    )
    a = arrays.from_function(lambda i, j, k: 100 * i + 10 * j + k, (6, 6, 6), halo=1, **kind)
    a.exchange_halo("periodic")
    box = tuple(slice(start, stop + 2) for start, stop in a.bounds())
    equal("halo, 3-D", a.local_with_halo, np.pad(a.to_numpy(), 1, mode="wrap")[box])


def smoothed(x: Any) -> Any:
    return (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4


def jacobi(steps: int, exchange: Callable[[DistArray], None]) -> DistArray:
    u = arrays.random((24, 20), seed=1, halo=1, **kind)
    for _ in range(steps):
        exchange(u)
        u.local[...] = smoothed(u.local_with_halo)
    return u


def streams() -> None:
    expected = arrays.random((24, 20), seed=1).to_numpy()
    for _ in range(20):
        expected = smoothed(np.pad(expected, 1, mode="wrap"))
    equal("steps", jacobi(20, lambda u: u.exchange_halo("periodic")), expected, exact=False)
    if "device" not in kind:
        refused(
            "a stream of the host",
            ValueError,
            "leave the stream out",
            lambda: jacobi(1, lambda u: u.exchange_halo(stream=0)),
        )
        return
    current = lambda u: u.exchange_halo("periodic", stream="current")  # noqa: E731
    equal("steps on the current stream", jacobi(20, current), expected, exact=False)
    if kind.get("xp") == "torch":
        torch_streams(expected)
    elif "xp" in kind:
        cupy_streams(expected)


def step(u: DistArray, stream: Any) -> None:
    u.exchange_halo("periodic", stream=stream)
    u.local[...] = smoothed(u.local_with_halo)


def torch_streams(expected: Any) -> None:
    import torch

    stream = torch.cuda.Stream()
    u = arrays.random((24, 20), seed=1, halo=1, **kind)
    with torch.cuda.stream(stream):
        for _ in range(2):
            step(u, stream)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            step(u, stream)
        for _ in range(18):
            graph.replay()
        u.barrier()
    equal("steps in a graph", u, expected, exact=False)


def cupy_streams(expected: Any) -> None:
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    u = arrays.random((24, 20), seed=1, halo=1, **kind)
    with stream:
        for _ in range(2):
            step(u, stream)
        stream.synchronize()
        stream.begin_capture()
        step(u, stream)
        graph = stream.end_capture()
        for _ in range(18):
            graph.launch(stream)
        u.barrier()
    equal("steps in a graph", u, expected, exact=False)


# ---- computation


def computation() -> None:
    for dtype, other in PAIRS:
        (a, x), (b, y) = made(dtype), made(other, shift=3)
        for name, f in {
            "+": lambda p, q: p + q,
            "-": lambda p, q: p - 2 * q,
            "*": lambda p, q: p * q + 1.5,
            "/": lambda p, q: 1 / (p + q),
            "**": lambda p, q: (p + 0) ** 2,
            "//": lambda p, q: p // q,
            "%": lambda p, q: p % q,
            "<": lambda p, q: p < q,
            "==": lambda p, q: p == q,
            "sqrt": lambda p, q: np.sqrt(p),
            "maximum": lambda p, q: np.maximum(p, q),
            "hypot": lambda p, q: np.hypot(p, q),
            "where": lambda p, q: np.where(p > 40, p, q),
            "clip": lambda p, q: np.clip(p, 5, 70),
        }.items():
            found, expected = f(a, b), f(x, y)
            assert found.dtype == expected.dtype, (name, dtype, other, found.dtype, expected.dtype)
            equal(f"a {name} b", found, expected, exact=False)
    a, x = made("float64")
    a += 1
    a *= np.arange(9.0)
    equal("operands of NumPy", a, (x + 1) * np.arange(9.0))
    equal(
        "operands of the library",
        a - a._library.array(np.arange(9.0)),
        (x + 1) * np.arange(9.0) - np.arange(9.0),
    )
    for dist in DISTS:
        b, y = made("float64", dist)
        for given in (np.arange(9.0), np.arange(13.0)[:, np.newaxis], y.copy(), np.full((1, 1), 3.0)):
            equal("operands of NumPy", b * given, y * given)
            equal("operands of the library", b._library.array(given) - b, given - y)
    few = part_of(np.arange(9.0), b._layout, b._library)  # repeated on the GPU, not before
    assert few.shape == b.local.shape and (few.stride() if hasattr(few, "stride") else few.strides)[0] == 0
    np.exp(a / 1000, out=a)
    equal("out=", a, np.exp((x + 1) * np.arange(9.0) / 1000), exact=False)
    c, z = made("complex64")
    equal("complex", np.conj(c) * c, z.conj() * z, exact=False)
    equal("real", np.real(c), z.real)
    equal("astype", c.real.astype("int32"), z.real.astype("int32"))
    equal("round", np.round(a, 2), np.round(np.exp((x + 1) * np.arange(9.0) / 1000), 2), exact=False)
    equal("map_blocks", arrays.full(SHAPE, 3.0, **kind).map_blocks(lambda p: p * p), np.full(SHAPE, 9.0))
    u, w = made("float64", halo=1)
    u.exchange_halo("periodic")
    equal(
        "map_blocks(halo=)",
        u.map_blocks(smoothed, halo=True),
        smoothed(np.pad(w, 1, mode="wrap")),
        exact=False,
    )
    equal("copy", c.copy(), z)


def reductions() -> None:
    for dtype, dist in [*itertools.product(REDUCED, DISTS[:1]), *itertools.product(["float64"], DISTS[1:])]:
        a, x = made(dtype, dist)
        for name in ("sum", "min", "max", "any", "all", "mean", "var", "std", "prod"):
            if (name in ("min", "max") and dtype == "complex64") or (name == "var" and dtype == "bool"):
                continue
            if name == "std" and dtype == "bool":
                continue
            for axis in (None, 0, 1):
                if name == "prod" and (axis is None or dtype != "float64"):
                    continue
                found, expected = getattr(a, name)(axis=axis), getattr(x, name)(axis=axis)
                assert host(found).dtype == expected.dtype, (name, dtype, host(found).dtype, expected.dtype)
                equal(name, found, expected, exact=False)
        if dtype != "complex64":
            assert (a.argmax(), a.argmin()) == (x.argmax(), x.argmin()), dtype
            equal("argmin", a.argmin(0), x.argmin(0))
            equal("argmax", np.argmax(a, 1, keepdims=True), np.argmax(x, 1, keepdims=True))
    half = arrays.ones(5000, np.float16, **kind)  # sums in float16 would stay at 2048
    assert (half.sum(), half.mean(), half.var(), half.max()) == (5000, 1, 0, 1)
    assert half.sum().dtype == half.std().dtype == half.max().dtype == np.float16
    few = arrays.from_array(np.arange(1.0, 3.0), **kind)  # PEs without elements
    assert (few.sum(), few.min(), few.max(), few.mean(), few.prod()) == (3, 1, 2, 1.5, 2)
    equal("norm", np.linalg.norm(arrays.from_array(x, **kind)), np.linalg.norm(x), exact=False)
    a, x = made("float64")
    x[3, 4] = np.nan
    a[3, 4] = np.nan
    a.barrier()
    equal("NaN", np.isnan([a.max(), a.min()]), [True, True])
    assert a[3, 4] != a[3, 4]
    for name in ("nanmean", "nanvar", "nanstd", "nansum", "nanmin"):
        function = getattr(np, name)
        equal(name, function(a, axis=0), function(x, axis=0), exact=False)
        equal(name, function(a), function(x), exact=False)


def masks_and_starts() -> None:
    for dtype, dist in (("float32", "block"), ("int64", DISTS[2])):
        a, x = made(dtype, dist)
        mask, chosen = a > 30, x > 30
        for name, initial in (("sum", 3), ("prod", 1), ("min", 4), ("max", 6)):
            kept = {"axis": 1} if name != "prod" else {"axis": 1, "dtype": "float64"}
            found = getattr(a, name)(initial=initial, where=mask, **kept)
            expected = getattr(x, name)(initial=initial, where=chosen, **kept)
            assert type(found) is type(a.sum(0)), (name, type(found))
            equal(f"{name}(where=, initial=)", found, expected, exact=False)
        for name in ("mean", "var", "std", "any", "all"):
            expected = getattr(x, name)(0, where=chosen)
            equal(f"{name}(where=)", getattr(a, name)(0, where=mask), expected, exact=False)
            equal(f"{name}(where=)", getattr(np, name)(a, 0, where=chosen), expected, exact=False)
        equal("polyval", np.polyval([2, 0, 1], a), np.polyval([2, 0, 1], x))


# ---- other places


def redistributions() -> None:
    for first, second in itertools.product(DISTS, DISTS):
        a, x = made("float32", first)
        b = a.redistribute(second)
        equal("redistribute", b, x)
        b.free()
    a, x = made("int64", DISTS[2])
    for root in range(atoll.n_pes()):
        found = a.gather(root)
        assert isinstance(found, np.ndarray) if root == atoll.my_pe() else found is None
        if found is not None:
            equal("gather", found, x)
    equal("transpose", a.T, x.T)
    equal("flip", np.flip(a, 0), np.flip(x, 0))
    equal("roll", np.roll(a, 3, 1), np.roll(x, 3, 1))
    equal("reshape", a.reshape(117), x.reshape(117))
    equal("reshape", a.reshape(9, 13), x.reshape(9, 13))
    equal("concatenate", np.concatenate([a, a]), np.concatenate([x, x]))


def devices() -> None:
    a, x = made("float32", halo=1)
    h = arrays.to_device(a, "cpu")
    assert isinstance(h.local, np.ndarray) and h.bounds() == a.bounds()
    equal("to_device", h, x)
    equal("to_device", arrays.to_device(h + 1, **{"device": "cpu", **kind}), x + 1)
    with tempfile.TemporaryDirectory() as folder:
        path = atoll.bcast_object(f"{folder}/a.npy", root=0)
        a.save(path)
        equal("load", arrays.load(path, dist="cyclic", **kind), x)
        atoll.barrier_all()
    refused("eig", TypeError, "a.to_numpy()", lambda: np.linalg.eig(a))
    refused("median", atoll.Unsupported, "to_device(a, 'cpu')", lambda: np.median(a))
    refused("asarray", TypeError, "to_numpy", lambda: np.asarray(a))
    refused("two places", atoll.InvalidArgument, "to_device", lambda: a + h)
    refused("two places", atoll.InvalidArgument, "to_device", lambda: a.put(..., h))
    refused("a dtype", atoll.DtypeMismatch, "numbers", lambda: arrays.zeros(3, "S3", **kind))
    refused("xp", atoll.InvalidArgument, "torch", lambda: arrays.zeros(3, device="cuda", xp="jax"))


def main() -> None:
    names = sys.argv[1:] or [name for name in ("cupy", "torch") if importlib.util.find_spec(name)]
    if not names:
        sys.exit("dist_arrays.py: neither CuPy nor PyTorch is installed, so nothing can be tested")
    atoll.init()
    for name in names:
        kind.clear()
        kind.update(KINDS[name])
        checks.clear()
        for check in (makers, parts, boxes, many_rounds, order, elements, halos, streams, computation, reductions, masks_and_starts, redistributions, devices, *RULES, *FUNCTIONS, *EQUATIONS, *TEAMS, *STREAMS):  # fmt: skip
            check()
        print(f"PE {atoll.my_pe()}: {name} passed {sum(checks.values())} checks:", checks, flush=True)
    atoll.barrier_all()
    atoll.finalize()


main()
