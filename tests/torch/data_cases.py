"""Cases of operations that move and combine data, by all types, shapes and operators."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import torch
import torch.distributed as dist
from ranks import Ranks, case, check_multiplied_sums, check_rank_order, raises, same

# gloo has no reductions of booleans that keep 0 and 1, and none of 16-bit integers.
TYPES = [torch.float32, torch.float64, torch.int8, torch.uint8, torch.int32, torch.int64]
NARROW = [torch.float16, torch.bfloat16]
SHAPES = [(), (0,), (1,), (7,), (3, 5), (40_000,), (300_001,)]
OPS = [dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX]
BITS = [dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR]


@case
def all_reduce_of_every_type(ranks: Ranks) -> None:
    for dtype, op, shape in itertools.product(TYPES + NARROW, OPS, SHAPES):
        results = []
        for group in ranks.both:
            tensor = ranks.values(shape, dtype)
            dist.all_reduce(tensor, op, group=group)
            results.append(tensor)
        same(results, (dtype, op, shape))


@case
def all_reduce_of_bits(ranks: Ranks) -> None:
    for dtype, op in itertools.product([torch.int8, torch.uint8, torch.int32, torch.int64], BITS):
        results = []
        for group in ranks.both:
            tensor = ranks.values((1000,), dtype)
            dist.all_reduce(tensor, op, group=group)
            results.append(tensor)
        same(results, (dtype, op))
    with raises(ValueError, "not defined"):
        dist.all_reduce(torch.ones(3), dist.ReduceOp.BAND, group=ranks.atoll)


@case
def all_reduce_of_further_types(ranks: Ranks) -> None:
    flags = torch.tensor([ranks.rank == 0, True, False])
    dist.all_reduce(flags, group=ranks.atoll)
    assert flags.tolist() == [True, True, False]
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.int16, torch.complex64, torch.complex128):
        tensor = ranks.values((100,), torch.float32).to(dtype)
        parts = [torch.empty_like(tensor) for _ in range(ranks.size)]
        dist.all_gather(parts, tensor, group=ranks.atoll)
        wide = torch.complex128 if dtype.is_complex else torch.float64
        expected = sum(part.to(wide) for part in parts).to(dtype)  # type: ignore[union-attr]
        dist.all_reduce(tensor, group=ranks.atoll)
        assert torch.equal(tensor.to(wide), expected.to(wide)), (dtype, tensor, expected)


@case
def averages(ranks: Ranks) -> None:
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        tensor = torch.full((50,), float(ranks.rank), dtype=dtype)
        dist.all_reduce(tensor, dist.ReduceOp.AVG, group=ranks.atoll)
        expected = torch.tensor(sum(range(ranks.size)) / ranks.size).to(dtype)
        assert torch.equal(tensor, expected.expand(50)), (dtype, tensor, expected)


@case
def sums_of_multiplied_tensors(ranks: Ranks) -> None:
    check_multiplied_sums(ranks, torch.device("cpu"))


@case
def sums_have_the_same_bits_on_all_ranks(ranks: Ranks) -> None:
    for count in (3, 1000, 100_000):
        check_rank_order(ranks, count, "cpu")


@case
def rooted_operations(ranks: Ranks) -> None:
    for root, shape in itertools.product(range(ranks.size), [(), (0,), (5,), (70_000,)]):
        results: dict[str, list[Any]] = {"broadcast": [], "reduce": [], "gather": [], "scatter": []}
        for group in ranks.both:
            tensor = ranks.values(shape, torch.float32, seed=root)
            dist.broadcast(tensor, root, group=group)
            results["broadcast"].append(tensor)
            tensor = ranks.values(shape, torch.int64, seed=root)
            dist.reduce(tensor, root, group=group)
            results["reduce"].append(tensor if ranks.rank == root else torch.zeros(()))
            tensor = ranks.values(shape, torch.float64, seed=root)
            parts = [torch.empty_like(tensor) for _ in range(ranks.size)] if ranks.rank == root else None
            dist.gather(tensor, parts, dst=root, group=group)
            results["gather"].append(parts or [])
            inputs = None
            if ranks.rank == root:
                inputs = [ranks.values(shape, torch.int32, seed=i) for i in range(ranks.size)]
            dist.scatter(tensor := torch.empty(shape, dtype=torch.int32), inputs, src=root, group=group)
            results["scatter"].append(tensor)
        for name, pair in results.items():
            same(pair, (name, root, shape))


@case
def gathers(ranks: Ranks) -> None:
    for shape in SHAPES:
        lists, singles = [], []
        for group in ranks.both:
            tensor = ranks.values(shape, torch.float32)
            parts = [torch.empty_like(tensor) for _ in range(ranks.size)]
            dist.all_gather(parts, tensor, group=group)
            lists.append(parts)
            out = torch.empty(tensor.numel() * ranks.size)
            dist.all_gather_into_tensor(out, tensor.reshape(-1), group=group)
            singles.append(out)
        same(lists, shape)
        same(singles, shape)


@case
def uneven_all_gather(ranks: Ranks) -> None:
    for base in (0, 3, 50_000):
        mine = torch.full((base + ranks.rank,), float(ranks.rank))
        parts = [torch.empty(base + i) for i in range(ranks.size)]
        dist.all_gather(parts, mine, group=ranks.atoll)
        for i, part in enumerate(parts):
            assert torch.equal(part, torch.full((base + i,), float(i)))


@case
def reduce_scatters(ranks: Ranks) -> None:
    for count, dtype in itertools.product((0, 1, 33, 60_000), (torch.float32, torch.int64, torch.bfloat16)):
        whole = ranks.values((count * ranks.size,), dtype)
        total = whole.clone()
        dist.all_reduce(total, group=ranks.atoll)
        expected = total[count * ranks.rank : count * (ranks.rank + 1)]
        out = torch.empty(count, dtype=dtype)
        dist.reduce_scatter_tensor(out, whole, group=ranks.atoll)
        assert torch.equal(out, expected), (count, dtype)
        out = torch.empty(count, dtype=dtype)
        dist.reduce_scatter(
            out, list(whole.chunk(ranks.size)) if count else [whole] * ranks.size, group=ranks.atoll
        )
        assert torch.equal(out, expected), (count, dtype)


@case
def all_to_alls(ranks: Ranks) -> None:
    n = ranks.size
    for rows in (0, 1, 40, 20_000):
        out, whole = torch.empty(n * rows, 2), ranks.values((n * rows, 2), torch.float32)
        dist.all_to_all_single(out, whole, group=ranks.atoll)
        theirs = torch.empty(n * rows, 2)
        dist.all_to_all_single(theirs, whole, group=ranks.gloo)
        same([out, theirs], rows)
        # Rank i sends rows + i + j rows to rank j.
        sends = [rows + ranks.rank + j for j in range(n)]
        whole = ranks.values((sum(sends), 3), torch.int64)
        outs = []
        for group in ranks.both:
            outs.append(torch.empty(sum(sends), 3, dtype=torch.int64))
            dist.all_to_all_single(outs[-1], whole, sends, sends, group=group)
        same(outs, rows)
        parts = [torch.empty(k, 3, dtype=torch.int64) for k in sends]
        dist.all_to_all(parts, list(whole.split(sends)), group=ranks.atoll)
        assert torch.equal(torch.cat(parts), outs[0])


@case
def tensors_that_are_not_contiguous(ranks: Ranks) -> None:
    base = ranks.values((6, 8), torch.float32)
    expected = base.clone()
    dist.all_reduce(expected, group=ranks.atoll)
    for blocking in (True, False):
        tensor = base.t().contiguous().t()
        assert not tensor.is_contiguous()
        work = dist.all_reduce(tensor, group=ranks.atoll, async_op=not blocking)
        if work:
            work.wait()
        assert torch.equal(tensor, expected)
        wide = torch.zeros(6, 16)
        view = wide[:, ::2]
        view.copy_(base)
        work = dist.all_reduce(view, group=ranks.atoll, async_op=not blocking)
        if work:
            work.wait()
        assert torch.equal(view, expected) and not wide[:, 1::2].any()
    parts = [torch.zeros(8, 6).t() for _ in range(ranks.size)]
    dist.all_gather(parts, base[:, :].contiguous(), group=ranks.atoll)
    assert torch.equal(parts[ranks.rank], base)
    for group in ranks.both:
        with raises(ValueError, "contiguous"):
            dist.all_to_all_single(torch.empty(base.shape), base.t().contiguous().t(), group=group)


@case
def messages(ranks: Ranks) -> None:
    group, rank, size = ranks.atoll, ranks.rank, ranks.size
    for count in (0, 1, 1000, 200_000):
        right, left = (rank + 1) % size, (rank - 1) % size
        inbox = torch.empty(count)
        works = dist.batch_isend_irecv(
            [
                dist.P2POp(dist.isend, torch.full((count,), float(rank)), right, group),
                dist.P2POp(dist.irecv, inbox, left, group),
            ]
        )
        for work in works:
            work.wait()
        assert torch.equal(inbox, torch.full((count,), float(left)))
    if rank == 0:
        for _ in range(2 * (size - 1)):
            tensor = torch.empty(1)
            source = dist.recv(tensor, group=group, tag=5)
            assert tensor.item() == source
        first, second = torch.empty(1), torch.empty(1)
        dist.recv(second, 1, group=group, tag=8)
        dist.recv(first, 1, group=group, tag=7)
        assert (first.item(), second.item()) == (7, 8)
    else:
        for _ in range(2):
            dist.send(torch.tensor([float(rank)]), 0, group=group, tag=5)
        if rank == 1:
            for tag in (7, 8):
                dist.send(torch.tensor([float(tag)]), 0, group=group, tag=tag)


@case
def objects(ranks: Ranks) -> None:
    group = ranks.atoll
    mine = {"rank": ranks.rank, "data": list(range(ranks.rank * 100))}
    everyone: list[Any] = [None] * ranks.size
    dist.all_gather_object(everyone, mine, group=group)
    assert [x["rank"] for x in everyone] == list(range(ranks.size))
    box = [mine]
    dist.broadcast_object_list(box, 1, group=group)
    assert box[0]["rank"] == 1
    scattered: list[Any] = [None]
    dist.scatter_object_list(scattered, list("abcdefgh"[: ranks.size]), 0, group=group)
    assert scattered == ["abcdefgh"[ranks.rank]]
    gathered = [None] * ranks.size if ranks.rank == 0 else None
    dist.gather_object(ranks.rank, gathered, 0, group=group)
    assert gathered is None or gathered == list(range(ranks.size))


@case
def coalesced_operations(ranks: Ranks) -> None:
    tensors = [torch.full((k,), float(ranks.rank)) for k in (1, 10, 30_000)]
    total = sum(range(ranks.size))
    with dist.distributed_c10d._coalescing_manager(group=ranks.atoll, async_ops=True) as manager:
        for tensor in tensors:
            dist.all_reduce(tensor, group=ranks.atoll)
    manager.wait()
    assert all(torch.equal(t, torch.full_like(t, total)) for t in tensors)
    outs = [torch.empty(k * ranks.size) for k in (1, 10)]
    with dist.distributed_c10d._coalescing_manager(group=ranks.atoll, async_ops=True) as manager:
        for out in outs:
            dist.all_gather_into_tensor(out, torch.ones(out.numel() // ranks.size), group=ranks.atoll)
    manager.wait()
    assert all(out.eq(1).all() for out in outs)
    parts = [torch.empty(k) for k in (1, 10)]
    with dist.distributed_c10d._coalescing_manager(group=ranks.atoll):
        for part in parts:
            dist.reduce_scatter_tensor(part, torch.ones(part.numel() * ranks.size), group=ranks.atoll)
    assert all(part.eq(ranks.size).all() for part in parts)


@case
def a_tensor_twice_in_a_coalesced_all_reduce_is_reduced_once(ranks: Ranks) -> None:
    results = []
    for group in ranks.both:
        tensor, other = ranks.values((1000,), torch.float32), ranks.values((10, 3), torch.float32, 1).t()
        with warnings.catch_warnings(action="ignore"):
            dist.all_reduce_coalesced([tensor, other, tensor], group=group)
        results.append([tensor, other])
    same(results, "repeated")
    backend = ranks.atoll._get_backend(torch.device("cpu"))
    with raises(ValueError, "non-empty"):
        backend.allreduce_coalesced([], dist.AllreduceCoalescedOptions())


@case
def sparse_all_reduce(ranks: Ranks) -> None:
    indices = torch.tensor([[ranks.rank, 5], [0, 1]])
    tensor = torch.sparse_coo_tensor(indices, torch.ones(2), (8, 2))
    results = []
    for group in ranks.both:
        copy = tensor.clone()
        dist.all_reduce(copy, group=group)
        results.append(copy.to_dense())
    same(results, "sparse")


@case
def sharded_tensors(ranks: Ranks) -> None:
    if torch.cuda.is_available():  # PyTorch gathers them on the GPU there
        return
    from torch.distributed._shard import sharded_tensor
    from torch.distributed._shard.sharding_spec import ChunkShardingSpec

    placements = [f"rank:{rank}/cpu" for rank in range(ranks.size)]
    sharded = sharded_tensor.full(ChunkShardingSpec(dim=0, placements=placements), (10, 3), 5.0)
    whole = torch.empty(10, 3) if ranks.rank == 0 else None
    sharded.gather(0, whole)
    assert whole is None or whole.eq(5).all()
