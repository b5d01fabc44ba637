"""atoll.nccl: programs of NCCL4Py, on host memory and on the simulated GPU."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from atoll.compat import _has_driver
from jobs import HANG_GUARD, PROGRAMS, ROOT, Job, environment, python
from simulated import between, needs_plugin, needs_ucx

pytestmark = pytest.mark.skipif(_has_driver(), reason="NVIDIA's driver is here: this tests host memory")
SENTENCE = "atoll: import nccl finds atoll.nccl, which has the names of nccl.core of NCCL4Py 0.6."


def test_a_program_of_nccl4py_on_host_memory(job: Job, tmp_path: Path) -> None:
    done = job("nccl_core.py", 4, str(tmp_path), ATOLL_COMPAT="nccl", RANKS="4")
    assert done.stdout.count("done") == 4
    assert done.stderr.splitlines() == [SENTENCE]


@needs_plugin
@pytest.mark.parametrize("hosts", ["", pytest.param("a,b", marks=needs_ucx)])
def test_a_program_of_nccl4py_on_a_gpu(job: Job, package: str, hosts: str) -> None:
    given = between(hosts) if hosts else {}
    done = job("nccl_gpu.py", 2, PYTHONPATH=package, ATOLL_COMPAT="nccl", **given)
    assert done.stdout.count("done") == 2


@needs_plugin
def test_a_rank_that_ends_with_its_communicator_does_not_end_the_others(job: Job, package: str) -> None:
    """Also later than after the second that ranks have to end after a death."""
    code = """
        import time
        import nccl.core as nccl
        from cuda.core import Device
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        Device(0).set_current()
        uid = world.bcast(nccl.get_unique_id() if world.rank == 0 else None)
        comm = nccl.Communicator.init(world.size, world.rank, uid)
        class Foreign:
            def __init__(self, values):
                self.values = values
                self.__cuda_array_interface__ = values.__array_interface__
        out = np.zeros(3, np.float32)
        comm.allreduce(Foreign(np.ones(3, np.float32)), Foreign(out), nccl.SUM)
        assert out.tolist() == [2] * 3 and comm._state.group
        if world.rank == 1:
            time.sleep(2)
            print("lives")
        """
    assert job(code, 2, PYTHONPATH=package, ATOLL_COMPAT="nccl").stdout == "lives\n"


def test_processes_of_two_hosts_without_a_launcher_meet_by_the_unique_id(tmp_path: Path) -> None:
    start = [sys.executable, "-m", "atoll.compat", "nccl", str(PROGRAMS / "nccl_core.py"), str(tmp_path)]
    pes = [
        subprocess.Popen(
            [*start, str(pe), "2"],
            env=environment(ATOLL_HOST_ID="a,b", ATOLL_TRANSPORT="loopback"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for pe in range(2)
    ]
    said = [pe.communicate(timeout=HANG_GUARD)[0] for pe in pes]
    assert all(text.endswith("done\n") for text in said), said


def test_the_end_of_a_rank_ends_the_calls_of_others(job: Job) -> None:
    code = """
        import nccl.core as nccl
        from mpi4py import MPI
        from nccl.bindings.nccl import NCCLError, Result
        world = MPI.COMM_WORLD
        uid = world.bcast(nccl.get_unique_id() if world.rank == 0 else None)
        comm = nccl.Communicator.init(world.size, world.rank, uid)
        if world.rank == 1:
            os._exit(3)
        try:
            comm.allreduce(np.ones(3), np.zeros(3), nccl.SUM)
        except NCCLError as error:
            assert error.status == Result.RemoteError == comm.get_async_error()
            print(error, comm.get_last_error())
        comm.abort()
        """
    done = job(code, 2, ok=False, ATOLL_COMPAT="nccl")
    assert done.stdout.count("nccl.core: allreduce: PE 1 exited with status 3") == 2, done.stderr


def test_refused_names_raise_and_refused_modules_cannot_be_imported() -> None:
    code = f"""
        import importlib, inspect, tomllib, atoll.compat
        atoll.compat.install("nccl")
        import nccl.core as core
        table = tomllib.load(open({str(ROOT / "api/nccl4py.toml")!r}, "rb"))
        (alone,) = core.Communicator.init_all()
        window = alone.register_window(core.mem_alloc(8))
        made = {{"Communicator": alone, "RegisteredWindowHandle": window}}
        for name in [*table["refused"], *table["kernels"]]:
            *_, owner, member = name.split(".")
            if owner == "core":
                function = getattr(core, member)
            else:
                function = getattr(type(made[owner]), member)
                function = function.fget if isinstance(function, property) else function
            arguments = [None for p in inspect.signature(function).parameters.values() if p.default is p.empty]
            if owner != "core":
                arguments[0] = made[owner]
            try:
                function(*arguments)
            except core.NcclInvalid as error:
                assert member in str(error)
            else:
                print(name, "was carried out")
        for name in table["modules"]:
            try:
                importlib.import_module(name)
            except ImportError as error:
                assert "does not exist in Atoll's form of nccl: " in str(error), error
            else:
                print(name, "was imported")
        assert callable(core.group)
        import nccl.core.group, nccl.core.params
        assert callable(core.group) and len(core.params) >= 0
        print("looked at all")
        """
    done = python(textwrap.dedent(code))
    assert done.stdout == "looked at all\n", done.stdout + done.stderr
