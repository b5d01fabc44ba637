"""The primitives on GPUs for copies, the ends of waits, and the parts of messages."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types

from ..._kernels import ptx
from .. import _primitives as p
from ._cpu import I64, nothing
from ._gpu import I32, apart, asm, builds, compiled, compiles, does, emits, i64, statement, u64

# ---- copies: many loads before their stores, since a link's latency is long
IN_FLIGHT = ptx.BULK


def unit_copy(unit: int, count: int):
    """Return f(to, source, step), which copies `count` units of `unit` bytes that lie `step` bytes apart."""

    def copied(to, source, step): ...

    emits(copied)(lambda *_: statement(ptx.copy(unit, count), "l,l,l", i64, i64, i64))
    return copied


def units_copy(unit: int):
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


@compiles(p.copy)
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


# ---- how waits end
def polls(stub, text: str, count: int):
    @builds(stub, i64(*[i64] * count))
    def _(context, builder, values):
        words = [values[0], *(builder.trunc(value, I32) for value in values[1:5]), *values[5:]]
        letters = "=l,l,r,r,r,r" + ",l" * (count - 5)
        return apart(builder, f"atoll_{stub.__name__}", text, letters, I64, words)


polls(p.check_job, ptx.check_job(), 9)
polls(p.check_within, ptx.check_job(bound="$10"), 10)


def refuse_pe(control, n_pes, operation, pe): ...


@builds(refuse_pe, i64(*[i64] * 4))
def _(context, builder, values):
    short = [builder.trunc(values[k], I32) for k in (3, 1, 2)]
    words = [short[0], short[1], values[0], short[2]]
    apart(builder, "atoll_refuse_pe", ptx.check_pe("$3"), "r,r,l,r", ir.VoidType(), words)
    return nothing(context)


@compiles(p.check_pe)
def check_pe(control, n_pes, operation, pe):
    if pe < 0 or pe >= n_pes:
        refuse_pe(control, n_pes, operation, max(-1, min(pe, 0x7FFFFFFF)))
    return 0


def refuse_address(control, mine, stride, operation, address): ...


@builds(refuse_address, i64(*[i64] * 5))
def _(context, builder, values):
    control, mine, stride, operation, address = values
    words = [address, mine, stride, control, builder.trunc(operation, I32)]
    apart(builder, "atoll_refuse_address", ptx.check_address("$4"), "l,l,l,l,r", ir.VoidType(), words)
    return nothing(context)


@does(p.check_address)
def _(*_):
    def check_address(control, mine, stride, operation, address):
        if u64(address - mine) >= u64(stride):
            refuse_address(control, mine, stride, operation, address)
        return 0

    def unchecked(control, mine, stride, operation, address):
        return 0

    return check_address if ptx.CHECKS_ADDRESSES else unchecked


@builds(p.load_flagged, types.UniTuple(i64, 2)(i64, i64))
def _(context, builder, values):
    flag = builder.trunc(values[1], I32)
    found = asm(builder, ptx.load_flagged(), "=l,=r,l,r", ir.LiteralStructType([I64, I32]), [values[0], flag])
    data, here = builder.extract_value(found, 0), builder.zext(builder.extract_value(found, 1), I64)
    return context.make_tuple(builder, types.UniTuple(i64, 2), [data, here])


@builds(p.store_flagged, i64(i64, i64, i64))
def _(context, builder, values):
    flag = builder.trunc(values[2], I32)
    asm(builder, ptx.store_flagged(), "l,l,r", ir.VoidType(), [values[0], values[1], flag])
    return nothing(context)


# Eight bytes of a message. Numba's own arithmetic tests whether they are aligned and complete; only others
# call a function.
def load_broken(source, nbytes, i): ...


def store_broken(to, nbytes, i, data): ...


@emits(load_broken)
def _(*_):
    return i64(i64, i64, i64), lambda context, builder, values: apart(
        builder, "atoll_load_part", ptx.load_part(), "=&l,l,l,l", I64, list(values)
    )


@builds(store_broken, i64(i64, i64, i64, i64))
def _(context, builder, values):
    apart(builder, "atoll_store_part", ptx.store_part(), "l,l,l,l", ir.VoidType(), list(values))
    return nothing(context)


@compiles(p.load_part)
def load_part(source, nbytes, i):
    at = source + 8 * i
    if at & 7 == 0 and 8 * i + 8 <= nbytes:
        return p.load(i64, at)
    return load_broken(source, nbytes, i)


@compiles(p.store_part)
def store_part(to, nbytes, i, data):
    at = to + 8 * i
    if at & 7 == 0 and 8 * i + 8 <= nbytes:
        p.store(i64, at, data)
    else:
        store_broken(to, nbytes, i, data)
    return 0


does(p.load_taken)(lambda address: lambda address: p.load_relaxed(i64, address))
does(p.notify_taken)(lambda address, number: lambda address, number: p.store_relaxed(i64, address, number))
