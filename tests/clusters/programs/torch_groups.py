"""Groups of the backend atoll of torch.distributed over hosts: operations, groups of one host, ends of ranks.

With the argument "all live" no rank ends before the others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
dist.init_process_group("atoll", timeout=timedelta(seconds=60))
rank, size = dist.get_rank(), dist.get_world_size()
last = size - 1  # alone on the second host


def error_of(body: Callable[[], object]) -> str:
    """Return the text of the error that must come."""
    try:
        body()
    except RuntimeError as error:
        return str(error)
    raise AssertionError(f"rank {rank}: no error")


for count in (1, 9, 5000, 700_001):
    mine = torch.randn(count, generator=torch.Generator().manual_seed(rank))
    parts = [torch.empty(count) for _ in range(size)]
    dist.all_gather(parts, mine)
    assert torch.equal(parts[rank], mine)
    total = mine.clone()
    dist.all_reduce(total)
    expected = parts[0].clone()
    for part in parts[1:]:
        expected += part
    assert torch.equal(total, expected), f"the sum of {count} elements is not in rank order"
    copy = mine.clone()
    dist.broadcast(copy, src=last)
    assert torch.equal(copy, parts[last])
    scattered = torch.empty(count)
    dist.reduce_scatter(scattered, [mine * (i + 1) for i in range(size)])
    assert torch.allclose(scattered, expected * (rank + 1), rtol=1e-4, atol=1e-4)
    moved = torch.empty(size * count)
    dist.all_to_all_single(moved, torch.cat([mine + i for i in range(size)]))
    assert torch.equal(moved, torch.cat([part + rank for part in parts]))
    chunks = [torch.empty(count) for _ in range(size)] if rank == 0 else None
    dist.gather(mine, chunks)
    if chunks:
        assert all(torch.equal(chunk, part) for chunk, part in zip(chunks, parts, strict=True))
    back = torch.empty(count)
    dist.scatter(back, chunks)
    assert torch.equal(back, mine)
    ahead, behind = (rank + 1) % size, (rank - 1) % size
    got = torch.empty(count)
    works = dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, mine, ahead, tag=7), dist.P2POp(dist.irecv, got, behind, tag=7)]
    )
    for work in works:
        work.wait()
    assert torch.equal(got, parts[behind])

objects: list[object] = [None] * size
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": other} for other in range(size)]
dist.monitored_barrier(timeout=timedelta(seconds=60))

pairs = [(0, 1), (0, last)]  # on one host, and across both
for pair in pairs:
    group = dist.new_group(pair, backend="atoll")
    if rank in pair:
        x = torch.full((3,), float(rank + 1))
        dist.all_reduce(x, group=group)
        assert x[0] == sum(other + 1 for other in pair), x
        ends = group  # rank 0 keeps the last one, which spans both

torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(8, 4))
model(torch.full((2, 8), float(rank))).sum().backward()
assert torch.allclose(model.module.weight.grad, torch.full((4, 8), 2 * sum(range(size)) / size))

group = dist.new_group(backend="atoll")
text = error_of(lambda: dist.all_reduce(torch.ones(5 if rank == last else 4), group=group))
assert f"rank {last}" in text and "of 20 bytes" in text and "of 16 bytes" in text, text
group = dist.new_group(backend="atoll", timeout=timedelta(seconds=1))
if rank != last:
    text = error_of(lambda: dist.all_reduce(torch.ones(4), group=group))
    assert f"waiting for rank {last}" in text, text
dist.barrier()
assert "libucp" in Path("/proc/self/maps").read_text(), "UCX did not carry the data"
if "all live" in sys.argv:
    print("ok", flush=True)
    dist.destroy_process_group()
    sys.exit(0)
if rank == 1:
    print("ok", flush=True)
    os._exit(0)  # ends like a killed rank
text = error_of(lambda: [dist.all_reduce(torch.ones(4)) for _ in range(2)])
assert "rank 1 (" in text and ") ended " in text, text  # found by this rank, or reported by another
print("ok", flush=True)
if rank == last:
    sys.exit(0)  # a normal exit, whose last messages must arrive although another rank has died
text = error_of(lambda: [dist.all_reduce(torch.ones(4), group=ends) for _ in range(2)])
assert f"rank {last} " in text, text
os._exit(0)
