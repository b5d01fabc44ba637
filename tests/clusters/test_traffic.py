"""Traffic on a network, and its absence."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT
from hosts import Hosts

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
PROGRAM = str(Path(__file__).parent / "programs/traffic.py")
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("atoll") is None, reason="this Python has no atoll: scripts/install.sh"
)


def traced(make_hosts: MakeHosts, tmp_path: Path, places: list[str]) -> str:
    """The system calls of the launcher and all PEs on sockets and files."""
    if not shutil.which("strace"):
        pytest.skip("there is no strace; scripts/clusters.sh installs it")
    trace = tmp_path / "trace"
    hosts = make_hosts(2)
    calls = "trace=socket,bind,listen,connect,openat"
    command = ["strace", "-f", "-qq", "-e", calls, "-o", str(trace), ATOLL, "run", *places]
    done = hosts.run(
        0, [*command, sys.executable, PROGRAM], {"ATOLL_AGENT": hosts.agent(), "UCX_TLS": "tcp,self"}
    )
    assert done.status == 0, done.text
    return trace.read_text(errors="replace")


def test_a_job_on_one_host_has_no_traffic_and_no_ucx(make_hosts: MakeHosts, tmp_path: Path) -> None:
    """The launcher binds one port, which it keeps free for PyTorch's store (rank_variables.hpp)."""
    trace = traced(make_hosts, tmp_path, ["-n", "3"])
    assert "libatoll" in trace  # proves that the trace sees the program
    launcher = trace.split(maxsplit=1)[0]
    of_pes = "\n".join(line for line in trace.splitlines() if not line.startswith(f"{launcher} "))
    assert "libatoll" in of_pes
    assert not re.search(r"AF_INET|AF_NETLINK|AF_PACKET", of_pes), of_pes[-4000:]
    assert not re.search(r"AF_NETLINK|AF_PACKET|\blisten\(|connect\(.*AF_INET", trace), trace[-4000:]
    assert not re.search(r"libuc[pts]\.so|libpmix|libibverbs", trace)


def test_the_trace_would_show_traffic(make_hosts: MakeHosts, tmp_path: Path) -> None:
    """The same over two hosts: shows that the trace of the test before would find traffic."""
    trace = traced(make_hosts, tmp_path, ["--hosts", "n0:2,n1:1"])
    assert "AF_INET" in trace and "libucp.so" in trace


def test_pes_of_one_host_do_not_talk_by_tcp(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    port = 31013
    environment = {"ATOLL_AGENT": hosts.agent(), "ATOLL_PORT": str(port), "UCX_TLS": "tcp,self"}
    command = [ATOLL, "run", "--hosts", "n0:3,n1:2", sys.executable, PROGRAM]
    done = hosts.run(0, command, environment)
    assert done.status == 0, done.text
    lines = [line.split() for line in done.out.splitlines()]
    assert {line[0] for line in lines} == {"n0", "n1"}, done.text
    data = [(local, remote) for _, local, remote in lines if f":{port}" not in local + " " + remote]
    # The trace has UCX's connections between the hosts, and otherwise only those to the store.
    assert data, done.text
    for local, remote in data:
        assert local.split(":")[0] != remote.split(":")[0], done.text
