"""Names for the types in signatures. Only type checkers and readers need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _atoll

Array: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike
IndexArray: TypeAlias = npt.NDArray[np.intp]
Value: TypeAlias = int | float | complex | np.generic | npt.NDArray[Any]
Shape: TypeAlias = int | Sequence[int]
Order: TypeAlias = Literal["C", "F"]
Hint: TypeAlias = Literal["atomics", "signal"]
CompareName: TypeAlias = Union[Literal["==", "!=", ">", ">=", "<", "<="], "_atoll.Compare"]
ReduceName: TypeAlias = Union[Literal["sum", "prod", "min", "max", "and", "or", "xor"], "_atoll.ReduceOp"]
SignalName: TypeAlias = Union[Literal["set", "add"], "_atoll.SignalOp"]
