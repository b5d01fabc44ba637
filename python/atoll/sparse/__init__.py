"""Sparse matrices over all PEs, and solvers of linear equations.

>>> import numpy as np
>>> from atoll import arrays, sparse
>>> A = sparse.from_triplets([0, 1, 2, 0, 1], [0, 1, 2, 1, 0], [4.0, 4.0, 4.0, 1.0, 1.0], (3, 3))
>>> x, info = sparse.cg(A, arrays.ones(3), rtol=1e-12)
>>> x.to_numpy(), info
(array([0.2 , 0.2 , 0.25]), 0)

docs/arrays.md introduces them.
"""

from ._matrix import SparseMatrix as SparseMatrix
from ._matrix import from_rows as from_rows
from ._matrix import from_scipy as from_scipy
from ._matrix import from_triplets as from_triplets
from ._solvers import bicgstab as bicgstab
from ._solvers import cg as cg

__all__ = ["SparseMatrix", "bicgstab", "cg", "from_rows", "from_scipy", "from_triplets"]
