"""Distributed arrays: one NumPy-like array over all PEs, which every PE can read and write.

>>> from atoll import arrays
>>> a = arrays.from_function(lambda i, j: i + j, (6, 8))   # its parts lie on all PEs
>>> a[2, 1:4]                                              # any box, from wherever it lies
array([3., 4., 5.])
>>> float((a * 2).sum())
576.0

docs/arrays.md introduces them.
"""

import typing as _typing
import warnings as _warnings

from ._array import DistArray as DistArray
from ._at import At as At
from ._at import Chosen as Chosen
from ._devices import to_device as to_device
from ._makers import arange as arange
from ._makers import from_array as from_array
from ._makers import from_function as from_function
from ._makers import full as full
from ._makers import ones as ones
from ._makers import random as random
from ._makers import shuffle as shuffle
from ._makers import zeros as zeros
from ._others._dask import from_dask as from_dask
from ._others._dtensor import from_dtensor as from_dtensor
from ._others._dtensor import to_dtensor as to_dtensor
from ._others._mpi4py_fft import from_mpi4py_fft as from_mpi4py_fft
from ._others._mpi4py_fft import to_mpi4py_fft as to_mpi4py_fft
from ._storage._checkpoint import load_checkpoint as load_checkpoint
from ._storage._checkpoint import save_checkpoint as save_checkpoint
from ._storage._containers import load_hdf5 as load_hdf5
from ._storage._containers import load_zarr as load_zarr
from ._storage._containers import save_hdf5 as save_hdf5
from ._storage._containers import save_zarr as save_zarr
from ._storage._files import load as load
from ._storage._files import save as save
from ._teams._between import redistribute as redistribute
from ._teams._regions import reserve as reserve
from ._ufuncs import mixed_operands as mixed_operands
from .api import asarray as asarray
from .api import empty as empty
from .api import eye as eye
from .api import linspace as linspace

__all__ = [
    *(
        "At",
        "Chosen",
        "DistArray",
        "arange",
        "asarray",
        "empty",
        "eye",
        "from_array",
        "from_dask",
        "from_dtensor",
        "from_function",
        "from_mpi4py_fft",
        "full",
        "linspace",
        "load",
        "load_checkpoint",
        "load_hdf5",
        "load_zarr",
        "mixed_operands",
        "ones",
        "random",
        "redistribute",
        "reserve",
        "save",
        "save_checkpoint",
        "save_hdf5",
        "save_zarr",
        "shuffle",
        "to_device",
        "to_dtensor",
        "to_mpi4py_fft",
    ),
    "zeros",
]

# numpy.random.shuffle swaps elements one by one, on all PEs at once. It only warns, since it takes any sequence.
_warnings.filterwarnings("error", message="you are shuffling a 'DistArray' object")


def _missing(name: str) -> object:
    text = f"module 'atoll.arrays' has no attribute {name!r}"
    if not name.startswith("_"):
        from .._names.others import array_cure
        from ._ufuncs import takes

        text += array_cure(name, __all__, takes(name))
    raise AttributeError(text)


def _shown() -> list[str]:
    return sorted(set(__all__) - {"At", "Chosen", "mixed_operands"})


if not _typing.TYPE_CHECKING:  # for type checkers every name would otherwise exist
    __getattr__ = _missing
    __dir__ = _shown
