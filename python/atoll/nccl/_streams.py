"""Streams of CUDA by their handles, and the order of work on several of them."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import _atoll
from ._errors import NcclInvalid

LEGACY = 0
"""The stream of calls that name none, as NCCL's."""
_WITHOUT_TIMES = 2  # CU_EVENT_DISABLE_TIMING
_ALWAYS_THERE = (LEGACY, 1)
"""Handles of the default stream. That of each thread, 2, is several streams of one handle."""


def handle_of(stream: Any) -> int:
    """Return the handle of a stream of CuPy, PyTorch or cuda.core, or of None. Raises NcclInvalid."""
    if stream is None:
        return LEGACY
    for name in ("ptr", "cuda_stream"):  # CuPy's and PyTorch's; these are quicker than the protocol
        handle = getattr(stream, name, None)
        if type(handle) is int:
            return handle
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    try:
        return int(stream)
    except (TypeError, ValueError):
        raise NcclInvalid(
            f"nccl.core: stream is a {type(stream).__name__}; pass a stream of CuPy, PyTorch or cuda.core, or a handle."
        ) from None


@functools.cache
def _driver() -> Any:
    """Return CUDA's driver, or None without one. The simulated GPU then completes each call at once."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


class _Last(NamedTuple):
    """The stream of a call."""

    stream: Any
    """Kept, so that the stream exists."""
    handle: int
    recorded: bool
    """True if an event is at the end of the call: for streams that may end while only their handle is known."""


class Order:
    """The order of the calls of one group, which its caller may make on several streams.

    Calls that a graph captures are in order with each other only. A graph's launches are in order with other work by
    their stream.
    """

    def __init__(self, captures: Callable[[int], bool], device: int) -> None:
        self._captures = captures
        self._events = Events(device)
        self._last: dict[bool, _Last] = {}
        """The last call, by whether a graph captured it."""
        self._captured = False
        """Whether a graph captures the present call."""

    def begin(self, stream: Any) -> int:
        """Return the handle of a stream, whose further work follows the calls before."""
        handle = handle_of(stream)
        captured = self._captured = handle not in _ALWAYS_THERE and self._captures(handle)
        last = self._last.get(captured)
        if last is None or (last.handle == handle and not last.recorded):
            return handle
        if captured and not self._captures(last.handle):
            return handle  # that graph is complete
        if not last.recorded:
            self._events.record(captured, last.handle)
        self._events.wait(captured, handle)
        return handle

    def end(self, stream: Any, handle: int) -> None:
        """Note the call that began on a stream."""
        captured = self._captured
        recorded = not captured and not _lives(stream, handle)
        if recorded:
            self._events.record(captured, handle)
        self._last[captured] = _Last(stream, handle, recorded)

    def after(self, stream: int, earlier: int) -> None:
        """Let further work of a stream follow the work of another up to now."""
        if stream != earlier:
            self._events.record("other", earlier)
            self._events.wait("other", stream)

    def finish(self) -> None:
        """Wait for the last call that no graph captured, and end the events."""
        last = self._last.get(False)
        if last is not None and last.recorded:
            self._events.synchronize(False)
        elif last is not None:
            _atoll.check_kernels(stream=last.handle)
        self._events.end()


def _lives(stream: Any, handle: int) -> bool:
    """Return whether a stream exists as long as its object. Objects that only show a handle do not tell."""
    if handle in _ALWAYS_THERE:
        return True
    kind = type(stream)
    return kind.__name__ == "Stream" and kind.__module__.partition(".")[0] in ("cupy", "torch")


class Events:
    """Events of a GPU by name, in the context that CUDA's runtime and the libraries for Python use."""

    def __init__(self, device: int) -> None:
        self._device = device
        self._context: ctypes.c_void_p | None = None
        self._made: dict[Any, ctypes.c_void_p] = {}

    def record(self, name: Any, handle: int) -> None:
        """Record an event at the end of a stream's work."""
        with self._current() as there:
            if there and name not in self._made:
                event = ctypes.c_void_p()
                _call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(_WITHOUT_TIMES))
                self._made[name] = event
            if there:
                _call("cuEventRecord", self._made[name], ctypes.c_void_p(handle))

    def wait(self, name: Any, handle: int) -> None:
        """Let a stream's further work wait for an event."""
        with self._current() as there:
            if there:
                _call("cuStreamWaitEvent", ctypes.c_void_p(handle), self._made[name], ctypes.c_uint(0))

    def synchronize(self, name: Any) -> None:
        """Wait for an event."""
        with self._current() as there:
            if there:
                _call("cuEventSynchronize", self._made[name])

    def end(self) -> None:
        """Destroy the events."""
        with self._current() as there:
            while there and self._made:
                _call("cuEventDestroy_v2", self._made.popitem()[1])

    @contextmanager
    def _current(self) -> Generator[bool]:
        """Make the GPU's context current. Yields whether there is a driver."""
        if _driver() is None:
            yield False
            return
        if self._context is None:
            context = ctypes.c_void_p()
            _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(self._device))
            self._context = context
        present = ctypes.c_void_p()
        _call("cuCtxGetCurrent", ctypes.byref(present))
        if present.value == self._context.value:
            yield True
            return
        _call("cuCtxPushCurrent_v2", self._context)
        try:
            yield True
        finally:
            _call("cuCtxPopCurrent_v2", ctypes.byref(present))


def _call(name: str, *arguments: Any) -> None:
    status = getattr(_driver(), name)(*arguments)
    if status != 0:
        raise _atoll.KernelError(f"CUDA's {name} failed with error {status} for a stream of a communicator.")
