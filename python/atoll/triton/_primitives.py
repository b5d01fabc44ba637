"""Single words and pairs of flagged words, which one thread of a program loads and stores: inline PTX.

Values computed from a thread's number may be used in these functions (_threads.py).
"""

# mypy: ignore-errors
from __future__ import annotations

import re

import triton.language as tl
from triton import constexpr_function, jit

from .._kernels import ptx
from ._threads import meet_threads, num_threads
from ._types import INTERPRETED


def _with_result(text):
    """Add the result $0 to a text of ptx that has none: Triton's inline PTX needs one."""
    text = re.sub(r"\$(\d)", lambda found: f"${int(found[1]) + 1}", text)
    return tl.constexpr(f"{text} mov.u32 $0, 0;")


_PLAIN = tl.constexpr("")
_LOAD_PART = tl.constexpr(ptx.load_part(".global"))
_STORE_PART = _with_result(ptx.store_part(".global"))
_STORE_FLAGGED = _with_result(ptx.store_flagged())
_LOAD_WORDS = tl.constexpr({bits: ptx.load_words(bits) for bits in (32, 64)})


@constexpr_function
def letter(kind):
    return "l" if kind.primitive_bitwidth == 64 else "r"


@constexpr_function
def bits(kind):
    return kind.primitive_bitwidth


@jit
def load(address, kind: tl.constexpr, ORDER: tl.constexpr = _PLAIN):
    """Load the word at an address, in every thread.

    ORDER: of PTX, such as .relaxed.sys; empty for a word that peers do not write.
    """
    if INTERPRETED:
        return tl.load(address.to(tl.pointer_type(kind)), volatile=True)
    else:  # noqa: RET505
        return tl.inline_asm_elementwise(
            f"ld{ORDER}.global.b{bits(kind)} $0, [$1];",
            f"={letter(kind)},l",
            [at_int64(address)],
            kind.value,
            is_pure=False,
            pack=1,
        )


@jit
def store(address, value, kind: tl.constexpr, ORDER: tl.constexpr = _PLAIN, active=1):
    """Store the word at an address, in every thread whose `active` is not 0, so that each later loads its
    own.
    """
    number = value + tl.full((), 0, kind)
    if INTERPRETED:
        if active != 0:
            tl.atomic_xchg(address.to(tl.pointer_type(kind)), number.to(kind), sem="release", scope="sys")
    else:
        tl.inline_asm_elementwise(
            f"{{ .reg .pred p; setp.ne.u32 p, $3, 0; @p st{ORDER}.global.b{bits(kind)} [$1], $2; mov.u32 $0, 0; }}",
            f"=r,l,{letter(kind)},r", [at_int64(address), number.to(kind), at_int32(active)],
            tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@constexpr_function
def _load_words_text(kind):
    return _LOAD_WORDS.value[kind.primitive_bitwidth]


@jit
def load_words(words, active):
    """Load a block of words, one for each thread, with acquire; 0 in threads that are not active.

    So each word is loaded once, and all threads see the same value.
    """
    kind: tl.constexpr = words.dtype.scalar.element_ty
    if INTERPRETED:
        return tl.load(words, mask=active, other=0, volatile=True)
    else:  # noqa: RET505
        return tl.inline_asm_elementwise(
            _load_words_text(kind), f"=&{letter(kind)},l,r", [words.to(tl.int64), active.to(tl.int32)],
            kind.value,
            is_pure=False, pack=1,
        )  # fmt: skip


@jit
def load_one(word):
    """Load a word, with acquire for all of the program.

    One thread loads it, so that all threads see the same value. It is only loaded, so a CPU may write it
    meanwhile, as in pinned memory.
    """
    i = tl.arange(0, num_threads())
    found = tl.sum(load_words(word + i * 0, i == 0), 0)
    meet_threads()
    return found


# ---- messages: bytes are sent in pairs of words {data 4, flag 4}, with 8 bytes of data in a pair
@jit
def bytes_of(x, n):
    """Return the bytes of n elements of a pointer's type."""
    return at_int64(n) * (x.dtype.element_ty.primitive_bitwidth // 8)


@jit
def pairs_of(nbytes):
    """Return how many pairs a message takes; one of 0 bytes takes one."""
    return tl.maximum((nbytes + 7) // 8, 1).to(tl.int32)


@jit
def load_part(address, nbytes, i):
    """Load bytes 8 * i … of nbytes at an address of any alignment; bytes past the end are 0."""
    if INTERPRETED:
        if 8 * i + 8 <= nbytes:  # an interpreted operation on a byte takes as long as one on a word
            return tl.load((address + 8 * i).to(tl.pointer_type(tl.int64)))
        data = tl.full((), 0, tl.int64)
        for k in range(7):
            if 8 * i + k < nbytes:
                byte = tl.load((address + 8 * i + k).to(tl.pointer_type(tl.uint8)))
                data = data | (byte.to(tl.int64) << (8 * k))
        return data
    else:  # noqa: RET505
        return tl.inline_asm_elementwise(
            _LOAD_PART, "=&l,l,l,l", [at_int64(address), at_int64(nbytes), at_int64(i)], tl.int64,
            is_pure=False, pack=1,
        )  # fmt: skip


@jit
def store_part(address, nbytes, i, data):
    """Store bytes 8 * i … of nbytes at an address of any alignment."""
    if INTERPRETED:
        if 8 * i + 8 <= nbytes:
            tl.store((address + 8 * i).to(tl.pointer_type(tl.int64)), data)
            return
        for k in range(7):
            if 8 * i + k < nbytes:
                to = (address + 8 * i + k).to(tl.pointer_type(tl.uint8))
                tl.store(to, ((data >> (8 * k)) & 255).to(tl.uint8))
    else:
        tl.inline_asm_elementwise(
            _STORE_PART, "=r,l,l,l,l", [at_int64(address), at_int64(nbytes), at_int64(i), data], tl.int32,
            is_pure=False, pack=1,
        )  # fmt: skip


@jit
def store_flagged(address, data, flag):
    """Store eight bytes of data in a pair."""
    if INTERPRETED:
        word = address.to(tl.pointer_type(tl.int64))
        high = flag.to(tl.int64) << 32
        tl.store(word, high | (data & 0xFFFFFFFF))
        tl.store(word + 1, high | ((data >> 32) & 0xFFFFFFFF))
    else:
        tl.inline_asm_elementwise(
            _STORE_FLAGGED, "=r,l,l,r", [at_int64(address), data, flag], tl.int32, is_pure=False, pack=1
        )


@jit
def word_at(address):
    return address.to(tl.int64).to(tl.pointer_type(tl.int64))


@jit
def at_int32(x):
    """Return a number, or a constant, as a 32-bit operand of inline PTX."""
    return (x + tl.full((), 0, tl.int32)).to(tl.int32)


@jit
def at_int64(x):
    """Return a number, constant or address as a 64-bit operand of inline PTX."""
    return (x + tl.full((), 0, tl.int64)).to(tl.int64)
