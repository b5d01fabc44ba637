"""Tensors over other PEs' memory."""

# mypy: ignore-errors
from __future__ import annotations

from .... import cute as dev
from ._teams import world

__all__ = ["get_multicast_tensor", "get_peer_tensor"]


def get_peer_tensor(tensor, pe):
    """Return PE pe's copy of a tensor."""
    return dev.peer(world(), tensor, pe)


def get_multicast_tensor(team, tensor):
    """Refuse to compile: there is no multicast memory."""
    raise TypeError(
        "nvshmem.core.device.cute.get_multicast_tensor: Atoll has no multicast memory; store to get_peer_tensor(tensor, pe) of "
        "each PE, or call broadcast"
    )
