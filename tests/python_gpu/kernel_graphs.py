"""Kernels of Numba, Triton and CuPy that communicate, captured in graphs of PyTorch and CuPy and replayed.

Also Triton kernels in torch.compile.
"""

import atoll
import numpy as np
import torch

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
gpu = atoll.zeros(1, device="cuda").device
torch.cuda.set_device(gpu)

import atoll.cupy as in_cupy  # noqa: E402
import atoll.numba as in_numba  # noqa: E402
import atoll.triton as in_triton  # noqa: E402
import cupy  # noqa: E402
import numba.cuda  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from atoll.triton.inductor import ADD, put_signal, signal_consume, sync, team_at, team_tensor  # noqa: E402

numba.cuda.select_device(gpu)
cupy.cuda.Device(gpu).use()
SIZE, REPLAYS = 500, 25
passed = []


@in_numba.kernel
def numba_step(team, x, src, flag):
    """The left neighbour's data arrive, one is added, and the next call sends them on."""
    right = (team.my_pe + 1) % team.n_pes
    in_numba.put_signal(team, x, src, flag, 1, in_numba.ADD, right, scope=in_numba.BLOCK)
    in_numba.signal_consume(team, flag, 1, scope=in_numba.BLOCK)
    for i in range(in_numba.rank(in_numba.BLOCK), x.size, in_numba.size(in_numba.BLOCK)):
        src[i] = x[i] + 1
    in_numba.sync(team, scope=in_numba.BLOCK)


@in_triton.kernel
def triton_step(team, x, src, flag, N: tl.constexpr):
    right = (team.my_pe + 1) % team.n_pes
    in_triton.put_signal(team, x, src, N, flag, 1, in_triton.ADD, right)
    in_triton.signal_consume(team, flag, 1)
    at = tl.arange(0, 512)
    tl.store(src + at, tl.load(x + at, mask=at < N, volatile=True) + 1, mask=at < N)
    in_triton.sync(team)


CODE = r"""
#include <atoll/device/device.hpp>
namespace dev = atl::device;
extern "C" __global__ void step(dev::Team team, float* x, float* src, long long n, unsigned long long* flag) {
    dev::put_signal(team, x, src, n, flag, 1ull, dev::SignalOp::add, (team.my_pe + 1) % team.n_pes, dev::Block{});
    dev::signal_consume(team, flag, 1ull, dev::Block{});
    for (long long i = threadIdx.x; i < n; i += blockDim.x) src[i] = x[i] + 1;
    dev::sync(team, dev::Block{});
}
"""
cupy_step = in_cupy.RawModule(CODE).get_function("step")
team = atoll.WORLD.device("device")


class Arrays:
    def __init__(self):
        self.x = atoll.zeros(SIZE, np.float32, device="cuda", xp=torch)
        self.src = atoll.full(SIZE, float(me), np.float32, device="cuda", xp=torch)
        self.flag = atoll.zeros(1, np.int64, device="cuda", xp=torch)

    def check(self, what, steps):
        torch.cuda.synchronize()
        cupy.cuda.runtime.deviceSynchronize()
        wanted = (me - steps) % n + steps
        assert (self.src == wanted).all(), (me, what, self.src, wanted)
        assert self.flag.item() == 0, (what, self.flag)
        passed.append(what)
        atoll.barrier_all()


def start_numba(a, stream):
    in_numba.launch(numba_step, 1, 128, stream)(team, a.x, a.src, a.flag)


def start_triton(a, stream):
    triton_step[(1,)](team, a.x, a.src, a.flag, SIZE)


def start_cupy(a, stream):
    with cupy.cuda.ExternalStream(stream):
        arguments = (in_cupy.team(team), a.x.data_ptr(), a.src.data_ptr(), SIZE, a.flag.data_ptr())
        cupy_step((1,), (128,), arguments)


for start in (start_numba, start_triton, start_cupy):
    a = Arrays()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        start(a, side.cuda_stream)  # compiles
    torch.cuda.synchronize()
    atoll.barrier_all()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        start(a, torch.cuda.current_stream().cuda_stream)
        start(a, torch.cuda.current_stream().cuda_stream)
    for _ in range(REPLAYS):
        graph.replay()
    a.check(f"{start.__name__} in torch.cuda.graph", 1 + 2 * REPLAYS)

    a = Arrays()
    atoll.barrier_all()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream, torch.cuda.stream(torch.cuda.ExternalStream(stream.ptr)):
        stream.begin_capture()
        start(a, stream.ptr)
        captured = stream.end_capture()
        for _ in range(REPLAYS):
            captured.launch(stream)
    a.check(f"{start.__name__} in CuPy's capture", REPLAYS)

# ---- torch.compile: by custom_op, and by triton_op, whose kernels Inductor copies: names from
# atoll.triton.inductor.


@torch.library.custom_op("atoll_test::step", mutates_args=("x", "src", "flag"))
def custom_step(x: torch.Tensor, src: torch.Tensor, flag: torch.Tensor) -> None:
    triton_step[(1,)](team, x, src, flag, SIZE)


@triton.jit
def inductor_step(state, x, src, flag, N: tl.constexpr):
    team = team_at(state)
    right = (team.my_pe + 1) % team.n_pes
    put_signal(team, x, src, N, flag, 1, ADD, right)
    signal_consume(team, flag, 1)
    at = tl.arange(0, 512)
    tl.store(src + at, tl.load(x + at, mask=at < N, volatile=True) + 1, mask=at < N)
    sync(team)


@torch.library.triton_op("atoll_test::inductor_step", mutates_args={"x", "src", "flag"})
def triton_op_step(state: torch.Tensor, x: torch.Tensor, src: torch.Tensor, flag: torch.Tensor) -> None:
    torch.library.wrap_triton(inductor_step)[(1,)](state, x, src, flag, SIZE)


@torch.compile(fullgraph=True)
def by_custom_op(state, x, src, flag):
    custom_step(x, src, flag)
    src.mul_(2)
    return src.sum()


@torch.compile(fullgraph=True)
def by_triton_op(state, x, src, flag):
    triton_op_step(state, x, src, flag)
    src.mul_(2)
    return src.sum()


state = team_tensor(atoll.WORLD)
for compiled in (by_custom_op, by_triton_op):
    a = Arrays()
    wanted = [float(pe) for pe in range(n)]
    for _ in range(3):
        total = compiled(state, a.x, a.src, a.flag).item()
        wanted = [2 * (wanted[(pe - 1) % n] + 1) for pe in range(n)]
        assert total == SIZE * wanted[me], (me, compiled, total, wanted)
    assert (a.src == wanted[me]).all()
    passed.append(f"{compiled.__name__} in torch.compile")
    atoll.barrier_all()

if me == 0:
    print(len(passed), "passed:", "; ".join(passed))
atoll.finalize()
