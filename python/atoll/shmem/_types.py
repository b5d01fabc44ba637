"""Names for the types in signatures. Only type checkers and readers need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _atoll

Array: TypeAlias = npt.NDArray[Any]
Number: TypeAlias = int | float | complex | np.number[Any]
Shape: TypeAlias = int | Sequence[int]
Status: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
Values: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
SigAddr: TypeAlias = npt.NDArray[np.uint64]
LockHandle: TypeAlias = _atoll.Lock
# A handle is Atoll's own object, `None` (the default context), or the mark of an invalid context or team.
CtxHandle: TypeAlias = Any
TeamHandle: TypeAlias = Any
