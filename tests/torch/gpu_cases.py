"""Cases on CUDA tensors: each operation on the backend atoll, and on gloo with copies on the CPU."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from ranks import Ranks, case, check_multiplied_sums, check_rank_order, exchange, raises, same

TYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64,
]  # fmt: skip
# The sizes are those of one message, of several through a team's own memory, and of the stage.
SHAPES = [(), (0,), (1,), (7,), (3, 5), (40_000,), (300_001,), (3_000_001,)]
OPS = [dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX]


def gpu() -> torch.device:
    """Return this rank's GPU."""
    return torch.device("cuda", torch.cuda.current_device())


def beside_gloo(ranks: Ranks, what: object, body: Callable[[Any, torch.device], Any]) -> None:
    """Compare the results of `body` by atoll on the GPU with those by gloo on the CPU."""
    same([body(ranks.atoll, gpu()), body(ranks.gloo, torch.device("cpu"))], what)


@case
def all_reduce_of_every_type(ranks: Ranks) -> None:
    for dtype, op, shape in itertools.product(TYPES, OPS, SHAPES):
        if shape == SHAPES[-1] and op != OPS[0]:
            continue  # the path of the largest size does not depend on the operator

        def body(group: Any, device: torch.device) -> torch.Tensor:
            tensor = ranks.values(shape, dtype).to(device)  # noqa: B023 (called in this round)
            dist.all_reduce(tensor, op, group=group)  # noqa: B023
            return tensor

        beside_gloo(ranks, (dtype, op, shape), body)


@case
def all_reduce_of_further_types(ranks: Ranks) -> None:
    flags = torch.tensor([ranks.rank == 0, True, False], device=gpu())
    dist.all_reduce(flags, group=ranks.atoll)
    assert flags.tolist() == [True, True, False]
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.int16, torch.complex64, torch.complex128):
        wide = torch.complex128 if dtype.is_complex else torch.float64
        tensor = ranks.values((1000,), torch.float32).to(dtype).to(gpu())
        parts = [torch.empty_like(tensor) for _ in range(ranks.size)]
        dist.all_gather(parts, tensor, group=ranks.atoll)
        expected = torch.stack([part.to(wide) for part in parts]).sum(0).to(dtype)
        dist.all_reduce(tensor, group=ranks.atoll)
        assert torch.equal(tensor.to(wide), expected.to(wide)), (dtype, tensor, expected)


@case
def averages(ranks: Ranks) -> None:
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64):
        tensor = torch.full((50,), float(ranks.rank), dtype=dtype, device=gpu())
        dist.all_reduce(tensor, dist.ReduceOp.AVG, group=ranks.atoll)
        expected = torch.tensor(sum(range(ranks.size)) / ranks.size).to(dtype)
        assert torch.equal(tensor.cpu(), expected.expand(50)), (dtype, tensor, expected)


@case
def sums_are_in_rank_order(ranks: Ranks) -> None:
    for count in (3, 1000, 100_000, 3_000_000):
        check_rank_order(ranks, count, gpu())


@case
def rooted_operations(ranks: Ranks) -> None:
    for root, shape in itertools.product(range(ranks.size), [(), (0,), (5,), (70_000,), (2_000_000,)]):

        def body(group: Any, device: torch.device) -> list[torch.Tensor]:
            def values(dtype: torch.dtype, seed: int) -> torch.Tensor:
                return ranks.values(shape, dtype, seed=seed).to(device)  # noqa: B023

            is_root = ranks.rank == root  # noqa: B023
            results = [values(torch.float32, 1)]
            dist.broadcast(results[0], root, group=group)  # noqa: B023
            tensor = values(torch.int64, 2)
            dist.reduce(tensor, root, group=group)  # noqa: B023
            if is_root:
                results.append(tensor)
            tensor = values(torch.float64, 3)
            parts = [torch.empty_like(tensor) for _ in range(ranks.size)] if is_root else None
            dist.gather(tensor, parts, dst=root, group=group)  # noqa: B023
            results += parts or []
            inputs = [values(torch.int32, seed) for seed in range(ranks.size)] if is_root else None
            tensor = torch.empty(shape, dtype=torch.int32, device=device)  # noqa: B023
            dist.scatter(tensor, inputs, src=root, group=group)  # noqa: B023
            return [*results, tensor]

        beside_gloo(ranks, (root, shape), body)


@case
def sums_of_multiplied_tensors(ranks: Ranks) -> None:
    check_multiplied_sums(ranks, gpu())


@case
def gathers(ranks: Ranks) -> None:
    for shape in SHAPES:

        def body(group: Any, device: torch.device) -> list[torch.Tensor]:
            tensor = ranks.values(shape, torch.float32).to(device)  # noqa: B023
            parts = [torch.empty_like(tensor) for _ in range(ranks.size)]
            dist.all_gather(parts, tensor, group=group)
            whole = torch.empty(tensor.numel() * ranks.size, device=device)
            dist.all_gather_into_tensor(whole, tensor.reshape(-1), group=group)
            return [*parts, whole]

        beside_gloo(ranks, shape, body)
    for unit in (3, 100_000):
        tensor = torch.full((unit * (ranks.rank + 1),), ranks.rank, device=gpu())
        parts = [
            torch.empty(unit * (rank + 1), dtype=torch.int64, device=gpu()) for rank in range(ranks.size)
        ]
        dist.all_gather(parts, tensor, group=ranks.atoll)
        for rank, part in enumerate(parts):
            assert torch.equal(part, torch.full_like(part, rank)), "pieces of different sizes"


@case
def reduce_scatters(ranks: Ranks) -> None:
    for count in (1, 5, 40_000, 2_000_000):
        wide = torch.cat([ranks.values((count,), torch.float32, seed=rank) for rank in range(ranks.size)]).to(
            gpu()
        )
        total = wide.clone()
        dist.all_reduce(total, group=ranks.atoll)
        expected = total.chunk(ranks.size)[ranks.rank]
        for inputs in (wide, [part.clone() for part in wide.chunk(ranks.size)]):
            out = torch.empty(count, device=gpu())
            if isinstance(inputs, list):
                dist.reduce_scatter(out, inputs, group=ranks.atoll)
            else:
                dist.reduce_scatter_tensor(out, inputs, group=ranks.atoll)
            assert torch.equal(out, expected), count
        own = wide.chunk(ranks.size)[ranks.rank]
        dist.reduce_scatter_tensor(own, wide, group=ranks.atoll)
        assert torch.equal(own, expected), f"in place, {count}"
    sizes = [3 + rank for rank in range(ranks.size)]
    out = torch.empty(sizes[ranks.rank], device=gpu())
    dist.reduce_scatter(out, [torch.ones(size, device=gpu()) for size in sizes], group=ranks.atoll)
    assert out.tolist() == [ranks.size] * sizes[ranks.rank]


@case
def all_to_alls(ranks: Ranks) -> None:
    n, me = ranks.size, ranks.rank
    for count in (1, 1000, 2_000_000):
        tensor = torch.arange(n, device=gpu()).repeat_interleave(count) + 100 * me
        out = torch.empty_like(tensor)
        dist.all_to_all_single(out, tensor, group=ranks.atoll)
        expected = torch.arange(n, device=gpu()).repeat_interleave(count) * 100 + me
        assert torch.equal(out, expected), count
        parts = [torch.empty(count, dtype=torch.int64, device=gpu()) for _ in range(n)]
        dist.all_to_all(parts, [part.clone() for part in tensor.chunk(n)], group=ranks.atoll)
        assert torch.equal(torch.cat(parts), expected), count
    for unit in (1, 500_000):
        sent, received = ([unit * (a + 2 * b) for a, b in pairs] for pairs in (
            [(me, to) for to in range(n)], [(source, me) for source in range(n)])
        )  # fmt: skip
        tensor = torch.full((sum(sent),), float(me), device=gpu())
        out = torch.empty(sum(received), device=gpu())
        dist.all_to_all_single(out, tensor, received, sent, group=ranks.atoll)
        expected = torch.cat([torch.full((size,), float(source)) for source, size in enumerate(received)])
        assert torch.equal(out.cpu(), expected), f"pieces of different sizes, {unit}"


@case
def tensors_that_are_not_contiguous(ranks: Ranks) -> None:
    tensor = torch.ones(6, 4, device=gpu()).t()
    dist.all_reduce(tensor, group=ranks.atoll)
    assert torch.equal(tensor, torch.full_like(tensor, ranks.size))
    work = dist.all_reduce(view := torch.ones(8, device=gpu())[::2], group=ranks.atoll, async_op=True)
    work.wait()
    assert view.tolist() == [ranks.size] * 4
    wide = torch.zeros(3, 2 * ranks.size, device=gpu())
    columns = list(wide.t().split(2))
    dist.all_gather(columns, torch.full((2, 3), float(ranks.rank), device=gpu()), group=ranks.atoll)
    assert wide[0].tolist() == [rank for rank in range(ranks.size) for _ in range(2)]


@case
def messages(ranks: Ranks) -> None:
    n, me = ranks.size, ranks.rank
    right, left = (me + 1) % n, (me - 1) % n
    for count in (1, 40_000, 5_000_000):
        sent = torch.full((count,), float(me), device=gpu())
        received = torch.empty_like(sent)
        operations = [dist.P2POp(dist.isend, sent, right, ranks.atoll)]
        operations.append(dist.P2POp(dist.irecv, received, left, ranks.atoll))
        for work in dist.batch_isend_irecv(operations):
            work.wait()
        assert torch.equal(received, torch.full_like(received, left)), f"ring, {count}"
    if me > 1:
        return
    for count in (1, 5_000_000):
        sent, received = torch.full((count,), float(me), device=gpu()), torch.empty(count, device=gpu())
        works = [dist.isend(sent, 1 - me, ranks.atoll), dist.irecv(received, 1 - me, ranks.atoll)]
        for work in works:
            assert work is not None
            work.wait()
        assert torch.equal(received, torch.full_like(received, 1 - me)), f"both at once, {count}"
        for turn in range(3):
            if me == 0:
                dist.send(sent + turn, 1, ranks.atoll)
            else:
                dist.recv(received, 0, ranks.atoll)
                assert torch.equal(received, torch.full_like(received, turn)), f"message {turn}"


@case
def asynchronous_calls_follow_the_program(ranks: Ranks) -> None:
    """Results are right although producers, the operation and consumers are on three streams."""
    tensor = torch.zeros(1_000_000, device=gpu())
    side = torch.cuda.Stream()
    for turn in range(1, 6):
        torch.cuda._sleep(2_000_000)
        tensor.fill_(turn)
        work = dist.all_reduce(tensor, group=ranks.atoll, async_op=True)
        with torch.cuda.stream(side):
            work.wait()
            result = tensor.clone()
        torch.cuda.current_stream().wait_stream(side)
        work.wait()
        assert torch.equal(result, torch.full_like(result, turn * ranks.size)), turn
    works = [dist.all_reduce(tensor, group=ranks.atoll, async_op=turn % 2 == 0) for turn in range(4)]
    for work in works:
        if work is not None:
            work.wait()
    assert tensor[0].item() == 5 * ranks.size**5, "synchronous and asynchronous calls, mixed"
    future = dist.all_reduce(torch.ones(3, device=gpu()), group=ranks.atoll, async_op=True).get_future()
    doubled = future.then(lambda done: done.value()[0] * 2).wait()
    assert doubled.tolist() == [2 * ranks.size] * 3
    assert works[0] is not None
    torch.cuda.synchronize()
    assert works[0].is_completed()


@case
def memory_is_kept_until_the_operation_has_used_it(ranks: Ranks) -> None:
    for _ in range(20):
        tensor = torch.ones(1_000_000, device=gpu())
        work = dist.all_reduce(tensor, group=ranks.atoll, async_op=True)
        result = torch.empty_like(tensor)
        work.wait()
        result.copy_(tensor)
        del tensor, work
        torch.full((1_000_000,), -1.0, device=gpu())
        assert torch.equal(result, torch.full_like(result, ranks.size))


@case
def several_groups_on_several_streams(ranks: Ranks) -> None:
    groups = [dist.new_group(backend="atoll") for _ in range(3)]
    tensors = [torch.full((500_000,), float(i + 1), device=gpu()) for i in range(3)]
    for group, tensor in zip(
        groups, tensors, strict=True
    ):  # in one order on all ranks: the first use is collective
        dist.all_reduce(tensor, group=group)
    order = range(3) if ranks.rank % 2 == 0 else reversed(range(3))
    works = [dist.all_reduce(tensors[i], group=groups[i], async_op=True) for i in order]
    for work in works:
        work.wait()
    for i, tensor in enumerate(tensors):
        assert torch.equal(tensor, torch.full_like(tensor, (i + 1) * ranks.size**2)), i
    for group in groups:
        dist.destroy_process_group(group)
    if ranks.size > 2:
        pair = dist.new_group([0, ranks.size - 1], backend="atoll")
        if ranks.rank in (0, ranks.size - 1):
            dist.all_reduce(tensors[0], group=pair)
            assert tensors[0][0].item() == 2 * ranks.size**2


@case
def groups_split_and_shrunk(ranks: Ranks) -> None:
    parts = [list(range(ranks.size))[::-1], []]
    if ranks.size > 2:
        parts = [[2, 0], [1, *range(3, ranks.size)]]
    mine = next(part for part in parts if ranks.rank in part)
    large = torch.ones(2_000_000, device=gpu())
    if hasattr(ranks.atoll._get_backend(gpu()), "options"):  # PyTorch 2.11 has none, and cannot split
        group = dist.split_group(ranks.atoll, [part for part in parts if part])
        whole = torch.empty(len(mine), device=gpu())
        dist.all_gather_into_tensor(whole, torch.full((1,), float(ranks.rank), device=gpu()), group=group)
        assert whole.tolist() == mine, "ranks keep the order of the list"
        dist.all_reduce(large, group=group)
        assert torch.equal(large, torch.full_like(large, len(mine)))
        dist.destroy_process_group(group)
    parent = dist.new_group(backend="atoll")
    dist.all_reduce(large, group=parent)
    last = ranks.size - 1
    if ranks.rank != last:
        shrunk = dist.shrink_group([last], group=parent, shrink_flags=dist.distributed_c10d.SHRINK_ABORT)
        ones = torch.ones(3, device=gpu())
        dist.all_reduce(ones, group=shrunk)
        assert ones.tolist() == [last] * 3
        dist.destroy_process_group(shrunk)
    # PyTorch numbers groups; the last rank has made fewer.
    world = dist.distributed_c10d._world
    world.group_count = max(map(int, exchange(f"{ranks.name}/count", str(world.group_count))))


@case
def capture_in_a_graph(ranks: Ranks) -> None:
    for count in (1000, 2_000_000):
        tensor, whole = torch.ones(count, device=gpu()), torch.empty(count * ranks.size, device=gpu())
        swapped = torch.empty_like(whole)

        def step() -> None:
            dist.all_reduce(tensor, group=ranks.atoll)  # noqa: B023
            dist.all_gather_into_tensor(whole, tensor, group=ranks.atoll)  # noqa: B023
            work = dist.all_to_all_single(swapped, whole, group=ranks.atoll, async_op=True)  # noqa: B023
            work.wait()

        step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        for turn in range(3):
            tensor.fill_(turn)
            graph.replay()
            for result in (tensor, whole, swapped):
                assert torch.equal(result, torch.full_like(result, turn * ranks.size)), (count, turn)
        tensor.fill_(1)
        dist.all_reduce(tensor, group=ranks.atoll)
        assert tensor[-1].item() == ranks.size, "a call after the replays"


@case
def barriers_and_objects(ranks: Ranks) -> None:
    dist.barrier(ranks.atoll)
    dist.barrier(ranks.atoll, device_ids=[torch.cuda.current_device()])
    objects: list[Any] = [None] * ranks.size
    dist.all_gather_object(objects, {"rank": ranks.rank}, group=ranks.atoll)
    assert objects == [{"rank": rank} for rank in range(ranks.size)]


@case
def coalesced_operations(ranks: Ranks) -> None:
    tensors = [torch.full((100 * i + 1,), float(i), device=gpu()) for i in range(4)]
    with dist._coalescing_manager(group=ranks.atoll, device=gpu(), async_ops=True) as manager:
        for tensor in tensors:
            dist.all_reduce(tensor, group=ranks.atoll)
    manager.wait()
    for i, tensor in enumerate(tensors):
        assert torch.equal(tensor, torch.full_like(tensor, i * ranks.size)), i


@case
def wrong_arguments(ranks: Ranks) -> None:
    here = torch.ones(2, device=gpu())
    with raises(ValueError, "tensors of one device"):
        dist.all_gather([torch.ones(2) for _ in range(ranks.size)], here, group=ranks.atoll)
    with raises(NotImplementedError, "recv from any rank is for CPU tensors"):
        dist.recv(here, group=ranks.atoll)
    dist.all_reduce(here, group=ranks.atoll)
    assert here.tolist() == [ranks.size] * 2


def model(device: torch.device) -> torch.nn.Module:
    """Return a small model, the same on all ranks."""
    torch.manual_seed(1)
    layers = (
        torch.nn.Linear(20, 500),
        torch.nn.Tanh(),
        torch.nn.Linear(500, 500),
        torch.nn.Tanh(),
        torch.nn.Linear(500, 3),
    )
    return torch.nn.Sequential(*layers).to(device)


def losses_of(parallel: torch.nn.Module, data: torch.Tensor, accumulate: bool = False) -> list[float]:
    """Train for some steps, at a rate at which roundings do not grow."""
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.001)
    losses = []
    for _ in range(6):
        optimizer.zero_grad()
        if accumulate:
            with parallel.no_sync():  # type: ignore[operator]
                parallel(data + 1).square().mean().backward()
        loss = parallel(data).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@case
def data_parallel_training_as_with_gloo(ranks: Ranks) -> None:
    for accumulate in (False, True):
        results = []
        for group, device in ((ranks.atoll, gpu()), (ranks.gloo, torch.device("cpu"))):
            parallel = torch.nn.parallel.DistributedDataParallel(
                model(device), process_group=group, bucket_cap_mb=0.5, find_unused_parameters=accumulate
            )
            data = torch.randn(8, 20, generator=torch.Generator().manual_seed(ranks.rank)).to(device)
            results.append(losses_of(parallel, data, accumulate))
        torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)


@case
def fully_sharded_training(ranks: Ranks) -> None:
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = dist.init_device_mesh("cuda", (ranks.size,))
    whole = losses_of(model(gpu()), torch.ones(8, 20, device=gpu()))
    for policy in (MixedPrecisionPolicy(), MixedPrecisionPolicy(torch.bfloat16, torch.float32)):
        sharded = model(gpu())
        fully_shard(sharded, mesh=mesh, mp_policy=policy)
        losses = losses_of(sharded, torch.ones(8, 20, device=gpu()))
        close = {} if policy.param_dtype is None else {"rtol": 0.02, "atol": 0.0}
        torch.testing.assert_close(losses, whole, **close)


@case
def distributed_tensors(ranks: Ranks) -> None:
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = dist.init_device_mesh("cuda", (ranks.size,))
    whole = torch.arange(48.0, device=gpu()).reshape(12, 4)
    tensor = distribute_tensor(whole, mesh, [Shard(0)])
    assert torch.equal(tensor.redistribute(mesh, [Replicate()]).to_local(), whole)
    assert torch.equal(tensor.redistribute(mesh, [Shard(1)]).full_tensor(), whole)
