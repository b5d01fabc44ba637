"""Comparing, and the loops that wait, as atoll/device/wait.hpp has them."""

from __future__ import annotations

from typing import Any

from numba.core import types

from . import _primitives as p
from ._layout import AT
from ._targets import EQ, GE, GT, LE, LT, NE, helper, one_of, vocabulary

SIGNAL_WAIT, WAIT, SYNC = AT["signal_wait_until"], AT["wait_until"], AT["sync"]
COLLECTIVE, RECEIVE, POST = AT["collective"], AT["receive"], AT["post"]
i64 = types.int64
AT_LEAST = GE.value


COMPARE = {
    EQ: lambda found, cmp, value: found == value,
    NE: lambda found, cmp, value: found != value,
    GT: lambda found, cmp, value: found > value,
    GE: lambda found, cmp, value: found >= value,
    LT: lambda found, cmp, value: found < value,
    LE: lambda found, cmp, value: found <= value,
}


@vocabulary
def compare(found: Any, cmp: Any, value: Any) -> Any:
    return COMPARE[one_of("cmp", "compare", cmp)]


@vocabulary
def number_of(cmp: Any) -> Any:
    value = one_of("cmp", "compare", cmp).value
    return lambda cmp: value


@helper
def wait_word(
    kind: Any, control: Any, address: Any, cmp: Any, value: Any, operation: Any, peer: Any, tag: Any
) -> Any:
    """Until the word holds, with acquire. Returns what it is then."""
    since = i64(0)
    while True:
        for looks in range(p.looks_between()):
            found = p.load_acquire(kind, address)
            if compare(found, cmp, value):
                return found
            p.rest(looks)
        wanted, seen = p.to_bits(kind, value), p.to_bits(kind, p.load_relaxed(kind, address))
        since = p.look_around(control, operation, number_of(cmp), peer, tag, address, wanted, seen, since)


@helper
def wait_relaxed(control: Any, address: Any, value: Any, peer: Any) -> Any:
    """Until the word is at least `value`, in no order."""
    since = i64(0)
    while True:
        for looks in range(p.looks_between()):
            found = p.load_relaxed(i64, address)
            if found >= value:
                return found
            p.rest(looks)
        since = p.look_around(control, SYNC, AT_LEAST, peer, 0, address, value, found, since)


@helper
def wait_pair(control: Any, address: Any, flag: Any, operation: Any, peer: Any) -> Any:
    """The eight bytes of data in two flagged words, once both carry `flag`, which is within 32 bits."""
    since = i64(0)
    while True:
        for looks in range(p.looks_between()):
            data, here = p.load_flagged(address, flag)
            if here != 0:
                return data
            p.rest(looks)
        since = p.look_around(control, operation, -1, peer, 0, address, flag, 0, since)


@helper
def flag_of(word: Any) -> Any:
    return (word >> 32) & 0xFFFFFFFF
