"""Comparisons and waiting loops, as in atoll/device/wait.hpp."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.core import types

from .._kernels import ptx
from .._kernels.constants import COMPARED_BY
from .._kernels.ptx import AT, NO_VALUES
from . import _primitives as p
from ._addresses import kind_of
from ._dsl._registration import HOST, helper, implement, vocabulary
from ._types import GE, LEFT_OUT, constant, is_left_out, one_of

SIGNAL_WAIT, CONSUME, WAIT = AT["signal_wait_until"], AT["signal_consume"], AT["wait_until"]
i64 = types.int64
AT_LEAST = int(ptx.reported("u64", GE.value))


LESS, EQUAL, GREATER = 1, 2, 4
"""A comparison that is known at run time only is a number: the sum of those of these for which it holds."""


@vocabulary
def compare(found, cmp, value):
    if isinstance(cmp, types.Integer):
        return lambda found, cmp, value: (
            cmp & (LESS if found < value else EQUAL if found == value else GREATER) != 0
        )
    holds = COMPARED_BY[one_of("cmp", "cmp", cmp).value]
    return lambda found, cmp, value: holds(found, value)


@vocabulary
def reported(kind, cmp):
    """The subject of a report: a word, with the comparison and the type."""
    of = kind.instance_type if hasattr(kind, "instance_type") else kind
    form = f"{'s' if of.signed else 'u'}{of.bitwidth}"
    if isinstance(cmp, types.Integer):
        eq, ne, gt, ge, lt, le = (int(ptx.reported(form, k)) for k in range(6))
        of_outcomes = (eq, lt, eq, le, gt, ne, ge, ge)
        return lambda kind, cmp: of_outcomes[cmp & 7]
    value = int(ptx.reported(form, one_of("cmp", "cmp", cmp).value))
    return lambda kind, cmp: value


class Call(NamedTuple):
    """The call that a wait belongs to: Call of atoll/device/wait.hpp."""

    operation: Any
    tag: Any
    bound: Any
    """In ns. `tag` and `bound` are LEFT_OUT if not given: a type, for which nothing is compiled or kept in
    registers.
    """


def in_call(kind, which: str):
    """Return whether a Call of this type has the field."""
    return constant(kind.types[Call._fields.index(which)]) is not LEFT_OUT


@vocabulary
def call_of(operation, tag, bound):
    tagged, bounded = not is_left_out(tag), not is_left_out(bound)
    if tagged and bounded:
        return lambda operation, tag, bound: Call(operation, i64(tag), i64(bound))
    if bounded:
        return lambda operation, tag, bound: Call(operation, LEFT_OUT, i64(bound))
    if tagged:
        return lambda operation, tag, bound: Call(operation, i64(tag), LEFT_OUT)
    return lambda operation, tag, bound: Call(operation, LEFT_OUT, LEFT_OUT)


@vocabulary
def tag_of(call):
    return (lambda call: call.tag) if in_call(call, "tag") else (lambda call: 0)


@vocabulary
def check_job(control, call, subject, peer, address, expected, found, since):
    """Check the other things that end a wait, by the form with its own bound only if the call gave one."""

    def within(control, call, subject, peer, address, expected, found, since):
        return p.check_within(
            control, call.operation, subject, peer, tag_of(call), address, expected, found, since, call.bound
        )

    def by_the_teams(control, call, subject, peer, address, expected, found, since):
        return p.check_job(
            control, call.operation, subject, peer, tag_of(call), address, expected, found, since
        )

    return within if in_call(call, "bound") else by_the_teams


# Loops that load a word. They return its value, and whether the condition holds. These bodies run on the host;
# the import of _dsl/_gpu_polling.py registers other bodies for GPUs.
def on_host(function):
    implement(HOST, function)(lambda *_: function)
    return function


@on_host
def poll_word(kind, address, cmp, value, since):
    """Load with acquire. On GPUs: _dsl/_gpu_polling.py."""
    for polls in range(p.polls_between_checks(since)):
        found = p.load_acquire(kind, address)
        if compare(found, cmp, value):
            return found, True
        p.rest(polls)
    return p.load_relaxed(kind, address), False


@on_host
def poll_relaxed(address, value, since):
    """Load without order, until at least `value`. On GPUs: _dsl/_gpu_polling.py."""
    for polls in range(p.polls_between_checks(since)):
        if p.load_relaxed(i64, address) >= value:
            return True
        p.rest(polls)
    return False


@on_host
def poll_pair(address, flag, since):
    """Load the data of two flagged words, until both carry the flag. On GPUs: _dsl/_gpu_polling.py."""
    for polls in range(p.polls_between_checks(since)):
        data, here = p.load_flagged(address, flag)
        if here != 0:
            return data, True
        p.rest(polls)
    return i64(0), False


@on_host
def poll_pairs(first, second, flag, since):
    """poll_pair of two pairs, whose loads are in flight together. On GPUs: _dsl/_gpu_polling.py."""
    for polls in range(p.polls_between_checks(since)):
        data, here = p.load_flagged(first, flag)
        more, there = p.load_flagged(second, flag)
        if here & there != 0:
            return data, more, True
        p.rest(polls)
    return i64(0), i64(0), False


@helper
def wait_word(kind, control, address, cmp, value, call, peer):
    """Wait until the word holds, with acquire, and return its value."""
    since = i64(0)
    while True:
        found, holds = poll_word(kind, address, cmp, value, since)
        if holds:
            p.end_wait(since)
            return found
        wanted, seen = p.to_bits(kind, value), p.to_bits(kind, found)
        since = check_job(control, call, reported(kind, cmp), peer, address, wanted, seen, since)


@helper
def wait_one(team, word, cmp, value, call, scope):
    """Wait for a word of this PE, by one thread of the scope."""
    if p.rank(scope) == 0:
        kind = kind_of(word)
        wait_word(kind, team.control, p.address(word), cmp, kind(value), call, -1)
    p.meet(team.control, scope)


@helper
def wait_relaxed(control, address, value, call, peer):
    """Wait until the word is at least `value`, without order."""
    since = i64(0)
    while not poll_relaxed(address, value, since):
        found = p.load_relaxed(i64, address)
        since = check_job(control, call, AT_LEAST, peer, address, value, found, since)
    p.end_wait(since)


@helper
def wait_pair(control, address, flag, call, peer):
    """Wait until two flagged words carry `flag`, a 32-bit value, and return their eight bytes of data."""
    since = i64(0)
    while True:
        data, here = poll_pair(address, flag, since)
        if here:
            p.end_wait(since)
            return data
        since = check_job(control, call, NO_VALUES, peer, address, flag, 0, since)


@helper
def wait_pairs(control, first, second, flag, call, peer):
    """wait_pair of two pairs."""
    since = i64(0)
    while True:
        data, more, here = poll_pairs(first, second, flag, since)
        if here:
            p.end_wait(since)
            return data, more
        since = check_job(control, call, NO_VALUES, peer, first, flag, 0, since)


@helper
def flag_of(word):
    return (word >> 32) & 0xFFFFFFFF
