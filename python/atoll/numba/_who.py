"""The PEs of a team, the addresses of their copies, and the threads of a scope."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from .. import _ptx
from .._device import DeviceTeam
from . import _primitives as p
from ._layout import AT
from ._targets import BLOCK, GRID, HOST, TARGETS, array, emit, helper, implement, scope_of, vocabulary

i32, i64 = types.int32, types.int64
I64 = ir.IntType(64)
TEAM = DeviceTeam._fields
CHECK_PEER = AT["check peer"]


@helper
def lesser(a: Any, b: Any) -> Any:
    """Return the smaller of two sizes of arrays; numba-cuda-mlir's own min does not take these types."""
    first, second = i64(a), i64(b)
    return first if first < second else second


@helper
def slot_of(team: Any, pe: Any) -> Any:
    if team.table != 0:
        return i64(p.load_own(i32, team.table + 4 * pe))
    return i64(team.first + pe * team.step)


@helper
def at_peer(team: Any, address: Any, pe: Any) -> Any:
    return address + (slot_of(team, pe) - team.my_slot) * team.stride


def check_place(team: Any, operation: Any, x: Any) -> Any:
    """p.check_place of an array. Kernels without checks have no trace of it, not even the array's address."""


def _checking(team: Any, operation: Any, x: Any) -> Any:
    mine = team.window + team.my_slot * team.stride
    p.check_place(team.control, mine, team.stride, operation, p.address(x))


def implement_check(stub: Any, function: Any) -> None:
    """Implement a check of addresses: `function` on hosts and on GPUs with checks, else the stub, which does
    nothing.
    """
    implement(HOST, stub)(lambda *_: function)
    for on_gpu in TARGETS[1:]:
        implement(on_gpu, stub)(lambda *_: function if _ptx.CHECKS_ADDRESSES else stub)


implement_check(check_place, _checking)


@helper
def peer_for(team: Any, operation: Any, address: Any, pe: Any) -> Any:
    """at_peer, for a PE that the program named: its number and the address are checked."""
    p.check_pe(team.control, team.n_pes, operation, pe)
    mine = team.window + team.my_slot * team.stride
    p.check_place(team.control, mine, team.stride, operation, address)
    return at_peer(team, address, pe)


@helper
def same_slot(team: Any, pe: Any, to: Any) -> Any:
    if pe < 0 or pe >= team.n_pes:
        return i64(-1)
    slot = slot_of(team, pe)
    for i in range(to.n_pes):
        if slot_of(to, i) == slot:
            return i64(i)
    return i64(-1)


@vocabulary
def my_pe(team: Any) -> Any:
    return lambda team: team.my_pe


@vocabulary
def n_pes(team: Any) -> Any:
    return lambda team: team.n_pes


@vocabulary
def translate_pe(team: Any, pe: Any, to: Any) -> Any:
    return lambda team, pe, to: same_slot(team, pe, to)


@vocabulary
def ptr(team: Any, x: Any, pe: Any) -> Any:
    array("ptr", "x", x, contiguous=False)
    return lambda team, x, pe: peer_for(team, CHECK_PEER, p.address(x), pe)


def peer(team: Any, x: Any, pe: Any) -> Any:
    raise TypeError("atoll.numba.peer is for kernels (@dev.kernel, numba.njit, cuda.jit)")


def slot_in(builder: Any, team: Any, pe: Any) -> Any:
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


def looked_at(team: Any, x: Any, pe: Any) -> Any:
    peer_for(team, CHECK_PEER, p.address(x), pe)
    return 0


def _peer(team: Any, x: Any, pe: Any) -> Any:
    array("peer", "x", x, contiguous=False)

    def build(context: Any, builder: Any, values: Any) -> Any:
        if isinstance(builder, ir.IRBuilder):
            context.compile_internal(builder, looked_at, i64(team, x, i64), values)
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
    emit(target, peer)(_peer)


@vocabulary
def rank(scope: Any = GRID) -> Any:
    which = scope_of("rank", scope)
    return lambda scope=GRID: p.rank(which)


@vocabulary
def size(scope: Any = GRID) -> Any:
    which = scope_of("size", scope)
    return lambda scope=GRID: p.size(which)


@vocabulary
def meet(team: Any, scope: Any = BLOCK) -> Any:
    which = scope_of("meet", scope)

    def impl(team: Any, scope: Any = BLOCK) -> None:
        p.meet(team.control, which)

    return impl


@vocabulary
def grid_range(n: Any) -> Any:
    return lambda n: range(p.thread(), n, p.threads())
