"""Runs the benchmark programs of either side and collects their rows."""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "build" / "peers"
CORES = len(os.sched_getaffinity(0))

# The settings with which Open MPI runs best, found with Debian 12's 4.1.4. Without the first one every
# program crashes in shmem_finalize. UCX is the only transport of its OSHMEM and uses shared memory by itself.
# Its best collectives and binding depend on the operation and the number of PEs, so each row has the peer's
# best variant.
OSHRUN = ["oshrun", "--allow-run-as-root", "--oversubscribe", "--mca", "opal_common_ucx_opal_mem_hooks", "0"]
UNBOUND = ["--bind-to", "none"]
OWN_COLLECTIVES = ["--mca", "scoll_mpi_enable", "0"]  # OSHMEM's own ("basic") instead of MPI's
YIELD = ["--mca", "mpi_yield_when_idle", "1"]
VARIANTS = {
    "default": [],
    "unbound": UNBOUND,
    "basic": OWN_COLLECTIVES,
    "basic unbound": OWN_COLLECTIVES + UNBOUND,
}
CROWDED_VARIANTS = {
    "unbound yield": UNBOUND + YIELD,
    "basic": OWN_COLLECTIVES,
    "basic unbound yield": OWN_COLLECTIVES + UNBOUND + YIELD,
}


def variants(n_pes: int) -> dict[str, list[str]]:
    """Return the variants in which Open MPI is run at a number of PEs."""
    return CROWDED_VARIANTS if n_pes > CORES else VARIANTS


Row = dict[str, Any]


@dataclass
class Runner:
    """Starts programs, each with a time limit, and keeps every row that they report."""

    build: Path
    python: Path
    quick: bool = False
    bind: str = "none"  # ours; the launcher's own default
    timeout_s: float = 120
    rows: list[Row] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def atoll(self, n_pes: int, *program: str | Path) -> list[str]:
        """Return a command that runs a program under our launcher."""
        return [
            str(self.build / "bin" / "atoll"),
            "run",
            "--bind",
            self.bind,
            "-n",
            str(n_pes),
            *map(str, program),
        ]

    def oshrun(self, n_pes: int, settings: list[str], *program: str | Path) -> list[str]:
        """Return a command that runs a program under Open MPI's launcher."""
        size = [] if n_pes <= 4 else ["-x", "SHMEM_SYMMETRIC_SIZE=16M"]
        return [*OSHRUN, *settings, *size, "-n", str(n_pes), *map(str, program)]

    def execute(self, command: list[str], name: str, **environment: str) -> float | None:
        """Return the seconds that the command took. If it failed, return None and add a line to `failures`."""
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            _, errors = process.communicate(timeout=self.timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
            errors = f"no end after {self.timeout_s:.0f} s"
        else:
            if process.returncode == 0:
                return time.monotonic() - start
        said = [line for line in errors.splitlines() if line.strip(" -")]
        self.failures.append(f"{name}: {said[0][:300] if said else f'status {process.returncode}'}")
        print(f"  failed: {self.failures[-1]}", file=sys.stderr)
        return None

    def collect(self, command: list[str], names: list[str], tags: Row, **environment: str) -> None:
        """Run a program that reports rows, and keep them with `tags` added."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.jsonl"
            options = ["--json", str(file)] + (["--quick"] if self.quick else [])
            label = ", ".join(f"{key} {value}" for key, value in tags.items())
            self.execute(command + options + names, label, **environment)
            lines = file.read_text().splitlines() if file.exists() else []
        self.rows += [json.loads(line) | tags for line in lines]

    def spawn(self, command: list[str], op: str, side: str, n_pes: int, times: int, **tags: Any) -> None:
        """Time a short command, `times` times, and keep one row in nanoseconds."""
        taken = [
            t * 1e9 for _ in range(times) if (t := self.execute(command, f"{side} {op} {n_pes}")) is not None
        ]
        if not taken:
            return
        row = {"side": side, "op": op, "bytes": 0, "pes": n_pes, "unit": "ns"}
        self.rows.append(row | {"median": statistics.median(taken), "batches": taken} | tags)

    def have(self, name: str) -> bool:
        """Return whether one of the peers' programs is built and can be started."""
        program = PEERS / name
        return program.exists() and shutil.which("oshrun") is not None
