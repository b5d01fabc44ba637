"""Waits for and tests of this PE's words, with acquire for all threads of the scope (atoll/device/waits.hpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ptx import AT
from . import by_name

WAIT = AT["wait_until"]


def operations(
    operation: Any, call_of: Any, wait_one: Any, wait: Any, test: Any, THREAD: Any, UNBOUNDED: Any
) -> dict[str, Callable[..., Any]]:
    """Return the operations.

    `wait` and `test` have functions `all`, `any` and `some` for many words: `wait` waits, `test` only tests. All of them
    take the array of the indices that they find, or None.
    UNBOUNDED is the default of a wait's own bound: 0, or a value that leaves no code in the kernel.
    """
    wait_all, wait_any, wait_some = wait.all, wait.any, wait.some
    are_all, first, which = test.all, test.any, test.some

    @operation
    def wait_until(team, ivar, cmp, value, scope=THREAD, tag=0, bound_ns=UNBOUNDED):
        wait_one(team, ivar, cmp, value, call_of(WAIT, tag, bound_ns), scope)

    @operation
    def wait_until_all(team, ivars, status, cmp, value, scope=THREAD, tag=0, bound_ns=UNBOUNDED):
        wait_all(team, ivars, None, status, cmp, value, call_of(WAIT, tag, bound_ns), scope)

    @operation
    def wait_until_all_vector(team, ivars, status, cmp, values, scope=THREAD, tag=0, bound_ns=UNBOUNDED):
        wait_all(team, ivars, None, status, cmp, values, call_of(WAIT, tag, bound_ns), scope)

    @operation
    def wait_until_any(team, ivars, status, cmp, value, scope=THREAD, tag=0, bound_ns=UNBOUNDED):
        return wait_any(team, ivars, None, status, cmp, value, call_of(WAIT, tag, bound_ns), scope)

    @operation
    def wait_until_any_vector(team, ivars, status, cmp, values, scope=THREAD, tag=0, bound_ns=UNBOUNDED):
        return wait_any(team, ivars, None, status, cmp, values, call_of(WAIT, tag, bound_ns), scope)

    @operation
    def wait_until_some(team, ivars, indices, status, cmp, value, scope=THREAD, tag=0, bound_ns=UNBOUNDED):
        return wait_some(team, ivars, indices, status, cmp, value, call_of(WAIT, tag, bound_ns), scope)

    @operation
    def wait_until_some_vector(
        team, ivars, indices, status, cmp, values, scope=THREAD, tag=0, bound_ns=UNBOUNDED
    ):
        return wait_some(team, ivars, indices, status, cmp, values, call_of(WAIT, tag, bound_ns), scope)

    @operation
    def test_all(team, ivars, status, cmp, value, scope=THREAD):
        return are_all(team, ivars, None, status, cmp, value, scope)

    @operation
    def test_all_vector(team, ivars, status, cmp, values, scope=THREAD):
        return are_all(team, ivars, None, status, cmp, values, scope)

    @operation
    def test_any(team, ivars, status, cmp, value, scope=THREAD):
        return first(team, ivars, None, status, cmp, value, scope)

    @operation
    def test_any_vector(team, ivars, status, cmp, values, scope=THREAD):
        return first(team, ivars, None, status, cmp, values, scope)

    @operation
    def test_some(team, ivars, indices, status, cmp, value, scope=THREAD):
        return which(team, ivars, indices, status, cmp, value, scope)

    @operation
    def test_some_vector(team, ivars, indices, status, cmp, values, scope=THREAD):
        return which(team, ivars, indices, status, cmp, values, scope)

    return by_name(
        wait_until, wait_until_all, wait_until_all_vector, wait_until_any, wait_until_any_vector, wait_until_some,
        wait_until_some_vector, test_all, test_all_vector, test_any, test_any_vector, test_some, test_some_vector,
    )  # fmt: skip
