"""Reads api/openshmem.toml: every name of OpenSHMEM 1.6 with its C signature, one `Function` each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tomllib

HERE = Path(__file__).resolve().parent

# On LP64 (the only model that Atoll supports) these are other names of types that C already tells apart.
SAME_TYPE = {
    "int8": "schar", "int16": "short", "int32": "int", "int64": "long",
    "uint8": "uchar", "uint16": "ushort", "uint32": "uint", "uint64": "ulong",
    "size": "ulong", "ptrdiff": "long",
}  # fmt: skip
# The deprecated atomics are the new ones under old names.
RENAMED = {
    "cswap": "atomic_compare_swap", "finc": "atomic_fetch_inc", "inc": "atomic_inc", "fadd": "atomic_fetch_add",
    "add": "atomic_add", "fetch": "atomic_fetch", "set": "atomic_set", "swap": "atomic_swap",
}  # fmt: skip
SIGNATURE = re.compile(r"(?P<result>.*?)(?P<name>\w+)\((?P<arguments>.*)\)$")


@dataclass(frozen=True)
class Type:
    name: str
    c: str
    cpp: str

    @property
    def canonical(self) -> str:
        return SAME_TYPE.get(self.name, self.name)


@dataclass(frozen=True)
class Function:
    """One name. `operation` is the name without prefix and type: what the hand-written template is called."""

    name: str
    operation: str
    result: str
    arguments: tuple[tuple[str, str], ...]  # (type, name)
    type: Type | None
    bits: int | None
    has_context: bool  # a context comes first
    takes_context: bool  # the template takes one, whether the name has it or not
    hand: bool
    deprecated: bool
    extension: bool  # no name of the specification
    generic: str  # "", "typed" or "context": which macro of C11 the name has

    @property
    def family(self) -> str:
        return f"shmem_{self.operation}"


def split_argument(text: str) -> tuple[str, str]:
    if text in ("void", "..."):
        return text, ""
    kind, name = re.fullmatch(r"(.*?[\s*])(\w+)", text).groups()  # type: ignore[union-attr]
    return kind.strip(), name


def members_of(sets: dict[str, str], name: str) -> list[str]:
    """The types of a set, of which one may name another by @."""
    found: list[str] = []
    for member in sets[name].split():
        found += members_of(sets, member[1:]) if member.startswith("@") else [member]
    return found


class Table:
    def __init__(self, path: Path = HERE / "openshmem.toml") -> None:
        data = tomllib.loads(path.read_text())
        self.types = {
            name: Type(name, row["c"], row.get("cpp", row["c"])) for name, row in data["types"].items()
        }
        self._sets: dict[str, str] = data["sets"]
        self.functions = [f for op in data["op"] for f in self._expand(op)]

    def _expand(self, op: dict[str, object]) -> Iterator[Function]:
        forms = str(op.get("forms", "")).split()
        contexts = ["", "ctx_"] if "ctx" in forms else [""]
        over = op.get("over")
        members: list[str | None] = [None] if over is None else list(members_of(self._sets, str(over)))
        for signature in op["list"]:  # type: ignore[attr-defined]
            match = SIGNATURE.match(signature)
            assert match, signature
            for context in contexts:
                for member in members:
                    yield self._function(op, forms, match, context, member)

    def _function(
        self, op: dict[str, object], forms: list[str], match: re.Match[str], context: str, member: str | None
    ) -> Function:
        name = match["name"]
        bits = int(member) if member is not None and op["over"] == "bits" else None
        kind = self.types[member] if member is not None and bits is None else None
        if bits is not None:
            full = f"shmem_{context}" + name.replace("BITS", str(bits))
        elif op.get("bare"):
            full = name
        else:
            full = f"shmem_{context}" + (f"{member}_" if member else "") + name
        arguments = [split_argument(a.strip()) for a in match["arguments"].split(",")]
        if context:
            arguments.insert(0, ("shmem_ctx_t", "ctx"))
        operation = RENAMED.get(name, name) if op.get("deprecated") and kind else name
        return Function(
            name=full,
            operation=operation.replace("BITS", ""),
            result=match["result"].strip(),
            arguments=tuple(a for a in arguments if a[0] != "void" or a[1]),
            type=kind,
            bits=bits,
            has_context=bool(context),
            takes_context="ctx" in forms,
            hand=bool(op.get("hand")),
            deprecated=bool(op.get("deprecated")),
            extension=bool(op.get("extension")),
            generic="typed" if "generic" in forms else "context" if "generic_ctx" in forms else "",
        )
