"""The primitives on GPUs: inline PTX at system scope. Nothing is linked, so kernels can be cached."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from ..._kernels import ptx, trace_ptx
from .. import _primitives as p
from ._cpu import I64, as_bits, as_value, bit_forms, bits_type, loads, nothing, stores, updates
from ._registration import DEVICE, build, compile_as, emit, implement

assert DEVICE is not None
HERE = DEVICE
i64 = types.int64
I32 = ir.IntType(32)
u32 = types.uint32
u64 = types.uint64


def emits(stub):
    return emit(HERE, stub)


def does(stub):
    return implement(HERE, stub)


def builds(stub, signature):
    return build(HERE, stub, signature)


def compiles(stub):
    return compile_as(HERE, stub)


def compiled(function):
    return compiles(function)(function)


def asm(builder, text: str, constraints: str, result, values: list[Any]):
    """Build volatile inline PTX; no memory access moves across it."""
    kind = ir.FunctionType(result, [value.type for value in values])
    clobber = constraints + (",~{memory}" if constraints else "~{memory}")
    return builder.call(ir.InlineAsm(kind, text, clobber, side_effect=True), values)


def apart(builder, name: str, text: str, constraints: str, result, values: list[Any]):
    """Build the same inside a function that is called: rare code, kept out of the way of frequent code."""
    if not isinstance(builder, ir.IRBuilder):
        return asm(builder, text, constraints, result, values)
    function = builder.module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(result, [value.type for value in values])
        function = ir.Function(builder.module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        inside = ir.IRBuilder(function.append_basic_block())
        found = asm(inside, text, constraints, result, list(function.args))
        inside.ret_void() if isinstance(result, ir.VoidType) else inside.ret(found)
    return builder.call(function, values)


def letter(kind):
    return "l" if kind.bitwidth == 64 else "r"


def loading(order: str):
    def load(builder, kind, address):
        width = max(kind.bitwidth, 32)  # a register has at least 32 bits; the loads have 1 and 2 bytes too
        text, how = f"ld{order}.u{kind.bitwidth} $0, [$1];", "l" if width == 64 else "r"
        found = asm(builder, text, f"={how},l", ir.IntType(width), [address])
        return builder.trunc(found, bits_type(kind)) if width != kind.bitwidth else found

    return load


def storing(order: str):
    def store(builder, kind, address, bits):
        width = max(kind.bitwidth, 32)
        if width != kind.bitwidth:
            bits = builder.zext(bits, I32)
        text, how = f"st{order}.u{kind.bitwidth} [$0], $1;", "l" if width == 64 else "r"
        asm(builder, text, f"l,{how}", ir.VoidType(), [address, bits])

    return store


def updating(operation: str):
    def update(builder, kind, address, *bits):
        how = letter(kind)
        form = f"{'u' if operation == 'add' else 'b'}{kind.bitwidth}"
        operands = ", ".join(f"${k}" for k in range(2, 2 + len(bits)))
        text = f"atom.relaxed.sys.global.{operation}.{form} $0, [$1], {operands};"
        return asm(builder, text, f"={how},l" + f",{how}" * len(bits), bits_type(kind), [address, *bits])

    return update


def add_floats(builder, kind, address, value):
    bits, how = (64, "d") if kind == ir.DoubleType() else (32, "f")
    text = f"atom.relaxed.sys.global.add.f{bits} $0, [$1], $2;"
    return asm(builder, text, f"={how},l,{how}", kind, [address, value])


loads(HERE, p.load_acquire, loading(".acquire.sys.global"))
loads(HERE, p.load_relaxed, loading(".relaxed.sys.global"))
loads(HERE, p.load, loading(""))
loads(HERE, p.load_own, loading(".global"))
stores(HERE, p.store_release, storing(".release.sys.global"))
loads(HERE, p.load_acquire_local, loading(".acquire.gpu.global"))
stores(HERE, p.store_release_local, storing(".release.gpu.global"))
stores(HERE, p.store_relaxed, storing(".relaxed.sys.global"))
stores(HERE, p.store, storing(""))
stores(HERE, p.store_own, storing(".global"))
updates(HERE, p.swap, updating("exch"))
updates(HERE, p.fetch_add, updating("add"), add_floats)
updates(HERE, p.fetch_and, updating("and"))
updates(HERE, p.fetch_or, updating("or"))
updates(HERE, p.fetch_xor, updating("xor"))
updates(HERE, p.compare_swap, updating("cas"))


@emits(p.add_release)
def _(kind, address, value):
    to = kind.dtype

    def build(context, builder, values):
        text = f"red.release.sys.global.add.u{to.bitwidth} [$0], $1;"
        asm(builder, text, f"l,{letter(to)}", ir.VoidType(), [values[1], values[2]])
        return as_value(builder, to, ir.Constant(bits_type(to), 0))

    return to(kind, i64, to), build


bit_forms(HERE)


def pair_loads(stub, order: str):
    @builds(stub, types.UniTuple(i64, 2)(i64))
    def _(context, builder, values):
        pair = ir.LiteralStructType([I64, I64])
        text = f"ld{order}.v2.u64 {{$0, $1}}, [$2];"
        found = asm(builder, text, "=l,=l,l", pair, [values[0]])
        both = [builder.extract_value(found, k) for k in (0, 1)]
        return context.make_tuple(builder, types.UniTuple(i64, 2), both)


pair_loads(p.load_pair, ".relaxed.sys.global")
pair_loads(p.load_two, "")


def statement(text: str, constraints: str, *kinds):
    """PTX without a result."""

    def build(context, builder, values):
        asm(builder, text, constraints, ir.VoidType(), list(values))
        return nothing(context)

    return i64(*kinds), build


@emits(p.load_wide)
def _(kind, address):
    to = kind.dtype
    parts = types.UniTuple(to, 128 // to.bitwidth)

    def build(context, builder, values):
        names = ", ".join(f"${k}" for k in range(parts.count))
        result = ir.LiteralStructType([bits_type(to)] * parts.count)
        outputs = f"={letter(to)}," * parts.count
        text = f"ld.v{parts.count}.b{to.bitwidth} {{{names}}}, [${parts.count}];"
        found = asm(builder, text, outputs + "l", result, [values[1]])
        each = [as_value(builder, to, builder.extract_value(found, k)) for k in range(parts.count)]
        return context.make_tuple(builder, parts, each)

    return parts(kind, i64), build


@emits(p.store_wide)
def _(kind, address, values):
    to = kind.dtype
    count = 128 // to.bitwidth

    def build(context, builder, given):
        each = [as_bits(builder, to, builder.extract_value(given[2], k)) for k in range(count)]
        names = ", ".join(f"${k}" for k in range(1, count + 1))
        text = f"st.v{count}.b{to.bitwidth} [$0], {{{names}}};"
        asm(builder, text, "l" + f",{letter(to)}" * count, ir.VoidType(), [given[1], *each])
        return nothing(context)

    return i64(kind, i64, values), build


emits(p.store_two)(lambda *_: statement("st.v2.u64 [$0], {$1, $2};", "l,l,l", i64, i64, i64))
emits(p.full_fence)(lambda: statement("fence.sc.sys;", ""))
does(p.rest)(lambda polls: lambda polls: 0)
does(p.polls_between_checks)(lambda since: lambda since: 1024)
does(p.end_wait)(lambda since: lambda since: 0)


def value(text: str, constraints: str, result, *kinds):
    """PTX with a result."""

    def build(context, builder, values):
        return asm(builder, text, constraints, bits_type(result), list(values))

    return result(*kinds), build


def returns(function):
    """Return a Numba generator that returns this function for every type."""
    return lambda *_: function


@emits(p.trace_now)
def _():
    return i64(), lambda context, builder, values: asm(builder, ptx.clock(), "=l", I64, [])


emits(p.trace_take)(lambda *_: value(trace_ptx.trace_take(), "=&l,l,l", i64, i64, i64))


@builds(p.trace_write, i64(*[i64] * 8))
def _(context, builder, values):
    trace, taken, what, began, peer, *words = values
    what, peer = builder.trunc(what, I32), builder.trunc(peer, I32)
    operands = [trace, taken, what, began, peer, *words]
    apart(builder, "atoll_trace_write", trace_ptx.trace_write(), "l,l,r,l,r,l,l,l", ir.VoidType(), operands)
    return nothing(context)
