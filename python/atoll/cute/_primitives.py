"""Inline PTX: loads, stores and atomics of words, and the completion of bulk copies."""

# mypy: ignore-errors
from __future__ import annotations

import re
import sys

import cutlass
import cutlass.cute as cute
from cutlass import BFloat16, Constexpr, Float16, Int32, Int64, Uint16
from cutlass._mlir import ir
from cutlass._mlir.dialects import func, llvm
from cutlass.cutlass_dsl import CuTeDSL, dsl_user_op

from .._kernels import ptx
from ._types import FLOATS, FORMS, HALVES


def as_it_is(function):
    """The decorator of shared functions (_kernels/bodies), which CuTe DSL runs while it compiles a kernel."""
    return function


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


load_own, store_own = load, store
"""For words that other PEs do not write meanwhile."""


def load_relaxed(kind, at):
    return load(kind, at, SYSTEM)


def load_acquire(kind, at):
    return load(kind, at, ACQUIRE)


def store_relaxed(kind, at, value) -> None:
    store(kind, at, value, SYSTEM)


def store_release(kind, at, value) -> None:
    store(kind, at, value, RELEASE)


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


def updating(operation: str):
    """Return the relaxed atomic as a function of a word and a value."""
    return lambda kind, at, value: update(kind, operation, at, kind(value))


swap, fetch_add, fetch_and, fetch_or, fetch_xor = map(updating, ("exch", "add", "and", "or", "xor"))


def add(kind, at, value) -> None:
    """Add to a word, or to a 16-bit float."""
    if kind not in HALVES:
        fetch_add(kind, at, value)
        return
    if kind is BFloat16 and not has_bulk():
        raise TypeError("atoll.cute.atomic_add: dst is of BFloat16, which GPUs before sm_90 cannot add to")
    add_half(kind, at, value)


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


@cute.jit
def load_part(source: Int64, nbytes: Int64, i: Int64, whole: Constexpr):
    """Load bytes 8 * i … of an array; bytes past its end are 0."""
    at = source + i * 8
    data = Int64(0)
    if cutlass.const_expr(whole):  # noqa: SIM114 (decided when it is compiled, the latter in the kernel)
        data = load(Int64, at)
    elif (at & 7 == 0) & (i * 8 + 8 <= nbytes):
        data = load(Int64, at)
    else:
        data = apart("atoll_load_part", ptx.load_part(), "=&l,l,l,l", Int64, [source, nbytes, i])
    return data


@cute.jit
def store_part(to: Int64, nbytes: Int64, i: Int64, data: Int64, whole: Constexpr):
    at = to + i * 8
    if cutlass.const_expr(whole):  # noqa: SIM114
        store(Int64, at, data)
    elif (at & 7 == 0) & (i * 8 + 8 <= nbytes):
        store(Int64, at, data)
    else:
        apart("atoll_store_part", ptx.store_part(), "l,l,l,l", None, [to, nbytes, i, data])


def store_flagged(at, data, flag) -> None:
    asm(ptx.store_flagged(), "l,l,r", None, [at, data, flag])


@cute.jit
def pairs_of(nbytes: Int64):
    pairs = (nbytes + 7) >> 3
    if pairs == 0:
        pairs = Int64(1)
    return pairs


def load_flagged(at, flag):
    return asm(ptx.load_flagged(), "=l,=r,l,r", (Int64, Int32), [at, flag])
