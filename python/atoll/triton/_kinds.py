"""Which types operations take: a wrong one is an error when the kernel is compiled, which lists them (_host.py cuts Triton's error
to that sentence). Where it fits nothing is left of it in the kernel."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import constexpr_function, jit

_WORDS = ("int32", "uint32", "int64", "uint64")
_WORDS_ONLY = tl.constexpr("words")
_ALLOWED = tl.constexpr(
    {
        "words": _WORDS,
        "words and floats": (*_WORDS, "fp32", "fp64"),
        "words, floats and halves": (*_WORDS, "fp32", "fp64", "fp16", "bf16"),
    }
)


@constexpr_function
def _wrong_pointer(name, which, x):
    kind = getattr(getattr(x, "dtype", None), "scalar", None)
    if kind is not None and kind.is_ptr():
        return ""
    given = type(x).__name__ if kind is None else str(kind)
    return f"atoll.triton.{name}: {which} is {given}; it must be a pointer"


@constexpr_function
def _wrong_type(name, which, x, allowed):
    kind = str(x.dtype.scalar.element_ty)
    if kind in _ALLOWED.value[allowed]:
        return ""
    return f"atoll.triton.{name}: {which} is of {kind}; it must be of {', '.join(_ALLOWED.value[allowed])}"


@constexpr_function
def _unlike(name, dst, src):
    to, come = dst.dtype.scalar.element_ty, src.dtype.scalar.element_ty
    return "" if to == come else f"atoll.triton.{name}: dst is of {to}, src of {come}; they must be alike"


@constexpr_function
def _wrong_fold(name, x, op):
    kind = x.dtype.scalar.element_ty
    if op < 4 or kind.is_int():
        return ""
    return f"atoll.triton.{name}: {('AND', 'OR', 'XOR')[op - 4]} of {kind}; it takes integers"


@jit
def pointer(name: tl.constexpr, which: tl.constexpr, x):
    said: tl.constexpr = _wrong_pointer(name, which, x)
    tl.static_assert(said == "", said)


@jit
def word(name: tl.constexpr, which: tl.constexpr, x, ALLOWED: tl.constexpr = _WORDS_ONLY):
    """x is a pointer, or a block of them, to one of the types of that name."""
    pointer(name, which, x)
    said: tl.constexpr = _wrong_type(name, which, x, ALLOWED)
    tl.static_assert(said == "", said)


@jit
def alike(name: tl.constexpr, dst, src):
    """Both are pointers, to the same type."""
    pointer(name, "dst", dst)
    pointer(name, "src", src)
    said: tl.constexpr = _unlike(name, dst, src)
    tl.static_assert(said == "", said)


@jit
def foldable(name: tl.constexpr, dst, src, op: tl.constexpr):
    """Alike, and of a type that the reduction takes."""
    alike(name, dst, src)
    said: tl.constexpr = _wrong_fold(name, src, op)
    tl.static_assert(said == "", said)
