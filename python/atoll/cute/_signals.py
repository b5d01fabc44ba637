"""Signals: words that are written after the data that they announce (atoll/device/signals.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from ._addresses import address, at_peer, check_place, moved, peer_for
from ._copies import copy_tensor, fits
from ._polling import call_of, wait_word
from ._primitives import ACQUIRE, RELEASE, add_release, load, store, update
from ._threads import meet_threads, rank_of
from ._types import GE, SET, THREAD, Scope, Team, kind_of
from ._waits import wait_one


def signal_set(team, signal, value, pe):
    at = peer_for(team, "signal_set", address(signal), pe)
    store(kind_of("signal", signal), at, value, RELEASE)


def signal_add(team, signal, value, pe):
    add_release(kind_of("signal", signal), peer_for(team, "signal_add", address(signal), pe), value)


def signal_fetch(team, signal):
    return load(kind_of("signal", signal), address(signal), ACQUIRE)


@cute.jit
def _announce(team: Team, kind: Constexpr, at: Int64, value, setting: Constexpr, pe: Int32, scope: Constexpr):
    if rank_of(scope) == 0:
        there = at_peer(team, at, pe)
        if cutlass.const_expr(setting):
            store(kind, there, value, RELEASE)
        else:
            add_release(kind, there, value)


def _put_signal(name: str, team, dst, src, signal, value, op, pe, scope) -> None:
    fits(name, dst, src)
    there = peer_for(team, name, address(dst), pe)
    check_place(team, name, address(signal))
    copy_tensor(moved(dst, there), src, scope)
    meet_threads(team, scope)
    _announce(team, kind_of("signal", signal), address(signal), value, op is SET, pe, scope)


def put_signal(team, dst, src, signal, value, op, pe, scope: Scope = THREAD):
    _put_signal("put_signal", team, dst, src, signal, value, op, pe, scope)


def put_signal_nbi(team, dst, src, signal, value, op, pe, scope: Scope = THREAD):
    _put_signal("put_signal_nbi", team, dst, src, signal, value, op, pe, scope)


def signal_wait_until(team, signal, cmp, value, scope: Scope = THREAD, tag=0, bound_ns=0):
    wait_one(team, signal, cmp, value, scope, call_of("signal_wait_until", tag, bound_ns))


@cute.jit
def _consume(team: Team, kind: Constexpr, at: Int64, n, call: Constexpr, scope: Constexpr):
    if rank_of(scope) == 0:
        wait_word(team, kind, at, GE, n, call, Int32(-1))
        update(kind, "add", at, kind(0) - n)


def signal_consume(team, signal, n, scope: Scope = THREAD, tag=0, bound_ns=0):
    call = call_of("signal_consume", tag, bound_ns)
    _consume(team, kind_of("signal", signal), address(signal), n, call, scope)
    meet_threads(team, scope)
