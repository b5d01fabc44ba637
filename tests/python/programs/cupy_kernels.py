"""atoll.cupy: kernels in CUDA C++ on real GPUs, compiled by NVRTC with our headers; needs two PEs or more."""

from __future__ import annotations

import atoll
import atoll.cupy
import cupy
import numpy as np
from checks import equal, raises, run

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n

CODE = r"""
#include <atoll/device/device.hpp>
namespace dev = atl::device;

extern "C" __global__ void ring(dev::Team team, float* x, const float* src, long long n, unsigned long long* flag) {
    const int right = (team.my_pe + 1) % team.n_pes;
    dev::put_signal(team, x, src, n, flag, 5ull, right, dev::Block{});
    dev::signal_wait_until(team, flag, dev::Compare::ge, 5ull, dev::Block{});
}
extern "C" __global__ void boxes(dev::Team team, dev::Mailbox box, int* dst, const int* src, long long n) {
    dev::post(team, box, src, n, (team.my_pe + 1) % team.n_pes, dev::Block{});
    dev::receive(team, box, dst, n, (team.my_pe + team.n_pes - 1) % team.n_pes, dev::Block{});
}
extern "C" __global__ void sums(dev::Team team, double* dst, const double* src, long long n) {
    dev::reduce(team, dst, src, n, dev::Sum{}, dev::Grid{team});
}
extern "C" __global__ void pieces(dev::Team team, float* x, const float* src, unsigned long long* flag) {
    const int right = (team.my_pe + 1) % team.n_pes;
    dev::put_nbi(team, x, src, 4, right, dev::Block{});
    dev::fence(team, dev::Block{});
    dev::flush(team, dev::Block{});
    if (dev::Block{}.rank() == 0) *dev::peer(team, x + 4, right) = src[4];
    dev::put_signal_nbi(team, x + 5, src + 5, 3, flag, 1ull, dev::SignalOp::add, right, dev::Block{});
    dev::signal_wait_until(team, flag, dev::Compare::eq, 1ull, dev::Block{});
}
template <class T> __global__ void add(dev::Team team, T* x) { dev::atomic_add(team, x, T{2}, 0); }
"""
module = atoll.cupy.RawModule(CODE, name_expressions=["add<int>", "add<double>"])
module_of = module.get_function
gpu = atoll.zeros(1, np.int32, device="cuda").device
cupy.cuda.Device(gpu).use()


def done() -> None:
    cupy.cuda.runtime.deviceSynchronize()
    atoll.barrier_all()


def check_ring() -> None:
    x = atoll.zeros(1000, np.float32, device="cuda", xp=cupy)
    flag = atoll.zeros(1, np.uint64, device="cuda")
    src = cupy.arange(1000, dtype=np.float32) + me
    atoll.cupy.launch(module_of("ring"), 1, 128, atoll.WORLD, x, src, 1000, flag)
    done()
    equal(x.get(), np.arange(1000, dtype=np.float32) + left)


def check_the_plain_call_of_cupy() -> None:
    x = atoll.zeros(10, np.float32, device="cuda", xp=cupy)
    flag = atoll.zeros(1, np.uint64, device="cuda", xp=cupy)
    src = cupy.full(10, me, np.float32)
    module_of("ring")((1,), (32,), (atoll.cupy.team(atoll.WORLD), x, src, 10, flag))
    done()
    equal(x.get(), np.full(10, left, np.float32))


def check_pieces() -> None:
    x = atoll.zeros(8, np.float32, device="cuda", xp=cupy)
    flag = atoll.zeros(1, np.uint64, device="cuda")
    atoll.cupy.launch(module_of("pieces"), 1, 64, atoll.WORLD, x, cupy.arange(8, dtype=np.float32) + me, flag)
    done()
    equal(x.get(), np.arange(8, dtype=np.float32) + left)


def check_mailbox() -> None:
    block = atoll.zeros(atoll.cupy.mailbox_bytes(n, 400), np.uint8, device="cuda")
    dst, src = cupy.zeros(100, np.int32), cupy.arange(100, dtype=np.int32) * (me + 1)
    box = atoll.cupy.mailbox(block, 400)
    for _ in range(20):
        atoll.cupy.launch(module_of("boxes"), 1, 64, atoll.WORLD, box, dst, src, 100)
    done()
    equal(dst.get(), np.arange(100, dtype=np.int32) * (left + 1))


def check_resident_grids() -> None:
    src = atoll.array(np.arange(5000.0) + me, device="cuda", xp=cupy)
    dst = atoll.zeros(5000, device="cuda", xp=cupy)
    sums = module_of("sums")
    atoll.cupy.launch(sums, 8, 128, atoll.WORLD, dst, src, 5000, cooperative=True)
    done()
    equal(dst.get(), np.arange(5000.0) * n + n * (n - 1) / 2)
    most = atoll.cupy.most_resident_blocks(sums, 128)
    raises(
        ValueError,
        lambda: atoll.cupy.launch(sums, most + 1, 128, atoll.WORLD, dst, src, 5000, cooperative=True),
        "cannot run at once",
    )


def check_templates() -> None:
    for kind, dtype in (("int", np.int32), ("double", np.float64)):
        x = atoll.zeros(1, dtype, device="cuda", xp=cupy)
        atoll.cupy.launch(module_of(f"add<{kind}>"), 2, 32, atoll.WORLD, x)
        done()
        assert x.get()[0] == (2 * 64 * n if me == 0 else 0)


def check_bad_arguments() -> None:
    raises(
        TypeError,
        lambda: atoll.cupy.launch(module_of("sums"), 1, 1, atoll.WORLD, np.zeros(3), np.zeros(3), 3),
        "NumPy",
    )
    raises(TypeError, lambda: atoll.cupy.team(3), "pass an atoll.Team")


run(globals())
