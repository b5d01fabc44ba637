"""The ranks of a job of PyTorch: what a case gets, the registry of cases, and comparisons of two backends."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

Case = Callable[["Ranks"], None]
CASES: dict[str, Case] = {}
LIMIT = timedelta(seconds=60)


class Ranks:
    """The arguments of a case: this rank, the size, and groups of both backends over all ranks."""

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


def exchange(key: str, text: str, limit: timedelta = LIMIT) -> list[str]:
    """Return every rank's text, by PyTorch's store, so that no broken group matters."""
    store = dist.distributed_c10d._get_default_store()
    keys = [f"{key}/{rank}" for rank in range(dist.get_world_size())]
    store.set(keys[dist.get_rank()], text)
    store.wait(keys, limit)
    return [store.get(key).decode() for key in keys]


def same(results: list[Any], what: object) -> None:
    """Check that the first result equals the second, of CPU tensors, in every bit and every tensor."""
    mine, theirs = results
    mine, theirs = ([x] if isinstance(x, torch.Tensor) else x for x in (mine, theirs))
    assert len(mine) == len(theirs), what
    for a, b in zip(mine, theirs, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.cpu(), b), (what, a, b)


def check_rank_order(ranks: Ranks, count: int, device: torch.device | str) -> None:
    """Check that a sum of `count` elements has the bits of a sum in the order of the ranks."""
    tensor = torch.randn(count, generator=torch.Generator().manual_seed(ranks.rank)).to(device)
    inputs = [torch.empty_like(tensor) for _ in range(ranks.size)]
    dist.all_gather(inputs, tensor, group=ranks.atoll)
    dist.all_reduce(tensor, group=ranks.atoll)
    expected = inputs[0].clone()
    for other in inputs[1:]:
        expected += other
    assert torch.equal(tensor, expected), f"the sum of {count} elements is not in rank order"


@contextlib.contextmanager
def raises(kind: type[BaseException], *parts: str) -> Iterator[None]:
    """Expect an error with these parts in its text."""
    try:
        yield
    except kind as error:
        text = str(error)
        assert all(part in text for part in parts), f"{parts} not in: {text}"
    else:
        raise AssertionError(f"no error; expected {kind.__name__} with {parts}")


def check_multiplied_sums(ranks: Any, device: torch.device) -> None:
    """Check PREMUL_SUM in the three reductions: tensors are multiplied by a factor, then added."""
    n, me = ranks.size, ranks.rank
    total = 0.5 * n * (n + 1) / 2
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for factor in (0.5, torch.tensor([0.5], dtype=dtype, device=device)):
            op = dist._make_nccl_premul_sum(factor)
            tensor = torch.full((7,), me + 1.0, dtype=dtype, device=device)
            kept = tensor.clone()
            dist.reduce(kept, n - 1, op, group=ranks.atoll)
            wanted = total if me == n - 1 else me + 1.0
            assert kept.tolist() == [wanted] * 7, "reduce"
            part = torch.empty(7, dtype=dtype, device=device)
            whole = tensor.repeat(n)
            dist.reduce_scatter_tensor(part, whole, op, group=ranks.atoll)
            assert part.tolist() == [total] * 7 and torch.equal(whole, tensor.repeat(n)), "reduce_scatter"
            dist.reduce_scatter(part, [tensor] * n, op, group=ranks.atoll)
            assert part.tolist() == [total] * 7, "reduce_scatter of a list"
            dist.all_reduce(tensor, op, group=ranks.atoll)
            assert tensor.tolist() == [total] * 7, "all_reduce"


def run_case(name: str, function: Case, gloo: Any) -> dict[str, Any]:
    """Run a case on this rank, and gather its errors."""
    group = dist.new_group(backend="atoll", timeout=LIMIT)
    error = ""
    try:
        function(Ranks(name, group, gloo))
    except BaseException:
        error = traceback.format_exc()
        print(f"{name} on this rank: {error}", file=sys.stderr, flush=True)
    errors = exchange(f"{name}/end", error, 2 * LIMIT)  # another rank may be at its own limit
    return {"name": name, "errors": {rank: text for rank, text in enumerate(errors) if text}}
