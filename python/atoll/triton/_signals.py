"""Signals, pointers to integers of 4 or 8 bytes, and waits."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._kernels.ptx import AT
from ._addresses import checks, peer_for
from ._moves import copy
from ._polling import wait_word
from ._primitives import load_one
from ._threads import meet_threads, thread
from ._types import GE, SET

_SIGNAL_SET, _SIGNAL_ADD = checks("signal_set"), checks("signal_add")
_PUT_SIGNAL, _PUT_SIGNAL_NBI = checks("put_signal"), checks("put_signal_nbi")
_SIGNAL_WAIT, _CONSUME = tl.constexpr(AT["signal_wait_until"]), tl.constexpr(AT["signal_consume"])


@jit
def signal_set(team, signal, value, pe):
    meet_threads()
    tl.atomic_xchg(peer_for(team, signal, pe, _SIGNAL_SET), value, sem="release", scope="sys")


@jit
def signal_add(team, signal, value, pe):
    meet_threads()
    tl.atomic_add(peer_for(team, signal, pe, _SIGNAL_ADD), value, sem="release", scope="sys")


@jit
def signal_fetch(team, signal):
    return load_one(signal)


@jit
def _put_signal(
    team, dst, src, n, signal, value, op: tl.constexpr, pe, BLOCK: tl.constexpr, operation: tl.constexpr
):
    to, there = peer_for(team, dst, pe, operation), peer_for(team, signal, pe, operation)
    copy(to, src, n, BLOCK)
    meet_threads()
    if op == SET:
        tl.atomic_xchg(there, value, sem="release", scope="sys")
    else:
        tl.atomic_add(there, value, sem="release", scope="sys")


@jit
def put_signal(team, dst, src, n, signal, value, op: tl.constexpr, pe, BLOCK: tl.constexpr = 1024):
    _put_signal(team, dst, src, n, signal, value, op, pe, BLOCK, _PUT_SIGNAL)


@jit
def put_signal_nbi(team, dst, src, n, signal, value, op: tl.constexpr, pe, BLOCK: tl.constexpr = 1024):
    _put_signal(team, dst, src, n, signal, value, op, pe, BLOCK, _PUT_SIGNAL_NBI)


@jit
def wait_one(team, signal, cmp: tl.constexpr, value, tag, bound, operation: tl.constexpr):
    kind: tl.constexpr = signal.dtype.element_ty
    first = (thread() == 0).to(tl.int32)
    wait_word(team, signal.to(tl.int64), kind, cmp, value, operation, -1, tag, "acquire", first, bound)
    meet_threads()


@jit
def signal_wait_until(team, signal, cmp: tl.constexpr, value, tag=0, bound_ns=0):
    wait_one(team, signal, cmp, value, tag, bound_ns, _SIGNAL_WAIT)


@jit
def signal_consume(team, signal, n, tag=0, bound_ns=0):
    wait_one(team, signal, GE, n, tag, bound_ns, _CONSUME)
    tl.atomic_add(signal, -n, sem="relaxed", scope="sys")
