"""Cases of what programs train with: the same bits as with gloo.

Ranks 0 and 1 run them, because a sum of two has the same bits in any order, so also with gloo.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from ranks import Case, Ranks, same
from ranks import case as register
from torch import nn

Tensors = list[torch.Tensor]


def case(function: Case) -> Case:
    """Register a case of two ranks. The others only help to make the groups."""

    @functools.wraps(function)
    def of_two(ranks: Ranks) -> None:
        pair_groups()
        if ranks.rank < 2:
            function(ranks)

    return register(of_two)


@functools.cache
def pair_groups() -> tuple[Any, Any]:
    """Return the groups of ranks 0 and 1, of Atoll and of gloo. They are made for the first case and kept."""
    return tuple(dist.new_group([0, 1], backend=backend) for backend in ("atoll", "gloo"))  # type: ignore[return-value]


def as_with_gloo(program: Callable[[Any], Tensors]) -> None:
    """Run a program over the pair's group of each backend, and compare what it returns."""
    results = []
    for group in pair_groups():
        torch.manual_seed(1)
        results.append(program(group))
    assert results[0], "nothing to compare"
    same(results, program.__name__)


def mesh_of(group: Any) -> Any:
    """Return the mesh of a pair's ranks."""
    return dist.DeviceMesh.from_group(group, "cpu", mesh_dim_names=("pair",))


def network() -> nn.Sequential:
    """Return a small model."""
    return nn.Sequential(nn.Linear(16, 24), nn.Tanh(), nn.Linear(24, 8))


def data_of(group: Any, rows: int = 4, columns: int = 16) -> torch.Tensor:
    """Return random rows, others on each rank."""
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(group.rank()))


def train(model: Any, data: torch.Tensor, optimizer: Any = None, steps: int = 3) -> Tensors:
    """Take some steps, and return their losses."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


@case
def data_parallel_with_accumulated_gradients_and_unused_parameters(ranks: Ranks) -> None:
    class Branches(nn.Module):
        """A model of which a rank uses one branch, by turns."""

        def __init__(self) -> None:
            super().__init__()
            self.branches = nn.ModuleList(network() for _ in range(3))
            self.turn = 0

        def forward(self, data: torch.Tensor) -> Any:
            self.turn += 1
            return self.branches[(ranks.rank + self.turn) % 3](data)

    def program(group: Any) -> Tensors:
        model = nn.parallel.DistributedDataParallel(
            Branches(), process_group=group, find_unused_parameters=True, bucket_cap_mb=0.001
        )
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            for last in (False, True):
                with contextlib.nullcontext() if last else model.no_sync():
                    model(data_of(group)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        return list(model.parameters())

    as_with_gloo(program)


@case
def fully_sharded_training_in_mixed_precision(ranks: Ranks) -> None:
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    def program(group: Any) -> Tensors:
        model, mesh = network(), mesh_of(group)
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for layer in (model[0], model[2], model):
            fully_shard(layer, mesh=mesh, mp_policy=policy)
        losses = train(model, data_of(group))
        assert losses[0].dtype == torch.bfloat16
        return losses + [parameter.full_tensor() for parameter in model.parameters()]

    as_with_gloo(program)


@case
def tensors_redistributed(ranks: Ranks) -> None:
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

    def program(group: Any) -> Tensors:
        mesh, results = mesh_of(group), []
        for shape in ((7, 5), (4, 6)):
            whole = torch.randn(shape, generator=torch.Generator().manual_seed(3))
            for before in (Shard(0), Shard(1), Replicate(), Partial()):
                if isinstance(before, Partial):
                    tensor = DTensor.from_local(whole * (1 + group.rank()), mesh, [before])
                else:
                    tensor = distribute_tensor(whole, mesh, [before])
                for after in (Shard(0), Shard(1), Replicate()):
                    moved = tensor.redistribute(mesh, [after])
                    expected = whole * 3 if isinstance(before, Partial) else whole
                    torch.testing.assert_close(moved.full_tensor(), expected)
                    results.append(moved.to_local().contiguous())
        return results

    as_with_gloo(program)


@case
def tensor_parallel_training_with_a_parallel_loss(ranks: Ranks) -> None:
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor import parallel as tp

    def program(group: Any) -> Tensors:
        model = nn.Sequential(nn.Embedding(32, 16), nn.Linear(16, 24), nn.Tanh(), nn.Linear(24, 32))
        plan: dict[str, Any] = {
            "0": tp.RowwiseParallel(input_layouts=Replicate()),
            "1": tp.ColwiseParallel(),
            "3": tp.ColwiseParallel(
                input_layouts=Shard(-1), output_layouts=Shard(-1), use_local_output=False
            ),
        }
        tp.parallelize_module(model, mesh_of(group), plan)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        words = torch.arange(12) % 32
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            with tp.loss_parallel():
                loss = nn.functional.cross_entropy(model(words), (words * 7 + 1) % 32)
                loss.backward()
            optimizer.step()
            losses.append(loss.full_tensor().detach())
        return losses

    as_with_gloo(program)


@case
def pipelines(ranks: Ranks) -> None:
    from torch.distributed import pipelining

    def program(group: Any) -> Tensors:
        results = []
        for kind in (pipelining.ScheduleGPipe, pipelining.Schedule1F1B):
            torch.manual_seed(2)
            part = [nn.Linear(16, 24), nn.Linear(24, 8)][group.rank()]
            stage = pipelining.PipelineStage(part, group.rank(), 2, torch.device("cpu"), group=group)
            schedule = kind(stage, 4, loss_fn=lambda output, target: (output - target).square().mean())
            losses: list[torch.Tensor] = []
            if group.rank() == 0:
                schedule.step(torch.arange(128.0).reshape(8, 16) / 64)
            else:
                schedule.step(target=torch.ones(8, 8), losses=losses)
            results += losses + [parameter.grad for parameter in part.parameters()]
        return results

    as_with_gloo(program)


@case
def optimizer_of_which_each_rank_has_a_part(ranks: Ranks) -> None:
    from torch.distributed.optim import ZeroRedundancyOptimizer

    def program(group: Any) -> Tensors:
        model = nn.parallel.DistributedDataParallel(network(), process_group=group)
        optimizer = ZeroRedundancyOptimizer(
            model.parameters(), torch.optim.Adam, process_group=group, lr=0.01
        )
        losses = train(model, data_of(group), optimizer)
        optimizer.consolidate_state_dict(to=0)  # a rank of the group
        if group.rank() == 0:
            losses += [state["exp_avg"] for state in optimizer.state_dict()["state"].values()]
        return losses

    as_with_gloo(program)


@case
def loader_of_data_with_forked_workers(ranks: Ranks) -> None:
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    def program(group: Any) -> Tensors:
        rows = TensorDataset(torch.randn(12, 16, generator=torch.Generator().manual_seed(3)))
        sampler = DistributedSampler(rows, 2, group.rank(), seed=5)
        loader = DataLoader(rows, 3, sampler=sampler, num_workers=1, multiprocessing_context="fork")
        model = nn.parallel.DistributedDataParallel(network(), process_group=group)
        return [loss for (batch,) in loader for loss in train(model, batch, steps=1)]

    as_with_gloo(program)


@case
def checkpoint_saved_in_shards_and_loaded_by_others(ranks: Ranks) -> None:
    import torch.distributed.checkpoint as dcp
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    def program(group: Any) -> Tensors:
        mesh = mesh_of(group)
        whole = torch.randn(7, 6)
        folders = [tempfile.mkdtemp() if group.rank() == 0 else ""]
        dist.broadcast_object_list(folders, 0, group=group)
        folder = folders[0]
        state = {"weights": distribute_tensor(whole, mesh, [Shard(0)]), "step": torch.tensor(5)}
        dcp.save(state, checkpoint_id=folder, process_group=group)
        results = []
        for placement in (Shard(1), Replicate()):
            empty = distribute_tensor(torch.zeros(7, 6), mesh, [placement])
            found = {"weights": empty, "step": torch.tensor(0)}
            dcp.load(found, checkpoint_id=folder, process_group=group)
            assert found["step"].item() == 5 and torch.equal(empty.full_tensor(), whole)
            results.append(empty.to_local().contiguous())
        dist.barrier(group)
        if group.rank() == 0:
            shutil.rmtree(folder)
        return results

    as_with_gloo(program)


@case
def compiled_collectives(ranks: Ranks) -> None:
    import torch.distributed._functional_collectives as funcol

    def program(group: Any) -> Tensors:
        def step(x: torch.Tensor) -> torch.Tensor:
            total = funcol.all_reduce(x * 2, "sum", group)
            wide = funcol.all_gather_tensor(total + x, 0, group)
            part = funcol.reduce_scatter_tensor(wide.sin(), "sum", 0, group)
            return funcol.all_to_all_single(part, None, None, group).cos()

        compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
        data = data_of(group)
        result = compiled(data)
        assert torch.equal(result, step(data))
        return [result]

    as_with_gloo(program)
