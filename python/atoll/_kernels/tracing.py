"""The events of operations in a trace (atoll/device/detail/traced.hpp), by the arguments from which their fields come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .ptx import AT


class Event(NamedTuple):
    """The arguments of an operation from which the fields of its event come; "" for none."""

    peer: str = ""
    word: str = ""
    moved: str = ""
    """The array whose size is the event's number of bytes. Or `both`: the smaller of dst and src. Or `count`: the
    elements of a strided copy. Or `share`: a member's share of src.
    """
    value: str = ""


_PUT, _GET = Event("pe", "dst", "both"), Event("pe", "src", "both")
_SIGNAL, _WORDS, _SENT = Event("pe", "signal", value="value"), Event(word="ivars"), Event(moved="src")
EVENTS = {
    **dict.fromkeys(("put", "put_nbi", "async_put"), _PUT), **dict.fromkeys(("get", "get_nbi"), _GET),
    "iput": _PUT._replace(moved="count"), "iget": _GET._replace(moved="count"),
    **dict.fromkeys(("quiet", "fence", "flush", "sync", "barrier"), Event()),
    **dict.fromkeys(("signal_set", "signal_add"), _SIGNAL),
    **dict.fromkeys(("put_signal", "put_signal_nbi"), _SIGNAL._replace(moved="both")),
    "signal_wait_until": Event(word="signal", value="value"), "signal_consume": Event(word="signal", value="n"),
    "wait_until": Event(word="ivar", value="value"), "local_wait_until": Event(word="words", value="value"),
    **{f"wait_until_{which}{form}": _WORDS for which in ("all", "any", "some") for form in ("", "_vector")},
    "broadcast": _SENT._replace(peer="root"), "alltoall": Event(moved="share"), "reduce_scatter": Event(moved="dst"),
    **dict.fromkeys(("fcollect", "collect", "reduce", "tile_reduce", "tile_allgather"), _SENT),
    "post": _SENT._replace(peer="pe"), "receive": Event("pe", moved="dst"),
    "tile_put": _SENT._replace(peer="pe"), "tile_get": Event("pe", moved="dst"),
}  # fmt: skip


_MOVED = {
    "": "0",
    "src": "bytes_of(src)",
    "dst": "bytes_of(dst)",
    "both": "lesser(dst.size, src.size) * item_of(dst)",
    "count": "count * item_of(dst)",
    "share": "bytes_of(src) // team.n_pes",
}


def fields_in_numba(event: Event) -> list[str]:
    """Return the expressions for the peer, the word, the bytes and the value of an event in Numba."""
    kind = f"kind_of({event.word})"
    value = f"prim.to_bits({kind}, {kind}({event.value}))" if event.value else "0"
    word = f"prim.address({event.word})" if event.word else "0"
    return [event.peer or "-1", word, _MOVED[event.moved], value]


def fields_in_triton(event: Event, parameters: Mapping[str, Any]) -> list[str]:
    """Return the same expressions in Triton, whose arrays are pointers."""
    array = "src" if event.moved in ("src", "share") and "src" in parameters else "dst"
    elements = "rows * cols" if "rows" in parameters else "n"
    moved = f"bytes_of({array}, {elements})" if event.moved else "0"
    return [event.peer or "-1", event.word or "None", moved, event.value or "0"]


def text_with_event(name: str, declared: list[str], passed: list[str], start: str, fields: list[str]) -> str:
    """Return the source of an operation with its event around it: `inner` is the operation.

    The operation does not wait for the record's number and the peer's number in the world, which memory gives.

    fields: expressions for the peer, the word, the bytes and the value.
    """
    peer, word, *rest = fields
    return (
        f"def {name}({', '.join(declared)}):\n"
        f"    began = {start}\n"
        f"    taken = take(team, began)\n"
        f"    world = world_of(team, began, {peer}, {word})\n"
        f"    result = inner({', '.join(passed)})\n"
        f"    stop(team, began, taken, {AT[name]}, world, {word}, {', '.join(rest)})\n"
        f"    return result\n"
    )


def words_of_name(name: str) -> list[int]:
    """Return the name of a range as an event has it: words of eight bytes; a longer name is cut."""
    size = AT["trace_name_bytes"]
    text = name.encode()[:size].ljust(size, b"\0")
    return [int.from_bytes(text[at : at + 8], "little", signed=True) for at in range(0, size, 8)]
