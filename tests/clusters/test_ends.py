"""A PE that is killed, a slow one, and a vanishing host, while other PEs are in calls over UCX.

Jobs end by an error that names the lost PE or host, or continue correctly. (test_store.py and test_run.py test the
same for jobs that are still starting.)
"""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT
from hosts import Hosts, Started

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
PROGRAM = [sys.executable, str(Path(__file__).parent / "programs/ends.py")]
TCP = {"UCX_TLS": "tcp,self", "ATOLL_SECRET": "ours"}
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("atoll") is None, reason="this Python has no atoll: scripts/install.sh"
)


def wait_for_all(started: list[Started], victim: int) -> None:
    for pe, each in enumerate(started):
        if pe != victim:
            each.wait_for("begun")


@pytest.mark.parametrize("what", ["barrier", "reduce", "put", "get", "fetch", "wait", "compute"])
def test_a_killed_pe_is_named(make_hosts: MakeHosts, what: str) -> None:
    hosts = make_hosts(2)
    command = [ATOLL, "run", "--hosts", "n0:2,n1:2", *PROGRAM, what, "2", "kill"]
    done = hosts.run(0, command, {"ATOLL_AGENT": hosts.agent(), **TCP})
    assert done.status == 128 + signal.SIGKILL and "right" not in done.out, done.text
    assert re.search(r"PE 2 (\(process \d+.*\) died|was killed by SIGKILL)", done.err), done.text
    assert hosts.empty_within()


@pytest.mark.parametrize("victim", [0, 3])
@pytest.mark.parametrize("what", ["barrier", "get", "compute"])
def test_a_killed_pe_is_named_without_a_launcher(make_hosts: MakeHosts, what: str, victim: int) -> None:
    started = make_hosts(2).torchrun([0, 0, 1, 1], [*PROGRAM, what, str(victim), "kill"], TCP)
    done = [each.wait() for each in started]
    for pe, each in enumerate(done):
        assert each.status not in (0, 124) and "right" not in each.out, each.text
        assert pe == victim or re.search(rf"PE {victim} (\(process \d+.*\) )?died", each.err), each.text


@pytest.mark.parametrize("what", ["barrier", "put", "get", "compute"])
def test_a_vanished_host_is_named(make_hosts: MakeHosts, what: str) -> None:
    hosts = make_hosts(3)
    started = hosts.torchrun([0, 0, 1, 1, 2], [*PROGRAM, what, "2", "none"], TCP)
    wait_for_all(started, 2)
    hosts.cut(1)
    done = [each.wait() for each in started]
    for pe, each in enumerate(done):
        assert each.status not in (0, 124) and "right" not in each.out, each.text
        gone = "PE 0's host" if pe in (2, 3) else r"Host n1 \(PE 2,3\)"
        assert re.search(f"{gone} does not answer", each.err), each.text


@pytest.mark.parametrize("what", ["barrier", "put", "get", "fetch"])
def test_a_slow_pe_is_waited_for(make_hosts: MakeHosts, what: str) -> None:
    """Stopped for longer than a host may be silent: a slow PE is not dead."""
    hosts = make_hosts(2)
    environment = {**TCP, "ATOLL_PEER_TIMEOUT": "2"}
    started = hosts.torchrun([0, 0, 1], [*PROGRAM, what, "2", "stop", "100"], environment)
    wait_for_all(started, 2)
    started[2].wait_until_stopped()
    time.sleep(5)
    assert all(each.process.poll() is None for each in started), [each.wait(1).text for each in started]
    os.killpg(started[2].process.pid, signal.SIGCONT)
    done = [each.wait() for each in started]
    assert all(each.status == 0 and "right" in each.out for each in done), [each.text for each in done]
