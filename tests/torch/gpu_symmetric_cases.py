"""Cases on symmetric CUDA tensors: torch.distributed._symmetric_memory with the backend ATOLL."""

from __future__ import annotations

import os
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import triton
import triton.language as tl
from gpu_cases import gpu
from ranks import Ranks, case, raises

# Each tensor is then an allocation of its own. The case of the pool uses one by name.
os.environ["TORCH_SYMMMEM_IMPLICIT_POOL"] = "0"


def empty(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return a symmetric tensor of this rank's GPU."""
    symm_mem.set_backend("ATOLL")
    return symm_mem.empty(*shape, dtype=dtype, device=gpu())


def met(ranks: Ranks, *shape: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, Any]:
    """Return a tensor and its handle for the group of the case."""
    tensor = empty(*shape, dtype=dtype)
    return tensor, symm_mem.rendezvous(tensor, ranks.atoll)


def expect(tensor: torch.Tensor, value: torch.Tensor | float, *what: object) -> None:
    """Check every element, and tell the first that is wrong."""
    wanted = torch.as_tensor(value, dtype=tensor.dtype, device=tensor.device).expand_as(tensor)
    wrong = (tensor != wanted).nonzero()
    if wrong.numel() == 0:
        return
    first = tuple(wrong[0].tolist())
    raise AssertionError(
        f"{what}: {wrong.shape[0]} of {tensor.numel()} elements are wrong; the first is at {first}: "
        f"{tensor[first].item()} instead of {wanted[first].item()}; it begins with {tensor.reshape(-1)[:8].tolist()}"
    )


def pointers(handle: Any) -> str:
    """Return the handle's addresses, for errors."""
    buffers, pads = ([hex(p) for p in each] for each in (handle.buffer_ptrs, handle.signal_pad_ptrs))
    return f"rank {handle.rank}: buffers {buffers}, pads {pads}"


@case
def symmetric_buffers(ranks: Ranks) -> None:
    me, n = ranks.rank, ranks.size
    tensor, handle = met(ranks, 3, 1000)
    where = pointers(handle)
    assert symm_mem.get_backend(gpu()) == "ATOLL"
    assert (handle.rank, handle.world_size) == (me, n), where
    assert handle.buffer_ptrs[me] == tensor.data_ptr(), (where, hex(tensor.data_ptr()))
    assert len(set(handle.buffer_ptrs)) == len(set(handle.signal_pad_ptrs)) == n, where
    assert handle.multicast_ptr == 0, where
    assert handle.buffer_size == tensor.nbytes, (handle.buffer_size, tensor.nbytes)
    tensor.fill_(me)
    handle.barrier()
    for peer in range(n):
        expect(handle.get_buffer(peer, (3, 1000), torch.float32), peer, "read from", peer, where)
    handle.barrier()
    handle.get_buffer((me + 1) % n, (1000,), torch.float32, 1000).fill_(100 + me)
    handle.barrier()
    expect(tensor[1], 100 + (me - 1) % n, "written by the left neighbour", where)
    expect(tensor[0], me, "not written", where)
    assert symm_mem.rendezvous(tensor, ranks.atoll).buffer_ptrs == handle.buffer_ptrs
    part = symm_mem.rendezvous(tensor[2], ranks.atoll)
    assert part.buffer_ptrs == handle.buffer_ptrs, (where, pointers(part))


@triton.jit
def copy_tables(buffers, pads, out, size):
    """Copy both tables of addresses."""
    buffers = buffers.to(tl.pointer_type(tl.int64))
    pads = pads.to(tl.pointer_type(tl.int64))
    for i in range(size):
        tl.store(out + i, tl.load(buffers + i))
        tl.store(out + size + i, tl.load(pads + i))


@triton.jit
def read_peer(buffers, out, peer, size: tl.constexpr):
    """Copy numbers of a peer's buffer."""
    source = tl.load(buffers.to(tl.pointer_type(tl.int64)) + peer).to(tl.pointer_type(tl.float32))
    places = tl.arange(0, size)
    tl.store(out + places, tl.load(source + places))


@case
def symmetric_pointer_tables(ranks: Ranks) -> None:
    """Kernels in Triton index the tables in memory of the GPU."""
    tensor, handle = met(ranks, 256)
    tensor.copy_(torch.arange(256, device=gpu()) + 1000 * ranks.rank)
    handle.barrier()
    found = torch.zeros(2, ranks.size, dtype=torch.int64, device=gpu())
    copy_tables[1,](handle.buffer_ptrs_dev, handle.signal_pad_ptrs_dev, found, ranks.size)
    assert found.tolist() == [handle.buffer_ptrs, handle.signal_pad_ptrs], (found.tolist(), pointers(handle))
    for peer in range(ranks.size):
        out = torch.zeros(256, device=gpu())
        read_peer[1,](handle.buffer_ptrs_dev, out, peer, 256)
        expect(
            out, torch.arange(256, device=gpu()) + 1000 * peer, "by a kernel, from", peer, pointers(handle)
        )
    handle.barrier()


@case
def symmetric_signals(ranks: Ranks) -> None:
    me, n = ranks.rank, ranks.size
    tensor, handle = met(ranks, 100_000, dtype=torch.int64)
    right, left = (me + 1) % n, (me - 1) % n
    for turn in range(20):
        handle.get_buffer(right, (100_000,), torch.int64).fill_(100 * turn + me)
        handle.put_signal(right, channel=3)
        handle.wait_signal(left, channel=3)
        expect(tensor, 100 * turn + left, "turn", turn, pointers(handle))
        handle.barrier(channel=turn % 2)
    handle.get_buffer(right, (100_000,), torch.int64).fill_(-me)
    handle.put_signal(right, channel=7)
    other = torch.cuda.Stream()
    with torch.cuda.stream(other):
        handle.wait_signal(left, channel=7)
        seen = tensor.clone()
    torch.cuda.current_stream().wait_stream(other)
    expect(seen, -left, "on another stream", pointers(handle))
    handle.barrier()
    torch.cuda.synchronize()
    ranks.meet()
    pad = handle.get_signal_pad(me, (symm_mem.get_signal_pad_size() // 4,), torch.int32)
    assert not pad.any(), (pad.nonzero().tolist(), pointers(handle))
    with raises(ValueError, "on channel 100000000"):
        handle.barrier(channel=100_000_000)
    with raises(ValueError, "with rank"):
        handle.put_signal(n, 0)


@case
def symmetric_all_reduce_kernels(ranks: Ranks) -> None:
    """torch's own kernels."""
    name = ranks.atoll.group_name
    ops = torch.ops.symm_mem
    for dtype in (torch.float32, torch.bfloat16):
        for count in (64, 8192, 1 << 18):
            tensor, handle = met(ranks, count, dtype=dtype)
            mine = ranks.values((count,), dtype).to(gpu())
            every = [torch.empty_like(mine) for _ in range(ranks.size)]
            dist.all_gather(every, mine, group=ranks.atoll)
            total = torch.stack(every).sum(0)
            what = (dtype, count, pointers(handle))
            tensor.copy_(mine)
            expect(ops.one_shot_all_reduce(tensor, "sum", name), total, "one_shot_all_reduce", what)
            out = torch.empty_like(mine)
            ops.one_shot_all_reduce_out(tensor, "sum", name, out)
            expect(out, total, "one_shot_all_reduce_out", what)
            tensor.zero_()
            expect(
                ops.one_shot_all_reduce_copy(tensor, mine, "sum", name),
                total,
                "one_shot_all_reduce_copy",
                what,
            )
            tensor.copy_(mine)
            ops.two_shot_all_reduce_(tensor, "sum", name)
            expect(tensor, total, "two_shot_all_reduce_", what)
            handle.barrier()


@case
def symmetric_gathers_and_scatters(ranks: Ranks) -> None:
    """Operators that torch makes of copies, barriers and signals."""
    name, ops, n, me = ranks.atoll.group_name, torch.ops.symm_mem, ranks.size, ranks.rank
    tensor, handle = met(ranks, 4 * n, 128)
    tensor.copy_(torch.arange(4 * n, device=gpu())[:, None].expand(-1, 128) + 1000 * me)
    handle.barrier()
    gathered = torch.ops._c10d_functional.wait_tensor(ops._low_contention_all_gather(tensor, name))
    for peer, part in enumerate(gathered.chunk(n)):
        expect(
            part,
            torch.arange(4 * n, device=gpu())[:, None] + 1000 * peer,
            "gathered from",
            peer,
            pointers(handle),
        )
    handle.barrier()
    sums = torch.ops._c10d_functional.wait_tensor(ops._low_contention_reduce_scatter(tensor, "sum", name))
    wanted = n * torch.arange(4 * me, 4 * me + 4, device=gpu())[:, None] + 1000 * sum(range(n))
    expect(sums, wanted, "scattered sums", pointers(handle))
    handle.barrier()


@case
def symmetric_workspaces(ranks: Ranks) -> None:
    """Operators of torch that copy ordinary tensors to a symmetric workspace, and fused matrix products."""
    symm_mem.set_backend("ATOLL")
    name, ops, n, me = ranks.atoll.group_name, torch.ops.symm_mem, ranks.size, ranks.rank
    ordinary = torch.full((n, 64), float(me), device=gpu())
    gathered = torch.ops._c10d_functional.wait_tensor(ops._low_contention_all_gather(ordinary, name))
    for peer, part in enumerate(gathered.chunk(n)):
        expect(part, peer, "an ordinary tensor, gathered from", peer)
    left = ranks.values((16, 32), torch.float32).to(gpu())
    right = torch.arange(32 * 16, device=gpu()).reshape(32, 16) % 5.0
    every = [torch.empty_like(left) for _ in range(n)]
    dist.all_gather(every, left, group=ranks.atoll)
    whole, products = ops.fused_all_gather_matmul(left, [right], 0, name)
    expect(whole, torch.cat(every), "fused_all_gather_matmul: gathered")
    expect(products[0], torch.cat(every) @ right, "fused_all_gather_matmul: product")
    tall = torch.cat([left] * n)
    product = ops.fused_matmul_reduce_scatter(tall, right, "sum", 0, name)
    expect(product, torch.stack(every).sum(0) @ right, "fused_matmul_reduce_scatter")
    torch.cuda.synchronize()
    ranks.meet()


@case
def symmetric_places_differ(ranks: Ranks) -> None:
    """Ranks allocate and free by themselves; tensors lie at different offsets, in several chunks."""
    kept = [empty(1 << 20) for _ in range(5 * ranks.rank)]
    for turn, count in enumerate((1000, 30_000_000, 5_000_000)):
        tensor, handle = met(ranks, count)
        tensor.fill_(ranks.rank + turn)
        handle.barrier()
        for peer in range(ranks.size):
            expect(
                handle.get_buffer(peer, (count,), torch.float32), peer + turn, count, peer, pointers(handle)
            )
        handle.barrier()
        del kept[: ranks.rank]
    del tensor, handle
    places = []
    for _ in range(5):
        torch.cuda.synchronize()
        ranks.meet()  # no rank has the last one
        tensor, handle = met(ranks, 30_000_000)
        handle.barrier()
        places.append(hex(tensor.data_ptr()))
        del tensor, handle
    assert len(set(places)) == 1, f"memory that no rank holds was not used again: {places}"


@case
def symmetric_in_a_graph(ranks: Ranks) -> None:
    name = ranks.atoll.group_name
    tensor, handle = met(ranks, 4096)
    source = torch.ones(4096, device=gpu())
    torch.ops.symm_mem.one_shot_all_reduce(tensor, "sum", name)
    torch.cuda.synchronize()
    ranks.meet()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tensor.copy_(source)
        handle.barrier(channel=1)
        out = torch.ops.symm_mem.one_shot_all_reduce(tensor, "sum", name)
        handle.barrier(channel=1)
    for turn in range(1, 6):
        source.fill_(turn + ranks.rank)
        graph.replay()
        expect(out, ranks.size * turn + sum(range(ranks.size)), "turn", turn, pointers(handle))


@case
def symmetric_pools(ranks: Ranks) -> None:
    """torch's memory pool of symmetric memory."""
    symm_mem.set_backend("ATOLL")
    pool = symm_mem.get_mem_pool(gpu())
    with torch.cuda.use_mem_pool(pool):
        tensor = torch.full((1000,), float(ranks.rank), device=gpu())
        second = torch.arange(5000, device=gpu()) + ranks.rank
    for each, count in ((tensor, 1000), (second, 5000)):
        handle = symm_mem.rendezvous(each, ranks.atoll)
        handle.barrier()
        peer = (ranks.rank + 1) % ranks.size
        wanted = torch.arange(5000, device=gpu()) + peer if each is second else float(peer)
        expect(handle.get_buffer(peer, (count,), each.dtype), wanted, "of a pool", count, pointers(handle))
        handle.barrier()
    out = torch.ops.symm_mem.one_shot_all_reduce(tensor, "sum", ranks.atoll.group_name)
    expect(out, sum(range(ranks.size)), "one_shot_all_reduce of a pool")


@case
def symmetric_tensors_in_collectives(ranks: Ranks) -> None:
    for count in (10, 100_000, 10_000_000):
        tensor = empty(count)
        tensor.fill_(ranks.rank + 1)
        dist.all_reduce(tensor, group=ranks.atoll)
        expect(tensor, ranks.size * (ranks.size + 1) / 2, "all_reduce", count)


@case
def symmetric_on_both_devices(ranks: Ranks) -> None:
    on_gpu, gpu_handle = met(ranks, 1000)
    on_cpu = symm_mem.empty(1000, device="cpu")
    cpu_handle = symm_mem.rendezvous(on_cpu, ranks.atoll)
    on_gpu.fill_(ranks.rank)
    on_cpu.fill_(10 + ranks.rank)
    gpu_handle.barrier()
    cpu_handle.barrier()
    peer = (ranks.rank + 1) % ranks.size
    expect(gpu_handle.get_buffer(peer, (1000,), torch.float32), peer, "on the GPU")
    expect(cpu_handle.get_buffer(peer, (1000,), torch.float32), 10 + peer, "on the CPU")
    assert symm_mem.get_backend("cpu") == "ATOLL"
    gpu_handle.barrier()
    cpu_handle.barrier()


@case
def symmetric_subgroups(ranks: Ranks) -> None:
    tensor, handle = met(ranks, 1000)
    group, _ = dist.new_subgroups(1)
    alone = symm_mem.rendezvous(tensor, group)
    assert alone.buffer_ptrs == [tensor.data_ptr()], (pointers(alone), hex(tensor.data_ptr()))
    alone.barrier()
    dist.destroy_process_group(group)
    with raises(ValueError, "was destroyed"):
        alone.barrier()
    tensor.fill_(ranks.rank)
    handle.barrier()
    expect(handle.get_buffer(0, (1000,), torch.float32), 0, pointers(handle))
    handle.barrier()


@case
def symmetric_errors(ranks: Ranks) -> None:
    ordinary = torch.zeros(1000, device=gpu())
    empty(1)  # so that torch takes the backend ATOLL
    assert symm_mem.rendezvous(ordinary, ranks.atoll) is None  # so torch's operators know that they must copy
    with raises(RuntimeError):
        torch.ops.symm_mem.one_shot_all_reduce(ordinary, "sum", ranks.atoll.group_name)
    with raises(Exception, "must have equal sizes"):
        met(ranks, 1000 + ranks.rank)
    with raises(torch.OutOfMemoryError, "room"):
        empty(1 << 58)
    tensor, handle = met(ranks, 1000)
    tensor.fill_(ranks.rank)
    handle.barrier()
    expect(handle.get_buffer(0, (1000,), torch.float32), 0, "after errors", pointers(handle))
    handle.barrier()
