"""Programs of examples/ over hosts give the same results as on one."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT, ROOT
from hosts import Hosts

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
TERRAIN = ROOT / "examples/09_terrain/terrain.py"


@pytest.mark.skipif(
    not (importlib.util.find_spec("atoll") and importlib.util.find_spec("matplotlib")),
    reason="this Python has no atoll or no matplotlib: scripts/install.sh",
)
def test_terrain_draws_the_same_picture(make_hosts: MakeHosts, tmp_path: Path) -> None:
    """Two hosts of two PEs, and four PEs of one host: the files are equal, byte for byte."""
    hosts = make_hosts(2)
    environment = {"ATOLL_AGENT": hosts.agent(), "UCX_TLS": "tcp,self", "MPLCONFIGDIR": str(tmp_path)}
    said = []
    for name, places in (("one", ["-n", "4"]), ("two", ["--hosts", "n0:2,n1:2"])):
        program = [sys.executable, str(TERRAIN), "--quiet", "--open", "--rain", "200", "--steps", "150"]
        command = [ATOLL, "run", *places, *program, "--output", str(tmp_path / f"{name}.png")]
        done = hosts.run(0, command, environment)
        assert done.status == 0, done.text
        said += [line for line in done.out.splitlines() if line.startswith(("water: ", "depths: "))]
    assert len(said) == 4 and said[:2] == said[2:], said
    one, two = ((tmp_path / f"{name}.png").read_bytes() for name in ("one", "two"))
    assert one.startswith(b"\x89PNG") and len(one) > 100_000 and one == two
