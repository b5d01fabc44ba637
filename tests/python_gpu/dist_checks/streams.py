"""A halo's exchange stays on the stream that was current at its start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import atoll
from atoll import arrays

from .common import checks, kind


def one_stream() -> None:
    if "device" not in kind:
        return
    half = atoll.WORLD.split(atoll.my_pe() % 2)  # with the memory that the checks of teams reserve
    for team in (atoll.WORLD, half):
        u = arrays.ones((24, 20), halo=1, team=team, **kind)
        for border, given in (("reflect", None), ("reflect", "current")):
            seen = streams_of(u, border, given)
            assert len(seen) == 1 and all(type(stream) is int for stream in seen), seen
            checks["one stream"] = checks.get("one stream", 0) + 1


def streams_of(u: arrays.DistArray, border: str, given: Any) -> set[Any]:
    """Exchange a halo, while another stream is current at the end; return the streams of the calls and of the wait."""
    its, seen = u._library, set()
    consume, finish = atoll.signal_consume, its.finish

    def consumed(*arguments: Any, stream: Any, **more: Any) -> None:
        seen.add(stream)
        consume(*arguments, stream=stream, **more)

    def finished() -> None:
        seen.add(its.current_stream())
        finish()

    with mock.patch.object(atoll, "signal_consume", consumed):
        u.start_halo(border, given)
        seen.add(its.current_stream())
        with its.on(its.xp.cuda.Stream()), mock.patch.object(its, "finish", finished):
            u.finish_halo()
    return seen


STREAMS: list[Callable[[], None]] = [one_stream]
