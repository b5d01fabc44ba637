"""Jobs of `atoll run --hosts`: their PEs are ones of `atoll run`, as on one host."""

from __future__ import annotations

from pathlib import Path

import pytest
from compat_programs import without_driver
from hosts import run


@without_driver
def test_programs_of_mpi4py_find_the_jobs_pes(tmp_path: Path) -> None:
    code = """
        from mpi4py import MPI
        before = MPI.COMM_WORLD.Get_size()
        import nccl.core
        atoll.init()
        print(before, MPI.COMM_WORLD.allreduce(atoll.my_pe()))
    """
    done = run(tmp_path, code, hosts="a:1,b:1", ATOLL_COMPAT="nccl")
    assert (done.returncode, done.stdout) == (0, "2 1\n" * 2), done.stderr
    assert done.stderr.count("atoll: import nccl finds ") == 1


def test_a_program_of_nbshmem_needs_no_mpi(tmp_path: Path) -> None:
    code = "from atoll import nbshmem; nbshmem.init(None); print(atoll.n_pes())"
    done = run(tmp_path, code, hosts="a:1,b:1")
    assert (done.returncode, done.stdout) == (0, "2\n" * 2), done.stderr


def test_a_lone_pe_is_in_the_launchers_job(tmp_path: Path) -> None:
    code = """
        import nccl.core as nccl
        try:
            nccl.Communicator.init(nranks=2, rank=0, unique_id=nccl.get_unique_id())
        except nccl.NcclInvalid as error:
            print(error)
    """
    done = run(tmp_path, code, hosts="a:1", ATOLL_COMPAT="nccl")
    assert "the job has 1 PEs; start as many by atoll run -n 2" in done.stdout, done.stderr


def test_the_last_lines_of_a_killed_pe_are_shown(tmp_path: Path) -> None:
    code = "import os, signal; atoll.init(); print('last'); os.kill(os.getpid(), signal.SIGKILL)"
    done = run(tmp_path, code, hosts="a:1,b:1")
    assert "last" in done.stdout and done.returncode != 0


@pytest.mark.parametrize("name", ["ATOLL_NO_LAUNCHER", "ATOLL_BOOTSTRAP"])
def test_a_program_may_refuse_the_launchers_job(tmp_path: Path, name: str) -> None:
    code = "from atoll import _job; atoll.init(); print(atoll.n_pes(), _job._launched == '')"
    done = run(tmp_path, code, hosts="a:1,b:1", **{name: "1" if name == "ATOLL_NO_LAUNCHER" else "single"})
    assert (done.returncode, done.stdout) == (0, "1 True\n" * 2), done.stderr
