"""Signals: words that are written after the data that they announce (atoll/device/signals.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from ._addresses import address, at_peer, check_place, moved, peer_for, team_of
from ._copies import copy_tensor, fits
from ._polling import call_of, wait_word
from ._primitives import add_release, load, store, update
from ._threads import meet_threads, rank_of
from ._types import GE, SET, THREAD, WORDS, Scope, SignalOp, Team, global_memory, number, one_of, same, word
from ._waits import wait_one


# ---- signals: words that are written after the data that they announce
def signal_set(team, signal, value, pe):
    kind = word("signal_set", "signal", signal, WORDS)
    at = peer_for(team, "signal_set", address(signal), pe)
    store(kind, at, number("signal_set", "value", value, kind), ".release.sys.global")


def signal_add(team, signal, value, pe):
    kind = word("signal_add", "signal", signal, WORDS)
    at = peer_for(team, "signal_add", address(signal), pe)
    add_release(kind, at, number("signal_add", "value", value, kind))


def signal_fetch(team, signal):
    return load(word("signal_fetch", "signal", signal, WORDS), address(signal), ".acquire.sys.global")


@cute.jit
def _announce(team: Team, kind: Constexpr, at: Int64, value, setting: Constexpr, pe: Int32, scope: Constexpr):
    if rank_of(scope) == 0:
        there = at_peer(team, at, pe)
        if cutlass.const_expr(setting):
            store(kind, there, value, ".release.sys.global")
        else:
            add_release(kind, there, value)


def _put_signal(name: str, team, dst, src, signal, value, op, pe, scope) -> None:
    same(name, dst, src)
    fits(name, dst, src)
    kind = word(name, "signal", signal, WORDS)
    setting = one_of(SignalOp, name, op) is SET
    one_of(Scope, name, scope)
    global_memory(name, "dst", dst)
    there = peer_for(team, "put_signal", address(dst), pe)
    check_place(team, "put_signal", address(signal))
    copy_tensor(moved(dst, there), src, scope)
    meet_threads(team, scope)
    _announce(team, kind, address(signal), number(name, "value", value, kind), setting, Int32(pe), scope)


def put_signal(team, dst, src, signal, value, op, pe, scope: Scope = THREAD):
    _put_signal("put_signal", team, dst, src, signal, value, op, pe, scope)


def put_signal_nbi(team, dst, src, signal, value, op, pe, scope: Scope = THREAD):
    _put_signal("put_signal_nbi", team, dst, src, signal, value, op, pe, scope)


def signal_wait_until(team, signal, cmp, value, scope: Scope = THREAD, tag=0, bound_ns=0):
    wait_one("signal_wait_until", "signal", team, signal, cmp, value, scope, tag, bound_ns)


@cute.jit
def _consume(team: Team, kind: Constexpr, at: Int64, n, call: Constexpr, scope: Constexpr):
    if rank_of(scope) == 0:
        wait_word(team, kind, at, GE, n, call, Int32(-1))
        update(kind, "add", at, kind(0) - n)


def signal_consume(team, signal, n, scope: Scope = THREAD, tag=0, bound_ns=0):
    name = "signal_consume"
    team_of(name, team)
    kind = word(name, "signal", signal, WORDS)
    n, scope, call = number(name, "n", n, kind), one_of(Scope, name, scope), call_of(name, tag, bound_ns)
    _consume(team, kind, address(signal), n, call, scope)
    meet_threads(team, scope)
