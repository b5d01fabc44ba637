"""Prints the sweep: a checked call of every name that has a type, or a size, in it. The names are this folder's own list.

python3 tests/shmem/generate.py          writes tests/shmem/generated
python3 tests/shmem/generate.py --check  fails if its contents differ
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TYPES = {
    "float": "float", "double": "double", "longdouble": "long double", "char": "char", "schar": "signed char",
    "short": "short", "int": "int", "long": "long", "longlong": "long long", "uchar": "unsigned char",
    "ushort": "unsigned short", "uint": "unsigned int", "ulong": "unsigned long", "ulonglong": "unsigned long long",
    "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "size": "size_t", "ptrdiff": "ptrdiff_t",
    "complexf": "float _Complex", "complexd": "double _Complex",
}  # fmt: skip
SIZES = {"8": "uint8_t", "16": "uint16_t", "32": "uint32_t", "64": "uint64_t", "128": "long double"}
# Operation: (file, macro, the expression after its arguments). C is the context.
PUTS = {
    "put": "PUT",
    "get": "GET",
    "p": "P",
    "g": "G",
    "iput": "IPUT",
    "iget": "IGET",
    "ibput": "IBPUT",
    "ibget": "IBGET",
}
OPERATIONS = {
    **{op: ("rma", macro, "C") for op, macro in PUTS.items()},
    **{f"{op}_nbi": ("rma", PUTS[op], "C") for op in ("put", "get")},
    **dict.fromkeys(("put_signal", "put_signal_nbi"), ("signal", "PUT_SIGNAL", "C")),
    **{op: ("amo", macro, "C") for op, macro in {
        "atomic_fetch": "FETCH", "atomic_set": "SET", "atomic_swap": "SWAP", "atomic_compare_swap": "CSWAP",
        "atomic_fetch_add": "FADD", "atomic_add": "ADD", "atomic_fetch_inc": "FINC", "atomic_inc": "INC",
        "atomic_fetch_nbi": "FETCH_NBI", "atomic_swap_nbi": "SWAP_NBI", "atomic_compare_swap_nbi": "CSWAP_NBI",
        "atomic_fetch_add_nbi": "FADD_NBI", "atomic_fetch_inc_nbi": "FINC_NBI",
        "fetch": "FETCH", "set": "SET", "swap": "SWAP", "cswap": "CSWAP", "fadd": "FADD", "add": "ADD", "finc": "FINC",
        "inc": "INC",
    }.items()},
    **{f"atomic_{op}": ("amo", "BITS", f"C, {op.upper()}5") for op in ("and", "or", "xor")},
    **{f"atomic_fetch_{op}": ("amo", "FBITS", f"C, {op.upper()}5") for op in ("and", "or", "xor")},
    **{f"atomic_fetch_{op}_nbi": ("amo", "FBITS_NBI", f"C, {op.upper()}5") for op in ("and", "or", "xor")},
    **{f"{wait}{which}{vector}": ("wait", f"{macro}{which}{vector}".upper(), "")
       for wait, macro in (("wait_until", "wait"), ("test", "test"))
       for which in ("_all", "_any", "_some") for vector in ("", "_vector")},
    "wait_until": ("wait", "WAIT", ""), "test": ("wait", "TEST", ""), "wait": ("wait", "WAIT_OLD", ""),
    "alltoall": ("collective", "ALLTOALL", "W"), "alltoalls": ("collective", "ALLTOALLS", "W"),
    "broadcast": ("collective", "BROADCAST", ""), "collect": ("collective", "COLLECT", "W"),
    "fcollect": ("collective", "FCOLLECT", "W"),
    **{f"{op}_reduce": ("reduce", "REDUCE", op.upper()) for op in ("and", "or", "xor", "max", "min", "sum", "prod")},
    **{f"{op}_to_all": ("reduce", "TO_ALL", op.upper()) for op in ("and", "or", "xor", "max", "min", "sum", "prod")},
    "sum_inscan": ("reduce", "INSCAN", ""), "sum_exscan": ("reduce", "EXSCAN", ""),
}  # fmt: skip
OLD_COLLECTIVES = {
    "alltoall": ("ALLTOALL", "OLD"), "alltoalls": ("ALLTOALLS", "OLD"), "broadcast": ("BROADCAST_OLD", ""),
    "collect": ("COLLECT", "OLD"), "fcollect": ("FCOLLECT", "OLD"),
}  # fmt: skip
BY_LENGTH = "|".join(sorted(TYPES, key=len, reverse=True))
A_PART = 40  # calls a function


def names() -> list[str]:
    """The list of this folder."""
    return [line.split("\t")[1] for line in (HERE / "names.tsv").read_text().splitlines() if line]


def find(name: str) -> tuple[str, str, str, str] | None:
    """File, macro, C type and last arguments for a name; None for those that are tested by hand."""
    typed = re.fullmatch(rf"shmem_(ctx_)?({BY_LENGTH})_(\w+)", name)
    if typed and typed[3] in OPERATIONS:
        file, macro, last = OPERATIONS[typed[3]]
        return file, macro, TYPES[typed[2]], re.sub("^C", "CTX" if typed[1] else "NOCTX", last)
    if sized := re.fullmatch(r"shmem_(ctx_)?(i?b?(?:put|get))(8|16|32|64|128|mem)(_signal)?(_nbi)?", name):
        file, macro = ("signal", "PUT_SIGNAL") if sized[4] else ("rma", PUTS[sized[2]])
        return file, macro, SIZES.get(sized[3], "unsigned char"), "CTX" if sized[1] else "NOCTX"
    if signal := re.fullmatch(r"shmem_(ctx_)?signal_(?:add|set)", name):
        return "signal", "SIGNAL", "uint64_t", "CTX" if signal[1] else "NOCTX"
    if team := re.fullmatch(r"shmem_(alltoalls?|broadcast|f?collect)mem", name):
        file, macro, last = OPERATIONS[team[1]]
        return file, macro, "unsigned char", last
    if old := re.fullmatch(r"shmem_(alltoalls?|broadcast|f?collect)(32|64)", name):
        macro, last = OLD_COLLECTIVES[old[1]]
        return "collective", macro, SIZES[old[2]], last
    if name in ("shmem_wait_until", "shmem_wait"):
        return "wait", "WAIT" if name.endswith("until") else "WAIT_OLD", "long", ""
    return None


def by_hand() -> list[str]:
    """Names that the programs beside this file call themselves."""
    return [name for name in names() if find(name) is None]


def text_of(calls: list[str]) -> str:
    """A program."""
    parts = [calls[i : i + A_PART] for i in range(0, len(calls), A_PART)]
    text = '/* Generated by tests/shmem/generate.py from names.tsv; edit those. */\n#include "../sweep.h"\n'
    for i, part in enumerate(parts):
        text += f"\nstatic void part_{i}(void) {{\n" + "".join(f"    {call};\n" for call in part) + "}\n"
    return (
        text
        + "\nstatic void sweep(void) {\n"
        + "".join(f"    part_{i}();\n" for i in range(len(parts)))
        + "}\n"
    )


def main() -> int:
    """Write, or compare."""
    calls: dict[str, list[str]] = {}
    for name in names():
        if found := find(name):
            file, macro, kind, last = found
            calls.setdefault(file, []).append(f"SWEEP_{macro}({', '.join(filter(None, (kind, name, last)))})")
    differing = []
    for file, lines in calls.items():
        target, text = HERE / "generated" / f"sweep_{file}.c", text_of(lines)
        if "--check" in sys.argv[1:]:
            if not target.exists() or target.read_text() != text:
                differing.append(target.name)
        else:
            target.write_text(text)
    if differing:
        print("not in step with tests/shmem/names.tsv; run python3 tests/shmem/generate.py:", *differing)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
