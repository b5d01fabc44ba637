"""Atoll against its peers in one run: the table of ratios, and medians of all rows in bench/results/host.json.

Both sides run the same operations by the same harness, in turn, for several rounds; medians of rounds are
compared. The peers are Debian's Open MPI (OSHMEM) and shmem4py; `make bench` installs them. A missing peer is
reported.
"""

import argparse
import datetime
import os
import sys
import time
from pathlib import Path

import schema
import table
from machine import machine, versions
from runner import OSHRUN, PEERS, ROOT, Runner, variants

PE_COUNTS = (2, 4, 16, 64)
CURVE = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MEMORY = (1, 16, 64, 256)
GROUPS = ("core", "python", "init", "memory")


def core(runner: Runner, number: int, names: list[str]) -> None:
    """Run one round of the C and C++ programs."""
    for n_pes in PE_COUNTS:
        program = runner.build / "bench" / "core"
        runner.collect(runner.atoll(n_pes, program), names, {"round": number})
        in_c = runner.build / "bench" / "oshmem"
        if in_c.exists():
            runner.collect(runner.atoll(n_pes, in_c), names, {"round": number})
        if not runner.have("oshmem_bench"):
            continue
        for name, settings in variants(n_pes).items():
            command = runner.oshrun(n_pes, settings, PEERS / "oshmem_bench")
            runner.collect(command, names, {"round": number, "variant": name})


def python(runner: Runner, number: int, names: list[str]) -> None:
    """Run one round of the Python programs."""
    program = ROOT / "bench" / "python_bench.py"
    runner.collect(runner.atoll(2, runner.python, program), names, {"round": number})
    if not runner.have("venv/bin/python"):
        return
    program = ROOT / "bench" / "peers" / "shmem4py_bench.py"
    for name, settings in variants(2).items():
        command = runner.oshrun(2, settings, PEERS / "venv" / "bin" / "python", program)
        runner.collect(command, names, {"round": number, "variant": name})


def init(runner: Runner, number: int) -> None:
    """Time the start of jobs beside the start of processes, in turn. Atoll runs the whole curve, the peer its
    fast part.
    """
    times = 3 if runner.quick else 7
    if not (PEERS / "empty").exists():
        return
    for n_pes in CURVE if number == 0 else (2, 64):
        for _ in range(times):
            for op, program in (("empty", PEERS / "empty"), ("init", runner.build / "bench" / "init")):
                runner.spawn(runner.atoll(n_pes, program), op, "atoll", n_pes, 1, round=number)
        if not runner.have("oshmem_init") or n_pes > 16:
            continue  # with more PEs, oshrun 4.1.4 hangs if a program ends at once
        for op, program in (("empty", PEERS / "empty"), ("init", PEERS / "oshmem_init")):
            settings = variants(n_pes).get("unbound yield") or variants(n_pes)["unbound"]
            runner.spawn(runner.oshrun(n_pes, settings, program), op, "openmpi", n_pes, 1, round=number)


def memory(runner: Runner) -> None:
    """Measure the memory of a PE: a number of bytes, so once."""
    for n_pes in MEMORY:
        runner.collect(runner.atoll(n_pes, runner.build / "bench" / "core"), ["memory"], {"round": 0})
        if runner.have("oshmem_bench") and n_pes <= 64:
            command = runner.oshrun(n_pes, variants(64)["unbound yield"], PEERS / "oshmem_bench")
            runner.collect(command, ["memory"], {"round": 0, "variant": "unbound yield"})


def measure(runner: Runner, rounds: int, only: list[str]) -> None:
    """Run all rounds of the wanted groups."""
    groups = [group for group in GROUPS if group in only]
    names = [name for name in only if name not in GROUPS]
    python_names = [name for name in names if name.startswith("py_")]
    core_names = [name for name in names if not name.startswith("py_")]
    for number in range(rounds):
        start = time.monotonic()
        if not only or "core" in groups or core_names:
            core(runner, number, core_names)
        if not only or "python" in groups or python_names:
            python(runner, number, python_names)
        if not only or "init" in groups:
            init(runner, number)
        print(f"  round {number + 1} of {rounds}: {time.monotonic() - start:.0f} s", flush=True)
    if not only or "memory" in groups:
        memory(runner)


def missing_peers(runner: Runner) -> list[str]:
    """Return texts that name the missing peers."""
    missing = []
    if not runner.have("oshmem_bench"):
        missing.append("Open MPI's OSHMEM is not installed or its programs are not built (make bench)")
    if not runner.have("venv/bin/python"):
        missing.append("shmem4py is not installed in build/peers/venv (make bench)")
    if not (runner.build / "bench" / "core").exists():
        sys.exit(f"{runner.build}/bench/core is not built (make bench)")
    return missing


def main() -> None:
    """Measure, print the table, write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help=f"operations, or groups: {', '.join(GROUPS)}"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="short batches and one round: does it work?")
    parser.add_argument(
        "--statistic", choices=("median", "p10"), default="median", help="the statistic that represents a run"
    )
    parser.add_argument(
        "--bind",
        choices=("core", "none"),
        default="none",
        help="ours; core where other programs run (Open MPI binds)",
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--python", type=Path, default=ROOT / ".venv" / "bin" / "python")
    parser.add_argument(
        "--output", type=Path, help="default: bench/results/host.json; nothing with --quick or --only"
    )
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds

    runner = Runner(options.build.absolute(), options.python.absolute(), options.quick, options.bind)
    missing = missing_peers(runner)
    where = machine()
    start = time.monotonic()
    measure(runner, rounds, options.only)
    where["load_after"] = os.getloadavg()[0]

    rows = table.Rows(runner.rows, options.statistic)
    lines = table.lines(rows)
    print(
        f"\n{where['cpu']}, {where['cores']} cores, Linux {where['kernel']}; {rounds} rounds, {time.monotonic() - start:.0f} s"
    )
    if where["load_before"] > 0.5:
        print(f"The machine was busy when this began (load {where['load_before']:.1f}): ratios mean little.")
    for text in missing:
        print(f"Not compared: {text}.")
    print("\n" + table.HEADER)
    for line in lines:
        print(line.text())
    print()
    for text in table.memory(rows):
        print(text)

    target = options.output
    if target is None and not options.quick and not options.only:
        target = schema.path_of("host")
    if target is not None:
        result = {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": where,
            "versions": versions(
                options.build / "bin" / "atoll", options.python, PEERS / "venv" / "bin" / "python"
            ),
            "rounds": rounds,
            "bind": options.bind,
            "statistic": options.statistic,
            "peer_command": " ".join(OSHRUN),
            "peer_variants": {str(n): {k: " ".join(v) for k, v in variants(n).items()} for n in PE_COUNTS},
            "missing": missing,
            "failures": runner.failures,
            "table": [vars(line) for line in lines],
            "rows": runner.rows,
        }
        schema.add("host", schema.convert("host", result), target)
        print(f"\nwritten: {os.path.relpath(target)}")


if __name__ == "__main__":
    main()
