"""Puts, gets and signals."""

from __future__ import annotations

import functools
from typing import Any

from numpy import ndarray

from .. import _atoll
from ._state import (
    DIRECT,
    REFUSALS,
    STATE,
    Call,
    pair_of,
    require,
    stream_of,
    translated,
    translated_as,
    word_of,
)
from .direct import SIGNAL_ADD, SIGNAL_SET, comparison_of, signal_of
from .direct import SignalOp as SignalOp

__all__ = [
    "flush",
    "get",
    "get_nbi",
    "put",
    "put_nbi",
    "put_signal",
    "put_signal_nbi",
    "quiet",
    "signal_fetch",
    "signal_op",
    "signal_wait",
]


def _copy_with_checks(call: Any, dst: Any, src: Any, remote_pe: int, stream: Any) -> None:
    @translated_as(call.__name__)
    def convert_and_copy() -> None:
        require()
        to, source = pair_of(dst, src)
        call(to, source, remote_pe, stream=stream_of(stream))

    convert_and_copy()


def _signal_with_checks(
    call: Any, dst: Any, src: Any, signal: Any, value: int, change: Any, remote_pe: int, stream: Any
) -> None:
    def copy(to: Any, source: Any, remote_pe: int, stream: Any) -> None:
        how = signal_of(call.__name__, change)
        call(to, source, word_of(signal), value, how, remote_pe, stream=stream)

    copy.__name__ = call.__name__
    _copy_with_checks(copy, dst, src, remote_pe, stream)


WORDS = STATE.words
_UNKNOWN = (*REFUSALS, AttributeError, KeyError)
"""Errors of a call whose signal was not used before, or that was refused. It changed nothing."""


def _copying(function: Call) -> Call:
    """Let a function call Atoll's of the same name at once if both are arrays that it takes, else with checks."""
    call: Any = getattr(_atoll, function.__name__)

    def copy(dst: Any, src: Any, remote_pe: int = -1, stream: Any = None) -> None:
        if dst.__class__ in DIRECT and src.__class__ in DIRECT and STATE.joined and src.ndim:
            try:
                if STATE.on_gpu:
                    call(dst, src, remote_pe, stream=stream)
                else:
                    call(dst, src, remote_pe)
                return
            except REFUSALS:
                pass
        _copy_with_checks(call, dst, src, remote_pe, stream)

    return functools.wraps(function)(copy)  # type: ignore[return-value]


def _signalling(function: Call) -> Call:
    """Do the same for a copy with a signal, which has to be known already."""
    call: Any = getattr(_atoll, function.__name__)

    def copy_and_signal(
        dst: Any,
        src: Any,
        signal_var: Any,
        signal_val: int,
        signal_op: Any,
        remote_pe: int = -1,
        stream: Any = None,
    ) -> None:
        how = "set" if signal_op is SIGNAL_SET else "add" if signal_op is SIGNAL_ADD else ""
        if how:
            try:
                word = WORDS[signal_var.handle]
                if not src.ndim:
                    pass
                elif dst.__class__ is ndarray is src.__class__:
                    call(dst, src, word, signal_val, how, remote_pe)
                    return
                elif dst.__class__ in DIRECT and src.__class__ in DIRECT:
                    given = stream if STATE.on_gpu else None
                    call(dst, src, word, signal_val, how, remote_pe, stream=given)
                    return
            except _UNKNOWN:
                pass
        _signal_with_checks(call, dst, src, signal_var, signal_val, signal_op, remote_pe, stream)

    return functools.wraps(function)(copy_and_signal)  # type: ignore[return-value]


@_copying
def put(dst: Any, src: Any, remote_pe: int = -1, stream: Any = None) -> None:
    """Copy src into dst on PE remote_pe. Local.

    Parameters
    ----------
    dst
        A symmetric Buffer, array or tensor, or a part of one.
    src
        The same, symmetric or not. If shape or dtype differ from dst's, both are contiguous, and as many bytes are
        copied as both have.
    remote_pe
        The target PE.
    stream
        The stream that carries out the call, of any library. None: the call is complete here on return. Without a GPU
        the call is always complete here on return.

    Raises
    ------
    NvshmemInvalid
        A wrong argument, or outside init() and finalize().

    Notes
    -----
    The data are in the target after quiet() on the same stream, or a barrier.
    """


@_copying
def put_nbi(dst: Any, src: Any, remote_pe: int = -1, stream: Any = None) -> None:
    """Do as put, but src must not be changed before flush() or quiet() on this stream. Local."""


@_copying
def get(dst: Any, src: Any, remote_pe: int = -1, stream: Any = None) -> None:
    """Copy src of PE remote_pe into the local dst. Local.

    src is symmetric, dst need not be. Other arguments and errors are put's.
    """


@_copying
def get_nbi(dst: Any, src: Any, remote_pe: int = -1, stream: Any = None) -> None:
    """Do as get, but the data are in dst only after quiet() on this stream. Local."""


@_signalling
def put_signal(
    dst: Any,
    src: Any,
    signal_var: Any,
    signal_val: int,
    signal_op: Any,
    remote_pe: int = -1,
    stream: Any = None,
) -> None:
    """Copy src into dst on PE remote_pe, then change the signal there. Local.

    Parameters
    ----------
    dst, src, remote_pe, stream
        As for put.
    signal_var
        A symmetric Buffer, array or tensor, of which the first 8 bytes are the signal.
    signal_val, signal_op
        The value, and SignalOp.SIGNAL_SET or SIGNAL_ADD.

    Raises
    ------
    NvshmemInvalid
        A wrong argument, or outside init() and finalize().
    """


@_signalling
def put_signal_nbi(
    dst: Any,
    src: Any,
    signal_var: Any,
    signal_val: int,
    signal_op: Any,
    remote_pe: int = -1,
    stream: Any = None,
) -> None:
    """Do as put_signal, but src must not be changed before quiet() on this stream. Local."""


def signal_op(
    signal_var: Any, signal_val: int, signal_op: Any, remote_pe: int = -1, stream: Any = None
) -> None:
    """Change the signal on PE remote_pe. Local. Arguments and errors are put_signal's."""
    if signal_op is SIGNAL_SET or signal_op is SIGNAL_ADD:
        call = _atoll.signal_set if signal_op is SIGNAL_SET else _atoll.signal_add
        try:
            word = WORDS[signal_var.handle]
            call(word, signal_val, remote_pe, stream=stream if STATE.on_gpu else None)
            return
        except _UNKNOWN:
            pass
    _change_with_checks(signal_var, signal_val, signal_op, remote_pe, stream)


@translated_as("signal_op")
def _change_with_checks(signal_var: Any, signal_val: int, given: Any, remote_pe: int, stream: Any) -> None:
    require()
    change = signal_of("signal_op", given)
    call = _atoll.signal_set if change == "set" else _atoll.signal_add
    call(word_of(signal_var), signal_val, remote_pe, stream=stream_of(stream))


@translated
def signal_wait(signal_var: Any, signal_val: int, signal_op: Any, stream: Any = None) -> None:
    """Wait until this PE's signal compares to signal_val as signal_op, a ComparisonType, demands. Local.

    On a stream the stream waits. Without one, or without a GPU, the host waits.
    """
    require()
    compare = comparison_of("signal_wait", signal_op)
    given = stream_of(stream)
    if given is None:
        _atoll.signal_wait_until(word_of(signal_var), compare, signal_val)
    else:
        _atoll.signal_wait_until(word_of(signal_var), compare, signal_val, stream=given)


def signal_fetch(signal_var: Any) -> int:
    """Return the value of this PE's signal. Local; the host waits for no stream."""
    try:
        return _atoll.signal_fetch(WORDS[signal_var.handle])
    except _UNKNOWN:
        return _fetch_with_checks(signal_var)


@translated_as("signal_fetch")
def _fetch_with_checks(signal_var: Any) -> int:
    require()
    return _atoll.signal_fetch(word_of(signal_var))


@translated
def quiet(stream: Any = None) -> None:
    """Complete this PE's earlier calls: those on the stream, or without one the host's. Local."""
    require()
    if not STATE.on_gpu or stream is None:
        _atoll.quiet()
    # On a stream each call of Atoll is complete before the stream's next work begins.


@translated
def flush(stream: Any = None) -> None:
    """Make the sources of put_nbi on this stream safe to change. Local. It is quiet()."""
    quiet(stream)
