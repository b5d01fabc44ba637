"""Large data of the backend atoll between hosts with several ranks each: sums in rank order, and a rank that dies."""

from __future__ import annotations

import contextlib
import os
import threading
from datetime import timedelta

import torch
import torch.distributed as dist

torch.set_num_threads(1)
dist.init_process_group("atoll", timeout=timedelta(seconds=60))
rank, size = dist.get_rank(), dist.get_world_size()

for kind in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
    for count in (16_385, 700_001):
        mine = torch.randn(count, generator=torch.Generator().manual_seed(rank)).to(kind)
        parts = [torch.empty(count, dtype=kind) for _ in range(size)]
        dist.all_gather(parts, mine)
        assert torch.equal(parts[rank], mine)
        wide = torch.float32 if kind.itemsize == 2 else kind
        expected = parts[0].to(wide)
        for part in parts[1:]:
            expected += part.to(wide)
        total, copy = mine.clone(), mine.clone()
        works = [dist.all_reduce(total, async_op=True), dist.broadcast(copy, src=size - 1, async_op=True)]
        for work in works:
            work.wait()
        assert torch.equal(total, expected.to(kind)), (
            f"the sum of {count} elements of {kind} is not in rank order"
        )
        assert torch.equal(copy, parts[size - 1])

dist.barrier()
print("ok", flush=True)
if rank == 1:
    threading.Timer(0.2, os._exit, [0]).start()  # ends like a rank that is killed in the middle of a sum
large = torch.ones(1 << 22)
try:
    while True:
        dist.all_reduce(large)
except RuntimeError as error:
    assert "rank 1 (" in str(error) and ") ended " in str(error), error
# A rank that exits before the others have their error could be named instead.
store = dist.distributed_c10d._get_default_store()
store.set(f"named {rank}", "1")
with contextlib.suppress(RuntimeError):  # rank 0 has the store, and may exit first
    store.wait([f"named {i}" for i in range(size) if i != 1])
os._exit(0)
