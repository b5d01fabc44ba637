"""Cases of what programs train with: the same bits as with gloo, or on two GPUs with NCCL.

Ranks 0 and 1 run them, because a sum of two has the same bits in any order, so also with the peer. Ranks that share one
GPU are compared with gloo on CPUs within rounding, because NCCL refuses them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from ranks import LIMIT, Case, Ranks, same
from ranks import case as register
from torch import nn

Tensors = list[torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Pair:
    """A group of ranks 0 and 1, and the device of its tensors."""

    group: Any
    device: torch.device

    @property
    def rank(self) -> int:
        """This rank's number in the group."""
        return self.group.rank()  # type: ignore[no-any-return]

    @property
    def mesh(self) -> Any:
        """The mesh of the ranks."""
        return dist.DeviceMesh.from_group(self.group, self.device.type, mesh_dim_names=("pair",))

    def random(self, *shape: int, seed: int | None = None) -> torch.Tensor:
        """Return random numbers: by default other ones on each rank."""
        generator = torch.Generator().manual_seed(self.rank if seed is None else seed)
        return torch.randn(*shape, generator=generator).to(self.device)

    def data(self) -> torch.Tensor:
        """Return a batch of this rank."""
        return self.random(4, 16)

    def network(self) -> nn.Sequential:
        """Return a small model."""
        return nn.Sequential(nn.Linear(16, 24), nn.Tanh(), nn.Linear(24, 8)).to(self.device)


def case(function: Case) -> Case:
    """Register a case of two ranks. The others only help to make the groups."""

    @functools.wraps(function)
    def of_two(ranks: Ranks) -> None:
        pairs()
        if ranks.rank < 2:
            function(ranks)

    return register(of_two)


# The device of the cases' tensors. gpu.py sets a GPU.
DEVICE = torch.device("cpu")


@functools.cache
def pairs() -> tuple[Pair, Pair]:
    """Return the pairs of Atoll and of its peer. Their groups are made for the first case and kept."""
    peers = {"cpu": "gloo", "cuda": "nccl" if torch.cuda.device_count() > 1 else "gloo"}
    peer = peers[DEVICE.type]
    mine = Pair(dist.new_group([0, 1], backend="atoll"), DEVICE)
    theirs = dist.new_group([0, 1], backend=peer)
    return mine, Pair(theirs, torch.device("cpu") if peer == "gloo" else DEVICE)


def as_with_peer(program: Callable[[Pair], Tensors]) -> None:
    """Run a program by the pair of each backend, and compare what it returns."""
    results = []
    for pair in pairs():
        torch.manual_seed(1)
        results.append([tensor.detach().cpu() for tensor in program(pair)])
    assert results[0], "nothing to compare"
    if pairs()[0].device == pairs()[1].device:
        same(results, program.__name__)
    for mine, theirs in zip(*results, strict=True):  # a rounding of bfloat16, for sums on another device
        torch.testing.assert_close(mine, theirs, rtol=2e-2, atol=2e-2)


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
        """A model of which a rank uses one branch, alternately."""

        def __init__(self, pair: Pair) -> None:
            super().__init__()
            self.branches = nn.ModuleList(pair.network() for _ in range(3))
            self.turn = 0

        def forward(self, data: torch.Tensor) -> Any:
            self.turn += 1
            return self.branches[(ranks.rank + self.turn) % 3](data)

    def program(pair: Pair) -> Tensors:
        model = nn.parallel.DistributedDataParallel(
            Branches(pair), process_group=pair.group, find_unused_parameters=True, bucket_cap_mb=0.001
        )
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            for last in (False, True):
                with contextlib.nullcontext() if last else model.no_sync():
                    model(pair.data()).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        return list(model.parameters())

    as_with_peer(program)


@case
def fully_sharded_training_in_mixed_precision(ranks: Ranks) -> None:
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    def program(pair: Pair) -> Tensors:
        model, mesh = pair.network(), pair.mesh
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for layer in (model[0], model[2], model):
            fully_shard(layer, mesh=mesh, mp_policy=policy)
        losses = train(model, pair.data())
        assert losses[0].dtype == torch.bfloat16
        return losses + [parameter.full_tensor() for parameter in model.parameters()]

    as_with_peer(program)


@case
def tensors_redistributed(ranks: Ranks) -> None:
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

    def program(pair: Pair) -> Tensors:
        mesh, results = pair.mesh, []
        for shape in ((7, 5), (4, 6)):
            whole = pair.random(*shape, seed=3)
            for before in (Shard(0), Shard(1), Replicate(), Partial()):
                if isinstance(before, Partial):
                    tensor = DTensor.from_local(whole * (1 + pair.rank), mesh, [before])
                else:
                    tensor = distribute_tensor(whole, mesh, [before])
                for after in (Shard(0), Shard(1), Replicate()):
                    moved = tensor.redistribute(mesh, [after])
                    expected = whole * 3 if isinstance(before, Partial) else whole
                    torch.testing.assert_close(moved.full_tensor(), expected)
                    results.append(moved.to_local().contiguous())
        return results

    as_with_peer(program)


@case
def tensor_parallel_training_with_a_parallel_loss(ranks: Ranks) -> None:
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor import parallel as tp

    def program(pair: Pair) -> Tensors:
        model = nn.Sequential(nn.Embedding(32, 16), nn.Linear(16, 24), nn.Tanh(), nn.Linear(24, 32))
        plan: dict[str, Any] = {
            "0": tp.RowwiseParallel(input_layouts=Replicate()),
            "1": tp.ColwiseParallel(),
            "3": tp.ColwiseParallel(
                input_layouts=Shard(-1), output_layouts=Shard(-1), use_local_output=False
            ),
        }
        tp.parallelize_module(model.to(pair.device), pair.mesh, plan)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        words = torch.arange(12, device=pair.device) % 32
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            with tp.loss_parallel():
                loss = nn.functional.cross_entropy(model(words), (words * 7 + 1) % 32)
                loss.backward()
            optimizer.step()
            losses.append(loss.full_tensor().detach())
        return losses

    as_with_peer(program)


@case
def pipelines(ranks: Ranks) -> None:
    from torch.distributed import pipelining

    def program(pair: Pair) -> Tensors:
        results = []
        for kind in (pipelining.ScheduleGPipe, pipelining.Schedule1F1B):
            torch.manual_seed(2)
            part = [nn.Linear(16, 24), nn.Linear(24, 8)][pair.rank].to(pair.device)
            stage = pipelining.PipelineStage(part, pair.rank, 2, pair.device, group=pair.group)
            schedule = kind(stage, 4, loss_fn=lambda output, target: (output - target).square().mean())
            losses: list[torch.Tensor] = []
            if pair.rank == 0:
                schedule.step(torch.arange(128.0, device=pair.device).reshape(8, 16) / 64)
            else:
                schedule.step(target=torch.ones(8, 8, device=pair.device), losses=losses)
            results += losses + [parameter.grad for parameter in part.parameters()]
        return results

    as_with_peer(program)


@case
def optimizer_of_which_each_rank_has_a_part(ranks: Ranks) -> None:
    from torch.distributed.optim import ZeroRedundancyOptimizer

    def program(pair: Pair) -> Tensors:
        model = nn.parallel.DistributedDataParallel(pair.network(), process_group=pair.group)
        optimizer = ZeroRedundancyOptimizer(
            model.parameters(), torch.optim.Adam, process_group=pair.group, lr=0.01
        )
        losses = train(model, pair.data(), optimizer)
        optimizer.consolidate_state_dict(to=0)  # a rank of the group
        if pair.rank == 0:
            losses += [state["exp_avg"] for state in optimizer.state_dict()["state"].values()]
        return losses

    as_with_peer(program)


@case
def loader_of_data_with_forked_workers(ranks: Ranks) -> None:
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    def program(pair: Pair) -> Tensors:
        rows = TensorDataset(pair.random(12, 16, seed=3).cpu())
        sampler = DistributedSampler(rows, 2, pair.rank, seed=5)
        loader = DataLoader(rows, 3, sampler=sampler, num_workers=1, multiprocessing_context="fork")
        model = nn.parallel.DistributedDataParallel(pair.network(), process_group=pair.group)
        return [loss for (batch,) in loader for loss in train(model, batch.to(pair.device), steps=1)]

    as_with_peer(program)


@case
def checkpoint_saved_in_shards_and_loaded_by_others(ranks: Ranks) -> None:
    import torch.distributed.checkpoint as dcp
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    def program(pair: Pair) -> Tensors:
        mesh = pair.mesh
        whole = pair.random(7, 6, seed=4)
        folders = [tempfile.mkdtemp() if pair.rank == 0 else ""]
        dist.broadcast_object_list(folders, 0, group=pair.group)
        folder = folders[0]
        state = {"weights": distribute_tensor(whole, mesh, [Shard(0)]), "step": torch.tensor(5)}
        dcp.save(state, checkpoint_id=folder, process_group=pair.group)
        results = []
        for placement in (Shard(1), Replicate()):
            empty = distribute_tensor(torch.zeros(7, 6, device=pair.device), mesh, [placement])
            found = {"weights": empty, "step": torch.tensor(0)}
            dcp.load(found, checkpoint_id=folder, process_group=pair.group)
            assert found["step"].item() == 5 and torch.equal(empty.full_tensor(), whole)
            results.append(empty.to_local().contiguous())
        dist.barrier(pair.group)
        if pair.rank == 0:
            shutil.rmtree(folder)
        return results

    as_with_peer(program)


@case
def compiled_collectives(ranks: Ranks) -> None:
    import torch.distributed._functional_collectives as funcol

    def program(pair: Pair) -> Tensors:
        def step(x: torch.Tensor) -> torch.Tensor:
            total = funcol.all_reduce(x * 2, "sum", pair.group)
            wide = funcol.all_gather_tensor(total + x, 0, pair.group)
            part = funcol.reduce_scatter_tensor(wide.sin(), "sum", 0, pair.group)
            return funcol.all_to_all_single(part, None, None, pair.group).cos()

        compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
        data = pair.data()
        result = compiled(data)
        assert torch.equal(result, step(data))
        return [result]

    as_with_peer(program)


def train_by_hook(group: Any, hook: Any, state: Any, waits: bool) -> Tensors:
    """Train a model of several buckets by a communication hook. Return its parameters.

    A hook that `waits` for its result has one order of operations with every backend.
    """
    buckets = set()

    def counted(state: Any, bucket: Any) -> Any:
        buckets.add(bucket.index())
        future = hook(state, bucket)
        if waits:
            future.wait()
        return future

    counted.__annotations__.clear()  # PyTorch does not read annotations that are texts
    model = nn.Sequential(*(nn.Linear(40, 40) for _ in range(8))).to(DEVICE)
    parallel = nn.parallel.DistributedDataParallel(model, process_group=group, bucket_cap_mb=0.01)
    parallel.register_comm_hook(state, counted)
    train(parallel, Pair(group, DEVICE).random(4, 40), steps=5)
    assert len(buckets) > 3, buckets
    return [parameter.detach().cpu() for parameter in model.parameters()]


@register
def hooks_whose_callbacks_begin_operations(ranks: Ranks) -> None:
    """With several buckets, PowerSGD and quantization train as with gloo, where each bucket is waited for."""
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
    from torch.distributed.algorithms.ddp_comm_hooks import quantization_hooks as quantization

    hooks = {"PowerSGD": power.powerSGD_hook}
    if torch.torch_version.TorchVersion(torch.__version__) >= "2.15":  # before, it failed with gloo
        hooks["per tensor"] = quantization.quantization_pertensor_hook
    for size in range(2, min(dist.get_world_size(), 3) + 1):
        made = [
            dist.new_group(list(range(size)), backend=backend, timeout=LIMIT) for backend in ("atoll", "gloo")
        ]
        if ranks.rank >= size:
            continue
        for name, hook in hooks.items():
            results = []
            for group, waits in zip(made, (False, True), strict=True):
                torch.manual_seed(1)
                state = power.PowerSGDState(group, 2, start_powerSGD_iter=2) if name == "PowerSGD" else group
                results.append(train_by_hook(group, hook, state, waits))
            if size == 2:
                same(results, name)
                for _ in range(10 if name == "per tensor" else 0):
                    # Tensors and futures end in threads of the group while the hook asks for futures.
                    train_by_hook(made[0], hook, made[0], False)
            else:
                torch.testing.assert_close(results[0], results[1])
