"""Launchers of clusters: Slurm, PRRTE, Open MPI's and MPICH's mpiexec."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from hosts import PATIENCE, Done, Hosts
from launchers import (
    debian_mpirun,
    intel_mpiexec,
    mpich_mpiexec,
    mpiexec_command,
    mpirun_command,
    prterun,
    prterun_command,
)
from slurm import Slurm

MakeHosts = Callable[[int], Hosts]


def succeeded(done: Done, pes: int, hosts: int, name: str) -> None:
    assert done.status == 0 and f"ok: {pes} PEs on {hosts} hosts by {name}\n" in done.out, done.text


@pytest.mark.parametrize("places", [("n0:2,n1:2", 4, 2), ("n0:1,n1:3", 4, 2), ("n1:2", 2, 1)])
def test_prrte(make_hosts: MakeHosts, pe: str, places: tuple[str, int, int]) -> None:
    where, pes, count = places
    succeeded(prterun(make_hosts(2), "--host", where, "-n", str(pes), pe), pes, count, "PMIx")


@pytest.mark.parametrize("places", [("n0:2,n1:2", 4, 2), ("n0:1,n1:3", 4, 2)])
def test_mpich(make_hosts: MakeHosts, pe: str, places: tuple[str, int, int]) -> None:
    where, pes, count = places
    succeeded(mpich_mpiexec(make_hosts(2), "-hosts", where, "-n", str(pes), pe), pes, count, "PMI")


def test_hydra_in_a_step_of_slurm(make_hosts: MakeHosts, pe: str) -> None:
    """Another launcher in a Slurm step passes on Slurm's variables; Atoll must not use Slurm's protocol then."""
    slurms = {"SLURM_MPI_TYPE": "pmi2", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}
    succeeded(mpich_mpiexec(make_hosts(2), "-hosts", "n0:2,n1:2", "-n", "4", pe, **slurms), 4, 2, "PMI")


def test_intel(make_hosts: MakeHosts, pe: str) -> None:
    where = ("-hosts", "n0,n1", "-ppn", "2", "-n", "4")
    succeeded(intel_mpiexec(make_hosts(2), *where, pe), 4, 2, "PMI")
    slurms = {"SLURM_MPI_TYPE": "pmi2"}  # Intel's mpiexec ends a job that asks it for PMI-2
    succeeded(intel_mpiexec(make_hosts(2), *where, pe, **slurms), 4, 2, "PMI")


@pytest.mark.parametrize("launcher", [prterun, debian_mpirun, mpich_mpiexec])
def test_a_killed_pe_ends_the_job(make_hosts: MakeHosts, pe: str, launcher: Callable[..., Done]) -> None:
    hosts = make_hosts(2)
    where = "-hosts" if launcher is mpich_mpiexec else "--host"
    done = launcher(hosts, where, "n0:2,n1:2", "-n", "4", pe, "die", "3")
    assert done.status not in (0, 124), done.text


@pytest.mark.parametrize("command", [prterun_command, mpirun_command, mpiexec_command])
def test_a_launcher_that_dies(make_hosts: MakeHosts, pe: str, command: Callable[[Hosts], list[str]]) -> None:
    """Its daemons end the PEs; no PE survives."""
    hosts = make_hosts(2)
    where = "-hosts" if command is mpiexec_command else "--host"
    started = hosts.start(0, [*command(hosts), where, "n0:2,n1:2", "-n", "4", pe, "wait"])
    started.wait_for("started")
    os.kill(started.process.pid, signal.SIGKILL)
    started.process.wait(PATIENCE)
    assert hosts.empty_within()


@pytest.mark.parametrize("launcher", [prterun, mpich_mpiexec])
def test_a_pe_that_does_not_call_init(make_hosts: MakeHosts, pe: str, launcher: Callable[..., Done]) -> None:
    hosts = make_hosts(2)
    where = "-hosts" if launcher is mpich_mpiexec else "--host"
    script = f'if [ "${{PMIX_RANK:-$PMI_RANK}}" = 1 ]; then exec sleep 20; fi; ATOLL_INIT_TIMEOUT=2 exec {pe}'
    done = launcher(hosts, where, "n0:1,n1:1", "-n", "2", "sh", "-c", script)
    assert done.status not in (0, 124), done.text
    assert "PE 0 of 2 waited 2 s (ATOLL_INIT_TIMEOUT)" in done.err, done.text


def test_pmix_without_its_library(make_hosts: MakeHosts, pe: str) -> None:
    """The error names the missing library."""
    hosts = make_hosts(1)
    done = hosts.run(0, [pe], {"PMIX_NAMESPACE": "nobody", "PMIX_RANK": "0"})
    assert done.status == 4 and "PMIx" in done.err, done.text


def test_slurm(slurm: Slurm, pe: str) -> None:
    """One cluster for all tests, because it takes seconds to start."""
    succeeded(slurm.srun("--mpi=pmix", "-N2", "-n4", pe), 4, 2, "PMIx")
    succeeded(slurm.srun("--mpi=pmix", "-N1", "-n2", pe), 2, 1, "PMIx")
    succeeded(slurm.srun("--mpi=pmi2", "-N2", "-n4", pe), 4, 2, "PMI-2")
    succeeded(slurm.srun("--mpi=pmi2", "-N1", "-n2", pe), 2, 1, "PMI-2")
    succeeded(slurm.srun("--mpi=pmi2", "-N2", "-n4", "env", "-u", "SLURM_MPI_TYPE", pe), 4, 2, "PMI")
    killed = slurm.srun("--mpi=pmix", "-K", "-N2", "-n4", pe, "die", "3")
    assert killed.status not in (0, 124) and "the job is over: PE 3 (process" in killed.err, killed.text
    alone = slurm.srun("--mpi=none", "-N2", "-n2", pe)
    assert alone.status == 0 and "use srun --mpi=pmix" in alone.err, alone.text
    # torchrun's variables, as batch scripts set them.
    variables = "RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS LOCAL_RANK=$SLURM_LOCALID MASTER_ADDR=n0 MASTER_PORT=29500"
    done = slurm.srun(
        "--mpi=none", "-N2", "-n4", "sh", "-c", f"{variables} exec {pe}", ATOLL_SECRET=os.urandom(8).hex()
    )
    succeeded(done, 4, 2, "tcp store")
