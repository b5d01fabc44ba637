"""Training by Lightning, which makes the world of the backend in its argument, and by Accelerate, which finds it made.

Two ranks, forked after the imports. The parameters have the bits of those by DDP on a group of gloo.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightning
import torch
import torch.distributed as dist
from accelerate import Accelerator
from forked import end, fork_ranks
from lightning.fabric.plugins.environments import LightningEnvironment
from lightning.pytorch.strategies import DDPStrategy
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

RANK = fork_ranks()


def loss_of(model: Any, batch: Any) -> torch.Tensor:
    """Return the loss of a batch."""
    loss: torch.Tensor = model(batch[0]).square().mean()
    return loss


def optimizer_of(model: nn.Module) -> torch.optim.Optimizer:
    """Return the optimizer."""
    return torch.optim.SGD(model.parameters(), lr=0.1)


class Module(lightning.LightningModule):
    """A model of Lightning's."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        """Return the loss of a batch."""
        return loss_of(self.model, batch)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer."""
        return optimizer_of(self)


def by_lightning(model: nn.Module, data: Any) -> None:
    """Train by Lightning."""
    strategy = DDPStrategy(process_group_backend="atoll")
    trainer = lightning.Trainer(
        accelerator="cpu", devices=2, strategy=strategy, plugins=[LightningEnvironment()], max_epochs=1,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Module(model), data)


def by_accelerate(model: nn.Module, data: Any) -> None:
    """Train by Accelerate."""
    accelerator = Accelerator(cpu=True)
    parallel, optimizer = accelerator.prepare(model, optimizer_of(model))
    assert isinstance(parallel, nn.parallel.DistributedDataParallel)
    for batch in data:
        optimizer.zero_grad()
        accelerator.backward(loss_of(parallel, batch))
        optimizer.step()


def by_gloo(model: nn.Module, data: Any) -> None:
    """Train by DDP on a group of gloo."""
    parallel = nn.parallel.DistributedDataParallel(model, process_group=dist.new_group(backend="gloo"))
    optimizer = optimizer_of(model)
    for batch in data:
        optimizer.zero_grad()
        loss_of(parallel, batch).backward()
        optimizer.step()


def trained(train: Callable[[nn.Module, Any], None]) -> torch.Tensor:
    """Return the parameters of a model that was trained on each rank's part of the data."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 5), nn.Tanh(), nn.Linear(5, 4))
    rows = TensorDataset(torch.randn(16, 8, generator=torch.Generator().manual_seed(3)))
    train(model, DataLoader(rows, 4, sampler=DistributedSampler(rows, 2, RANK, shuffle=False)))
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def main() -> None:
    """Compare, and print a line."""
    found = [trained(by_lightning), trained(by_accelerate)]
    assert dist.get_backend() == "atoll" and dist.get_world_size() == 2
    expected = trained(by_gloo)
    assert all(torch.equal(each, expected) for each in found), (found, expected)
    dist.destroy_process_group()
    end(RANK)
    print("same bits")


if __name__ == "__main__":
    main()
