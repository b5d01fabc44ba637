"""The ranks of a communicator on their GPUs: collectives and messages in stream order, on any memory of a GPU.

They are libatoll's groups of GPUs, reached by its C interface (atoll/groups.h).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .. import _atoll
from ._board import Entries
from ._errors import NcclInvalid
from ._streams import Order, handle_of
from .typing import NcclDataType

KINDS = {
    name: number
    for number, name in enumerate(
        ("barrier", "broadcast", "reduce", "all_reduce", "all_gather", "gather", "scatter", "reduce_scatter",
         "all_to_all", "send", "receive")
    )
}  # fmt: skip
"""Numbers of atoll_kind."""
_SEND, _RECEIVE = KINDS["send"], KINDS["receive"]
_OPERATORS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "avg": 7}
_TYPES = {
    NcclDataType.INT8: 0,
    NcclDataType.INT32: 2,
    NcclDataType.INT64: 3,
    NcclDataType.UINT8: 4,
    NcclDataType.UINT32: 6,
    NcclDataType.UINT64: 7,
    NcclDataType.FLOAT32: 8,
    NcclDataType.FLOAT64: 9,
    NcclDataType.FLOAT16: 14,
    NcclDataType.BFLOAT16: 15,
}
"""Numbers of atoll_type, of the types that GPUs reduce."""
FOLDED = frozenset(_TYPES)
STAGE_BYTES = 32 << 20
"""Memory of a GPU that a group takes: stage_bytes of src/front/device_group.cpp."""
_ERRORS: tuple[type[Exception], ...] = (
    _atoll.SystemFailure, _atoll.NotInitialized, _atoll.PeError, _atoll.NotSymmetric, _atoll.ShapeMismatch,
    _atoll.DtypeMismatch, _atoll.UseAfterFree, _atoll.CollectiveMismatch, _atoll.Timeout, _atoll.PeDied,
    _atoll.OutOfMemory, _atoll.Unsupported, _atoll.InvalidArgument, _atoll.SettingsError, _atoll.BootstrapError,
    _atoll.SystemFailure, _atoll.SystemFailure, _atoll.KernelError,
)  # fmt: skip
"""Classes by the numbers of ErrorCode (atoll/error.hpp)."""


class _Span(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


class _Call(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("kind", "root", "tag", "type", "op")),
        ("ins", ctypes.POINTER(_Span)),
        ("n_in", ctypes.c_size_t),
        ("outs", ctypes.POINTER(_Span)),
        ("n_out", ctypes.c_size_t),
        ("timeout_s", ctypes.c_double),
    )


_Put = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
_Deliver = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
_Get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, _Deliver)


class _Store(ctypes.Structure):
    _fields_ = (("state", ctypes.c_void_p), ("put", _Put), ("get", _Get))


class _Options(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("rank", "size", "device", "for_messages")),
        ("timeout_s", ctypes.c_double),
        ("join_timeout_s", ctypes.c_double),
    )


class _Table(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int),
        ("join", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Store), ctypes.POINTER(_Options))),
        ("leave", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        (
            "start",
            ctypes.CFUNCTYPE(
                ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
            ),
        ),
        ("is_capturing", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
    )


class _Errors(ctypes.Structure):
    """The table of groups on host memory, of which only the functions of errors are used here."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("last_error", ctypes.CFUNCTYPE(ctypes.c_char_p)),
        ("others", ctypes.c_void_p * 12),
        ("last_code", ctypes.CFUNCTYPE(ctypes.c_int)),
    )


@functools.cache
def _tables() -> tuple[Any, Any]:
    """Return the functions of groups of GPUs, and those of errors."""
    assert _atoll.__file__  # importing it has loaded the library
    library = ctypes.CDLL("libatoll.so")
    library.atoll_device_groups.restype = ctypes.POINTER(_Table)
    library.atoll_groups.restype = ctypes.POINTER(_Errors)
    return library.atoll_device_groups().contents, library.atoll_groups().contents


def _last_error() -> Exception:
    """Return the library's last error of this thread."""
    errors = _tables()[1]
    kind: type[Exception] = _ERRORS[errors.last_code()]
    return kind(errors.last_error().decode())


class _Messages:
    """Room for several messages, each with its span on both sides."""

    def __init__(self, count: int) -> None:
        spans, calls = (_Span * count)(), (_Call * count)()
        self.at = ctypes.addressof(calls)
        self.spans, self.calls = list(spans), list(calls)
        """They keep the arrays' memory."""
        for span, call in zip(self.spans, self.calls, strict=True):
            call.ins = call.outs = ctypes.pointer(span)


class DeviceGroup:
    """The ranks of a communicator on their GPUs.

    Calls return once the work is enqueued. Each is in order with the calls before, also with those on other streams.
    """

    def __init__(self, entries: Entries, size: int, rank: int, device: int, seconds: float) -> None:
        """Join the group. Collective over the ranks.

        Parameters
        ----------
        entries
            By which the ranks find each other.
        size, rank
            The number of ranks, and this one.
        device
            The number of this PE's GPU.
        seconds
            The limit of joining. That of waits in kernels is ATOLL_WAIT_TIMEOUT, which the library reads.

        Raises
        ------
        Timeout, OutOfMemory, Unsupported
            A rank did not come, a GPU has no room, or the ranks run on several hosts.
        """
        self._table = _tables()[0]
        self._lock = threading.Lock()
        self._spans = (_Span * 2)()
        self._call = _Call(ins=ctypes.pointer(self._spans[0]), outs=ctypes.pointer(self._spans[1]))
        self._at = ctypes.addressof(self._call)
        self._messages = _Messages(2)
        self._order = Order(self._captures, device)
        failures: list[BaseException] = []
        store = _Store(None, *_callbacks(entries, failures))
        options = _Options(rank, size, device, join_timeout_s=seconds)
        self._handle = self._table.join(store, options)
        if self._handle is None:
            raise failures[0] if failures else _last_error()

    def collective(
        self,
        kind: int,
        to: Any,
        source: Any,
        root: int = 0,
        dtype: Any = None,
        op: str = "sum",
        stream: Any = None,
    ) -> None:
        """Enqueue a collective.

        Parameters
        ----------
        kind
            A number of KINDS.
        to, source
            An address and bytes each, or nothing on ranks that have no such array.
        dtype, op
            The data type and the operator of a reduction.
        """
        with self._lock:
            call, (given, taken) = self._call, self._spans
            call.kind, call.root = kind, root
            if dtype is not None:
                call.type, call.op = _TYPES[dtype], _OPERATORS[op]
            call.n_in = call.n_out = 0
            if source is not None:
                call.n_in, (given.data, given.bytes) = 1, source
            if to is not None:
                call.n_out, (taken.data, taken.bytes) = 1, to
            self._start(self._at, 1, stream)

    def exchange(self, messages: Sequence[tuple[bool, tuple[int, int], int]], stream: Any) -> None:
        """Enqueue messages that progress together. Those with one rank in one direction keep their order.

        A message is whether it is sent, its address and bytes, and the other rank.
        """
        count = len(messages)
        with self._lock:
            if count > len(self._messages.calls):
                self._messages = _Messages(count)
            room = self._messages
            for (sends, given, rank), span, call in zip(messages, room.spans, room.calls, strict=False):
                span.data, span.bytes = given
                call.kind, call.n_in, call.n_out = (_SEND, 1, 0) if sends else (_RECEIVE, 0, 1)
                call.root = rank
            self._start(room.at, count, stream)

    def run(self, stream: Any, call: Callable[[], None]) -> None:
        """Make a call of another kind on a stream, in order with this group's."""
        with self._lock:
            handle = self._begin(stream)
            call()
            self._order.end(stream, handle)

    def follow(self, stream: Any, others: Sequence[Any]) -> None:
        """Let further work of a stream wait for the work of others up to now."""
        with self._lock:
            for other in others:
                self._order.after(handle_of(stream), handle_of(other))

    def leave(self) -> None:
        """Leave the group, once its work is done. Local. A second call does nothing."""
        with self._lock:
            handle, self._handle = self._handle, None
            if handle is None:
                return
            with contextlib.suppress(_atoll.Error):
                self._order.finish()
            self._table.leave(handle)

    def _begin(self, stream: Any) -> int:
        if self._handle is None:
            raise NcclInvalid("nccl.core: the communicator was destroyed; make another.")
        return self._order.begin(stream)

    def _start(self, calls: int, count: int, stream: Any) -> None:
        handle = self._begin(stream)
        if self._table.start(self._handle, calls, count, handle) < 0:
            raise _last_error()
        self._order.end(stream, handle)

    def _captures(self, stream: int) -> bool:
        return self._handle is not None and bool(self._table.is_capturing(self._handle, stream) == 1)


def _callbacks(entries: Entries, failures: list[BaseException]) -> tuple[Any, Any]:
    """Return the C functions of a store. Their exceptions go to `failures`."""

    def guarded(body: Any) -> int:
        try:
            body()
        except BaseException as error:
            failures.append(error)
            return 1
        return 0

    def put(_: Any, key: bytes, value: int, nbytes: int) -> int:
        return guarded(lambda: entries.put(key, ctypes.string_at(value, nbytes)))

    def get(_: Any, key: bytes, sink: Any, deliver: Any) -> int:
        def read() -> None:
            value = entries.get(key)
            deliver(sink, value, len(value))

        return guarded(read)

    return _Put(put), _Get(get)
