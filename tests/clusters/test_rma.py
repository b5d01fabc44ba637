"""UCX's own puts and gets between hosts. Over TCP, UCX sends messages; shared memory works across namespaces of one
machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT, ROOT
from hosts import PATIENCE, Hosts

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
NETWORKS = ["tcp,self", "posix,cma,self"]
PROGRAMS = ["rma", "signals", "order", "contexts", "heap", "stress", "ucx"]

pytestmark = pytest.mark.skipif(
    not (ROOT / "src/transport/ucx").exists(), reason="this tree has no transport between hosts"
)


def built(program: str) -> str:
    path = Path(BUILT / program)
    if not path.exists():
        pytest.skip(f"{path.relative_to(ROOT)} is not built: ninja -C build/release cluster_suite")
    return str(path)


def newer_ucx() -> str:
    """PyPI's UCX, whose puts over shared memory are remote accesses rather than messages."""
    package = next(iter(sorted(ROOT.glob("build/clusters/ucx/libucx/lib/libucp.so.0"))), None)
    if package is None:
        pytest.skip("there is no second UCX in build/clusters/ucx; scripts/clusters.sh installs it")
    return str(package)


@pytest.mark.parametrize("networks", NETWORKS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(make_hosts: MakeHosts, program: str, networks: str) -> None:
    hosts = make_hosts(2)
    environment = {
        "ATOLL_AGENT": hosts.agent(),
        "ATOLL_CHECK": "all",
        "ATOLL_UCX_RMA": "on",
        "ATOLL_UCX_RMA_BYTES": "1",
        "UCX_TLS": networks,
    }
    command = [ATOLL, "run", "--timeout", "100", "--hosts", "n0:2,n1:1", built(f"multi/{program}")]
    done = hosts.start(0, command, environment).wait()
    assert done.status == 0, done.text[-6000:]


def test_a_target_that_computes_is_not_needed(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    environment = {
        "ATOLL_AGENT": hosts.agent(),
        "ATOLL_TRANSPORT": "ucx",  # the program reads it, too
        "ATOLL_UCX_LIBRARY": newer_ucx(),
        "ATOLL_UCX_PROGRESS": "none",
        "UCX_TLS": "posix,cma,self",
    }
    program = [built("multi/ucx"), "--gtest_filter=*LargeOperations*"]
    done = hosts.run(0, [ATOLL, "run", "--hosts", "n0:1,n1:1", *program], environment)
    assert done.status == 0, done.text[-6000:]
    assert "OK ] UcxJob.LargeOperationsNeedNothingOfATargetThatComputes" in done.text, done.text


def test_the_transport_by_another_ucx() -> None:
    """The conformance suite, with another UCX than the system's."""
    done = subprocess.run(
        [built("bin/transport_tests"), "--gtest_filter=*Ucx*"],
        env={**os.environ, "ATOLL_UCX_LIBRARY": newer_ucx()},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "SKIPPED" not in done.stdout, done.stdout[-2000:]
