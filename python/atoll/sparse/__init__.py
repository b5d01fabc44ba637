"""Sparse matrices over all PEs, and solvers of linear equations.

>>> import numpy as np
>>> from atoll import arrays, sparse
>>> rows = np.arange(4)[atoll.my_pe() :: atoll.n_pes()]   # each PE passes a share of the elements
>>> A = sparse.from_triplets(rows, rows, rows + 1.0, (4, 4))
>>> x, info = sparse.cg(A, arrays.arange(1, 5))
>>> bool(abs(x - 1).max() < 1e-4), info
(True, 0)

docs/arrays.md introduces them.
"""

from ._matrix import SparseMatrix as SparseMatrix
from ._matrix import from_rows as from_rows
from ._matrix import from_scipy as from_scipy
from ._matrix import from_triplets as from_triplets
from ._solvers import bicgstab as bicgstab
from ._solvers import cg as cg

__all__ = ["SparseMatrix", "bicgstab", "cg", "from_rows", "from_scipy", "from_triplets"]
