"""Waits for and tests of this PE's own words, with acquire for all threads of the scope (atoll/device/waits.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._kernels import ptx
from .._kernels.bodies import _waits
from .._kernels.ptx import AT
from ._addresses import address
from ._polling import call_of, check_job, holds, reported, wait_word
from ._primitives import ACQUIRE, SYSTEM, as_it_is, load, store, to_bits
from ._threads import meet_threads, rank_of, share
from ._types import THREAD, Scope, Team, kind_of, word_kind


@cute.jit
def _wait(
    team: Team, kind: Constexpr, at: Int64, cmp: Constexpr, value, call: Constexpr, scope: Constexpr,
    order: Constexpr,
):  # fmt: skip
    if rank_of(scope) == 0:
        wait_word(kind, team.control, at, cmp, value, call, Int32(-1), order)


def wait_one(team, x, cmp, value, call, scope, order: str = ACQUIRE) -> None:
    _wait(team, word_kind(x), address(x), cmp, value, call, scope, order)
    meet_threads(team.control, scope)


# Words for communication between the blocks of one PE's kernel. No other PE sees them, so ordering
# among this PE's threads suffices, at less cost than system scope.
def local_set(team, words, value):
    store(kind_of("words", words), address(words), value, ".release.gpu.global")


def local_wait_until(team, words, cmp, value, scope: Scope = THREAD, tag=0, bound_ns=0):
    call = call_of(AT["wait_until"], tag, bound_ns)
    wait_one(team, words, cmp, value, call, scope, ".acquire.gpu.global")


@cute.jit
def _test(team: Team, kind: Constexpr, at: Int64, cmp: Constexpr, value, scope: Constexpr):
    hold = Int32(0)
    if rank_of(scope) == 0:
        hold = Int32(holds(load(kind, at, ACQUIRE), cmp, value))
    return hold


def test(team, ivar, cmp, value, scope: Scope = THREAD):
    return (
        share(team.control, scope, _test(team, kind_of("ivar", ivar), address(ivar), cmp, value, scope)) != 0
    )


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
            since, polls = Int64(0), Int32(0)
            while (left != 0) & ((found == 0) if wait == "any" else (found < left)):
                polls += 1
                if polls == ptx.POLLS:
                    polls = Int32(0)
                    at = address(ivars)
                    wanted = to_bits(kind, _value_at(kind, values, 0))
                    seen = to_bits(kind, load(kind, at, SYSTEM))
                    since = check_job(
                        team.control, call, reported(kind, cmp), Int32(-1), at, wanted, seen, since
                    )
                first, found, left = _count(kind, ivars, status, cmp, values, indices)
    return first, found, left


class _Many:
    """The results of _until for all threads of the scope: once it has waited, or without waiting (wait = False)."""

    def __init__(self, wait: bool):
        self.waits = wait

    def all(self, team, ivars, indices, status, cmp, values, *of):
        _, found, left = self._until("all", team, ivars, indices, status, cmp, values, *of)
        return share(team.control, of[-1], Int32(found == left)) != 0

    def any(self, team, ivars, indices, status, cmp, values, *of):
        first, *_ = self._until("any", team, ivars, indices, status, cmp, values, *of)
        return share(team.control, of[-1], first)

    def some(self, team, ivars, indices, status, cmp, values, *of):
        _, found, _ = self._until("any", team, ivars, indices, status, cmp, values, *of)
        return share(team.control, of[-1], found)

    def _until(self, which, team, ivars, indices, status, cmp, values, *of):
        """`of`: the call, if it waits, and the scope."""
        call, scope = of if self.waits else (None, *of)
        wait = which if self.waits else ""
        return _until(team, ivars.element_type, ivars, status, cmp, values, indices, wait, call, scope)


globals().update(
    _waits.operations(as_it_is, call_of, wait_one, _Many(True), _Many(False), THREAD=THREAD, UNBOUNDED=0)
)
