"""Waits for and tests of this PE's own words, with acquire for all threads of the scope (atoll/device/waits.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .. import _ptx
from ._addresses import address
from ._polling import call_of, holds, look_around, reported, wait_word
from ._primitives import ACQUIRE, SYSTEM, load, store, to_bits
from ._threads import meet_threads, rank_of, share
from ._types import THREAD, Scope, Team, kind_of


@cute.jit
def _wait(
    team: Team, kind: Constexpr, at: Int64, cmp: Constexpr, value, call: Constexpr, scope: Constexpr,
    order: Constexpr,
):  # fmt: skip
    if rank_of(scope) == 0:
        wait_word(team, kind, at, cmp, value, call, Int32(-1), order)


def wait_one(team, x, cmp, value, scope, call, order: str = ACQUIRE) -> None:
    _wait(team, kind_of("ivar", x), address(x), cmp, value, call, scope, order)
    meet_threads(team, scope)


def wait_until(team, ivar, cmp, value, scope: Scope = THREAD, tag=0, bound_ns=0):
    wait_one(team, ivar, cmp, value, scope, call_of("wait_until", tag, bound_ns))


# Words for communication between the blocks of one PE's kernel. No other PE sees them, so ordering
# among this PE's threads suffices, at less cost than system scope.
def local_set(team, words, value):
    store(kind_of("words", words), address(words), value, ".release.gpu.global")


def local_wait_until(team, words, cmp, value, scope: Scope = THREAD, tag=0, bound_ns=0):
    call = call_of("local_wait_until", tag, bound_ns, "wait_until")
    wait_one(team, words, cmp, value, scope, call, ".acquire.gpu.global")


@cute.jit
def _test(team: Team, kind: Constexpr, at: Int64, cmp: Constexpr, value, scope: Constexpr):
    hold = Int32(0)
    if rank_of(scope) == 0:
        hold = Int32(holds(load(kind, at, ACQUIRE), cmp, value))
    return hold


def test(team, ivar, cmp, value, scope: Scope = THREAD):
    return share(team, scope, _test(team, kind_of("ivar", ivar), address(ivar), cmp, value, scope)) != 0


# ---- many words: the consecutive words of a tensor
def _value_at(kind, values, i):
    return kind(values[i]) if isinstance(values, cute.Tensor) else values


def _counts(status, i):
    return Int32(0) if status is None else Int32(status[i])


@cute.jit
def _count(kind: Constexpr, ivars: cute.Tensor, status, cmp: Constexpr, values, indices):
    """Return the first word that holds, how many hold, and how many are not left out; store their indices in
    `indices`.
    """
    first, found, left = Int32(-1), Int32(0), Int32(0)
    at = address(ivars)
    for i in cutlass.range(cute.size(ivars), unroll=1):
        if _counts(status, i) == 0:
            left += 1
            if holds(load(kind, at + Int64(i) * (kind.width // 8), ACQUIRE), cmp, _value_at(kind, values, i)):
                if cutlass.const_expr(indices is not None):
                    indices[found] = indices.element_type(i)
                if first < 0:
                    first = Int32(i)
                found += 1
    return first, found, left


@cute.jit
def _until(
    team: Team, kind: Constexpr, ivars: cute.Tensor, status, cmp: Constexpr, values, indices, wait: Constexpr,
    call: Constexpr, scope: Constexpr,
):  # fmt: skip
    """Return _count's results, found by rank 0. It waits until 'any' word or 'all' words hold, or not at all ('')."""
    first, found, left = Int32(-1), Int32(0), Int32(0)
    if rank_of(scope) == 0:
        first, found, left = _count(kind, ivars, status, cmp, values, indices)
        if cutlass.const_expr(wait != ""):
            since, looked = Int64(0), Int32(0)
            while (left != 0) & ((found == 0) if wait == "any" else (found < left)):
                looked += 1
                if looked == _ptx.LOOKS:
                    looked = Int32(0)
                    at = address(ivars)
                    wanted = to_bits(kind, _value_at(kind, values, 0))
                    seen = to_bits(kind, load(kind, at, SYSTEM))
                    since = look_around(team, call, reported(kind, cmp), Int32(-1), at, wanted, seen, since)
                first, found, left = _count(kind, ivars, status, cmp, values, indices)
    return first, found, left


def _many(name: str, team, ivars, status, cmp, values, scope, tag=0, bound_ns=0, indices=None):
    """Wait for the words, or test them, as `name` says: wait_until or test, all, any or some, and _vector."""
    kind = ivars.element_type
    call = call_of(name, tag, bound_ns, "wait_until")
    wait = "" if name.startswith("test") else "all" if "_all" in name else "any"
    first, found, left = _until(team, kind, ivars, status, cmp, values, indices, wait, call, scope)
    if indices is not None:
        return share(team, scope, found)
    if "any" in name:
        return share(team, scope, first)
    return share(team, scope, Int32(found == left)) != 0


def wait_until_all(team, ivars, status, cmp, value, scope: Scope = THREAD, tag=0, bound_ns=0):
    _many("wait_until_all", team, ivars, status, cmp, value, scope, tag, bound_ns)


def wait_until_all_vector(team, ivars, status, cmp, values, scope: Scope = THREAD, tag=0, bound_ns=0):
    _many("wait_until_all_vector", team, ivars, status, cmp, values, scope, tag, bound_ns)


def wait_until_any(team, ivars, status, cmp, value, scope: Scope = THREAD, tag=0, bound_ns=0):
    return _many("wait_until_any", team, ivars, status, cmp, value, scope, tag, bound_ns)


def wait_until_any_vector(team, ivars, status, cmp, values, scope: Scope = THREAD, tag=0, bound_ns=0):
    return _many("wait_until_any_vector", team, ivars, status, cmp, values, scope, tag, bound_ns)


def wait_until_some(team, ivars, indices, status, cmp, value, scope: Scope = THREAD, tag=0, bound_ns=0):
    return _many("wait_until_some", team, ivars, status, cmp, value, scope, tag, bound_ns, indices)


def wait_until_some_vector(
    team, ivars, indices, status, cmp, values, scope: Scope = THREAD, tag=0, bound_ns=0
):
    return _many("wait_until_some_vector", team, ivars, status, cmp, values, scope, tag, bound_ns, indices)


def test_all(team, ivars, status, cmp, value, scope: Scope = THREAD):
    return _many("test_all", team, ivars, status, cmp, value, scope)


def test_all_vector(team, ivars, status, cmp, values, scope: Scope = THREAD):
    return _many("test_all_vector", team, ivars, status, cmp, values, scope)


def test_any(team, ivars, status, cmp, value, scope: Scope = THREAD):
    return _many("test_any", team, ivars, status, cmp, value, scope)


def test_any_vector(team, ivars, status, cmp, values, scope: Scope = THREAD):
    return _many("test_any_vector", team, ivars, status, cmp, values, scope)


def test_some(team, ivars, indices, status, cmp, value, scope: Scope = THREAD):
    return _many("test_some", team, ivars, status, cmp, value, scope, indices=indices)


def test_some_vector(team, ivars, indices, status, cmp, values, scope: Scope = THREAD):
    return _many("test_some_vector", team, ivars, status, cmp, values, scope, indices=indices)
