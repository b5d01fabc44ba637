"""Groups of PyTorch over two hosts by the backend atoll, with PyTorch's variables and no launcher of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from hosts import Hosts

PYTHON = ROOT / "build/torch/bin/python"
PROGRAMS = Path(__file__).parent / "programs"
MakeHosts = Callable[[int], Hosts]
# UCX's other transports would take the hosts for one machine.
NETWORK = {"UCX_TLS": "tcp,self", "GLOO_SOCKET_IFNAME": "eth0"}

pytestmark = pytest.mark.skipif(
    not PYTHON.parents[1].joinpath("packages").exists(),
    reason="no build/torch; scripts/setup.sh torch makes it",
)


def test_groups(make_hosts: MakeHosts, forks: str) -> None:
    """Two ranks on one host, and one on the other."""
    started = make_hosts(2).torchrun([0, 0, 1], [forks, str(PROGRAMS / "torch_groups.py")], NETWORK)
    for done in [each.wait() for each in started]:
        assert done.status == 0 and "ok" in done.out, done.text


def test_large_data(make_hosts: MakeHosts, forks: str) -> None:
    """Two ranks on each host, of which one dies in the middle of a sum."""
    started = make_hosts(2).torchrun([0, 0, 1, 1], [forks, str(PROGRAMS / "torch_large.py")], NETWORK)
    for done in [each.wait() for each in started]:
        assert done.status == 0 and "ok" in done.out, done.text
