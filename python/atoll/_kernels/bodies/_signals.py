"""Signals: words, written after the data that they announce (atoll/device/signals.hpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..checks import CHECKS
from ..ptx import AT
from . import by_name

SIGNAL_WAIT = AT["signal_wait_until"]
SET_SIGNAL, ADD_SIGNAL = CHECKS["signal_set"], CHECKS["signal_add"]
PUT_SIGNAL, PUT_SIGNAL_NBI = CHECKS["put_signal"], CHECKS["put_signal_nbi"]


def operations(
    operation: Any, prim: Any, kind_of: Any, address: Any, peer_for: Any, put_and_signal: Any, call_of: Any,
    wait_one: Any, THREAD: Any, UNBOUNDED: Any,
) -> dict[str, Callable[..., Any]]:  # fmt: skip
    """Return the operations, over functions that the ports have by these names."""

    @operation
    def signal_set(team, signal, value, pe):
        prim.store_release(kind_of(signal), peer_for(team, SET_SIGNAL, address(signal), pe), value)

    @operation
    def signal_add(team, signal, value, pe):
        prim.add_release(kind_of(signal), peer_for(team, ADD_SIGNAL, address(signal), pe), value)

    @operation
    def signal_fetch(team, signal):
        return prim.load_acquire(kind_of(signal), address(signal))

    @operation
    def put_signal(team, dst, src, signal, value, op, pe, scope=THREAD):
        put_and_signal(team, PUT_SIGNAL, dst, src, signal, value, op, pe, scope)

    @operation
    def put_signal_nbi(team, dst, src, signal, value, op, pe, scope=THREAD):
        put_and_signal(team, PUT_SIGNAL_NBI, dst, src, signal, value, op, pe, scope)

    @operation
    def signal_wait_until(team, signal, cmp, value, scope=THREAD, tag=0, bound_ns=UNBOUNDED):
        wait_one(team, signal, cmp, value, call_of(SIGNAL_WAIT, tag, bound_ns), scope)

    return by_name(signal_set, signal_add, signal_fetch, put_signal, put_signal_nbi, signal_wait_until)
