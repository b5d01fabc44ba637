"""Distributed arrays from and to DTensor of PyTorch: each PE puts, or gets, the part of its rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import atoll

from .._array import DistArray
from .._compared import collective
from .._optional import required
from .._teams import _current
from .._together import first_difference, together

Bounds = tuple[tuple[int, int], ...]


@collective("tensor")
def from_dtensor(tensor: Any, **distribution: Any) -> DistArray:
    """Return the elements of a DTensor of PyTorch. Collective; each PE puts the part of its rank, once.

    Parameters
    ----------
    tensor
        A `torch.distributed.tensor.DTensor` of real or complex numbers, sharded or replicated. Every process of the job
        has the same one. Tested on CPUs.
    distribution
        grid, dist, halo and team of `DistArray`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    TypeError
        On every PE, if it is no DTensor, or NumPy lacks its dtype.
    ValueError
        On every PE, if the tensors of two PEs differ in shape, dtype or placements, or a placement is neither Shard nor
        Replicate: `tensor.redistribute(placements=...)` or `tensor.full_tensor()` changes that.
    """
    dtensor = required("from_dtensor()", "torch.distributed.tensor")
    with together("from_dtensor()"):
        if not isinstance(tensor, dtensor.DTensor):
            raise TypeError(
                f"{type(tensor).__name__} is passed; expected a torch.distributed.tensor.DTensor."
            )
        part = np.asarray(tensor.to_local().detach().cpu().resolve_conj())
        position = tensor.device_mesh.get_coordinate()
        sizes = tuple(tensor.device_mesh.shape)
        bounds = _bounds(tuple(tensor.shape), sizes, position or (0,) * len(sizes), tensor.placements)
    if difference := first_difference((tuple(tensor.shape), str(tensor.dtype), str(tensor.placements))):
        pe, first, other = difference
        raise ValueError(
            f"from_dtensor(): PE 0 passed {first}, PE {pe} {other}; pass the same tensor on every PE."
        )
    made = DistArray(tuple(tensor.shape), part.dtype, **distribution)
    _current.barrier()
    # The first of the PEs that have equal copies puts its own.
    is_copy = position is None or any(
        at and p.is_replicate() for at, p in zip(position, tensor.placements, strict=True)
    )
    with together("from_dtensor()"):
        if not is_copy and part.size:
            made[tuple(slice(*ends) for ends in bounds)] = part
    _current.barrier()
    return made


@collective("mesh", "placements", on_gpus=True)
def to_dtensor(a: DistArray, mesh: Any = None, placements: Sequence[Any] | None = None) -> Any:
    """Return the elements as a DTensor of PyTorch. Collective.

    It shares the memory of `a`, if each part is one that the DTensor has on that PE and there is no halo. `Shard` divides an
    axis in parts of equal length, but for the last ones. Blocks do the same if the grid divides the shape. Else each PE
    gets its part of the DTensor, a copy.

    Parameters
    ----------
    a
        The array.
    mesh
        A `torch.distributed.DeviceMesh` over the job's processes, on CPUs or GPUs as the array. By default one of the grid of `a`, with a
        dimension for each axis of several parts.
    placements
        Shard or Replicate for each dimension of the mesh. By default each dimension shards the axis that it is made from, and a
        given mesh the first axes.

    Returns
    -------
    torch.distributed.tensor.DTensor
        While it shares the memory of `a`, writes to one are writes to the other.

    Raises
    ------
    ValueError
        If `torch.distributed` is not initialized, or a placement is neither Shard nor Replicate.
    """
    torch = required("to_dtensor()", "torch")
    dtensor = required("to_dtensor()", "torch.distributed.tensor")
    with together("to_dtensor()"):
        if not torch.distributed.is_initialized():
            raise ValueError(
                "torch.distributed is not initialized; call torch.distributed.init_process_group() before."
            )
        if mesh is None:
            divided = [axis for axis, parts in enumerate(a.grid) if parts > 1] or [0]
            sizes = tuple(a.grid[axis] for axis in divided)
            mesh = torch.distributed.init_device_mesh("cuda" if a._library.on_gpu else "cpu", sizes)
            placements = placements or [dtensor.Shard(axis) for axis in divided]
        placements = placements or [dtensor.Shard(axis) for axis in range(len(mesh.shape))]
        position = mesh.get_coordinate() or (0,) * len(mesh.shape)
        bounds = _bounds(a.shape, tuple(mesh.shape), tuple(position), placements)
    is_own = all(axis.is_contiguous for axis in a._layout.axes) and bounds == a.bounds()
    is_plain = a._library.is_plain(a.local, a.dtype)
    shares = bool(atoll.min_reduce(np.array([is_own and is_plain], int), team=_current.team())[0])
    _current.barrier()
    part = a.local if shares else a.get(tuple(slice(*ends) for ends in bounds))
    _current.barrier()
    return dtensor.DTensor.from_local(
        a._library.tensor(part),
        mesh,
        placements,
        run_check=False,
        shape=torch.Size(a.shape),
        stride=_strides(a.shape),
    )


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides in elements of an array in C order."""
    found = [1]
    for n in reversed(shape[1:]):
        found.append(found[-1] * max(n, 1))
    return tuple(reversed(found))


def _bounds(
    shape: Sequence[int], sizes: Sequence[int], position: Sequence[int], placements: Sequence[Any]
) -> Bounds:
    """Return where a rank's part of a DTensor starts and stops along each axis, as `torch.chunk` divides it."""
    found = [(0, n) for n in shape]
    for parts, at, placement in zip(sizes, position, placements, strict=True):
        kind = type(placement).__name__
        if kind == "Replicate":
            continue
        if kind != "Shard":
            raise ValueError(f"a placement is {placement}; expected Shard or Replicate.")
        axis = placement.dim % len(shape)
        start, stop = found[axis]
        length = -(-(stop - start) // parts)
        first = min(start + at * length, stop)
        found[axis] = (first, min(first + length, stop))
    return tuple(found)
