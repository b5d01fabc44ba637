"""torchrun itself, on two hosts. (The variables that it sets are tested without it, see test_launchers.py.)

Most are forks of a process that has imported PyTorch, and so are their PEs. Tests that name TORCHRUN start new ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from hosts import Done, Hosts

sys.path.append(str(ROOT / "tests/python"))
from ported import PROGRAMS as PORTED

MakeHosts = Callable[[int], Hosts]
TORCHRUN = ROOT / "build/torch/bin/torchrun"
PROGRAMS = Path(__file__).parent / "programs"

pytestmark = pytest.mark.skipif(
    not TORCHRUN.parents[1].joinpath("packages").exists(),
    reason="no build/torch; scripts/setup.sh torch makes it",
)


def forked(forks: str) -> list[str]:
    """Return the command of a torchrun that is a fork."""
    return [forks, "-m", "torch.distributed.run"]


def torchrun(command: list[str], hosts: Hosts, *arguments: str, **environment: str) -> list[Done]:
    """2 processes on each of two hosts."""
    places = ["--nnodes", "2", "--nproc_per_node", "2", "--rdzv_backend", "c10d"]
    meet = ["--rdzv_endpoint", f"{hosts.address(0)}:29400", "--rdzv_id", "atoll"]
    variables = {"GLOO_SOCKET_IFNAME": "eth0", "UCX_TLS": "tcp,self", **environment}
    started = [
        hosts.start(host, [*command, *places, *meet, *arguments], variables) for host in range(hosts.count)
    ]
    return [each.wait() for each in started]


@pytest.mark.parametrize("secret", ["", "told to nobody"])
@pytest.mark.parametrize("way", ["variables", "store"])
def test_python(make_hosts: MakeHosts, forks: str, way: str, secret: str) -> None:
    known = {"ATOLL_SECRET": secret} if secret else {}
    ends = torchrun(forked(forks), make_hosts(2), str(PROGRAMS / "beside_torch.py"), way, **known)
    assert [done.status for done in ends] == [0, 0], ends[0].text + ends[1].text
    assert sum("ok: 4 PEs" in done.out for done in ends) == 1, ends[0].text
    # torchrun's store carries what the PEs need, so no port of Atoll's asks for a secret.
    assert not any("the network is trusted" in done.err for done in ends), ends[0].text + ends[1].text


def test_program_of_docs(make_hosts: MakeHosts, forks: str, tmp_path: Path) -> None:
    program = tmp_path / "init_torch.py"
    program.write_text(PORTED["init_torch.py"])
    ends = torchrun(forked(forks), make_hosts(2), str(program), ATOLL_SECRET="told to nobody")
    assert [done.status for done in ends] == [0, 0], ends[0].text + ends[1].text


def test_a_program_without_torch_has_a_port_of_its_own(make_hosts: MakeHosts, forks: str, pe: str) -> None:
    ends = torchrun(
        forked(forks), make_hosts(2), "--no_python", pe, ATOLL_SECRET="told to nobody", ATOLL_PORT="31012"
    )
    assert [done.status for done in ends] == [0, 0], ends[0].text + ends[1].text
    assert any("ok: 4 PEs on 2 hosts by tcp store" in done.out for done in ends), ends[0].text


def test_groups(make_hosts: MakeHosts) -> None:
    """The backend atoll, whose groups find each other by torchrun's store."""
    ends = torchrun([str(TORCHRUN)], make_hosts(2), str(PROGRAMS / "torch_groups.py"), "all live")
    assert [done.status for done in ends] == [0, 0], ends[0].text + ends[1].text
    assert sum(done.out.count("ok") for done in ends) == 4, ends[0].text + ends[1].text
