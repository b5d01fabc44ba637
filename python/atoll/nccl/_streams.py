"""Streams of CUDA by their handles, and the order of work on several of them."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from .. import _atoll
from ._errors import NcclInvalid

LEGACY = 0
"""The stream of calls that name none, as NCCL's."""
_WITHOUT_TIMES = 2  # CU_EVENT_DISABLE_TIMING


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
    """Return CUDA's driver, or nothing without one: then streams are of a simulated GPU, which completes each call."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


class Order:
    """The order of the calls of one group, which its caller may make on several streams."""

    def __init__(self, captures: Callable[[int], bool]) -> None:
        self._captures = captures
        self._last: Any = None
        """The last stream. The object is kept, so that the stream exists."""
        self._handle: int | None = None
        """Its handle, or nothing before the first call."""
        self._event: ctypes.c_void_p | None = None
        self._recorded = False
        """Whether the event is at the end of the last call: for streams that only a handle names, which may end at any time."""

    def begin(self, stream: Any) -> int:
        """Return the handle of a stream, whose further work follows the calls before."""
        handle = handle_of(stream)
        if handle != self._handle and self._handle is not None:
            self._follow(handle, self._handle)
        return handle

    def end(self, stream: Any, handle: int) -> None:
        """Note a call on a stream."""
        self._last, self._handle = stream, handle
        self._recorded = isinstance(stream, int) and handle != LEGACY and not self._captures(handle)
        if self._recorded:
            self._record(handle)

    def after(self, stream: int, earlier: int) -> None:
        """Let further work of a stream follow the work of another up to now."""
        if stream != earlier:
            self._recorded = False
            self._record(earlier)
            self._wait(stream)

    def finish(self) -> None:
        """Wait for the last call."""
        if self._recorded:
            self._call("cuEventSynchronize", self._event)
        elif self._handle is not None and not self._captures(self._handle):
            _atoll.check_kernels(stream=self._handle)

    def _follow(self, handle: int, last: int) -> None:
        # Work of a captured graph is in order with other work only by the graph's launches.
        if self._captures(handle) != (not self._recorded and self._captures(last)):
            return
        if not self._recorded:
            self._record(last)
        self._wait(handle)

    def _record(self, handle: int) -> None:
        if self._event is None:
            event = ctypes.c_void_p()
            self._call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(_WITHOUT_TIMES))
            self._event = event
        self._call("cuEventRecord", self._event, ctypes.c_void_p(handle))

    def _wait(self, handle: int) -> None:
        self._call("cuStreamWaitEvent", ctypes.c_void_p(handle), self._event, ctypes.c_uint(0))

    @staticmethod
    def _call(name: str, *arguments: Any) -> None:
        driver = _driver()
        if driver is not None and (status := getattr(driver, name)(*arguments)) != 0:
            raise _atoll.KernelError(
                f"CUDA's {name} failed with error {status} for a stream of this communicator."
            )
