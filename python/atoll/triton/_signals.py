"""Signals, pointers to integers of 4 or 8 bytes, and waits."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._ptx import AT
from ._core import GE, SET, check_place, checks, holds, peer_for
from ._kinds import COMPARE, SIGNAL_OP, alike, constant, number, word
from ._moves import put_nbi
from ._words import meet_threads, thread, wait_word

_SIGNAL_SET, _SIGNAL_ADD, _PUT_SIGNAL = checks("signal_set"), checks("signal_add"), checks("put_signal")
_SIGNAL_WAIT, _CONSUME, _WAIT = (
    tl.constexpr(AT[name]) for name in ("signal_wait_until", "signal_consume", "wait_until")
)


@jit
def signal_set(team, signal, value, pe):
    """signal of PE `pe` = value, after all that the program wrote and saw."""
    word("signal_set", "signal", signal)
    number("signal_set", "value", value, "signal", signal)
    meet_threads()
    tl.atomic_xchg(peer_for(team, signal, pe, _SIGNAL_SET), value, sem="release", scope="sys")


@jit
def signal_add(team, signal, value, pe):
    """signal of PE `pe` += value, after all that the program wrote and saw."""
    word("signal_add", "signal", signal)
    number("signal_add", "value", value, "signal", signal)
    meet_threads()
    tl.atomic_add(peer_for(team, signal, pe, _SIGNAL_ADD), value, sem="release", scope="sys")


@jit
def signal_fetch(team, signal):
    """This PE's signal, with acquire."""
    word("signal_fetch", "signal", signal)
    return tl.atomic_add(signal, 0, sem="acquire", scope="sys")


@jit
def put_signal(team, dst, src, n, signal, value, op: tl.constexpr, pe, BLOCK: tl.constexpr = 1024):
    """put, then the signal of PE `pe` is set (SET) or added to (ADD): who sees it sees the data."""
    alike("put_signal", dst, src)
    word("put_signal", "signal", signal)
    number("put_signal", "value", value, "signal", signal)
    constant("put_signal", "op", op, SIGNAL_OP)
    check_place(team, dst, _PUT_SIGNAL)
    check_place(team, signal, _PUT_SIGNAL)
    put_nbi(team, dst, src, n, pe, BLOCK)
    if op == SET:
        signal_set(team, signal, value, pe)
    else:
        signal_add(team, signal, value, pe)


@jit
def put_signal_nbi(team, dst, src, n, signal, value, op: tl.constexpr, pe, BLOCK: tl.constexpr = 1024):
    """The same here."""
    put_signal(team, dst, src, n, signal, value, op, pe, BLOCK)


@jit
def _wait(team, signal, cmp: tl.constexpr, value, tag, bound, operation: tl.constexpr):
    kind: tl.constexpr = signal.dtype.element_ty
    first = (thread() == 0).to(tl.int32)
    wait_word(team, signal.to(tl.int64), kind, cmp, value, operation, -1, tag, "acquire", first, bound)
    meet_threads()


@jit
def signal_wait_until(team, signal, cmp: tl.constexpr, value, tag=0, bound_ns=0):
    """Wait until this PE's signal cmp value, with acquire for all of the program.

    `tag` is said should it wait longer than `bound_ns` (nanoseconds), or ATOLL_WAIT_TIMEOUT where that is 0.
    """
    word("signal_wait_until", "signal", signal)
    number("signal_wait_until", "value", value, "signal", signal)
    constant("signal_wait_until", "cmp", cmp, COMPARE)
    _wait(team, signal, cmp, value, tag, bound_ns, _SIGNAL_WAIT)


@jit
def wait_until(team, ivar, cmp: tl.constexpr, value, tag=0, bound_ns=0):
    """The same."""
    word("wait_until", "ivar", ivar)
    number("wait_until", "value", value, "ivar", ivar)
    constant("wait_until", "cmp", cmp, COMPARE)
    _wait(team, ivar, cmp, value, tag, bound_ns, _WAIT)


@jit
def test(team, ivar, cmp: tl.constexpr, value):
    """Whether this PE's word cmp value, with acquire."""
    word("test", "ivar", ivar)
    number("test", "value", value, "ivar", ivar)
    constant("test", "cmp", cmp, COMPARE)
    return holds(tl.atomic_add(ivar, 0, sem="acquire", scope="sys"), cmp, value)


@jit
def signal_consume(team, signal, n, tag=0, bound_ns=0):
    """Wait until this PE's signal is at least n, with acquire, then take n away."""
    word("signal_consume", "signal", signal)
    number("signal_consume", "n", n, "signal", signal)
    _wait(team, signal, GE, n, tag, bound_ns, _CONSUME)
    tl.atomic_add(signal, -n, sem="relaxed", scope="sys")
