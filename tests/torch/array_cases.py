"""Cases of distributed arrays, which go to DTensor and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import atoll
import numpy as np
import torch
import torch.distributed as dist
from atoll import arrays
from ranks import Ranks, case, raises

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from page_blocks import block_with


def as_on_the_page() -> None:
    """The block of docs/arrays.md, in a job and a process group that exist."""
    block = block_with("arrays", "d = arrays.to_dtensor(a)")
    start, end = "atoll.init()\n", block.index("a = arrays.random")
    assert block.startswith(start) and "init_process_group(" in block[len(start) : end]
    names: dict[str, Any] = {"arrays": arrays, "torch": torch}
    exec(compile(block[end:].replace("((1024, 512))", "((8, 6)) - 0.5"), "arrays.md", "exec"), names)
    assert np.array_equal(names["b"].to_numpy(), np.maximum(names["a"].to_numpy(), 0))


def there_and_back(shape: tuple[int, ...], shares: bool, **distribution: Any) -> None:
    whole = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    a = arrays.from_array(whole, **distribution)
    tensor = arrays.to_dtensor(a)
    assert np.array_equal(tensor.full_tensor().numpy(), whole)
    assert np.shares_memory(tensor.to_local().numpy(), a.local) == shares
    for other in ("block", "cyclic"):
        b = arrays.from_dtensor(tensor * 2, dist=other)
        assert b.dtype == a.dtype and np.array_equal(b.to_numpy(), 2 * whole)


def of_placements(mesh: Any, placements: list[Any]) -> None:
    from torch.distributed.tensor import distribute_tensor

    whole = torch.arange(35).reshape(7, 5)
    given = distribute_tensor(whole, mesh, placements)
    a = arrays.from_dtensor(given)
    assert np.array_equal(a.to_numpy(), whole.numpy())
    tensor = arrays.to_dtensor(a, mesh, placements)
    assert torch.equal(tensor.to_local(), given.to_local())
    assert torch.equal(tensor.full_tensor(), whole)


@case
def distributed_arrays_to_dtensors_and_back(ranks: Ranks) -> None:
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

    texts = [atoll.get_unique_id() if ranks.rank == 0 else None]
    dist.broadcast_object_list(texts, 0, group=ranks.gloo)
    atoll.init(uid=texts[0], pe=ranks.rank, n_pes=ranks.size)
    n, last = ranks.size, ranks.size - 1
    as_on_the_page()
    there_and_back((4 * n, 3), shares=True)
    there_and_back((4 * n, 3), shares=True, xp="torch")
    there_and_back((4 * n, 3), shares=False, halo=1)
    there_and_back((7, 5), shares=False, dist="cyclic")
    line, square = (dist.init_device_mesh("cpu", sizes) for sizes in ((n,), (n // 2, 2)))
    for placement in (Shard(0), Shard(-1), Replicate()):
        of_placements(line, [placement])
    for pair in ([Shard(1), Shard(0)], [Shard(1), Replicate()], [Replicate(), Shard(0)]):
        of_placements(square, pair)
    local = torch.ones(3, dtype=torch.float64 if ranks.rank == last else torch.float32)
    with raises(TypeError, "expected a torch.distributed.tensor.DTensor"):
        arrays.from_dtensor(local)
    for given, placement, kind, expected in (
        (local, Partial(), ValueError, "expected Shard or Replicate"),
        (local, Replicate(), ValueError, f"PE {last} "),
        (local.bfloat16(), Replicate(), TypeError, "BFloat16"),
    ):
        tensor = DTensor.from_local(given, line, [placement], run_check=False)
        with raises(kind, "from_dtensor()", expected):
            arrays.from_dtensor(tensor)
    atoll.finalize()
