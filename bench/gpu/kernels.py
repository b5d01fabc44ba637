"""Inside one kernel a PE, two PEs, from Python: a flag, put_signal and mailbox messages one way, and sync, written in
Numba (by numba-cuda, and by numba-cuda-mlir), Triton, CuTe DSL and CuPy (CUDA C++ by NVRTC). bench/gpu/flag.cu and team.cu are the same in CUDA C++ by nvcc. PE 0 prints; one
line of JSON a row.

    atoll run -n 2 python bench/gpu/kernels.py [numba] [triton] [cupy] [cute] [mlir]      the first three if none is named
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable

import atoll
import numpy as np
import torch

ROUNDS, BATCHES, WARM = 4000, 9, 20
AHEAD = 4_000_000  # clocks, some 2 ms: the GPU is kept busy until the kernel is enqueued, so that only the kernel is timed
SIZES = {8: 32, 1024: 128, 16384: 1024, 65536: 1024}  # bytes: threads
wanted = [name for name in sys.argv[1:] if not name.startswith("-")] or ["numba", "triton", "cupy"]

atoll.init()
me = atoll.my_pe()
gpu = atoll.zeros(1, device="cuda").device
torch.cuda.set_device(gpu)
stream = torch.cuda.Stream(gpu)
handle = stream.cuda_stream
words = atoll.zeros(64, np.int64, device="cuda")
block = atoll.zeros((2, 65536 // 4), np.int32, device="cuda")
dst, src = block[0], block[1]
floats = atoll.zeros((2, 16384), np.float32, device="cuda")
matrix = atoll.zeros((2, 64, 256), np.float32, device="cuda")
REDUCED = (2, 512, 16384)
TILES = (4, 64)  # rows of 64 elements of a matrix of 256 columns
epoch = 1


def measure(side: str, operation: str, nbytes: int, calls: int, launch: Callable[[int], None]) -> None:
    """`calls` of what one round does: 2 where one way is half of a round."""
    global epoch
    us = []
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for warm in range(
        WARM
    ):  # compiles, and brings the clocks up: a GPU that waited for a compiler is slow for a while
        if warm < 2:
            atoll.barrier_all()
        launch(epoch)
        epoch += ROUNDS
    stream.synchronize()
    for _ in range(BATCHES):
        atoll.barrier_all()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(AHEAD)
        begin.record(stream)
        launch(epoch)
        end.record(stream)
        end.synchronize()
        epoch += ROUNDS
        us.append(begin.elapsed_time(end) * 1e3 / ROUNDS / calls)
    us.sort()
    row = {
        "side": side, "op": operation, "bytes": nbytes, "pes": 2, "median_us": round(us[len(us) // 2], 4),
        "p10_us": round(us[len(us) // 10], 4), "p90_us": round(us[-1 - len(us) // 10], 4),
    }  # fmt: skip
    if me == 0:
        print(json.dumps(row), flush=True)


def with_numba(language: str = "numba", compiler: str = "numba-cuda") -> None:
    import atoll.numba as dev

    kernel = functools.partial(dev.kernel, compiler=compiler)

    @kernel
    def flags(team, flag, first, rounds):
        peer = 1 - team.my_pe
        for i in range(first, first + rounds):
            if team.my_pe == 0:
                dev.p(team, flag, i, peer)
            dev.signal_wait_until(team, flag, dev.GE, i)
            if team.my_pe == 1:
                dev.p(team, flag, i, peer)

    @kernel
    def puts(team, dst, src, flag, first, rounds):
        peer = 1 - team.my_pe
        for i in range(first, first + rounds):
            if team.my_pe == 0:
                dev.put_signal(team, dst, src, flag, i, dev.SET, peer, scope=dev.BLOCK)
            dev.signal_wait_until(team, flag, dev.GE, i, scope=dev.BLOCK)
            if team.my_pe == 1:
                dev.put_signal(team, dst, src, flag, i, dev.SET, peer, scope=dev.BLOCK)

    @kernel
    def messages(team, box, dst, src, rounds):
        peer = 1 - team.my_pe
        for _ in range(rounds):
            if team.my_pe == 0:
                dev.post(team, box, src, peer, scope=dev.BLOCK)
            dev.receive(team, box, dst, peer, scope=dev.BLOCK)
            if team.my_pe == 1:
                dev.post(team, box, src, peer, scope=dev.BLOCK)

    @kernel
    def ways(team, box, dst, src, rounds):
        peer = 1 - team.my_pe
        out, come = dev.outbox(team, box, peer, dev.BLOCK), dev.inbox(team, box, peer, dev.BLOCK)
        for _ in range(rounds):
            if team.my_pe == 0:
                out = dev.post_next(out, src)
            come = dev.receive_next(come, dst)
            if team.my_pe == 1:
                out = dev.post_next(out, src)
        dev.close(out)
        dev.close(come)

    @kernel
    def tiles(team, dst, src, flag, first, rounds):
        peer = 1 - team.my_pe
        for i in range(first, first + rounds):
            if team.my_pe == 0:
                dev.tile_put(team, dst, src, peer, scope=dev.BLOCK)
                if dev.rank(dev.BLOCK) == 0:
                    dev.signal_set(team, flag, i, peer)
            dev.signal_wait_until(team, flag, dev.GE, i, scope=dev.BLOCK)
            if team.my_pe == 1:
                dev.tile_put(team, dst, src, peer, scope=dev.BLOCK)
                if dev.rank(dev.BLOCK) == 0:
                    dev.signal_set(team, flag, i, peer)

    @kernel
    def syncs(team, rounds):
        for _ in range(rounds):
            dev.sync(team, scope=dev.BLOCK)

    @kernel
    def meetings(team, rounds):
        met = dev.meeting(team, dev.BLOCK)
        for _ in range(rounds):
            met = dev.sync_next(met)
        dev.close(met)

    team = atoll.WORLD.device("device")
    box = dev.mailbox(65536, device="cuda")
    flag = words[:1]
    measure(language, "flag one way", 8, 2, lambda e: dev.launch(flags, 1, 1, handle)(team, flag, e, ROUNDS))
    for nbytes, threads in SIZES.items():
        to, source = dst[: nbytes // 4], src[: nbytes // 4]
        measure(
            language, "put_signal, block", nbytes, 2,
            lambda e: dev.launch(puts, 1, threads, handle)(team, to, source, flag, e, ROUNDS),  # noqa: B023
        )  # fmt: skip
        measure(
            language, "post and receive, block", nbytes, 2,
            lambda e: dev.launch(messages, 1, threads, handle)(team, box, to, source, ROUNDS),  # noqa: B023
        )  # fmt: skip
        measure(
            language, "outbox and inbox, block", nbytes, 2,
            lambda e: dev.launch(ways, 1, threads, handle)(team, box, to, source, ROUNDS),  # noqa: B023
        )  # fmt: skip
    for rows in TILES:
        to, source = matrix[0, :rows, :64], matrix[1, :rows, :64]
        measure(
            language, "tile_put with signal, block", 256 * rows, 2,
            lambda e: dev.launch(tiles, 1, 256, handle)(team, to, source, flag, e, ROUNDS),  # noqa: B023
        )  # fmt: skip

    @kernel
    def tile_reduces(team, dst, src, rounds):
        for _ in range(rounds):
            dev.tile_reduce(team, dst, src, dev.SUM, scope=dev.BLOCK)

    for rows in TILES:
        to, source = matrix[0, :rows, :64], matrix[1, :rows, :64]
        measure(
            language, "tile_reduce float, block", 256 * rows, 1,
            lambda e: dev.launch(tile_reduces, 1, 256, handle)(team, to, source, ROUNDS),  # noqa: B023
        )  # fmt: skip

    @kernel
    def reduces(team, dst, src, rounds):
        for _ in range(rounds):
            dev.reduce(team, dst, src, dev.SUM, scope=dev.BLOCK)

    for count in REDUCED:
        to, source, threads = floats[0, :count], floats[1, :count], 256 if count < 1024 else 1024
        measure(
            language, "reduce float, block", 4 * count, 1,
            lambda e: dev.launch(reduces, 1, threads, handle)(team, to, source, ROUNDS),  # noqa: B023
        )  # fmt: skip
    for name, one in (("sync, block", syncs), ("sync by a meeting, block", meetings)):
        start = kernel(one.function).device  # no array says that this is for a GPU
        on = one.compiler.cuda.external_stream(handle)
        measure(language, name, 0, 1, lambda e: start[1, 32, on](team, ROUNDS))  # noqa: B023


def with_numba_mlir() -> None:
    with_numba("numba-cuda-mlir", "numba-cuda-mlir")


def with_triton() -> None:
    global tl  # Triton looks for it there
    import atoll.triton as dev
    import triton.language as tl

    @dev.kernel
    def flags(team, flag, first, rounds):
        peer = 1 - team.my_pe
        for i in range(first, first + rounds):
            if team.my_pe == 0:
                dev.p(team, flag, i, peer)
            dev.signal_wait_until(team, flag, dev.GE, i)
            if team.my_pe == 1:
                dev.p(team, flag, i, peer)

    @dev.kernel
    def puts(team, dst, src, flag, first, rounds, N: tl.constexpr, BLOCK: tl.constexpr):
        peer = 1 - team.my_pe
        for i in range(first, first + rounds):
            if team.my_pe == 0:
                dev.put_signal(team, dst, src, N, flag, i, dev.SET, peer, BLOCK)
            dev.signal_wait_until(team, flag, dev.GE, i)
            if team.my_pe == 1:
                dev.put_signal(team, dst, src, N, flag, i, dev.SET, peer, BLOCK)

    @dev.kernel
    def messages(team, box, dst, src, rounds, N: tl.constexpr):
        peer = 1 - team.my_pe
        for _ in range(rounds):
            if team.my_pe == 0:
                dev.post(team, box, 65536, src, N, peer)
            dev.receive(team, box, 65536, dst, N, peer)
            if team.my_pe == 1:
                dev.post(team, box, 65536, src, N, peer)

    @dev.kernel
    def syncs(team, rounds):
        for _ in range(rounds):
            dev.sync(team)

    @dev.kernel
    def reduces(team, dst, src, rounds, N: tl.constexpr, BLOCK: tl.constexpr):
        for _ in range(rounds):
            dev.reduce(team, dst, src, N, dev.SUM, BLOCK)

    team = atoll.WORLD.device("device")
    box = atoll.zeros(dev.mailbox_bytes(2, 65536), np.uint8, device="cuda", xp=torch)
    flag, to, source = words[1:2].torch(), dst.torch(), src.torch()
    with torch.cuda.stream(stream):
        measure("triton", "flag one way", 8, 2, lambda e: flags[(1,)](team, flag, e, ROUNDS, num_warps=1))
        for nbytes, threads in SIZES.items():
            n, warps = nbytes // 4, threads // 32
            most = min(max(n, 32), 4096)
            measure(
                "triton", "put_signal, block", nbytes, 2,
                lambda e: puts[(1,)](team, to, source, flag, e, ROUNDS, N=n, BLOCK=most, num_warps=warps),  # noqa: B023
            )  # fmt: skip
            measure(
                "triton", "post and receive, block", nbytes, 2,
                lambda e: messages[(1,)](team, box, to, source, ROUNDS, N=n, num_warps=warps),  # noqa: B023
            )  # fmt: skip
        measure("triton", "sync, block", 0, 1, lambda e: syncs[(1,)](team, ROUNDS, num_warps=1))
        to, source = floats[0].torch(), floats[1].torch()
        for count in REDUCED:
            measure(
                "triton", "reduce float, block", 4 * count, 1,
                lambda e: reduces[(1,)](team, to, source, ROUNDS, N=count, BLOCK=min(max(count, 32), 4096), num_warps=8 if count < 1024 else 32),  # noqa: B023
            )  # fmt: skip


CODE = r"""
#include <atoll/device/device.hpp>
namespace dev = atl::device;
using Word = unsigned long long;
extern "C" __global__ void flags(dev::Team team, Word* flag, Word first, int rounds) {
    const int peer = 1 - team.my_pe;
    for (Word i = first; i < first + rounds; ++i) {
        if (team.my_pe == 0) dev::p(team, flag, i, peer);
        dev::signal_wait_until(team, flag, dev::Compare::ge, i);
        if (team.my_pe == 1) dev::p(team, flag, i, peer);
    }
}
extern "C" __global__ void puts(dev::Team team, int* dst, const int* src, long long n, Word* flag, Word first, int rounds) {
    const int peer = 1 - team.my_pe;
    for (Word i = first; i < first + rounds; ++i) {
        if (team.my_pe == 0) dev::put_signal(team, dst, src, n, flag, i, peer, dev::Block{});
        dev::signal_wait_until(team, flag, dev::Compare::ge, i, dev::Block{});
        if (team.my_pe == 1) dev::put_signal(team, dst, src, n, flag, i, peer, dev::Block{});
    }
}
extern "C" __global__ void messages(dev::Team team, dev::Mailbox box, int* dst, const int* src, long long n, int rounds) {
    const int peer = 1 - team.my_pe;
    for (int i = 0; i < rounds; ++i) {
        if (team.my_pe == 0) dev::post(team, box, src, n, peer, dev::Block{});
        dev::receive(team, box, dst, n, peer, dev::Block{});
        if (team.my_pe == 1) dev::post(team, box, src, n, peer, dev::Block{});
    }
}
extern "C" __global__ void ways(dev::Team team, dev::Mailbox box, int* dst, const int* src, long long n, int rounds) {
    const int peer = 1 - team.my_pe;
    dev::Outbox<dev::Block> out(team, box, peer);
    dev::Inbox<dev::Block> in(team, box, peer);
    for (int i = 0; i < rounds; ++i) {
        if (team.my_pe == 0) out.post(src, n);
        in.receive(dst, n);
        if (team.my_pe == 1) out.post(src, n);
    }
    out.close();
    in.close();
}
extern "C" __global__ void tiles(dev::Team team, float* dst, const float* src, int rows, Word* flag, Word first, int rounds) {
    const int peer = 1 - team.my_pe;
    const auto to = dev::make_tile(dst, rows, 64, 256);
    const auto from = dev::make_tile(src, rows, 64, 256);
    for (Word i = first; i < first + rounds; ++i) {
        if (team.my_pe == 0) dev::tile_put(team, to, from, peer, dev::Block{});
        if (team.my_pe == 0 && threadIdx.x == 0) dev::signal_set(team, flag, i, peer);
        dev::signal_wait_until(team, flag, dev::Compare::ge, i, dev::Block{});
        if (team.my_pe == 1) dev::tile_put(team, to, from, peer, dev::Block{});
        if (team.my_pe == 1 && threadIdx.x == 0) dev::signal_set(team, flag, i, peer);
    }
}
extern "C" __global__ void tile_reduces(dev::Team team, float* dst, const float* src, int rows, int rounds) {
    const auto to = dev::make_tile(dst, rows, 64, 256);
    const auto from = dev::make_tile(src, rows, 64, 256);
    for (int i = 0; i < rounds; ++i) dev::tile_reduce(team, to, from, dev::Sum{}, dev::Block{});
}
extern "C" __global__ void meetings(dev::Team team, int rounds) {
    dev::Meeting<dev::Block> met(team);
    for (int i = 0; i < rounds; ++i) met.sync();
    met.close();
}
extern "C" __global__ void syncs(dev::Team team, int rounds) {
    for (int i = 0; i < rounds; ++i) dev::sync(team, dev::Block{});
}
extern "C" __global__ void reduces(dev::Team team, float* dst, const float* src, long long n, int rounds) {
    for (int i = 0; i < rounds; ++i) dev::reduce(team, dst, src, n, dev::Sum{}, dev::Block{});
}
"""


NAMES = ("flags", "puts", "messages", "ways", "tiles", "tile_reduces", "syncs", "meetings", "reduces")


def with_cupy() -> None:
    import atoll.cupy as dev
    import cupy

    cupy.cuda.Device(gpu).use()
    module = dev.RawModule(CODE)
    kernels = {name: module.get_function(name) for name in NAMES}
    team, rounds = dev.team(atoll.WORLD), np.int32(ROUNDS)
    flag, to, source = words[2:3].cupy(), dst.cupy(), src.cupy()
    memory = atoll.zeros(dev.mailbox_bytes(2, 65536), np.uint8, device="cuda")
    box = dev.mailbox(memory, 65536)
    with cupy.cuda.ExternalStream(handle):
        call = lambda name, threads, *values: kernels[name]((1,), (threads,), (team, *values))  # noqa: E731
        measure("cupy", "flag one way", 8, 2, lambda e: call("flags", 1, flag, e, rounds))
        for nbytes, threads in SIZES.items():
            n = nbytes // 4
            measure(
                "cupy", "put_signal, block", nbytes, 2,
                lambda e: call("puts", threads, to, source, n, flag, e, rounds),  # noqa: B023
            )  # fmt: skip
            measure(
                "cupy", "post and receive, block", nbytes, 2,
                lambda e: call("messages", threads, box, to, source, n, rounds),  # noqa: B023
            )  # fmt: skip
            measure(
                "cupy", "outbox and inbox, block", nbytes, 2,
                lambda e: call("ways", threads, box, to, source, n, rounds),  # noqa: B023
            )  # fmt: skip
        to, source = matrix[0].cupy(), matrix[1].cupy()
        for rows in TILES:
            height = np.int32(rows)
            measure(
                "cupy", "tile_put with signal, block", 256 * rows, 2,
                lambda e: call("tiles", 256, to, source, height, flag, e, rounds),  # noqa: B023
            )  # fmt: skip
            measure(
                "cupy", "tile_reduce float, block", 256 * rows, 1,
                lambda e: call("tile_reduces", 256, to, source, height, rounds),  # noqa: B023
            )  # fmt: skip
        measure("cupy", "sync, block", 0, 1, lambda e: call("syncs", 32, rounds))
        measure("cupy", "sync by a meeting, block", 0, 1, lambda e: call("meetings", 32, rounds))
        to, source = floats[0].cupy(), floats[1].cupy()
        for count in REDUCED:
            threads = 256 if count < 1024 else 1024
            measure(
                "cupy", "reduce float, block", 4 * count, 1,
                lambda e: call("reduces", threads, to, source, count, rounds),  # noqa: B023
            )  # fmt: skip


def with_cute() -> None:
    global CUstream, Int32, Int64, cute, cutlass, dev  # annotations are looked up there
    import atoll.cute as dev
    import cutlass
    import cutlass.cute as cute
    from cuda.bindings.driver import CUstream
    from cutlass import Int32, Int64

    @cute.kernel
    def flags(team: dev.Team, flag: cute.Tensor, first: Int64, rounds: Int32):
        peer = 1 - team.my_pe
        i = first
        while i < first + rounds:
            if team.my_pe == 0:
                dev.p(team, flag, i, peer)
            dev.signal_wait_until(team, flag, dev.GE, i)
            if team.my_pe == 1:
                dev.p(team, flag, i, peer)
            i += 1

    @cute.kernel
    def puts(
        team: dev.Team, dst: cute.Tensor, src: cute.Tensor, flag: cute.Tensor, first: Int64, rounds: Int32
    ):
        peer = 1 - team.my_pe
        i = first
        while i < first + rounds:
            if team.my_pe == 0:
                dev.put_signal(team, dst, src, flag, i, dev.SET, peer, scope=dev.BLOCK)
            dev.signal_wait_until(team, flag, dev.GE, i, scope=dev.BLOCK)
            if team.my_pe == 1:
                dev.put_signal(team, dst, src, flag, i, dev.SET, peer, scope=dev.BLOCK)
            i += 1

    @cute.kernel
    def messages(team: dev.Team, box: dev.Mailbox, dst: cute.Tensor, src: cute.Tensor, rounds: Int32):
        peer = 1 - team.my_pe
        for _ in cutlass.range(rounds, unroll=1):
            if team.my_pe == 0:
                dev.post(team, box, src, peer, scope=dev.BLOCK)
            dev.receive(team, box, dst, peer, scope=dev.BLOCK)
            if team.my_pe == 1:
                dev.post(team, box, src, peer, scope=dev.BLOCK)

    @cute.kernel
    def ways(team: dev.Team, box: dev.Mailbox, dst: cute.Tensor, src: cute.Tensor, rounds: Int32):
        peer = 1 - team.my_pe
        out, come = dev.outbox(team, box, peer, dev.BLOCK), dev.inbox(team, box, peer, dev.BLOCK)
        for _ in cutlass.range(rounds, unroll=1):
            if team.my_pe == 0:
                out = dev.post_next(out, src)
            come = dev.receive_next(come, dst)
            if team.my_pe == 1:
                out = dev.post_next(out, src)
        dev.close(out)
        dev.close(come)

    @cute.kernel
    def meetings(team: dev.Team, rounds: Int32):
        met = dev.meeting(team, dev.BLOCK)
        for _ in cutlass.range(rounds, unroll=1):
            met = dev.sync_next(met)
        dev.close(met)

    @cute.kernel
    def tiles(
        team: dev.Team, dst: cute.Tensor, src: cute.Tensor, flag: cute.Tensor, first: Int64, rounds: Int32
    ):
        peer = 1 - team.my_pe
        i = first
        while i < first + rounds:
            if team.my_pe == 0:
                dev.tile_put(team, dst, src, peer, scope=dev.BLOCK)
                if dev.rank(dev.BLOCK) == 0:
                    dev.signal_set(team, flag, i, peer)
            dev.signal_wait_until(team, flag, dev.GE, i, scope=dev.BLOCK)
            if team.my_pe == 1:
                dev.tile_put(team, dst, src, peer, scope=dev.BLOCK)
                if dev.rank(dev.BLOCK) == 0:
                    dev.signal_set(team, flag, i, peer)
            i += 1

    @cute.kernel
    def syncs(team: dev.Team, rounds: Int32):
        for _ in cutlass.range(rounds, unroll=1):
            dev.sync(team, scope=dev.BLOCK)

    @cute.kernel
    def reduces(team: dev.Team, dst: cute.Tensor, src: cute.Tensor, rounds: Int32):
        for _ in cutlass.range(rounds, unroll=1):
            dev.reduce(team, dst, src, dev.SUM, scope=dev.BLOCK)

    @cute.kernel
    def tile_reduces(team: dev.Team, dst: cute.Tensor, src: cute.Tensor, rounds: Int32):
        for _ in cutlass.range(rounds, unroll=1):
            dev.tile_reduce(team, dst, src, dev.SUM, scope=dev.BLOCK)

    @cute.jit
    def go(kernel: cutlass.Constexpr, threads: cutlass.Constexpr, stream: CUstream, team: dev.Team, values):
        kernel(team, *values).launch(grid=[1, 1, 1], block=[threads, 1, 1], stream=stream)

    team, on = dev.team(atoll.WORLD), CUstream(handle)
    memory = atoll.zeros(dev.mailbox_bytes(2, 65536), np.uint8, device="cuda", xp=torch)
    box, flag = dev.mailbox(memory, 65536), dev.tensor(words[3:4].torch())

    def run(
        operation: str,
        nbytes: int,
        calls: int,
        kernel: object,
        threads: int,
        values: tuple[object, ...],
        numbered: bool,
    ) -> None:
        rest = (Int64(1), Int32(ROUNDS)) if numbered else (Int32(ROUNDS),)
        made = cute.compile(go, kernel, threads, on, team, (*values, *rest))

        def launch(e: int) -> None:
            made(on, team, (*values, Int64(e), Int32(ROUNDS)) if numbered else (*values, Int32(ROUNDS)))

        measure("cute", operation, nbytes, calls, launch)

    run("flag one way", 8, 2, flags, 1, (flag,), True)
    for nbytes, threads in SIZES.items():
        to, source = (dev.tensor(x[: nbytes // 4].torch(), 16) for x in (dst, src))
        run("put_signal, block", nbytes, 2, puts, threads, (to, source, flag), True)
        run("post and receive, block", nbytes, 2, messages, threads, (box, to, source), False)
        run("outbox and inbox, block", nbytes, 2, ways, threads, (box, to, source), False)
    run("sync, block", 0, 1, syncs, 32, (), False)
    run("sync by a meeting, block", 0, 1, meetings, 32, (), False)
    for count in REDUCED:
        to, source = (dev.tensor(x[:count].torch(), 16) for x in (floats[0], floats[1]))
        run("reduce float, block", 4 * count, 1, reduces, 256 if count < 1024 else 1024, (to, source), False)
    for rows in TILES:
        to, source = (dev.tensor(x[:rows, :64].torch(), 16) for x in (matrix[0], matrix[1]))
        run("tile_put with signal, block", 256 * rows, 2, tiles, 256, (to, source, flag), True)
        run("tile_reduce float, block", 256 * rows, 1, tile_reduces, 256, (to, source), False)


for name in wanted:
    {
        "cute": with_cute,
        "numba": with_numba,
        "mlir": with_numba_mlir,
        "triton": with_triton,
        "cupy": with_cupy,
    }[name]()
atoll.finalize()
