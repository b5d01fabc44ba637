"""The cost of a job by hosts and PEs: memory, connections, start-up messages, time. Each host is a network
namespace.

It needs root (for the namespaces). Every PE runs bench/scaling.c and sleeps between its steps. Meanwhile it
is observed from outside: /proc for memory, the kernel's counts of each TCP connection (`ss`) for messages and
bytes. Each quantity is fitted by least squares over the jobs of several hosts.
"""

import argparse
import datetime
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import schema
from machine import first_line, machine, output
from network import AGENT, ROOT, hosts, on_first

PORT = 47011  # port of the launcher's store
STEPS = ("init", "memory", "barrier", "next", "reduce")
SHAPES = [(h, p) for h in (1, 2, 3, 4) for p in (1, 4, 16, 32, 64)]
MOST_PES_OF_ALL = 32  # in jobs up to this size every PE also communicates with every other
KIB = 1024


@dataclass
class Connection:
    """One end of a TCP connection, as the kernel counts it."""

    mine: int
    theirs: int
    sent: int
    received: int
    messages: int


def number(text: str, name: str) -> int:
    """Return the number that `ss` prints as `name:NUMBER`, or 0."""
    found = re.search(rf"\b{name}:(\d+)", text)
    return int(found[1]) if found else 0


def connections(namespace: str) -> dict[int, list[Connection]]:
    """Return the connections of each process."""
    by_process: dict[int, list[Connection]] = {}
    command = ["ip", "netns", "exec", namespace, "ss", "-tinpHO", "state", "established"]
    for line in output(*command).splitlines():
        words = line.split()
        ports = [int(word.rpartition(":")[2]) for word in words[2:4]]
        counts = [number(line, name) for name in ("bytes_sent", "bytes_received", "data_segs_out")]
        for process in {int(found) for found in re.findall(r"\bpid=(\d+)", line)}:
            by_process.setdefault(process, []).append(Connection(*ports, *counts))
    return by_process


def memory(process: int) -> dict[str, float]:
    """Return the memory of one process, in KiB."""
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    status = Path(f"/proc/{process}/status").read_text()
    sizes = {
        key: float(value) for key, value in re.findall(r"^(\w+):\s+(\d+) kB", rollup + status, re.MULTILINE)
    }
    return {
        "rss_kib": sizes["Rss"],
        "pss_kib": sizes["Pss"],
        "private_kib": sizes["Private_Clean"] + sizes["Private_Dirty"],
        "anonymous_kib": sizes["Pss_Anon"],
        "shared_memory_kib": sizes["Pss_Shmem"],
        "address_space_kib": sizes["VmSize"],
        "threads": float(re.findall(r"^Threads:\s+(\d+)", status, re.MULTILINE)[0]),
        "descriptors": float(len(list(Path(f"/proc/{process}/fd").iterdir()))),
    }


def rested(
    folder: Path, step: str, n: int, job: "subprocess.Popen[bytes]", seconds: float
) -> list[list[float]]:
    """Return for each PE its process, and the step's begin and end, once all PEs rest after it."""
    end = time.monotonic() + seconds
    while len(list(folder.glob(f"{step}.*"))) < n:
        if job.poll() is not None:
            raise RuntimeError(f"the job ended in step {step}")
        if time.monotonic() > end:
            raise RuntimeError(f"step {step} took more than {seconds:.0f} s")
        time.sleep(0.05)
    return [[float(word) for word in (folder / f"{step}.{pe}").read_text().split()] for pe in range(n)]


def observe(namespaces: list[str], processes: list[int], launcher: int) -> dict[str, float]:
    """Return means over the PEs, some maxima, and the launcher's figures."""
    held: dict[int, list[Connection]] = {}
    for namespace in namespaces:
        held.update(connections(namespace))
    each = [memory(process) for process in processes]
    row = {f"pe.{key}": mean(one[key] for one in each) for key in each[0]}
    row["pe.pss_most_kib"] = max(one["pss_kib"] for one in each)
    to_store = [[c for c in held.get(p, []) if PORT in (c.theirs, c.mine)] for p in processes]
    to_pes = [len(held.get(p, [])) - len(store) for p, store in zip(processes, to_store, strict=True)]
    row["pe.connections_to_pes"] = mean(to_pes)
    row["pe.connections_to_pes_most"] = max(to_pes)
    row["pe.connections_to_store"] = mean(len(store) for store in to_store)
    row["pe.store_requests"] = mean(sum(c.messages for c in store) for store in to_store)
    row["pe.store_bytes_sent"] = mean(sum(c.sent for c in store) for store in to_store)
    row["pe.store_bytes_received"] = mean(sum(c.received for c in store) for store in to_store)
    row.update({f"launcher.{key}": value for key, value in memory(launcher).items()})
    row["launcher.connections"] = len(held.get(launcher, []))
    return row


def run(
    options: argparse.Namespace, prefix: str, agent: Path, n_hosts: int, pes: int
) -> list[dict[str, Any]]:
    """Run one job; return a row for each step."""
    n = n_hosts * pes
    steps = [*STEPS, *(["all"] if n <= MOST_PES_OF_ALL else [])]
    environment = {
        **os.environ,
        "UCX_TLS": "tcp,self",
        "ATOLL_AGENT": str(agent),
        "ATOLL_PORT": str(PORT),
        "ATOLL_HEAP_SIZE": "16M",
        "ATOLL_INIT_TIMEOUT": str(options.timeout),
    }
    where = ",".join(f"n{i}:{pes}" for i in range(n_hosts))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        atoll = [str(options.build / "bin" / "atoll"), "run", "--hosts", where]
        program = [str(options.build / "bench" / "scaling"), name, *steps[1:]]
        started = time.monotonic()
        job = subprocess.Popen([*on_first(prefix), *atoll, *program], env=environment, start_new_session=True)
        rows = []
        try:
            for step in steps:
                marks = rested(folder, step, n, job, options.timeout)
                took = [ended - began for _, began, ended in marks]
                time.sleep(0.3)  # progress threads go to sleep
                row: dict[str, Any] = {"hosts": n_hosts, "pes_per_host": pes, "pes": n, "step": step}
                row |= {"seconds_mean": mean(took), "seconds_most": max(took)}
                row["seconds_since_start"] = max(ended for _, _, ended in marks) - started
                row |= observe([f"{prefix}{i}" for i in range(n_hosts)], [int(m[0]) for m in marks], job.pid)
                rows.append(row)
                (folder / f"after.{step}").touch()
            job.wait(options.timeout)
        finally:
            if job.poll() is None:
                job.terminate()
                job.wait(30)
        return rows


# The fits: step, quantity, unit, and the variables. n: PEs, p: PEs of a host, h: hosts, c: connections.
FITS = [
    ("init", "pe.anonymous_kib", "KiB", "n"),
    ("all", "pe.anonymous_kib", "KiB", "c"),
    ("init", "pe.shared_memory_kib", "KiB", "np"),
    ("init", "pe.address_space_kib", "KiB", "p"),
    ("init", "pe.store_requests", "", "nh"),
    ("init", "pe.store_bytes_sent", "B", "nh"),
    ("init", "pe.store_bytes_received", "B", "nh"),
    ("reduce", "pe.connections_to_pes_most", "", "nh"),
    ("init", "launcher.connections", "", "n"),
    ("init", "launcher.pss_kib", "KiB", "n"),
    ("init", "seconds_since_start", "s", "n"),
]


def fit(rows: list[dict[str, Any]], step: str, quantity: str, unit: str, by: str) -> dict[str, Any]:
    """Fit by least squares, over jobs of several hosts with several PEs each.

    A single PE on a host shares no libraries and would distort the fit.
    """
    chosen = [row for row in rows if row["step"] == step and row["hosts"] > 1 and row["pes_per_host"] > 1]
    values = {"n": "pes", "p": "pes_per_host", "h": "hosts", "c": "pe.connections_to_pes"}
    table = np.array([[1.0, *(row[values[name]] for name in by)] for row in chosen])
    measured = np.array([row[quantity] for row in chosen])
    factors, *_ = np.linalg.lstsq(table, measured, rcond=None)
    error = table @ factors - measured
    return {
        "step": step,
        "quantity": quantity,
        "unit": unit,
        "jobs": len(chosen),
        "constant": float(factors[0]),
        **{f"per_{name}": float(factor) for name, factor in zip(by, factors[1:], strict=True)},
        "rms_error": float(np.sqrt(np.mean(error**2))),
        "mean": float(np.mean(measured)),
    }


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw four quantities against the number of PEs, with one line for each number of hosts."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [
        ("pe.private_kib", "private memory of a PE, KiB"),
        ("pe.store_bytes_received", "bytes from the store, a PE"),
        ("pe.store_requests", "requests to the store, a PE"),
        ("seconds_since_start", "seconds until all PEs have started"),
    ]
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6), constrained_layout=True)
    for axis, (quantity, title) in zip(axes.flat, shown, strict=True):
        for n_hosts in sorted({row["hosts"] for row in rows}):
            of = sorted(
                (r["pes"], r[quantity]) for r in rows if r["hosts"] == n_hosts and r["step"] == "init"
            )
            axis.plot(*zip(*of, strict=True), marker="o", label=f"{n_hosts} host{'s' if n_hosts > 1 else ''}")
        axis.set(title=title, xlabel="PEs", ylim=(0, None))
    axes[0, 0].legend()
    figure.savefig(path, dpi=110)


def text_of(fitted: dict[str, Any]) -> str:
    """Return the fit as a formula."""
    terms = "".join(f" {fitted[key]:+.4g} {key[4:]}" for key in fitted if key.startswith("per_"))
    line = f"{fitted['step']:8} {fitted['quantity']:26} = {fitted['constant']:.4g}{terms} {fitted['unit']}"
    return f"{line:90} (rms {fitted['rms_error']:.3g}, mean {fitted['mean']:.4g})"


def main() -> None:
    """Measure, fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--shapes", nargs="*", help="HOSTSxPES, by default 1 to 4 hosts with up to 64 PEs each"
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a step")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes] if options.shapes else SHAPES
    prefix = f"as{os.getpid() % 100000}"
    where = machine()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name, hosts(prefix, max(h for h, _ in shapes)):
        agent = Path(name) / "agent"
        agent.write_text(AGENT.format(prefix=prefix))
        agent.chmod(0o755)
        for n_hosts, pes in shapes:
            try:
                of_job = run(options, prefix, agent, n_hosts, pes)
            except RuntimeError as error:
                print(f"{n_hosts} hosts of {pes} PEs: {error}", file=sys.stderr)
                continue
            rows += of_job
            for row in (of_job[0], of_job[-1]):
                print(
                    f"{n_hosts} x {pes:3} {row['step']:7} {row['seconds_since_start']:6.2f} s  PSS {row['pe.pss_kib']:7.0f}"
                    f"  private {row['pe.private_kib']:6.0f} KiB  to store {row['pe.store_requests']:5.1f} requests"
                    f" {row['pe.store_bytes_sent']:6.0f} B, from it {row['pe.store_bytes_received']:8.0f} B"
                    f"  connections {row['pe.connections_to_pes']:5.2f} (most {row['pe.connections_to_pes_most']:3})",
                    flush=True,
                )
    where["load_after"] = os.getloadavg()[0]
    fits = [fit(rows, *each) for each in FITS] if len({(r["hosts"], r["pes"]) for r in rows}) > 4 else []
    for each in fits:
        print(text_of(each))
    if options.figure:
        draw(rows, options.figure)
    if options.output:
        result = {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": where,
            "versions": {
                "ucx": first_line(output("ucx_info", "-v"))
                or "libucx0 " + output("dpkg-query", "-Wf${Version}", "libucx0")
            },
            "what": "atoll run --hosts, each host a network namespace, TCP, heaps of 16 MiB; means over PEs",
            "fits": fits,
            "rows": rows,
        }
        print(f"written: {schema.add('scaling', schema.convert('scaling', result), options.output)}")


if __name__ == "__main__":
    main()
