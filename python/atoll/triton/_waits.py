"""Waiting for and testing many of this PE's words, with acquire for all of the program (OpenSHMEM 1.6, section 9.10): the n from
`ivars`, a pointer to integers of 4 or 8 bytes.

`status` is None or a pointer to int32: words whose entry is not 0 are left out. `indices` is a pointer to int64. The _vector forms
compare word i with values[i]. -1 is no index: nothing holds, or all words are left out. One thread looks, in inline PTX, for what
each thread found by itself would not be one number of all.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import constexpr_function, jit

from .. import _ptx
from .._ptx import AT
from ._core import INTERPRETED, at_int32, holds
from ._words import _form, _letter, load, num_threads, thread, wait_word

_WAIT = tl.constexpr(AT["wait_until"])
_SCANS = tl.constexpr(
    {
        (form, compare, vector, lowest, waits): _ptx.scan(form, compare, vector, lowest, waits)
        for form in ("s32", "u32", "s64", "u64")
        for compare in range(6)
        for vector in (False, True)
        for lowest in (False, True)
        for waits in (False, True)
    }
)


@constexpr_function
def _scan_text(kind, compare, vector, lowest, waits):
    return _SCANS.value[(_form(kind), compare, vector, lowest, waits)]


@constexpr_function
def _scan_letters(kind, vector):
    return f"=&r,=&r,l,r,l,r,l,l,{'l' if vector else _letter(kind)},r"


@jit
def _address(x):
    if x is None:
        return tl.full((), 0, tl.int64)
    else:  # noqa: RET505
        return x.to(tl.int64)


@jit
def _value(x, i, kind: tl.constexpr, VECTOR: tl.constexpr):
    """What word i is compared with."""
    if VECTOR:
        return load(x.to(tl.int64) + i * (kind.primitive_bitwidth // 8), kind)
    else:  # noqa: RET505
        return (x + tl.full((), 0, kind)).to(kind)


@jit
def _counts(status, i):
    """Whether word i does."""
    if status is None:
        return tl.full((), 1, tl.int32)
    else:  # noqa: RET505
        return (load(status.to(tl.int64) + 4 * i, tl.int32) == 0).to(tl.int32)


@jit
def _look(ivars, n, indices, status, cmp: tl.constexpr, values, VECTOR: tl.constexpr, LOWEST: tl.constexpr):
    """Interpreted: as _ptx.scan."""
    kind: tl.constexpr = ivars.dtype.element_ty
    found, left = tl.full((), 0, tl.int32), tl.full((), 0, tl.int32)
    for i in range(n):
        if _counts(status, i) != 0:
            left += 1
            word = tl.atomic_add(ivars + i, 0, sem="acquire", scope="sys")
            if holds(word, cmp, _value(values, i, kind, VECTOR)):
                if LOWEST:
                    if found == 0:
                        found += i + 1
                else:
                    if indices is not None:
                        tl.store(indices + found, i)
                    found += 1
    return found, left


@jit
def _scan(
    team, ivars, n, indices, status, cmp: tl.constexpr, values, tag,
    VECTOR: tl.constexpr, LOWEST: tl.constexpr, WAITS: tl.constexpr,
):  # fmt: skip
    """How many hold, or one more than the first that does; how many count."""
    kind: tl.constexpr = ivars.dtype.element_ty
    tl.static_assert(
        kind.is_int() and kind.primitive_bitwidth >= 32,
        "words that are awaited are integers of 4 or 8 bytes",
    )
    if INTERPRETED:
        found, left = _look(ivars, n, indices, status, cmp, values, VECTOR, LOWEST)
        if WAITS:
            while (found == 0) & (left != 0):
                found, left = _look(ivars, n, indices, status, cmp, values, VECTOR, LOWEST)
        return found, left
    else:  # noqa: RET505
        wanted = _address(values) if VECTOR else _value(values, 0, kind, False)
        tl.debug_barrier()
        return tl.inline_asm_elementwise(
            _scan_text(kind, cmp, VECTOR, LOWEST, WAITS), _scan_letters(kind, VECTOR),
            [
                team.control, at_int32(tag), ivars.to(tl.int64), at_int32(n), _address(status),
                _address(indices), wanted, thread(),
            ],
            (tl.int32, tl.int32), is_pure=False, pack=1,
        )  # fmt: skip


@jit
def _wait_all(team, ivars, n, status, cmp: tl.constexpr, values, tag, VECTOR: tl.constexpr):
    """Each thread for its own."""
    kind: tl.constexpr = ivars.dtype.element_ty
    tl.static_assert(
        kind.is_int() and kind.primitive_bitwidth >= 32,
        "words that are awaited are integers of 4 or 8 bytes",
    )
    for first in range(0, n, num_threads()):
        own = first + thread()
        i = tl.minimum(own, n - 1)
        active = (own < n).to(tl.int32) * _counts(status, i)
        at = ivars.to(tl.int64) + i.to(tl.int64) * (kind.primitive_bitwidth // 8)
        wait_word(team, at, kind, cmp, _value(values, i, kind, VECTOR), _WAIT, -1, tag, "acquire", active)
    tl.debug_barrier()


@jit
def wait_until_all(team, ivars, n, status, cmp: tl.constexpr, value, tag=0):
    """Wait until all words hold."""
    _wait_all(team, ivars, n, status, cmp, value, tag, False)


@jit
def wait_until_all_vector(team, ivars, n, status, cmp: tl.constexpr, values, tag=0):
    """Wait until all words hold, each its own value."""
    _wait_all(team, ivars, n, status, cmp, values, tag, True)


@jit
def wait_until_any(team, ivars, n, status, cmp: tl.constexpr, value, tag=0):
    """Wait until a word holds; the lowest index that does."""
    found, _ = _scan(team, ivars, n, None, status, cmp, value, tag, False, True, True)
    return found - 1


@jit
def wait_until_any_vector(team, ivars, n, status, cmp: tl.constexpr, values, tag=0):
    """The same, each with its own value."""
    found, _ = _scan(team, ivars, n, None, status, cmp, values, tag, True, True, True)
    return found - 1


@jit
def wait_until_some(team, ivars, n, indices, status, cmp: tl.constexpr, value, tag=0):
    """Wait until words hold; how many do, and their indices. 0: all are left out."""
    found, _ = _scan(team, ivars, n, indices, status, cmp, value, tag, False, False, True)
    return found


@jit
def wait_until_some_vector(team, ivars, n, indices, status, cmp: tl.constexpr, values, tag=0):
    """The same, each with its own value."""
    found, _ = _scan(team, ivars, n, indices, status, cmp, values, tag, True, False, True)
    return found


@jit
def test_all(team, ivars, n, status, cmp: tl.constexpr, value):
    """Whether all words hold."""
    found, left = _scan(team, ivars, n, None, status, cmp, value, 0, False, False, False)
    return found == left


@jit
def test_all_vector(team, ivars, n, status, cmp: tl.constexpr, values):
    """The same, each with its own value."""
    found, left = _scan(team, ivars, n, None, status, cmp, values, 0, True, False, False)
    return found == left


@jit
def test_any(team, ivars, n, status, cmp: tl.constexpr, value):
    """The lowest index that holds, or -1."""
    found, _ = _scan(team, ivars, n, None, status, cmp, value, 0, False, True, False)
    return found - 1


@jit
def test_any_vector(team, ivars, n, status, cmp: tl.constexpr, values):
    """The same, each with its own value."""
    found, _ = _scan(team, ivars, n, None, status, cmp, values, 0, True, True, False)
    return found - 1


@jit
def test_some(team, ivars, n, indices, status, cmp: tl.constexpr, value):
    """How many words hold, and their indices."""
    found, _ = _scan(team, ivars, n, indices, status, cmp, value, 0, False, False, False)
    return found


@jit
def test_some_vector(team, ivars, n, indices, status, cmp: tl.constexpr, values):
    """The same, each with its own value."""
    found, _ = _scan(team, ivars, n, indices, status, cmp, values, 0, True, False, False)
    return found
