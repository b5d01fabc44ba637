"""Teams, constants and types of arguments, and their checks when a kernel is compiled."""

# mypy: ignore-errors
from __future__ import annotations

import enum
from typing import NamedTuple

import cutlass.cute as cute
from cutlass import (
    BFloat16,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
)

from .. import _atoll
from .._device import DeviceTeam
from .._kernels import COMPARE, ORDER, REDUCE_OP, SCOPE, SIGNAL_OP

Scope = enum.Enum("Scope", SCOPE, start=0)
Compare = enum.Enum("Compare", COMPARE, start=0)
SignalOp = enum.Enum("SignalOp", SIGNAL_OP, start=0)
ReduceOp = enum.Enum("ReduceOp", REDUCE_OP, start=0)
Order = enum.Enum("Order", ORDER, start=0)
THREAD, WARP, BLOCK, GRID = Scope
EQ, NE, GT, GE, LT, LE = Compare
SET, ADD = SignalOp
SUM, PROD, MIN, MAX, AND, OR, XOR = ReduceOp
ACQUIRE_RELEASE, RELAXED = Order


class Team(NamedTuple):
    """A team as kernels take it, by value: the fields of atl::device::Team. Annotate kernels' arguments with it."""

    my_pe: Int32
    n_pes: Int32
    window: Int64
    stride: Int64
    my_slot: Int32
    first: Int32
    step: Int32
    table: Int64
    control: Int64
    trace: Int64


WIDE = ("window", "stride", "table", "control", "trace")  # fields of 64 bits


def team(value: _atoll.Team | DeviceTeam) -> Team:
    """Return a team as kernels take it. On the host.

    The addresses of a bare DeviceTeam would be cut to 32 bits.
    """
    if isinstance(value, _atoll.Team):
        value = value.device("device")
    if not isinstance(value, DeviceTeam):
        raise TypeError(
            f"atoll.cute.team: the argument is {value!r}; pass an atoll.Team, or the result of its device()"
        )
    return Team(
        *(Int64(v) if name in WIDE else Int32(v) for name, v in zip(value._fields, value, strict=True))
    )


# ---- types: PTX's name, and the letter of its registers
FORMS = {
    Int32: ("s32", "r"), Uint32: ("u32", "r"), Int64: ("s64", "l"), Uint64: ("u64", "l"),
    Float32: ("f32", "f"), Float64: ("f64", "d"),
}  # fmt: skip
WORDS, FLOATS = (Int32, Int64, Uint32, Uint64), (Float32, Float64)
HALVES = (Float16, BFloat16)
NARROW = (Int8, Uint8, Int16, Uint16, *HALVES)
"""Types for p, g and (16-bit floats) atomic_add; waits do not take them."""


def kind_of(which: str, x):
    """Return the element type of a tensor or pointer, which is the argument `which`."""
    if isinstance(x, cute.Tensor):
        return x.element_type
    if isinstance(x, cute.Pointer):
        return x.value_type
    raise TypeError(f"{which} is {type(x).__name__}; it must be a cute.Tensor or a cute.Pointer")


def word_kind(x):
    """Return the element type of a word whose type was checked."""
    return kind_of("word", x)


def pointer_of(x):
    """Return a pointer to the first element; None for a tensor whose elements are coordinates."""
    found = x.iterator if isinstance(x, cute.Tensor) else x
    return found if isinstance(found, cute.Pointer) else None


def is_shared(x) -> bool:
    pointer = pointer_of(x)
    return pointer is not None and pointer.memspace == cute.AddressSpace.smem


def is_swizzled(x) -> bool:
    """Return whether the layout permutes addresses, so that elements can only be addressed one by one."""
    swizzled_layout = isinstance(x, cute.Tensor) and isinstance(x.layout, cute.ComposedLayout)
    return swizzled_layout or pointer_of(x).value.type.is_swizzled


def addressed(which: str, x) -> None:
    """Refuse a tensor that is neither in global nor in shared memory."""
    pointer = pointer_of(x)
    space = "no memory" if pointer is None else pointer.memspace.name
    if space not in ("gmem", "generic", "smem"):
        where = {"rmem": "registers", "tmem": "tensor memory"}.get(space, space)
        raise TypeError(
            f"{which} is in {where}; copy it to shared or global memory first, or move words by p and g"
        )


def global_memory(which: str, x) -> None:
    """Refuse memory that other PEs or blocks cannot access."""
    addressed(which, x)
    if is_shared(x):
        raise TypeError(
            f"{which} is in shared memory, which other blocks and PEs cannot access; it must be in global memory, and symmetric if "
            "it is another PE's"
        )
    if is_swizzled(x):
        raise TypeError(f"{which} is swizzled in global memory; pass it without its swizzle")
