"""Sizes of dtypes and arrays."""

from __future__ import annotations

import importlib
import math
from typing import Any

from ._dtypes import NAMES as _NAMES
from ._dtypes import numpy_dtype as _numpy_dtype
from ._internal_tracking import _cached_device
from ._state import STATE as _STATE


def _get_device() -> tuple[Any, None]:
    """Return this PE's device, and None, since Atoll's calls leave the current device as it is."""
    if _cached_device["device"] is None and _STATE.joined:
        _cached_device["device"] = importlib.import_module("cuda.core").Device(_STATE.gpu)
    return _cached_device["device"], None


def get_size(shape: Any, dtype: Any) -> int:
    """Return the bytes of an array.

    Parameters
    ----------
    shape
        An int or a sequence of ints.
    dtype
        A dtype of NumPy or PyTorch, or a name.
    """
    count = shape if isinstance(shape, int) else math.prod(shape)
    return count * _numpy_dtype(dtype).itemsize


def dtype_nbytes(dtype: str) -> int:
    """Return the bytes of an element of NVSHMEM's type `dtype`, such as "half". Raises ValueError."""
    if dtype not in _NAMES:
        raise ValueError(f"Unsupported NVSHMEM dtype: {dtype}; there are {', '.join(sorted(_NAMES))}.")
    return _numpy_dtype(dtype).itemsize
