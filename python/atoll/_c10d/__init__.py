"""The backend `atoll` of torch.distributed: makes the C++ backend of a group (docs/torch.md)."""

from __future__ import annotations

import ctypes
import functools
import warnings
from collections.abc import Sequence
from typing import Any

from .. import _atoll
from . import _build

__all__ = ["create", "create_on", "module"]


def _tables() -> list[int]:
    """Return the addresses of libatoll's tables of functions (atoll/groups.h, atoll/symmetric.h)."""
    assert _atoll.__file__  # importing it has loaded the library
    library = ctypes.CDLL("libatoll.so")
    addresses = []
    for function in (
        library.atoll_groups,
        library.atoll_device_groups,
        library.atoll_symmetric_memory,
        library.atoll_device_memory,
    ):
        function.restype = ctypes.c_void_p
        addresses.append(int(function()))
    return addresses


@functools.cache
def module() -> Any:
    """Return the C++ module for the PyTorch of this process, compiled if need be."""
    loaded = _build.load()
    loaded.load(*_tables())
    _accept_ranks_outside_groups()
    _order_callbacks(loaded)
    try:
        loaded.register_symmetric()
    except RuntimeError as error:
        warnings.warn(f"atoll: PyTorch refused the symmetric memory of CPUs: {error}", stacklevel=2)
    return loaded


def _accept_ranks_outside_groups() -> None:
    """Add a method to PyTorch's backends that does nothing: PyTorch calls it on ranks outside a new group.

    It does so after init_process_group(device_id=...), if the backend supports split. Only NCCL's backend has it.
    """
    from torch._C._distributed_c10d import Backend

    if not hasattr(Backend, "perform_nocolor_split"):
        Backend.perform_nocolor_split = lambda backend, device: None


def _order_callbacks(loaded: Any) -> None:
    """Let callbacks of Atoll's futures begin operations in the order of their `then`, on all ranks.

    A callback runs in a thread of the group, or in the caller of `then` if the operation has ended. Which of them
    differs between ranks. PyTorch's class of futures is closed, so its method is replaced.
    """
    from torch._C import Future

    original = Future.then

    @functools.wraps(original)
    def then(future: Any, callback: Any) -> Any:
        turn = loaded.Turn.of(future) if callable(callback) else None
        if turn is None:
            return original(future, callback)
        child = original(future, functools.partial(turn.run, callback))
        turn.follow(child)
        return child

    Future.then = then


def create(group: Any, options: Any) -> Any:
    """Make the backend of a group. Collective over the group.

    Parameters
    ----------
    group
        PyTorch's description of the group: store, rank, size, time-out and global ranks.
    options
        Options of the backend; there are none, so this must be None or PyTorch's basic options.
    """
    ranks = [int(rank) for rank in group.global_ranks_in_group]
    seconds = group.timeout.total_seconds()
    return create_on(group.store, group.group_rank, group.group_size, seconds, str(group.group_id), ranks)


def create_on(
    store: Any,
    rank: int,
    size: int,
    seconds: float,
    label: str,
    ranks: Sequence[int] = (),
    shown: str = "atoll",
) -> Any:
    """Make the backend of a group whose ranks a store connects. Collective over the group.

    Parameters
    ----------
    store
        PyTorch's store.
    rank, size
        This rank of the group, and the number of ranks.
    seconds
        Time-out of operations.
    label
        A name of the group, for errors.
    ranks
        The global rank of each rank, for errors; by default the ranks themselves.
    shown
        The backend's name in PyTorch's profiler, before the operation's: "atoll:all_reduce".
    """
    backend = module().create_backend(store, rank, size, seconds, label, list(ranks), shown)
    _atoll._offer_stacks()  # under `atoll run`, for reports of hangs
    return backend
