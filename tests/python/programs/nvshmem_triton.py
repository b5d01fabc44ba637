"""Kernels in Triton that call NVSHMEM's functions by its bitcode (`extern_libs`), as users of NVSHMEM write them.

    nvshmem_triton.py [compile FILE TO]

Without a word they run on the GPUs of a job of 2 PEs or more, which needs PyTorch. With `compile` they are compiled with the
bitcode in FILE, which needs no GPU. PTX of kernels of one call is written to the folder TO.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import libshmem_device as shmem
import triton
import triton.language as tl

COUNT = 1000
ARGUMENTS = {
    "exchange": {"data": "*i32", "source": "*i32", "signal": "*i64", "count": "i32"},
    "ring": {"data": "*i32", "signals": "*i64", "count": "i32"},
    "words": {"words": "*i32", "out": "*i32", "N": "constexpr"},
    "collectives": {"data": "*i32", "out": "*i32", "halves": "*fp16", "half_out": "*fp16", "count": "i32"},
    "of_team": {"team": "i32", "out": "*i32"},
    "one_p": {"x": "*i32", "value": "i32"},
    "one_add": {"x": "*i32", "out": "*i32"},
    "one_signal": {"x": "*i64", "value": "i64"},
    "one_wait": {"x": "*i64", "value": "i64"},
}


@triton.jit
def exchange(data, source, signal, count):
    """Puts a block to the right neighbour, announces it by a word, and waits for that of the left."""
    right = (shmem.my_pe() + 1) % shmem.n_pes()
    shmem.putmem_block(data, source, count * 4, right)
    shmem.fence()
    if tl.program_id(0) == 0:
        shmem.signal_op(signal, 1, shmem.SIGNAL_SET, right)
    found = shmem.signal_wait_until(signal, shmem.CMP_EQ, 1)
    tl.store(signal + 1, found.to(tl.int64))
    shmem.barrier_all_block()


@triton.jit
def ring(data, signals, count):
    """Passes the segments of all PEs on to the right until every PE has all, as Triton-distributed's all-gather does."""
    me, n = shmem.my_pe(), shmem.n_pes()
    right = (me + 1) % n
    for step in range(n - 1):
        segment = (me - step + n) % n
        if step > 0:
            shmem.signal_wait_until(signals + segment, shmem.CMP_GE, 1)
        place = data + segment * count
        shmem.putmem_signal_nbi_block(place, place, count * 4, signals + segment, 1, shmem.SIGNAL_SET, right)
    shmem.signal_wait_until(signals + (me + 1) % n, shmem.CMP_GE, 1)
    shmem.quiet()
    shmem.barrier_block(shmem.TEAM_WORLD)


@triton.jit
def words(words, out, N: tl.constexpr):
    """Stores to the neighbour's memory by its address, single words, an atomic by each element, and loads of them."""
    me, n = shmem.my_pe(), shmem.n_pes()
    right = (me + 1) % n
    lanes = tl.arange(0, N)
    there = shmem.remote_ptr(words, right).to(tl.pointer_type(tl.int32))
    tl.store(there + 4 + lanes, 100 * me + lanes)
    shmem.int_p(words, me + 1, right)
    shmem.int_wait_until(words, shmem.CMP_EQ, (me - 1 + n) % n + 1)
    zeros = tl.zeros((N,), tl.int64)
    before = shmem.int_atomic_fetch_add(zeros + (words + 1).to(tl.int64), lanes + 1, right)
    tl.store(out + 4 + lanes, before)
    shmem.barrier_all_block()
    tl.store(out, shmem.int_g(words, right))
    tl.store(out + 1, tl.load(words + 1))
    tl.store(out + 2, shmem.team_my_pe(shmem.TEAM_WORLD))
    shmem.sync_all_block()


@triton.jit
def collectives(data, out, halves, half_out, count):
    me = shmem.my_pe()
    shmem.int_sum_reduce_block(shmem.TEAM_WORLD, out, data, count)
    shmem.fcollectmem_block(shmem.TEAM_WORLD, out + 3 * count, data, count * 4)
    shmem.half_sum_reduce_block(shmem.TEAM_WORLD, half_out, halves, count)
    shmem.broadcastmem_block(shmem.TEAM_WORLD, out + 2 * count, data, count * 4, 0)
    shmem.getmem_block(half_out + count, halves, count * 2, me)


@triton.jit
def of_team(team, out):
    tl.store(out, shmem.team_my_pe(team))
    shmem.barrier_block(team)


@triton.jit
def one_p(x, value):
    shmem.int_p(x, value, 1)


@triton.jit
def one_add(x, out):
    tl.store(out, shmem.int_atomic_fetch_add(x, 3, 1))


@triton.jit
def one_signal(x, value):
    shmem.signal_op(x, value, shmem.SIGNAL_SET, 1)


@triton.jit
def one_wait(x, value):
    shmem.signal_wait_until(x, shmem.CMP_GE, value)


KERNELS = {one.fn.__name__: one for one in (exchange, ring, words, collectives, of_team)}
CALLS = {one.fn.__name__: one for one in (one_p, one_add, one_signal, one_wait)}
"""Kernels of one call, which a test compares with those of nvshmem.h."""


def compile_all(library: str, folder: str) -> None:
    """Compile the kernels. Check that each contains the state, and calls no undefined function."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    for name, kernel in {**KERNELS, **CALLS}.items():
        kinds = ARGUMENTS[name]
        constants = {place: 32 for place, kind in enumerate(kinds.values()) if kind == "constexpr"}
        source = ASTSource(kernel, kinds, {(place,): value for place, value in constants.items()})
        for architecture in (80,) if name in CALLS else (90, 100) if name == "exchange" else (90,):
            options = {"extern_libs": {"libnvshmem_device": library}, "num_warps": 8}
            made = triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=options)
            text = made.asm["ptx"]
            assert ".visible .const .align 8 .b8 nvshmemi_device_state_d[4160]" in text, name
            assert b"nvshmemi_device_state_d" in made.asm["cubin"], name
            missing = set(re.findall(r"^\.extern \.func\b[^;]*?(\w+)\s*\n?\(", text, re.MULTILINE))
            assert missing == {"__assertfail"}, (name, missing)
            if name in CALLS:
                (Path(folder) / f"{name}.ptx").write_text(text)
        print(name)


def initialised(*_: Any, **said: Any) -> None:
    """Give a new kernel's module the job, as PyTorch and Triton-distributed do after a compilation."""
    import nvshmem.bindings.nvshmem as bindings

    kernel = said["fn"].jit_function.device_caches[said["compile"]["device"]][0].get(said["key"])
    kernel._init_handles()
    if "nvshmem" in kernel.asm["ptx"]:
        bindings.cumodule_init(kernel.module)


def tensor(count: int, kind: Any) -> Any:
    import nvshmem.core

    made = nvshmem.core.tensor((count,), dtype=kind)
    made.zero_()
    return made


def run(library: str) -> None:
    import nvshmem.core
    import torch

    triton.knobs.runtime.jit_post_compile_hook = initialised
    me, n = nvshmem.core.my_pe(), nvshmem.core.n_pes()
    left = (me - 1) % n
    data, signal = tensor(COUNT, torch.int32), tensor(2, torch.int64)
    torch.cuda.set_device(data.device)

    def launch(kernel: Any, *arguments: Any) -> None:
        torch.cuda.synchronize()
        nvshmem.core.barrier_all()
        kernel[(1,)](*arguments, extern_libs={"libnvshmem_device": library}, num_warps=8)
        torch.cuda.synchronize()
        nvshmem.core.barrier_all()

    source = torch.arange(COUNT, dtype=torch.int32, device="cuda") + 1000 * me
    launch(exchange, data, source, signal, COUNT)
    assert data.tolist() == [1000 * left + i for i in range(COUNT)] and signal.tolist() == [1, 1]

    data, signals = tensor(COUNT * n, torch.int32), tensor(n, torch.int64)
    data[COUNT * me : COUNT * (me + 1)] = source
    launch(ring, data, signals, COUNT)
    assert data.tolist() == [1000 * pe + i for pe in range(n) for i in range(COUNT)]

    cells, out = tensor(64, torch.int32), tensor(64, torch.int32)
    launch(words, cells, out, 32)
    assert cells[4:36].tolist() == [100 * left + lane for lane in range(32)]
    assert out[:3].tolist() == [me + 1, cells[1].item(), me], out[:3]
    # Threads that have the same lane add its number each, so that the sum is that of whole turns.
    assert cells[1] > 0 and cells[1] % sum(range(1, 33)) == 0, cells[1]

    data, out = tensor(COUNT, torch.int32), tensor(COUNT * (n + 3), torch.int32)
    halves, half_out = tensor(COUNT, torch.float16), tensor(2 * COUNT, torch.float16)
    data += source
    halves += me + 1
    launch(collectives, data, out, halves, half_out, COUNT)
    everywhere = [[1000 * pe + i for i in range(COUNT)] for pe in range(n)]
    assert out[:COUNT].tolist() == [sum(column) for column in zip(*everywhere, strict=True)]
    assert out[2 * COUNT : 3 * COUNT].tolist() == everywhere[0]
    assert out[3 * COUNT :].tolist() == [one for row in everywhere for one in row]
    assert half_out.tolist() == [n * (n + 1) / 2] * COUNT + [me + 1] * COUNT

    # A team that is made after the kernel's module was loaded.
    launch(of_team, 0, out)
    first = out[0].item()
    team = nvshmem.core.team_split_strided(0, 1, 1, n - 1, None, 0)
    if team is not None:
        of_team[(1,)](team, out, extern_libs={"libnvshmem_device": library}, num_warps=8)
    torch.cuda.synchronize()
    assert (first, out[0].item()) == (me, me - 1 if me > 0 else me), (first, out[0])
    nvshmem.core.barrier_all()
    print(f"PE {me} of {n}: {len(KERNELS)} kernels")


def main() -> None:
    if sys.argv[1:2] == ["compile"]:
        compile_all(*sys.argv[2:])
        return
    import atoll.compat

    atoll.compat.install("nvshmem")
    import nvshmem.core

    nvshmem.core.init(initializer_method="mpi")
    run(nvshmem.core.find_device_bitcode_library())
    nvshmem.core.finalize()


if __name__ == "__main__":
    main()
