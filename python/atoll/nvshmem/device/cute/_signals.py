"""Signals whose operation or comparison may be known at run time only."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32

from .... import cute as dev
from ...._kernels.ptx import AT
from ....cute._addresses import address
from ....cute._polling import call_of, wait_word
from ....cute._primitives import apart, kernel_name
from ....cute._types import Scope, Team, kind_of
from ...direct import ComparisonType, SignalOp
from ._teams import world

OPERATIONS = {SignalOp.SIGNAL_SET: dev.SET, SignalOp.SIGNAL_ADD: dev.ADD}
COMPARISONS = {one: getattr(dev, one.name.removeprefix("CMP_")) for one in list(ComparisonType)[:6]}


def _known(which: str, of: dict, value):
    try:
        return of[value]
    except KeyError:
        raise TypeError(f"{which} is {value!r}; pass one of {', '.join(str(one) for one in of)}") from None


@cute.jit
def _signal(team: Team, signal: cute.Tensor, value, op: Int32, pe: Int32):
    if op == int(SignalOp.SIGNAL_ADD):
        dev.signal_add(team, signal, value, pe)
    else:
        dev.signal_set(team, signal, value, pe)


def signal(signal_var, value, op, pe) -> None:
    """Set or add to a signal on PE pe."""
    if isinstance(op, int):
        known = _known("signal_op", OPERATIONS, op)
        (dev.signal_add if known is dev.ADD else dev.signal_set)(world(), signal_var, value, pe)
    else:
        _signal(world(), signal_var, value, Int32(op), Int32(pe))


@cute.jit
def _by_rank_0(signal_var: cute.Tensor, value, op: Int32, pe: Int32, scope: Constexpr):
    if dev.rank(scope) == 0:
        _signal(world(), signal_var, value, op, pe)


def put_and_signal(put, dst, src, signal_var, value, op, pe, scope: Scope) -> None:
    """Call put_signal or put_signal_nbi. An operation of the run time signals after a put."""
    if isinstance(op, int):
        put(world(), dst, src, signal_var, value, _known("signal_op", OPERATIONS, op), pe, scope)
    else:
        dev.put(world(), dst, src, pe, scope)
        _by_rank_0(signal_var, value, Int32(op), Int32(pe), scope)


@cute.jit
def _wait(team: Team, signal: cute.Tensor, cmp: Int32, value):
    if cmp < 0 or cmp >= len(COMPARISONS):
        cute.printf("nvshmem.core.device.cute.signal_wait: signal_op is not one of the six comparisons")
        apart(f"atoll_no_comparison_{kernel_name()}", "trap;", "", None, [])
    for one in cutlass.range_constexpr(len(COMPARISONS)):
        if cmp == one:
            dev.signal_wait_until(team, signal, COMPARISONS[one], value)


def wait(signal_var, cmp, value):
    """Wait until this PE's signal compares with a value, and return the signal."""
    team = world()
    if isinstance(cmp, int):
        known, kind = _known("signal_op", COMPARISONS, cmp), kind_of("signal_var", signal_var)
        call = call_of(AT["signal_wait_until"], 0, 0)
        return wait_word(kind, team.control, address(signal_var), known, kind(value), call, Int32(-1))
    _wait(team, signal_var, Int32(cmp), value)
    return dev.signal_fetch(team, signal_var)
