"""Kernels in Numba by NVSHMEM4Py's names, as its users write them.

    nvshmem_numba.py [cuda | ptx] [mlir] [SUFFIX...]

Without a word numba.njit compiles them for the host, where a kernel is one thread. With `ptx` they are compiled for a
GPU, which is not needed. With `mlir` the compiler for GPUs is numba-cuda-mlir. SUFFIX: "_block" or "_warp", or "thread" for names without one; all three by default.
"""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace
from typing import Any

import atoll.compat

atoll.compat.install("nvshmem")

import atoll.numba as dev  # noqa: E402
import numpy as np  # noqa: E402
import nvshmem.core  # noqa: E402
from nvshmem.core import ComparisonType, SignalOp, Teams  # noqa: E402

CUDA, PTX, MLIR = ("cuda" in sys.argv, "ptx" in sys.argv, "mlir" in sys.argv)
if CUDA or PTX:
    import numba
if MLIR:
    import nvshmem.core.device.numba_cuda_mlir as nv
    from numba_cuda_mlir import cuda
else:
    import nvshmem.core.device.numba as nv
    from numba import cuda
# Device functions are compiled for the GPU at hand; `ptx` needs no GPU.
if PTX and MLIR:
    import numba_cuda_mlir.tools
    from atoll.numba._dsl._mlir._kinds import back

    numba_cuda_mlir.tools._cached_cc = (9, 0)
elif PTX:
    import numba.cuda.dispatcher

    numba.cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))
THREADS = {"": 1, "_warp": 32, "_block": 64}
SUFFIXES = ["" if one == "thread" else one for one in sys.argv[1:] if one not in ("cuda", "ptx", "mlir")] or [
    *THREADS
]
WORLD = Teams.TEAM_WORLD


def jit(function: Any) -> Any:
    if PTX:
        return function
    # On the host one PE compiles, and the others load what it kept.
    return cuda.jit(function) if CUDA else dev.kernel(function, cache=True).host


def launch(kernel: Any, suffix: str, *arguments: Any) -> None:
    """Run a kernel on all PEs, by one thread, a warp or a block, and wait for all of them."""
    if PTX:
        types = tuple(map(numba.typeof, arguments))
        types = tuple(map(back, types)) if MLIR else types
        ptx, _ = cuda.compile(kernel, types, device=False, cc=(9, 0), output="ptx", abi="numba")
        called = set(re.findall(r"\bcall\.uni\s+(?:\(\w+\),\s*)?(\w+)", str(ptx)))
        assert ".entry" in str(ptx)
        assert all(one.startswith("atoll_") or one == "vprintf" for one in called), f"not inlined: {called}"
    elif CUDA:
        kernel[1, THREADS[suffix]](*arguments)
        cuda.synchronize()
    else:
        kernel(*arguments)
    nvshmem.core.barrier_all()


nvshmem.core.init(initializer_method="mpi")
me, n = nvshmem.core.my_pe(), nvshmem.core.n_pes()
right, left = (me + 1) % n, (me - 1) % n


def new(shape: Any, dtype: str, values: Any = 0) -> Any:
    x = nvshmem.core.array(shape, dtype=dtype)
    if CUDA:
        cuda.select_device(getattr(x.device, "id", x.device))
    filled = np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype), x.shape))
    if hasattr(x, "set"):  # CuPy's
        x.set(filled)
    else:
        x[...] = filled
    nvshmem.core.barrier_all()
    return x


def equal(what: str, x: Any, wanted: Any) -> None:
    if PTX:
        return
    found = x.get() if hasattr(x, "get") else np.array(x.numpy() if CUDA else x)
    assert np.array_equal(found, np.broadcast_to(wanted, found.shape)), (me, what, found, wanted)
    nvshmem.core.barrier_all()


def name(base: str, suffix: str) -> Any:
    return getattr(nv, base + suffix)


def moves(suffix: str) -> None:
    put, get, put_nbi, get_nbi = (name(base, suffix) for base in ("put", "get", "put_nbi", "get_nbi"))
    barrier_all = name("barrier_all", suffix)

    @jit
    def move(a, b, c, d, src, pe):
        put(a, src, pe)
        put_nbi(b, src[:5], pe)
        barrier_all()
        get(c, src, pe)
        get_nbi(d[:5], src, pe)

    src = new(20, "int64", np.arange(20) + 100 * me)
    a, b, c, d = (new(20, "int64") for _ in range(4))
    launch(move, suffix, a, b, c, d, src, right)
    part = np.arange(20) < 5
    equal("put", a, np.arange(20) + 100 * left)
    equal("put_nbi", b, np.where(part, np.arange(20) + 100 * left, 0))
    equal("get", c, np.arange(20) + 100 * right)
    equal("get_nbi", d, np.where(part, np.arange(20) + 100 * right, 0))


def signals(suffix: str) -> None:
    put_signal, put_signal_nbi = name("put_signal", suffix), name("put_signal_nbi", suffix)

    @jit
    def exchange(x, y, src, words, seen, pe, op):
        put_signal(x, src, words[0:1], 7, SignalOp.SIGNAL_SET, pe)
        put_signal_nbi(y, src, words[1:2], 3, op, pe)
        seen[0] = nv.signal_wait(words[0:1], ComparisonType.CMP_EQ, 7)
        nv.signal_wait(words[1:2], ComparisonType.CMP_GE, 3)

    src, words, seen = new(9, "int64", me), new(2, "uint64"), new(1, "int64")
    x, y = new(9, "int64"), new(9, "int64")
    launch(exchange, suffix, x, y, src, words, seen, right, int(SignalOp.SIGNAL_ADD))
    equal("put_signal", x, left)
    equal("put_signal_nbi", y, left)
    equal("signals", words, [7, 3])
    equal("signal_wait", seen, 7)


def words() -> None:
    """Single words, signals alone, comparisons that the compiler does not know, and numbers of PEs."""

    @jit
    def single(x, src, words, found, pe, cmp, team):
        nv.p(x, np.float32(2.5), pe)
        nv.p(x[1:], src, pe)
        nv.signal_op(words, 5, SignalOp.SIGNAL_SET, pe)
        nv.signal_op(words[1:], 2, SignalOp.SIGNAL_ADD, pe)
        nv.signal_wait(words[1:], cmp, 1)
        nv.sync_all()
        found[0], found[1] = nv.my_pe(), nv.n_pes()
        found[2], found[3] = nv.team_my_pe(team), nv.team_n_pes(team)
        found[4] = nv.team_n_pes(99)
        found[5] = int(nv.g(x, pe) * 2)
        nv.get_peer_array(x, pe)[2] = 9
        found[6], found[7], found[8] = nv.ask_smem(0), nv.ask_smem(1), nv.ask_smem(2)
        nv.release_smem()

    alone = [nvshmem.core.team_split_strided(WORLD, pe, 1, 1, None, 0) for pe in range(n)][me]
    x, src, found = new(3, "float32"), new(1, "float32", me), new(9, "int64")
    signals = new(2, "uint64")
    launch(single, "", x, src, signals, found, right, int(ComparisonType.CMP_GT), alone)
    equal("p", x, [2.5, left, 9])
    equal("signal_op", signals, [5, 2])
    equal("numbers", found, [me, n, 0, 1, -1, 5, 65536, 32768, 1024])
    nvshmem.core.team_destroy(alone)


def atomics() -> None:
    @jit
    def update(x, f, found, pe):
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
        nv.atomic_set(f, np.float32(0.5), pe)
        nv.atomic_add(f, np.float32(0.25), pe)

    x, f, found = new(1, "int64"), new(1, "float32"), new(9, "int64")
    launch(update, "", x, f, found, right)
    equal("atomics", found, [0, 2, 17, 17, 12, 13, 13, 8, 27])
    equal("the word", x, 24)
    equal("the float", f, 0.75)


def gathered(suffix: str) -> None:
    sync, barrier, sync_all = (name(one, suffix) for one in ("sync", "barrier", "sync_all"))
    reduce, fcollect, broadcast = (name(one, suffix) for one in ("reduce", "fcollect", "broadcast"))

    @jit
    def gather(team, src, total, every, sent, root):
        sync(team)
        reduce(team, total, src, "sum")
        fcollect(team, every, src)
        broadcast(team, sent, src, root)
        sync_all()
        barrier(team)

    mine = np.arange(2 * n) + 10 * me
    every = np.array([np.arange(2 * n) + 10 * pe for pe in range(n)])
    src, total, sent = new(2 * n, "int64", mine), new(2 * n, "int64"), new(2 * n - 1, "int64")
    all_of_them = new((n, 2 * n), "int64")
    launch(gather, suffix, WORLD, src, total, all_of_them, sent, n - 1)
    equal("reduce", total, every.sum(0))
    equal("fcollect", all_of_them, every)
    equal("broadcast of fewer elements", sent, every[n - 1][:-1])


def dealt(suffix: str) -> None:
    reduce, reducescatter, alltoall = (name(one, suffix) for one in ("reduce", "reducescatter", "alltoall"))

    @jit
    def deal(team, src, least, part, dealt):
        reduce(team, least, src, "min")
        reducescatter(team, part, src, "sum")
        alltoall(team, dealt, src)

    every = np.array([np.arange(2 * n) + 10 * pe for pe in range(n)])
    src, least, exchanged = new(2 * n, "int64", every[me]), new(2 * n, "int64"), new(2 * n, "int64")
    part = new(2, "int64")
    launch(deal, suffix, WORLD, src, least, part, exchanged)
    equal("reduce by min", least, every.min(0))
    equal("reducescatter", part, every.sum(0)[2 * me : 2 * me + 2])
    equal("alltoall", exchanged, every[:, 2 * me : 2 * me + 2].ravel())


def many(suffix: str) -> None:
    """A reduction of more elements than the exchange of small messages takes."""
    reduce = name("reduce", suffix)

    @jit
    def large(team, dst, src):
        reduce(team, dst, src, "max")

    size = 1 << 16
    src, dst = new(size, "float32", np.arange(size) % 1000 + me), new(size, "float32")
    launch(large, suffix, WORLD, dst, src)
    equal("a large reduction", dst, np.arange(size) % 1000 + n - 1)


for each in SUFFIXES:
    moves(each)
    signals(each)
    gathered(each)
    if CUDA or PTX:  # on the host they would take as long as all others to compile
        dealt(each)
if CUDA:
    many(SUFFIXES[-1])
words()
atomics()
print("done", flush=True)
nvshmem.core.finalize()
