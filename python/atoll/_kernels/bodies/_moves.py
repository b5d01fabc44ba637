"""Put and get of arrays, and the operations that order them (atoll/device/rma.hpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..checks import CHECKS
from . import by_name

PUT, GET, PUT_NBI, GET_NBI = CHECKS["put"], CHECKS["get"], CHECKS["put_nbi"], CHECKS["get_nbi"]


def operations(
    operation: Any, prim: Any, copy_to: Any, copy_from: Any, meet: Any, fence_by_first: Any, THREAD: Any
) -> dict[str, Callable[..., Any]]:
    """Return the operations. `copy_to` and `copy_from` check the PE and have no barrier."""

    @operation
    def put(team, dst, src, pe, scope=THREAD):
        copy_to(team, PUT, dst, src, pe, scope)
        meet(team.control, scope)

    @operation
    def get(team, dst, src, pe, scope=THREAD):
        copy_from(team, GET, dst, src, pe, scope)
        meet(team.control, scope)

    @operation
    def put_nbi(team, dst, src, pe, scope=THREAD):
        copy_to(team, PUT_NBI, dst, src, pe, scope)

    @operation
    def get_nbi(team, dst, src, pe, scope=THREAD):
        copy_from(team, GET_NBI, dst, src, pe, scope)

    @operation
    def quiet(team, scope=THREAD):
        prim.complete_bulk()
        meet(team.control, scope)
        fence_by_first(scope)
        meet(team.control, scope)

    @operation
    def fence(team, scope=THREAD):
        quiet(team, scope)

    @operation
    def flush(team, scope=THREAD):
        prim.read_bulk()
        meet(team.control, scope)

    return by_name(put, get, put_nbi, get_nbi, quiet, fence, flush)
