"""Waits for and tests of this PE's own words, with acquire for all of the program (OpenSHMEM 1.6, 9.12)."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._kernels import ptx
from .._kernels.ptx import AT
from ._polling import check_job, holds, wait_words
from ._primitives import at_int32, load_one, load_words
from ._signals import wait_one
from ._threads import num_threads
from ._types import INTERPRETED

_WAIT = tl.constexpr(AT["wait_until"])
_POLLS = tl.constexpr(1 if INTERPRETED else ptx.POLLS)  # loads in the interpreter are slow


@jit
def _counts(status, i, n):
    """Return a mask of the words that take part: those below n whose status is 0."""
    inside = i < n
    if status is not None:
        inside = inside & (tl.load(status + i, mask=inside, other=1) == 0)
    return inside


@jit
def _wanted(values, i, active, kind: tl.constexpr, VECTOR: tl.constexpr):
    """Return the values to compare the words with."""
    if VECTOR:
        return tl.load(values + i, mask=active, other=0).to(kind)
    else:  # noqa: RET505
        return (values + tl.full((), 0, kind)).to(kind)


@jit
def _poll(ivars, n, indices, status, cmp: tl.constexpr, values, VECTOR: tl.constexpr, LOWEST: tl.constexpr):
    """Return how many words hold, and how many are not left out.

    With LOWEST the first result is n minus the first index that holds, or 0.
    """
    kind: tl.constexpr = ivars.dtype.element_ty
    found, left, count = tl.full((), 0, tl.int32), tl.full((), 0, tl.int32), at_int32(n)
    for begin in range(0, count, num_threads()):
        i = begin + tl.arange(0, num_threads())
        active = _counts(status, i, count)
        left += tl.sum(active.to(tl.int32), 0)
        hit = active & holds(load_words(ivars + i, active), cmp, _wanted(values, i, active, kind, VECTOR))
        if LOWEST:
            found = tl.maximum(found, tl.max(tl.where(hit, count - i, 0), 0))
        else:
            if indices is not None:
                before = found + tl.cumsum(hit.to(tl.int32), 0) - 1
                tl.store(indices + before, i.to(tl.int64), mask=hit)
            found += tl.sum(hit.to(tl.int32), 0)
    tl.debug_barrier()
    return found, left


@jit
def _wait(
    team, ivars, n, indices, status, cmp: tl.constexpr, values, tag, bound, VECTOR: tl.constexpr,
    LOWEST: tl.constexpr,
):  # fmt: skip
    """Repeat _poll until a word holds, or return if all are left out."""
    since, polls = tl.full((), 0, tl.int64), tl.full((), 0, tl.int32)
    found, left = _poll(ivars, n, indices, status, cmp, values, VECTOR, LOWEST)
    while (found == 0) & (left != 0):
        polls += tl.cdiv(at_int32(n), num_threads())
        if polls >= _POLLS:
            polls = tl.full((), 0, tl.int32)
            first = _wanted(values, 0, True, ivars.dtype.element_ty, VECTOR)
            since = check_job(team, ivars, cmp, first, _WAIT, tag, since, bound)
        found, left = _poll(ivars, n, indices, status, cmp, values, VECTOR, LOWEST)
    return found


@jit
def _wait_all(team, ivars, n, status, cmp: tl.constexpr, values, tag, bound, VECTOR: tl.constexpr):
    """Wait for all words, each thread for its own."""
    count = at_int32(n)
    for begin in range(0, count, num_threads()):
        i = begin + tl.arange(0, num_threads())
        active = _counts(status, i, count)
        wanted = _wanted(values, i, active, ivars.dtype.element_ty, VECTOR)
        wait_words(team, ivars + i, cmp, wanted, _WAIT, tag, active, bound)
    tl.debug_barrier()


@jit
def _index(found, n):
    return tl.where(found == 0, -1, at_int32(n) - found)


@jit
def wait_until_all(team, ivars, n, status, cmp: tl.constexpr, value, tag=0, bound_ns=0):
    _wait_all(team, ivars, n, status, cmp, value, tag, bound_ns, False)


@jit
def wait_until_all_vector(team, ivars, n, status, cmp: tl.constexpr, values, tag=0, bound_ns=0):
    _wait_all(team, ivars, n, status, cmp, values, tag, bound_ns, True)


@jit
def wait_until_any(team, ivars, n, status, cmp: tl.constexpr, value, tag=0, bound_ns=0):
    return _index(_wait(team, ivars, n, None, status, cmp, value, tag, bound_ns, False, True), n)


@jit
def wait_until_any_vector(team, ivars, n, status, cmp: tl.constexpr, values, tag=0, bound_ns=0):
    return _index(_wait(team, ivars, n, None, status, cmp, values, tag, bound_ns, True, True), n)


@jit
def wait_until_some(team, ivars, n, indices, status, cmp: tl.constexpr, value, tag=0, bound_ns=0):
    return _wait(team, ivars, n, indices, status, cmp, value, tag, bound_ns, False, False)


@jit
def wait_until_some_vector(team, ivars, n, indices, status, cmp: tl.constexpr, values, tag=0, bound_ns=0):
    return _wait(team, ivars, n, indices, status, cmp, values, tag, bound_ns, True, False)


@jit
def test_all(team, ivars, n, status, cmp: tl.constexpr, value):
    found, left = _poll(ivars, n, None, status, cmp, value, False, False)
    return found == left


@jit
def test_all_vector(team, ivars, n, status, cmp: tl.constexpr, values):
    found, left = _poll(ivars, n, None, status, cmp, values, True, False)
    return found == left


@jit
def test_any(team, ivars, n, status, cmp: tl.constexpr, value):
    found, _ = _poll(ivars, n, None, status, cmp, value, False, True)
    return _index(found, n)


@jit
def test_any_vector(team, ivars, n, status, cmp: tl.constexpr, values):
    found, _ = _poll(ivars, n, None, status, cmp, values, True, True)
    return _index(found, n)


@jit
def test_some(team, ivars, n, indices, status, cmp: tl.constexpr, value):
    found, _ = _poll(ivars, n, indices, status, cmp, value, False, False)
    return found


@jit
def test_some_vector(team, ivars, n, indices, status, cmp: tl.constexpr, values):
    found, _ = _poll(ivars, n, indices, status, cmp, values, True, False)
    return found


@jit
def wait_until(team, ivar, cmp: tl.constexpr, value, tag=0, bound_ns=0):
    wait_one(team, ivar, cmp, value, tag, bound_ns, _WAIT)


@jit
def test(team, ivar, cmp: tl.constexpr, value):
    return holds(load_one(ivar), cmp, value)
