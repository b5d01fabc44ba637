"""Signals: words that are written after the data that they announce (atoll/device/signals.hpp)."""

from __future__ import annotations

from .._kernels.checks import CHECKS
from . import _primitives as prim
from ._addresses import at_peer, check_place, lesser, peer_for
from ._polling import CONSUME, SIGNAL_WAIT, call_of, wait_word
from ._registration import vocabulary
from ._types import GE, SET, THREAD, WORDS, item, number, one_of, same, scope_of, word

SET_SIGNAL, ADD_SIGNAL, PUT_SIGNAL = CHECKS["signal_set"], CHECKS["signal_add"], CHECKS["put_signal"]


@vocabulary
def signal_set(team, signal, value, pe):
    kind = word("signal_set", "signal", signal, WORDS)
    number("signal_set", "value", value, kind)

    def impl(team, signal, value, pe):
        prim.store_release(kind, peer_for(team, SET_SIGNAL, prim.address(signal), pe), value)

    return impl


@vocabulary
def signal_add(team, signal, value, pe):
    kind = word("signal_add", "signal", signal, WORDS)
    number("signal_add", "value", value, kind)

    def impl(team, signal, value, pe):
        prim.add_release(kind, peer_for(team, ADD_SIGNAL, prim.address(signal), pe), value)

    return impl


@vocabulary
def signal_fetch(team, signal):
    kind = word("signal_fetch", "signal", signal, WORDS)
    return lambda team, signal: prim.load_acquire(kind, prim.address(signal))


def _put_signal(name: str, dst, src, signal, value, op, scope):
    each, which = item(same(name, dst, src)), scope_of(name, scope)
    kind = word(name, "signal", signal, WORDS)
    number(name, "value", value, kind)
    setting = one_of("op of a signal", name, op) is SET

    def impl(team, dst, src, signal, value, op, pe, scope=THREAD):
        nbytes = lesser(dst.size, src.size) * each
        to = peer_for(team, PUT_SIGNAL, prim.address(dst), pe)
        check_place(team, PUT_SIGNAL, signal)
        prim.copy(to, prim.address(src), nbytes, which)
        prim.meet(team.control, which)
        if prim.rank(which) == 0:
            if setting:
                prim.store_release(kind, at_peer(team, prim.address(signal), pe), value)
            else:
                prim.add_release(kind, at_peer(team, prim.address(signal), pe), value)

    return impl


@vocabulary
def put_signal(team, dst, src, signal, value, op, pe, scope=THREAD):
    return _put_signal("put_signal", dst, src, signal, value, op, scope)


@vocabulary
def put_signal_nbi(team, dst, src, signal, value, op, pe, scope=THREAD):
    return _put_signal("put_signal_nbi", dst, src, signal, value, op, scope)


@vocabulary
def signal_wait_until(team, signal, cmp, value, scope=THREAD, tag=0, bound_ns=None):
    kind, which = word("signal_wait_until", "signal", signal, WORDS), scope_of("signal_wait_until", scope)
    one_of("cmp", "signal_wait_until", cmp)
    number("signal_wait_until", "value", value, kind)

    def impl(team, signal, cmp, value, scope=THREAD, tag=0, bound_ns=None):
        if prim.rank(which) == 0:
            at, call = prim.address(signal), call_of(SIGNAL_WAIT, tag, bound_ns)
            wait_word(kind, team.control, at, cmp, kind(value), call, -1)
        prim.meet(team.control, which)

    return impl


@vocabulary
def signal_consume(team, signal, n, scope=THREAD, tag=0, bound_ns=None):
    kind, which = word("signal_consume", "signal", signal, WORDS), scope_of("signal_consume", scope)
    number("signal_consume", "n", n, kind)

    def impl(team, signal, n, scope=THREAD, tag=0, bound_ns=None):
        if prim.rank(which) == 0:
            at, call = prim.address(signal), call_of(CONSUME, tag, bound_ns)
            wait_word(kind, team.control, at, GE, kind(n), call, -1)
            prim.fetch_add(kind, at, kind(0) - kind(n))
        prim.meet(team.control, which)

    return impl
