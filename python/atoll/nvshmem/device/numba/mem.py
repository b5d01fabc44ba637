"""Arrays over other PEs' memory."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from ....numba._addresses import peer_in
from ....numba._dsl._registration import TARGETS, emit, vocabulary
from ._teams import I64, TEAM, for_host, load_on_gpu, world

__all__ = ["get_multicast_array", "get_peer_array"]
i64 = types.int64


@vocabulary
def get_multicast_array(team, arr):
    """Refuse to compile: there is no multicast memory."""
    raise TypingError(
        "nvshmem.core.device.numba.get_multicast_array: Atoll has no multicast memory; store to get_peer_array(arr, pe) of "
        "each PE, or call broadcast"
    )


@for_host
def get_peer_array(arr, pe):
    """Return PE pe's copy of an array."""


def found_world():
    return world()


# Numba's functions for GPUs return only arrays that were passed to them, so this one is built as it is typed.
def _peer(arr, pe):
    peer, build_peer = peer_in(TEAM, arr, i64)

    def build(context, builder, values):
        if isinstance(builder, ir.IRBuilder):
            team = context.compile_internal(builder, found_world, TEAM(), [])
        else:
            _, load = load_on_gpu(i64)
            team = load(context, builder, [ir.Constant(I64, 0)])
        return build_peer(context, builder, [team, *values])

    return peer.return_type(arr, i64), build


for target in TARGETS:
    emit(target, get_peer_array)(_peer)
