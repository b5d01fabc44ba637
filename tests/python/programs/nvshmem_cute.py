"""Kernels in CuTe DSL by NVSHMEM4Py's names, as its users write them.

    nvshmem_cute.py [ptx] [SUFFIX...]

With `ptx` they are compiled only, for CUTE_DSL_ARCH, and need no GPU. SUFFIX: "_block" or "_warp", or "thread" for names
without one; all three by default.
"""

from __future__ import annotations

import sys
from typing import Any

import atoll.compat

atoll.compat.install("nvshmem")

import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
import numpy as np  # noqa: E402
import nvshmem.core  # noqa: E402
import nvshmem.core.device.cute as nv  # noqa: E402
from cutlass import Float32, Int32, Int64, Uint64  # noqa: E402
from cutlass.cute.runtime import from_dlpack, make_fake_compact_tensor  # noqa: E402
from nvshmem.core import ComparisonType, SignalOp, Teams  # noqa: E402

PTX = "ptx" in sys.argv
THREADS = {"": 1, "_warp": 32, "_block": 64}
SUFFIXES = ["" if one == "thread" else one for one in sys.argv[1:] if one != "ptx"] or [*THREADS]
KINDS = {"int64": Int64, "uint64": Uint64, "float32": Float32}
WORLD = Teams.TEAM_WORLD

nvshmem.core.init(initializer_method="mpi")
me, n = nvshmem.core.my_pe(), nvshmem.core.n_pes()
right, left = (me + 1) % n, (me - 1) % n
if not PTX:
    import cupy


def new(shape: Any, dtype: str, values: Any = 0) -> Any:
    shape = (shape,) if isinstance(shape, int) else shape
    if PTX:
        return make_fake_compact_tensor(KINDS[dtype], shape, stride_order=tuple(reversed(range(len(shape)))))
    x = nvshmem.core.array(shape, dtype=dtype)
    cupy.cuda.Device(x.device.id).use()
    x.set(np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype), x.shape)))
    nvshmem.core.barrier_all()
    return x


@cute.jit
def go(kernel: cutlass.Constexpr, values, block: cutlass.Constexpr):
    kernel(values).launch(grid=[1, 1, 1], block=[block, 1, 1])


def launch(kernel: Any, suffix: str, *arguments: Any) -> None:
    """Run a kernel on all PEs, by one thread, a warp or a block, and wait for all of them."""
    if PTX:
        cute.compile(
            go, kernel, tuple(Int32(x) if isinstance(x, int) else x for x in arguments), THREADS[suffix]
        )
        return
    values = tuple(from_dlpack(x) if hasattr(x, "__dlpack__") else Int32(x) for x in arguments)
    go(kernel, values, THREADS[suffix])
    cupy.cuda.runtime.deviceSynchronize()
    nvshmem.core.barrier_all()


def equal(what: str, x: Any, wanted: Any) -> None:
    if PTX:
        return
    found = x.get()
    assert np.array_equal(found, np.broadcast_to(wanted, found.shape)), (me, what, found, wanted)
    nvshmem.core.barrier_all()


def name(base: str, suffix: str) -> Any:
    return getattr(nv, base + suffix)


def moves(suffix: str) -> None:
    put, get, put_nbi, get_nbi = (name(base, suffix) for base in ("put", "get", "put_nbi", "get_nbi"))
    barrier_all = name("barrier_all", suffix)

    @cute.kernel
    def move(values):
        a, b, c, d, src, pe = values
        put(a, src, pe)
        put_nbi(b, src, pe)
        nv.fence()
        nv.quiet()
        barrier_all()
        get(c, src, pe)
        get_nbi(d, src, pe)

    src = new(20, "int64", np.arange(20) + 100 * me)
    a, b, c, d = (new(20, "int64") for _ in range(4))
    launch(move, suffix, a, b, c, d, src, right)
    for x, pe in ((a, left), (b, left), (c, right), (d, right)):
        equal("moves", x, np.arange(20) + 100 * pe)


def signals(suffix: str) -> None:
    put_signal, put_signal_nbi = name("put_signal", suffix), name("put_signal_nbi", suffix)

    @cute.kernel
    def exchange(values):
        x, y, src, first, second, seen, pe, op = values
        put_signal(x, src, first, 7, SignalOp.SIGNAL_SET, pe)
        put_signal_nbi(y, src, second, 3, op, pe)
        seen[0] = Int64(nv.signal_wait(first, ComparisonType.CMP_EQ, 7))
        nv.signal_wait(second, ComparisonType.CMP_GE, 3)

    src, first, second, seen = new(9, "int64", me), new(1, "uint64"), new(1, "uint64"), new(1, "int64")
    x, y = new(9, "int64"), new(9, "int64")
    launch(exchange, suffix, x, y, src, first, second, seen, right, int(SignalOp.SIGNAL_ADD))
    equal("put_signal", x, left)
    equal("put_signal_nbi", y, left)
    equal("signals", first, 7)
    equal("signals", second, 3)
    equal("signal_wait", seen, 7)


def words() -> None:
    """Single words, signals alone, comparisons that the compiler does not know, and numbers of PEs."""

    @cute.kernel
    def single(values):
        x, y, src, first, second, found, pe, cmp, team = values
        nv.p(x, 2.5, pe)
        nv.p(y, src, pe)
        nv.signal_op(first, 5, SignalOp.SIGNAL_SET, pe)
        nv.signal_op(second, 2, SignalOp.SIGNAL_ADD, pe)
        nv.signal_wait(second, cmp, 1)
        nv.sync_all()
        found[0] = Int64(nv.my_pe())
        found[1] = Int64(nv.n_pes())
        found[2] = Int64(nv.team_my_pe(team))
        found[3] = Int64(nv.team_n_pes(team))
        found[4] = Int64(nv.team_n_pes(99))
        found[5] = Int64(nv.g(x, pe) * 2)
        nv.get_peer_tensor(x, pe)[2] = Float32(9)
        nv.release_smem()

    alone = 7 if PTX else [nvshmem.core.team_split_strided(WORLD, pe, 1, 1, None, 0) for pe in range(n)][me]
    x, y, src, found = new(3, "float32"), new(1, "float32"), new(1, "float32", me), new(6, "int64")
    first, second = new(1, "uint64"), new(1, "uint64")
    launch(single, "", x, y, src, first, second, found, right, int(ComparisonType.CMP_GT), alone)
    equal("p", x, [2.5, 0, 9])
    equal("p of a tensor", y, left)
    equal("signal_op", first, 5)
    equal("signal_op", second, 2)
    equal("numbers", found, [me, n, 0, 1, -1, 5])


def atomics() -> None:
    @cute.kernel
    def update(values):
        x, f, found, pe = values
        found[0] = nv.atomic_fetch_inc(x, pe)
        nv.atomic_inc(x, pe)
        found[1] = nv.atomic_fetch_add(x, 10, pe)
        nv.atomic_add(x, 5, pe)
        found[2] = nv.atomic_fetch(x, pe)
        found[3] = nv.atomic_swap(x, 12, pe)
        found[4] = nv.atomic_compare_swap(x, 12, 13, pe)
        found[5] = nv.atomic_compare_swap(x, 12, 99, pe)
        found[6] = nv.atomic_fetch_and(x, 9, pe)
        nv.atomic_and(x, 8, pe)
        found[7] = nv.atomic_fetch_or(x, 3, pe)
        nv.atomic_or(x, 16, pe)
        found[8] = nv.atomic_fetch_xor(x, 1, pe)
        nv.atomic_xor(x, 2, pe)
        nv.atomic_set(f, 0.5, pe)
        nv.atomic_add(f, 0.25, pe)

    x, f, found = new(1, "int64"), new(1, "float32"), new(9, "int64")
    launch(update, "", x, f, found, right)
    equal("atomics", found, [0, 2, 17, 17, 12, 13, 13, 8, 27])
    equal("the word", x, 24)
    equal("the float", f, 0.75)


def collectives(suffix: str) -> None:
    base = ("sync", "barrier", "sync_all", "reduce", "reducescatter", "fcollect", "broadcast", "alltoall")
    sync, barrier, sync_all, reduce, reducescatter, fcollect, broadcast, alltoall = (
        name(one, suffix) for one in base
    )

    @cute.kernel
    def collective(values):
        team, src, total, part, every, sent, dealt, root = values
        sync(WORLD)
        reduce(team, total, src, "sum")
        reducescatter(team, part, src, "max")
        fcollect(team, every, src)
        broadcast(team, sent, src, root)
        alltoall(team, dealt, src)
        sync_all()
        barrier(team)

    every = np.array([np.arange(2 * n) + 10 * pe for pe in range(n)])
    src, total, sent, dealt = (new(2 * n, "int64", every[me] if k == 0 else 0) for k in range(4))
    part, gathered = new(2, "int64"), new(2 * n * n, "int64")
    launch(collective, suffix, WORLD, src, total, part, gathered, sent, dealt, n - 1)
    equal("reduce", total, every.sum(0))
    equal("reducescatter", part, every.max(0)[2 * me : 2 * me + 2])
    equal("fcollect", gathered, every.ravel())
    equal("broadcast", sent, every[n - 1])
    equal("alltoall", dealt, every[:, 2 * me : 2 * me + 2].ravel())


for each in SUFFIXES:
    moves(each)
    signals(each)
    collectives(each)
words()
atomics()
print("done", flush=True)
nvshmem.core.finalize()
