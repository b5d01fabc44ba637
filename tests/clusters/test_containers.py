"""Containers, simulated by their namespaces: which of them share memory, and their requirements for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import BUILT
from hosts import Done, Hosts

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
# The namespaces that Docker and Podman create for a container, except the network's; Apptainer keeps most of
# them.
BOX = ["unshare", "--fork", "--pid", "--mount-proc", "--ipc", "--uts", "--mount"]
SMALL = 'hostname "$0"; mount -t tmpfs -o size=64k tmpfs /dev/shm; exec "$@"'


def box(name: str, *command: str) -> list[str]:
    return [*BOX, "sh", "-c", SMALL, name, *command]


def start(hosts: Hosts, *commands: list[str]) -> list[Done]:
    started = []
    for rank, command in enumerate(commands):
        place = {"MASTER_ADDR": hosts.address(0), "MASTER_PORT": "29500", "ATOLL_SECRET": "ours"}
        number = {"RANK": str(rank), "WORLD_SIZE": str(len(commands)), "ATOLL_INIT_TIMEOUT": "8"}
        environment = {**place, **number, "UCX_TLS": "tcp,self"}
        started.append(hosts.start(rank if command[0] != BOX[0] else 0, command, environment))
    return [each.wait() for each in started]


def test_of_one_network_share_memory(make_hosts: MakeHosts) -> None:
    """Each has separate processes, IPC, name and a nearly empty /dev/shm."""
    done = start(make_hosts(1), *(box(f"box{i}", ATOLL, "info", "--job") for i in range(2)))
    assert all(each.status == 0 for each in done), [each.text for each in done]
    assert "window to PE 1" in done[0].out and "ucx" not in done[0].out, done[0].text


def test_of_one_network_run_programs(make_hosts: MakeHosts) -> None:
    program = BUILT / "multi/rma"
    if not program.exists():
        pytest.skip("multi/rma is not built: ninja -C build/release cluster_suite")
    done = start(make_hosts(1), *(box(f"box{i}", str(program)) for i in range(2)))
    assert all(each.status == 0 for each in done), [each.text for each in done]


def test_of_networks_of_their_own_use_the_network(make_hosts: MakeHosts) -> None:
    done = start(make_hosts(2), [ATOLL, "info", "--job"], [ATOLL, "info", "--job"])
    assert all(each.status == 0 for each in done), [each.text for each in done]
    assert "PE 0 (host n0): ucx to PE 1" in done[0].out, done[0].text


def test_two_of_one_network_and_another_host(make_hosts: MakeHosts) -> None:
    """Containers that share memory are one host, whatever their names."""
    info = [ATOLL, "info", "--job"]
    done = start(make_hosts(3), box("box0", *info), box("box1", *info), info)
    assert all(each.status == 0 for each in done), [each.text for each in done]
    assert "job of 3 PEs on 2 hosts" in done[0].out, done[0].text
    assert "PE 1 (host box0): ucx to PE 2, window to PE 0" in done[0].out, done[0].text


def test_another_user_is_named(make_hosts: MakeHosts) -> None:
    """A container whose processes belong to another user of the host."""
    other = [*BOX, "setpriv", "--reuid=12345", "--clear-groups", ATOLL, "info", "--job"]
    done = start(make_hosts(1), box("box0", ATOLL, "info", "--job"), other)
    assert done[1].status != 0 and "all PEs must run as one user" in done[1].err, done[1].text
