"""Distributed arrays brought from hosts to GPUs and back."""

from __future__ import annotations

from typing import Any

from . import _libraries
from ._array import DistArray
from ._compared import collective
from ._teams import _current


@collective(on_gpus=True)
def to_device(a: DistArray, device: Any, xp: Any = None) -> DistArray:
    """Return a copy of an array whose parts lie on hosts or on GPUs. Collective; each PE copies its part and halo.

    Parameters
    ----------
    a
        The array.
    device
        "cpu" or "cuda".
    xp
        The library of the new parts: "cupy" (by default on GPUs), "torch", or the module.

    Returns
    -------
    DistArray
        A new array of the same distribution and halo.

    Raises
    ------
    Unsupported
        If the library is missing or has no CUDA.
    """
    its, to = a._library, _libraries.chosen(device, xp, "to_device")
    made = DistArray._of(a._layout, a.dtype, zero=False, library=to)
    part = a.local_with_halo
    made.local_with_halo[...] = to.array(part if its.on_gpu and to.on_gpu else its.to_numpy(part))
    _current.barrier()
    return made
