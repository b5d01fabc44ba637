"""The tables of figures in the pages, from bench/results, and new results into bench/results.

`bench/tables.py [NAME...]` prints tables, by default all. With `--write` it puts them into their pages, between
`<!-- table: NAME -->` and `<!-- end -->`. With `--check` it fails if a page or a file of results differs.
`bench/tables.py add BENCHMARK FILE` converts the output of a benchmark and adds it to its file of results.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import schema
from machine import machine, output
from table import size as size_text

Run = dict[str, Any]
AIM = 1.05  # highest permitted ratio of a Python kernel's time to CUDA C++'s
KIB, MIB = 1024, 1024 * 1024
LANGUAGES = ("C++", "CuPy", "Numba", "Triton", "CuTe DSL")


def run_of(benchmark: str, name: str) -> Run:
    """Return the current run of a name."""
    found = [run for run in schema.runs(benchmark) if run["run"] == name and "kept_for" not in run]
    if len(found) != 1:
        raise ValueError(f"{benchmark}.json has {len(found)} current runs named '{name}', expected one")
    return found[0]


def figure(run: Run, operation: str, **wanted: Any) -> float:
    """Return the median of the one row with these fields or settings; for a setting that the row lacks give `None`."""
    found = []
    for row in run["rows"]:
        fields = row.get("settings", {}) | row
        if row["operation"] == operation and all(fields.get(key) == value for key, value in wanted.items()):
            found.append(float(row["median"]))
    if len(found) != 1:
        raise ValueError(
            f"run {run['run']} has {len(found)} rows of '{operation}' with {wanted}, expected one"
        )
    return found[0]


def three(value: float) -> str:
    """Return a figure with two decimals below 10, one below 100, none above."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def short(value: float) -> str:
    """Return the figure of `three` without trailing zeros after the point."""
    text = three(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def size(n: int) -> str:
    """Return a size after a name, or nothing for none."""
    return f" {size_text(n)}" if n else ""


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Return a table of Markdown."""
    lines = [head, *rows]
    texts = ["|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in lines]
    return "\n".join([texts[0], "|" + "---|" * len(head), *texts[1:]])


def kernel_speed() -> str:
    """Return the table of kernels in five languages, and the list of those above the aim."""
    return kernel_table(run_of("gpu_kernels", "2xH200"))


def kernel_table(run: Run) -> str:
    """Return that table of one run."""

    def spread(row: dict[str, Any]) -> float:
        return float((row["p75"] - row["p25"]) / 2 / row["median"])

    cells = {(row["operation"], row["bytes"], row["language"]): row for row in run["rows"]}
    found = {row["language"] for row in run["rows"]}
    languages = [language for language in LANGUAGES if language in found]
    lines, missed = [], []
    for operation, n_bytes in dict.fromkeys((row["operation"], row["bytes"]) for row in run["rows"]):
        cpp = cells.get((operation, n_bytes, "C++"))
        texts = [operation + size(n_bytes)]
        for language in languages:
            row = cells.get((operation, n_bytes, language))
            if row is None or cpp is None:
                texts.append("–")
            elif language == "C++":
                texts.append(f"{cpp['median']:.2f} ± {100 * spread(cpp):.0f} %")
            else:
                texts.append(f"{row['median']:.2f}; {row['ratio']:.2f}")
                if row["ratio"] > max(AIM, 1 + spread(row) + spread(cpp)):
                    missed.append(f"- {language}'s {operation}{size(n_bytes)} ({row['ratio']:.2f})")
        lines.append(texts)
    head = ["", *(f"CUDA {language}" if language == "C++" else language for language in languages)]
    title = f"Above the aim of {AIM}, and of the repeats' spread where that is larger:"
    listed = ["", *missed] if missed else ["No row."]
    return "\n".join([markdown(head, lines), "", title, *listed])


def scaling() -> str:
    """Return the cost after init of jobs with some shapes."""
    rows = run_of("scaling", "intel-r-xeon-r-processor-2-cores")["rows"]
    steps = {(*row["settings"].values(), row["operation"]): row["values"] for row in rows}
    lines = []
    for hosts, pes in ((1, 64), (2, 4), (2, 64), (3, 64), (4, 16), (4, 64)):
        values = steps[hosts, pes, "init"]
        connections = f"{values['pe.connections_to_pes']:.2f}".rstrip("0").rstrip(".")
        lines.append(
            [
                f"{hosts} × {pes}",
                f"{values['pe.private_kib']:.0f} KiB",
                f"{values['pe.store_bytes_received']:,.0f} B",
                f"{values['pe.store_requests']:.0f}",
                f"{connections} ({values['pe.connections_to_pes_most']:.0f})",
                f"{values['seconds_since_start']:.2f} s",
            ]
        )
    head = ["hosts × PEs", "private memory", "from the store", "requests to it", "connections to PEs (most)"]
    return markdown([*head, "all started after"], lines)


def network() -> str:
    """Return operations between two hosts beside OSHMEM's."""
    run = run_of("network", "amd-epyc-2-cores")

    def both(*measured: tuple[str, int]) -> list[str]:
        texts = []
        for implementation in ("atoll", "openmpi"):
            chosen = {"implementation": implementation, "progress_thread": None}
            found = [figure(run, operation, bytes=n, **chosen) / 1000 for operation, n in measured]
            texts.append("; ".join(map(tenths, found)) + " µs")
        return texts

    ours, theirs = both(("barrier", 0))
    ours_of_4, theirs_of_4 = both(("barrier_of_4", 0))
    signal, flag = both(("signal_one_way", 8))
    lines = [
        ["put and quiet, 8 bytes", *both(("put_quiet", 8))],
        ["get, 8 bytes", *both(("get", 8))],
        ["fetching add", *both(("fetch_add", 8))],
        ["signal one way", signal, f"{flag} (a flag alone: it has no `put_signal`)"],
        ["put and quiet 64 KiB; 1 MiB", *both(("put_bytes", 64 * KIB), ("put_bytes", MIB))],
        ["get 64 KiB; 1 MiB", *both(("get_bytes", 64 * KIB), ("get_bytes", MIB))],
        ["puts without quiet, 8 B; 4 KiB", *both(("p", 8), ("put_stream", 4 * KIB))],
        ["barrier of 2 PEs", f"{ours} (0.86 to 1.07 × in four runs)", theirs],
        [
            "barrier of 4 PEs in 4 namespaces, on 2 cores",
            ours_of_4,
            f"{theirs_of_4} with `mpi_yield_when_idle`, milliseconds by default",
        ],
    ]
    return markdown(["operation", "Atoll", "OSHMEM"], lines)


def tenths(value: float) -> str:
    """Return a figure with one decimal below 100, none above."""
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def peers_calls() -> str:
    """Return the host's time of calls on a stream by each library."""
    run = run_of("gpu_peers", "1xH200")

    def of(operation: str, implementation: str, *arrays: str | None) -> str:
        rows = [{"implementation": implementation, "arrays": one, "where": "host"} for one in arrays]
        return "; ".join(three(figure(run, operation, **row)) for row in rows)

    ours, theirs = ("DeviceArray", "torch.Tensor"), ("Buffer", "torch.Tensor")
    lines = [
        [name, of(name, "atoll", *ours)] for name in ("put", "signal", "put_signal", "sum_reduce", "barrier")
    ]
    for line in lines:
        found = theirs if line[0] not in ("signal", "barrier") else theirs[:1]
        line += [of(line[0], "nvshmem4py", *found), ""]
    reduced = of("sum_reduce", "nccl4py", "torch.Tensor"), of("sum_reduce", "torch.distributed", None)
    lines[3][3] = f"NCCL4Py {reduced[0]}, torch.distributed {reduced[1]}"
    messages = of("send_recv", "atoll", *ours), of("send_recv", "nccl4py", "torch.Tensor")
    lines.append(["send and recv in a group", messages[0], "", f"NCCL4Py {messages[1]}"])
    head = ["call", "Atoll, `DeviceArray`; `torch.Tensor`", "NVSHMEM4Py, `Buffer`; tensor", "others"]
    return markdown(head, lines)


def peers_kernels() -> str:
    """Return operations in kernels in Numba beside NVSHMEM4Py's."""
    run = run_of("gpu_peers", "1xH200")
    lines = [
        ["flag between two blocks", ("flag (p, wait)", 8)],
        ["put, block: 8 B; 1 KiB; 64 KiB", ("put, block", 8), ("put, block", KIB), ("put, block", 64 * KIB)],
        ["put_signal and wait, block: 8 B; 1 KiB", *(("put_signal, wait, block", n) for n in (8, KIB))],
        ["sync; barrier, block", ("sync, block", 0), ("barrier, block", 0)],
        ["reduce, block: 8 B; 1 KiB", ("reduce, block", 8), ("reduce, block", KIB)],
    ]
    rows = []
    for label, *measured in lines:
        row = [str(label)]
        for side in ("atoll", "nvshmem4py"):
            found = [figure(run, str(op), bytes=n, implementation=side, where="kernel") for op, n in measured]
            row.append("; ".join(map(three, found)))
        rows.append(row)
    return markdown(["operation", "Atoll", "NVSHMEM4Py"], rows)


def address_checks() -> str:
    """Return the cost of the check of addresses in Numba."""
    run = run_of("gpu_peers", "1xH200-addresses")
    lines = []
    for label, operation, n_bytes, decimals in (
        ("flag", "flag (p, wait)", 8, 3),
        ("put of 8 B", "put, block", 8, 2),
        ("put_signal and wait of 8 B", "put_signal, wait, block", 8, 2),
        ("the same for 64 KiB", "put_signal, wait, block", 64 * KIB, 2),
    ):
        found = [figure(run, operation, bytes=n_bytes, checks=checks) for checks in ("all", "args")]
        lines.append([label, *(f"{value:.{decimals}f} µs" for value in found)])
    return markdown(["operation", "with", "without"], lines)


def reduce_forms() -> str:
    """Return large reductions on streams by one kernel and by copy engines."""
    run = run_of("gpu", "4xH200-all-reduce")
    sizes = [16 * MIB, 32 * MIB, 64 * MIB, 256 * MIB]
    lines = []
    for pes in (2, 4):
        for form in ("one kernel", "copy engines"):
            name = f"all-reduce of float by {form}, graph"
            found = [figure(run, name, bytes=n, pes=pes, implementation="atoll") for n in sizes]
            lines.append([f"{pes} PEs, {form}", *map(three, found)])
    return markdown(["reduce", *(f"{n // MIB} MiB" for n in sizes)], lines)


def jacobi() -> str:
    """Return the best time of a Jacobi step in each language."""
    run = run_of("gpu_examples", "2xH200-jacobi")
    sides = [64, 256, 512, 1024, 2048, 4096, 8192]
    programs = {
        "NVSHMEM C++, the best of three forms": (
            "a kernel a step, barrier",
            "a kernel a step, put_signal",
            "one kernel, put_signal, grid sync",
        ),
        "CUDA C++, the better of two": ("persistent", "stepwise"),
        "Numba, this program": ("Numba", "Numba, again"),
    }
    lines = []
    for label, forms in programs.items():
        best = [min(figure(run, f"Jacobi step, {form}, {n} x {n} a GPU") for form in forms) for n in sides]
        lines.append([label, *map(short, best)])
    copy = "copy of the cells in one kernel, a meeting a step, always forth"
    copies = [short(figure(run, f"{copy}, {n} x {n}")) for n in sides[4:]]
    lines.append(["a kernel that copies the cells, blocks meeting after each copy", "", "", "", "", *copies])
    return markdown(["cells a GPU", *(f"{n}²" for n in sides)], lines)


def matmul() -> str:
    """Return fused matrix products beside PyTorch's two calls."""
    run = run_of("gpu_examples", "2xH200")
    lines = []
    sizes = (2048, 4096, 8192)
    for operation in ("matmul + all-reduce", "all-gather + matmul"):
        torch, ours = (
            [figure(run, operation, size=n, implementation=one) for n in sizes] for one in ("torch", "atoll")
        )
        ratios = [theirs / mine for theirs, mine in zip(torch, ours, strict=True)]
        lines += [
            [f"{operation}, PyTorch, two calls", *(f"{value:.0f}" for value in torch)],
            [f"{operation}, one kernel", *(f"{value:.0f}" for value in ours)],
            ["… times as fast", *(f"{value:.2f}" for value in ratios)],
        ]
    return markdown(["", *map(str, sizes)], lines)


# A table, its page, and the function that makes it.
TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "kernel-speed": ("docs/kernels.md", kernel_speed),
    "scaling": ("docs/scaling.md", scaling),
    "network": ("docs/measurements/2026-11-22-ucx-tcp.md", network),
    "peers-calls": ("docs/measurements/2026-11-23-1xH200-peers.md", peers_calls),
    "peers-kernels": ("docs/measurements/2026-11-23-1xH200-peers.md", peers_kernels),
    "address-checks": ("docs/measurements/2026-11-23-1xH200-peers.md", address_checks),
    "reduce-forms": ("docs/measurements/2026-11-22-2xH200-streams.md", reduce_forms),
    "jacobi": ("examples/11_kernels_jacobi/README.md", jacobi),
    "matmul": ("examples/18_kernels_matmul/README.md", matmul),
}


def placed(page: str, name: str, table: str) -> str:
    """Return a page's text with a table between its markers."""
    begin = f"<!-- table: {name} -->"
    pattern = re.compile(rf"{re.escape(begin)}.*?<!-- end -->", re.DOTALL)
    new, n = pattern.subn(lambda _: f"{begin}\n\n{table}\n\n<!-- end -->", page)
    if n != 1:
        raise ValueError(f"the page has {n} places '{begin} … <!-- end -->', expected one")
    return new


def uncited() -> list[str]:
    """Return the older runs that no page cites: each page of `kept_for` must link to their file."""
    found = []
    for benchmark in schema.BENCHMARKS:
        for run in schema.runs(benchmark):
            for page in run.get("kept_for", []):
                file = schema.ROOT / page
                if not file.is_file() or f"bench/results/{benchmark}.json" not in file.read_text():
                    found.append(
                        f"{benchmark}.json, run {run['run']}: {page} does not link to the file; remove the run"
                    )
    return found


def problems() -> list[str]:
    """Return the faults of files of results and of the tables in the pages."""
    found = [text for path in sorted(schema.RESULTS.iterdir()) for text in schema.problems(path)] + uncited()
    for name, (page, make) in TABLES.items():
        text = (schema.ROOT / page).read_text()
        try:
            if placed(text, name, make()) != text:
                found.append(
                    f"{page}: the table '{name}' is not of bench/results; run bench/tables.py --write {name}"
                )
        except ValueError as error:
            found.append(f"{page}: table '{name}': {error}")
    return found


def printed_in(file: Path) -> dict[str, Any]:
    """Return a benchmark's output: one JSON object, or lines of which some are rows."""
    text = file.read_text()
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        found = None
    if isinstance(found, dict) and "rows" in found:
        return found
    rows = [json.loads(line[line.index("{") :]) for line in text.splitlines() if line.rstrip().endswith("}")]
    if not rows:
        raise ValueError(f"{file} has no row: expected one JSON object with 'rows', or a line of JSON a row")
    gpus = output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    where = machine() | ({"gpus": gpus} if gpus else {})
    return {"date": datetime.date.today().isoformat(), "machine": where, "rows": rows}


def add(arguments: list[str]) -> None:
    """Convert the output of a benchmark, and add it to a file of results."""
    parser = argparse.ArgumentParser(prog="bench/tables.py add")
    parser.add_argument("benchmark", choices=schema.BENCHMARKS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--run", help="its name; by default the machine")
    parser.add_argument("--to", type=Path, help="by default bench/results/BENCHMARK.json")
    options = parser.parse_args(arguments)
    run = schema.convert(options.benchmark, printed_in(options.file), options.run)
    print(f"{schema.add(options.benchmark, run, options.to)}: run {run['run']}, {len(run['rows'])} rows")
    if options.benchmark == "gpu_kernels":
        print(kernel_table(run))


def main(arguments: list[str]) -> None:
    """Run the command of the arguments."""
    if arguments[:1] == ["add"]:
        add(arguments[1:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TABLES))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in TABLES]:
        parser.error(f"unknown: {', '.join(unknown)}; the tables are {', '.join(TABLES)}")
    if options.check:
        found = problems()
        sys.exit("\n".join(found) if found else 0)
    for name in options.names or TABLES:
        page, make = TABLES[name]
        if options.write:
            file = schema.ROOT / page
            file.write_text(placed(file.read_text(), name, make()))
        else:
            print(f"{page}: {name}\n\n{make()}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
