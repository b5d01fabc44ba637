"""The schema of bench/results: one file for each benchmark, documented in bench/README.md.

It converts the output of a benchmark to a run of that schema, and it reads, checks and writes the files.
"""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"

# A benchmark, and the command that runs it.
BENCHMARKS = {
    "host": "make bench",
    "network": "bench/network.py",
    "scaling": "bench/scaling.py",
    "import_time": "bench/import_time.py",
    "python_peers": "bench/python_peers.py",
    "gpu": "scripts/gpu.sh programs bench",
    "gpu_far": "ATOLL_HOST_ID=a,b atoll run -n 2 with gpu_far, gpu_far_kernels",
    "gpu_kernels": "scripts/gpu.sh kernels bench",
    "gpu_enqueue": "scripts/gpu.sh python bench",
    "gpu_peers": "scripts/gpu.sh peers",
    "gpu_torch": "scripts/gpu.sh torch bench",
    "gpu_examples": "the times of examples/11_kernels_jacobi, 13_kernels_allreduce, 18_kernels_matmul",
}

# The side of a row as a benchmark prints it: implementation, language, and the library of its arrays.
SIDES = {
    "atoll": ("atoll", "C++", None),
    "cpp": ("atoll", "C++", None),
    "atoll C++": ("atoll", "C++", None),
    "atoll Python": ("atoll", "Python", None),
    "atoll without thread": ("atoll", "C", None),
    "atoll_c": ("atoll", "C", None),
    "cupy": ("atoll", "CuPy", None),
    "numba": ("atoll", "Numba", None),
    "triton": ("atoll", "Triton", None),
    "cute": ("atoll", "CuTe DSL", None),
    "atoll Numba": ("atoll", "Numba", None),
    "atoll DeviceArray": ("atoll", "Python", "DeviceArray"),
    "atoll torch.Tensor": ("atoll", "Python", "torch.Tensor"),
    "atoll torch.Tensor, current": ("atoll", "Python", "torch.Tensor, current"),
    "atoll cupy.ndarray": ("atoll", "Python", "cupy.ndarray"),
    "bare": ("bare", "C++", None),
    "cuda": ("cuda", "C++", None),
    "nccl": ("nccl", "C++", None),
    "nvshmem": ("nvshmem", "C++", None),
    "atoll nvshmem.h": ("atoll nvshmem.h", "C++", None),
    "openmpi": ("openmpi", "C", None),
    "mpich": ("mpich", "C", None),
    "ucx": ("ucx", "C", None),
    "numpy": ("numpy", "Python", None),
    "shmem4py": ("shmem4py", "Python", None),
    "torch": ("torch", "Python", None),
    "mpi4py": ("mpi4py", "Python", None),
    "multiprocessing": ("multiprocessing", "Python", None),
    "gloo": ("gloo", "Python", None),
    "torch NCCL": ("torch.distributed", "Python", None),
    "torch.distributed": ("torch.distributed", "Python", None),
    "nvshmem4py Buffer": ("nvshmem4py", "Python", "Buffer"),
    "nvshmem4py torch.Tensor": ("nvshmem4py", "Python", "torch.Tensor"),
    "nvshmem4py Numba": ("nvshmem4py", "Numba", None),
    "nccl4py torch.Tensor": ("nccl4py", "Python", "torch.Tensor"),
}

REQUIRED = ("operation", "implementation", "language", "pes")
STATISTICS = ("median", "mean", "p10", "p25", "p75", "p90", "min", "max", "round_min", "round_max")
FIELDS = (*REQUIRED, "bytes", "settings", "unit", *STATISTICS, "n", "rounds", "ratio", "values")
RUN_FIELDS = ("run", "date", "what", "command", "kept_for", "machine", "versions", "facts")
LISTS = ("comparisons", "fits", "rows")

# Fields that a benchmark prints, and theirs here. A batch's repeats, samples and rates are not kept.
PRINTED = {key: key for key in ("p10", "p25", "p75", "p90", "min", "max", "n")} | {
    "mean_us": "mean",
    "p10_us": "p10",
    "p90_us": "p90",
}
LEFT_OUT = {"side", "op", "bytes", "pes", "unit", "median", "median_us", "quartiles_us", "repeats_us"}
LEFT_OUT |= {"repeats", "batches", "round", "gb_per_s"}


def sides(name: str, benchmark: str) -> tuple[str, str, str | None]:
    """Return the implementation, the language and the library of arrays that a printed side names."""
    if name not in SIDES:
        raise ValueError(
            f"{benchmark}: a row has the side '{name}', expected one of {', '.join(SIDES)}; "
            "add a new one to SIDES in bench/schema.py"
        )
    return SIDES[name]


def row_of(printed: dict[str, Any], benchmark: str, pes: int) -> dict[str, Any]:
    """Return a row of the schema from a row that a benchmark prints."""
    missing = [key for key in ("side", "op") if key not in printed]
    if missing or not {"median", "median_us", "min", "p10"} & printed.keys():
        raise ValueError(
            f"{benchmark}: a row needs 'side', 'op' and 'median' or 'median_us', found {printed}"
        )
    implementation, language, arrays = sides(printed["side"], benchmark)
    settings = {key: value for key, value in printed.items() if key not in LEFT_OUT and key not in PRINTED}
    if arrays:
        settings["arrays"] = arrays
    if printed["side"] == "atoll without thread":
        settings["progress_thread"] = False
    if printed["op"].startswith("py_"):
        language = "Python"
    elif implementation == "atoll" and (named := re.search("Numba|Triton", printed["op"])):
        language = named[0]
    elif benchmark == "network":
        language = "C"  # bench/peers/network.c on both sides
    row = {
        "operation": printed["op"],
        "implementation": implementation,
        "language": language,
        "pes": printed.get("pes", pes),
        "bytes": printed.get("bytes", 0),
        "settings": settings,
        "unit": printed.get("unit", "us"),
        "median": printed.get("median", printed.get("median_us")),
    }
    row |= {PRINTED[key]: value for key, value in printed.items() if key in PRINTED}
    if "quartiles_us" in printed:
        row["p25"], row["p75"] = printed["quartiles_us"]
    samples = printed.get("batches") or printed.get("repeats_us")
    if samples:
        row["n"] = len(samples)
    return {key: row[key] for key in FIELDS if row.get(key) not in (None, {})}


def identity(row: dict[str, Any]) -> str:
    """Return a text that two rows share if they measure the same."""
    keys = (*REQUIRED, "bytes", "unit", "settings")
    return json.dumps([row.get(key) for key in keys], sort_keys=True)


def merged(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one row for all rounds of a measurement: the median over rounds of each statistic.

    It also has the range of the rounds' medians, or of their tenth percentiles if they have no medians.
    """
    row = dict(rows[0])
    for key in ("median", "p10", "p25", "p75", "p90", "min", "max"):
        found = [one[key] for one in rows if key in one]
        if found:
            row[key] = float(f"{statistics.median(found):.10g}")
    key = "median" if "median" in row else "p10"
    figures = [one[key] for one in rows if key in one]
    if figures:
        row["round_min"], row["round_max"] = min(figures), max(figures)
    if all("n" in one for one in rows):
        row["n"] = sum(one["n"] for one in rows)
    row["rounds"] = len(rows)
    return {key: row[key] for key in FIELDS if key in row}


def add_ratios(rows: list[dict[str, Any]], printed: list[dict[str, Any]]) -> None:
    """Add to each row of Python kernels its ratio to C++: the median over the repeats, which alternated."""
    repeats = {(one["op"], one["bytes"], one["side"]): one.get("repeats_us") for one in printed}
    for row, one in zip(rows, printed, strict=True):
        cpp = repeats.get((one["op"], one["bytes"], "cpp"))
        if cpp and one.get("repeats_us") and one["side"] != "cpp":
            ratios = sorted(a / b for a, b in zip(one["repeats_us"], cpp, strict=True))
            row["ratio"] = round(ratios[len(ratios) // 2], 5)


def rows_of(printed: list[dict[str, Any]], benchmark: str, pes: int = 2) -> list[dict[str, Any]]:
    """Return the rows of the schema: rounds are merged, and other repetitions are numbered."""
    if benchmark == "scaling":
        return [scaling_row(one) for one in printed]
    rows = [row_of(one, benchmark, pes) for one in printed]
    if benchmark == "gpu_kernels":
        add_ratios(rows, printed)
    groups: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        groups.setdefault(identity(row), []).append(at)
    found = []
    for members in groups.values():
        if len(members) == 1:
            found.append(rows[members[0]])
        elif all("round" in printed[at] for at in members):
            found.append(merged([rows[at] for at in members]))
        else:
            for number, at in enumerate(members, 1):
                rows[at]["settings"] = rows[at].get("settings", {}) | {"run": number}
                found.append({key: rows[at][key] for key in FIELDS if key in rows[at]})
    return found


def scaling_row(printed: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a job's step: all of its quantities, whose names end in their units."""
    settings = {key: printed[key] for key in ("hosts", "pes_per_host")}
    values = {key: value for key, value in printed.items() if key not in (*settings, "pes", "step")}
    return {
        "operation": printed["step"],
        "implementation": "atoll",
        "language": "C",
        "pes": printed["pes"],
        "settings": settings,
        "values": {key: float(f"{value:.6g}") for key, value in values.items()},
    }


def convert(benchmark: str, printed: dict[str, Any], run: str | None = None) -> dict[str, Any]:
    """Return a run of the schema.

    Parameters
    ----------
    benchmark : str
        A name of `BENCHMARKS`.
    printed : dict
        The output of the benchmark: `rows`, and what describes them, either beside them or in `about`.
    run : str, optional
        The name of the run; by default one that is made of the machine.

    Raises
    ------
    ValueError
        The benchmark is unknown, or a row lacks what the schema needs.
    """
    if benchmark not in BENCHMARKS:
        raise ValueError(f"the benchmark '{benchmark}' is unknown, expected one of {', '.join(BENCHMARKS)}")
    found = {key: value for key, value in printed.items() if key != "about"} | printed.get("about", {})
    lists = {"comparisons": found.pop("table", None), "fits": found.pop("fits", None)}
    rows = rows_of(found.pop("rows"), benchmark, found.get("pes", 2))
    found["date"] = str(found["date"])[:10]
    found.setdefault("command", BENCHMARKS[benchmark])
    if "gpu" in found:
        gpus = [found.pop("gpu")] * found.pop("gpus", 1)
        found["machine"] = found.get("machine", {}) | {"gpus": gpus}
    where = found.get("machine", {})
    shared = found.get("pes", len(where.get("gpus", []))) != len(where.get("gpus", []))
    found["run"] = run or machine_name(where) + (f"-{found['pes']}-PEs" if shared else "")
    found["facts"] = {key: found[key] for key in found if key not in RUN_FIELDS} | found.get("facts", {})
    result = {key: found[key] for key in RUN_FIELDS if found.get(key) not in (None, {}, [])}
    return result | {key: value for key, value in lists.items() if value} | {"rows": rows}


def machine_name(machine: dict[str, Any]) -> str:
    """Return a short name: 2xH200, or the processor and its cores."""
    if gpus := machine.get("gpus"):
        return f"{len(gpus)}x{gpus[0].split(',')[0].removeprefix('NVIDIA ').replace(' ', '-')}"
    name = f"{machine.get('cpu', 'unknown')} {machine.get('cores', '')} cores"
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()


def path_of(benchmark: str) -> Path:
    """Return the file of a benchmark."""
    return RESULTS / f"{benchmark}.json"


def runs(benchmark: str, path: Path | None = None) -> list[dict[str, Any]]:
    """Return all runs of a benchmark's file, the current ones first; none without a file."""
    path = path or path_of(benchmark)
    return list(json.loads(path.read_text())["runs"]) if path.exists() else []


def text_of(benchmark: str, all_runs: list[dict[str, Any]]) -> str:
    """Return the text of a file: each row is one line."""
    texts = []
    for run in all_runs:
        lines = [
            f'   "{key}": {json.dumps(run[key], ensure_ascii=False)}' for key in RUN_FIELDS if key in run
        ]
        for key in LISTS:
            if key in run:
                items = ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in run[key])
                lines.append(f'   "{key}": [\n{items}\n   ]')
        texts.append("  {\n" + ",\n".join(lines) + "\n  }")
    return f'{{\n "benchmark": "{benchmark}",\n "runs": [\n' + ",\n".join(texts) + "\n ]\n}\n"


def add(benchmark: str, run: dict[str, Any], path: Path | None = None) -> Path:
    """Write a run into its benchmark's file, and return the file.

    It replaces the current run of the same name. A run that a page cites (`kept_for`) stays.
    """
    path = path or path_of(benchmark)
    others = [one for one in runs(benchmark, path) if one["run"] != run["run"] or "kept_for" in one]
    current = [one for one in others if "kept_for" not in one]
    kept = [one for one in others if "kept_for" in one]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(benchmark, [run, *current, *kept]))
    return path


def row_problems(row: dict[str, Any]) -> list[str]:
    """Return the reasons why a row does not follow the schema."""
    found = [f"'{key}' is missing" for key in REQUIRED if key not in row]
    found += [f"'{key}' is unknown" for key in row if key not in FIELDS]
    if "values" not in row:
        found += [] if "unit" in row else ["'unit' is missing"]
        found += [] if any(key in row for key in ("median", "p10", "min")) else ["no statistic"]
    numbers = [row[key] for key in (*STATISTICS, "pes", "bytes", "n", "ratio") if key in row]
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in numbers):
        found.append("a statistic is not a number")
    return found


def problems(path: Path) -> list[str]:
    """Return the reasons why a file does not follow the schema, each with its place."""
    file = json.loads(path.read_text())
    found = []
    if file.get("benchmark") != path.stem or path.stem not in BENCHMARKS:
        found.append(
            f"{path.name}: 'benchmark' is {file.get('benchmark')!r}, expected the file's name and one of BENCHMARKS"
        )
    names: set[tuple[str, str]] = set()
    for run in file["runs"]:
        where = f"{path.name}, run {run.get('run')} of {run.get('date')}"
        found += [
            f"{where}: '{key}' is missing" for key in ("run", "date", "command", "rows") if key not in run
        ]
        found += [f"{where}: '{key}' is unknown" for key in run if key not in (*RUN_FIELDS, *LISTS)]
        if (name := (run["run"], run["date"] if "kept_for" in run else "")) in names:
            found.append(f"{where}: there are two of this name")
        names.add(name)
        for row in run["rows"]:
            found += [f"{where}: {reason} in {row}" for reason in row_problems(row)]
        identities = [identity(row) for row in run["rows"]]
        found += [f"{where}: twice {one}" for one in set(identities) if identities.count(one) > 1]
    if file["runs"] and path.read_text() != text_of(path.stem, file["runs"]):
        found.append(f"{path.name}: not as bench/schema.py writes it")
    return found
