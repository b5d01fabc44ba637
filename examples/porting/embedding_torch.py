"""A table of vectors that is divided among the PEs, read and changed in the owners' memory as PyTorch's tensors.

PyTorch's own process group starts the job. It sends the identifier by which NVSHMEM's PEs meet.
"""

import os

import numpy as np
import nvshmem.core as nvshmem
import torch
import torch.distributed as dist
from cuda.core import Device, system
from nvshmem.core import Teams

ROWS, WIDTH, LOOKUPS = 50, 8, 200

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
device = Device(int(os.environ.get("LOCAL_RANK", rank)) % system.get_num_devices())
device.set_current()
if torch.cuda.is_available():
    torch.cuda.set_device(device.device_id)
identifier = nvshmem.get_unique_id(empty=rank != 0)
dist.broadcast(torch.from_numpy(identifier._data.view(np.int8)), src=0)
nvshmem.init(device=device, uid=identifier, rank=rank, nranks=world, initializer_method="uid")
me, n = nvshmem.my_pe(), nvshmem.n_pes()
stream = device.create_stream()


def meet():
    """Let all PEs finish their stores."""
    device.sync()
    nvshmem.barrier_all(stream=stream)
    stream.sync()


table = nvshmem.tensor((ROWS, WIDTH), dtype=torch.float32)
shards = [nvshmem.get_peer_tensor(table, pe) if pe != me else table for pe in range(n)]
table.copy_((me * ROWS + torch.arange(ROWS))[:, None].expand(ROWS, WIDTH))
meet()

# Vectors of any PE by their numbers.
generator = torch.Generator().manual_seed(rank)
wanted = torch.randint(0, n * ROWS, (LOOKUPS,), generator=generator)
vectors = torch.empty(LOOKUPS, WIDTH)
for pe in range(n):
    here = wanted // ROWS == pe
    vectors[here] = shards[pe][(wanted[here] % ROWS).to(table.device)].cpu()
assert torch.equal(vectors, wanted.float()[:, None].expand(LOOKUPS, WIDTH))
meet()

# Each PE adds 1 to one row of every shard.
for pe in range(n):
    shards[pe][me % ROWS] += 1
meet()
added = nvshmem.tensor((1,), dtype=torch.float32)
total = nvshmem.tensor((1,), dtype=torch.float32)
added[0] = table[:, 0].sum() - (me * ROWS + torch.arange(ROWS)).sum()
device.sync()
nvshmem.reduce(Teams.TEAM_WORLD, total, added, "sum", stream=stream)
stream.sync()
assert total.item() == n * n
if me == 0:
    print(f"{LOOKUPS} vectors read, {n * n} rows changed")
meet()
for tensor in (table, added, total):
    nvshmem.free_tensor(tensor)
nvshmem.finalize()
dist.destroy_process_group()
