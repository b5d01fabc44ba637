"""Waits for and tests of this PE's own words, with acquire for all threads of the scope (OpenSHMEM 1.6,
section 9.10).

`status` is ``None`` or an integer array; a word whose entry is not 0 is left out. The _vector forms compare
word i with values[i]. The index -1 means that no word holds, or that all are left out. `bound_ns` limits a
wait, in nanoseconds (0: ATOLL_WAIT_TIMEOUT); the error then contains `tag`.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.errors import TypingError

from . import _primitives as prim
from ._rma import item
from ._targets import THREAD, WORDS, array, helper, number, plain, scope_of, vocabulary, word
from ._waiting import WAIT, call_of, compare, look_around, reported, wait_word

i64 = types.int64


@vocabulary
def counts(status: Any, i: Any) -> Any:
    if isinstance(plain(status), types.NoneType):
        return lambda status, i: True
    return lambda status, i: status[i] == 0


@vocabulary
def value_at(kind: Any, values: Any, i: Any) -> Any:
    if isinstance(values, types.Array):
        return lambda kind, values, i: kind(values[i])
    return lambda kind, values, i: kind(values)


@vocabulary
def bytes_of(kind: Any) -> Any:
    """Bytes of one word."""
    each = item(kind.dtype)
    return lambda kind: each


@helper
def holds(kind: Any, ivars: Any, cmp: Any, values: Any, i: Any) -> Any:
    each = bytes_of(kind)
    return compare(prim.load_acquire(kind, prim.address(ivars) + i * each), cmp, value_at(kind, values, i))


@helper
def first(kind: Any, ivars: Any, status: Any, cmp: Any, values: Any) -> Any:
    """Return the first word that holds, else -1; -2: all are left out."""
    none = i64(-2)
    for i in range(ivars.size):
        if counts(status, i):
            none = i64(-1)
            if holds(kind, ivars, cmp, values, i):
                return i64(i)
    return none


@helper
def all_of(kind: Any, ivars: Any, status: Any, cmp: Any, values: Any, indices: Any) -> Any:
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
def pause(team: Any, kind: Any, ivars: Any, cmp: Any, values: Any, call: Any, looks: Any, since: Any) -> Any:
    """Rest between two passes over many words, and check the other things that end the wait."""
    prim.rest(looks)
    if looks % prim.looks_between() == 0:
        at = prim.address(ivars)
        found = prim.to_bits(kind, prim.load_relaxed(kind, at))
        wanted = prim.to_bits(kind, value_at(kind, values, 0))
        return look_around(team.control, call, reported(kind, cmp), -1, at, wanted, found, since)
    return since


def _words(name: str, ivars: Any, status: Any, values: Any, vector: bool) -> Any:
    kind = word(name, "ivars", ivars, WORDS)
    array(name, "ivars", ivars)
    if not isinstance(plain(status), types.NoneType) and not isinstance(
        array(name, "status", status, contiguous=False), types.Integer
    ):
        raise TypingError(f"atoll.numba.{name}: status is {status}; None or an array of integers")
    if vector:
        if not isinstance(array(name, "values", values, contiguous=False), types.Integer):
            raise TypingError(f"atoll.numba.{name}: values is {values}; an array of integers")
    else:
        number(name, "value", values, kind)
    return kind


@vocabulary
def wait_until(
    team: Any, ivar: Any, cmp: Any, value: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
) -> Any:
    kind, which = word("wait_until", "ivar", ivar, WORDS), scope_of("wait_until", scope)
    number("wait_until", "value", value, kind)

    def impl(
        team: Any, ivar: Any, cmp: Any, value: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
    ) -> None:
        if prim.rank(which) == 0:
            wait_word(
                kind, team.control, prim.address(ivar), cmp, kind(value), call_of(WAIT, tag, bound_ns), -1
            )
        prim.meet(team.control, which)

    return impl


@vocabulary
def test(team: Any, ivar: Any, cmp: Any, value: Any, scope: Any = THREAD) -> Any:
    kind, which = word("test", "ivar", ivar, WORDS), scope_of("test", scope)
    number("test", "value", value, kind)

    def impl(team: Any, ivar: Any, cmp: Any, value: Any, scope: Any = THREAD) -> Any:
        hold = i64(0)
        if prim.rank(which) == 0 and compare(prim.load_acquire(kind, prim.address(ivar)), cmp, kind(value)):
            hold = i64(1)
        return prim.share(team.control, which, hold) != 0

    return impl


def _wait_all(name: str, ivars: Any, status: Any, values: Any, scope: Any, vector: bool = False) -> Any:
    kind, which = _words(name, ivars, status, values, vector), scope_of(name, scope)

    def scalar(
        team: Any,
        ivars: Any,
        status: Any,
        cmp: Any,
        value: Any,
        scope: Any = THREAD,
        tag: Any = 0,
        bound_ns: Any = None,
    ) -> None:
        i, call = prim.rank(which), call_of(WAIT, tag, bound_ns)
        while i < ivars.size:
            if counts(status, i):
                at = prim.address(ivars) + i * bytes_of(kind)
                wait_word(kind, team.control, at, cmp, value_at(kind, value, i), call, -1)
            i += prim.size(which)
        prim.meet(team.control, which)

    def vectors(
        team: Any,
        ivars: Any,
        status: Any,
        cmp: Any,
        values: Any,
        scope: Any = THREAD,
        tag: Any = 0,
        bound_ns: Any = None,
    ) -> None:
        i, call = prim.rank(which), call_of(WAIT, tag, bound_ns)
        while i < ivars.size:
            if counts(status, i):
                at = prim.address(ivars) + i * bytes_of(kind)
                wait_word(kind, team.control, at, cmp, value_at(kind, values, i), call, -1)
            i += prim.size(which)
        prim.meet(team.control, which)

    return vectors if vector else scalar


@vocabulary
def wait_until_all(
    team: Any,
    ivars: Any,
    status: Any,
    cmp: Any,
    value: Any,
    scope: Any = THREAD,
    tag: Any = 0,
    bound_ns: Any = None,
) -> Any:
    return _wait_all("wait_until_all", ivars, status, value, scope)


@vocabulary
def wait_until_all_vector(team: Any, ivars: Any, status: Any, cmp: Any, values: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:  # fmt: skip
    return _wait_all("wait_until_all_vector", ivars, status, values, scope, True)


@helper
def any_now(team: Any, kind: Any, ivars: Any, status: Any, cmp: Any, values: Any, call: Any) -> Any:
    since = i64(0)
    looks = 0
    index = first(kind, ivars, status, cmp, values)
    while index == -1:
        looks += 1
        since = pause(team, kind, ivars, cmp, values, call, looks, since)
        index = first(kind, ivars, status, cmp, values)
    return max(index, i64(-1))


@helper
def some_now(
    team: Any, kind: Any, ivars: Any, indices: Any, status: Any, cmp: Any, values: Any, call: Any
) -> Any:
    since = i64(0)
    looks = 0
    found = all_of(kind, ivars, status, cmp, values, indices)
    while found == 0:
        looks += 1
        since = pause(team, kind, ivars, cmp, values, call, looks, since)
        found = all_of(kind, ivars, status, cmp, values, indices)
    return max(found, i64(0))


@vocabulary
def wait_until_any(
    team: Any,
    ivars: Any,
    status: Any,
    cmp: Any,
    value: Any,
    scope: Any = THREAD,
    tag: Any = 0,
    bound_ns: Any = None,
) -> Any:
    kind, which = (
        _words("wait_until_any", ivars, status, value, False),
        scope_of("wait_until_any", scope),
    )

    def impl(
        team: Any,
        ivars: Any,
        status: Any,
        cmp: Any,
        value: Any,
        scope: Any = THREAD,
        tag: Any = 0,
        bound_ns: Any = None,
    ) -> Any:
        index = i64(-1)
        if prim.rank(which) == 0:
            index = any_now(team, kind, ivars, status, cmp, value, call_of(WAIT, tag, bound_ns))
        return prim.share(team.control, which, index)

    return impl


@vocabulary
def wait_until_any_vector(team: Any, ivars: Any, status: Any, cmp: Any, values: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:  # fmt: skip
    name = "wait_until_any_vector"
    kind, which = _words(name, ivars, status, values, True), scope_of(name, scope)

    def impl(
        team: Any,
        ivars: Any,
        status: Any,
        cmp: Any,
        values: Any,
        scope: Any = THREAD,
        tag: Any = 0,
        bound_ns: Any = None,
    ) -> Any:
        index = i64(-1)
        if prim.rank(which) == 0:
            index = any_now(team, kind, ivars, status, cmp, values, call_of(WAIT, tag, bound_ns))
        return prim.share(team.control, which, index)

    return impl


@vocabulary
def wait_until_some(team: Any, ivars: Any, indices: Any, status: Any, cmp: Any, value: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:  # fmt: skip
    kind, which = (
        _words("wait_until_some", ivars, status, value, False),
        scope_of("wait_until_some", scope),
    )

    def impl(
        team: Any,
        ivars: Any,
        indices: Any,
        status: Any,
        cmp: Any,
        value: Any,
        scope: Any = THREAD,
        tag: Any = 0,
        bound_ns: Any = None,
    ) -> Any:
        found = i64(0)
        if prim.rank(which) == 0:
            found = some_now(team, kind, ivars, indices, status, cmp, value, call_of(WAIT, tag, bound_ns))
        return prim.share(team.control, which, found)

    return impl


@vocabulary
def wait_until_some_vector(team: Any, ivars: Any, indices: Any, status: Any, cmp: Any, values: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:  # fmt: skip
    name = "wait_until_some_vector"
    kind, which = _words(name, ivars, status, values, True), scope_of(name, scope)

    def impl(
        team: Any,
        ivars: Any,
        indices: Any,
        status: Any,
        cmp: Any,
        values: Any,
        scope: Any = THREAD,
        tag: Any = 0,
        bound_ns: Any = None,
    ) -> Any:
        found = i64(0)
        if prim.rank(which) == 0:
            found = some_now(team, kind, ivars, indices, status, cmp, values, call_of(WAIT, tag, bound_ns))
        return prim.share(team.control, which, found)

    return impl


@helper
def all_hold(kind: Any, ivars: Any, status: Any, cmp: Any, values: Any) -> Any:
    for i in range(ivars.size):
        if counts(status, i) and not holds(kind, ivars, cmp, values, i):
            return i64(0)
    return i64(1)


@vocabulary
def test_all(team: Any, ivars: Any, status: Any, cmp: Any, value: Any, scope: Any = THREAD) -> Any:
    kind, which = _words("test_all", ivars, status, value, False), scope_of("test_all", scope)

    def impl(team: Any, ivars: Any, status: Any, cmp: Any, value: Any, scope: Any = THREAD) -> Any:
        hold = i64(0)
        if prim.rank(which) == 0:
            hold = all_hold(kind, ivars, status, cmp, value)
        return prim.share(team.control, which, hold) != 0

    return impl


@vocabulary
def test_all_vector(team: Any, ivars: Any, status: Any, cmp: Any, values: Any, scope: Any = THREAD) -> Any:
    kind, which = _words("test_all_vector", ivars, status, values, True), scope_of("test_all_vector", scope)

    def impl(team: Any, ivars: Any, status: Any, cmp: Any, values: Any, scope: Any = THREAD) -> Any:
        hold = i64(0)
        if prim.rank(which) == 0:
            hold = all_hold(kind, ivars, status, cmp, values)
        return prim.share(team.control, which, hold) != 0

    return impl


@vocabulary
def test_any(team: Any, ivars: Any, status: Any, cmp: Any, value: Any, scope: Any = THREAD) -> Any:
    kind, which = _words("test_any", ivars, status, value, False), scope_of("test_any", scope)

    def impl(team: Any, ivars: Any, status: Any, cmp: Any, value: Any, scope: Any = THREAD) -> Any:
        index = i64(-1)
        if prim.rank(which) == 0:
            index = max(first(kind, ivars, status, cmp, value), i64(-1))
        return prim.share(team.control, which, index)

    return impl


@vocabulary
def test_any_vector(team: Any, ivars: Any, status: Any, cmp: Any, values: Any, scope: Any = THREAD) -> Any:
    kind, which = _words("test_any_vector", ivars, status, values, True), scope_of("test_any_vector", scope)

    def impl(team: Any, ivars: Any, status: Any, cmp: Any, values: Any, scope: Any = THREAD) -> Any:
        index = i64(-1)
        if prim.rank(which) == 0:
            index = max(first(kind, ivars, status, cmp, values), i64(-1))
        return prim.share(team.control, which, index)

    return impl


@vocabulary
def test_some(
    team: Any, ivars: Any, indices: Any, status: Any, cmp: Any, value: Any, scope: Any = THREAD
) -> Any:
    kind, which = _words("test_some", ivars, status, value, False), scope_of("test_some", scope)

    def impl(
        team: Any, ivars: Any, indices: Any, status: Any, cmp: Any, value: Any, scope: Any = THREAD
    ) -> Any:
        found = i64(0)
        if prim.rank(which) == 0:
            found = max(all_of(kind, ivars, status, cmp, value, indices), i64(0))
        return prim.share(team.control, which, found)

    return impl


@vocabulary
def test_some_vector(team: Any, ivars: Any, indices: Any, status: Any, cmp: Any, values: Any, scope: Any = THREAD) -> Any:  # fmt: skip
    kind, which = _words("test_some_vector", ivars, status, values, True), scope_of("test_some_vector", scope)

    def impl(
        team: Any, ivars: Any, indices: Any, status: Any, cmp: Any, values: Any, scope: Any = THREAD
    ) -> Any:
        found = i64(0)
        if prim.rank(which) == 0:
            found = max(all_of(kind, ivars, status, cmp, values, indices), i64(0))
        return prim.share(team.control, which, found)

    return impl
