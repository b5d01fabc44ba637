"""Writes the page that compares figures of Atoll and other libraries. All figures are from bench/results/host.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pages import ROOT

RUN = "intel-r-xeon-r-processor-2-cores"
# Operations whose peer is the same call of Open MPI's OpenSHMEM (in C), or of shmem4py on it (`py_`).
CALLS = (
    "put",
    "put_quiet",
    "p",
    "get",
    "atomic_fetch_add",
    "flag_one_way",
    "barrier_all",
    "sync_all",
    "broadcast",
    "sum_reduce",
)
NAMES = {
    "put_quiet": "put and quiet",
    "flag_one_way": "flag to another PE",
    "init + finalize": "init and finalize",
}


def run() -> dict[str, Any]:
    """The current run of the comparison."""
    every = json.loads((ROOT / "bench/results/host.json").read_text())["runs"]
    (found,) = (one for one in every if one["run"] == RUN and "kept_for" not in one)
    return dict(found)


def rows(of: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Rows of the two tables: C++ beside C, and Python beside Python."""
    compiled, python = [], []
    for one in of["comparisons"]:
        call, _, size = one["operation"].removeprefix("py_").partition(" ")
        if one["operation"] == "init + finalize":
            call, size = one["operation"], ""
        elif call not in CALLS or re.search(r"\bin C\b|over C", size):
            continue
        if one["peer"] == "-" or " in C" in one["operation"]:
            continue
        name = f"{NAMES.get(call, call)} {size}".strip()
        ratio = "" if call == "init + finalize" else one["shown"]
        row = f"| {name} | {one['pes']} | {one['atoll']} | {one['peer']} | {ratio} |"
        (python if one["operation"].startswith("py_") else compiled).append(row)
    return sorted(compiled, key=order), sorted(python, key=order)


def order(row: str) -> tuple[str, int]:
    """By operation, then by PEs."""
    cells = row.split("|")
    return cells[1], int(cells[2])


def latest(benchmark: str) -> dict[str, Any]:
    """The current run of another benchmark."""
    every = json.loads((ROOT / f"bench/results/{benchmark}.json").read_text())["runs"]
    return dict(next(one for one in every if "kept_for" not in one))


def beside_python() -> str:
    """The table beside libraries of Python that people know, in microseconds."""
    of, sides = latest("python_peers"), ("atoll", "mpi4py", "multiprocessing", "gloo")
    found: dict[tuple[str, int], dict[str, float]] = {}
    for row in of["rows"]:
        found.setdefault((row["operation"], row.get("bytes", 0)), {})[row["implementation"]] = row["min"]
    lines = [
        f"| {name} {size_of(size)} | "
        + " | ".join(shown(figures[s]) if s in figures else "-" for s in sides)
        + " |"
        for (name, size), figures in found.items()
    ]
    machine, versions = of["machine"], of["versions"]
    return f"""

## In Python, beside mpi4py, multiprocessing and gloo

Times in us between two processes of one host. "One way" is half of a message to the other process and back. Measured on
{of["date"]} on an {machine["cpu"]} with {machine["cores"]} cores, Python {versions["python"]}, mpi4py {versions["mpi4py"]} on MPICH
{versions["mpich"]} and gloo of PyTorch {versions["torch"]}. Other programs ran meanwhile (load {machine["load_before"]}), so the figures are the
least of many batches.

| operation | Atoll | mpi4py | multiprocessing | gloo |
|---|---|---|---|---|
""" + "\n".join(lines)


def shown(us: float) -> str:
    return f"{us:.3g}" if us < 1000 else f"{us:.0f}"


def size_of(size: int) -> str:
    return (
        ""
        if size == 0
        else f"{size} B"
        if size < 1024
        else f"{size >> 10} KiB"
        if size < 1 << 20
        else f"{size >> 20} MiB"
    )


def on_a_gpu() -> str:
    """The table beside NVSHMEM from Python: calls of the host, 8 bytes."""
    of = latest("gpu_peers")
    kinds = {("atoll", "torch.Tensor"): 0, ("nvshmem4py", "torch.Tensor"): 1}
    found: dict[str, list[float | None]] = {}
    for row in of["rows"]:
        settings = row.get("settings", {})
        at = kinds.get((row["implementation"], settings.get("arrays")))
        if at is not None and row.get("bytes") == 8 and settings.get("where") == "host":
            found.setdefault(row["operation"], [None, None])[at] = row["median"]
    lines = [f"| {name} 8 B | {a:.3g} | {b:.3g} |" for name, (a, b) in found.items() if a and b]
    return f"""

## On a GPU, beside NVSHMEM (GPU)

Times in us of calls on PyTorch's tensors, enqueued from Python on one H200 ({of["date"]}). NVSHMEM was called through
NVSHMEM4Py.

| operation | Atoll | NVSHMEM4Py |
|---|---|---|
""" + "\n".join(lines)


def write(target: Path) -> None:
    """Write the page."""
    of = run()
    compiled, python = rows(of)
    ratios = [float(row.split("|")[5]) for row in compiled + python if row.split("|")[5].strip()]
    machine, versions = of["machine"], of["versions"]
    head = "| operation | PEs | Atoll | {} | ratio |\n|---|---|---|---|---|\n"
    text = f"""# Figures beside other libraries

This page compares times of Atoll with those of [mpi4py, multiprocessing and gloo](#in-python-beside-mpi4py-multiprocessing-and-gloo),
of [shmem4py](#in-python-beside-shmem4py), of [Open MPI's OpenSHMEM](#in-c-beside-open-mpis-openshmem-in-c) and of
[NVSHMEM](#on-a-gpu-beside-nvshmem-gpu). `make bench` measures on your machine, and [its page](BENCH) tells how.{beside_python()}

## In Python, beside shmem4py

In this table and the next a ratio below 1 means that Atoll is faster; the ratios lie between {min(ratios)} and
{max(ratios)}. They were measured on {of["date"]} on an {machine["cpu"]} with {machine["cores"]} cores, with
{versions["openmpi"]}, shmem4py {versions["shmem4py"]} and Python {versions["python"].split()[-1]}. Other programs ran meanwhile: the
load was {machine["load_before"]:.1f} before and {machine["load_after"]:.1f} after. Figures are medians. More PEs than cores share them.

{head.format("shmem4py")}""" + "\n".join(python)
    text += f"\n\n## In C++, beside Open MPI's OpenSHMEM in C\n\n{head.format('Open MPI')}" + "\n".join(
        compiled
    )
    text += on_a_gpu()
    text += """

## Other comparisons

| beside | measured in |
|---|---|
| NVSHMEM4Py, NCCL4Py and torch.distributed (GPU) | [calls and kernels on an H200](MEASUREMENTS/2026-11-23-1xH200-peers.md) |
| NCCL (GPU) | [streams on two H200](MEASUREMENTS/2026-11-22-2xH200-streams.md) |
| NCCL below PyTorch (GPU) | [two H100](MEASUREMENTS/2026-11-24-torch-2xH100.md) |
| mpi4py over MPICH, Open MPI: large sums and broadcasts | [collectives of the host](MEASUREMENTS/2026-11-24-host-collectives.md) |
| UCX between two hosts | [TCP](MEASUREMENTS/2026-11-22-ucx-tcp.md) |
"""
    text = text.replace("MEASUREMENTS", "../measurements").replace("BENCH", "../bench/index.md")
    target.mkdir(parents=True, exist_ok=True)
    (target / "figures.md").write_text(text, encoding="utf-8")
