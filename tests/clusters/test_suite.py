"""The host tests of one host over several, by UCX over TCP: the same programs, unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT, ROOT
from hosts import Hosts

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
# Else shared memory reaches across namespaces, and nothing is tested.
TCP = {"UCX_TLS": "tcp,self", "ATOLL_CHECK": "all"}
# Not yet over hosts: what `teams` expects of addresses, and one test of `rma`.
PROGRAMS = sorted(
    path.stem
    for path in (ROOT / "tests/multi").glob("*.cpp")
    if path.stem != "teams" and not path.stem.startswith("device_")
)
FILTER = {"rma": ["--gtest_filter=-*BadAddressesAreNamed*"]}

pytestmark = pytest.mark.skipif(
    not (ROOT / "src/transport/ucx").exists(), reason="this tree has no transport between hosts"
)


def built(program: str) -> str:
    path = Path(BUILT / "multi" / program)
    if not path.exists():
        pytest.skip(f"{path.relative_to(ROOT)} is not built: ninja -C build/release cluster_suite")
    return str(path)


@pytest.mark.parametrize("places", ["n0:1,n1:1", "n0:2,n1:2", "n0:1,n1:3"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(make_hosts: MakeHosts, program: str, places: str) -> None:
    hosts = make_hosts(2)
    started = hosts.start(
        0,
        [ATOLL, "run", "--timeout", "100", "--hosts", places, built(program), *FILTER.get(program, [])],
        {"ATOLL_AGENT": hosts.agent(), **TCP},
    )
    done = started.wait(120)
    assert done.status == 0, done.text[-6000:]


@pytest.mark.parametrize("program", ["rma", "signals"])
def test_a_network_that_loses_packets(make_hosts: MakeHosts, program: str) -> None:
    hosts = make_hosts(2)
    for host in (0, 1):
        hosts.lose(host, 1)
    environment = {"ATOLL_AGENT": hosts.agent(), **TCP}
    done = hosts.run(
        0, [ATOLL, "run", "--hosts", "n0:1,n1:1", built(program), *FILTER.get(program, [])], environment, 120
    )
    assert done.status == 0, done.text[-6000:]


def test_a_slow_network(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    for host in (0, 1):
        hosts.limit(host, "200mbit")
    environment = {"ATOLL_AGENT": hosts.agent(), **TCP}
    done = hosts.run(0, [ATOLL, "run", "--hosts", "n0:1,n1:1", built("signals")], environment, 120)
    assert done.status == 0, done.text[-6000:]


def test_four_hosts(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(4)
    environment = {"ATOLL_AGENT": hosts.agent(), **TCP}
    places = "n0:1,n1:2,n2:3,n3:1"
    done = hosts.run(0, [ATOLL, "run", "--hosts", places, built("signals")], environment, 120)
    assert done.status == 0, done.text[-6000:]
