"""Cases of programs that train: DDP, FSDP2, DTensor."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from ranks import Ranks, case


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
def communication_hook_that_waits_in_callbacks(ranks: Ranks) -> None:
    """PowerSGD's callbacks begin an all_reduce and wait for its future."""
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    def train(group: Any) -> list[torch.Tensor]:
        torch.manual_seed(1)
        parallel = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(30, 40), process_group=group)
        state = powerSGD_hook.PowerSGDState(
            group, matrix_approximation_rank=2, start_powerSGD_iter=2, min_compression_rate=1
        )
        parallel.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
        optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
        data = torch.randn(8, 30, generator=torch.Generator().manual_seed(ranks.rank))
        for _ in range(5):
            optimizer.zero_grad()
            parallel(data).square().mean().backward()
            optimizer.step()
        return [parameter.detach() for parameter in parallel.parameters()]

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
