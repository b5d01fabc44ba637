"""Arrays over other PEs' memory."""

from __future__ import annotations

from numba.core.errors import TypingError

from .... import numba as dev
from ....numba._registration import vocabulary
from ._teams import for_kernels, world

__all__ = ["get_multicast_array", "get_peer_array"]


@vocabulary
def get_multicast_array(team, array):
    """Refuse to compile: there is no multicast memory."""
    raise TypingError(
        "nvshmem.core.device.numba.get_multicast_array: Atoll has no multicast memory; store to get_peer_array(array, pe) of "
        "each PE, or call broadcast"
    )


@for_kernels
def get_peer_array(arr, pe):
    """Return PE pe's copy of an array."""
    return dev.peer(world(), arr, pe)
