"""The machine and the versions of a comparison, which every result needs."""

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any


def output(*command: str | Path) -> str:
    """Return a command's output, or "" if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def first_line(text: str) -> str | None:
    """Return the first line of an answer, or `None` without one."""
    return text.splitlines()[0] if text else None


def machine() -> dict[str, Any]:
    """Return the processor, its cores, caches and memory, the kernel, and the load."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^(?:model name|CPU part)\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
    identity = [
        re.search(rf"^{name}\s*:\s*(\d+)$", cpuinfo, re.MULTILINE)
        for name in ("cpu family", "model", "stepping")
    ]
    memory = re.search(r"MemTotal:\s*(\d+) kB", Path("/proc/meminfo").read_text())
    return {
        "host": platform.node(),
        "cpu": model[1].strip() if model else platform.processor(),
        "cpu_family_model_stepping": [int(found[1]) for found in identity if found],
        "cores": len(os.sched_getaffinity(0)),
        "architecture": platform.machine(),
        "memory_gib": round(int(memory[1]) / 2**20, 1) if memory else None,
        "kernel": platform.release(),
        "load_before": os.getloadavg()[0],
    }


def versions(launcher: Path, python: Path, peer_python: Path) -> dict[str, str | None]:
    """Return the version of everything that takes part."""
    numpy = "import numpy; print(numpy.__version__)"
    return {
        "atoll": first_line(output(launcher, "--version")),
        "commit": first_line(output("git", "describe", "--always", "--dirty")),
        "compiler": first_line(output(os.environ.get("CXX", "c++"), "--version")),
        "peer_compiler": first_line(output("oshcc", "--version")),
        "openmpi": first_line(output("ompi_info", "--version")),
        "ucx": first_line(output("dpkg-query", "-W", "-f=${Version}", "libucx0")),
        "libc": " ".join(platform.libc_ver()),
        "python": first_line(output(python, "--version")),
        "numpy": first_line(output(python, "-c", numpy)),
        "shmem4py": first_line(output(peer_python, "-c", "import shmem4py; print(shmem4py.__version__)")),
        "peer_numpy": first_line(output(peer_python, "-c", numpy)),
    }
