"""Cases that run on every rank of a job of PyTorch. Most compare the backend atoll with gloo on equal calls.

    python cases.py RANK SIZE FILE

Rank 0 writes a line of JSON for each case: its name, and the errors of the ranks where it failed. Every case
has a group of its own, so a broken one harms no other.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

Case = Callable[["Ranks"], None]
CASES: dict[str, Case] = {}
LIMIT = timedelta(seconds=60)
# gloo has no reductions of booleans that keep 0 and 1, and none of 16-bit integers.
TYPES = [torch.float32, torch.float64, torch.int8, torch.uint8, torch.int32, torch.int64]
NARROW = [torch.float16, torch.bfloat16]
SHAPES = [(), (0,), (1,), (7,), (3, 5), (40_000,), (300_001,)]


class Ranks:
    """What a case is given: this rank, the size, and groups of both backends over all ranks."""

    def __init__(self, name: str, atoll: Any, gloo: Any) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.atoll, self.gloo = atoll, gloo
        self.name, self.meetings = name, 0

    def meet(self) -> None:
        """Wait for all ranks, by PyTorch's store."""
        self.meetings += 1
        exchange(f"{self.name}/{self.meetings}", "")

    @property
    def both(self) -> tuple[Any, Any]:
        """The two groups, for comparisons."""
        return self.atoll, self.gloo

    def values(self, shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
        """Return small values that differ between ranks; their sums and products are exact in every type."""
        generator = torch.Generator().manual_seed(1000 * seed + self.rank)
        return torch.randint(0, 4, shape, generator=generator).to(dtype)


def case(function: Case) -> Case:
    """Register a case by its name."""
    CASES[function.__name__] = function
    return function


def exchange(key: str, text: str) -> list[str]:
    """Return every rank's text, by PyTorch's store, so that no broken group matters."""
    store = dist.distributed_c10d._get_default_store()
    keys = [f"{key}/{rank}" for rank in range(dist.get_world_size())]
    store.set(keys[dist.get_rank()], text)
    store.wait(keys, 2 * LIMIT if key.endswith("end") else LIMIT)
    return [store.get(key).decode() for key in keys]


def same(results: list[Any], what: object) -> None:
    """Check that the first result equals the second, in every bit and every tensor."""
    mine, theirs = results
    mine, theirs = ([x] if isinstance(x, torch.Tensor) else x for x in (mine, theirs))
    assert len(mine) == len(theirs), what
    for a, b in zip(mine, theirs, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b), (what, a, b)


def raises(kind: type[BaseException], *parts: str) -> Any:
    """Return a context that expects an error with these parts in its text."""

    class Expect:
        def __enter__(self) -> None: ...

        def __exit__(self, got: Any, error: Any, _: Any) -> bool:
            assert got is not None, f"no error; expected {kind.__name__} with {parts}"
            assert issubclass(got, kind), f"{got.__name__}: {error}"
            text = str(error)
            assert all(part in text for part in parts), f"{parts} not in: {text}"
            return True

    return Expect()


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
def sums_have_the_same_bits_on_all_ranks(ranks: Ranks) -> None:
    for count in (3, 1000, 100_000):
        tensor = torch.randn(count, generator=torch.Generator().manual_seed(ranks.rank))
        inputs = [torch.empty(count) for _ in range(ranks.size)]
        dist.all_gather(inputs, tensor, group=ranks.atoll)
        dist.all_reduce(tensor, group=ranks.atoll)
        expected = inputs[0].clone()
        for other in inputs[1:]:
            expected += other
        assert torch.equal(tensor, expected), "the sum is not in rank order"


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
def asynchronous_calls_keep_their_order(ranks: Ranks) -> None:
    group, works, tensors = ranks.atoll, [], []
    for i in range(30):
        tensor = torch.full((1 + 3000 * (i % 5),), float(i))
        tensors.append(tensor)
        if i % 3 == 2:
            dist.all_reduce(tensor, group=group)
        else:
            works.append(dist.all_reduce(tensor, group=group, async_op=True))
    for work in reversed(works):
        work.wait()
        assert work.is_completed() and work.is_success() and work.exception() is None
    assert all(t.eq(i * ranks.size).all() for i, t in enumerate(tensors))


@case
def futures(ranks: Ranks) -> None:
    tensor = torch.ones(100_000)
    work = dist.all_reduce(tensor, group=ranks.atoll, async_op=True)
    doubled = work.get_future().then(lambda future: future.value()[0] * 2)
    assert doubled.wait().eq(2 * ranks.size).all()


@case
def work_goes_on_without_a_waiter(ranks: Ranks) -> None:
    tensor = torch.ones(500_000)
    work = dist.all_reduce(tensor, group=ranks.atoll, async_op=True)
    end = time.monotonic() + LIMIT.total_seconds()
    while not tensor[-1].eq(ranks.size) or not tensor[0].eq(ranks.size):  # never asks the work
        assert time.monotonic() < end
        time.sleep(0.001)
    work.wait()


@case
def overlapping_groups_in_several_threads(ranks: Ranks) -> None:
    groups = [dist.new_group(backend="atoll", timeout=LIMIT) for _ in range(3)]
    pairs = {}
    for a, b in itertools.combinations(range(ranks.size), 2):
        group = dist.new_group([a, b], backend="atoll", timeout=LIMIT)
        if ranks.rank in (a, b):
            pairs[a, b] = group
    failures: list[str] = []

    def use(group: Any, size: int, salt: int) -> None:
        try:
            for i in range(50):
                tensor = torch.full((100 * (i + 1),), float(salt))
                dist.all_reduce(tensor, group=group)
                assert tensor.eq(salt * size).all()
        except Exception:
            failures.append(traceback.format_exc())

    jobs = [(group, ranks.size, i + 1) for i, group in enumerate(groups)]
    jobs += [(group, 2, 10 + a + 5 * b) for (a, b), group in pairs.items()]
    if ranks.rank % 2:
        jobs.reverse()
    threads = [threading.Thread(target=use, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


@case
def groups_used_in_different_orders(ranks: Ranks) -> None:
    groups = [dist.new_group(backend="atoll", timeout=LIMIT) for _ in range(4)]
    tensors = [torch.ones(60_000) for _ in groups]
    order = list(range(4)) if ranks.rank % 2 else list(reversed(range(4)))
    works = {i: dist.all_reduce(tensors[i], group=groups[i], async_op=True) for i in order[:-1]}
    dist.all_reduce(tensors[order[-1]], group=groups[order[-1]])
    for work in works.values():
        work.wait()
    assert all(t.eq(ranks.size).all() for t in tensors)
    for group in groups:
        dist.destroy_process_group(group)


@case
def device_mesh(ranks: Ranks) -> None:
    mesh = dist.init_device_mesh("cpu", (2, ranks.size // 2), mesh_dim_names=("a", "b"))
    for name in ("a", "b"):
        group = mesh.get_group(name)
        assert dist.get_backend(group) == "atoll"
        tensor = torch.ones(10)
        dist.all_reduce(tensor, group=group)
        assert tensor.eq(dist.get_world_size(group)).all()


@case
def sequence_numbers(ranks: Ranks) -> None:
    backend = ranks.atoll._get_backend(torch.device("cpu"))
    before = backend._get_sequence_number_for_group()
    dist.barrier(group=ranks.atoll)
    assert backend._get_sequence_number_for_group() == before + 1
    assert backend.name() == "atoll"


@case
def different_calls_are_named(ranks: Ranks) -> None:
    with raises(RuntimeError, "all_reduce (sum) of 12 bytes", "barrier"):
        if ranks.rank == 0:
            dist.all_reduce(torch.ones(3), group=ranks.atoll)
        else:
            dist.barrier(group=ranks.atoll)
        dist.barrier(group=ranks.atoll)
        raise AssertionError("no rank found the difference")


@case
def time_outs_name_the_missing(ranks: Ranks) -> None:
    if ranks.rank == ranks.size - 1:
        ranks.meet()
        return
    group = ranks.atoll
    options = dist.AllreduceOptions()
    options.timeout = timedelta(milliseconds=200)
    with raises(RuntimeError, "waiting for" if ranks.rank == 0 else "", f"rank {ranks.size - 1}"):
        group.allreduce([torch.ones(3)], options).wait()
    with raises(RuntimeError, "is unusable"):
        dist.barrier(group=group)
    ranks.meet()


@case
def a_wait_with_a_limit(ranks: Ranks) -> None:
    if ranks.rank == 0:
        tensor = torch.empty(1)
        work = dist.irecv(tensor, 1, group=ranks.atoll)
        with raises(RuntimeError, "Timed out after 0.05 s", "waiting for rank 1"):
            work.wait(timedelta(milliseconds=50))
        assert not work.is_completed()
        ranks.meet()
        work.wait()
        assert tensor.item() == 3
    else:
        ranks.meet()
        if ranks.rank == 1:
            dist.send(torch.tensor([3.0]), 0, group=ranks.atoll)


@case
def monitored_barrier(ranks: Ranks) -> None:
    dist.monitored_barrier(ranks.atoll, timeout=LIMIT)
    last = ranks.size - 1
    if ranks.rank == last:
        ranks.meet()
        return
    backend = ranks.atoll._get_backend(torch.device("cpu"))
    text = f"Ranks {last} failed to pass monitoredBarrier" if ranks.rank == 0 else "reached monitoredBarrier"
    with raises(RuntimeError, text):
        backend.monitored_barrier(timedelta(milliseconds=300), True)
    ranks.meet()


@case
def wrong_arguments(ranks: Ranks) -> None:
    group = ranks.atoll
    with raises(TypeError, "takes tensors of one type"):
        dist.all_gather_into_tensor(
            torch.empty(2 * ranks.size, dtype=torch.int32), torch.ones(2), group=group
        )
    with raises(ValueError, "the output has 5 elements"):
        dist.all_gather_into_tensor(torch.empty(5), torch.ones(2), group=group)
    with raises(ValueError, "split sizes sum to"):
        dist.all_to_all_single(torch.empty(4), torch.ones(4), [1] * ranks.size, [2] * ranks.size, group=group)
    with raises(NotImplementedError, "Tensors of other devices: not in this version"):
        backend = group._get_backend(torch.device("cpu"))
        backend.allreduce([torch.empty(3, device="meta")])
    dist.barrier(group=group)  # still usable


@case
def abort(ranks: Ranks) -> None:
    if ranks.rank == 0:
        ranks.atoll._get_backend(torch.device("cpu")).abort()
    with raises(RuntimeError, "rank 0 aborted the group"):
        dist.barrier(group=ranks.atoll)


@case
def many_groups_made_and_destroyed(ranks: Ranks) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for i in range(30):
        group = dist.new_group(backend="atoll", timeout=LIMIT)
        tensor = torch.tensor([i])
        dist.all_reduce(tensor, group=group)
        assert tensor.item() == i * ranks.size
        dist.destroy_process_group(group)
        del group
    assert len(list(Path("/proc/self/fd").iterdir())) < before + 20


@case
def data_parallel_training_as_with_gloo(ranks: Ranks) -> None:
    def train(group: Any) -> list[torch.Tensor]:
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(20, 50), torch.nn.Tanh(), torch.nn.Linear(50, 3))
        parallel = torch.nn.parallel.DistributedDataParallel(model, process_group=group, bucket_cap_mb=0.002)
        optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
        data = torch.randn(8, 20, generator=torch.Generator().manual_seed(ranks.rank))
        losses = []
        for _ in range(5):
            optimizer.zero_grad()
            loss = parallel(data).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return losses

    for mine, theirs in zip(train(ranks.atoll), train(ranks.gloo), strict=True):
        torch.testing.assert_close(mine, theirs)


@case
def fully_sharded_training(ranks: Ranks) -> None:
    from torch.distributed.fsdp import fully_shard

    mesh = dist.init_device_mesh("cpu", (ranks.size,))
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(20, 50), torch.nn.Tanh(), torch.nn.Linear(50, 3))
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(torch.ones(8, 20)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)


@case
def distributed_tensors(ranks: Ranks) -> None:
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = dist.init_device_mesh("cpu", (ranks.size,))
    whole = torch.arange(48.0).reshape(12, 4)
    tensor = distribute_tensor(whole, mesh, [Shard(0)])
    assert torch.equal(tensor.redistribute(mesh, [Replicate()]).to_local(), whole)
    assert torch.equal(tensor.redistribute(mesh, [Shard(1)]).full_tensor(), whole)


def run_case(name: str, function: Case, gloo: Any) -> dict[str, Any]:
    """Run a case on this rank, and gather its errors."""
    group = dist.new_group(backend="atoll", timeout=LIMIT)
    error = ""
    try:
        function(Ranks(name, group, gloo))
    except BaseException:
        error = traceback.format_exc()
        print(f"{name} on this rank: {error}", file=sys.stderr, flush=True)
    errors = exchange(f"{name}/end", error)
    return {"name": name, "errors": {rank: text for rank, text in enumerate(errors) if text}}


def main(rank: int, size: int, file: str) -> None:
    """Run all cases, or those named by the variable CASES."""
    torch.set_num_threads(1)
    store = dist.FileStore(file, size)
    dist.init_process_group("atoll", store=store, rank=rank, world_size=size, timeout=LIMIT)
    gloo = dist.new_group(backend="gloo", timeout=LIMIT)
    wanted = os.environ.get("CASES", "").split(",")
    for name, function in CASES.items():
        if wanted != [""] and name not in wanted:
            continue
        result = run_case(name, function, gloo)
        if rank == 0:
            print(json.dumps(result), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(json.dumps(list(CASES)))
    else:
        main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
