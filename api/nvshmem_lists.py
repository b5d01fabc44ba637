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

Macro = tuple[
    str, list[str], list[str]
]  # its name with parameters, its lines, and those lines without halves


def type_lists(spelling: dict[str, str], members: Callable[[str], list[str]], halves: tuple[str, ...]) -> str:
    """The definitions, with types as `spelling` spells them. `members` returns the types of a set."""

    def kinds_of(sets: tuple[str, ...], but: str) -> list[str]:
        others = members(but) if but else []
        return [kind for name in sets for kind in members(name) if kind not in others]

    def over(kinds: list[str], line: Callable[[str], str]) -> tuple[list[str], list[str]]:
        return [line(k) for k in kinds], [line(k) for k in kinds if k not in halves]

    def macros() -> Iterator[Macro]:
        for form, (more, first) in FORMS.items():
            name = f"NVSHMEMI_REPT_FOR_STANDARD_RMA_TYPES{form}(TEMPLATE{more})"
            yield name, *over(members("rma"), lambda k, first=first: f"TEMPLATE({first}{k}, {spelling[k]})")
            yield from reductions(form, more, first)
        for name in ("NVSHMEMI_REPT_FOR_WAIT_TYPES", "NVSHMEMX_REPT_FOR_SIGNAL_TYPES"):
            yield f"{name}(TEMPLATE)", *over(members("wait"), lambda k: f"TEMPLATE({k}, {spelling[k]})")
        for group, (sets, but) in ATOMICS.items():
            name = f"NVSHMEMI_REPT_OPGROUP_FOR_{group}(GROUP, OP)"
            kinds = kinds_of(sets, but)
            yield name, *over(kinds, lambda k: f"NVSHMEMI_DECL_TYPE_##GROUP({k}, {spelling[k]}, OP)")

    def reductions(form: str, more: str, first: str) -> Iterator[Macro]:
        for group, (base, every) in REDUCED.items():
            name = f"NVSHMEMI_REPT_FOR_{group}_REDUCE_TYPES{form}(TEMPLATE{more}, OP)"
            head = [f"NVSHMEMI_REPT_FOR_{base}_REDUCE_TYPES{form}(TEMPLATE{more}, OP)"] if base else []
            kinds = kinds_of((every,), REDUCED[base][1] if base else "")
            own, without = over(kinds, lambda k: f"TEMPLATE({first}{k}, {spelling[k]}, OP)")
            yield name, head + own, head + without

    text = "".join(definition(*macro) for macro in [*macros(), *plain()])
    return f"#ifndef ATOLL_NVSHMEM_TYPE_LISTS_H\n#define ATOLL_NVSHMEM_TYPE_LISTS_H\n\n{text}\n#endif\n"


def plain() -> Iterator[Macro]:
    """The macros without types of their own."""

    def same(name: str, lines: list[str]) -> Macro:
        return name, lines, lines

    yield same("NVSHMEMI_REPT_FOR_SIZES(TEMPLATE)", [f"TEMPLATE({size})" for size in SIZES])
    yield same(
        "NVSHMEMI_REPT_FOR_SIZES_WITH_TYPE(TEMPLATE)",
        [f"TEMPLATE({size}, {kind})" for size, kind in SIZES.items()],
    )
    more, first = FORMS["_WITH_SCOPE2"]
    name = f"NVSHMEMI_REPT_FOR_SIZES_WITH_SCOPE2(TEMPLATE{more})"
    yield same(name, [f"TEMPLATE({first}{size})" for size in SIZES])
    for form in ("", "_WITH_SCOPE2"):
        more = FORMS[form][0]
        name = f"NVSHMEMI_REPT_TYPES_AND_OPS_FOR_REDUCE{form}(TEMPLATE{more})"
        lines = [
            f"NVSHMEMI_REPT_FOR_{group}_REDUCE_TYPES{form}(TEMPLATE{more}, {op})"
            for group, ops in OPERATORS.items()
            for op in ops
        ]
        yield same(name, lines)
    for every, one in (
        ("FOR_STANDARD_RMA_TYPES_AND_SCOPES2", "FOR_STANDARD_RMA_TYPES_WITH_SCOPE2"),
        ("TYPES_AND_OPS_AND_SCOPES2_FOR_REDUCE", "TYPES_AND_OPS_FOR_REDUCE_WITH_SCOPE2"),
    ):
        yield same(
            f"NVSHMEMI_REPT_{every}(TEMPLATE)",
            [f"NVSHMEMI_REPT_{one}(TEMPLATE, {scope})" for scope in SCOPES],
        )


def definition(name: str, lines: list[str], without: list[str]) -> str:
    """A macro. Where CUDA's halves are not known it leaves out their lines."""

    def text(body: list[str]) -> str:
        return " \\\n".join([f"#define {name}", *(f"    {line}" for line in body)]) + "\n"

    if lines == without:
        return text(lines)
    return f"#ifdef ATOLL_NVSHMEM_HALVES\n{text(lines)}#else\n{text(without)}#endif\n"
