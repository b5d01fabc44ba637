"""The table of docs/kernels.md: which operation kernels have in which language; read from the sources.

kernel_coverage.py writes it anew; --check says whether it is out of step, and which ticked name no test calls.
"""

from __future__ import annotations

import ast
import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/kernels.md"
BEGIN, END = "<!-- coverage: scripts/kernel_coverage.py -->", "<!-- end of coverage -->"

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

# Why a language has no such function.
HOLES = {"Triton": runpy.run_path(str(ROOT / "python/atoll/triton/_absent.py"))["WHY"]}


def functions(file: Path) -> set[str]:
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}


def names() -> dict[str, set[str]]:
    """What each language has."""
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
    """The programs that try them."""
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
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    fresh = f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"
    if "--check" in sys.argv:
        wrong = untested()
        if fresh != page:
            wrong.append("docs/kernels.md is out of step: python scripts/kernel_coverage.py")
        sys.exit("\n".join(wrong) if wrong else 0)
    PAGE.write_text(fresh)


if __name__ == "__main__":
    main()
