"""Conversion between the types of numba-cuda-mlir and Numba's, of which they are copies under other names.

Types are converted to Numba's, by which the functions here choose the code; their results are converted back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numba
from numba.core import types as numba_types
from numba.core.errors import NumbaError
from numba_cuda_mlir import extending
from numba_cuda_mlir._mlir import ir as mlir
from numba_cuda_mlir._mlir.dialects import arith
from numba_cuda_mlir.errors import TypingError as TypingError
from numba_cuda_mlir.models import PrimitiveModel
from numba_cuda_mlir.numba_cuda import types as their_types

from ...._device import DeviceTeam
from ..._types import Constant
from .._registration import TEAM, special_team

types: Any = numba_types  # untyped, as in numba-cuda-mlir
theirs: Any = their_types


class Named(theirs.Opaque):  # type: ignore[misc]
    """The type of a constant of _types.py."""

    def __init__(self, constant: Constant) -> None:
        self.constant = constant
        super().__init__(constant._numba_type_.name)


@extending.register_model(Named)
class NamedModel(PrimitiveModel):  # type: ignore[misc]
    """An unused byte, so that the constant can be anywhere that a number can: among arguments, in tuples, in
    variables.
    """

    def __init__(self, manager, kind):
        super().__init__(manager, kind, mlir.IntegerType.get_signless(8))

    def as_data(self, builder, value):
        return nothing()

    as_argument = as_return = as_data

    def from_data(self, builder, value):
        return value

    from_argument = from_return = from_data


def nothing():
    return arith.constant(mlir.IntegerType.get_signless(8), 0)


@extending.typeof_impl.register(Constant)
def _(value: Constant, context):
    return Named(value)


if TEAM is not None:
    extending.typeof_impl.register(DeviceTeam)(lambda value, context: back(special_team(value, context)))


@extending.typeof_impl.register(types.Type)
def _(value, context):
    """A type as a value, such as i64 in i64(x)."""
    return extending.typeof_impl(back(value), context)


def ours(kind):
    """Return Numba's type for one of numba-cuda-mlir's. An unknown type is returned unchanged, for an error's
    text.
    """
    if isinstance(kind, Named):
        return kind.constant._numba_type_
    if isinstance(kind, theirs.Omitted):
        return types.Omitted(kind.value)
    if isinstance(kind, theirs.Literal):
        return types.literal(kind.literal_value)
    if isinstance(kind, theirs.NumberClass):
        return types.NumberClass(ours(kind.dtype))
    if isinstance(kind, theirs.Array):
        return types.Array(ours(kind.dtype), kind.ndim, kind.layout, not kind.mutable, aligned=kind.aligned)
    if isinstance(kind, theirs.BaseNamedTuple):
        return types.BaseTuple.from_types([ours(one) for one in kind.types], kind.instance_class)
    if isinstance(kind, theirs.BaseTuple):
        return types.BaseTuple.from_types([ours(one) for one in kind.types])
    if isinstance(kind, (theirs.Number, theirs.Boolean, theirs.NoneType)):
        return getattr(types, str(kind), kind)
    return kind


def back(kind):
    """Return numba-cuda-mlir's type for one of Numba's."""
    if isinstance(kind, types.Opaque) and kind.name in Constant.named:
        return Named(Constant.named[kind.name])
    if isinstance(kind, types.NumberClass):
        return theirs.NumberClass(back(kind.dtype))
    if isinstance(kind, types.Array):
        return theirs.Array(back(kind.dtype), kind.ndim, kind.layout, not kind.mutable, aligned=kind.aligned)
    if isinstance(kind, types.BaseNamedTuple):
        return theirs.BaseTuple.from_types([back(one) for one in kind.types], kind.instance_class)
    if isinstance(kind, types.BaseTuple):
        return theirs.BaseTuple.from_types([back(one) for one in kind.types])
    if isinstance(kind, types.Type):
        return getattr(theirs, str(numba.types.unliteral(kind)))
    return kind


@contextlib.contextmanager
def their_errors() -> Iterator[None]:
    """Raise Atoll's refusals as errors of the compiler that called."""
    try:
        yield
    except NumbaError as error:
        raise TypingError(str(error)) from None
