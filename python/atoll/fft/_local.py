"""Transforms of a part in one PE: SciPy's if it is installed, else NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays._optional import scipy

Array = np.ndarray[Any, Any]


def along(
    name: str,
    part: Array,
    axis: int,
    n: int,
    norm: str | None,
    workers: int | None,
    overwrite: bool,
) -> Array:
    """Return the transform `name` (fft, ifft, rfft, irfft) of length `n` along an axis of a part.

    Parameters
    ----------
    part
        Any array, also without elements along the other axes.
    norm, workers
        As in SciPy; NumPy has no workers.
    overwrite
        The part may be changed.
    """
    fast = scipy("fft")
    if fast is not None:
        found: Array = getattr(fast, name)(
            part, n=n, axis=axis, norm=norm, overwrite_x=overwrite, workers=workers
        )
        return found
    return np.asarray(getattr(np.fft, name)(part, n=n, axis=axis, norm=norm))
