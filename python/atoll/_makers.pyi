"""Types of the functions that make arrays, for type checkers: dtype and device decide what comes back.

The functions themselves are in _allocation.py; many share one signature, which is here once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from . import _atoll
from ._types import Array, Hint, Order, Shape

Scalar = TypeVar("Scalar", bound=np.generic)
DTyped: TypeAlias = type[Scalar] | np.dtype[Scalar]
LikeOrder: TypeAlias = Literal["C", "F", "A", "K"]
Host: TypeAlias = Literal["cpu"] | None

class HasDtype(Protocol):
    """An object whose attribute dtype NumPy uses."""

    @property
    def dtype(self) -> np.dtype[Any]: ...

class HasNumpyDtype(Protocol):
    """An object whose attribute __numpy_dtype__ NumPy uses."""

    @property
    def __numpy_dtype__(self) -> np.dtype[Any]: ...

# Dtypes whose type of scalars is unknown to type checkers. The form type[Any] is left out, because it matches np.float32
# too: an array of float32 would then fit a variable of any dtype.
Unscalar: TypeAlias = (
    str
    | type[int]
    | type[str]
    | type[bytes]
    | tuple[Any, ...]
    | list[Any]
    | Mapping[str, Any]
    | HasDtype
    | HasNumpyDtype
)

class Maker(Protocol):
    """The type of empty, zeros and ones."""

    @overload
    def __call__(
        self,
        shape: Shape,
        dtype: None = None,
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.float64]: ...
    @overload
    def __call__(
        self,
        shape: Shape,
        dtype: DTyped[Scalar],
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[Scalar]: ...
    @overload
    def __call__(
        self,
        shape: Shape,
        dtype: Unscalar,
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        shape: Shape,
        dtype: type[float],
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.float64]: ...
    @overload
    def __call__(
        self,
        shape: Shape,
        dtype: type[complex],
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.complex128]: ...
    @overload
    def __call__(
        self,
        shape: Shape,
        dtype: Any = None,
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Any,
        xp: None = None,
    ) -> _atoll.DeviceArray: ...
    @overload
    def __call__(
        self, shape: Shape, dtype: Any = None, order: Order = "C", *,
        align: int = 0, hints: Sequence[Hint] = (), device: Any, xp: Any,
    ) -> Any: ...  # fmt: skip

class FullMaker(Protocol):
    """The type of full."""

    @overload
    def __call__(
        self,
        shape: Shape,
        fill_value: Any,
        dtype: DTyped[Scalar],
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[Scalar]: ...
    @overload
    def __call__(
        self,
        shape: Shape,
        fill_value: Any,
        dtype: Unscalar | None = None,
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        shape: Shape,
        fill_value: Any,
        dtype: type[float],
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.float64]: ...
    @overload
    def __call__(
        self,
        shape: Shape,
        fill_value: Any,
        dtype: type[complex],
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.complex128]: ...
    @overload
    def __call__(
        self,
        shape: Shape,
        fill_value: Any,
        dtype: Any = None,
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Any,
        xp: None = None,
    ) -> _atoll.DeviceArray: ...
    @overload
    def __call__(
        self, shape: Shape, fill_value: Any, dtype: Any = None, order: Order = "C", *,
        align: int = 0, hints: Sequence[Hint] = (), device: Any, xp: Any,
    ) -> Any: ...  # fmt: skip

class Copier(Protocol):
    """The type of array."""

    @overload
    def __call__(
        self,
        object: npt.NDArray[Scalar],
        dtype: None = None,
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[Scalar]: ...
    @overload
    def __call__(
        self,
        object: Any,
        dtype: DTyped[Scalar],
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[Scalar]: ...
    @overload
    def __call__(
        self,
        object: Any,
        dtype: Unscalar | None = None,
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        object: Any,
        dtype: type[float],
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.float64]: ...
    @overload
    def __call__(
        self,
        object: Any,
        dtype: type[complex],
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.complex128]: ...
    @overload
    def __call__(
        self,
        object: Any,
        dtype: Any = None,
        order: Order = "C",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Any,
        xp: None = None,
    ) -> _atoll.DeviceArray: ...
    @overload
    def __call__(
        self, object: Any, dtype: Any = None, order: Order = "C", *,
        align: int = 0, hints: Sequence[Hint] = (), device: Any, xp: Any,
    ) -> Any: ...  # fmt: skip

class LikeMaker(Protocol):
    """The type of empty_like, zeros_like and ones_like."""

    @overload
    def __call__(
        self,
        a: npt.NDArray[Scalar],
        dtype: None = None,
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[Scalar]: ...
    @overload
    def __call__(
        self,
        a: npt.NDArray[Any],
        dtype: DTyped[Scalar],
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[Scalar]: ...
    @overload
    def __call__(
        self,
        a: npt.NDArray[Any],
        dtype: Unscalar,
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        a: npt.NDArray[Any],
        dtype: type[float],
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.float64]: ...
    @overload
    def __call__(
        self,
        a: npt.NDArray[Any],
        dtype: type[complex],
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.complex128]: ...
    @overload
    def __call__(
        self,
        a: _atoll.DeviceArray,
        dtype: Any = None,
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: None = None,
        xp: None = None,
    ) -> _atoll.DeviceArray: ...
    @overload
    def __call__(
        self, a: Any, dtype: Any = None, order: LikeOrder = "K", *,
        align: int = 0, hints: Sequence[Hint] = (), device: Any = None, xp: Any = None,
    ) -> Any: ...  # fmt: skip

class FullLikeMaker(Protocol):
    """The type of full_like."""

    @overload
    def __call__(
        self,
        a: npt.NDArray[Scalar],
        fill_value: Any,
        dtype: None = None,
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[Scalar]: ...
    @overload
    def __call__(
        self,
        a: npt.NDArray[Any],
        fill_value: Any,
        dtype: DTyped[Scalar],
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[Scalar]: ...
    @overload
    def __call__(
        self,
        a: npt.NDArray[Any],
        fill_value: Any,
        dtype: Unscalar,
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        a: npt.NDArray[Any],
        fill_value: Any,
        dtype: type[float],
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.float64]: ...
    @overload
    def __call__(
        self,
        a: npt.NDArray[Any],
        fill_value: Any,
        dtype: type[complex],
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: Host = None,
        xp: Any = None,
    ) -> npt.NDArray[np.complex128]: ...
    @overload
    def __call__(
        self,
        a: _atoll.DeviceArray,
        fill_value: Any,
        dtype: Any = None,
        order: LikeOrder = "K",
        *,
        align: int = 0,
        hints: Sequence[Hint] = (),
        device: None = None,
        xp: None = None,
    ) -> _atoll.DeviceArray: ...
    @overload
    def __call__(
        self, a: Any, fill_value: Any, dtype: Any = None, order: LikeOrder = "K", *,
        align: int = 0, hints: Sequence[Hint] = (), device: Any = None, xp: Any = None,
    ) -> Any: ...  # fmt: skip

# Decorators, which leave the functions as they are.
def maker(function: Callable[..., Any]) -> Maker: ...
def full_maker(function: Callable[..., Any]) -> FullMaker: ...
def copier(function: Callable[..., Any]) -> Copier: ...
def like_maker(function: Callable[..., Any]) -> LikeMaker: ...
def full_like_maker(function: Callable[..., Any]) -> FullLikeMaker: ...
