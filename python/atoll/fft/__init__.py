"""Fourier transforms of distributed arrays, with the names and arguments of scipy.fft.

>>> from atoll import arrays, fft
>>> a = arrays.random((4, 6))
>>> b = fft.ifftn(fft.fftn(a))
>>> bool(abs(b - a).max() < 1e-12)
True

Every function is collective over all PEs. Its result is a new distributed array in the distribution of `x`, without a
halo; blocks replace bounds along an axis whose length changes. With `transposed=True` the result keeps the
distribution of the last step, which saves a redistribution. docs/arrays.md introduces them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..arrays import DistArray
from ..arrays._compared import collective
from ..arrays._functions._moves import roll
from ..arrays._layout import listed, numbers_of
from ..arrays._teams import _current
from . import _line
from ._plan import Stage, run

__all__ = [
    *("fft", "fft2", "fftn", "fftshift", "ifft", "ifft2", "ifftn", "ifftshift"),
    *("irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftn"),
]


def __dir__() -> list[str]:
    return sorted(__all__)


Shape = int | Sequence[int] | None


@collective(on_gpus=True)
def fftn(
    x: DistArray,
    s: Shape = None,
    axes: Shape = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    transposed: bool = False,
) -> DistArray:
    """Return the transform along several axes, by default all.

    Collective. Over two axes or more, up to two parts and a few slabs are in memory beside `x`. At the end these are the
    result and one part. An `x` in slabs needs up to four parts if a length changes, or SciPy is not installed.

    Parameters
    ----------
    x
        A distributed array of real or complex numbers.
    s
        Lengths along the transformed axes: longer ones are filled with zeros, shorter ones cut. By default those of x.
    axes
        The axes; by default all, or the last len(s).
    norm
        "backward" (by default), "ortho" or "forward", as in SciPy.
    overwrite_x
        Without effect; x is not changed.
    workers
        Threads of each PE, if SciPy is installed. Without effect on GPUs.
    transposed
        Leave the result in the distribution of the last step.

    Returns
    -------
    DistArray
        Complex numbers of x's precision.

    Raises
    ------
    TypeError
        If x is not distributed, or has no numbers.
    ValueError
        If axes or lengths do not fit the shape.
    """
    return _complex("fft", x, s, axes, norm, workers, transposed)


@collective(on_gpus=True)
def ifftn(
    x: DistArray,
    s: Shape = None,
    axes: Shape = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    transposed: bool = False,
) -> DistArray:
    """Return the inverse transform along several axes, by default all. Collective.

    Parameters
    ----------
    x, s, axes, norm, overwrite_x, workers, transposed
        As for `fftn`.

    Returns
    -------
    DistArray
        Complex numbers of x's precision.

    Raises
    ------
    TypeError, ValueError
        As for `fftn`.
    """
    return _complex("ifft", x, s, axes, norm, workers, transposed)


@collective(on_gpus=True)
def rfftn(
    x: DistArray,
    s: Shape = None,
    axes: Shape = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    transposed: bool = False,
) -> DistArray:
    """Return the transform of real numbers along several axes, by default all. Collective.

    The last of the axes has n // 2 + 1 elements, since the others are their conjugates.

    Parameters
    ----------
    x, s, axes, norm, overwrite_x, workers, transposed
        As for `fftn`.

    Returns
    -------
    DistArray
        Complex numbers of x's precision.

    Raises
    ------
    TypeError
        If x has complex numbers, or as for `fftn`.
    ValueError
        As for `fftn`.
    """
    axes_, lengths = _arguments("rfftn", x, s, axes)
    if x.dtype.kind == "c":
        raise TypeError("rfftn: x has complex numbers; take fftn.")
    if x.ndim == 1 and _current.n_pes() > 1:
        return _line.half_of(_line.transform(x, lengths[0], False, norm, workers), x)
    last = replace(_stage("rfft", axes_[-1:], lengths[-1:], norm, workers), lengths=[lengths[-1] // 2 + 1])
    return run(x, [last, _stage("fft", axes_[:-1], lengths[:-1], norm, workers)], transposed)


@collective(on_gpus=True)
def irfftn(
    x: DistArray,
    s: Shape = None,
    axes: Shape = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    transposed: bool = False,
) -> DistArray:
    """Return the inverse of `rfftn`, real numbers. Collective.

    Parameters
    ----------
    x
        A distributed array, as `rfftn` returns it.
    s
        Lengths of the result along the axes. By default the last one is even, 2 * (m - 1) for m elements of x.
    axes, norm, overwrite_x, workers, transposed
        As for `fftn`.

    Returns
    -------
    DistArray
        Real numbers of x's precision.

    Raises
    ------
    TypeError, ValueError
        As for `fftn`.
    """
    axes_, lengths = _arguments("irfftn", x, s, axes, is_half=True)
    if x.ndim == 1 and _current.n_pes() > 1:
        return _line.transform(_line.hermitian(x, lengths[0]), lengths[0], True, norm, workers).real
    others = _stage("ifft", axes_[:-1], lengths[:-1], norm, workers)
    return run(x, [others, _stage("irfft", axes_[-1:], lengths[-1:], norm, workers)], transposed)


def _along_one(name: str, several: Any) -> Any:
    def transform(
        x: DistArray,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        transposed: bool = False,
    ) -> DistArray:
        return several(  # type: ignore[no-any-return]
            x, None if n is None else (n,), (axis,), norm, overwrite_x, workers, transposed=transposed
        )

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = _document(
        name,
        several,
        "one axis",
        "If the axis is the only one and its length a prime number, PE 0 computes alone.",
        "n\n    Length along the axis, as `s` there.\naxis\n    The axis, by default the last.",
        "x, norm, overwrite_x, workers, transposed",
    )
    return collective(on_gpus=True)(transform)


def _along_two(name: str, several: Any) -> Any:
    def transform(
        x: DistArray,
        s: Shape = None,
        axes: Shape = (-2, -1),
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        transposed: bool = False,
    ) -> DistArray:
        return several(x, s, axes, norm, overwrite_x, workers, transposed=transposed)  # type: ignore[no-any-return]

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = _document(
        name,
        several,
        "two axes",
        f"It is `{several.__name__}` with other default axes.",
        "axes\n    The axes, by default the last two.",
        "x, s, norm, overwrite_x, workers, transposed",
    )
    return collective(on_gpus=True)(transform)


def _document(name: str, several: Any, axes: str, remark: str, parameters: str, others: str) -> str:
    """Return the docstring of a transform along one or two axes, made from the one along several."""
    inverse = "inverse " if name.startswith("i") else ""
    of = " of real numbers" if "rfft" in name else ""
    result = "Real" if name.startswith("ir") else "Complex"
    return f"""Return the {inverse}transform{of} along {axes}. Collective.

{remark}

Parameters
----------
{parameters}
{others}
    As for `{several.__name__}`.

Returns
-------
DistArray
    {result} numbers of x's precision.

Raises
------
TypeError, ValueError
    As for `{several.__name__}`.
"""


fft, ifft = _along_one("fft", fftn), _along_one("ifft", ifftn)
rfft, irfft = _along_one("rfft", rfftn), _along_one("irfft", irfftn)
fft2, ifft2 = _along_two("fft2", fftn), _along_two("ifft2", ifftn)
rfft2, irfft2 = _along_two("rfft2", rfftn), _along_two("irfft2", irfftn)


@collective(on_gpus=True)
def fftshift(x: DistArray, axes: Shape = None) -> DistArray:
    """Return x with frequency 0 in the middle of axes. Collective; each PE puts what it has.

    Parameters
    ----------
    x
        A distributed array.
    axes
        An axis or several; by default all.

    Returns
    -------
    DistArray
        In the distribution of x.
    """
    return _shifted(x, axes, 1)


@collective(on_gpus=True)
def ifftshift(x: DistArray, axes: Shape = None) -> DistArray:
    """Return x with frequency 0 from the middle to the start, the inverse of `fftshift`. Collective.

    Parameters
    ----------
    x, axes
        As for `fftshift`.

    Returns
    -------
    DistArray
        In the distribution of x.
    """
    return _shifted(x, axes, -1)


def _shifted(x: DistArray, axes: Shape, sign: int) -> DistArray:
    numbers = list(range(x.ndim)) if axes is None else [x._layout.axis_number(axis) for axis in listed(axes)]
    return roll(x, [sign * (x.shape[axis] // 2) for axis in numbers], numbers)


def _complex(
    name: str, x: DistArray, s: Shape, axes: Shape, norm: str | None, workers: int | None, transposed: bool
) -> DistArray:
    axes_, lengths = _arguments(f"{name}n", x, s, axes)
    if x.ndim == 1 and _current.n_pes() > 1:
        return _line.transform(x, lengths[0], name == "ifft", norm, workers)
    return run(x, [_stage(name, axes_, lengths, norm, workers)], transposed)


def _stage(
    name: str, axes: Sequence[int], lengths: Sequence[int], norm: str | None, workers: int | None
) -> Stage:
    by_axis = dict(zip(axes, lengths, strict=True))
    return Stage(
        axes,
        lengths,
        lambda part, axis, own: _current.library().transformed(
            name, part, axis, by_axis[axis], norm, workers, own
        ),
        name in ("fft", "ifft"),
    )


def _arguments(
    name: str, x: DistArray, s: Shape, axes: Shape, is_half: bool = False
) -> tuple[list[int], list[int]]:
    """Return axes from 0 on, and the lengths along them."""
    if not isinstance(x, DistArray):
        raise TypeError(
            f"atoll.fft takes a distributed array, not {type(x).__name__}; for that take scipy.fft."
        )
    if x.dtype.kind not in "biufc" or x.dtype.char in "egG":
        raise TypeError(
            f"atoll.fft.{name}: elements of {x.dtype}; expected float32, float64, complex or integers."
        )
    given = None if s is None else list(numbers_of(s))
    if axes is None:
        numbers = list(range(x.ndim))[x.ndim - len(given) if given is not None else 0 :]
    else:
        numbers = [x._layout.axis_number(axis) for axis in listed(axes)]
    if len(set(numbers)) != len(numbers) or not numbers:
        raise ValueError(f"atoll.fft.{name}: axes are {axes}; expected one or more, each once.")
    if given is None:
        given = [x.shape[axis] for axis in numbers]
        if is_half:
            given[-1] = 2 * (given[-1] - 1)
    if len(given) != len(numbers) or len(given) > x.ndim:
        raise ValueError(f"atoll.fft.{name}: s has {len(given)} lengths for {len(numbers)} axes.")
    if any(n < 1 for n in given) or any(x.shape[axis] < 1 for axis in numbers):
        raise ValueError(f"atoll.fft.{name}: lengths {given} of shape {x.shape}; each must be 1 or more.")
    return numbers, given
