"""The test programs of one host, unchanged, over several hosts by UCX over TCP."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT, ROOT
from hosts import PATIENCE, Hosts

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
# The launcher tells what the PEs do before the test ends it.
LIMIT = str(PATIENCE - 60)
# Otherwise UCX would use shared memory across the namespaces, and the network would not be tested.
TCP = {"UCX_TLS": "tcp,self", "ATOLL_CHECK": "all"}


def programs(folder: str) -> list[str]:
    """The programs of tests/multi or tests/shmem, as folder/name."""
    here = ROOT / "tests" / folder
    names = [source.stem for source in [*here.glob("*.c"), *here.glob("*.cpp")]]
    if folder == "multi":
        suites = (here / "suites.txt").read_text().split()
        names += [Path(suite).stem.removesuffix("_test") for suite in suites]
    return sorted(f"{folder}/{name}" for name in names if not name.startswith("device_"))


pytestmark = pytest.mark.skipif(
    not (ROOT / "src/transport/ucx").exists(), reason="this tree has no transport between hosts"
)


def built(program: str) -> str:
    path = Path(BUILT / program)
    if not path.exists():
        pytest.skip(f"{path.relative_to(ROOT)} is not built: ninja -C build/release cluster_suite")
    return str(path)


def test_the_route(make_hosts: MakeHosts) -> None:
    """The precondition of the other tests here: only UCX connects the hosts."""
    hosts = make_hosts(2)
    environment = {"ATOLL_AGENT": hosts.agent(), **TCP}
    done = hosts.run(0, [ATOLL, "run", "--hosts", "n0:2,n1:1", ATOLL, "info", "--job"], environment)
    assert done.status == 0, done.text[-6000:]
    assert "PE 0 (host n0): ucx to PE 2, window to PE 1" in done.text, done.text
    assert "PE 2 (host n1): ucx to PE 0,1" in done.text, done.text


ON_FOUR_HOSTS = "n0:1,n1:2,n2:3,n3:1"


@pytest.mark.parametrize("places", ["n0:1,n1:1", "n0:2,n1:2", "n0:1,n1:3", ON_FOUR_HOSTS])
@pytest.mark.parametrize("program", programs("multi"))
def test_program(make_hosts: MakeHosts, program: str, places: str) -> None:
    counts = [int(place[-1]) for place in places.split(",")]
    hosts = make_hosts(len(counts))
    names = [name for name, count in zip("abcd", counts, strict=False) for _ in range(count)]
    started = hosts.start(
        0,
        [ATOLL, "run", "--timeout", LIMIT, "--hosts", places, built(program)],
        {"ATOLL_AGENT": hosts.agent(), **TCP, "ATOLL_TEST_HOSTS": ",".join(names)},
    )
    done = started.wait()
    assert done.status == 0, done.text[-6000:]


# `setup` calls init again after the last finalize. Over hosts a process joins only once, and gets an error.
@pytest.mark.parametrize("places", ["n0:2,n1:1", "n0:3,n1:3", ON_FOUR_HOSTS])
@pytest.mark.parametrize("program", [name for name in programs("shmem") if name != "shmem/setup"])
def test_openshmem(make_hosts: MakeHosts, program: str, places: str) -> None:
    hosts = make_hosts(places.count(":"))
    started = hosts.start(
        0,
        [ATOLL, "run", "--timeout", LIMIT, "--hosts", places, built(program)],
        {"ATOLL_AGENT": hosts.agent(), **TCP},
    )
    done = started.wait()
    assert done.status == 0, done.text[-6000:]


sys.path.append(str(ROOT / "tests/python"))
from jobs import EVERY_OPERATION  # noqa: E402


@pytest.mark.parametrize("places", ["n0:2,n1:1", ON_FOUR_HOSTS])
@pytest.mark.parametrize("program", EVERY_OPERATION)
def test_python(make_hosts: MakeHosts, program: str, places: str) -> None:
    hosts = make_hosts(places.count(":"))
    source = str(ROOT / f"tests/python/programs/{program}.py")
    started = hosts.start(
        0,
        [ATOLL, "run", "--timeout", LIMIT, "--hosts", places, sys.executable, source],
        {"ATOLL_AGENT": hosts.agent(), "ATOLL_TRANSPORT": "ucx", **TCP},
    )
    done = started.wait()
    assert done.status == 0 and "all checks passed" in done.text, done.text[-6000:]


@pytest.mark.parametrize("devices", [None, "eth0,net7"])
def test_devices_of_different_names(make_hosts: MakeHosts, devices: str | None) -> None:
    hosts = make_hosts(2)
    hosts.rename(1, "net7")
    environment = {"ATOLL_AGENT": hosts.agent(), **TCP, **({"UCX_NET_DEVICES": devices} if devices else {})}
    done = hosts.run(0, [ATOLL, "run", "--hosts", "n0:1,n1:1", built("multi/rma")], environment)
    assert done.status == 0, done.text[-6000:]


def test_a_device_that_only_others_have(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    hosts.rename(1, "net7")
    environment = {"ATOLL_AGENT": hosts.agent(), **TCP, "UCX_NET_DEVICES": "eth0"}
    done = hosts.run(0, [ATOLL, "run", "--hosts", "n0:1,n1:1", built("multi/rma")], environment)
    assert done.status != 0 and "there is no eth0. Network devices here:" in done.text, done.text
    assert "net7" in done.text, done.text


def test_all_connections_at_init(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    environment = {"ATOLL_AGENT": hosts.agent(), **TCP, "ATOLL_UCX_CONNECT": "all"}
    done = hosts.run(0, [ATOLL, "run", "--hosts", "n0:2,n1:2", built("multi/rma")], environment)
    assert done.status == 0, done.text[-6000:]


@pytest.mark.parametrize("program", ["multi/rma", "multi/signals"])
def test_a_network_that_loses_packets(make_hosts: MakeHosts, program: str) -> None:
    hosts = make_hosts(2)
    for host in (0, 1):
        hosts.lose(host, 1)
    environment = {"ATOLL_AGENT": hosts.agent(), **TCP}
    done = hosts.run(0, [ATOLL, "run", "--hosts", "n0:1,n1:1", built(program)], environment)
    assert done.status == 0, done.text[-6000:]


def test_a_slow_network(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    for host in (0, 1):
        hosts.limit(host, "200mbit")
    environment = {"ATOLL_AGENT": hosts.agent(), **TCP}
    done = hosts.run(0, [ATOLL, "run", "--hosts", "n0:1,n1:1", built("multi/signals")], environment)
    assert done.status == 0, done.text[-6000:]
