"""Distributed arrays brought from hosts to GPUs and back."""

from __future__ import annotations

from typing import Any, TypeVar

from . import _libraries
from ._compared import collective
from ._teams import _current

T = TypeVar("T", bound=_current.OverTeam)


@collective(on_gpus=True, on_copies=True)
def to_device(a: T, device: Any, xp: Any = None) -> T:
    """Return a copy of an array whose parts lie on hosts or on GPUs. Collective; each PE copies its part and halo.

    Parameters
    ----------
    a
        The array, or a sparse matrix.
    device
        "cpu" or "cuda".
    xp
        The library of the new parts: "cupy" (by default on GPUs), "torch", or the module.

    Returns
    -------
    DistArray, SparseMatrix
        A new array of the same distribution and halo, or a matrix of the same rows.

    Raises
    ------
    Unsupported
        If the library is missing or has no CUDA.
    """
    if not isinstance(a, _current.OverTeam):
        raise TypeError(f"to_device() copies distributed arrays and sparse matrices, not {type(a).__name__}.")
    made: T = a._copy_on(_libraries.chosen(device, xp, "to_device"))
    return made
