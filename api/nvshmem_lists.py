"""Prints NVSHMEM's macros that repeat a template for every type, size, operator and scope of a family of functions.

They are names of NVSHMEM's inside, but programs declare functions of their own by them. api/nvshmem.py calls this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

# The ending of a macro's name, its parameters before the operator's, and the arguments that they make of a template.
FORMS = {
    "": ("", ""),
    "_WITH_SCOPE": (", SCOPE", "SCOPE, "),
    "_WITH_SCOPE2": (", SCOPE, SUFFIX, PREFIX", "SCOPE, SUFFIX, PREFIX, "),
}
# A scope, with the ending and the beginning of its names behind "nvshmem".
SCOPES = ("thread, , ", "warp, _warp, x", "block, _block, x")
SIZES = {8: "int8_t", 16: "int16_t", 32: "int32_t", 64: "int64_t", 128: "int4"}
# Lists of types of reductions: the list whose types come first, and the set in api/nvshmem.toml of all its types.
REDUCED = {
    "BITWISE": ("", "reduce_bit"),
    "STANDARD": ("BITWISE", "reduce_all"),
    "ARITH": ("STANDARD", "reduce_all"),
}
OPERATORS = {"BITWISE": ("and", "or", "xor"), "STANDARD": ("min", "max"), "ARITH": ("prod", "sum")}
# Groups of atomics: the sets of their types, and the set of those in another group. Their templates have names that begin
# with NVSHMEMI_DECL_TYPE_.
ATOMICS = {
    "BITWISE_AMO": (("amo_bit",), ""),
    "STANDARD_AMO": (("amo_std",), "amo_bit"),
    "EXTENDED_AMO": (("amo_float",), ""),
}

Macro = tuple[str, list[str]]  # its name with parameters, and its lines
# Keeps its argument where CUDA's halves are known.
WITH_HALVES = """#ifdef ATOLL_NVSHMEM_HALVES
#define ATOLL_NVSHMEM_WITH_HALVES(...) __VA_ARGS__
#else
#define ATOLL_NVSHMEM_WITH_HALVES(...)
#endif
"""


def type_lists(spelling: dict[str, str], members: Callable[[str], list[str]], halves: tuple[str, ...]) -> str:
    """The definitions, with types as `spelling` spells them. `members` returns the types of a set."""

    def kinds_of(sets: tuple[str, ...], but: str) -> list[str]:
        others = members(but) if but else []
        return [kind for name in sets for kind in members(name) if kind not in others]

    def over(kinds: list[str], line: Callable[[str], str]) -> list[str]:
        return [f"ATOLL_NVSHMEM_WITH_HALVES({line(k)})" if k in halves else line(k) for k in kinds]

    def macros() -> Iterator[Macro]:
        for form, (more, first) in FORMS.items():
            name = f"NVSHMEMI_REPT_FOR_STANDARD_RMA_TYPES{form}(TEMPLATE{more})"
            yield name, over(members("rma"), lambda k, first=first: f"TEMPLATE({first}{k}, {spelling[k]})")
            yield from reductions(form, more, first)
        for name in ("NVSHMEMI_REPT_FOR_WAIT_TYPES", "NVSHMEMX_REPT_FOR_SIGNAL_TYPES"):
            yield f"{name}(TEMPLATE)", over(members("wait"), lambda k: f"TEMPLATE({k}, {spelling[k]})")
        for group, (sets, but) in ATOMICS.items():
            name = f"NVSHMEMI_REPT_OPGROUP_FOR_{group}(GROUP, OP)"
            kinds = kinds_of(sets, but)
            yield name, over(kinds, lambda k: f"NVSHMEMI_DECL_TYPE_##GROUP({k}, {spelling[k]}, OP)")

    def reductions(form: str, more: str, first: str) -> Iterator[Macro]:
        for group, (base, every) in REDUCED.items():
            name = f"NVSHMEMI_REPT_FOR_{group}_REDUCE_TYPES{form}(TEMPLATE{more}, OP)"
            head = [f"NVSHMEMI_REPT_FOR_{base}_REDUCE_TYPES{form}(TEMPLATE{more}, OP)"] if base else []
            kinds = kinds_of((every,), REDUCED[base][1] if base else "")
            yield name, head + over(kinds, lambda k: f"TEMPLATE({first}{k}, {spelling[k]}, OP)")

    text = "".join(definition(*macro) for macro in [*macros(), *plain()])
    return f"#ifndef ATOLL_NVSHMEM_TYPE_LISTS_H\n#define ATOLL_NVSHMEM_TYPE_LISTS_H\n\n{WITH_HALVES}\n{text}\n#endif\n"


def plain() -> Iterator[Macro]:
    """The macros without types of their own."""

    yield "NVSHMEMI_REPT_FOR_SIZES(TEMPLATE)", [f"TEMPLATE({size})" for size in SIZES]
    name = "NVSHMEMI_REPT_FOR_SIZES_WITH_TYPE(TEMPLATE)"
    yield name, [f"TEMPLATE({size}, {kind})" for size, kind in SIZES.items()]
    more, first = FORMS["_WITH_SCOPE2"]
    name = f"NVSHMEMI_REPT_FOR_SIZES_WITH_SCOPE2(TEMPLATE{more})"
    yield name, [f"TEMPLATE({first}{size})" for size in SIZES]
    for form in ("", "_WITH_SCOPE2"):
        more = FORMS[form][0]
        name = f"NVSHMEMI_REPT_TYPES_AND_OPS_FOR_REDUCE{form}(TEMPLATE{more})"
        lines = [
            f"NVSHMEMI_REPT_FOR_{group}_REDUCE_TYPES{form}(TEMPLATE{more}, {op})"
            for group, ops in OPERATORS.items()
            for op in ops
        ]
        yield name, lines
    for every, one in (
        ("FOR_STANDARD_RMA_TYPES_AND_SCOPES2", "FOR_STANDARD_RMA_TYPES_WITH_SCOPE2"),
        ("TYPES_AND_OPS_AND_SCOPES2_FOR_REDUCE", "TYPES_AND_OPS_FOR_REDUCE_WITH_SCOPE2"),
    ):
        lines = [f"NVSHMEMI_REPT_{one}(TEMPLATE, {scope})" for scope in SCOPES]
        yield f"NVSHMEMI_REPT_{every}(TEMPLATE)", lines


def definition(name: str, lines: list[str]) -> str:
    return " \\\n".join([f"#define {name}", *(f"    {line}" for line in lines)]) + "\n"
