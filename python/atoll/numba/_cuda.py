"""The primitives on GPUs: inline PTX at system scope. Nothing is linked, so kernels can be cached."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from .. import _ptx
from . import _primitives as p
from ._cpu import I64, as_bits, as_value, bit_forms, bits_type, nothing
from ._layout import AT
from ._targets import BLOCK, DEVICE, GRID, THREAD, WARP, constant, emit, implement, numba_cuda

if numba_cuda is not None:
    from numba.cuda import nvvmutils

assert DEVICE is not None
HERE = DEVICE

i64 = types.int64
I32 = ir.IntType(32)
u32 = types.uint32
u64 = types.uint64


def emits(stub: Any) -> Any:
    return emit(HERE, stub)


def does(stub: Any) -> Any:
    return implement(HERE, stub)


def compiled(function: Any) -> Any:
    does(function)(gives(function))
    return function


def asm(builder: Any, text: str, constraints: str, result: Any, values: list[Any]) -> Any:
    """Build volatile inline PTX; no memory access moves across it."""
    kind = ir.FunctionType(result, [value.type for value in values])
    clobber = constraints + (",~{memory}" if constraints else "~{memory}")
    return builder.call(ir.InlineAsm(kind, text, clobber, side_effect=True), values)


def apart(builder: Any, name: str, text: str, constraints: str, result: Any, values: list[Any]) -> Any:
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


def letter(kind: Any) -> str:
    return "l" if kind.bitwidth == 64 else "r"


@emits(p.address)
def _(array: Any) -> Any:
    def build(context: Any, builder: Any, values: Any) -> Any:
        value = context.make_array(array)(context, builder, values[0])
        return builder.ptrtoint(value.data, I64)

    return i64(array), build


def loads(stub: Any, order: str) -> None:
    @emits(stub)
    def _(kind: Any, address: Any) -> Any:
        to = kind.dtype
        # A register has at least 32 bits; the loads have 1 and 2 bytes too.
        width = max(to.bitwidth, 32)

        def build(context: Any, builder: Any, values: Any) -> Any:
            result = ir.IntType(width)
            text = f"ld{order}.u{to.bitwidth} $0, [$1];"
            found = asm(builder, text, "=" + ("l" if width == 64 else "r") + ",l", result, [values[1]])
            if width != to.bitwidth:
                found = builder.trunc(found, bits_type(to))
            return as_value(builder, to, found)

        return to(kind, i64), build


def stores(stub: Any, order: str) -> None:
    @emits(stub)
    def _(kind: Any, address: Any, value: Any) -> Any:
        to = kind.dtype
        width = max(to.bitwidth, 32)

        def build(context: Any, builder: Any, values: Any) -> Any:
            bits = as_bits(builder, to, values[2])
            if width != to.bitwidth:
                bits = builder.zext(bits, I32)
            text = f"st{order}.u{to.bitwidth} [$0], $1;"
            asm(builder, text, "l," + ("l" if width == 64 else "r"), ir.VoidType(), [values[1], bits])
            return nothing(context)

        return i64(kind, i64, to), build


loads(p.load_acquire, ".acquire.sys.global")
loads(p.load_relaxed, ".relaxed.sys.global")
loads(p.load, "")
loads(p.load_own, ".global")
stores(p.store_release, ".release.sys.global")
loads(p.load_acquire_local, ".acquire.gpu.global")
stores(p.store_release_local, ".release.gpu.global")
stores(p.store_relaxed, ".relaxed.sys.global")
stores(p.store, "")
stores(p.store_own, ".global")


def updates(stub: Any, operation: str) -> None:
    @emits(stub)
    def _(kind: Any, address: Any, value: Any) -> Any:
        to = kind.dtype
        floating = operation == "add" and isinstance(to, types.Float)
        form = "f" if floating else "u" if operation == "add" else "b"
        how = ("d" if to.bitwidth == 64 else "f") if floating else letter(to)

        def build(context: Any, builder: Any, values: Any) -> Any:
            result = context.get_value_type(to) if floating else bits_type(to)
            value = values[2] if floating else as_bits(builder, to, values[2])
            text = f"atom.relaxed.sys.global.{operation}.{form}{to.bitwidth} $0, [$1], $2;"
            found = asm(builder, text, f"={how},l,{how}", result, [values[1], value])
            return found if floating else as_value(builder, to, found)

        return to(kind, i64, to), build


for stub, operation in [
    (p.swap, "exch"), (p.fetch_add, "add"), (p.fetch_and, "and"), (p.fetch_or, "or"), (p.fetch_xor, "xor"),
]:  # fmt: skip
    updates(stub, operation)


@emits(p.add_release)
def _(kind: Any, address: Any, value: Any) -> Any:
    to = kind.dtype

    def build(context: Any, builder: Any, values: Any) -> Any:
        text = f"red.release.sys.global.add.u{to.bitwidth} [$0], $1;"
        asm(builder, text, f"l,{letter(to)}", ir.VoidType(), [values[1], values[2]])
        return as_value(builder, to, ir.Constant(bits_type(to), 0))

    return to(kind, i64, to), build


@emits(p.compare_swap)
def _(kind: Any, address: Any, condition: Any, value: Any) -> Any:
    to = kind.dtype
    how = letter(to)

    def build(context: Any, builder: Any, values: Any) -> Any:
        bits = [as_bits(builder, to, one) for one in values[2:]]
        text = f"atom.relaxed.sys.global.cas.b{to.bitwidth} $0, [$1], $2, $3;"
        found = asm(builder, text, f"={how},l,{how},{how}", bits_type(to), [values[1], *bits])
        return as_value(builder, to, found)

    return to(kind, i64, to, to), build


bit_forms(HERE)


def pair_loads(stub: Any, order: str) -> None:
    @emits(stub)
    def _(address: Any) -> Any:
        def build(context: Any, builder: Any, values: Any) -> Any:
            pair = ir.LiteralStructType([I64, I64])
            text = f"ld{order}.v2.u64 {{$0, $1}}, [$2];"
            found = asm(builder, text, "=l,=l,l", pair, [values[0]])
            both = [builder.extract_value(found, k) for k in (0, 1)]
            return context.make_tuple(builder, types.UniTuple(i64, 2), both)

        return types.UniTuple(i64, 2)(i64), build


pair_loads(p.load_pair, ".relaxed.sys.global")
pair_loads(p.load_two, "")


def statement(text: str, constraints: str, *kinds: Any) -> Any:
    """PTX without a result."""

    def build(context: Any, builder: Any, values: Any) -> Any:
        asm(builder, text, constraints, ir.VoidType(), list(values))
        return nothing(context)

    return i64(*kinds), build


@emits(p.load_wide)
def _(kind: Any, address: Any) -> Any:
    to = kind.dtype
    parts = types.UniTuple(to, 128 // to.bitwidth)

    def build(context: Any, builder: Any, values: Any) -> Any:
        names = ", ".join(f"${k}" for k in range(parts.count))
        result = ir.LiteralStructType([bits_type(to)] * parts.count)
        outputs = f"={letter(to)}," * parts.count
        text = f"ld.v{parts.count}.b{to.bitwidth} {{{names}}}, [${parts.count}];"
        found = asm(builder, text, outputs + "l", result, [values[1]])
        each = [as_value(builder, to, builder.extract_value(found, k)) for k in range(parts.count)]
        return context.make_tuple(builder, parts, each)

    return parts(kind, i64), build


@emits(p.store_wide)
def _(kind: Any, address: Any, values: Any) -> Any:
    to = kind.dtype
    count = 128 // to.bitwidth

    def build(context: Any, builder: Any, given: Any) -> Any:
        each = [as_bits(builder, to, builder.extract_value(given[2], k)) for k in range(count)]
        names = ", ".join(f"${k}" for k in range(1, count + 1))
        text = f"st.v{count}.b{to.bitwidth} [$0], {{{names}}};"
        asm(builder, text, "l" + f",{letter(to)}" * count, ir.VoidType(), [given[1], *each])
        return nothing(context)

    return i64(kind, i64, values), build


emits(p.store_two)(lambda *_: statement("st.v2.u64 [$0], {$1, $2};", "l,l,l", i64, i64, i64))
emits(p.full_fence)(lambda: statement("fence.sc.sys;", ""))
does(p.rest)(lambda looks: lambda looks: 0)
does(p.looks_between)(lambda: lambda: 1024)


# ---- the threads of a scope: 32-bit numbers, which Numba's own arithmetic would widen to 64


def register(builder: Any, name: str) -> Any:
    return nvvmutils.call_sreg(builder, name) if isinstance(builder, ir.IRBuilder) else builder.special(name)


def in_all(builder: Any, what: str) -> Any:
    """Return the number of threads of the block (ntid), or of blocks of the grid (nctaid)."""
    x, y, z = (register(builder, f"{what}.{axis}") for axis in "xyz")
    return builder.mul(builder.mul(x, y), z)


def number_in(builder: Any, which: str, many: str) -> Any:
    """Return a thread's number in its block (tid, ntid), or a block's in the grid (ctaid, nctaid)."""
    x, y, z = (register(builder, f"{which}.{axis}") for axis in "xyz")
    width, height = (register(builder, f"{many}.{axis}") for axis in "xy")
    return builder.add(x, builder.mul(width, builder.add(y, builder.mul(height, z))))


def wide(builder: Any, number: Any) -> Any:
    return builder.zext(number, I64)


def rank_of(builder: Any, scope: Any) -> Any:
    if scope == THREAD:
        return ir.Constant(I64, 0)
    if scope == WARP:
        return wide(builder, register(builder, "laneid"))
    thread = wide(builder, number_in(builder, "tid", "ntid"))
    if scope == BLOCK:
        return thread
    block = wide(builder, number_in(builder, "ctaid", "nctaid"))
    return builder.add(builder.mul(block, wide(builder, in_all(builder, "ntid"))), thread)


def size_of(builder: Any, scope: Any) -> Any:
    if scope in (THREAD, WARP):
        return ir.Constant(I64, 1 if scope == THREAD else 32)
    threads = wide(builder, in_all(builder, "ntid"))
    return threads if scope == BLOCK else builder.mul(threads, wide(builder, in_all(builder, "nctaid")))


def numbers(stub: Any, make: Any) -> None:
    emits(stub)(lambda scope: (i64(scope), lambda context, builder, values: make(builder, constant(scope))))


numbers(p.rank, rank_of)
numbers(p.size, size_of)
emits(p.thread)(lambda: (i64(), lambda context, builder, values: rank_of(builder, GRID)))
emits(p.threads)(lambda: (i64(), lambda context, builder, values: size_of(builder, GRID)))


def block() -> Any: ...
def blocks() -> Any: ...


emits(block)(
    lambda: (i64(), lambda context, builder, values: wide(builder, number_in(builder, "ctaid", "nctaid")))
)
emits(blocks)(lambda: (i64(), lambda context, builder, values: wide(builder, in_all(builder, "nctaid"))))


def value(text: str, constraints: str, result: Any, *kinds: Any) -> Any:
    """PTX with a result."""

    def build(context: Any, builder: Any, values: Any) -> Any:
        return asm(builder, text, constraints, bits_type(result), list(values))

    return result(*kinds), build


def add_in_gpu(address: Any, value: Any) -> Any: ...
def load_in_gpu(address: Any) -> Any: ...


emits(add_in_gpu)(lambda *_: value("atom.add.acq_rel.gpu.global.u32 $0, [$1], $2;", "=r,l,r", u32, i64, u32))
emits(load_in_gpu)(lambda *_: value("ld.acquire.gpu.global.u32 $0, [$1];", "=r,l", u32, i64))

emits(p.uncounted)(lambda number: value("mov.b64 $0, $1;", "=l,l", i64, i64))


def sync_block() -> Any: ...
def sync_warp() -> Any: ...
def of_first_lane(value: Any) -> Any: ...


def by_names_of(cuda: Any) -> dict[Any, Any]:
    """Return the implementations of these stubs, by the names of the compiler's own module."""

    def block():
        cuda.syncthreads()
        return 0

    def warp():
        cuda.syncwarp()
        return 0

    def lane(value):
        return cuda.shfl_sync(np.uint32(0xFFFFFFFF), value, 0)

    return {sync_block: block, sync_warp: warp, of_first_lane: lane}


def gives(function: Any) -> Any:
    """Return a generator that gives this function for all types."""
    return lambda *_: function


if numba_cuda is not None:
    for stub, function in by_names_of(numba_cuda).items():
        does(stub)(gives(function))


def shared_word() -> Any:
    """The address of a word of the block's shared memory, within that memory; a kernel has one such word."""


@emits(shared_word)
def _() -> Any:
    def build(context: Any, builder: Any, values: Any) -> Any:
        if not isinstance(builder, ir.IRBuilder):
            return builder.shared_word("atoll_shared_word")
        word = builder.module.globals.get("atoll_shared_word")
        if word is None:
            word = ir.GlobalVariable(builder.module, I64, "atoll_shared_word", addrspace=3)
            word.initializer, word.linkage, word.align = ir.Constant(I64, ir.Undefined), "internal", 8
        return builder.ptrtoint(word, I64)

    return i64(), build


def store_shared(address: Any, value: Any) -> Any: ...
def load_shared(address: Any) -> Any: ...


emits(store_shared)(lambda *_: statement("st.shared.u64 [$0], $1;", "l,l", i64, i64))
emits(load_shared)(lambda *_: value("ld.shared.u64 $0, [$1];", "=l,l", i64, i64))

GRID_ARRIVED, GRID_WORD, GRID_SYNC = AT["grid_arrived"], AT["grid_word"], AT["grid_sync"]
HALF = 0x80000000


@compiled
def meet_grid(control):
    """Wait for all blocks. They add 2^31 in all, whatever their number, so the top bit flips when all have
    arrived.
    """
    sync_block()
    if p.rank(BLOCK) == 0:
        word = control + GRID_ARRIVED
        mine = np.uint32(HALF - (blocks() - 1)) if block() == 0 else np.uint32(1)
        before = add_in_gpu(word, mine)
        since = np.int64(0)
        looks = 0
        while ((load_in_gpu(word) ^ before) & np.uint32(HALF)) == 0:
            looks += 1
            if looks == 1024:
                looks = 0
                since = p.look_around(control, GRID_SYNC, -1, -1, 0, word, 0, 0, since)
    sync_block()
    return 0


@does(p.meet)
def _(control: Any, scope: Any) -> Any:
    if constant(scope) == THREAD:
        return lambda control, scope: 0
    if constant(scope) == GRID:
        return lambda control, scope: meet_grid(control)
    in_block = constant(scope) == BLOCK

    def meet(control, scope):
        if in_block:
            sync_block()
        else:
            sync_warp()
        return 0

    return meet


@does(p.share)
def _(control: Any, scope: Any, value: Any) -> Any:
    which = constant(scope)

    def of_warp(control, scope, value):
        said = of_first_lane(np.int64(value))
        sync_warp()  # a shuffle does not order memory
        return said

    def of_block(control, scope, value):
        if p.rank(BLOCK) == 0:
            store_shared(shared_word(), value)
        sync_block()
        said = load_shared(shared_word())
        sync_block()
        return said

    def of_grid(control, scope, value):
        if block() == 0 and p.rank(BLOCK) == 0:
            p.store_relaxed(i64, control + GRID_WORD, value)
        meet_grid(control)
        said = p.load_relaxed(i64, control + GRID_WORD)
        meet_grid(control)
        return said

    if which == THREAD:
        return lambda control, scope, value: np.int64(value)
    by_scope: dict[Any, Any] = {WARP: of_warp, BLOCK: of_block, GRID: of_grid}
    return by_scope[which]


# ---- copies: many loads before their stores, since a link's latency is long

IN_FLIGHT = _ptx.BULK


def unit_copy(unit: int, count: int) -> Any:
    """`count` units of that many bytes, `step` bytes from one to the next: f(to, source, step)."""

    def copied(to: Any, source: Any, step: Any) -> Any: ...

    emits(copied)(lambda *_: statement(_ptx.copy(unit, count), "l,l,l", i64, i64, i64))
    return copied


def units_copy(unit: int) -> Any:
    many, one = unit_copy(unit, IN_FLIGHT), unit_copy(unit, 1)

    def units(to, source, n, rank, size):
        i = rank
        while i < n and n - i > (IN_FLIGHT - 1) * size:
            many(to + i * unit, source + i * unit, size * unit)
            i += IN_FLIGHT * size
        while i < n:
            one(to + i * unit, source + i * unit, 0)
            i += size
        return 0

    return compiled(units)


quads, longs, words, shorts, chars = (units_copy(unit) for unit in (16, 8, 4, 2, 1))
long, word, short, char = (unit_copy(unit, 1) for unit in (8, 4, 2, 1))


@compiled
def end_of_copy(to, source, nbytes):
    """Copy the rest, less than a unit of the largest size, by words of each smaller size, so that none is
    torn.
    """
    at = np.int64(0)
    if nbytes & 8 != 0:
        long(to, source, 0)
        at = np.int64(8)
    if nbytes & 4 != 0:
        word(to + at, source + at, 0)
        at += 4
    if nbytes & 2 != 0:
        short(to + at, source + at, 0)
        at += 2
    if nbytes & 1 != 0:
        char(to + at, source + at, 0)


@does(p.copy)
def _(to: Any, source: Any, nbytes: Any, scope: Any) -> Any:
    def copy(to, source, nbytes, scope):
        rank, size = p.rank(scope), p.size(scope)
        either = to | source
        done = nbytes
        if either & 15 == 0:
            done = nbytes & ~15
            quads(to, source, nbytes >> 4, rank, size)
        elif either & 7 == 0:
            done = nbytes & ~7
            longs(to, source, nbytes >> 3, rank, size)
        elif either & 3 == 0:
            done = nbytes & ~3
            words(to, source, nbytes >> 2, rank, size)
        elif either & 1 == 0:
            done = nbytes & ~1
            shorts(to, source, nbytes >> 1, rank, size)
        else:
            chars(to, source, nbytes, rank, size)
        if done < nbytes and rank == size - 1:
            end_of_copy(to + done, source + done, nbytes - done)
        return 0

    return copy


# ---- how waits end


@emits(p.look_around)
def _(*_: Any) -> Any:
    def build(context: Any, builder: Any, values: Any) -> Any:
        words = [values[0], *(builder.trunc(value, I32) for value in values[1:5]), *values[5:]]
        return apart(builder, "atoll_look_around", _ptx.look_around(), "=l,l,r,r,r,r,l,l,l,l", I64, words)

    return i64(*[i64] * 9), build


@emits(p.look_within)
def _(*_: Any) -> Any:
    def build(context: Any, builder: Any, values: Any) -> Any:
        words = [values[0], *(builder.trunc(value, I32) for value in values[1:5]), *values[5:]]
        text = _ptx.look_around(bound="$10")
        return apart(builder, "atoll_look_within", text, "=l,l,r,r,r,r,l,l,l,l,l", I64, words)

    return i64(*[i64] * 10), build


def refuse_pe(control: Any, n_pes: Any, operation: Any, pe: Any) -> Any: ...


@emits(refuse_pe)
def _(control: Any, n_pes: Any, operation: Any, pe: Any) -> Any:
    def build(context: Any, builder: Any, values: Any) -> Any:
        short = [builder.trunc(values[k], I32) for k in (3, 1, 2)]
        words = [short[0], short[1], values[0], short[2]]
        apart(builder, "atoll_refuse_pe", _ptx.check_pe("$3"), "r,r,l,r", ir.VoidType(), words)
        return nothing(context)

    return i64(*[i64] * 4), build


@does(p.check_pe)
def _(control: Any, n_pes: Any, operation: Any, pe: Any) -> Any:
    def check_pe(control, n_pes, operation, pe):
        if pe < 0 or pe >= n_pes:
            refuse_pe(control, n_pes, operation, max(-1, min(pe, 0x7FFFFFFF)))
        return 0

    return check_pe


def refuse_place(control: Any, mine: Any, stride: Any, operation: Any, address: Any) -> Any: ...


@emits(refuse_place)
def _(*_: Any) -> Any:
    def build(context: Any, builder: Any, values: Any) -> Any:
        control, mine, stride, operation, address = values
        words = [address, mine, stride, control, builder.trunc(operation, I32)]
        apart(builder, "atoll_refuse_place", _ptx.check_place("$4"), "l,l,l,l,r", ir.VoidType(), words)
        return nothing(context)

    return i64(*[i64] * 5), build


@does(p.check_place)
def _(*_: Any) -> Any:
    def check_place(control, mine, stride, operation, address):
        if u64(address - mine) >= u64(stride):
            refuse_place(control, mine, stride, operation, address)
        return 0

    def unchecked(control, mine, stride, operation, address):
        return 0

    return check_place if _ptx.CHECKS_ADDRESSES else unchecked


@emits(p.load_flagged)
def _(address: Any, flag: Any) -> Any:
    def build(context: Any, builder: Any, values: Any) -> Any:
        flag = builder.trunc(values[1], I32)
        found = asm(
            builder, _ptx.load_flagged(), "=l,=r,l,r", ir.LiteralStructType([I64, I32]), [values[0], flag]
        )
        data, here = builder.extract_value(found, 0), builder.zext(builder.extract_value(found, 1), I64)
        return context.make_tuple(builder, types.UniTuple(i64, 2), [data, here])

    return types.UniTuple(i64, 2)(i64, i64), build


@emits(p.store_flagged)
def _(address: Any, data: Any, flag: Any) -> Any:
    def build(context: Any, builder: Any, values: Any) -> Any:
        flag = builder.trunc(values[2], I32)
        asm(builder, _ptx.store_flagged(), "l,l,r", ir.VoidType(), [values[0], values[1], flag])
        return nothing(context)

    return i64(i64, i64, i64), build


# Eight bytes of a message. Numba's own arithmetic tests whether they are aligned and complete; only others
# call a function.


def load_broken(source: Any, nbytes: Any, i: Any) -> Any: ...
def store_broken(to: Any, nbytes: Any, i: Any, data: Any) -> Any: ...


@emits(load_broken)
def _(*_: Any) -> Any:
    return i64(i64, i64, i64), lambda context, builder, values: apart(
        builder, "atoll_load_part", _ptx.load_part(), "=&l,l,l,l", I64, list(values)
    )


@emits(store_broken)
def _(*_: Any) -> Any:
    def build(context: Any, builder: Any, values: Any) -> Any:
        apart(builder, "atoll_store_part", _ptx.store_part(), "l,l,l,l", ir.VoidType(), list(values))
        return nothing(context)

    return i64(i64, i64, i64, i64), build


@does(p.load_part)
def _(source: Any, nbytes: Any, i: Any) -> Any:
    def load_part(source, nbytes, i):
        at = source + 8 * i
        if at & 7 == 0 and 8 * i + 8 <= nbytes:
            return p.load(i64, at)
        return load_broken(source, nbytes, i)

    return load_part


@does(p.store_part)
def _(to: Any, nbytes: Any, i: Any, data: Any) -> Any:
    def store_part(to, nbytes, i, data):
        at = to + 8 * i
        if at & 7 == 0 and 8 * i + 8 <= nbytes:
            p.store(i64, at, data)
        else:
            store_broken(to, nbytes, i, data)
        return 0

    return store_part


does(p.load_taken)(lambda address: lambda address: p.load_relaxed(i64, address))
does(p.tell_taken)(lambda address, number: lambda address, number: p.store_relaxed(i64, address, number))
