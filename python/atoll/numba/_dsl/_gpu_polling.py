"""The GPU forms of the polling loops of _polling.py.

A round of the loop has four loads: the loop's own instructions take as long as one load and delay the next.
"""

from __future__ import annotations

from numba.core import types

from .. import _polling
from .. import _primitives as p
from .._polling import compare
from ._registration import DEVICE, implement

assert DEVICE is not None
HERE = DEVICE
ROUNDS = 256
i64 = types.int64


def instead_of(stub):
    def register(function):
        implement(HERE, stub)(lambda *_: function)
        return function

    return register


@instead_of(_polling.poll_word)
def poll_word(kind, address, cmp, value, since):
    for _ in range(ROUNDS):
        found = p.load_acquire(kind, address)
        if compare(found, cmp, value):
            return found, True
        found = p.load_acquire(kind, address)
        if compare(found, cmp, value):
            return found, True
        found = p.load_acquire(kind, address)
        if compare(found, cmp, value):
            return found, True
        found = p.load_acquire(kind, address)
        if compare(found, cmp, value):
            return found, True
    return p.load_relaxed(kind, address), False


@instead_of(_polling.poll_relaxed)
def poll_relaxed(address, value, since):
    for _ in range(ROUNDS):
        if p.load_relaxed(i64, address) >= value:
            return True
        if p.load_relaxed(i64, address) >= value:
            return True
        if p.load_relaxed(i64, address) >= value:
            return True
        if p.load_relaxed(i64, address) >= value:
            return True
    return False


@instead_of(_polling.poll_pair)
def poll_pair(address, flag, since):
    for _ in range(ROUNDS):
        data, here = p.load_flagged(address, flag)
        if here != 0:
            return data, True
        data, here = p.load_flagged(address, flag)
        if here != 0:
            return data, True
        data, here = p.load_flagged(address, flag)
        if here != 0:
            return data, True
        data, here = p.load_flagged(address, flag)
        if here != 0:
            return data, True
    return i64(0), False


@instead_of(_polling.poll_pairs)
def poll_pairs(first, second, flag, since):
    for _ in range(ROUNDS):
        data, here = p.load_flagged(first, flag)
        more, there = p.load_flagged(second, flag)
        if here & there != 0:
            return data, more, True
        data, here = p.load_flagged(first, flag)
        more, there = p.load_flagged(second, flag)
        if here & there != 0:
            return data, more, True
    return i64(0), i64(0), False
