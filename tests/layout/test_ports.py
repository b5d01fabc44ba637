"""The ports of kernel operations to Python (atoll.numba, triton, cute): one set of files, and what they share."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PORTS = ("numba", "triton", "cute")
OWN = {"triton": {"inductor.py"}}
"""Files that one port has beside the common ones. The module atoll.triton.inductor is a public name."""
MOST_LINES = 10_000


def tracked(port: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", f"python/atoll/{port}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    there = [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]
    return [file.relative_to(ROOT / "python/atoll" / port) for file in there]


def of_all_ports(port: str) -> set[str]:
    """Return the names of a port's files that all ports should have."""
    return {file.name for file in tracked(port) if len(file.parts) == 1} - OWN.get(port, set())


@pytest.mark.parametrize("port", PORTS)
def test_ports_have_one_set_of_files(port: str) -> None:
    """A group of operations has a file of the same name in each port. Operations of only one DSL are in _dsl."""
    differing = of_all_ports(port) ^ of_all_ports("numba")
    assert differing == set(), f"move to _dsl, or add to each of {PORTS}: {sorted(differing)}"
    assert {file.parts[0] for file in tracked(port) if len(file.parts) > 1} == {"_dsl"}


def test_ports_are_short() -> None:
    lines = {
        port: sum(
            len((ROOT / "python/atoll" / port / file).read_text().splitlines()) for file in tracked(port)
        )
        for port in PORTS
    }
    assert sum(lines.values()) <= MOST_LINES, f"{lines}; share code in python/atoll/_kernels"


def test_shared_operations_are_those_of_several_ports() -> None:
    for body in sorted((ROOT / "python/atoll/_kernels/bodies").glob("_[a-z]*.py")):
        users = [
            port for port in PORTS
            if re.search(rf"_kernels\.bodies import {body.stem}\n", (ROOT / "python/atoll" / port / body.name).read_text())
        ]  # fmt: skip
        assert len(users) >= 2, f"{body.name} is used by {users}; move it into that port"
