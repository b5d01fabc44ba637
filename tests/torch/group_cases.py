"""Cases of groups: order, asynchronous calls, several groups at once, time-outs, wrong calls, ends."""

from __future__ import annotations

import itertools
import threading
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from ranks import LIMIT, Ranks, case, raises


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
def callbacks_of_futures_wait_for_operations(ranks: Ranks) -> None:
    """They run in the order of the operations, and may wait for operations that they or others begin."""
    last = dist.all_reduce(torch.ones(100_000), group=ranks.atoll, async_op=True)
    order: list[int] = []

    def sum_of(number: float, then: Callable[[float], float]) -> Any:
        work = dist.all_reduce(torch.full((5,), number), group=ranks.atoll, async_op=True)
        return work.get_future().then(lambda done: then(done.value()[0][0].item()))

    def begin_more(received: Any) -> float:
        number = received.value()[0].item()
        last.wait()
        order.append(int(number))
        return float(sum_of(number, lambda total: float(sum_of(total, float).wait())).wait())

    before, behind = (ranks.rank - 1) % ranks.size, (ranks.rank + 1) % ranks.size
    works = [dist.irecv(torch.empty(()), before, group=ranks.atoll, tag=i) for i in range(10)]
    futures = [work.get_future().then(begin_more) for work in works]
    dist.barrier(group=ranks.gloo)  # a callback that is added late runs at once, in this thread
    for i in range(10):
        dist.send(torch.tensor(float(i)), behind, group=ranks.atoll, tag=i)
    assert [future.wait() for future in futures] == [i * ranks.size**2 for i in range(10)]
    assert order == list(range(10))


@case
def work_goes_on_without_a_waiter(ranks: Ranks) -> None:
    tensor = torch.ones(500_000)
    work = dist.all_reduce(tensor, group=ranks.atoll, async_op=True)
    end = time.monotonic() + LIMIT.total_seconds()
    while not tensor[-1].eq(ranks.size) or not tensor[0].eq(ranks.size):  # without a call of `work`
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
        with raises(RuntimeError, "Atoll: Timed out after 0.05 s", "waiting for rank 1"):
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
    if ranks.rank == 1:
        ranks.meet()
        return
    backend = ranks.atoll._get_backend(torch.device("cpu"))
    texts = [
        "successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0"
    ]
    if ranks.rank == 0:  # the others have come
        texts = ["Ranks 1 failed to pass monitoredBarrier", "Rank 0 timed out in monitoredBarrier"]
    with raises(RuntimeError, *texts):
        backend.monitored_barrier(timedelta(seconds=1), True)
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
    with raises(NotImplementedError, "moves tensors of CPUs and CUDA GPUs"):
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
def a_receive_without_room_is_an_error_of_all_that_names_both_sizes(ranks: Ranks) -> None:
    sizes = ("rank 0 sent 400000 bytes", "the receive of rank 1 has room for 8")
    if ranks.rank == 0:
        with raises(RuntimeError, "rank 1 reported", *sizes):
            dist.send(torch.ones(100_000), 1, group=ranks.atoll)
    if ranks.rank == 1:
        with raises(ValueError, *sizes):
            dist.recv(torch.empty(2), 0, group=ranks.atoll)
    with raises(Exception, *sizes):
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
def a_destroyed_group_refuses_operations(ranks: Ranks) -> None:
    group = dist.new_group(backend="atoll", timeout=LIMIT)
    backend = group._get_backend(torch.device("cpu"))
    tensor = torch.ones(2)
    dist.all_reduce(tensor, group=group)
    dist.destroy_process_group(group)
    calls: list[Callable[[], object]] = [
        lambda: group.allreduce([tensor]),
        lambda: backend.barrier(),
        lambda: backend.send([tensor], (ranks.rank + 1) % ranks.size, 0),
        lambda: backend.monitored_barrier(LIMIT, False),
        lambda: backend.shrink([(ranks.rank + 1) % ranks.size]),
    ]
    if hasattr(group, "new_window"):
        calls.append(lambda: group.new_window())
    for call in calls:
        with raises(ValueError, f"The process group {group.group_name} was destroyed"):
            call()
    with raises(ValueError, "is not initialized"):  # PyTorch's logger does not find the group's name
        dist.all_reduce(tensor, group=group)
    assert tensor.tolist() == [ranks.size] * 2


@case
def groups_are_split(ranks: Ranks) -> None:
    others = list(range(3, ranks.size))
    parts = [[2, 0], [1, *others]]
    mine = next(part for part in parts if ranks.rank in part)
    limit = timedelta(seconds=50)
    for _ in range(2):  # equal splits are groups of their own
        group = dist.split_group(ranks.atoll, parts, timeout=limit)
        assert dist.get_process_group_ranks(group) == mine and group.rank() == mine.index(ranks.rank)
        places = [torch.empty(1) for _ in mine]
        dist.all_gather(places, torch.tensor([float(ranks.rank)]), group=group)
        assert [int(place) for place in places] == mine, "ranks keep the order of the list"
    backend = ranks.atoll._get_backend(torch.device("cpu"))
    assert group._get_backend(torch.device("cpu")).options._timeout == limit
    assert backend.options._timeout == LIMIT, "the parent keeps its time-out"
    alone = dist.split_group(ranks.atoll, [[1]])
    assert (alone is dist.GroupMember.NON_GROUP_MEMBER) == (ranks.rank != 1)
    tensor = torch.ones(2)
    dist.all_reduce(tensor, group=ranks.atoll)
    assert tensor.tolist() == [ranks.size] * 2, "the parent is usable afterwards"
    with raises(ValueError, "was to have rank 99; group ", f" has ranks 0 to {ranks.size - 1}"):
        dist.split_group(ranks.atoll, [[0, 99]])


@case
def groups_shrink_by_ranks_that_live(ranks: Ranks) -> None:
    last = ranks.size - 1
    with raises(ValueError, f"Rank {ranks.rank} is among those that shrink is to exclude"):
        ranks.atoll._get_backend(torch.device("cpu")).shrink([ranks.rank])
    if ranks.rank == last:
        with raises(RuntimeError, "aborted the group"):
            dist.barrier(group=ranks.atoll)  # in the midst of it when the others go on without this rank
        dist.distributed_c10d._world.group_count += 1  # PyTorch numbers groups; the others make one more
        return
    group = dist.shrink_group([last], group=ranks.atoll, shrink_flags=dist.distributed_c10d.SHRINK_ABORT)
    tensor = torch.ones(2)
    dist.all_reduce(tensor, group=group)
    assert tensor.tolist() == [last] * 2 and group.rank() == ranks.rank
    dist.destroy_process_group(group)


@case
def what_is_refused_has_a_sentence(ranks: Ranks) -> None:
    backend = ranks.atoll._get_backend(torch.device("cpu"))
    for name in ("suspend", "resume"):
        with raises(RuntimeError, f"Backend atoll does not support {name}"):
            getattr(backend, name)()
    with raises(TypeError, "PREMUL_SUM takes float32", "is Int"):
        dist.all_reduce(torch.ones(2, dtype=torch.int32), dist._make_nccl_premul_sum(2.0), group=ranks.atoll)
    tensor = torch.ones(2)
    dist.all_reduce(tensor, group=ranks.atoll)
    assert tensor.tolist() == [ranks.size] * 2, "the group is usable afterwards"


@case
def operations_in_the_profiler(ranks: Ranks) -> None:
    group = ranks.atoll
    tensor, parts = torch.ones(3, 2), [torch.ones(3, 2) for _ in range(ranks.size)]
    with torch.autograd.profiler.profile(record_shapes=True) as profile:
        dist.all_reduce(tensor, group=group)
        work = dist.all_gather(parts, tensor, group=group, async_op=True)
        assert work is not None
        work.wait()
        dist.broadcast(tensor, 0, group=group)
        dist.all_reduce_coalesced([torch.ones(4), torch.ones(5)], group=group)
        dist.barrier(group=group)
    seen = [
        (event.name, event.input_shapes)
        for event in profile.function_events
        if event.name.startswith("atoll:")
    ]
    assert seen == [
        ("atoll:all_reduce", [[3, 2]]),
        ("atoll:all_gather", [[3, 2]]),
        ("atoll:broadcast", [[3, 2]]),
        ("atoll:all_reduce", [[4], [5]]),
        ("atoll:barrier", []),
    ], seen
    assert all(event.is_async for event in profile.function_events if event.name.startswith("atoll:"))
