"""Words for communication between the blocks of one PE's kernel.

No other PE sees them, so they need the order of this PE's threads only. On a GPU that costs less than system
scope. CUDA C++ has cuda::atomic_ref for it.
"""

from __future__ import annotations

from typing import Any

from numba.core import types

from . import _primitives as prim
from ._targets import THREAD, WORDS, helper, number, scope_of, vocabulary, word
from ._waiting import WAIT, call_of, compare, look_around, reported

i64 = types.int64


@helper
def wait_local(kind: Any, control: Any, address: Any, cmp: Any, value: Any, call: Any) -> Any:
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
def local_set(team: Any, words: Any, value: Any) -> Any:
    kind = word("local_set", "words", words, WORDS)
    number("local_set", "value", value, kind)

    def impl(team: Any, words: Any, value: Any) -> None:
        prim.store_release_local(kind, prim.address(words), kind(value))

    return impl


@vocabulary
def local_wait_until(
    team: Any, words: Any, cmp: Any, value: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
) -> Any:
    kind, which = word("local_wait_until", "words", words, WORDS), scope_of("local_wait_until", scope)
    number("local_wait_until", "value", value, kind)

    def impl(
        team: Any, words: Any, cmp: Any, value: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
    ) -> None:
        if prim.rank(which) == 0:
            at, call = prim.address(words), call_of(WAIT, tag, bound_ns)
            wait_local(kind, team.control, at, cmp, kind(value), call)
        prim.meet(team.control, which)

    return impl
