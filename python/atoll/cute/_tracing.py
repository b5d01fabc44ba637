"""Operations of kernels as events of a trace, in processes of a job with a trace (atoll/device/detail/traced.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import functools
import inspect

from cutlass import Float, Int32, Int64

from .._kernels import ptx, trace_ptx
from .._kernels.ptx import AT
from .._kernels.tracing import EVENTS, words_of_name
from ._addresses import address
from ._dsl._copies import size_in_bytes
from ._exchange import pes_at
from ._primitives import apart, asm
from ._threads import rank_of
from ._types import BLOCK, GRID, THREAD, Scope


def _moved(team, event, given):
    """Return the bytes of an event."""
    if not event.moved:
        return Int64(0)
    if event.moved == "count":
        return Int64(given["count"]) * (given["src"].element_type.width // 8)
    moved = Int64(size_in_bytes(given["dst" if event.moved == "dst" else "src"]))
    return moved // Int64(team.n_pes) if event.moved == "share" else moved


def _started(team, scope):
    """Return the time in the thread that writes the event, 0 in the others and without a trace."""
    writer = rank_of(BLOCK if scope is GRID else scope)
    return asm(trace_ptx.trace_begin(only_first=True), "=l,l,r", Int64, [team.trace, Int32(writer)])


def _taken(team, began):
    """Take a record of the log for an event that began."""
    return asm(trace_ptx.trace_take(), "=&l,l,l", Int64, [team.trace, began])


def _world(team, began, pe):
    """Return the number of a PE in the world, -1 for none."""
    return asm(trace_ptx.TRACE_WORLD, "=&r,l,r,r,l", Int32, [began, pe, team.n_pes, pes_at(team)])


def traced(name: str, function):
    """Return an operation with its event around it; the function itself if it has none, or in other processes."""
    event = EVENTS.get(name)
    if event is None or not ptx.TRACES:
        return function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def operation(*arguments, **keywords):
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        given = bound.arguments
        team = given["team"]
        began = _started(team, given.get("scope", THREAD))
        taken = _taken(team, began)
        world = _world(team, began, Int32(given[event.peer]) if event.peer else Int32(-1))
        result = function(*arguments, **keywords)
        value = given[event.value] if event.value else 0
        word = address(given[event.word]) if event.word else Int64(0)
        words = [
            team.trace, taken, Int32(AT[name]), began, world, word, team.window + Int64(team.my_slot) * team.stride,
            _moved(team, event, given), Int64(0) if isinstance(value, (float, Float)) else Int64(value), team.stride,
        ]  # fmt: skip
        apart("atoll_trace_event", trace_ptx.trace_end(), "l,l,r,l,r,l,l,l,l,l", None, words)
        return result

    return operation


def trace_begin(team):
    if not ptx.TRACES:
        return Int64(0)
    return _started(team, THREAD)


def trace_end(team, began, name, scope: Scope = THREAD):
    if not isinstance(name, str):
        raise TypeError(f"atoll.cute.trace_end: name is {type(name).__name__}; pass a text")
    if not ptx.TRACES:
        return
    words = map(Int64, words_of_name(name))
    writer = asm(
        "{ .reg .pred p; setp.eq.u32 p, $2, 0; selp.b64 $0, $1, 0, p; }", "=l,l,r", Int64,
        [began, Int32(rank_of(BLOCK if scope is GRID else scope))],
    )  # fmt: skip
    operands = [team.trace, _taken(team, writer), Int32(AT["trace_range"]), writer, Int32(-1), *words]
    apart("atoll_trace_range", trace_ptx.trace_end_range(), "l,l,r,l,r,l,l,l", None, operands)
