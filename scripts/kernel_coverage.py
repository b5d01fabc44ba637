"""Writes the tables of docs/kernels.md: the operations of kernels in each language and their arguments, read from the sources.

kernel_coverage.py writes them. With --check it fails if they are out of date, or if no test calls a ticked name.
"""

from __future__ import annotations

import ast
import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/kernels.md"
MARKS = {
    "coverage": ("<!-- coverage: scripts/kernel_coverage.py -->", "<!-- end of coverage -->"),
    "signatures": ("<!-- signatures: scripts/kernel_coverage.py -->", "<!-- end of signatures -->"),
}

WAITS = [f"{what}{how}{vector}" for what in ("wait_until", "test") for how in ("_all", "_any", "_some") for vector in ("", "_vector")]  # fmt: skip
LOCAL = ["local_set", "local_wait_until"]
TILES = ["tile_put", "tile_get", "tile_reduce", "tile_allgather"]
GROUPS = {
    "who": ["my_pe", "n_pes", "translate_pe"],
    "addresses": ["ptr", "peer"],
    "put and get": ["p", "g", "put", "get", "put_nbi", "get_nbi", "iput", "iget"],
    "signals": ["put_signal", "put_signal_nbi", "signal_set", "signal_add", "signal_fetch", "signal_wait_until", "signal_consume"],
    "mailboxes": ["post", "receive", "try_receive"],
    "atomics": ["fetch", "set", "swap", "compare_swap", "fetch_add", "add", "fetch_inc", "inc", "fetch_and", "and", "fetch_or", "or", "fetch_xor", "xor"],
    "order": ["fence", "quiet", "flush"],
    "waits": ["wait_until", "test", *WAITS],
    "words within a PE": LOCAL,
    "tiles": TILES,
    "bulk copies": ["async_put"],
    "collectives": ["sync", "barrier", "broadcast", "fcollect", "collect", "alltoall", "reduce", "reduce_scatter"],
}  # fmt: skip
GROUPS["atomics"] = [f"atomic_{name}" for name in GROUPS["atomics"]]
OPERATIONS = {name for operations in GROUPS.values() for name in operations}

# The reason why a language lacks a function.
HOLES = {"Triton": runpy.run_path(str(ROOT / "python/atoll/triton/_absent.py"))["WHY"]}

# The result of each operation, and its symmetric arguments. The first matching pattern counts; each operation
# has one.
HOLDS = "status: None, or integers; words whose entry is not 0 are left out"
RESULTS = {
    "my_pe": "this PE's number in the team",
    "n_pes": "the number of PEs",
    "translate_pe": "the number of `pe` in the team `to`; -1: none",
    "ptr": "x symmetric; where PE `pe`'s copy is: an int64, elsewhere a pointer (C++: null where only a transport reaches it)",
    "peer": "x symmetric; PE `pe`'s copy: an array, tensor or pointer as x is (C++: as `ptr`)",
    "p|iput|put(_nbi)?|tile_put|async_put": "dst symmetric",
    "g": "src symmetric; the element",
    "iget|get(_nbi)?|tile_get": "src symmetric",
    "put_signal(_nbi)?": "dst and signal symmetric; op: SET, ADD",
    "signal_(set|add)": "signal symmetric",
    "signal_fetch": "signal: this PE's; its value",
    "signal_(wait_until|consume)": "signal: this PE's",
    "post|receive": "box symmetric; of each message both pass the same size",
    "try_receive": "box symmetric; whether a message was received",
    "atomic_fetch": "src symmetric; the element",
    "atomic_(swap|compare_swap|fetch_.*)": "dst symmetric; what was there before",
    "atomic_.*": "dst symmetric",
    "fence|quiet|flush|sync|barrier": "nothing",
    "(wait_until|test)_all.*": HOLDS,
    "(wait_until|test)_any.*": "the lowest index that holds, -1 (C++: no_index): none; status as above",
    "(wait_until|test)_some.*": "how many hold; their indices in indices[0], …; status as above",
    "wait_until": "ivar: this PE's",
    "test": "ivar: this PE's; whether it holds",
    "local_.*": "words: this PE's",
    "tile_reduce": "dst and src symmetric, of one shape",
    "tile_allgather": "dst symmetric, n_pes times src's rows",
    "collect": "dst symmetric; number of elements that arrived",
    "broadcast": "large: dst symmetric",
    "fcollect": "large: dst symmetric; n_pes times src's size",
    "alltoall": "large: dst symmetric; src and dst have n_pes blocks",
    "reduce": "large: dst and src symmetric",
    "reduce_scatter": "large: src symmetric; n_pes blocks of dst's size",
}
RESULTS_OF_TESTS = {"test_all": "whether all hold; "}
"""The beginning of the result of tests; the one above follows."""


def functions(file: Path) -> set[str]:
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}


def names() -> dict[str, set[str]]:
    """The operations of each language."""
    headers = "".join(file.read_text() for file in (ROOT / "include/atoll/device").glob("*.hpp"))

    def package(name: str) -> set[str]:
        return {found for file in (ROOT / "python/atoll" / name).glob("*.py") for found in functions(file)}

    return {
        "CuPy, CUDA C++": set(re.findall(r"ATOLL_ANYWHERE [\w:<> ]*?[ *]+(\w+)\(const Team", headers)),
        "Numba": package("numba"),
        "Triton": package("triton"),
        "CuTe DSL": package("cute"),
    }


def tests() -> dict[str, str]:
    """The programs that test them."""
    programs = ROOT / "tests/python/programs"
    headers = [file for folder in ("device", "gpu") for file in (ROOT / "tests" / folder).rglob("*.c*")]
    headers.append(programs / "cupy_kernels.py")
    return {
        "CuPy, CUDA C++": "".join(file.read_text() for file in headers),
        "Numba": (programs / "numba_kernels.py").read_text(),
        "Triton": (programs / "triton_kernels.py").read_text(),
        "CuTe DSL": "".join(
            (programs / f"cute_{part}.py").read_text() for part in ("kernels", "collectives")
        ),
    }


def table() -> str:
    has = names()
    lines = [f"| operation | {' | '.join(has)} |", "|---|" + "---|" * len(has)]
    notes: dict[str, list[str]] = {}
    for group, operations in GROUPS.items():
        cells = []
        for language, known in has.items():
            missing = [name for name in operations if name not in known]
            cell = "all" if not missing else ", ".join(f"`{n}`" for n in operations if n in known) or "none"
            cells.append(cell)
            for name in missing:
                reason = HOLES.get(language, {}).get(name)
                if reason is None:
                    raise SystemExit(f"{language} has no {name}, and HOLES gives no reason")
                notes.setdefault(f"{language}: {reason}.", []).append(f"`{name}`")
        listed = ", ".join(f"`{name}`" for name in operations)
        lines.append(f"| {group}: {listed} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- No {', '.join(missing)} in {why}" for why, missing in notes.items())])


# ---- signatures

ALIKE = {"symmetric": "x", "word": "words", "from": "team"}
"""Arguments that have another name in C++ than in Python."""


def in_python(package: str) -> dict[str, list[str]]:
    """Arguments of each operation; a default is included if it differs between operations."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "python/atoll" / package).glob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or node.name not in OPERATIONS:
                continue
            names = [one.arg for one in node.args.args]
            defaults = dict(
                zip(reversed(names), map(ast.unparse, reversed(node.args.defaults)), strict=False)
            )
            usual = ("scope", "tag", "bound_ns")
            given = [n if n in usual or n not in defaults else f"{n}={defaults[n]}" for n in names]
            if found.setdefault(node.name, given) != given:
                raise SystemExit(f"{package} has two functions {node.name} that differ in their arguments")
    return found


def in_cpp() -> dict[str, list[str]]:
    """Arguments of each operation; for overloads, of the first."""
    found: dict[str, list[str]] = {}
    start = re.compile(r"ATOLL_ANYWHERE [\w:<> ]*?[ *]+(\w+)\((?=const Team)")
    for file in sorted((ROOT / "include/atoll/device").glob("*.hpp")):
        text = file.read_text()
        for match in start.finditer(text):
            listed = text[match.end() : re.compile(r"\)\s*(?:const\s*)?\{").search(text, match.end()).start()]  # type: ignore[union-attr]
            names = []
            for one in re.split(r",(?![^<]*>)", listed):
                declared, _, default = one.partition("=")
                name = "team" if declared.strip() == "const Team&" else re.findall(r"\w+", declared)[-1]
                name = ALIKE.get(name, name)
                names.append(f"{name}={default.split('::')[-1].strip().upper()}" if "::" in default else name)
            found.setdefault(match[1], names)
    return found


def result_of(name: str) -> str:
    for pattern, result in RESULTS.items():
        if re.fullmatch(pattern, name):
            before = next((b for start, b in RESULTS_OF_TESTS.items() if name.startswith(start)), "")
            return before + result
    raise SystemExit(f"RESULTS says nothing of {name}")


def shortened(arguments: list[str], expected: list[str]) -> str:
    """Return the arguments; several at the end that equal the expected ones become an ellipsis."""
    same = 0
    while arguments[-1 - same :] == expected[-1 - same :]:
        same += 1
    return ", ".join([*arguments[: len(arguments) - same], "…"] if same > 1 else arguments)


def small() -> str:
    """The size of messages through the team's own slots, from the constant of the headers."""
    pairs = int(
        re.search(r"slot_area_pairs = (\d+);", (ROOT / "include/atoll/device/control.hpp").read_text())[1]
    )  # type: ignore[index]
    sizes = ", ".join(f"{8 * (pairs // n)} with {n} PEs" for n in (2, 4, 8))
    return (
        f"A collective is small if one member sends another at most `8 * ({pairs} // n_pes)` bytes ({sizes}). It takes any "
        "arrays. Larger ones need the symmetric arrays that the table names; `collect` and the tiles' always do."
    )


def signatures() -> str:
    numba = in_python("numba")
    others = {"Triton": in_python("triton"), "CuTe": in_python("cute"), "C++": in_cpp()}
    lines = ["| in Numba | elsewhere, where it differs | result, and what is symmetric |", "|---|---|---|"]
    for operations in GROUPS.values():
        rows: dict[tuple[str, str, str], list[str]] = {}
        for name in operations:
            differ = []
            for language, known in others.items():
                if name not in known:
                    if name not in HOLES.get(language, {}):
                        raise SystemExit(f"{language}: the arguments of {name} are not found")
                    continue
                expected = [n for n in numba[name] if language != "Triton" or n != "scope"]
                if known[name] != expected:
                    differ.append(f"{language} `({shortened(known[name], expected)})`")
            row = (f"({', '.join(numba[name])})", "; ".join(differ), result_of(name))
            rows.setdefault(row, []).append(name)
        for (arguments, differ_, result), named in rows.items():
            call = f"{', '.join(f'`{n}`' for n in named[:-1])}{', ' if named[1:] else ''}`{named[-1]}{arguments}`"
            lines.append(f"| {call} | {differ_} | {result} |")
    return "\n".join([*lines, "", small()])


def untested() -> list[str]:
    has, tried = names(), tests()
    return [
        f"{language}: no test calls {name}"
        for language, known in has.items()
        for operations in GROUPS.values()
        for name in operations
        if name in known
        and not re.search(rf"\b(?:dev|device|dv|d)(?:\.|::){name}\s*(?:<[^>]*>)?\(", tried[language])
    ]


def main() -> None:
    page = fresh = PAGE.read_text()
    for (begin, end), made in zip(MARKS.values(), (table(), signatures()), strict=True):
        before, rest = fresh.split(begin)
        _, after = rest.split(end)
        fresh = f"{before}{begin}\n\n{made}\n\n{end}{after}"
    if "--check" in sys.argv:
        wrong = untested()
        if fresh != page:
            wrong.append("docs/kernels.md is out of step: python scripts/kernel_coverage.py")
        sys.exit("\n".join(wrong) if wrong else 0)
    PAGE.write_text(fresh)


if __name__ == "__main__":
    main()
