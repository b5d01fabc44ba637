"""Signals, pointers to integers of 4 or 8 bytes, and waits."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._ptx import AT
from ._core import EQ, GE, GT, LT, NE, SET, checks, look_around, peer_for
from ._moves import put_nbi

_SIGNAL_SET, _SIGNAL_ADD = checks("signal_set"), checks("signal_add")
_SIGNAL_WAIT = tl.constexpr(AT["signal_wait_until"])


@jit
def signal_set(team, signal, value, pe):
    """signal of PE `pe` = value, after all that the program wrote and saw."""
    tl.debug_barrier()
    tl.atomic_xchg(peer_for(team, signal, pe, _SIGNAL_SET), value, sem="release", scope="sys")


@jit
def signal_add(team, signal, value, pe):
    """signal of PE `pe` += value, after all that the program wrote and saw."""
    tl.debug_barrier()
    tl.atomic_add(peer_for(team, signal, pe, _SIGNAL_ADD), value, sem="release", scope="sys")


@jit
def signal_fetch(team, signal):
    """This PE's signal, with acquire."""
    return tl.atomic_add(signal, 0, sem="acquire", scope="sys")


@jit
def put_signal(team, dst, src, n, signal, value, op: tl.constexpr, pe, BLOCK: tl.constexpr = 1024):
    """put, then the signal of PE `pe` is set (SET) or added to (ADD): who sees it sees the data."""
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
def holds(found, cmp: tl.constexpr, value):
    if cmp == EQ:
        return found == value
    if cmp == NE:
        return found != value
    if cmp == GT:
        return found > value
    if cmp == GE:
        return found >= value
    if cmp == LT:
        return found < value
    return found <= value


@jit
def wait_for(team, word, cmp: tl.constexpr, value, operation: tl.constexpr, peer, tag):
    found = tl.atomic_add(word, 0, sem="acquire", scope="sys")
    looks = 0
    since = tl.full((), 0, tl.int64)
    while not holds(found, cmp, value):
        looks += 1
        if looks % 1024 == 0:
            since = look_around(
                team,
                operation,
                cmp,
                peer,
                tag,
                word.to(tl.int64),
                value.to(tl.int64),
                found.to(tl.int64),
                since,
            )
        found = tl.atomic_add(word, 0, sem="acquire", scope="sys")
    tl.debug_barrier()


@jit
def signal_wait_until(team, signal, cmp: tl.constexpr, value, tag=0):
    """Wait until this PE's signal cmp value, with acquire for all of the program."""
    wait_for(team, signal, cmp, value + tl.full((), 0, signal.dtype.element_ty), _SIGNAL_WAIT, -1, tag)


@jit
def wait_until(team, ivar, cmp: tl.constexpr, value, tag=0):
    """The same."""
    signal_wait_until(team, ivar, cmp, value, tag)


@jit
def test(team, ivar, cmp: tl.constexpr, value):
    """Whether this PE's word cmp value, with acquire."""
    return holds(tl.atomic_add(ivar, 0, sem="acquire", scope="sys"), cmp, value)


@jit
def signal_consume(team, signal, n, tag=0):
    """Wait until this PE's signal is at least n, with acquire, then take n away."""
    signal_wait_until(team, signal, GE, n, tag)
    tl.atomic_add(signal, -n, sem="relaxed", scope="sys")
