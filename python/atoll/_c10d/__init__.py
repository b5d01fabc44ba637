"""The backend `atoll` of torch.distributed: makes the C++ backend of a group (docs/torch.md)."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from .. import _atoll
from . import _build

__all__ = ["create", "module"]


def _tables() -> tuple[int, int]:
    """Return the addresses of libatoll's tables of functions (atoll/groups.h)."""
    assert _atoll.__file__  # importing it has loaded the library
    library = ctypes.CDLL("libatoll.so")
    addresses = []
    for function in (library.atoll_groups, library.atoll_device_groups):
        function.restype = ctypes.c_void_p
        addresses.append(int(function()))
    return addresses[0], addresses[1]


@functools.cache
def module() -> Any:
    """Return the C++ module for the PyTorch of this process, compiled if need be."""
    loaded = _build.load()
    loaded.load(*_tables())
    return loaded


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
    return module().create_backend(
        group.store, group.group_rank, group.group_size, seconds, str(group.group_id), ranks
    )
