"""Operations of kernels as events of a trace, in processes of a job with a trace (atoll/device/detail/traced.hpp)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.errors import TypingError

from .._kernels import ptx
from .._kernels.tracing import EVENTS, fields_in_numba, text_with_event, words_of_name
from . import _primitives as prim
from ._addresses import bytes_of, item_of, kind_of, lesser
from ._dsl._registration import helper, vocabulary
from ._exchange import pes_at
from ._types import BLOCK, GRID, THREAD, constant

i64 = types.int64
RANGE = ptx.AT["trace_range"]


@vocabulary
def writer_of(scope):
    """Return the scope whose first thread writes the event: each block of a grid has its own."""
    found = BLOCK if constant(scope) is GRID else constant(scope)
    return lambda scope: found


@helper
def start(team, scope):
    """Return the time, or 0 where this thread writes no event."""
    return prim.trace_now() if team.trace != 0 and prim.rank(writer_of(scope)) == 0 else i64(0)


@helper
def take(team, began):
    """Take a record of the log for an event that began."""
    return prim.trace_take(team.trace, began) if began != 0 else i64(0)


@helper
def world_of(team, began, peer, word):
    """Return the number of a PE in the world, -1 for none."""
    pe = i64(peer)
    world = types.int32(-1)
    if began != 0 and pe >= 0 and pe < team.n_pes:
        world = prim.load_own(types.int32, pes_at(team) + 4 * pe)
    return world


@helper
def stop(team, began, taken, what, world, word, nbytes, value):
    if began != 0:
        offset = i64(word)
        if offset != 0:
            offset -= team.window + team.my_slot * team.stride
            if offset < 0 or offset >= team.stride:
                offset = i64(-1)
        prim.trace_write(team.trace, taken, what, began, i64(world), i64(nbytes), offset, i64(value))


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation with its event around it, or the function itself if it has none."""
    name = function.__name__
    event = EVENTS.get(name)
    if event is None:
        return function
    parameters = inspect.signature(function).parameters
    defaults = {f"default_{key}": one.default for key, one in parameters.items()}
    given = [key if one.default is one.empty else f"{key}=default_{key}" for key, one in parameters.items()]
    scope = "scope" if "scope" in parameters else "THREAD"
    text = text_with_event(name, given, list(parameters), f"start(team, {scope})", fields_in_numba(event))
    names = {
        "start": start, "take": take, "world_of": world_of, "stop": stop, "inner": helper(function), "prim": prim, "kind_of": kind_of, "item_of": item_of,
        "lesser": lesser, "bytes_of": bytes_of, "THREAD": THREAD, **defaults,
    }  # fmt: skip
    exec(text, names)  # _kernels/tracing.py has the text
    made: Callable[..., Any] = names[name]  # type: ignore[assignment]
    return made


@vocabulary
def trace_begin(team):
    if not ptx.TRACES:
        return lambda team: i64(0)
    return lambda team: prim.trace_now() if team.trace != 0 else i64(0)


@vocabulary
def trace_end(team, began, name, scope=THREAD):
    if not isinstance(name, types.StringLiteral):
        raise TypingError(f'trace_end: the name is {name}; pass a literal, such as "halo"')
    if not ptx.TRACES:
        return lambda team, began, name, scope=THREAD: None
    first, second, third = words_of_name(name.literal_value)

    def trace_end(team, began, name, scope=THREAD):
        if began != 0 and prim.rank(writer_of(scope)) == 0:
            taken = prim.trace_take(team.trace, i64(began))
            prim.trace_write(team.trace, taken, RANGE, i64(began), -1, i64(first), i64(second), i64(third))

    return trace_end
