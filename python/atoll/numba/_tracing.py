"""Operations of kernels as events of a trace, in processes of a job with a trace (atoll/device/traced.hpp)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from numba.core import types
from numba.core.errors import TypingError

from .. import _ptx
from .._ptx import AT
from . import _primitives as prim
from ._addresses import bytes_of, item_of, kind_of, lesser
from ._registration import helper, vocabulary
from ._types import BLOCK, GRID, THREAD, constant

i64 = types.int64
TRACE, PES_OF, RANGE = AT["trace"], AT["pes_of"], AT["trace_range"]


class Event(NamedTuple):
    """The fields of an operation's event, as expressions over its arguments."""

    peer: str = "-1"
    word: str = "0"
    nbytes: str = "0"
    value: str = "0"


def word_of(name: str, value: str) -> dict[str, str]:
    kind = f"kind_of({name})"
    return {"word": f"prim.address({name})", "value": f"prim.to_bits({kind}, {kind}({value}))"}


_MOVED = "lesser(dst.size, src.size) * item_of(dst)"
_PUT, _GET = Event("pe", "prim.address(dst)", _MOVED), Event("pe", "prim.address(src)", _MOVED)
_WORDS = Event(word="prim.address(ivars)")
_SENT = Event(nbytes="bytes_of(src)")
EVENTS = {
    "put": _PUT, "put_nbi": _PUT, "async_put": _PUT, "get": _GET, "get_nbi": _GET,
    "iput": _PUT._replace(nbytes="count * item_of(dst)"), "iget": _GET._replace(nbytes="count * item_of(dst)"),
    "quiet": Event(), "fence": Event(), "flush": Event(), "sync": Event(), "barrier": Event(),
    "signal_set": Event("pe", **word_of("signal", "value")), "signal_add": Event("pe", **word_of("signal", "value")),
    "put_signal": Event("pe", nbytes=_MOVED, **word_of("signal", "value")),
    "put_signal_nbi": Event("pe", nbytes=_MOVED, **word_of("signal", "value")),
    "signal_wait_until": Event(**word_of("signal", "value")), "signal_consume": Event(**word_of("signal", "n")),
    "wait_until": Event(**word_of("ivar", "value")), "local_wait_until": Event(**word_of("words", "value")),
    **{f"wait_until_{which}{form}": _WORDS for which in ("all", "any", "some") for form in ("", "_vector")},
    "broadcast": _SENT._replace(peer="root"), "fcollect": _SENT, "collect": _SENT, "reduce": _SENT,
    "alltoall": Event(nbytes="bytes_of(src) // team.n_pes"), "reduce_scatter": Event(nbytes="bytes_of(dst)"),
    "post": _SENT._replace(peer="pe"), "receive": Event("pe", nbytes="bytes_of(dst)"),
    "tile_put": Event("pe", nbytes="bytes_of(src)"), "tile_get": Event("pe", nbytes="bytes_of(dst)"),
    "tile_reduce": _SENT, "tile_allgather": _SENT,
}  # fmt: skip


@vocabulary
def writer_of(scope):
    """Return the scope whose first thread writes the event: each block of a grid has its own."""
    found = BLOCK if constant(scope) is GRID else constant(scope)
    return lambda scope: found


@helper
def is_tracing(team):
    return team.control != 0 and prim.load_own(i64, team.control + TRACE) != 0


@helper
def start(team, scope):
    """Return the time, or 0 where this thread writes no event."""
    return prim.trace_now() if is_tracing(team) and prim.rank(writer_of(scope)) == 0 else i64(0)


@helper
def stop(team, began, what, peer, word, nbytes, value):
    if began != 0:
        pe = i64(peer)
        world = i64(-1)
        if pe >= 0 and pe < team.n_pes:
            world = i64(prim.load_own(types.int32, prim.load_own(i64, team.control + PES_OF) + 4 * pe))
        place = i64(word)
        if place != 0:
            place -= team.window + team.my_slot * team.stride
            if place < 0 or place >= team.stride:
                place = i64(-1)
        prim.trace_write(team.control, what, began, world, i64(nbytes), place, i64(value))


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation with its event around it, or the function itself if it has none."""
    name = function.__name__
    event = EVENTS.get(name)
    if event is None:
        return function
    parameters = inspect.signature(function).parameters
    defaults = {f"default_{key}": one.default for key, one in parameters.items()}
    given = ", ".join(
        key if one.default is one.empty else f"{key}=default_{key}" for key, one in parameters.items()
    )
    scope = "scope" if "scope" in parameters else "THREAD"
    text = (
        f"def {name}({given}):\n"
        f"    began = start(team, {scope})\n"
        f"    result = inner({', '.join(parameters)})\n"
        f"    stop(team, began, {AT[name]}, {event.peer}, {event.word}, {event.nbytes}, {event.value})\n"
        f"    return result\n"
    )
    names = {
        "start": start, "stop": stop, "inner": helper(function), "prim": prim, "kind_of": kind_of, "item_of": item_of,
        "lesser": lesser, "bytes_of": bytes_of, "THREAD": THREAD, **defaults,
    }  # fmt: skip
    exec(text, names)  # the table above has the text
    made: Callable[..., Any] = names[name]  # type: ignore[assignment]
    return made


@vocabulary
def trace_begin(team):
    if not _ptx.TRACES:
        return lambda team: i64(0)
    return lambda team: prim.trace_now() if is_tracing(team) else i64(0)


@vocabulary
def trace_end(team, began, name, scope=THREAD):
    if not isinstance(name, types.StringLiteral):
        raise TypingError(f'trace_end: the name is {name}; pass a literal, such as "halo"')
    if not _ptx.TRACES:
        return lambda team, began, name, scope=THREAD: None
    words = name.literal_value.encode()[: AT["trace_name_bytes"]].ljust(AT["trace_name_bytes"], b"\0")
    first, second, third = (int.from_bytes(words[at : at + 8], "little", signed=True) for at in (0, 8, 16))

    def trace_end(team, began, name, scope=THREAD):
        if began != 0 and prim.rank(writer_of(scope)) == 0:
            prim.trace_write(team.control, RANGE, i64(began), -1, i64(first), i64(second), i64(third))

    return trace_end
