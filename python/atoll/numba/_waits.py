"""Waits for and tests of this PE's own words, with acquire for all threads of the scope (atoll/device/waits.hpp)."""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError

from . import _primitives as prim
from ._polling import WAIT, call_of, compare, look_around, reported, wait_word
from ._registration import helper, vocabulary
from ._types import THREAD, WORDS, array, item, number, plain, scope_of, word

i64 = types.int64


# Words for communication between the blocks of one PE's kernel. No other PE sees them, so ordering among this
# PE's threads suffices, at less cost than system scope. CUDA C++ has cuda::atomic_ref for it.
@helper
def wait_local(kind, control, address, cmp, value, call):
    since = i64(0)
    while True:
        for looks in range(prim.looks_between()):
            if compare(prim.load_acquire_local(kind, address), cmp, value):
                return i64(0)
            prim.rest(looks)
        wanted = prim.to_bits(kind, value)
        found = prim.to_bits(kind, prim.load_relaxed(kind, address))
        since = look_around(control, call, reported(kind, cmp), -1, address, wanted, found, since)


@vocabulary
def local_set(team, words, value):
    kind = word("local_set", "words", words, WORDS)
    number("local_set", "value", value, kind)

    def impl(team, words, value):
        prim.store_release_local(kind, prim.address(words), kind(value))

    return impl


@vocabulary
def local_wait_until(team, words, cmp, value, scope=THREAD, tag=0, bound_ns=None):
    kind, which = word("local_wait_until", "words", words, WORDS), scope_of("local_wait_until", scope)
    number("local_wait_until", "value", value, kind)

    def impl(team, words, cmp, value, scope=THREAD, tag=0, bound_ns=None):
        if prim.rank(which) == 0:
            at, call = prim.address(words), call_of(WAIT, tag, bound_ns)
            wait_local(kind, team.control, at, cmp, kind(value), call)
        prim.meet(team.control, which)

    return impl


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


@vocabulary
def bytes_of(kind):
    """Bytes of one word."""
    each = item(kind.dtype)
    return lambda kind: each


@helper
def holds(kind, ivars, cmp, values, i):
    each = bytes_of(kind)
    return compare(prim.load_acquire(kind, prim.address(ivars) + i * each), cmp, value_at(kind, values, i))


@helper
def first(kind, ivars, status, cmp, values):
    """Return the first word that holds, else -1; -2: all are left out."""
    none = i64(-2)
    for i in range(ivars.size):
        if counts(status, i):
            none = i64(-1)
            if holds(kind, ivars, cmp, values, i):
                return i64(i)
    return none


@helper
def all_of(kind, ivars, status, cmp, values, indices):
    """Return how many words hold, and store their indices. -2: all are left out."""
    found = i64(0)
    left = i64(0)
    for i in range(ivars.size):
        if counts(status, i):
            left += 1
            if holds(kind, ivars, cmp, values, i):
                indices[found] = i
                found += 1
    return i64(-2) if left == 0 else found


@helper
def pause(team, kind, ivars, cmp, values, call, looks, since):
    """Rest between two passes over many words, and check the other things that end the wait."""
    prim.rest(looks)
    if looks % prim.looks_between() == 0:
        at = prim.address(ivars)
        found = prim.to_bits(kind, prim.load_relaxed(kind, at))
        wanted = prim.to_bits(kind, value_at(kind, values, 0))
        return look_around(team.control, call, reported(kind, cmp), -1, at, wanted, found, since)
    return since


def _words(name: str, ivars, status, values, scope):
    """Return the type of the words and the scope."""
    kind = word(name, "ivars", ivars, WORDS)
    array(name, "ivars", ivars)
    if not isinstance(plain(status), types.NoneType) and not isinstance(
        array(name, "status", status, contiguous=False), types.Integer
    ):
        raise TypingError(f"atoll.numba.{name}: status is {status}; None or an array of integers")
    if name.endswith("_vector"):
        if not isinstance(array(name, "values", values, contiguous=False), types.Integer):
            raise TypingError(f"atoll.numba.{name}: values is {values}; an array of integers")
    else:
        number(name, "value", values, kind)
    return kind, scope_of(name, scope)


@vocabulary
def wait_until(team, ivar, cmp, value, scope=THREAD, tag=0, bound_ns=None):
    kind, which = word("wait_until", "ivar", ivar, WORDS), scope_of("wait_until", scope)
    number("wait_until", "value", value, kind)

    def impl(team, ivar, cmp, value, scope=THREAD, tag=0, bound_ns=None):
        if prim.rank(which) == 0:
            wait_word(
                kind, team.control, prim.address(ivar), cmp, kind(value), call_of(WAIT, tag, bound_ns), -1
            )
        prim.meet(team.control, which)

    return impl


@vocabulary
def test(team, ivar, cmp, value, scope=THREAD):
    kind, which = word("test", "ivar", ivar, WORDS), scope_of("test", scope)
    number("test", "value", value, kind)

    def impl(team, ivar, cmp, value, scope=THREAD):
        hold = i64(0)
        if prim.rank(which) == 0 and compare(prim.load_acquire(kind, prim.address(ivar)), cmp, kind(value)):
            hold = i64(1)
        return prim.share(team.control, which, hold) != 0

    return impl


@helper
def any_now(team, kind, ivars, status, cmp, values, call):
    since = i64(0)
    looks = 0
    index = first(kind, ivars, status, cmp, values)
    while index == -1:
        looks += 1
        since = pause(team, kind, ivars, cmp, values, call, looks, since)
        index = first(kind, ivars, status, cmp, values)
    return max(index, i64(-1))


@helper
def some_now(team, kind, ivars, indices, status, cmp, values, call):
    since = i64(0)
    looks = 0
    found = all_of(kind, ivars, status, cmp, values, indices)
    while found == 0:
        looks += 1
        since = pause(team, kind, ivars, cmp, values, call, looks, since)
        found = all_of(kind, ivars, status, cmp, values, indices)
    return max(found, i64(0))


@helper
def all_hold(kind, ivars, status, cmp, values):
    for i in range(ivars.size):
        if counts(status, i) and not holds(kind, ivars, cmp, values, i):
            return i64(0)
    return i64(1)


# The rank 0 of a scope waits or tests, and tells the others.


@helper
def wait_for_all(team, kind, ivars, status, cmp, values, call, scope):
    i = prim.rank(scope)
    while i < ivars.size:
        if counts(status, i):
            at = prim.address(ivars) + i * bytes_of(kind)
            wait_word(kind, team.control, at, cmp, value_at(kind, values, i), call, -1)
        i += prim.size(scope)
    prim.meet(team.control, scope)


@helper
def wait_for_any(team, kind, ivars, status, cmp, values, call, scope):
    index = i64(-1)
    if prim.rank(scope) == 0:
        index = any_now(team, kind, ivars, status, cmp, values, call)
    return prim.share(team.control, scope, index)


@helper
def wait_for_some(team, kind, ivars, indices, status, cmp, values, call, scope):
    found = i64(0)
    if prim.rank(scope) == 0:
        found = some_now(team, kind, ivars, indices, status, cmp, values, call)
    return prim.share(team.control, scope, found)


@helper
def whether_all(team, kind, ivars, status, cmp, values, scope):
    hold = i64(0)
    if prim.rank(scope) == 0:
        hold = all_hold(kind, ivars, status, cmp, values)
    return prim.share(team.control, scope, hold) != 0


@helper
def which_first(team, kind, ivars, status, cmp, values, scope):
    index = i64(-1)
    if prim.rank(scope) == 0:
        index = max(first(kind, ivars, status, cmp, values), i64(-1))
    return prim.share(team.control, scope, index)


@helper
def which_hold(team, kind, ivars, indices, status, cmp, values, scope):
    found = i64(0)
    if prim.rank(scope) == 0:
        found = max(all_of(kind, ivars, status, cmp, values, indices), i64(0))
    return prim.share(team.control, scope, found)


@vocabulary
def wait_until_all(team, ivars, status, cmp, value, scope=THREAD, tag=0, bound_ns=None):
    kind, which = _words("wait_until_all", ivars, status, value, scope)
    return lambda team, ivars, status, cmp, value, scope=THREAD, tag=0, bound_ns=None: wait_for_all(
        team, kind, ivars, status, cmp, value, call_of(WAIT, tag, bound_ns), which
    )


@vocabulary
def wait_until_all_vector(team, ivars, status, cmp, values, scope=THREAD, tag=0, bound_ns=None):
    kind, which = _words("wait_until_all_vector", ivars, status, values, scope)
    return lambda team, ivars, status, cmp, values, scope=THREAD, tag=0, bound_ns=None: wait_for_all(
        team, kind, ivars, status, cmp, values, call_of(WAIT, tag, bound_ns), which
    )


@vocabulary
def wait_until_any(team, ivars, status, cmp, value, scope=THREAD, tag=0, bound_ns=None):
    kind, which = _words("wait_until_any", ivars, status, value, scope)
    return lambda team, ivars, status, cmp, value, scope=THREAD, tag=0, bound_ns=None: wait_for_any(
        team, kind, ivars, status, cmp, value, call_of(WAIT, tag, bound_ns), which
    )


@vocabulary
def wait_until_any_vector(team, ivars, status, cmp, values, scope=THREAD, tag=0, bound_ns=None):
    kind, which = _words("wait_until_any_vector", ivars, status, values, scope)
    return lambda team, ivars, status, cmp, values, scope=THREAD, tag=0, bound_ns=None: wait_for_any(
        team, kind, ivars, status, cmp, values, call_of(WAIT, tag, bound_ns), which
    )


@vocabulary
def wait_until_some(team, ivars, indices, status, cmp, value, scope=THREAD, tag=0, bound_ns=None):
    kind, which = _words("wait_until_some", ivars, status, value, scope)
    return lambda team, ivars, indices, status, cmp, value, scope=THREAD, tag=0, bound_ns=None: wait_for_some(
        team, kind, ivars, indices, status, cmp, value, call_of(WAIT, tag, bound_ns), which
    )


@vocabulary
def wait_until_some_vector(team, ivars, indices, status, cmp, values, scope=THREAD, tag=0, bound_ns=None):
    kind, which = _words("wait_until_some_vector", ivars, status, values, scope)
    return lambda team, ivars, indices, status, cmp, values, scope=THREAD, tag=0, bound_ns=None: (
        wait_for_some(team, kind, ivars, indices, status, cmp, values, call_of(WAIT, tag, bound_ns), which)
    )


@vocabulary
def test_all(team, ivars, status, cmp, value, scope=THREAD):
    kind, which = _words("test_all", ivars, status, value, scope)
    return lambda team, ivars, status, cmp, value, scope=THREAD: whether_all(
        team, kind, ivars, status, cmp, value, which
    )


@vocabulary
def test_all_vector(team, ivars, status, cmp, values, scope=THREAD):
    kind, which = _words("test_all_vector", ivars, status, values, scope)
    return lambda team, ivars, status, cmp, values, scope=THREAD: whether_all(
        team, kind, ivars, status, cmp, values, which
    )


@vocabulary
def test_any(team, ivars, status, cmp, value, scope=THREAD):
    kind, which = _words("test_any", ivars, status, value, scope)
    return lambda team, ivars, status, cmp, value, scope=THREAD: which_first(
        team, kind, ivars, status, cmp, value, which
    )


@vocabulary
def test_any_vector(team, ivars, status, cmp, values, scope=THREAD):
    kind, which = _words("test_any_vector", ivars, status, values, scope)
    return lambda team, ivars, status, cmp, values, scope=THREAD: which_first(
        team, kind, ivars, status, cmp, values, which
    )


@vocabulary
def test_some(team, ivars, indices, status, cmp, value, scope=THREAD):
    kind, which = _words("test_some", ivars, status, value, scope)
    return lambda team, ivars, indices, status, cmp, value, scope=THREAD: which_hold(
        team, kind, ivars, indices, status, cmp, value, which
    )


@vocabulary
def test_some_vector(team, ivars, indices, status, cmp, values, scope=THREAD):
    kind, which = _words("test_some_vector", ivars, status, values, scope)
    return lambda team, ivars, indices, status, cmp, values, scope=THREAD: which_hold(
        team, kind, ivars, indices, status, cmp, values, which
    )
