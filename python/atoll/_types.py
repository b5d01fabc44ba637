"""Names for the types in signatures. Only type checkers and readers need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _atoll

Array: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike
IndexArray: TypeAlias = npt.NDArray[np.intp]
Value: TypeAlias = int | float | complex | np.generic | npt.NDArray[Any]


class DeviceLike(Protocol):
    """An array of another library (CuPy, PyTorch, Numba), by the attributes that all of them have."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


class StreamLike(Protocol):
    """Anything with __cuda_stream__: streams of cuda.core, CuPy and PyTorch."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


AnyArray: TypeAlias = npt.NDArray[Any] | DeviceLike
AnySource: TypeAlias = npt.ArrayLike | DeviceLike
OutArray = TypeVar("OutArray", bound=AnyArray)
GivenStream: TypeAlias = int | Literal["current"] | StreamLike | Any
Stream: TypeAlias = GivenStream | None
Shape: TypeAlias = int | Sequence[int]
Order: TypeAlias = Literal["C", "F"]
NotBlocking: TypeAlias = Literal[False]
Hint: TypeAlias = Literal["atomics", "signal"]
CompareName: TypeAlias = Union[Literal["==", "!=", ">", ">=", "<", "<="], "_atoll.Compare"]
ReduceName: TypeAlias = Union[
    Literal["sum", "prod", "min", "max", "avg", "and", "or", "xor"], "_atoll.ReduceOp"
]
SignalName: TypeAlias = Union[Literal["set", "add"], "_atoll.SignalOp"]
