"""MPI and Atoll in one program over two hosts: C++ by atoll/mpi.hpp, C by shmemx_mpi.h, Python by init(comm=)."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT, ROOT
from hosts import Done, Hosts
from launchers import MPICH, debian_mpirun, mpich_mpiexec, need

sys.path.append(str(ROOT / "tests/python"))
from ported import PROGRAMS as PORTED

MakeHosts = Callable[[int], Hosts]
Launch = Callable[..., Done]
PROGRAMS = Path(__file__).parent / "programs"
TCP = {"UCX_TLS": "tcp,self", "ATOLL_CHECK": "all"}
COMPILERS = {debian_mpirun: Path("/usr/bin"), mpich_mpiexec: MPICH / "bin"}
LIBMPI = {
    debian_mpirun: Path("/usr/lib/x86_64-linux-gnu/libmpi.so.40"),
    mpich_mpiexec: MPICH / "lib/libmpi.so.12",
}
each_mpi = pytest.mark.parametrize("launch", [debian_mpirun, mpich_mpiexec])


def compiled(compiler: str, source: Path, folder: Path) -> str:
    is_c = source.suffix == ".c"
    target = folder / source.stem
    generated = ROOT / ("api/generated/include" if is_c else "build/release/generated/include")
    command = [compiler, "-std=c11" if is_c else "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror"]
    command.append("-DOMPI_SKIP_MPICXX")  # MPI's removed C++ API: its headers cause warnings
    command += ["-D_GNU_SOURCE", f"-I{ROOT / 'include'}", f"-I{generated}", str(source), "-o", str(target)]
    command += [f"-L{BUILT / 'lib'}", f"-Wl,-rpath,{BUILT / 'lib'}", "-latoll_shmem" if is_c else "-latoll"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return str(target)


def compiled_by(launch: Launch, source: str, folder: Path) -> str:
    """Compiles with the MPI's own compiler, as users do."""
    compiler = COMPILERS[launch] / ("mpicc" if source.endswith(".c") else "mpicxx")
    return compiled(need(compiler), PROGRAMS / source, folder)


def on_two_hosts(launch: Launch, hosts: Hosts, *command: str, **environment: str) -> Done:
    where = "-hosts" if launch is mpich_mpiexec else "--host"
    return launch(hosts, where, "n0:2,n1:1", "-n", "3", *command, **TCP, **environment)


@each_mpi
@pytest.mark.parametrize("source", ["beside_mpi.cpp", "beside_mpi.c"])
def test_compiled(make_hosts: MakeHosts, launch: Launch, source: str, tmp_path: Path) -> None:
    done = on_two_hosts(launch, make_hosts(2), compiled_by(launch, source, tmp_path))
    assert done.status == 0 and "right: 3 PEs" in done.out, done.text


@each_mpi
def test_global_exit_ends_the_job_of_mpi(make_hosts: MakeHosts, launch: Launch, tmp_path: Path) -> None:
    done = on_two_hosts(launch, make_hosts(2), compiled_by(launch, "beside_mpi.cpp", tmp_path), "abort")
    # MPICH's mpiexec fails an assertion of its own if one host's PEs end while it sends them the order to
    # end.
    if "assert (!closed) failed" in done.err:
        # mpirun then returns the status of the process that it saw end first, if any. The text still names the
        # PE that ended the job.
        said = r"PE 1 ended the job with status 6|MPI_Abort\(MPI_COMM_WORLD, 6\)"
        assert done.status not in (0, 124) and re.search(said, done.err), done.text
    else:
        assert done.status == 6, done.text


def test_functions_of_ones_own(make_hosts: MakeHosts, tmp_path: Path) -> None:
    """shmemx_init_callbacks, through files in a folder that both hosts share."""
    program = compiled(need("gcc"), ROOT / "tests/shmem/programs/callbacks.c", tmp_path)
    hosts = make_hosts(2)
    started = [
        hosts.start(host, [program, str(tmp_path), str(pe), "3"], TCP) for pe, host in enumerate((0, 1, 1))
    ]
    for pe, each in enumerate(started):
        done = each.wait()
        assert done.status == 0 and done.out == f"right: PE {pe} of 3\n", done.text


def with_mpi4py(launch: Launch) -> dict[str, str]:
    """The environment that makes mpi4py load that MPI."""
    if importlib.util.find_spec("atoll") is None:
        pytest.skip("this Python has no atoll: scripts/install.sh")
    packages = next((MPICH / "lib").glob("python*/site-packages/mpi4py"), None)
    if packages is None:
        pytest.skip("there is no mpi4py; scripts/clusters.sh installs it")
    if not LIBMPI[launch].exists():
        pytest.skip(f"there is no {LIBMPI[launch]}; scripts/clusters.sh installs it")
    return {"PYTHONPATH": str(packages.parent), "MPI4PY_LIBMPI": str(LIBMPI[launch])}


# `found`: init without arguments finds MPI's communicator. It must not use PMI, which MPI has used already.
@pytest.mark.parametrize(
    ("launch", "way"),
    [(debian_mpirun, ""), (mpich_mpiexec, ""), (debian_mpirun, "found"), (mpich_mpiexec, "found")],
)
def test_python(make_hosts: MakeHosts, launch: Launch, way: str) -> None:
    environment = with_mpi4py(launch)
    command = [sys.executable, str(PROGRAMS / "beside_mpi.py"), *way.split()]
    done = on_two_hosts(launch, make_hosts(2), *command, **environment)
    assert done.status == 0 and "right: 3 PEs on 2 hosts beside" in done.out, done.text


@each_mpi
@pytest.mark.parametrize("name", ["hello.py", "init_mpi.py"])
def test_programs_of_docs(make_hosts: MakeHosts, launch: Launch, name: str, tmp_path: Path) -> None:
    environment = with_mpi4py(launch)
    program = tmp_path / name
    program.write_text(PORTED[name])
    done = on_two_hosts(launch, make_hosts(2), sys.executable, str(program), **environment)
    said = [f"Hello from PE {pe} of 3" for pe in range(3)] if name == "hello.py" else []
    # Python writes a line and its end separately; mpirun may show another PE's text between them.
    assert (done.status, sorted(done.out.replace("\n", "").replace("3H", "3\nH").splitlines())) == (
        0,
        said,
    ), done.text
