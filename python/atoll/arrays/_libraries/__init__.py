"""The library whose arrays the parts of a distributed array are: NumPy on hosts, CuPy or PyTorch on GPUs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import atoll

from ._library import Library as Library
from ._library import on_host as on_host

HOST = Library()
others: list[Library] = []
"""The libraries besides HOST that have arrays in this process, each once."""


def refuse_masked(call: str, value: Any) -> None:
    """Raise TypeError for an array of NumPy whose mask would be lost."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{call}: a masked array would lose its mask; pass x.filled(value).")


def refuse_subclasses(call: str, values: Iterable[Any]) -> None:
    """Raise TypeError for arrays of NumPy whose meaning would be lost: masks, and products of `numpy.matrix`."""
    for value in values:
        if not isinstance(value, np.ndarray) or type(value) is np.ndarray:
            continue
        refuse_masked(call, value)
        if isinstance(value, np.matrix):
            raise TypeError(
                f"{call}: a numpy.matrix, whose product is that of matrices; pass np.asarray(x) and use @."
            )


def chosen(device: Any, xp: Any, call: str) -> Library:
    """Return the library that `device=` and `xp=` of a call choose.

    Raises
    ------
    InvalidArgument
        If they are unknown, or do not fit each other.
    Unsupported
        If the library is not installed, or has no CUDA.
    """
    name = xp if isinstance(xp, str) else getattr(xp, "__name__", None)
    if device in (None, "cpu") and name in (None, "numpy"):
        return HOST
    from ..._device import check_library, device_of

    on_gpu = device_of("cpu" if device is None else device, call)
    name = name or ("cupy" if on_gpu else "numpy")
    if name not in (("cupy", "torch") if on_gpu else ("numpy", "torch")):
        raise atoll.InvalidArgument(
            f"{call}(): xp is {xp!r}; pass "
            + (
                '"cupy" or "torch" (or the module) with device="cuda".'
                if on_gpu
                else '"numpy" or "torch" on hosts.'
            )
        )
    kind, _, number = str(device).partition(":") if on_gpu else ("cpu", "", "")
    found = next((each for each in others if (each.name, each.device) == (name, kind)), None)
    if found is None:
        try:
            if on_gpu:
                check_library(name)
            found = _make(name, kind)
        except ModuleNotFoundError as error:
            other = ', or pass xp="torch" for PyTorch' if name == "cupy" else ""
            raise atoll.Unsupported(
                f"{call}(device={device!r}): {name} is not installed ({error}). Install it{other}, or leave out device."
            ) from None
        others.append(found)
    if number:
        found.require_number(number, call)
    return found


def _make(name: str, device: str) -> Library:
    if name == "torch":
        from ._torch import Torch

        return Torch(device)
    from ._cupy import CuPy

    return CuPy(device)


def finish() -> None:
    """Wait for what this thread has given to GPUs by the libraries in use: their current streams."""
    for library in others:
        library.finish()
