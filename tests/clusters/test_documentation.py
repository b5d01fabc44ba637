"""The commands of docs/clusters.md, unchanged except for hosts' names and the needs of root and of these hosts.

Those of docs/laptop-to-cluster.md are the same (tests/layout/test_site.py), so only its first one is run.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT, ROOT
from hosts import Hosts
from launchers import mpiexec_command, mpirun_command, prterun_command
from slurm import Slurm

MakeHosts = Callable[[int], Hosts]
PAGE = (ROOT / "docs/clusters.md").read_text()
PROGRAM = Path(__file__).parent / "programs/program.py"
TCP = {"UCX_TLS": "tcp,self"}
EXPECTED = "right: 8 PEs on 2 hosts"
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("atoll") is None, reason="this Python has no atoll: scripts/install.sh"
)


def block(heading: str) -> str:
    """The first indented block under a heading."""
    lines = PAGE.split(f"\n## {heading}\n", 1)[1].splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("    "))
    last = next(i for i in range(first, len(lines)) if not lines[i].startswith("    "))
    return "\n".join(line[4:] for line in lines[first:last])


def here(text: str) -> str:
    text = text.replace("node1", "n0").replace("node2", "n1")
    return text.replace("python program.py", f"{sys.executable} {PROGRAM}")


# The first word of a command on the page, and the arguments that replace it.
INSTEAD = {
    "atoll": lambda hosts: [str(BUILT / "bin/atoll")],
    "prterun": prterun_command,
    "mpirun": mpirun_command,
    "mpiexec": mpiexec_command,
}


@pytest.mark.parametrize(
    ("heading", "program", "by"),
    [
        ("atoll run --hosts", "atoll", "launcher over hosts"),
        ("PRRTE and Open MPI", "prterun", "PMIx"),
        ("PRRTE and Open MPI", "mpirun", "PMIx"),
        ("MPICH and Intel MPI", "mpiexec", "PMI"),
    ],
)
def test_command(make_hosts: MakeHosts, heading: str, program: str, by: str) -> None:
    """ATOLL_INFO reports the bootstrap that was used."""
    hosts = make_hosts(2)
    (line,) = (line for line in block(heading).splitlines() if line.split()[0] == program)
    environment = {**TCP, "ATOLL_AGENT": hosts.agent(), "ATOLL_INFO": "1"}
    done = hosts.run(0, [*INSTEAD[program](hosts), *here(line).split()[1:]], environment)
    assert done.status == 0 and EXPECTED in done.out, done.text
    assert done.err.count(f"job of 8 PEs, started by {by}, ") == 1, done.text


def test_the_program_of_the_tutorial(make_hosts: MakeHosts, tmp_path: Path) -> None:
    page = (ROOT / "docs/laptop-to-cluster.md").read_text()
    program = tmp_path / "primes.py"
    program.write_text(page.split("```python\n")[1].split("```")[0])
    hosts = make_hosts(2)
    (line,) = (line for line in page.splitlines() if line.startswith("    atoll run --hosts"))
    words = line.replace("node1", "n0").replace("node2", "n1").split()
    assert words[0] == "atoll" and words[-2:] == ["python", program.name]
    command = [str(BUILT / "bin/atoll"), *words[1:-2], sys.executable, str(program)]
    done = hosts.run(0, command, {**TCP, "ATOLL_AGENT": hosts.agent()})
    (shown,) = (line.strip() for line in page.splitlines() if line.endswith("PEs: 8, hosts: 2"))
    assert done.status == 0 and done.out == f"{shown}\n", done.text


def test_batch_script(slurm: Slurm, tmp_path: Path) -> None:
    output = tmp_path / "batch.out"
    script = here(block("Slurm")).replace("#SBATCH --nodes", f"#SBATCH --output={output}\n#SBATCH --nodes", 1)
    done = slurm.sbatch(script.replace("\nsrun", "\nexport UCX_TLS=tcp,self\nsrun"))
    said = output.read_text() if output.exists() else ""
    assert done.status == 0 and EXPECTED in said, done.text + said


def test_the_loop_in_place_of_torchrun(make_hosts: MakeHosts) -> None:
    """A batch script without torchrun passes the same variables to a program."""
    line = next(line for line in PAGE.splitlines() if line.startswith("    RANK="))
    hosts = make_hosts(2)
    script = here(line.strip()).replace("./program", f"exec {sys.executable} {PROGRAM}")
    started = [
        hosts.start(
            pe // 4,
            ["sh", "-c", script],
            {"SLURM_PROCID": str(pe), "SLURM_NTASKS": "8", "ATOLL_SECRET": "between us", **TCP},
        )
        for pe in range(8)
    ]
    done = [each.wait() for each in started]
    assert all(each.status == 0 for each in done) and EXPECTED in done[0].out, [each.text for each in done]


def test_a_firewall(make_hosts: MakeHosts) -> None:
    """Connections come in at the ports that the page names, and at no others."""
    hosts = make_hosts(2)
    rules = """table inet wall {
counter refused { }
chain input {
type filter hook input priority 0; policy accept;
iifname lo accept
tcp flags & (syn | ack) == syn tcp dport != { 31011, 20000-21000 } counter name refused reject with tcp reset
}
}
"""
    for host in (0, 1):
        done = hosts.run(host, ["nft", rules])
        assert done.status == 0, done.text
    command = [str(BUILT / "bin/atoll"), "run", "--hosts", "n0:2,n1:2", sys.executable, str(PROGRAM)]
    ports = {"ATOLL_PORT": "31011", "UCX_TCP_PORT_RANGE": "20000-21000"}
    assert f"UCX_TCP_PORT_RANGE={ports['UCX_TCP_PORT_RANGE']}" in PAGE
    done = hosts.run(0, command, {**TCP, **ports, "ATOLL_AGENT": hosts.agent()})
    assert done.status == 0 and "right: 4 PEs on 2 hosts" in done.out, done.text
    for host in (0, 1):
        counted = hosts.run(host, ["nft", "list", "counters"])
        assert "packets 0 " in counted.out, counted.text
