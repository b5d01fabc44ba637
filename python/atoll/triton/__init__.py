"""Communication inside kernels written in Triton: pointer arithmetic and Triton's own atomics at system
scope.

    import atoll, atoll.triton as dev, triton, triton.language as tl

    @dev.kernel def exchange(team, x, flags, n: tl.constexpr):
        right = (team.my_pe + 1) % team.n_pes dev.put_signal(team, x + n, x, n, flags, 1, dev.SET, right)
        dev.signal_wait_until(team, flags, dev.GE, 1)

    exchange[(1,)](atoll.WORLD, x, flags, 1024)        # x and flags of PyTorch, device="cuda"

All threads of a program (Triton's block) call the functions: there is one scope. Arrays are pointers, or
blocks of pointers where a function's text allows them, and sizes count elements. Names, order of arguments
and memory order are those of atoll/device/*.hpp. docs/kernels.md is the guide.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _installed as _installed  # the first import: it raises an error if Triton is missing
from ._absent import WHY as _WHY_ABSENT
from ._atomics import (
    atomic_add,
    atomic_and,
    atomic_compare_swap,
    atomic_fetch,
    atomic_fetch_add,
    atomic_fetch_and,
    atomic_fetch_inc,
    atomic_fetch_or,
    atomic_fetch_xor,
    atomic_inc,
    atomic_or,
    atomic_set,
    atomic_swap,
    atomic_xor,
)
from ._collectives import (
    alltoall,
    barrier,
    broadcast,
    collect,
    fcollect,
    reduce,
    reduce_scatter,
    sync,
    tile_allgather,
    tile_reduce,
)
from ._core import (
    ACQUIRE_RELEASE,
    ADD,
    AND,
    EQ,
    GE,
    GT,
    LE,
    LT,
    MAX,
    MIN,
    MOST_PES,
    NE,
    OR,
    PROD,
    RELAXED,
    SET,
    SUM,
    XOR,
    fence,
    flush,
    kernel,
    my_pe,
    n_pes,
    peer,
    ptr,
    quiet,
    team_at,
    translate_pe,
)
from ._host import most_resident_blocks, most_resident_programs
from ._messages import mailbox_bytes, post, receive, try_receive
from ._moves import g, get, get_nbi, iget, iput, p, put, put_nbi, tile_get, tile_put
from ._signals import (
    put_signal,
    put_signal_nbi,
    signal_add,
    signal_consume,
    signal_fetch,
    signal_set,
    signal_wait_until,
    test,
    wait_until,
)
from ._waits import (
    test_all,
    test_all_vector,
    test_any,
    test_any_vector,
    test_some,
    test_some_vector,
    wait_until_all,
    wait_until_all_vector,
    wait_until_any,
    wait_until_any_vector,
    wait_until_some,
    wait_until_some_vector,
)

if not TYPE_CHECKING:  # with __getattr__, a type checker would accept any name

    def __getattr__(name):
        why = _WHY_ABSENT.get(name)
        said = f"atoll.triton.{name}: {why}" if why else f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(said, name=name)


__all__ = [
    "ACQUIRE_RELEASE",
    "ADD",
    "AND",
    "EQ",
    "GE",
    "GT",
    "LE",
    "LT",
    "MAX",
    "MIN",
    "MOST_PES",
    "NE",
    "OR",
    "PROD",
    "RELAXED",
    "SET",
    "SUM",
    "XOR",
    "alltoall",
    "atomic_add",
    "atomic_and",
    "atomic_compare_swap",
    "atomic_fetch",
    "atomic_fetch_add",
    "atomic_fetch_and",
    "atomic_fetch_inc",
    "atomic_fetch_or",
    "atomic_fetch_xor",
    "atomic_inc",
    "atomic_or",
    "atomic_set",
    "atomic_swap",
    "atomic_xor",
    "barrier",
    "broadcast",
    "collect",
    "fcollect",
    "fence",
    "flush",
    "g",
    "get",
    "get_nbi",
    "iget",
    "iput",
    "kernel",
    "mailbox_bytes",
    "most_resident_blocks",
    "most_resident_programs",
    "my_pe",
    "n_pes",
    "p",
    "peer",
    "post",
    "ptr",
    "put",
    "put_nbi",
    "put_signal",
    "put_signal_nbi",
    "quiet",
    "receive",
    "reduce",
    "reduce_scatter",
    "signal_add",
    "signal_consume",
    "signal_fetch",
    "signal_set",
    "signal_wait_until",
    "sync",
    "team_at",
    "test",
    "test_all",
    "test_all_vector",
    "test_any",
    "test_any_vector",
    "test_some",
    "test_some_vector",
    "tile_allgather",
    "tile_get",
    "tile_put",
    "tile_reduce",
    "translate_pe",
    "try_receive",
    "wait_until",
    "wait_until_all",
    "wait_until_all_vector",
    "wait_until_any",
    "wait_until_any_vector",
    "wait_until_some",
    "wait_until_some_vector",
]
