"""Parts that the other modules share: teams, constants, types, PTX."""

# mypy: ignore-errors
from __future__ import annotations

import enum
import re
import sys
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
    Numeric,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
)
from cutlass._mlir import ir
from cutlass._mlir.dialects import func, llvm
from cutlass.cutlass_dsl import CuTeDSL, dsl_user_op

from .. import _atoll
from .._device import DeviceTeam


class Scope(enum.Enum):
    """The threads that execute a call together; all of them call it with the same arguments."""

    THREAD = 0
    WARP = 1
    BLOCK = 2
    GRID = 3


class Compare(enum.Enum):
    """In the order of atl::Compare."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


class SignalOp(enum.Enum):
    SET = 0
    ADD = 1


class ReduceOp(enum.Enum):
    SUM = 0
    PROD = 1
    MIN = 2
    MAX = 3
    AND = 4
    OR = 5
    XOR = 6


class Order(enum.Enum):
    ACQUIRE_RELEASE = 0
    RELAXED = 1


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
    wide = ("window", "stride", "table", "control")
    return Team(
        *(Int64(v) if name in wide else Int32(v) for name, v in zip(value._fields, value, strict=True))
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


def one_of(kind, name: str, given):
    """Return the constant that an argument is. A TypeError lists the allowed ones."""
    if not isinstance(given, kind):
        allowed = ", ".join(f"dev.{one.name}" for one in kind)
        shown = f"dev.{given.name}" if isinstance(given, enum.Enum) else repr(given)
        raise TypeError(f"atoll.cute.{name}: {shown} is given; it must be one of {allowed}")
    return given


def kind_of(name: str, which: str, x):
    """Return the element type of a tensor or pointer."""
    if isinstance(x, cute.Tensor):
        return x.element_type
    if isinstance(x, cute.Pointer):
        return x.value_type
    raise TypeError(
        f"atoll.cute.{name}: {which} is {type(x).__name__}; it must be a cute.Tensor or a cute.Pointer"
    )


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


def addressed(name: str, which: str, x) -> None:
    """Refuse a tensor that is neither in global nor in shared memory."""
    pointer = pointer_of(x)
    space = "no memory" if pointer is None else pointer.memspace.name
    if space not in ("gmem", "generic", "smem"):
        where = {"rmem": "registers", "tmem": "tensor memory"}.get(space, space)
        raise TypeError(
            f"atoll.cute.{name}: {which} is in {where}; copy it to shared or global memory first, or move words by p and g"
        )


def global_memory(name: str, which: str, x) -> None:
    """Refuse memory that other PEs or blocks cannot access."""
    addressed(name, which, x)
    if is_shared(x):
        raise TypeError(
            f"atoll.cute.{name}: {which} is in shared memory, which other blocks and PEs cannot access; it must be in global "
            "memory, and symmetric if it is another PE's"
        )
    if is_swizzled(x):
        raise TypeError(
            f"atoll.cute.{name}: {which} is swizzled in global memory; pass it without its swizzle"
        )


def word(name: str, which: str, x, allowed=WORDS + FLOATS):
    """Return the type of a word in global memory."""
    kind = kind_of(name, which, x)
    global_memory(name, which, x)
    if kind not in allowed:
        listed = ", ".join(one.__name__ for one in allowed)
        raise TypeError(f"atoll.cute.{name}: {which} is of {kind.__name__}; it must be of {listed}")
    return kind


def tensor_in_memory(name: str, which: str, x) -> None:
    if not isinstance(x, cute.Tensor):
        raise TypeError(f"atoll.cute.{name}: {which} is {type(x).__name__}; it must be a cute.Tensor")
    addressed(name, which, x)


def same(name: str, dst, src):
    """Return the element type that both tensors have."""
    tensor_in_memory(name, "dst", dst)
    tensor_in_memory(name, "src", src)
    if dst.element_type is not src.element_type:
        raise TypeError(
            f"atoll.cute.{name}: dst is of {dst.element_type.__name__}, src of {src.element_type.__name__}; they must have one type"
        )
    return dst.element_type


def number(name: str, which: str, value, kind):
    """Return a value as the type of the word that it is for; a float for an integer is refused."""
    if not isinstance(value, (int, float, Numeric, ir.Value)):
        raise TypeError(
            f"atoll.cute.{name}: {which} is {type(value).__name__}; it must be a number, for a word of {kind.__name__}"
        )
    floating = isinstance(value, (float, Float16, BFloat16, Float32, Float64))
    if floating and kind not in FLOATS + HALVES:
        raise TypeError(
            f"atoll.cute.{name}: {which} is {type(value).__name__}, and the word of {kind.__name__}; convert one to the other"
        )
    if (
        isinstance(value, int)
        and kind not in FLOATS + HALVES
        and not -(1 << kind.width - 1) <= value < 1 << kind.width
    ):
        raise OverflowError(f"atoll.cute.{name}: {which} is {value}, which does not fit {kind.__name__}")
    return kind(value)


# ---- PTX


@dsl_user_op
def asm(text: str, constraints: str, results, arguments, *, loc=None, ip=None):
    """Build volatile inline PTX; no memory access moves across it. `results`: a type, a tuple of them, or
    None.
    """
    operands = [value.ir_value(loc=loc, ip=ip) for value in arguments]
    clobber = constraints + (",~{memory}" if constraints else "~{memory}")
    several = isinstance(results, tuple)
    kind = None if results is None else results.mlir_type if not several else llvm.StructType.get_literal([one.mlir_type for one in results])  # fmt: skip
    found = llvm.inline_asm(
        kind, operands, text, clobber, has_side_effects=True, asm_dialect=0, loc=loc, ip=ip
    )
    if several:
        return tuple(
            one(llvm.extractvalue(one.mlir_type, found, ir.DenseI64ArrayAttr.get([k]), loc=loc, ip=ip))
            for k, one in enumerate(results)
        )
    return None if results is None else results(found)


@dsl_user_op
def threads_along(axis: str, *, loc=None, ip=None):
    """Return the number of threads of the block along an axis.

    Not cute.arch.block_dim(): CuTe DSL 4.8.1 takes a product of these for greater than any constant if one of
    them is the hardware's maximum. In a block of 1024 threads, ntid.x * ntid.y * ntid.z < 2048 is then false.
    """
    text = f"mov.u32 $0, %ntid.{axis};"
    return Int32(
        llvm.inline_asm(
            Int32.mlir_type, [], text, "=r", has_side_effects=False, asm_dialect=0, loc=loc, ip=ip
        )
    )


def apart(name: str, text: str, constraints: str, result, arguments):
    """Build the same inside a function that is called: rare code, kept out of the way of frequent code."""
    module = ir.InsertionPoint.current.block.owner
    while module.name not in ("gpu.module", "builtin.module"):
        module = module.parent
    values = [value.ir_value() for value in arguments]
    results = [] if result is None else [result.mlir_type]
    if name not in ir.SymbolTable(module.operation):
        unknown = ir.Location.unknown()
        with ir.InsertionPoint(module.regions[0].blocks[0]):
            function = func.FuncOp(name, ([value.type for value in values], results), loc=unknown)
        function.sym_visibility = ir.StringAttr.get("private")
        function.no_inline = True
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            found = llvm.inline_asm(
                results[0] if results else None, list(block.arguments), text, constraints + ",~{memory}",
                has_side_effects=True, asm_dialect=0, loc=unknown,
            )  # fmt: skip
            func.ReturnOp([found] if results else [], loc=unknown)
    found = func.call(results, name, values, no_inline=True)
    return None if result is None else result(found)


def kernel_name() -> str:
    """Return the name of the kernel that is being compiled, as its author wrote it, or "" if it is unknown.

    CuTe DSL's symbol appends the types to that name without a separator. So the name is taken from the
    function, which is on the stack.
    """
    op = ir.InsertionPoint.current.block.owner
    while op is not None and op.name not in ("cuda.kernel", "gpu.func"):
        op = op.parent
    if op is None or "sym_name" not in op.attributes:
        return ""
    symbol = re.sub("^kernel_(cutlass_)?", "", ir.StringAttr(op.attributes["sym_name"]).value)
    found, frame = "", sys._getframe()
    while frame is not None:
        name = frame.f_code.co_name
        if len(name) > len(found) and f"{symbol}_".startswith(f"{name}_"):
            found = name
        frame = frame.f_back
    return found or symbol


def load(kind, at, order: str = ""):
    """Load a word. order: '', '.relaxed.sys.global', '.acquire.sys.global'."""
    form, letter = FORMS[kind]
    return asm(f"ld{order}.{form} $0, [$1];", f"={letter},l", kind, [at])


def store(kind, at, value, order: str = "") -> None:
    form, letter = FORMS[kind]
    asm(f"st{order}.{form} [$0], $1;", f"l,{letter}", None, [at, value])


@dsl_user_op
def narrow_bits(kind, value, *, loc=None, ip=None):
    """Return the bits of a number of 1 or 2 bytes as 16 bits, as inline PTX takes them."""
    given = value.ir_value(loc=loc, ip=ip)
    if kind in HALVES:
        given = llvm.bitcast(Uint16.mlir_type, given, loc=loc, ip=ip)
    elif kind.width == 8:
        given = llvm.zext(Uint16.mlir_type, given, loc=loc, ip=ip)
    return Uint16(given)


@dsl_user_op
def from_narrow(kind, bits, *, loc=None, ip=None):
    """Return the number of 1 or 2 bytes from its 16 bits."""
    found = bits.ir_value(loc=loc, ip=ip)
    if kind in HALVES:
        found = llvm.bitcast(kind.mlir_type, found, loc=loc, ip=ip)
    elif kind.width == 8:
        found = llvm.trunc(kind.mlir_type, found, llvm.IntegerOverflowFlags.none, loc=loc, ip=ip)
    return kind(found)


def store_narrow(kind, at, value) -> None:
    asm(f"st.relaxed.sys.global.b{kind.width} [$0], $1;", "l,h", None, [at, narrow_bits(kind, value)])


def load_narrow(kind, at):
    return from_narrow(kind, asm(f"ld.relaxed.sys.global.b{kind.width} $0, [$1];", "=h,l", Uint16, [at]))


def add_half(kind, at, value) -> None:
    form = "f16" if kind is Float16 else "bf16"
    text = f"red.relaxed.sys.global.add.noftz.{form} [$0], $1;"
    asm(text, "l,h", None, [at, narrow_bits(kind, value)])


SYSTEM, ACQUIRE, RELEASE = ".relaxed.sys.global", ".acquire.sys.global", ".release.sys.global"


def to_bits(kind, value):
    """Return the value's bits, zero-extended to an Int64."""
    _, letter = FORMS[kind]
    if kind.width == 64:
        return asm("mov.b64 $0, $1;", f"=l,{letter}", Int64, [value])
    return asm("{ .reg .b32 b; mov.b32 b, $1; cvt.u64.u32 $0, b; }", f"=l,{letter}", Int64, [value])


def from_bits(kind, bits):
    _, letter = FORMS[kind]
    if kind.width == 64:
        return asm("mov.b64 $0, $1;", f"={letter},l", kind, [bits])
    return asm("{ .reg .b32 b; cvt.u32.u64 b, $1; mov.b32 $0, b; }", f"={letter},l", kind, [bits])


def update(kind, operation: str, at, value, order: str = "relaxed"):
    """Do an atomic that returns the previous value: add, exch, and, or, xor."""
    form, letter = FORMS[kind]
    if operation == "add" and kind in FLOATS:
        text = f"atom.{order}.sys.global.add.{form} $0, [$1], $2;"
    elif operation == "add":
        text = f"atom.{order}.sys.global.add.u{kind.width} $0, [$1], $2;"
    elif kind in FLOATS:  # exch
        b = f"b{kind.width}"
        text = f"{{ .reg .{b} b; mov.{b} b, $2; atom.{order}.sys.global.{operation}.{b} b, [$1], b; mov.{b} $0, b; }}"
    else:
        text = f"atom.{order}.sys.global.{operation}.b{kind.width} $0, [$1], $2;"
    return asm(text, f"={letter},l,{letter}", kind, [at, value])


def add_release(kind, at, value) -> None:
    _, letter = FORMS[kind]
    asm(f"red.release.sys.global.add.u{kind.width} [$0], $1;", f"l,{letter}", None, [at, value])


def compare_swap(kind, at, condition, value):
    _, letter = FORMS[kind]
    b = f"b{kind.width}"
    text = f"{{ .reg .{b} c, v; mov.{b} c, $2; mov.{b} v, $3; atom.relaxed.sys.global.cas.{b} c, [$1], c, v; mov.{b} $0, c; }}"
    return asm(text, f"={letter},l,{letter},{letter}", kind, [at, condition, value])


def full_fence() -> None:
    asm("fence.sc.sys;", "", None, [])


# ---- bulk copies (atoll/device/bulk.hpp), of sm_90 and later


def has_bulk() -> bool:
    """Return whether the compilation's target GPU can copy from shared memory by its copy engine."""
    return CuTeDSL._get_dsl().get_arch_enum().major >= 9


def complete_bulk() -> None:
    """Wait until the copies that this thread started have written everything."""
    if has_bulk():
        asm("cp.async.bulk.wait_group 0;", "", None, [])


def read_bulk() -> None:
    """Wait until the copies that this thread started have read their sources."""
    if has_bulk():
        asm("cp.async.bulk.wait_group.read 0;", "", None, [])
