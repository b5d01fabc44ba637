"""`atoll run --hosts` with ssh itself, the default agent."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT
from hosts import PATIENCE, Hosts, Started
from ssh import start_servers, why_not

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class Cluster:
    def __init__(self, hosts: Hosts, folder: Path) -> None:
        self.hosts = hosts
        self._environment = start_servers(hosts, folder)

    def start(self, *arguments: str) -> Started:
        return self.hosts.start(0, [ATOLL, "run", *arguments], self._environment)


@pytest.fixture
def cluster(make_hosts: MakeHosts, tmp_path: Path) -> Cluster:
    return Cluster(make_hosts(3), tmp_path / "ssh")


def test_jobs(cluster: Cluster, pe: str) -> None:
    done = cluster.start("--hosts", "n0:2,n1:1,n2:1", pe).wait()
    assert done.status == 0 and "ok: 4 PEs on 3 hosts by launcher over hosts" in done.out, done.text
    odd = "two  words; $HOME 'quoted' \"twice\" \\ *"
    script = 'printf "%s|%s|%s|" "$1" "$GIVEN" "$(hostname)"; pwd'
    done = cluster.start("--hosts", "n1", "--env", f"GIVEN={odd}", "sh", "-c", script, "-", odd).wait()
    assert done.status == 0 and done.out == f"{odd}|{odd}|n1|{Path.cwd()}\n", done.text
    done = cluster.start("--hosts", "n0:1,n1:1", pe, "die", "1").wait()
    assert done.status == 128 + signal.SIGKILL, done.text
    assert re.search(r"PE 1 was killed by SIGKILL \S+ s after the start", done.err), done.text
    done = cluster.start("--hosts", "n0:1,10.77.0.99:1", "--timeout", "20", pe).wait()
    assert done.status == 255 and "host 10.77.0.99 (PE 1)" in done.err, done.text


def test_a_vanished_host(cluster: Cluster, pe: str) -> None:
    """Its ssh hangs too; the launcher does not wait for it."""
    started = cluster.start("--hosts", "n0:1,n1:2,n2:1", pe, "wait")
    started.wait_for("started")
    cluster.hosts.cut(1)
    done = started.wait()
    expected = r"atoll run: Host n1 \(PE 1,2\) does not answer within 3 s .*\(\S+ s after the start\)"
    assert done.status == 1 and re.search(expected, done.err), done.text


def test_traces(cluster: Cluster, pe: str, tmp_path: Path) -> None:
    trace = str(tmp_path / "out.pftrace")
    done = cluster.start("--trace", trace, "--hosts", "n0:1,n1:2", pe).wait()
    assert done.status == 0 and done.err == "", done.text
    report = subprocess.run([ATOLL, "report", trace], capture_output=True, text=True, check=True).stdout
    assert report.startswith("3 PEs, ") and "\n2 hosts, whose clocks agree within " in report
    # PEs that take no SIGTERM: the launcher ends their agents' ssh before they have ended.
    command = ["sh", "-c", f"trap '' TERM; {pe} wait; while :; do sleep 1; done"]
    seconds = 3
    while True:  # on a busy machine ssh and the PEs may need longer to come so far
        limit = ("--timeout", str(seconds))
        done = cluster.start(*limit, "--trace", trace, "--hosts", "n0:1,n1:1", *command).wait()
        if "started" in done.out or seconds > PATIENCE / 4:
            break
        seconds *= 2
    assert done.status == 124 and "lacks events" not in done.err, done.text
    report = subprocess.run([ATOLL, "report", trace], capture_output=True, text=True, check=True).stdout
    assert report.startswith("2 PEs, "), report


@pytest.mark.parametrize("traces", [False, True])
def test_a_launcher_that_dies(cluster: Cluster, pe: str, tmp_path: Path, traces: bool) -> None:
    pe = shutil.copy(pe, str(tmp_path / "pe_that_stays"))  # other tests run the program meanwhile
    options = ["--trace", str(tmp_path / "out.pftrace")] if traces else []
    started = cluster.start("--hosts", "n0:1,n1:2", *options, pe, "wait")
    started.wait_for("started")
    os.kill(started.process.pid, signal.SIGKILL)
    started.process.wait(PATIENCE)
    end = time.monotonic() + PATIENCE
    while left := [path for path in Path("/proc").glob("[0-9]*/cmdline") if is_ours(path, pe)]:
        assert time.monotonic() < end, left
        time.sleep(0.1)


def is_ours(cmdline: Path, program: str) -> bool:
    try:
        return cmdline.read_bytes().split(b"\0")[0] == program.encode()
    except OSError:  # it has ended meanwhile
        return False
