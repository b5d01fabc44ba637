"""Waits for and tests of this PE's own words, with acquire for all threads of the scope (atoll/device/waits.hpp)."""

from __future__ import annotations

from types import SimpleNamespace

from numba.core import types

from .._kernels.bodies import _waits
from . import _primitives as prim
from ._addresses import item_of, kind_of
from ._dsl._registration import helper, operation, vocabulary
from ._polling import WAIT, call_of, check_job, compare, reported, wait_one, wait_word
from ._types import THREAD, plain

i64 = types.int64


# Words for communication between the blocks of one PE's kernel. No other PE sees them, so ordering among this
# PE's threads suffices, at less cost than system scope. CUDA C++ has cuda::atomic_ref for it.
@helper
def wait_local(kind, control, address, cmp, value, call):
    since = i64(0)
    while True:
        for polls in range(prim.polls_between_checks(since)):
            if compare(prim.load_acquire_local(kind, address), cmp, value):
                prim.end_wait(since)
                return i64(0)
            prim.rest(polls)
        wanted = prim.to_bits(kind, value)
        found = prim.to_bits(kind, prim.load_relaxed(kind, address))
        since = check_job(control, call, reported(kind, cmp), -1, address, wanted, found, since)


@operation
def local_set(team, words, value):
    kind = kind_of(words)
    prim.store_release_local(kind, prim.address(words), kind(value))


@operation
def local_wait_until(team, words, cmp, value, scope=THREAD, tag=0, bound_ns=None):
    if prim.rank(scope) == 0:
        kind, at, call = kind_of(words), prim.address(words), call_of(WAIT, tag, bound_ns)
        wait_local(kind, team.control, at, cmp, kind(value), call)
    prim.meet(team.control, scope)


@operation
def test(team, ivar, cmp, value, scope=THREAD):
    hold = i64(0)
    kind = kind_of(ivar)
    if prim.rank(scope) == 0 and compare(prim.load_acquire(kind, prim.address(ivar)), cmp, kind(value)):
        hold = i64(1)
    return prim.share(team.control, scope, hold) != 0


# ---- many words
@vocabulary
def counts(status, i):
    if isinstance(plain(status), types.NoneType):
        return lambda status, i: True
    return lambda status, i: status[i] == 0


@vocabulary
def value_at(kind, values, i):
    if isinstance(values, types.Array):
        return lambda kind, values, i: kind(values[i])
    return lambda kind, values, i: kind(values)


@helper
def holds(ivars, cmp, values, i):
    kind = kind_of(ivars)
    at = prim.address(ivars) + i * item_of(ivars)
    return compare(prim.load_acquire(kind, at), cmp, value_at(kind, values, i))


@helper
def first(ivars, indices, status, cmp, values):
    """Return the first word that holds, else -1; -2: all are left out."""
    none = i64(-2)
    for i in range(ivars.size):
        if counts(status, i):
            none = i64(-1)
            if holds(ivars, cmp, values, i):
                return i64(i)
    return none


@helper
def all_of(ivars, indices, status, cmp, values):
    """Return how many words hold, and store their indices. -2: all are left out."""
    found = i64(0)
    left = i64(0)
    for i in range(ivars.size):
        if counts(status, i):
            left += 1
            if holds(ivars, cmp, values, i):
                indices[found] = i
                found += 1
    return i64(-2) if left == 0 else found


@helper
def pause(team, ivars, cmp, values, call, polls, since):
    """Rest between two passes over many words, and check the other things that end the wait."""
    prim.rest(polls)
    if polls % prim.polls_between_checks(since) == 0:
        kind, at = kind_of(ivars), prim.address(ivars)
        found = prim.to_bits(kind, prim.load_relaxed(kind, at))
        wanted = prim.to_bits(kind, value_at(kind, values, 0))
        return check_job(team.control, call, reported(kind, cmp), -1, at, wanted, found, since)
    return since


@helper
def all_hold(ivars, status, cmp, values):
    for i in range(ivars.size):
        if counts(status, i) and not holds(ivars, cmp, values, i):
            return i64(0)
    return i64(1)


@helper
def wait_for_all(team, ivars, indices, status, cmp, values, call, scope):
    i = prim.rank(scope)
    while i < ivars.size:
        if counts(status, i):
            kind, at = kind_of(ivars), prim.address(ivars) + i * item_of(ivars)
            wait_word(kind, team.control, at, cmp, value_at(kind, values, i), call, -1)
        i += prim.size(scope)
    prim.meet(team.control, scope)


@helper
def whether_all(team, ivars, indices, status, cmp, values, scope):
    hold = i64(0)
    if prim.rank(scope) == 0:
        hold = all_hold(ivars, status, cmp, values)
    return prim.share(team.control, scope, hold) != 0


def by_first(find, none):
    """Return a wait, and a test, by rank 0 of a scope, which tells the others what `find` returned.

    `none`: the result of `find` while no word holds. It is also the result if all words are left out.
    """

    @helper
    def wait(team, ivars, indices, status, cmp, values, call, scope):
        found = i64(none)
        if prim.rank(scope) == 0:
            since = i64(0)
            polls = 0
            found = find(ivars, indices, status, cmp, values)
            while found == none:
                polls += 1
                since = pause(team, ivars, cmp, values, call, polls, since)
                found = find(ivars, indices, status, cmp, values)
            prim.end_wait(since)
            found = max(found, i64(none))
        return prim.share(team.control, scope, found)

    @helper
    def test(team, ivars, indices, status, cmp, values, scope):
        found = i64(none)
        if prim.rank(scope) == 0:
            found = max(find(ivars, indices, status, cmp, values), i64(none))
        return prim.share(team.control, scope, found)

    return wait, test


wait_for_any, which_first = by_first(first, -1)
wait_for_some, which_hold = by_first(all_of, 0)


globals().update(
    _waits.operations(
        operation, call_of, wait_one,
        wait=SimpleNamespace(all=wait_for_all, any=wait_for_any, some=wait_for_some),
        test=SimpleNamespace(all=whether_all, any=which_first, some=which_hold),
        THREAD=THREAD, UNBOUNDED=None,
    )
)  # fmt: skip
