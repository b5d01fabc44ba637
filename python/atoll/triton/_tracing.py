"""Operations of kernels as events of a trace, in processes of a job with a trace (atoll/device/detail/traced.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import inspect

import triton.language as tl
from triton import constexpr_function, jit

from .._kernels import ptx, trace_ptx
from .._kernels.ptx import AT
from .._kernels.tracing import EVENTS, fields_in_triton, text_with_event, words_of_name
from ._dsl import begin_event, end_event
from ._dsl._wrappers import around
from ._exchange import pes_at
from ._primitives import at_int32, at_int64, bytes_of
from ._threads import thread
from ._types import INTERPRETED

_words_of = constexpr_function(words_of_name)
_TRACES = tl.constexpr(ptx.TRACES)
_RANGE = tl.constexpr(AT["trace_range"])
_BEGIN = tl.constexpr(trace_ptx.trace_begin())
_END = tl.constexpr(trace_ptx.trace_end_by_first())
_TAKE = tl.constexpr(trace_ptx.trace_take("\n    setp.ne.u32 p, $3, 0; @p bra DONE;"))


@constexpr_function
def _is_scalar(x):
    return x is None or not x.type.is_block()


@jit
def start(team):
    """Return the time, or 0 without a trace."""
    if INTERPRETED:
        return begin_event(team)
    else:  # noqa: RET505
        return tl.inline_asm_elementwise(
            _BEGIN, "=l,l", [at_int64(team.trace)], tl.int64, is_pure=False, pack=1
        )


@jit
def take(team, began):
    """Take a record of the log for an event that began; the interpreter takes it at the end."""
    if INTERPRETED:
        return at_int64(0)
    else:  # noqa: RET505
        return tl.inline_asm_elementwise(
            _TAKE, "=&l,l,l,r", [at_int64(team.trace), began, thread()], tl.int64, is_pure=False, pack=1
        )


@jit
def world_of(team, began, pe, word):
    """Return the number of a PE in the world, -1 for none and in a call for a block of words."""
    world = at_int32(-1)
    if began != 0:  # noqa: SIM102 (the next is a constant)
        if _is_scalar(word):  # noqa: SIM102
            if pe >= 0 and pe < team.n_pes:
                world = tl.load((at_int64(pes_at(team)) + 4 * pe).to(tl.pointer_type(tl.int32)))
    return world


@jit
def _write(team, began, taken, what, peer, first, second, third):
    if INTERPRETED:
        end_event(team, what, began, peer, first, second, third)
    else:
        tl.inline_asm_elementwise(
            _END, "=r,l,l,r,l,r,l,l,l,r",
            [
                at_int64(team.trace), taken, at_int32(what), began, at_int32(peer), at_int64(first), at_int64(second),
                at_int64(third), thread(),
            ],
            tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@jit
def stop(team, began, taken, what: tl.constexpr, world, word, nbytes, value):
    """Write an event. A call for a block of words has neither word nor value in its event."""
    if began != 0:
        offset = at_int64(0)
        if _is_scalar(word):
            if word is not None:
                offset = at_int64(word) - at_int64(team.window) - at_int64(team.my_slot) * team.stride
                if offset < 0 or offset >= team.stride:
                    offset = at_int64(-1)
            _write(team, began, taken, what, world, nbytes, offset, at_int64(value))
        else:
            _write(team, began, taken, what, world, nbytes, offset, 0)


@jit
def trace_begin(team):
    if _TRACES:
        return start(team)
    else:  # noqa: RET505
        return at_int64(0)


@jit
def trace_end(team, began, name: tl.constexpr):
    if _TRACES:  # noqa: SIM102 (it is a constant, `began` is none)
        if began != 0:
            words: tl.constexpr = _words_of(name)
            _write(team, began, take(team, began), _RANGE, -1, words[0], words[1], words[2])


def traced(name, function):
    """Return an operation with its event around it; the function itself if it has none, or in other processes."""
    event = EVENTS.get(name)
    if event is None or not ptx.TRACES:
        return function
    fields = fields_in_triton(event, inspect.signature(getattr(function, "fn", function)).parameters)
    return around(
        function,
        name,
        "traced",
        lambda declared, passed: text_with_event(name, declared, passed, "start(team)", fields),
        {"start": start, "take": take, "world_of": world_of, "stop": stop, "bytes_of": bytes_of},
    )
