"""One-sided access to a tensor of PyTorch's symmetric memory on each rank of a group, for `atoll.torch`."""

from __future__ import annotations

from typing import Any

import torch

# torch.distributed is imported by the functions: some builds of PyTorch lack it, and most users of `atoll.torch` do not
# need it.


def symmetric_empty(*size: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Make a CPU tensor in this rank's symmetric memory. Local.

    Parameters
    ----------
    size
        The shape, as of torch.empty.
    dtype
        Element type; by default PyTorch's.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    torch.OutOfMemoryError
        The memory would exceed its limit (ATOLL_HEAP_SIZE).

    Notes
    -----
    Needs no `atoll.init`. The contents are undefined. The memory is used again when the tensor is dropped, and
    no other rank shares it.
    """
    import torch.distributed._symmetric_memory as symm_mem

    symm_mem.set_backend("ATOLL")
    made: torch.Tensor = symm_mem.empty(*size, dtype=dtype, device="cpu")
    return made


def share(tensor: torch.Tensor, group: Any = None) -> SharedTensor:
    """Share a symmetric tensor with the ranks of a group. Collective over the group.

    Parameters
    ----------
    tensor
        A contiguous tensor of `symmetric_empty` or torch's `symm_mem.empty`, or a view of one. Its shape and its
        place in the allocation are equal on all ranks.
    group
        A process group of any backend, by default the world.

    Returns
    -------
    SharedTensor

    Raises
    ------
    ValueError
        The tensor is not in symmetric memory, or not contiguous.
    RuntimeError
        Allocations differ in size, or a rank did not come within the group's time-out.
    """
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symm_mem

    if not tensor.is_contiguous():
        raise ValueError("share takes a contiguous tensor; make it by .contiguous() in symmetric memory.")
    return SharedTensor(tensor, symm_mem.rendezvous(tensor, group or dist.group.WORLD))


class SharedTensor:
    """A tensor of each rank of a group, which the others read and write without its owner's help.

    `share` makes it. Ranks are those of the group.

    Parameters
    ----------
    tensor, handle
        The tensor, and PyTorch's handle of its symmetric memory; `share` passes them.
    """

    def __init__(self, tensor: torch.Tensor, handle: Any) -> None:
        self._tensor, self._handle = tensor, handle

    @property
    def rank(self) -> int:
        """This rank of the group."""
        return int(self._handle.rank)

    @property
    def size(self) -> int:
        """The number of ranks."""
        return int(self._handle.world_size)

    def tensor(self, rank: int) -> torch.Tensor:
        """Return the tensor of a rank. Loads and stores reach that rank's memory. Local.

        Parameters
        ----------
        rank
            A rank of the group.

        Returns
        -------
        torch.Tensor
            Of the shape and dtype of this rank's tensor.

        Raises
        ------
        RuntimeError
            There is no such rank.
        """
        mine = self._tensor
        found: torch.Tensor = self._handle.get_buffer(rank, mine.shape, mine.dtype, mine.storage_offset())
        return found

    def _part(self, rank: int, elements: int, offset: int, operation: str) -> torch.Tensor:
        if offset < 0 or offset + elements > self._tensor.numel():
            raise ValueError(
                f"{operation} of {elements} elements at element {offset}: the shared tensor has "
                f"{self._tensor.numel()} elements."
            )
        return self.tensor(rank).view(-1)[offset : offset + elements]

    def put(self, src: torch.Tensor, rank: int, offset: int = 0) -> None:
        """Write all elements of src into the tensor of a rank. Local.

        Parameters
        ----------
        src
            Any tensor; its elements are converted to the shared tensor's type.
        rank
            The rank whose tensor is written.
        offset
            First element there, in row-major order.

        Raises
        ------
        ValueError
            The elements exceed the shared tensor.

        Notes
        -----
        On CPUs the elements are visible to that rank once it has returned from a `wait_signal` or `barrier` that
        follows this call.
        """
        self._part(rank, src.numel(), offset, "put").copy_(src.reshape(-1))

    def get(self, dst: torch.Tensor, rank: int, offset: int = 0) -> None:
        """Read elements of the tensor of a rank into all of dst. Local.

        Parameters
        ----------
        dst
            The tensor to fill.
        rank
            The rank whose tensor is read.
        offset
            First element there, in row-major order.

        Raises
        ------
        ValueError
            The elements exceed the shared tensor.
        """
        dst.copy_(self._part(rank, dst.numel(), offset, "get").view(dst.shape))

    def signal(self, rank: int, channel: int = 0, timeout: float = 0) -> None:
        """Signal a rank, whose wait_signal on the channel returns.

        Parameters
        ----------
        rank
            The rank to signal.
        channel
            Signals of different channels are independent.
        timeout
            Limit in seconds of the wait until the previous signal was taken; 0: the group's time-out.

        Raises
        ------
        RuntimeError
            The rank did not take the previous signal in time, or has ended.
        """
        self._handle.put_signal(rank, channel, round(timeout * 1000))

    def wait_signal(self, rank: int, channel: int = 0, timeout: float = 0) -> None:
        """Wait for a signal of a rank, and take it.

        Parameters
        ----------
        rank
            The rank that signals.
        channel
            The channel of its call.
        timeout
            Limit in seconds; 0: the group's time-out.

        Raises
        ------
        RuntimeError
            No signal came in time, or the rank has ended.
        """
        self._handle.wait_signal(rank, channel, round(timeout * 1000))

    def barrier(self, channel: int = 0, timeout: float = 0) -> None:
        """Wait for all ranks. Collective over the group.

        Parameters
        ----------
        channel
            Barriers of different channels are independent.
        timeout
            Limit in seconds; 0: the group's time-out.

        Raises
        ------
        RuntimeError
            A rank did not come in time, or has ended; the error names it.
        """
        self._handle.barrier(channel, round(timeout * 1000))
