"""Signals: words, written after the data that they announce (atoll/device/signals.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._kernels.bodies import _signals
from .._kernels.ptx import AT
from . import _primitives as prim
from ._addresses import address, at_peer, check_address, moved, peer_for
from ._dsl._copies import copy_tensor
from ._polling import call_of, wait_word
from ._primitives import RELEASE, add_release, store, update
from ._threads import meet_threads, rank_of
from ._types import GE, SET, THREAD, Scope, Team, word_kind
from ._waits import wait_one


@cute.jit
def _announce(team: Team, kind: Constexpr, at: Int64, value, setting: Constexpr, pe: Int32, scope: Constexpr):
    if rank_of(scope) == 0:
        there = at_peer(team, at, pe)
        if cutlass.const_expr(setting):
            store(kind, there, value, RELEASE)
        else:
            add_release(kind, there, value)


def put_and_signal(team, operation, dst, src, signal, value, op, pe, scope) -> None:
    there = peer_for(team, operation, address(dst), pe)
    check_address(team, operation, address(signal))
    copy_tensor(moved(dst, there), src, scope)
    meet_threads(team.control, scope)
    _announce(team, word_kind(signal), address(signal), value, op is SET, pe, scope)


globals().update(
    _signals.operations(
        prim.as_it_is, prim, word_kind, address, peer_for, put_and_signal, call_of, wait_one,
        THREAD=THREAD, UNBOUNDED=0,
    )
)  # fmt: skip


@cute.jit
def _consume(team: Team, kind: Constexpr, at: Int64, n, call: Constexpr, scope: Constexpr):
    if rank_of(scope) == 0:
        wait_word(kind, team.control, at, GE, n, call, Int32(-1))
        update(kind, "add", at, kind(0) - n)


def signal_consume(team, signal, n, scope: Scope = THREAD, tag=0, bound_ns=0):
    call = call_of(AT["signal_consume"], tag, bound_ns)
    _consume(team, word_kind(signal), address(signal), n, call, scope)
    meet_threads(team.control, scope)
