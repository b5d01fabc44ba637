"""Communication inside kernels written with Numba, on GPUs (numba-cuda) and, from the same text, on host
CPUs.

    import atoll, atoll.numba as dev

    @dev.kernel def exchange(team, x, flags, step):
        right = (team.my_pe + 1) % team.n_pes dev.put_signal(team, x[1], x[0], flags, step, dev.SET, right,
        scope=dev.BLOCK) dev.signal_wait_until(team, flags, dev.GE, step, scope=dev.BLOCK) dev.sync(team,
        scope=dev.BLOCK)

    dev.launch(exchange, 1, 256)(atoll.WORLD, x, flags, 1)

The functions also compile in plain `@numba.njit` and `@cuda.jit`, where the team is `team.device(...)`.
Names, order of arguments and memory order are those of atoll/device/*.hpp; sizes come from the arrays. A
one-word argument (a signal, a counter) is an array, whose first element is used: `flags[3:]`. `scope`
(THREAD, WARP, BLOCK, GRID) names the threads that execute a call together; all of them call it with the same
arguments. On the host every scope is one thread. docs/kernels.md is the guide.
"""

from __future__ import annotations

from . import _installed as _installed  # the first import: it raises an error if Numba is missing

# isort: split
from . import _targets

# isort: split
from . import _cpu as _cpu  # each target's primitives, before anything compiles
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
    g,
    p,
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
)
from ._launch import RESIDENT, Kernel, Mailbox, kernel, launch, mailbox, most_resident_blocks, raise_ended
from ._local import local_set, local_wait_until
from ._messages import post, receive, try_receive
from ._rma import (
    async_put,
    fence,
    flush,
    get,
    get_nbi,
    iget,
    iput,
    put,
    put_nbi,
    put_signal,
    put_signal_nbi,
    quiet,
    signal_add,
    signal_consume,
    signal_fetch,
    signal_set,
    signal_wait_until,
)
from ._targets import (
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
)  # fmt: skip
from ._tiles import tile_allgather, tile_get, tile_put, tile_reduce
from ._waits import (
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
    begin,
    close,
    end,
    has_message,
    inbox,
    load,
    meeting,
    nth,
    outbox,
    post_next,
    receive_next,
    store,
    sync_next,
)
from ._who import grid_range, meet, my_pe, n_pes, peer, ptr, rank, size, translate_pe
from ._wide import load_wide, store_wide

if _targets.DEVICE is not None:
    from . import _bulk as _bulk
    from . import _cuda as _cuda
    from . import _looks as _looks
if _targets.MLIR:
    from . import _mlir as _mlir  # the last import: it registers all of the above for its compiler

__all__ = [
    "ACQUIRE_RELEASE",
    "ADD",
    "AND",
    "BLOCK",
    "EQ",
    "GE",
    "GRID",
    "GT",
    "LE",
    "LT",
    "MAX",
    "MIN",
    "NE",
    "OR",
    "PROD",
    "RELAXED",
    "RESIDENT",
    "SET",
    "SUM",
    "THREAD",
    "WARP",
    "XOR",
    "Kernel",
    "Mailbox",
    "alltoall",
    "async_put",
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
    "begin",
    "broadcast",
    "close",
    "collect",
    "end",
    "fcollect",
    "fence",
    "flush",
    "g",
    "get",
    "get_nbi",
    "grid_range",
    "has_message",
    "iget",
    "inbox",
    "iput",
    "kernel",
    "launch",
    "load",
    "load_wide",
    "local_set",
    "local_wait_until",
    "mailbox",
    "meet",
    "meeting",
    "most_resident_blocks",
    "my_pe",
    "n_pes",
    "nth",
    "outbox",
    "p",
    "peer",
    "post",
    "post_next",
    "ptr",
    "put",
    "put_nbi",
    "put_signal",
    "put_signal_nbi",
    "quiet",
    "raise_ended",
    "rank",
    "receive",
    "receive_next",
    "reduce",
    "reduce_scatter",
    "signal_add",
    "signal_consume",
    "signal_fetch",
    "signal_set",
    "signal_wait_until",
    "size",
    "store",
    "store_wide",
    "sync",
    "sync_next",
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
]  # fmt: skip
