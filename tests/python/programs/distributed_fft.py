"""Transforms of distributed arrays beside NumPy's, for many shapes, grids, axes and lengths. Each check is by all PEs."""

from __future__ import annotations

import random
import sys
from typing import Any

import atoll
import numpy as np
from distributed import check, equal, main, refused, some_array

if "without-scipy" in sys.argv:
    sys.modules["scipy"] = None  # type: ignore[assignment]

from atoll import arrays, fft
from atoll.arrays import DistArray, _grids
from atoll.fft import _line, _overlap, _plan

NORMS = [None, "backward", "ortho", "forward"]


def close(found: DistArray, wanted: Any, single: bool = False) -> None:
    dtype = np.dtype(wanted.dtype)
    if single:  # NumPy's own arrays of single precision stay single, too
        dtype = np.dtype(np.complex64 if dtype.kind == "c" else np.float32)
    assert found.dtype == dtype, (found.dtype, dtype)
    np.testing.assert_allclose(
        found.to_numpy(), wanted, atol=1e-4 if single else 1e-11, rtol=1e-5 if single else 1e-12
    )


def some_arguments(rng: random.Random, ndim: int) -> dict[str, Any]:
    axes = rng.sample(range(-ndim, 0), rng.randint(1, ndim))
    given: dict[str, Any] = {"axes": axes} if rng.random() < 0.7 else {}
    n = len(axes) if given else ndim
    if rng.random() < 0.4 and "axes" in given:
        given["s"] = [rng.randint(1, 9) for _ in range(n)]
    given["norm"] = rng.choice(NORMS)
    return given


@check
def transforms_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["f8", "c16", "i8", "f4", "c8"]))
    given = some_arguments(rng, a.ndim)
    single = whole.dtype.char in "fF"
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        if name == "rfftn" and whole.dtype.kind == "c":
            continue
        if name == "irfftn" and "s" not in given and whole.shape[given.get("axes", [-1])[-1]] < 2:
            continue
        wanted = getattr(np.fft, name)(whole, **given)
        found = getattr(fft, name)(a, **given)
        close(found, wanted, single)
        equal(a.to_numpy(), whole)
        for axis, was in zip(found._layout.axes, a._layout.axes, strict=True):
            assert axis.parts == was.parts and (axis == was or axis.length != was.length)
        close(getattr(np.fft, name)(a, **given), wanted, single)
        close(getattr(fft, name)(a, **given, transposed=True), wanted, single)


@check
def transforms_along_one_and_two_axes_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng, "f8")
    axis, n = rng.randrange(a.ndim), rng.choice([None, 4, 5])
    for name in ("fft", "ifft", "rfft", "irfft"):
        if n is None and whole.shape[axis] < 2:
            continue
        close(getattr(fft, name)(a, n, axis), getattr(np.fft, name)(whole, n, axis))
    if a.ndim > 1 and whole.shape[-1] > 1:
        for name in ("fft2", "ifft2", "rfft2", "irfft2"):
            close(getattr(fft, name)(a), getattr(np.fft, name)(whole))


@check
def slabs_have_the_bits_of_whole_parts(rng: random.Random) -> None:
    """Redistributions that overlap with the transforms, whose slabs are small here."""
    shape = tuple(rng.randint(1, 3) + rng.choice([0, 2 * atoll.n_pes()]) for _ in range(rng.randint(2, 4)))
    numbers = np.random.default_rng(rng.randrange(9)).random((2, *shape)).astype(rng.choice(["f4", "f8"]))
    is_real = rng.random() < 0.4
    dist: list[Any] = [rng.choice(["block", "block", "whole"]) for _ in shape]
    if "block" not in dist:
        dist[0] = "block"
    a = arrays.from_array(numbers[0] if is_real else numbers[0] + 1j * numbers[1], dist=dist)
    axes = tuple(rng.sample(range(len(shape)), rng.randint(1, len(shape))))
    s = [max(1, shape[axis] + rng.randint(-1, 1)) for axis in axes] if rng.random() < 0.3 else None
    names = ["rfftn", "fftn"] if is_real else ["fftn", "ifftn", "irfftn"]
    name, transposed = rng.choice(names), rng.random() < 0.5
    if name == "irfftn" and s is None:
        s = [shape[axis] + 1 for axis in axes]
    settings = _overlap.LEAST, _overlap.SLAB, _overlap.SHORTEST
    found = []
    try:
        for least, slab in ((1 << 62, 1), (0, rng.choice([1, 200, 1 << 20]))):
            _overlap.LEAST, _overlap.SLAB, _overlap.SHORTEST = least, slab, 1
            found.append(getattr(fft, name)(a, s, axes, transposed=transposed))
    finally:
        _overlap.LEAST, _overlap.SLAB, _overlap.SHORTEST = settings
    whole, slabs = found
    assert whole._layout == slabs._layout and whole.dtype == slabs.dtype
    assert whole.to_numpy().tobytes() == slabs.to_numpy().tobytes()


@check
def many_pes_take_whole_parts(rng: random.Random) -> None:
    n, kept = atoll.n_pes(), (_overlap.LEAST, _overlap.MOST_PES)
    a = arrays.ones((n, n), dist=["block", "whole"])
    turns = _plan._turns(a._layout, [_plan.Stage([0, 1], [n, n], lambda part, *_: part, True)])
    try:
        _overlap.LEAST = 0
        assert _overlap.suits(a, turns) == (n > 1)
        _overlap.MOST_PES = n - 1
        assert not _overlap.suits(a, turns)
    finally:
        _overlap.LEAST, _overlap.MOST_PES = kept


@check
def spectra_are_shifted(rng: random.Random) -> None:
    a, whole = some_array(rng)
    for axes in (None, -1, (0,)):
        for name in ("fftshift", "ifftshift"):
            equal(getattr(fft, name)(a, axes).to_numpy(), getattr(np.fft, name)(whole, axes))
    equal(np.fft.fftshift(a).to_numpy(), np.fft.fftshift(whole))


@check
def long_lines_are_transformed_as_matrices(rng: random.Random) -> None:
    n = rng.choice([64, 120, 210, 97, 1])
    whole = np.cos(np.arange(n) ** 2) + 1j * np.sin(np.arange(n) * 3)
    a = arrays.from_array(whole, dist=rng.choice(["block", "cyclic"]))
    norm = rng.choice(NORMS)
    assert _line.factor(n) == {64: 8, 120: 10, 210: 14, 97: 1, 1: 1}[n]
    close(fft.fft(a, norm=norm), np.fft.fft(whole, norm=norm))
    close(fft.ifft(a, norm=norm), np.fft.ifft(whole, norm=norm))
    close(fft.rfft(np.real(a), norm=norm), np.fft.rfft(whole.real, norm=norm))
    for m in (n, n + 5, max(n - 3, 1), 2 * n + 3):
        close(fft.fft(a, m), np.fft.fft(whole, m))
        close(fft.irfft(a, m, norm=norm), np.fft.irfft(whole, m, norm=norm))


@check
def slabs_take_one_redistribution(rng: random.Random) -> None:
    assert _grids.next_grid((64, 64, 64), (8, 1, 1), [0]) == (1, 8, 1)
    assert _grids.next_grid((64, 64, 64), (2, 4, 1), [0, 1]) == (1, 1, 8)  # both at once
    assert _grids.next_grid((16, 16, 16), (8, 8, 1), [0, 1]) == (1, 8, 8)  # pencils
    assert _grids.next_grid((16, 16, 16), (1, 8, 8), [1]) == (8, 1, 8)
    assert _grids.next_grid((4, 4), (2, 2), [0, 1]) in ((1, 4), (4, 1))


@check
def mistakes_are_refused(rng: random.Random) -> None:
    a = arrays.ones((4, 5))
    refused(
        [
            (
                lambda: fft.fftn(np.ones(4)),
                "atoll.fft takes a distributed array, not ndarray; for that take scipy.fft",
            ),  # type: ignore[arg-type]
            (lambda: fft.rfftn(a + 0j), "x has complex numbers; take fftn"),
            (lambda: fft.fftn(a, axes=(0, 2)), "axis 2 is out of bounds"),
            (lambda: fft.fftn(a, axes=(0, -2)), "expected one or more, each once"),
            (lambda: fft.fftn(a, s=(3,), axes=(0, 1)), "s has 1 lengths for 2 axes"),
            (lambda: fft.fftn(a, s=(0, 3)), "each must be 1 or more"),
            (lambda: fft.fft(a, norm="orth"), "orth"),
            (lambda: fft.fftn(arrays.zeros((3, 4), "U2")), "elements of <U2; expected"),
            (lambda: fft.fftn(arrays.zeros((0, 4))), "each must be 1 or more"),
        ]
    )


main(int(sys.argv[1]))
