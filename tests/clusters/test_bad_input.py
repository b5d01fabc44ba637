"""Errors of init between hosts: other releases, networks, addresses, a second start; and connections of strangers."""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT, ROOT
from hosts import Done, Hosts, rubbish

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
PLACE = {"MASTER_PORT": "29500", "ATOLL_SECRET": "between us"}


def over_hosts(hosts: Hosts, places: str, *command: str, **environment: str) -> Done:
    return hosts.run(
        0, [ATOLL, "run", "--hosts", places, *command], {"ATOLL_AGENT": hosts.agent(), **environment}
    )


def version() -> bytes:
    text = (ROOT / "build/release/generated/include/atoll/version.hpp").read_text()
    numbers = [re.search(rf"ATOLL_VERSION_{part} (\d+)", text) for part in ("MAJOR", "MINOR", "PATCH")]
    return b".".join(found[1].encode() for found in numbers if found)


def test_another_release_is_named(make_hosts: MakeHosts, pe: str, tmp_path: Path) -> None:
    """The same program with another version written into it."""
    other = tmp_path / "bootstrap_pe"
    ours = version()
    theirs = b"9" + ours[1:]
    # Only the first four bytes: where the compiler has no string, they are the operand of one instruction.
    other.write_bytes(Path(pe).read_bytes().replace(ours[:4], theirs[:4]))
    other.chmod(0o755)
    hosts = make_hosts(2)
    variables = {**PLACE, "WORLD_SIZE": "2", "MASTER_ADDR": hosts.address(0)}
    started = [
        hosts.start(0, [pe], {**variables, "RANK": "0"}),
        hosts.start(1, [str(other)], {**variables, "RANK": "1"}),
    ]
    for each in started:
        done = each.wait()
        assert done.status == 4, done.text
        assert f"runs Atoll {theirs.decode()}, PE 0 runs {ours.decode()}" in done.err, done.text


def test_an_address_without_a_host(make_hosts: MakeHosts, pe: str) -> None:
    environment = {**PLACE, "MASTER_ADDR": "10.77.0.99", "ATOLL_INIT_TIMEOUT": "2"}
    first, second = (each.wait() for each in make_hosts(2).torchrun([0, 1], [pe], environment))
    assert first.status == 4 and "RANK 0 must run on the host that MASTER_ADDR names" in first.err, first.text
    assert second.status == 4 and "no process listens at 10.77.0.99:29500" in second.err, second.text


def test_a_network_that_a_host_lacks(make_hosts: MakeHosts) -> None:
    done = over_hosts(
        make_hosts(2), "n0:1,n1:1", built("multi/signals"), UCX_NET_DEVICES="eth7", UCX_TLS="tcp,self"
    )
    assert done.status != 0 and "UCX_NET_DEVICES=eth7: there is no eth7" in done.err, done.text
    assert re.search("Network devices here: .*eth0", done.err), done.text


ON_N1 = """[ "$(hostname)" = n1 ] && export %s; exec %s"""


def built(program: str) -> str:
    path = BUILT / program
    if not path.exists():
        pytest.skip(f"{program} is not built: ninja -C build/release cluster_suite")
    return str(path)


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("UCX_NET_DEVICES=ib7", "UCX_NET_DEVICES=ib7: there is no ib7. Network devices here: "),
        ("ATOLL_UCX_LIBRARY=/no/libucp.so.0", "UCX, which was not found: /no/libucp.so.0"),
        ("UCX_TLS=rc", "UCX_TLS must name a way between hosts"),
    ],
)
def test_a_deficiency_of_one_host_is_named_on_all(make_hosts: MakeHosts, variable: str, said: str) -> None:
    script = ON_N1 % (variable, built("multi/signals"))
    done = over_hosts(make_hosts(2), "n0:1,n1:1", "sh", "-c", script, UCX_TLS="tcp,self")
    assert done.status not in (0, 124), done.text
    # The PE itself reports it, and so does the other one.
    assert done.err.count("PE 1 (host n1): ") >= 2 and said in done.err, done.text


def test_two_versions_of_ucx_are_named(make_hosts: MakeHosts) -> None:
    package = next(iter(sorted(ROOT.glob("build/clusters/ucx/libucx/lib/libucp.so.0"))), None)
    if package is None:
        pytest.skip("there is no second UCX in build/clusters/ucx; scripts/clusters.sh installs it")
    # Set for the last PE of a host, which would not communicate with the other host at the start.
    script = f"""case "$ATOLL_JOIN" in "2 3 "*) export ATOLL_UCX_LIBRARY={package};; esac; exec {built("multi/signals")}"""
    done = over_hosts(make_hosts(2), "n0:2,n1:2", "sh", "-c", script, UCX_TLS="tcp,self")
    assert done.status not in (0, 124), done.text
    # The lines of two PEs may be written as one line, but each path ends at its own bracket.
    said = (
        r"PE 0-2 would use UCX [\d.]+ \([^()]*\), PE 3 would use UCX [\d.]+ \([^()]*\): "
        r"all PEs of a job need the same UCX"
    )
    assert len(re.findall(said, done.err)) >= 4, done.text


def test_ucx_that_a_hosts_last_pe_lacks_is_named(make_hosts: MakeHosts) -> None:
    script = f"""case "$ATOLL_JOIN" in "2 3 "*) export ATOLL_UCX_LIBRARY=/no/libucp.so.0;; esac; exec {built("multi/signals")}"""
    done = over_hosts(make_hosts(2), "n0:2,n1:2", "sh", "-c", script, UCX_TLS="tcp,self")
    assert done.status not in (0, 124), done.text
    said = r"PE 3 \(host n1\): (?:(?!PE 3).)*not found: /no/libucp\.so\.0"
    assert len(re.findall(said, done.err)) >= 4, done.text


WALL = """table inet wall {
chain input {
type filter hook input priority 0; policy accept;
iifname eth0 tcp flags & (syn | ack) == syn tcp dport != %d drop
}
}
"""


def test_a_firewall_between_pes_is_named(make_hosts: MakeHosts) -> None:
    """UCX's own connections get no answer for minutes; the start is bounded nevertheless."""
    hosts = make_hosts(2)
    for host in (0, 1):
        assert hosts.run(host, ["nft", WALL % 31011]).status == 0
    bound = {"ATOLL_PORT": "31011", "ATOLL_INIT_TIMEOUT": "8", "UCX_TLS": "tcp,self"}
    done = over_hosts(hosts, "n0:1,n1:1", built("multi/signals"), **bound)
    assert done.status not in (0, 124), done.text
    assert "waited 8 s (ATOLL_INIT_TIMEOUT) for PEs of other hosts to answer by ucx" in done.err, done.text
    assert hosts.empty_within()


def test_a_firewall_before_the_launcher_is_named(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    assert hosts.run(0, ["nft", WALL % 1]).status == 0
    # PE 1 starts later. The PE that times out first ends the job for both, and PE 0 is to name the PE that is
    # missing.
    late = f'[ "$(hostname)" = n0 ] || sleep 2; exec {pe}'
    done = over_hosts(hosts, "n0:1,n1:1", "sh", "-c", late, ATOLL_INIT_TIMEOUT="3")
    assert done.status == 4 and "PE 1 of 2 did not come" in done.err, done.text
    assert "PE 1 of 2 found no PE 0 within 3 s" in done.err and "a firewall closes the port" in done.err, (
        done.text
    )


def test_a_second_init_is_named(make_hosts: MakeHosts) -> None:
    done = over_hosts(make_hosts(2), "n0:1,n1:1", built("shmem/setup"), UCX_TLS="tcp,self")
    assert done.status != 0 and "over hosts a process joins once" in done.err, done.text


def test_rubbish_at_the_launchers_port(make_hosts: MakeHosts, pe: str) -> None:
    """While the PEs start, strangers can connect too."""
    hosts = make_hosts(3)
    environment = {"ATOLL_AGENT": hosts.agent(), "ATOLL_PORT": "31009"}
    late = f'while [ ! -e "{hosts.folder}/go" ]; do sleep 0.05; done; exec {pe}'
    command = [ATOLL, "run", "--hosts", "n0:2,n1:1", "sh", "-c", late]
    started = hosts.start(0, command, environment)
    seed = int(os.environ.get("ATOLL_TEST_SEED", random.randrange(1 << 30)))
    stranger = hosts.run(2, rubbish(hosts.address(0), 31009, 200, seed))
    assert stranger.status == 0 and int(stranger.out) == 200, f"seed {seed}\n{stranger.text}"
    (hosts.folder / "go").touch()
    done = started.wait()
    assert done.status == 0 and "ok: 3 PEs on 2 hosts by launcher over hosts" in done.out, done.text
    assert f"{hosts.address(2)}]:" in done.err and len(done.err.splitlines()) <= 9, (
        f"seed {seed}\n{done.text}"
    )


COLLECTIVE_THAT_ENDS = """
import atoll, numpy as np
atoll.init()
colors, order = [0, 1, 1, 1, 1, 0], [3, 0, 2, 4, 1, 5]
team = atoll.WORLD.split(colors[atoll.my_pe()], order[atoll.my_pe()])
x, s = atoll.zeros(300), atoll.zeros(300)
atoll.sum_reduce(s, x, team=team)
raise RuntimeError("on purpose")
"""


def test_answers_after_a_collective_has_failed(make_hosts: MakeHosts, tmp_path: Path) -> None:
    """The first PE ends by an exception; the others' collectives throw while answers to them are in flight."""
    pytest.importorskip("atoll", reason="the package is not installed: scripts/install.sh")
    program = tmp_path / "ends.py"
    program.write_text(COLLECTIVE_THAT_ENDS)
    for _ in range(3):
        hosts = make_hosts(3)
        done = over_hosts(hosts, "n0:3,n1:1,n2:2", sys.executable, str(program), UCX_TLS="tcp,self")
        assert done.status == 1 and "on purpose" in done.err, done.text
        assert "killed by" not in done.err and "corrupted" not in done.err, done.text
        hosts.close()


def test_a_requested_launcher_that_is_absent(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(1)
    for bootstrap, needs in (
        ("pmix", "needs PMIX_NAMESPACE and PMIX_RANK, as srun --mpi=pmix"),
        ("pmi", "needs PMI_FD, PMI_RANK and PMI_SIZE, as mpiexec of MPICH"),
        ("tcp", "needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun"),
    ):
        done = hosts.run(0, [pe], {"ATOLL_BOOTSTRAP": bootstrap})
        assert done.status == 4 and f"ATOLL_BOOTSTRAP={bootstrap} {needs}" in done.err, done.text


@pytest.mark.parametrize(("given", "missing"), [({}, "MASTER_ADDR"), ({"MASTER_ADDR": "n0"}, "MASTER_PORT")])
def test_torchruns_variables_in_part(
    make_hosts: MakeHosts, pe: str, given: dict[str, str], missing: str
) -> None:
    """Each process would silently be a separate job."""
    done = make_hosts(1).run(0, [pe], {"RANK": "1", "WORLD_SIZE": "2", **given})
    assert done.status == 0 and "ok: 1 PEs" in done.out, done.text
    assert re.search(rf"RANK.* set, but .*{missing}.* not\. ", done.err), done.text
    alone = make_hosts(1).run(0, [pe], {"RANK": "0", "WORLD_SIZE": "1"})
    assert alone.status == 0 and alone.err == "", alone.text
