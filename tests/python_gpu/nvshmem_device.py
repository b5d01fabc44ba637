"""Kernels by NVSHMEM4Py's names on GPUs, as its users write them: in Numba, and in CuTe DSL if that is installed.

It first runs the conformance programs of tests/python/programs, each between an init() and a finalize(), then kernels with
several blocks, streams and NVSHMEM4Py's documented examples.
"""

import importlib.util
import runpy
import sys
from pathlib import Path

import atoll.compat

atoll.compat.install("nvshmem")

PROGRAMS = Path(__file__).resolve().parents[1] / "python/programs"
sys.argv = ["nvshmem_numba.py", "cuda"]
runpy.run_path(str(PROGRAMS / "nvshmem_numba.py"), run_name="__main__")
if importlib.util.find_spec("cutlass") is not None:
    sys.argv = ["nvshmem_cute.py"]
    runpy.run_path(str(PROGRAMS / "nvshmem_cute.py"), run_name="__main__")
else:
    print("CuTe DSL is not installed: nvshmem_cute.py did not run")

sys.path.insert(0, str(PROGRAMS.parent))
from ported import PROGRAMS as OF_THE_PAGE  # noqa: E402

exec(compile(OF_THE_PAGE["unchanged_kernel.py"], "unchanged_kernel.py", "exec"), {"__name__": "__main__"})

import numpy as np  # noqa: E402
import nvshmem.core  # noqa: E402
import nvshmem.core.device.numba as nvshmem_numba  # noqa: E402
from numba import cuda  # noqa: E402
from nvshmem.core import ComparisonType, SignalOp, Teams  # noqa: E402
from nvshmem.core.device.numba import (  # noqa: E402
    barrier_all_block,
    fcollect_block,
    g,
    my_pe,
    n_pes,
    put_signal_nbi,
    signal_wait,
)

SIGNAL_ADD, CMP_GE = SignalOp.SIGNAL_ADD, ComparisonType.CMP_GE


@cuda.jit
def rma_kernel(src, dst, remote_buf, pe):
    tid = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if tid == 0:
        nvshmem_numba.put(remote_buf, src, pe)
        nvshmem_numba.get(dst, remote_buf, pe)


@cuda.jit
def collective_kernel(team, buf, root):
    if cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x == 0:
        nvshmem_numba.barrier_all()
        nvshmem_numba.broadcast(team, buf, buf, root)


@cuda.jit
def ring_reduce(dst, src, signal, chunk):
    """A sum that goes around the PEs by chunks, and around again: each block has its part and its signal."""
    me, n = my_pe(), n_pes()
    right = (me + 1) % n
    thread, block = cuda.threadIdx.x, cuda.blockIdx.x
    each = dst.size // cuda.gridDim.x
    mine = signal[block : block + 1]
    chunks = each // chunk
    for k in range(chunks):
        begin = block * each + k * chunk
        here, own = dst[begin : begin + chunk], src[begin : begin + chunk]
        if me != 0:
            if thread == 0:
                signal_wait(mine, CMP_GE, k + 1)
            cuda.syncthreads()
            for i in range(thread, chunk, cuda.blockDim.x):
                here[i] = here[i] + own[i]
            cuda.syncthreads()
        if thread == 0:
            put_signal_nbi(here, own if me == 0 else here, mine, 1, SIGNAL_ADD, right)
    if thread == 0:
        for k in range(chunks):
            begin = block * each + k * chunk
            here = dst[begin : begin + chunk]
            if me < n - 1:
                signal_wait(mine, CMP_GE, k + 1 if me == 0 else chunks + k + 1)
            if me < n - 2:
                put_signal_nbi(here, here, mine, 1, SIGNAL_ADD, right)
        mine[0] = 0


@cuda.jit
def offsets(team, counts, everyone, before):
    fcollect_block(team, everyone, counts)
    barrier_all_block()
    i = cuda.threadIdx.x
    if i < counts.size:
        total = 0
        for pe in range(my_pe()):
            total += g(counts[i : i + 1], pe)
        before[i] = total


@cuda.jit
def of_no_team(team):
    nvshmem_numba.sync(team)


nvshmem.core.init(initializer_method="mpi")
me, n = nvshmem.core.my_pe(), nvshmem.core.n_pes()
right, left = (me + 1) % n, (me - 1) % n
passed = []


def new(shape, dtype, values=0):
    x = nvshmem.core.array(shape, dtype=dtype)
    cuda.select_device(getattr(x.device, "id", x.device))
    cuda.as_cuda_array(x).copy_to_device(
        np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype), x.shape))
    )
    return x


def check(what, x, expected):
    cuda.synchronize()
    nvshmem.core.barrier_all()
    found = cuda.as_cuda_array(x).copy_to_host()
    assert np.array_equal(found, np.broadcast_to(expected, found.shape)), (me, what, found, expected)
    passed.append(what)
    nvshmem.core.barrier_all()


src, dst, remote = new(1, "int32", me), new(1, "int32"), new(1, "int32")
stream = cuda.stream()
cuda.synchronize()
nvshmem.core.barrier_all()
rma_kernel[1, 32, stream](src, dst, remote, right)
check("put and get: remote", remote, left)
check("put and get: dst", dst, me)
buf = new(1, "int32", 42 if me == 0 else 0)
collective_kernel[1, 32](Teams.TEAM_WORLD, buf, 0)
check("broadcast in place", buf, 42)

blocks, size = 8, 4096
src, dst, signal = new(size, "int32", me + 1), new(size, "int32"), new(blocks, "uint64")
cuda.synchronize()
nvshmem.core.barrier_all()
for turn in range(3):
    ring_reduce[blocks, 128](dst, src, signal, 64)
    check(f"ring {turn}", dst, n * (n + 1) // 2)

counts, everyone, before = new(4, "int64", me + 1), new((n, 4), "int64"), new(4, "int64")
cuda.synchronize()
nvshmem.core.barrier_all()
offsets[1, 32](Teams.TEAM_WORLD, counts, everyone, before)
check("offsets", before, me * (me + 1) // 2)
check("fcollect", everyone, np.arange(1, n + 1)[:, None])

# A compiled kernel outlives the job: the table of teams stays at its address.
nvshmem.core.finalize()
nvshmem.core.init(initializer_method="mpi")
src, dst, remote = new(1, "int32", me + 5), new(1, "int32"), new(1, "int32")
cuda.synchronize()
nvshmem.core.barrier_all()
rma_kernel[1, 32](src, dst, remote, right)
check("after another init", remote, left + 5)
assert len(rma_kernel.overloads) == 1, "the kernel was compiled again"

try:
    cuda.jit(cache=True)(of_no_team.py_func)[1, 1](Teams.TEAM_WORLD)
except Exception as error:
    assert "Cannot serialize" in str(error), error
    passed.append("a cached kernel is refused")
else:
    raise AssertionError("a cached kernel was accepted")
check("at the end", remote, left + 5)
print(f"PE {me}: {len(passed)} checks passed, n_pes {n}", flush=True)
nvshmem.core.finalize()
