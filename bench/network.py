"""Atoll and Open MPI's OSHMEM between two hosts, by TCP and the same UCX, in one run: each host a network
namespace.

It needs root (for the namespaces), Debian's openmpi-bin and `bench/peers/build.sh c`. Both sides run
bench/peers/network.c in turn. If Debian's ucx-utils is installed, ucx_perftest measures UCX's own round trip.
The result has medians and tenth percentiles of batches: on a busy machine the latter show the cost of the
code.
"""

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import schema
from machine import first_line, machine, output

ROOT = Path(__file__).resolve().parents[1]
PEER = ROOT / "build" / "peers" / "network"
# Upper limits of our time as a fraction of the peer's. A bandwidth has the inverse, since times are compared.
AIMS = {
    "put_quiet": 0.8,
    "get": 0.9,
    "fetch_add": 0.9,
    "signal_one_way": 0.7,
    "barrier": 1.0,
    "barrier_of_4": 1.0,
    "put_bytes": 1 / 1.2,
    "get_bytes": 1 / 1.2,
}
OPEN_MPI = [
    "mpirun",
    "--allow-run-as-root",
    "--oversubscribe",
    "--bind-to",
    "none",
    "--mca",
    "btl_tcp_if_include",
    "eth0",
    "--mca",
    "oob_tcp_if_include",
    "eth0",
    "--mca",
    "opal_common_ucx_tls",
    "any",
    "--mca",
    "opal_common_ucx_devices",
    "any",
    "--mca",
    "osc",
    "^rdma",
    "--mca",
    "opal_common_ucx_opal_mem_hooks",
    "0",
    "-x",
    "UCX_TLS",
]
NAMES = "n0,n1,n2,n3"
# If PEs outnumber cores, Open MPI takes milliseconds unless it is told to yield.
GIVING_WAY = ["--mca", "mpi_yield_when_idle", "1"]
AGENT = """#!/bin/bash
while [[ $1 == -* ]]; do shift; done
host=$1; shift
exec ip netns exec {prefix}${{host#n}} unshare -u sh -c "hostname $host; $*"
"""
PE = """#!/bin/bash
pe=$(echo "$ATOLL_LAUNCHED" | cut -d: -f2)
exec ip netns exec {prefix}$pe unshare -u sh -c 'hostname n'$pe'; exec "$@"' sh "$@"
"""


def ip(*arguments: str) -> None:
    """Run one command of iproute2."""
    subprocess.run(["ip", *arguments], check=True)


@contextmanager
def hosts(prefix: str, n: int) -> Iterator[None]:
    """Make namespaces PREFIX0, PREFIX1, ... with addresses 10.79.0.1, ... on a separate bridge."""
    switch = f"{prefix}s"
    made = [switch]
    try:
        ip("netns", "add", switch)
        ip("-n", switch, "link", "add", "bridge0", "type", "bridge")
        ip("-n", switch, "link", "set", "bridge0", "up")
        for i in range(n):
            host = f"{prefix}{i}"
            ip("netns", "add", host)
            made.append(host)
            ip("link", "add", "eth0", "netns", host, "type", "veth", "peer", "name", f"p{i}", "netns", switch)
            ip("-n", switch, "link", "set", f"p{i}", "master", "bridge0", "up")
            ip("-n", host, "addr", "add", f"10.79.0.{i + 1}/24", "dev", "eth0")
            ip("-n", host, "link", "set", "eth0", "up")
            ip("-n", host, "link", "set", "lo", "up")
        yield
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)


def run(
    command: list[str], environment: dict[str, str], names: list[str], quick: bool
) -> list[dict[str, Any]]:
    """Return the rows of one run. After a failure there are no rows, and standard error has a line."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as rows:
        options = ["--json", rows.name, *(["--quick"] if quick else []), *names]
        done = subprocess.run(
            [*command, *options],
            env={**os.environ, "UCX_TLS": "tcp,self", **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode != 0:
            print(f"failed ({done.returncode}): {' '.join(command)}\n{done.stderr[-2000:]}", file=sys.stderr)
        return [json.loads(line) for line in rows]


def on_first(prefix: str) -> list[str]:
    """Return the prefix of a command that runs on host n0."""
    return ["ip", "netns", "exec", f"{prefix}0", "unshare", "-u", "sh", "-c", 'hostname n0; exec "$@"', "sh"]


def ucx_alone(prefix: str) -> float | None:
    """Return the round trip of 8 bytes by UCX's own program, as active messages, in microseconds; None: not
    installed.
    """
    program = shutil.which("ucx_perftest")
    if program is None:
        return None
    command = [program, "-t", "ucp_am_lat", "-s", "8", "-n", "60000", "-f"]
    environment = {**os.environ, "UCX_TLS": "tcp,self"}
    with subprocess.Popen(
        ["ip", "netns", "exec", f"{prefix}0", *command], env=environment, stdout=subprocess.DEVNULL
    ) as server:
        try:
            time.sleep(0.5)  # the server does not report when it begins to listen
            done = subprocess.run(
                ["ip", "netns", "exec", f"{prefix}1", *command, "10.79.0.1"],
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        finally:
            server.kill()
    lines = done.stdout.split("\n")
    found = [line.split() for line in lines if line.strip() and line.split()[0].isdigit()]
    return 2 * float(found[-1][1]) if found else None


def value(rows: list[dict[str, Any]], side: str, op: tuple[str, int], statistic: str) -> float | None:
    """Return the median over rounds, in microseconds."""
    found = [row[statistic] for row in rows if row["side"] == side and (row["op"], row["bytes"]) == op]
    return median(found) / 1000 if found else None


def rows_alone(alone: list[float]) -> list[dict[str, Any]]:
    """Return rows with the times of UCX's program, one per round."""
    row = {"side": "ucx", "op": "ucx_perftest ucp_am_lat, there and back", "bytes": 8, "pes": 2, "unit": "us"}
    return [{**row, "median": us, "round": number} for number, us in enumerate(alone)]


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--output", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    prefix = f"ab{os.getpid() % 100000}"
    atoll = options.build / "bin" / "atoll"
    settings = {"ATOLL_TRANSPORT": "ucx"}
    by_hosts = "ATOLL_HOST_ID" in output(atoll, "info", "--json")
    if by_hosts:  # otherwise both share a window, through which barriers go
        settings["ATOLL_HOST_ID"] = NAMES
    where = machine()
    rows: list[dict[str, Any]] = []
    alone: list[float] = []
    with tempfile.TemporaryDirectory() as folder, hosts(prefix, 4):
        scripts = {name: Path(folder) / name for name in ("agent", "pe")}
        for name, text in (("agent", AGENT), ("pe", PE)):
            scripts[name].write_text(text.format(prefix=prefix))
            scripts[name].chmod(0o755)
        agent = ["--mca", "plm_rsh_agent", str(scripts["agent"])]

        def ours(n: int) -> list[str]:
            command = [str(scripts["pe"]), str(options.build / "bench" / "network")]
            return [str(atoll), "run", "-n", str(n), *command]

        def mpirun(n: int) -> list[str]:
            more = GIVING_WAY if n > (where["cores"] or 1) else []
            return [
                *on_first(prefix),
                *OPEN_MPI,
                *more,
                *agent,
                "-n",
                str(n),
                "--host",
                NAMES[: 3 * n - 1],
                str(PEER),
            ]

        for number in range(1 if options.quick else options.rounds):
            if (bare := ucx_alone(prefix)) is not None:
                alone.append(bare)
            for side, command, environment in (
                ("atoll", ours, settings),
                ("atoll without thread", ours, {**settings, "ATOLL_UCX_PROGRESS": "none"}),
                ("openmpi", mpirun, {}),
            ):
                of_two = run(command(2), environment, options.names, options.quick)
                of_four = run(command(4), environment, ["barrier"], options.quick)
                for row in [*of_two, *({**row, "op": "barrier_of_4"} for row in of_four)]:
                    if by_hosts or side == "openmpi" or not row["op"].startswith("barrier"):
                        rows.append({**row, "side": side, "round": number})
    where["load_after"] = os.getloadavg()[0]

    print(
        f"{'':22} {'bytes':>8} {'Atoll':>9} {'no thread':>9} {'Open MPI':>9} µs   ratio (of tenth percentiles)   aim"
    )
    for op in dict.fromkeys((row["op"], row["bytes"]) for row in rows):
        line: dict[str, Any] = {"op": op[0], "bytes": op[1], "aim": AIMS.get(op[0])}
        for statistic in ("median", "p10"):
            for side in ("atoll", "atoll without thread", "openmpi"):
                line[f"{side} {statistic} us"] = value(rows, side, op, statistic)
            mine, peer = line[f"atoll {statistic} us"], line[f"openmpi {statistic} us"]
            line[f"ratio {statistic}"] = mine / peer if mine and peer else None
        cells = [line[f"{side} median us"] for side in ("atoll", "atoll without thread", "openmpi")]
        ratios = [line[f"ratio {statistic}"] for statistic in ("median", "p10")]
        print(
            f"{op[0]:22} {op[1]:8} "
            + " ".join(f"{cell:9.2f}" if cell else f"{'-':>9}" for cell in cells)
            + "      "
            + " ".join(f"{ratio:6.2f}" if ratio else f"{'-':>6}" for ratio in ratios)
            + (f"    {line['aim']:.2f}" if line["aim"] else "")
        )
    if alone:
        print(f"UCX's own 8 bytes there and back (ucx_perftest): {median(alone):.2f} µs")
    if options.output:
        result = {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": where,
            "versions": {
                "ucx": first_line(output("ucx_info", "-v"))
                or "libucx0 " + output("dpkg-query", "-Wf${Version}", "libucx0"),
                "openmpi": first_line(output("mpirun", "--version")),
            },
            "what": "2 PEs in 2 network namespaces (barrier_of_4: 4 in 4), veth and a bridge, TCP; "
            "UCX_TLS=tcp,self on both sides",
            "barriers": "by the transport" if by_hosts else "Atoll's go by shared memory here: not measured",
            "rows": rows + rows_alone(alone),
        }
        print(f"written: {schema.add('network', schema.convert('network', result), options.output)}")


if __name__ == "__main__":
    main()
