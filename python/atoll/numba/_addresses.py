"""Addresses of other PEs' copies, and the checks of PE numbers and addresses."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types

from .._device import DeviceTeam
from .._kernels import ptx
from .._kernels.checks import CHECKS
from . import _primitives as p
from ._checks import check
from ._dsl._registration import HOST, TARGETS, emit, helper, implement, operation, vocabulary
from ._types import item

i32, i64 = types.int32, types.int64
I64 = ir.IntType(64)
TEAM = DeviceTeam._fields
CHECK_PEER = CHECKS["peer"]


@helper
def lesser(a, b):
    """Return the smaller of two sizes of arrays; numba-cuda-mlir's own min does not take these types."""
    first, second = i64(a), i64(b)
    return first if first < second else second


@vocabulary
def kind_of(x):
    """Return the element type of an array. It can be called to convert a number."""
    kind = x.dtype
    return lambda x: kind


@vocabulary
def item_of(x):
    """Return the bytes of an element of an array, or of a type."""
    each = item(x.dtype)
    return lambda x: each


@helper
def bytes_of(x):
    return x.size * item_of(x)


@helper
def pairs_of(nbytes):
    """Return how many pairs of flagged words a message takes; one of 0 bytes takes one."""
    return 1 if nbytes == 0 else (nbytes + 7) >> 3


@helper
def slot_of(team, pe):
    if team.table != 0:
        return i64(p.load_own(i32, team.table + 4 * pe))
    return i64(team.first + pe * team.step)


@helper
def at_peer(team, address, pe):
    return address + (slot_of(team, pe) - team.my_slot) * team.stride


def check_address(team, operation, x):
    """p.check_address of an array. Kernels without checks have no trace of it, not even the array's address."""


def _checking(team, operation, x):
    mine = team.window + team.my_slot * team.stride
    p.check_address(team.control, mine, team.stride, operation, p.address(x))


def implement_check(stub, function):
    """Implement a check of addresses: `function` on hosts and on GPUs with checks, else the stub, which does
    nothing.
    """
    implement(HOST, stub)(lambda *_: function)
    for on_gpu in TARGETS[1:]:
        implement(on_gpu, stub)(lambda *_: function if ptx.CHECKS_ADDRESSES else stub)


implement_check(check_address, _checking)


@helper
def peer_for(team, operation, address, pe):
    """at_peer, for a PE that the program named: its number and the address are checked."""
    p.check_pe(team.control, team.n_pes, operation, pe)
    mine = team.window + team.my_slot * team.stride
    p.check_address(team.control, mine, team.stride, operation, address)
    return at_peer(team, address, pe)


@helper
def same_slot(team, pe, to):
    if pe < 0 or pe >= team.n_pes:
        return i64(-1)
    slot = slot_of(team, pe)
    for i in range(to.n_pes):
        if slot_of(to, i) == slot:
            return i64(i)
    return i64(-1)


@operation
def my_pe(team):
    return team.my_pe


@operation
def n_pes(team):
    return team.n_pes


@operation
def translate_pe(team, pe, to):
    return same_slot(team, pe, to)


@operation
def ptr(team, x, pe):
    return peer_for(team, CHECK_PEER, p.address(x), pe)


def peer(team, x, pe):
    raise TypeError("atoll.numba.peer is for kernels (@dev.kernel, numba.njit, cuda.jit)")


def slot_in(builder, team, pe):
    """slot_of as LLVM code: a compiled function of a GPU can return only an array that was passed to it."""
    fields = [builder.extract_value(team, TEAM.index(name)) for name in ("first", "step", "table")]
    first, step, table = fields
    if not isinstance(builder, ir.IRBuilder):
        return builder.slot_in(first, step, table, pe)
    with builder.if_else(builder.icmp_signed("==", table, ir.Constant(I64, 0))) as (regular, listed):
        with regular:
            by_step, from_regular = builder.add(first, builder.mul(pe, step)), builder.block
        with listed:
            at = builder.add(table, builder.mul(pe, ir.Constant(I64, 4)))
            entry = builder.load(builder.inttoptr(at, ir.IntType(32).as_pointer()))
            by_table, from_listed = builder.sext(entry, I64), builder.block
    slot = builder.phi(I64)
    slot.add_incoming(by_step, from_regular)
    slot.add_incoming(by_table, from_listed)
    return slot


def checked_peer(team, x, pe):
    peer_for(team, CHECK_PEER, p.address(x), pe)
    return 0


def peer_in(team, x, pe):
    """Return the signature of peer for these types, and the function that builds it."""
    check("peer", {"team": team, "x": x, "pe": pe})

    def build(context, builder, values):
        if isinstance(builder, ir.IRBuilder):
            context.compile_internal(builder, checked_peer, i64(team, x, i64), values)
        mine, stride = (builder.extract_value(values[0], TEAM.index(name)) for name in ("my_slot", "stride"))
        distance = builder.mul(builder.sub(slot_in(builder, values[0], values[2]), mine), stride)
        if not isinstance(builder, ir.IRBuilder):
            return builder.moved(values[1], distance)
        make = context.make_array(x)
        old, new = make(context, builder, values[1]), make(context, builder)
        for field in ("nitems", "itemsize", "shape", "strides"):
            setattr(new, field, getattr(old, field))
        moved = builder.add(builder.ptrtoint(old.data, I64), distance)
        new.data = builder.inttoptr(moved, old.data.type)
        new.meminfo = ir.Constant(old.meminfo.type, None)
        new.parent = ir.Constant(old.parent.type, None)
        return new._getvalue()

    return x(team, x, i64), build


for target in TARGETS:
    emit(target, peer)(peer_in)
