"""The primitives on the host: LLVM's atomics. Every scope is one thread."""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import types

from ... import _atoll
from ..._kernels.ptx import AT
from .. import _primitives as p
from .._polling import flag_of
from ._registration import HOST, Target, build, compile_as, emit, implement

I32, I64 = ir.IntType(32), ir.IntType(64)
i64, u8 = types.int64, types.uint8
# Compiled code calls these by name, which also works for cached code.
for _name, _address in _atoll._kernel_functions().items():
    llvmlite.binding.add_symbol(_name, _address)


def emits(stub):
    return emit(HOST, stub)


def does(stub):
    return implement(HOST, stub)


def builds(stub, signature):
    return build(HOST, stub, signature)


def compiles(stub):
    return compile_as(HOST, stub)


def bits_type(kind):
    return ir.IntType(kind.bitwidth)


def pointer(builder, address, to):
    return builder.inttoptr(address, to.as_pointer())


def as_bits(builder, kind, value):
    return builder.bitcast(value, bits_type(kind)) if isinstance(kind, types.Float) else value


def as_value(builder, kind, bits):
    if not isinstance(kind, types.Float):
        return bits
    return builder.bitcast(bits, ir.FloatType() if kind == types.float32 else ir.DoubleType())


def nothing(context):
    return ir.Constant(I64, 0)


# ---- forms that all targets build alike, each by its own instructions
def loads(target: Target, stub, load):
    """Implement a load by load(builder, kind, address), which returns the bits."""

    @emit(target, stub)
    def _(kind, address):
        to = kind.dtype

        def build(context, builder, values):
            return as_value(builder, to, load(builder, to, values[1]))

        return to(kind, i64), build


def stores(target: Target, stub, store):
    """Implement a store by store(builder, kind, address, bits)."""

    @emit(target, stub)
    def _(kind, address, value):
        to = kind.dtype

        def build(context, builder, values):
            store(builder, to, values[1], as_bits(builder, to, values[2]))
            return nothing(context)

        return i64(kind, i64, to), build


def updates(target: Target, stub, update, add_floats=None):
    """Implement an atomic by update(builder, kind, address, *bits), which returns the previous bits.

    `add_floats` takes and returns floats in place of bits.
    """

    @emit(target, stub)
    def _(kind, address, *operands):
        to = kind.dtype

        def build(context, builder, values):
            if add_floats is not None and isinstance(to, types.Float):
                return add_floats(builder, context.get_value_type(to), values[1], values[2])
            bits = [as_bits(builder, to, one) for one in values[2:]]
            return as_value(builder, to, update(builder, to, values[1], *bits))

        return to(kind, i64, *[to] * len(operands)), build


def loading(order: str):
    def load(builder, kind, address):
        return builder.load_atomic(pointer(builder, address, bits_type(kind)), order, kind.bitwidth // 8)

    return load


def storing(order: str):
    def store(builder, kind, address, bits):
        builder.store_atomic(bits, pointer(builder, address, bits_type(kind)), order, kind.bitwidth // 8)

    return store


def updating(operation: str, order: str = "monotonic"):
    def update(builder, kind, address, bits):
        return builder.atomic_rmw(operation, pointer(builder, address, bits_type(kind)), bits, order)

    return update


def adding_floats(order: str = "monotonic"):
    return lambda builder, kind, address, value: builder.atomic_rmw(
        "fadd", pointer(builder, address, kind), value, order
    )


def swapping_if(builder, kind, address, condition, value):
    at = pointer(builder, address, bits_type(kind))
    found = builder.cmpxchg(at, condition, value, "monotonic", "monotonic")
    return builder.extract_value(found, 0)


loads(HOST, p.load_acquire, loading("acquire"))
loads(HOST, p.load_relaxed, loading("monotonic"))
# Not plain loads and stores. LLVM writes an address that is a sum as an offset from one of its parts. If a
# caller's compilation finds that this part is 0, LLVM removes a plain access as one through a null pointer.
loads(HOST, p.load, loading("monotonic"))
loads(HOST, p.load_own, loading("monotonic"))
stores(HOST, p.store_release, storing("release"))
loads(HOST, p.load_acquire_local, loading("acquire"))
stores(HOST, p.store_release_local, storing("release"))
stores(HOST, p.store_relaxed, storing("monotonic"))
stores(HOST, p.store, storing("monotonic"))
stores(HOST, p.store_own, storing("monotonic"))
updates(HOST, p.swap, updating("xchg"))
updates(HOST, p.fetch_add, updating("add"), adding_floats())
updates(HOST, p.fetch_and, updating("and"))
updates(HOST, p.fetch_or, updating("or"))
updates(HOST, p.fetch_xor, updating("xor"))
updates(HOST, p.add_release, updating("add", "release"), adding_floats("release"))
updates(HOST, p.compare_swap, swapping_if)


def bit_forms(target: Target) -> None:
    """Addresses, bits, values and numbers."""

    @emit(target, p.address)
    def _(array):
        def build(context, builder, values):
            value = context.make_array(array)(context, builder, values[0])
            return builder.ptrtoint(value.data, I64)

        return i64(array), build

    @emit(target, p.quotient)
    def _(a, b):
        def build(context, builder, values):
            return builder.zext(builder.udiv(*(builder.trunc(value, I32) for value in values)), I64)

        return i64(i64, i64), build

    @emit(target, p.to_bits)
    def _(kind, value):
        to = kind.dtype

        def build(context, builder, values):
            bits = as_bits(builder, to, values[1])
            return bits if to.bitwidth == 64 else builder.zext(bits, I64)

        return i64(kind, to), build

    @emit(target, p.from_bits)
    def _(kind, bits):
        to = kind.dtype

        def build(context, builder, values):
            bits = values[1] if to.bitwidth == 64 else builder.trunc(values[1], bits_type(to))
            return as_value(builder, to, bits)

        return to(kind, i64), build


bit_forms(HOST)


@builds(p.load_pair, types.UniTuple(i64, 2)(i64))
def _(context, builder, values):
    second = builder.add(values[0], ir.Constant(I64, 8))
    found = [builder.load_atomic(pointer(builder, at, I64), "monotonic", 8) for at in (values[0], second)]
    return context.make_tuple(builder, types.UniTuple(i64, 2), found)


does(p.load_two)(lambda address: lambda address: p.load_pair(address))


@compiles(p.store_two)
def store_two(address, first, second):
    p.store(i64, address, first)
    p.store(i64, address + 8, second)
    return 0


@does(p.load_wide)
def _(kind, address):
    def four(kind, address):
        return (
            p.load(kind, address),
            p.load(kind, address + 4),
            p.load(kind, address + 8),
            p.load(kind, address + 12),
        )

    def two(kind, address):
        return p.load(kind, address), p.load(kind, address + 8)

    return four if kind.dtype.bitwidth == 32 else two


@does(p.store_wide)
def _(kind, address, values):
    each = kind.dtype.bitwidth // 8

    def store_wide(kind, address, values):
        for k in range(len(values)):
            p.store(kind, address + k * each, values[k])
        return 0

    return store_wide


does(p.can_bulk)(lambda *_: lambda to, source, nbytes: False)
does(p.start_bulk)(lambda *_: lambda to, source, nbytes: 0)
does(p.see_shared)(lambda: lambda: 0)
does(p.complete_bulk)(lambda: lambda: 0)
does(p.read_bulk)(lambda: lambda: 0)


@builds(p.full_fence, i64())
def _(context, builder, values):
    builder.fence("seq_cst")
    return nothing(context)


@emits(p.copy)
def _(to, source, nbytes, scope):
    def build(context, builder, values):
        kind = ir.FunctionType(I64, [I64, I64, I64])
        function = builder.module.globals.get("memmove") or ir.Function(builder.module, kind, "memmove")
        builder.call(function, values[:3])
        return nothing(context)

    return i64(i64, i64, i64, scope), build


@compiles(p.load_flagged)
def load_flagged(address, flag):
    first, second = p.load_pair(address)
    here = i64(1) if flag_of(first) == flag and flag_of(second) == flag else i64(0)
    return (first & 0xFFFFFFFF) | (second << 32), here


@compiles(p.store_flagged)
def store_flagged(address, data, flag):
    p.store_relaxed(i64, address, flag << 32 | data & 0xFFFFFFFF)
    p.store_relaxed(i64, address + 8, flag << 32 | data >> 32 & 0xFFFFFFFF)
    return 0


@compiles(p.load_part)
def load_part(source, nbytes, i):
    at = source + 8 * i
    if 8 * i + 8 <= nbytes and at & 7 == 0:
        return p.load(i64, at)
    data = i64(0)
    for k in range(8):
        if 8 * i + k < nbytes:
            data |= i64(p.load(u8, at + k)) << (8 * k)
    return data


@compiles(p.store_part)
def store_part(to, nbytes, i, data):
    at = to + 8 * i
    if 8 * i + 8 <= nbytes and at & 7 == 0:
        p.store(i64, at, data)
    else:
        for k in range(8):
            if 8 * i + k < nbytes:
                p.store(u8, at + k, u8((data >> (8 * k)) & 255))
    return 0


does(p.load_taken)(lambda address: lambda address: p.load_acquire(i64, address))
does(p.notify_taken)(lambda address, number: lambda address, number: p.store_release(i64, address, number))


def returns(stub, value: int | None):
    """Implement `stub` by a constant, or, for None, by its last argument."""

    @emits(stub)
    def _(*kinds):
        def build(context, builder, values):
            return values[-1] if value is None else ir.Constant(I64, value)

        return i64(*kinds[:-1], i64) if value is None else i64(*kinds), build


returns(p.rank, 0)
returns(p.size, 1)
returns(p.meet, 0)
returns(p.share, None)
returns(p.uncounted, None)
returns(p.thread, 0)
returns(p.threads, 1)


def call(builder, name: str, result, values: list[Any]):
    kind = ir.FunctionType(result, [value.type for value in values])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    return builder.call(function, values)


@builds(p.rest, i64(i64))
def _(context, builder, values):
    with builder.if_then(builder.icmp_signed(">=", values[0], ir.Constant(I64, 32))):
        call(builder, "sched_yield", I32, [])
    return nothing(context)


def now(): ...


def report(watch, operation, team, subject, peer, tag, address, expected, found, waited, bound):
    """Report a wrong argument. Returns not 0 if that is an error."""


def go_on_waiting(watch, operation, team, subject, peer, tag, address, expected, found, waited, bound):
    """Return 1 if the wait has ended by an error, 2 if it sleeps between its polls, and 0 while it spins."""


def raise_reason():
    """Raise what report() or go_on_waiting() found."""


@builds(raise_reason, i64())
def _(context, builder, values):
    call(builder, "atoll_kernel_set_error", ir.VoidType(), [])
    context.call_conv.return_exc(builder)
    builder.position_at_end(builder.append_basic_block("not_reached"))
    return nothing(context)


@builds(p.polls_between_checks, i64(i64))
def _(context, builder, values):
    sleeps = builder.icmp_signed("<", values[0], nothing(context))
    return builder.select(sleeps, ir.Constant(I64, 1), ir.Constant(I64, 64))


@builds(p.end_wait, i64(i64))
def _(context, builder, values):
    with builder.if_then(builder.icmp_signed("<", values[0], nothing(context)), likely=False):
        call(builder, "atoll_kernel_end_wait", ir.VoidType(), [])
    return nothing(context)


@builds(now, i64())
def _(context, builder, values):
    clock = ir.Constant(I32, 1)  # CLOCK_MONOTONIC
    time = builder.alloca(ir.ArrayType(I64, 2))
    call(builder, "clock_gettime", I32, [clock, builder.ptrtoint(time, I64)])
    seconds, rest = (builder.extract_value(builder.load(time), k) for k in (0, 1))
    return builder.add(builder.mul(seconds, ir.Constant(I64, 10**9)), rest)


does(p.trace_now)(lambda: lambda: now())


does(p.trace_take)(lambda trace, began: lambda trace, began: i64(0))


@builds(p.trace_write, i64(*[i64] * 8))
def _(context, builder, values):
    trace, _, what, began, peer, *words = values
    what, peer = builder.trunc(what, I32), builder.trunc(peer, I32)
    call(builder, "atoll_kernel_trace", ir.VoidType(), [trace, what, began, peer, *words])
    return nothing(context)


def calls_library(stub, name: str) -> None:
    @builds(stub, i64(*[i64] * 11))
    def _(context, builder, values):
        words = [values[0], *(builder.trunc(value, I32) for value in values[1:6]), *values[6:]]
        return builder.sext(call(builder, name, I32, words), I64)


calls_library(report, "atoll_kernel_check")
calls_library(go_on_waiting, "atoll_kernel_wait")


@compiles(p.check_job)
def check_job(control, operation, subject, peer, tag, address, expected, found, since):
    return p.check_within(control, operation, subject, peer, tag, address, expected, found, since, 0)


WRONG_PE, WRONG_ADDRESS = AT["subject wrong_pe"], AT["subject wrong_address"]
CHECKS, WATCH, TEAM = AT["checks"], AT["watch"], AT["team"]


@compiles(p.check_within)
def check_within(control, operation, subject, peer, tag, address, expected, found, since, bound):
    time = now()
    if control == 0:
        return time
    begun = time if since == 0 else abs(since)
    watch, team = p.load(i64, control + WATCH), p.load(types.int32, control + TEAM)
    waited = time - begun
    state = go_on_waiting(watch, operation, team, subject, peer, tag, address, expected, found, waited, bound)
    if state == 1:
        raise_reason()
    return -begun if state == 2 else begun


@compiles(p.check_pe)
def check_pe(control, n_pes, operation, pe):
    if (pe < 0 or pe >= n_pes) and control != 0 and p.load(types.int32, control + CHECKS) != 0:
        watch, team = p.load(i64, control + WATCH), p.load(types.int32, control + TEAM)
        if report(watch, operation, team, WRONG_PE, pe, 0, 0, n_pes, 0, 0, 0) != 0:
            raise_reason()
    return 0


@compiles(p.check_address)
def check_address(control, mine, stride, operation, address):
    outside = address < mine or address - mine >= stride
    if outside and control != 0 and p.load(types.int32, control + CHECKS) != 0:
        watch, team = p.load(i64, control + WATCH), p.load(types.int32, control + TEAM)
        end = mine + stride
        if report(watch, operation, team, WRONG_ADDRESS, -1, 0, address, mine, end, 0, 0) != 0:
            raise_reason()
    return 0


ShapeMismatch = _atoll.ShapeMismatch


@compiles(p.check_room)
def check_room(control, nbytes, room):
    if nbytes > room and control != 0 and p.load(types.int32, control + CHECKS) != 0:
        raise ShapeMismatch("a message is longer than its mailbox's room", nbytes, room)
    return 0


assert ctypes.sizeof(ctypes.c_long) == 8, "clock_gettime's numbers"
