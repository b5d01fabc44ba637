"""Distributed arrays: one NumPy-like array over all PEs, which every PE can read and write.

>>> from atoll import arrays
>>> a = arrays.from_function(lambda i, j: i + j, (6, 8))   # its parts lie on all PEs
>>> a[2, 1:4]                                              # any box, from wherever it lies
array([3., 4., 5.])
>>> float((a * 2).sum())
576.0

docs/arrays.md introduces them.
"""

from ._array import At as At
from ._array import Chosen as Chosen
from ._array import DistArray as DistArray
from ._makers import arange as arange
from ._makers import from_array as from_array
from ._makers import from_function as from_function
from ._makers import full as full
from ._makers import load as load
from ._makers import ones as ones
from ._makers import random as random
from ._makers import save as save
from ._makers import zeros as zeros

__all__ = [
    *(
        "At",
        "Chosen",
        "DistArray",
        "arange",
        "from_array",
        "from_function",
        "full",
        "load",
        "ones",
        "random",
        "save",
    ),
    "zeros",
]
