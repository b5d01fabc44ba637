"""Signals: words, written after the data that they announce (atoll/device/signals.hpp)."""

from __future__ import annotations

from numba.core import types

from .._kernels.bodies import _signals
from . import _primitives as prim
from ._addresses import at_peer, check_address, item_of, kind_of, lesser, peer_for
from ._dsl._registration import helper, operation, vocabulary
from ._polling import CONSUME, call_of, wait_one, wait_word
from ._types import GE, SET, THREAD, constant


@vocabulary
def is_setting(op):
    """Return whether op is SET, or true: a program that knows it at run time passes a truth value."""
    if isinstance(op, types.Boolean):
        return lambda op: op
    found = constant(op) is SET
    return lambda op: found


@helper
def put_and_signal(team, check, dst, src, signal, value, op, pe, scope):
    nbytes = lesser(dst.size, src.size) * item_of(dst)
    to = peer_for(team, check, prim.address(dst), pe)
    check_address(team, check, signal)
    prim.copy(to, prim.address(src), nbytes, scope)
    prim.meet(team.control, scope)
    if prim.rank(scope) == 0:
        if is_setting(op):
            prim.store_release(kind_of(signal), at_peer(team, prim.address(signal), pe), value)
        else:
            prim.add_release(kind_of(signal), at_peer(team, prim.address(signal), pe), value)


globals().update(
    _signals.operations(
        operation, prim, kind_of, prim.address, peer_for, put_and_signal, call_of, wait_one,
        THREAD=THREAD, UNBOUNDED=None,
    )
)  # fmt: skip


@operation
def signal_consume(team, signal, n, scope=THREAD, tag=0, bound_ns=None):
    if prim.rank(scope) == 0:
        kind, at, call = kind_of(signal), prim.address(signal), call_of(CONSUME, tag, bound_ns)
        wait_word(kind, team.control, at, GE, kind(n), call, -1)
        prim.fetch_add(kind, at, kind(0) - kind(n))
    prim.meet(team.control, scope)
