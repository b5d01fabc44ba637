"""Cases of symmetric memory: allocation, rendezvous, meetings, operators of torch.ops.symm_mem, wrong calls."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
from collections.abc import Iterator
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
from ranks import Ranks, case, exchange, raises

OPS = torch.ops.symm_mem
TYPES = (torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.uint8)


def symmetric(ranks: Ranks, *size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return a symmetric tensor with values of this rank."""
    tensor = symm_mem.empty(*size, dtype=dtype, device="cpu")
    return tensor.copy_(ranks.values(tuple(size), dtype))


@case
def symmetric_buffers_of_all_ranks(ranks: Ranks) -> None:
    symm_mem.set_backend("ATOLL")
    assert symm_mem.get_backend(torch.device("cpu")) == "ATOLL"
    tensor = symm_mem.empty(6, 4, dtype=torch.int32, device="cpu")
    handle = symm_mem.rendezvous(tensor, ranks.atoll)
    assert (handle.rank, handle.world_size, handle.offset) == (ranks.rank, ranks.size, 0)
    assert handle.buffer_size == tensor.nbytes and len(handle.buffer_ptrs) == ranks.size
    assert handle.buffer_ptrs[ranks.rank] == tensor.data_ptr()
    assert symm_mem.is_symm_mem_tensor(tensor) and not symm_mem.is_symm_mem_tensor(torch.ones(2))
    tensor.fill_(ranks.rank)
    handle.barrier()
    for other in range(ranks.size):
        assert handle.get_buffer(other, (24,), torch.int32).eq(other).all()
        assert handle.get_remote_tensor(other, (6, 4), torch.int32).eq(other).all()
        assert handle.get_buffer(other, (2, 2), torch.int32, 20).eq(other).all()
    handle.barrier()
    handle.get_buffer((ranks.rank + 1) % ranks.size, (6, 4), torch.int32)[2:4].fill_(100 + ranks.rank)
    handle.barrier()
    assert tensor[2:4].eq(100 + (ranks.rank - 1) % ranks.size).all()
    assert tensor[:2].eq(ranks.rank).all() and tensor[4:].eq(ranks.rank).all()
    assert symm_mem.rendezvous(tensor, ranks.atoll).buffer_ptrs == handle.buffer_ptrs
    mine, *_ = OPS.get_remote_tensors(tensor[3:], ranks.atoll.group_name)[ranks.rank :]
    assert mine.data_ptr() == tensor[3:].data_ptr() and mine.shape == (3, 4)


@case
def symmetric_signals_and_pads(ranks: Ranks) -> None:
    tensor = symm_mem.empty(1, device="cpu")
    handle = symm_mem.rendezvous(tensor, ranks.atoll)
    following, before = (ranks.rank + 1) % ranks.size, (ranks.rank - 1) % ranks.size
    for turn in range(20):
        handle.get_buffer(following, (1,), torch.float32).fill_(turn)
        handle.put_signal(following, channel=turn % 3)
        handle.wait_signal(before, channel=turn % 3)
        assert tensor.item() == turn
        handle.barrier(channel=1)
    pad = handle.get_signal_pad(ranks.rank)
    assert pad.dtype == torch.uint32 and pad.nbytes == symm_mem.get_signal_pad_size()
    assert not pad.view(torch.int32).any()
    handle.barrier()
    # A program may write its signals itself, by the layout of PyTorch's own.
    handle.get_signal_pad(following, (1,), torch.int32, 5 * ranks.size + ranks.rank).fill_(1)
    handle.wait_signal(before, channel=5)
    assert not pad.view(torch.int32).any()


@case
def symmetric_groups_and_allocations(ranks: Ranks) -> None:
    pair = [ranks.rank // 2 * 2, ranks.rank // 2 * 2 + 1]
    groups = [dist.new_group([i, i + 1], backend="atoll") for i in range(0, ranks.size, 2)]
    group = groups[ranks.rank // 2]
    tensors = [symm_mem.empty(1000 * (i + 1), device="cpu") for i in range(5)]
    everyone = [symm_mem.rendezvous(t, ranks.atoll) for t in tensors]
    both = [symm_mem.rendezvous(t, group) for t in tensors]
    assert [h.world_size for h in both] == [2] * 5
    for turn in range(30):
        tensor, handle, world = tensors[turn % 5], both[turn % 5], everyone[turn % 5]
        tensor.fill_(10 * turn + ranks.rank)
        handle.barrier()  # only the pair meets: pairs drift apart
        other = handle.get_buffer(1 - handle.rank, tensor.shape, tensor.dtype)
        assert other.eq(10 * turn + pair[1 - handle.rank]).all()
        handle.barrier()
        if turn % 5 == 4:
            world.barrier()
    gathered = symm_mem.rendezvous(tensors[0], ranks.gloo)  # any group with a store
    gathered.barrier()


@case
def symmetric_tensors_are_freed_in_any_order(ranks: Ranks) -> None:
    gc.collect()
    gc.freeze()  # so that the collections below do not visit all objects of PyTorch
    for turn in range(6):
        tensors = [symm_mem.empty(50_000, device="cpu") for _ in range(4)]
        handles = [symm_mem.rendezvous(t, ranks.atoll) for t in tensors]
        for i, tensor in enumerate(tensors):
            tensor.fill_(10 * turn + i)
        handles[0].barrier()
        order = sorted(range(4), key=lambda i: (i * 7 + ranks.rank * (turn + 1)) % 5)
        for i in order:
            view = handles[i].get_buffer((ranks.rank + 1) % ranks.size, (50_000,), torch.float32)
            tensors[i] = None  # this rank's own memory; others may still read it
            gc.collect()
            assert view.eq(10 * turn + i).all()
        del handles, view
    gc.unfreeze()


@case
def symmetric_operators(ranks: Ranks) -> None:
    name = ranks.atoll.group_name
    for dtype in TYPES:
        for count in (1, 1000, 70_000):
            parts = [torch.empty(count, dtype=dtype) for _ in range(ranks.size)]
            tensor = symmetric(ranks, count, dtype=dtype)
            dist.all_gather(parts, tensor, group=ranks.atoll)
            expected = torch.stack(parts).to(torch.float64).sum(0).to(dtype)
            assert torch.equal(OPS.one_shot_all_reduce(tensor, "sum", name), expected), (dtype, count)
            out = torch.empty_like(tensor)
            OPS.one_shot_all_reduce_out(tensor, "max", name, out)
            assert torch.equal(out, torch.stack(parts).amax(0))
            assert torch.equal(OPS._low_contention_all_gather(tensor, name), torch.cat(parts))
            OPS.two_shot_all_reduce_out(tensor, "sum", name, out)
            assert torch.equal(out, expected) and torch.equal(tensor, expected)


@case
def symmetric_operators_on_parts_and_copies(ranks: Ranks) -> None:
    name, n = ranks.atoll.group_name, ranks.size
    tensor = symmetric(ranks, 64, 12 * n)
    parts = [torch.empty_like(tensor) for _ in range(n)]
    dist.all_gather(parts, tensor, group=ranks.atoll)
    expected = torch.stack(parts).sum(0)
    part = tensor[8:24]  # a view in the middle
    assert torch.equal(OPS.one_shot_all_reduce(part, "sum", name), expected[8:24])
    for last in (False, True):
        mine = expected.chunk(n, -1 if last else 0)[ranks.rank].contiguous()
        out = torch.empty_like(mine)
        OPS.reduce_scatter_out(tensor, name, last, out)
        assert torch.equal(out, mine), last
    assert torch.equal(
        OPS._low_contention_reduce_scatter(tensor, "avg", name), expected.chunk(n)[ranks.rank] / n
    )
    OPS.two_shot_all_reduce_(part, "sum", name)
    assert torch.equal(part, expected[8:24])
    assert torch.equal(tensor[24:], parts[ranks.rank][24:]) and torch.equal(tensor[:8], parts[ranks.rank][:8])
    plain = torch.full((n, 3), float(ranks.rank))  # ordinary memory
    assert torch.equal(OPS._low_contention_all_gather(plain, name)[::n, 0], torch.arange(float(n)))
    assert OPS._low_contention_reduce_scatter(plain, "sum", name).eq(n * (n - 1) / 2).all()
    assert OPS.one_shot_all_reduce_copy(tensor, plain, "sum", name).eq(n * (n - 1) / 2).all()


@case
def symmetric_operators_that_are_refused(ranks: Ranks) -> None:
    name, tensor = ranks.atoll.group_name, symmetric(ranks, 8, 8)
    with raises(NotImplementedError, "multimem_all_reduce_", "no multicast", "two_shot_all_reduce_"):
        OPS.multimem_all_reduce_(tensor, "sum", name)
    with raises(NotImplementedError, "fused_all_gather_matmul", "one after the other"):
        OPS.fused_all_gather_matmul(tensor, [tensor], 0, name)
    with raises(NotImplementedError, "fused_matmul_reduce_scatter"):
        OPS.fused_matmul_reduce_scatter(tensor, tensor, "sum", 0, name)
    with raises(ValueError, "one_shot_all_reduce", "contiguous"):
        OPS.one_shot_all_reduce(tensor.t(), "sum", name)
    with raises(ValueError, "takes sum, avg", '"mean"'):
        OPS.one_shot_all_reduce(tensor, "mean", name)
    with raises(ValueError, "two_shot_all_reduce_"):
        OPS.one_shot_all_reduce_out(tensor, "sum", name, tensor)


@case
def symmetric_memory_used_wrongly(ranks: Ranks) -> None:
    small = symm_mem.empty(10 + ranks.rank, device="cpu")
    with raises(ValueError, "equal sizes", "rank 0 has 40 bytes", "rank 1 has 44", "Allocate alike"):
        symm_mem.rendezvous(small, ranks.atoll)
    tensor = torch.ones(10) if ranks.rank == 1 else symm_mem.empty(10, device="cpu")
    error = ValueError if ranks.rank == 1 else RuntimeError
    with raises(RuntimeError, "did not find backend for device type cpu"):
        symm_mem.get_mem_pool(torch.device("cpu"))
    with raises(error, "not of symm_mem.empty", *([] if ranks.rank == 1 else ["failed on rank 1"])):
        symm_mem.rendezvous(tensor, ranks.atoll)
    with raises(ValueError, "no process group", "nonsense"):
        symm_mem.rendezvous(small, "nonsense")
    handle = symm_mem.rendezvous(symm_mem.empty(10, device="cpu"), ranks.atoll)
    with raises(ValueError, "channel 99999", "set_signal_pad_size"):
        handle.barrier(channel=99_999)
    with raises(ValueError, "rank 99", f"0 to {ranks.size - 1}"):
        handle.put_signal(99)
    with raises(RuntimeError, "rank"):
        handle.get_buffer(ranks.size, (10,), torch.float32)
    handle.barrier()
    with raises(torch.OutOfMemoryError, "There is no room for a symmetric tensor of", "ATOLL_HEAP_SIZE"):
        symm_mem.empty(1 << 50, device="cpu")


@case
def symmetric_waits_that_time_out_name_the_rank(ranks: Ranks) -> None:
    tensor = symm_mem.empty(10, device="cpu")
    handle = symm_mem.rendezvous(tensor, ranks.atoll)
    signals = symm_mem.rendezvous(symm_mem.empty(1, device="cpu"), ranks.atoll)
    if ranks.rank != 2:
        with raises(RuntimeError, "Timed out after 0.1 s in barrier", "waiting for rank 2"):
            handle.barrier(timeout_ms=100)
        with raises(RuntimeError, "unusable", "rank 2"):
            handle.barrier(timeout_ms=100)
    else:
        with raises(RuntimeError, "Timed out after 0.1 s in wait_signal", "waiting for rank 1"):
            signals.wait_signal(1, timeout_ms=100)
    group = dist.new_group(backend="atoll", timeout=timedelta(seconds=1))
    if ranks.rank != 2:
        with raises(RuntimeError, "Rank 2 did not come to the rendezvous", "within 1 s"):
            symm_mem.rendezvous(tensor, group)
    exchange("symmetric timeouts", "")


@case
def symmetric_memory_after_its_group(ranks: Ranks) -> None:
    tensor = symm_mem.empty(10, device="cpu")
    group = dist.new_group(backend="atoll")
    handle = symm_mem.rendezvous(tensor, group)
    name = group.group_name
    handle.barrier()
    exchange("symmetric group", "")
    dist.destroy_process_group(group)
    with raises(ValueError, "barrier", "was destroyed"):
        handle.barrier()
    with raises(ValueError, "no process group", name):
        OPS.one_shot_all_reduce(tensor, "sum", name)
    tensor.fill_(1)  # the memory itself stays
    other = symm_mem.rendezvous(tensor, ranks.atoll)
    other.barrier()
    assert OPS.one_shot_all_reduce(tensor, "sum", ranks.atoll.group_name).eq(ranks.size).all()


@case
def symmetric_buckets(ranks: Ranks) -> None:
    backend = ranks.atoll._get_backend(torch.device("cpu"))
    assert backend.supports_tensor_alloc(torch.device("cpu"))
    bucket = backend.allocate_tensor(1000, dtype=torch.float32, device=torch.device("cpu"))
    assert symm_mem.is_symm_mem_tensor(bucket) and bucket.shape == (1000,)
    bucket.fill_(ranks.rank)
    dist.all_reduce(bucket, group=ranks.atoll)
    assert bucket.eq(ranks.size * (ranks.size - 1) / 2).all()
    if hasattr(backend, "memory_stats"):
        assert backend.memory_stats()["symmetric.used_bytes"] >= bucket.nbytes


@case
def training_has_its_buckets_in_symmetric_memory(ranks: Ranks) -> None:
    from torch.distributed.fsdp import fully_shard

    found: list[bool] = []

    def observe(state: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        found.append(symm_mem.is_symm_mem_tensor(bucket.buffer()))
        work = dist.all_reduce(bucket.buffer(), group=ranks.atoll, async_op=True)
        return work.get_future().then(lambda future: future.value()[0])

    os.environ["DDP_DISABLE_COMM_MEM"] = "0"
    observe.__annotations__.clear()  # PyTorch does not read annotations that are texts
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(300, 200), process_group=ranks.atoll)
    model.register_comm_hook(None, observe)
    for _ in range(2):
        model.zero_grad()
        model(torch.ones(4, 300)).sum().backward()
    del os.environ["DDP_DISABLE_COMM_MEM"]
    assert found == [True, True], found
    assert model.module.weight.grad is not None and model.module.weight.grad.eq(4 * ranks.size).all()
    sharded = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Linear(256, 64))
    fully_shard(sharded, mesh=dist.DeviceMesh.from_group(ranks.atoll, "cpu"))
    sharded.set_allocate_memory_from_process_group_for_comm(True)
    for _ in range(3):
        sharded.zero_grad()
        sharded(torch.ones(4, 64)).sum().backward()
    assert sharded[1].bias.grad.to_local().eq(4).all()


@case
def collectives_read_symmetric_tensors_in_place(ranks: Ranks) -> None:
    n = ranks.size
    for dtype in (torch.float32, torch.bfloat16):
        for count in (100, 50_000, 300_000):
            tensor = symmetric(ranks, n * count, dtype=dtype)
            plain = tensor.clone()
            wide, wider = torch.empty(n * n * count, dtype=dtype), torch.empty(n * n * count, dtype=dtype)
            dist.all_gather_into_tensor(wide, tensor, group=ranks.atoll)
            dist.all_gather_into_tensor(wider, plain, group=ranks.atoll)
            assert torch.equal(wide, wider)
            part, other = torch.empty(count, dtype=dtype), torch.empty(count, dtype=dtype)
            dist.reduce_scatter_tensor(part, tensor, group=ranks.atoll)
            dist.reduce_scatter_tensor(other, plain, group=ranks.atoll)
            assert torch.equal(part, other)
            swapped, expected = torch.empty_like(plain), torch.empty_like(plain)
            dist.all_to_all_single(swapped, tensor, group=ranks.atoll)
            dist.all_to_all_single(expected, plain, group=ranks.atoll)
            assert torch.equal(swapped, expected)
            dist.all_reduce(tensor, group=ranks.atoll)
            # One rank's tensor may be of ordinary memory.
            mixed = plain if ranks.rank == 1 else symmetric(ranks, n * count, dtype=dtype).copy_(plain)
            dist.all_reduce(mixed, group=ranks.atoll)
            assert torch.equal(tensor, mixed) and torch.equal(
                tensor, wide.view(n, -1).double().sum(0).to(dtype)
            )
            dist.broadcast(tensor.fill_(ranks.rank), 2, group=ranks.atoll)
            assert tensor.eq(2).all()


@case
def windows(ranks: Ranks) -> None:
    group = ranks.atoll
    if not hasattr(group, "new_window"):
        return  # PyTorch 2.15 adds it
    assert group.supports_window
    tensor = symm_mem.empty(3, 8, dtype=torch.int64, device="cpu").fill_(-1)
    window = group.new_window(tensor)
    following, before = (ranks.rank + 1) % ranks.size, (ranks.rank - 1) % ranks.size
    for turn in range(20):
        window.put(torch.full((4,), 10 * turn + ranks.rank), following, 2 + turn % 8, False)
        window.signal(following, False)
        window.signal(following, True)
        window.wait_signal(before, False)
        assert tensor.view(-1)[2 + turn % 8 : 6 + turn % 8].eq(10 * turn + before).all()
        work = window.wait_signal(before, True)
        work.wait()
        window.signal(before, False)  # this rank has read
        window.wait_signal(following, False)
    remote = window.map_remote_tensor(before)
    assert remote.shape == (3, 8) and remote.dtype == torch.int64
    remote[2, 7] = ranks.rank
    window.signal(before, False)
    window.wait_signal(following, False)
    assert tensor[2, 7] == following
    with raises(ValueError, "put of 30 elements at element 0", "has 24"):
        window.put(torch.zeros(30, dtype=torch.int64), following, 0, False)
    with raises(TypeError, "put was given a tensor of type Float", "Long"):
        window.put(torch.zeros(3), following, 0, False)
    with raises(ValueError, "signal was given rank 9"):
        window.signal(9, False)
    window.tensor_deregister()
    with raises(ValueError, "no tensor", "tensor_register"):
        window.map_remote_tensor(before)
    window.tensor_register(tensor[1])
    assert window.map_remote_tensor(before).shape == (8,)
    with raises(RuntimeError if ranks.rank else ValueError, "takes a contiguous CPU tensor"):
        group.new_window(torch.ones(3, 3).t()[:2] if ranks.rank == 0 else tensor)


def may_access_all(name: str, ranks: Ranks) -> bool:
    """Tell whether the system lets every rank read the memory of the others."""
    mine = ctypes.create_string_buffer(b"readable", 8)
    texts = exchange(f"{name}/places", f"{os.getpid()} {ctypes.addressof(mine)}")
    read = ctypes.CDLL(None).process_vm_readv
    found = True
    for process, address in (map(int, text.split()) for text in texts):
        got = ctypes.create_string_buffer(8)
        parts = [(ctypes.c_size_t * 2)(at, 8) for at in (ctypes.addressof(got), address)]
        found &= (
            read(process, parts[0], ctypes.c_ulong(1), parts[1], ctypes.c_ulong(1), ctypes.c_ulong(0)) == 8
        )
    return all(text == "True" for text in exchange(f"{name}/found", str(found)))


@contextlib.contextmanager
def no_access_to_processes(ranks: Ranks) -> Iterator[None]:
    """Forbid the ranks access to each other's memory: to the others and, by a capability, to a superuser."""
    libc, trace = ctypes.CDLL(None, use_errno=True), 1 << 19
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    dumpable = libc.prctl(3, 0, 0, 0, 0)
    before, sets[0] = sets[0], sets[0] & ~trace
    assert libc.capset(header, sets) == 0 and libc.prctl(4, 0, 0, 0, 0) == 0
    exchange("no access", "")
    try:
        yield
    finally:
        exchange("no access any more", "")
        sets[0] = before
        assert libc.prctl(4, dumpable, 0, 0, 0) == 0 and libc.capset(header, sets) == 0


@case
def windows_of_ordinary_tensors(ranks: Ranks) -> None:
    group = ranks.atoll
    if not hasattr(group, "new_window"):
        return
    following, before = (ranks.rank + 1) % ranks.size, (ranks.rank - 1) % ranks.size
    # Rank 0 has its tensor in symmetric memory. Sizes differ.
    n = 100_000 + ranks.rank
    tensor = symm_mem.empty(n, device="cpu") if ranks.rank == 0 else torch.empty(n)
    tensor.fill_(-1)
    texts = ("cannot access the memory of rank", "(process ", "symmetric_memory.empty(")
    with no_access_to_processes(ranks), raises(dist.DistBackendError, *texts):
        group.new_window(tensor)
    if not may_access_all("windows", ranks):
        with raises(dist.DistBackendError, *texts):
            group.new_window(tensor)
        return
    window = group.new_window(tensor)
    for turn in range(3):
        window.put(torch.full((90_000,), float(10 * turn + ranks.rank)), following, 7, False)
        window.signal(following, False)
        window.wait_signal(before, False)
        assert tensor[7:90_007].eq(10 * turn + before).all()
        assert tensor[:7].eq(-1).all() and tensor[90_007:].eq(-1).all()
        window.signal(before, False)
        window.wait_signal(following, False)
    window.put(torch.full((2,), 5.0), ranks.rank, 0, False)
    assert tensor[:3].tolist() == [5, 5, -1]
    there = 100_000 + following
    with raises(ValueError, "put of 2 elements at element", f"the tensor of rank {following} has {there}"):
        window.put(torch.ones(2), following, there - 1, False)
    with raises(NotImplementedError, "is in ordinary memory", "symmetric_memory.empty"):
        window.map_remote_tensor(following)
    assert window.map_remote_tensor(ranks.rank)[0] == 5
    window.tensor_deregister()
    # Symmetric memory of other sizes is reached in the same way.
    window.tensor_register(symm_mem.empty(10 + ranks.rank, device="cpu"))
    window.tensor_deregister()
    with raises(TypeError, "tensor_register: rank", "Long"):
        window.tensor_register(torch.ones(3, dtype=torch.int64 if ranks.rank == 1 else torch.float32))
    with raises(RuntimeError if ranks.rank else ValueError, "takes a contiguous CPU tensor"):
        window.tensor_register(torch.ones(3, 3).t() if ranks.rank == 0 else torch.ones(3, 3))


@case
def one_sided_calls_of_atoll_torch(ranks: Ranks) -> None:
    import atoll.torch

    tensor = atoll.torch.symmetric_empty(4, 6)
    shared = atoll.torch.share(tensor[1:3], ranks.atoll)
    following, before = (ranks.rank + 1) % ranks.size, (ranks.rank - 1) % ranks.size
    tensor.fill_(-1)
    shared.barrier()
    shared.put(torch.full((5,), float(ranks.rank)), following, offset=3)
    shared.signal(following)
    shared.wait_signal(before)
    assert tensor.view(-1)[9:14].eq(before).all() and tensor.view(-1)[:9].eq(-1).all()
    got = torch.empty(2, 2)
    shared.get(got, following, offset=4)
    assert got.view(-1).eq(ranks.rank).all()
    shared.barrier()
    assert shared.tensor(before).shape == (2, 6)
    with raises(ValueError, "put of 13 elements at element 0", "12 elements"):
        shared.put(torch.zeros(13), following)
    with raises(RuntimeError, "Timed out after 0.05 s in wait_signal"):
        shared.wait_signal(before, channel=3, timeout=0.05)
