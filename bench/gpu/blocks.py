"""Flags, put_signal and mailbox messages, one way, between two blocks of one kernel on one GPU, with one PE.

In CUDA C++ (by CuPy), Numba and CuTe DSL. The link is the GPU's own memory, so only the languages' code
differs. It prints one line of JSON for each row.

    atoll run -n 1 python bench/gpu/blocks.py [cupy] [numba] [cute]      all if none is named
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import atoll
import numpy as np
import torch

ROUNDS, BATCHES, WARM = 2000, 15, 20
SIZES = {8: 32, 1024: 128, 16384: 1024}  # bytes: threads
wanted = sys.argv[1:] or ["cupy", "numba", "cute"]
atoll.init()
gpu = atoll.zeros(1, device="cuda").device
torch.cuda.set_device(gpu)
words = atoll.zeros(64, np.int64, device="cuda")
data = atoll.zeros((4, 4096), np.int32, device="cuda")
stream = torch.cuda.Stream(gpu)
handle = stream.cuda_stream
epoch = 1


def measure(side: str, operation: str, nbytes: int, launch: Callable[[int], None]) -> None:
    global epoch
    us = []
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for batch in range(WARM + BATCHES):
        begin.record(stream)
        launch(epoch)
        end.record(stream)
        end.synchronize()
        epoch += ROUNDS
        if batch >= WARM:
            us.append(begin.elapsed_time(end) * 1e3 / ROUNDS / 2)
    us.sort()
    row = {
        "side": side, "op": operation, "bytes": nbytes, "pes": 1, "median_us": round(us[len(us) // 2], 4),
        "p10_us": round(us[len(us) // 10], 4), "p90_us": round(us[-1 - len(us) // 10], 4),
    }  # fmt: skip
    print(json.dumps(row), flush=True)


CODE = r"""
#include <atoll/device/device.hpp>
namespace dev = atl::device;
using Word = unsigned long long;
extern "C" __global__ void flags(dev::Team team, Word* words, Word first, int rounds) {
    const int me = blockIdx.x;
    Word *mine = words + 16 * me, *theirs = words + 16 * (1 - me);
    for (Word i = first; i < first + rounds; ++i) {
        if (me == 0) dev::p(team, theirs, i, 0);
        dev::signal_wait_until(team, mine, dev::Compare::ge, i);
        if (me == 1) dev::p(team, theirs, i, 0);
    }
}
extern "C" __global__ void puts_(dev::Team team, int* data, long long n, Word* words, Word first, int rounds) {
    const int me = blockIdx.x;
    Word *mine = words + 16 * me, *theirs = words + 16 * (1 - me);
    int *dst = data + 4096 * me, *src = data + 4096 * (2 + me);
    for (Word i = first; i < first + rounds; ++i) {
        if (me == 0) dev::put_signal(team, dst, src, n, theirs, i, 0, dev::Block{});
        dev::signal_wait_until(team, mine, dev::Compare::ge, i, dev::Block{});
        if (me == 1) dev::put_signal(team, dst, src, n, theirs, i, 0, dev::Block{});
    }
}
extern "C" __global__ void __launch_bounds__(1024, 1) messages(dev::Team team, dev::Mailbox there, dev::Mailbox back, int* data, long long n, int rounds) {
    const int me = blockIdx.x;
    int *dst = data + 4096 * me, *src = data + 4096 * (2 + me);
    const dev::Mailbox out = me == 0 ? there : back, in = me == 0 ? back : there;
    for (int i = 0; i < rounds; ++i) {
        if (me == 0) dev::post(team, out, src, n, 0, dev::Block{});
        dev::receive(team, in, dst, n, 0, dev::Block{});
        if (me == 1) dev::post(team, out, src, n, 0, dev::Block{});
    }
}
"""


def with_cupy() -> None:
    import atoll.cupy as dev
    import cupy

    cupy.cuda.Device(gpu).use()
    module = dev.RawModule(CODE)
    kernels = {name: module.get_function(name) for name in ("flags", "puts_", "messages")}
    team, rounds, at, to = dev.team(atoll.WORLD), np.int32(ROUNDS), words.cupy(), data.cupy()
    memory = [atoll.zeros(dev.mailbox_bytes(1, 16384), np.uint8, device="cuda") for _ in range(2)]
    boxes = [dev.mailbox(block, 16384) for block in memory]
    with cupy.cuda.ExternalStream(handle):
        call = lambda name, threads, *values: kernels[name]((2,), (threads,), (team, *values))  # noqa: E731
        measure("cuda c++", "flag one way", 8, lambda e: call("flags", 1, at, e, rounds))
        for nbytes, threads in SIZES.items():
            n = nbytes // 4
            measure(
                "cuda c++", "put_signal, block", nbytes,
                lambda e: call("puts_", threads, to, n, at, e, rounds),  # noqa: B023
            )  # fmt: skip
            measure(
                "cuda c++", "post and receive, block", nbytes,
                lambda e: call("messages", threads, *boxes, to, n, rounds),  # noqa: B023
            )  # fmt: skip


def with_numba() -> None:
    import atoll.numba as dev
    from numba import cuda

    @dev.kernel
    def flags(team, words, first, rounds):
        me = cuda.blockIdx.x
        mine, theirs = words[16 * me :], words[16 * (1 - me) :]
        for i in range(first, first + rounds):
            if me == 0:
                dev.p(team, theirs, i, 0)
            dev.signal_wait_until(team, mine, dev.GE, i)
            if me == 1:
                dev.p(team, theirs, i, 0)

    @dev.kernel
    def puts(team, data, n, words, first, rounds):
        me = cuda.blockIdx.x
        mine, theirs = words[16 * me :], words[16 * (1 - me) :]
        dst, src = data[me, :n], data[2 + me, :n]
        for i in range(first, first + rounds):
            if me == 0:
                dev.put_signal(team, dst, src, theirs, i, dev.SET, 0, scope=dev.BLOCK)
            dev.signal_wait_until(team, mine, dev.GE, i, scope=dev.BLOCK)
            if me == 1:
                dev.put_signal(team, dst, src, theirs, i, dev.SET, 0, scope=dev.BLOCK)

    @dev.kernel
    def messages(team, there, back, data, n, rounds):
        me = cuda.blockIdx.x
        dst, src = data[me, :n], data[2 + me, :n]
        for _ in range(rounds):
            if me == 0:
                dev.post(team, there, src, 0, scope=dev.BLOCK)
                dev.receive(team, back, dst, 0, scope=dev.BLOCK)
            else:
                dev.receive(team, there, dst, 0, scope=dev.BLOCK)
                dev.post(team, back, src, 0, scope=dev.BLOCK)

    team, boxes = atoll.WORLD.device("device"), [dev.mailbox(16384, device="cuda") for _ in range(2)]
    measure("numba", "flag one way", 8, lambda e: dev.launch(flags, 2, 1, handle)(team, words, e, ROUNDS))
    for nbytes, threads in SIZES.items():
        n = nbytes // 4
        measure(
            "numba", "put_signal, block", nbytes,
            lambda e: dev.launch(puts, 2, threads, handle)(team, data, n, words, e, ROUNDS),  # noqa: B023
        )  # fmt: skip
        measure(
            "numba", "post and receive, block", nbytes,
            lambda e: dev.launch(messages, 2, threads, handle)(team, *boxes, data, n, ROUNDS),  # noqa: B023
        )  # fmt: skip


def with_cute() -> None:
    global CUstream, Int32, Int64, cute, cutlass, dev  # annotations are resolved there
    import atoll.cute as dev
    import cutlass
    import cutlass.cute as cute
    from cuda.bindings.driver import CUstream
    from cutlass import Int32, Int64

    @cute.kernel
    def flags(team: dev.Team, words: cute.Tensor, first: Int64, rounds: Int32):
        me = cute.arch.block_idx()[0]
        mine, theirs = words.iterator + 16 * me, words.iterator + 16 * (1 - me)
        for k in cutlass.range(rounds, unroll=1):
            if me == 0:
                dev.p(team, theirs, first + k, 0)
            dev.signal_wait_until(team, mine, dev.GE, first + k)
            if me == 1:
                dev.p(team, theirs, first + k, 0)

    @cute.kernel
    def puts(
        team: dev.Team,
        data: cute.Tensor,
        n: cutlass.Constexpr,
        words: cute.Tensor,
        first: Int64,
        rounds: Int32,
    ):
        me = cute.arch.block_idx()[0]
        mine, theirs = words.iterator + 16 * me, words.iterator + 16 * (1 - me)
        row = cute.make_layout(n)
        dst, src = (
            cute.make_tensor(data[me, None].iterator, row),
            cute.make_tensor(data[2 + me, None].iterator, row),
        )
        for k in cutlass.range(rounds, unroll=1):
            if me == 0:
                dev.put_signal(team, dst, src, theirs, first + k, dev.SET, 0, scope=dev.BLOCK)
            dev.signal_wait_until(team, mine, dev.GE, first + k, scope=dev.BLOCK)
            if me == 1:
                dev.put_signal(team, dst, src, theirs, first + k, dev.SET, 0, scope=dev.BLOCK)

    @cute.kernel
    def messages(
        team: dev.Team,
        there: dev.Mailbox,
        back: dev.Mailbox,
        data: cute.Tensor,
        n: cutlass.Constexpr,
        rounds: Int32,
    ):
        me = cute.arch.block_idx()[0]
        row = cute.make_layout(n)
        dst, src = (
            cute.make_tensor(data[me, None].iterator, row),
            cute.make_tensor(data[2 + me, None].iterator, row),
        )
        for _ in cutlass.range(rounds, unroll=1):
            if me == 0:
                dev.post(team, there, src, 0, scope=dev.BLOCK)
                dev.receive(team, back, dst, 0, scope=dev.BLOCK)
            else:
                dev.receive(team, there, dst, 0, scope=dev.BLOCK)
                dev.post(team, back, src, 0, scope=dev.BLOCK)

    @cute.jit
    def go_flags(stream: CUstream, team: dev.Team, words: cute.Tensor, first: Int64, rounds: Int32):
        flags(team, words, first, rounds).launch(grid=[2, 1, 1], block=[1, 1, 1], stream=stream)

    @cute.jit
    def go_puts(
        stream: CUstream, team: dev.Team, data: cute.Tensor, n: cutlass.Constexpr, words: cute.Tensor, first: Int64,
        rounds: Int32, threads: cutlass.Constexpr,
    ):  # fmt: skip
        puts(team, data, n, words, first, rounds).launch(grid=[2, 1, 1], block=[threads, 1, 1], stream=stream)

    @cute.jit
    def go_messages(
        stream: CUstream, team: dev.Team, there: dev.Mailbox, back: dev.Mailbox, data: cute.Tensor, n: cutlass.Constexpr,
        rounds: Int32, threads: cutlass.Constexpr,
    ):  # fmt: skip
        messages(team, there, back, data, n, rounds).launch(
            grid=[2, 1, 1], block=[threads, 1, 1], stream=stream
        )

    on, team, rounds = CUstream(handle), dev.team(atoll.WORLD), Int32(ROUNDS)
    at, to = dev.tensor(words.torch()), dev.tensor(data.torch(), 16)
    memory = [atoll.zeros(dev.mailbox_bytes(1, 16384), np.uint8, device="cuda") for _ in range(2)]
    boxes = [dev.mailbox(block, 16384) for block in memory]
    made = cute.compile(go_flags, on, team, at, Int64(1), rounds)
    measure("cute", "flag one way", 8, lambda e: made(on, team, at, Int64(e), rounds))
    for nbytes, threads in SIZES.items():
        n = nbytes // 4
        put = cute.compile(go_puts, on, team, to, n, at, Int64(1), rounds, threads)
        measure("cute", "put_signal, block", nbytes, lambda e: put(on, team, to, at, Int64(e), rounds))  # noqa: B023
        send = cute.compile(go_messages, on, team, *boxes, to, n, rounds, threads)
        measure("cute", "post and receive, block", nbytes, lambda e: send(on, team, *boxes, to, rounds))  # noqa: B023


for name in wanted:
    {"cupy": with_cupy, "numba": with_numba, "cute": with_cute}[name]()
atoll.finalize()
