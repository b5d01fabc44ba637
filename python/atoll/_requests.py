"""Waits of coroutines for non-blocking collectives."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

from ._atoll import Request
from ._tasks import offer

TURNS = 100  # iterations of the event loop before the wait sleeps between tests
NAP_SECONDS = 0.0005

offer()  # the program has imported asyncio by now


def awaiting(request: Request) -> Generator[Any, None, Any]:
    """Let other tasks run until the request is done, and return its result."""
    for _ in range(TURNS):
        if request.test():
            return request.wait()
        yield
    while not request.test():
        yield from asyncio.sleep(NAP_SECONDS).__await__()
    return request.wait()
