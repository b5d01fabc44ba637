"""Communication inside kernels written in NVIDIA's CuTe DSL (nvidia-cutlass-dsl 4.8).

    import atoll, atoll.cute as dev, cutlass.cute as cute

    @cute.kernel def exchange(team: dev.Team, x: cute.Tensor, flags: cute.Tensor, step: cutlass.Int32):
        right = (team.my_pe + 1) % team.n_pes dev.put_signal(team, x[1, None], x[0, None], flags, step,
        dev.SET, right, scope=dev.BLOCK) dev.signal_wait_until(team, flags, dev.GE, step, scope=dev.BLOCK)
        dev.sync(team, scope=dev.BLOCK)

    @cute.jit def run(team: dev.Team, x: cute.Tensor, flags: cute.Tensor, step: cutlass.Int32, stream:
    cuda.CUstream):
        exchange(team, x, flags, step).launch(grid=[1, 1, 1], block=[256, 1, 1], stream=stream)

    run(dev.team(atoll.WORLD), dev.tensor(x), dev.tensor(flags), 1, stream)

Arrays are cute.Tensor; sizes and types come from them. A one-word argument (a signal, a counter) is a tensor,
whose first element is used, or a cute.Pointer: `flags.iterator + 3`. Names, order of arguments and memory
order are those of atoll/device/*.hpp. All is inline PTX, so nothing is linked. docs/kernels.md is the guide.
"""

# mypy: ignore-errors
from __future__ import annotations

from . import _installed as _installed  # the first import: it raises an error if CuTe DSL is missing
from ._collectives import (
    alltoall,
    barrier,
    broadcast,
    collect,
    fcollect,
    reduce,
    reduce_scatter,
    sync,
)
from ._core import (
    ACQUIRE_RELEASE,
    ADD,
    AND,
    BLOCK,
    EQ,
    GE,
    GRID,
    GT,
    LE,
    LT,
    MAX,
    MIN,
    NE,
    OR,
    PROD,
    RELAXED,
    SET,
    SUM,
    THREAD,
    WARP,
    XOR,
    Team,
    team,
)
from ._host import mailbox, mailbox_bytes, most_resident_blocks, tensor
from ._messages import Inbox, Mailbox, Outbox, post, receive, try_receive
from ._moves import (
    async_put,
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
    fence,
    flush,
    g,
    get,
    get_nbi,
    iget,
    iput,
    meet,
    my_pe,
    n_pes,
    p,
    peer,
    ptr,
    put,
    put_nbi,
    put_signal,
    put_signal_nbi,
    quiet,
    rank,
    signal_add,
    signal_fetch,
    signal_set,
    size,
    translate_pe,
)
from ._tiles import tile_allgather, tile_get, tile_put, tile_reduce
from ._waits import (
    local_set,
    local_wait_until,
    signal_consume,
    signal_wait_until,
    test,
    test_all,
    test_all_vector,
    test_any,
    test_any_vector,
    test_some,
    test_some_vector,
    wait_until,
    wait_until_all,
    wait_until_all_vector,
    wait_until_any,
    wait_until_any_vector,
    wait_until_some,
    wait_until_some_vector,
)
from ._ways import (
    Meeting,
    begin,
    close,
    end,
    has_message,
    inbox,
    load,
    meeting,
    outbox,
    post_next,
    receive_next,
    store,
    sync_next,
)

__all__ = [
    "ACQUIRE_RELEASE", "ADD", "AND", "BLOCK", "EQ", "GE", "GRID", "GT", "LE", "LT", "MAX", "MIN", "NE", "OR", "PROD",
    "RELAXED", "SET", "SUM", "THREAD", "WARP", "XOR", "Inbox", "Mailbox", "Meeting", "Outbox", "Team", "alltoall",
    "async_put", "atomic_add", "atomic_and", "atomic_compare_swap", "atomic_fetch", "atomic_fetch_add", "atomic_fetch_and",
    "atomic_fetch_inc", "atomic_fetch_or", "atomic_fetch_xor", "atomic_inc", "atomic_or", "atomic_set", "atomic_swap",
    "atomic_xor", "barrier", "begin", "broadcast", "close", "collect", "end", "fcollect", "fence", "flush", "g", "get",
    "get_nbi", "has_message", "iget", "inbox", "iput", "load", "local_set", "local_wait_until", "mailbox", "mailbox_bytes",
    "meet", "meeting", "most_resident_blocks", "my_pe", "n_pes", "outbox", "p", "peer", "post", "post_next", "ptr", "put", "put_nbi", "put_signal",
    "put_signal_nbi", "quiet", "rank", "receive", "receive_next", "reduce", "reduce_scatter", "signal_add", "signal_consume",
    "signal_fetch", "signal_set", "signal_wait_until", "size", "store", "sync", "sync_next", "team", "tensor", "test",
    "test_all", "test_all_vector", "test_any", "test_any_vector", "test_some", "test_some_vector", "tile_allgather",
    "tile_get", "tile_put", "tile_reduce", "translate_pe", "try_receive", "wait_until", "wait_until_all",
    "wait_until_all_vector", "wait_until_any", "wait_until_any_vector", "wait_until_some", "wait_until_some_vector",
]  # fmt: skip
