"""Comparisons and waiting loops, as in atoll/device/wait.hpp."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import constexpr_function, jit

from .._kernels import ptx
from ._dsl import pause
from ._primitives import at_int32, at_int64, letter, load, load_words
from ._threads import thread
from ._types import EQ, GE, GT, INTERPRETED, LT, NE


@jit
def holds(found, cmp: tl.constexpr, value):
    if cmp == EQ:
        return found == value
    if cmp == NE:
        return found != value
    if cmp == GT:
        return found > value
    if cmp == GE:
        return found >= value
    if cmp == LT:
        return found < value
    return found <= value


_FORMS = [(form, compare) for form in ("s32", "u32", "s64", "u64") for compare in range(6)]
_BOTH = (False, True)
_WAITS = tl.constexpr(
    {
        (*form, order, bounded): ptx.wait_word(*form, order, bounded=bounded)
        for form in _FORMS
        for order in ("acquire", "relaxed")
        for bounded in _BOTH
    }
)
_CHECKS_JOB = tl.constexpr(
    {(*form, bounded): ptx.check_job_by_first(*form, bounded) for form in _FORMS for bounded in _BOTH}
)
_FLAGGED = tl.constexpr(
    {(count, bounded): ptx.wait_flagged(count, bounded=bounded) for count in (1, 2) for bounded in _BOTH}
)


@constexpr_function
def is_given(bound):
    """Return whether a wait has its own bound; a 0 known at compile time is no bound."""
    return not (isinstance(bound, int) and bound == 0)


@constexpr_function
def _form(kind):
    return f"{'u' if kind.is_int_unsigned() else 's'}{kind.primitive_bitwidth}"


@constexpr_function
def _wait_text(kind, compare, order, bounded):
    return _WAITS.value[(_form(kind), compare, order, bounded)]


@constexpr_function
def _check_job_text(kind, compare, bounded):
    return _CHECKS_JOB.value[(_form(kind), compare, bounded)]


@constexpr_function
def _flagged_text(count, bounded):
    return _FLAGGED.value[(count, bounded)]


@jit
def wait_word(
    team, address, kind: tl.constexpr, cmp: tl.constexpr, value, operation: tl.constexpr, peer, tag,
    ORDER: tl.constexpr, active, bound=0,
):  # fmt: skip
    """Wait until `word cmp value` holds for the word at an address, in every thread whose `active` is not 0.

    `bound` limits this wait, in ns.
    """
    number = (value + tl.full((), 0, kind)).to(kind)
    if INTERPRETED:
        if active != 0:
            word, since = address.to(tl.pointer_type(kind)), 0
            found = tl.atomic_add(word, 0, sem="acquire", scope="sys")
            while not holds(found, cmp, number):
                since = pause(
                    team, address, _form(kind), cmp, number, found, operation, peer, tag, since, bound
                )
                found = tl.atomic_add(word, 0, sem="acquire", scope="sys")
    else:
        operands = (
            team.control, at_int32(operation), at_int32(peer), at_int32(tag), at_int64(address), number,
            at_int32(active),
        )  # fmt: skip
        own: tl.constexpr = ",l" if is_given(bound) else ""
        if is_given(bound):
            operands = operands + (at_int64(bound),)
        tl.inline_asm_elementwise(
            _wait_text(kind, cmp, ORDER, is_given(bound)), f"=r,l,r,r,r,l,{letter(kind)},r{own}", operands,
            tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@jit
def wait_words(team, words, cmp: tl.constexpr, values, operation: tl.constexpr, tag, active, bound):
    """Wait until the words of such a block cmp values, each thread for its own; words that are not active are
    left out.
    """
    kind: tl.constexpr = words.dtype.scalar.element_ty
    if INTERPRETED:  # a block of one
        since, found = 0, load_words(words, active)
        while tl.max((active & (holds(found, cmp, values) == 0)).to(tl.int32), 0) != 0:
            since = pause(team, words, _form(kind), cmp, values, found, operation, -1, tag, since, bound)
            found = load_words(words, active)
    else:
        which = active.to(tl.int32)
        wait_word(team, words.to(tl.int64), kind, cmp, values, operation, -1, tag, "acquire", which, bound)


@jit
def check_job(team, word, cmp: tl.constexpr, value, operation: tl.constexpr, tag, since, bound):
    """End the kernel if the wait must end, between two passes over many words. Returns the start of the wait.

    word: the first of the words.
    """
    kind: tl.constexpr = word.dtype.element_ty
    if INTERPRETED:
        return pause(team, word, _form(kind), cmp, value, tl.load(word), operation, -1, tag, since, bound)
    else:  # noqa: RET505
        address = word.to(tl.int64)
        operands = (
            team.control, at_int32(operation), at_int32(tag), address, value.to(tl.int64),
            load(address, kind, ".relaxed.sys").to(tl.int64), thread(), since,
        )  # fmt: skip
        own: tl.constexpr = ",l" if is_given(bound) else ""
        if is_given(bound):
            operands = operands + (at_int64(bound),)
        return tl.inline_asm_elementwise(
            _check_job_text(kind, cmp, is_given(bound)), f"=&l,l,r,r,l,l,l,r,l{own}", operands,
            tl.int64, is_pure=False, pack=1,
        )  # fmt: skip


@jit
def _found(team, address, flag, operation, peer, tag, bound):
    """In the interpreter, wait for a pair until both words carry the flag, and return its data."""
    word, since = address.to(tl.pointer_type(tl.int64)), 0
    for k in range(2):
        while (tl.load(word + k, volatile=True) >> 32).to(tl.int32) != flag:
            since = pause(team, address, "", 0, flag, 0, operation, peer, tag, since, bound)
    return (tl.load(word) & 0xFFFFFFFF) | (tl.load(word + 1) << 32)


@jit
def _wait_pairs(team, addresses, flag, operation: tl.constexpr, peer, tag, bound):
    """Wait for the pairs at one address, or at two, which are loaded together."""
    bounded: tl.constexpr = is_given(tag) or is_given(bound)
    own: tl.constexpr = ",r,l" if bounded else ""
    text: tl.constexpr = _flagged_text(len(addresses), bounded)
    operands = (team.control, at_int32(operation), at_int32(peer), flag) + addresses
    if bounded:
        operands = operands + (at_int32(tag), at_int64(bound))
    if len(addresses) == 1:
        return tl.inline_asm_elementwise(
            text, f"=&l,l,r,r,r,l{own}", operands, tl.int64, is_pure=False, pack=1
        )
    else:  # noqa: RET505
        letters: tl.constexpr = f"=&l,=&l,l,r,r,r,l,l{own}"
        return tl.inline_asm_elementwise(text, letters, operands, (tl.int64, tl.int64), is_pure=False, pack=1)


@jit
def wait_flagged(team, address, flag, operation: tl.constexpr, peer, tag=0, bound=0):
    """Wait for a pair until both words carry the flag, and return its data."""
    if INTERPRETED:
        return _found(team, address, flag, operation, peer, tag, bound)
    else:  # noqa: RET505
        return _wait_pairs(team, (at_int64(address),), flag, operation, peer, tag, bound)


@jit
def wait_both(team, address, second, flag, operation: tl.constexpr, peer, tag=0, bound=0):
    """wait_flagged of two pairs, which are loaded together."""
    if INTERPRETED:
        first = _found(team, address, flag, operation, peer, tag, bound)
        return first, _found(team, second, flag, operation, peer, tag, bound)
    else:  # noqa: RET505
        addresses = (at_int64(address), at_int64(second))
        return _wait_pairs(team, addresses, flag, operation, peer, tag, bound)
