"""atoll.compat: what public programs of NVSHMEM4Py and NCCL4Py import and call beside nvshmem.core and nccl.core."""

from __future__ import annotations

from pathlib import Path

import pytest
from compat_programs import run, without_driver


@without_driver
def test_a_split_by_host_may_be_the_first_call_of_mpi(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        2,
        """
from cuda.core.experimental import Device, system
from mpi4py import MPI
import nvshmem.core as nvshmem
local = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)
device = Device(local.Get_rank() % system.get_num_devices())
device.set_current()
nvshmem.init(device=device, mpi_comm=MPI.COMM_WORLD, initializer_method="mpi")
assert (local.Get_rank(), local.Get_size()) == (nvshmem.my_pe(), nvshmem.n_pes())
nvshmem.finalize()
local.Free()
print("right")
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr


def test_arrays_in_calls_of_mpi(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        3,
        """
import mpi4py
mpi4py.rc.initialize = False
mpi4py.rc(threads=False)
from mpi4py import MPI
import nvshmem.core
import numpy as np
world, me = MPI.COMM_WORLD, MPI.COMM_WORLD.Get_rank()
mine, got = np.array([me, 10 * me]), np.zeros(2, np.int64)
world.Allreduce(mine, got)
assert got.tolist() == [3, 30], got
world.Allreduce(MPI.IN_PLACE, mine, op=MPI.MAX)
assert mine.tolist() == [2, 20], mine
world.Reduce([mine + me, MPI.LONG], [got, MPI.LONG] if me == 1 else None, MPI.MIN, root=1)
assert got.tolist() == ([2, 20] if me == 1 else [3, 30]), got
every = np.zeros((3, 2), np.int64) if me == 2 else None
world.Gather(np.array([me, -me]), every, root=2)
assert me != 2 or every.tolist() == [[0, 0], [1, -1], [2, -2]], every
world.Scatter(every, got, root=2)
assert got.tolist() == [me, -me], got
assert (MPI.COMM_SELF.rank, MPI.COMM_SELF.size, MPI.COMM_SELF.bcast(me)) == (0, 1, me)
try:
    world.Allreduce(mine, got, op=lambda a, b: a)
except NotImplementedError as error:
    assert "SUM, PROD, MIN and MAX" in str(error)
try:
    world.Gatherv
except AttributeError as error:
    assert str(error).endswith("mpiexec -n 4 python -m atoll.compat nvshmem program.py."), error
    print("right")
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\n" * 3), done.stderr


@without_driver
def test_the_state_that_programs_read(tmp_path: Path) -> None:
    """FlashInfer, Triton-distributed and others take it from modules of NVSHMEM4Py that are not documented."""
    done = run(
        tmp_path,
        1,
        """
from cuda.core import Device
import nvshmem.core
from nvshmem.core import _internal_tracking as tracking
from nvshmem.core.memory import InternalInitStatus, _cached_device, _is_initialized
from nvshmem.core.utils import _get_device
assert _is_initialized is tracking._is_initialized
assert _is_initialized["status"] == InternalInitStatus.UNINITIALIZED
nvshmem.core.init(device=Device(3), initializer_method="mpi")
assert _is_initialized["status"] == InternalInitStatus.INITIALIZED
assert _get_device() == (Device(3), None) and _cached_device["device"].device_id == 3
nvshmem.core.finalize()
assert _is_initialized["status"] == InternalInitStatus.DE_INITIALIZED and _get_device() == (None, None)
nvshmem.core.init(initializer_method="mpi")
assert _get_device() == (Device(0), None)
nvshmem.core.finalize()
print("right")
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_the_version_of_nccl(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        1,
        "import nccl\nprint(nccl.__version__ == __import__('nccl.core').core.__version__)",
        "nccl",
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_parts_of_nccl4py_beside_nccl_core_are_refused(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        1,
        """
import importlib
for name in ("nccl.ep", "nccl.m2n"):
    try:
        importlib.import_module(name)
    except ImportError as error:
        assert str(error).startswith(f"{name} does not exist in Atoll's form of nccl: "), error
        print("right")
""",
        "nccl",
    )
    assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr


def test_two_ranks_of_one_process_are_refused_at_once(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        1,
        """
import nccl.core as nccl
uid = nccl.get_unique_id()
with nccl.group():
    [nccl.Communicator.init(2, rank, uid) for rank in range(2)]
""",
        "nccl",
    )
    assert done.returncode == 1, done.stdout
    assert (
        "nranks is 2, but the job has 1 PEs; start as many by atoll run -n 2, each of which is one rank"
        in done.stderr
    )


PATHFINDER = """
import cuda.pathfinder
from cuda.pathfinder import find_nvidia_header_directory, load_nvidia_dynamic_lib
import nvshmem.core
loaded = load_nvidia_dynamic_lib("nvshmem_host")
assert "atoll" in loaded.abs_path, loaded
assert find_nvidia_header_directory("nvshmem") is not None
nvshmem.core.init(initializer_method="mpi")  # NVSHMEM's own library is not in the process
nvshmem.core.finalize()
try:
    print(load_nvidia_dynamic_lib("nccl"), find_nvidia_header_directory("nccl"))
except RuntimeError as error:
    print(error)
"""


# A machine without packages of the name cuda, and one where NVIDIA's driver can be loaded.
WITHOUT_CUDA = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] == "cuda" else find(name, *more)
"""
WITH_DRIVER = "import atoll.compat\natoll.compat._has_driver = lambda: True\n"


@pytest.mark.parametrize("machine", ["", WITH_DRIVER])
def test_nvshmems_library_is_found_without_cuda_pathfinder(tmp_path: Path, machine: str) -> None:
    done = run(tmp_path, 1, WITHOUT_CUDA + machine + PATHFINDER)
    assert done.returncode == 0, done.stderr
    assert "nccl: cuda.pathfinder is not installed" in done.stdout


def test_bitcode_is_found_without_cuda_pathfinder(tmp_path: Path) -> None:
    code = """
from cuda.pathfinder import BitcodeLibNotFoundError, find_bitcode_lib, locate_bitcode_lib
import nvshmem.core as nv
try:
    assert find_bitcode_lib("nvshmem_device") == nv.find_device_bitcode_library()
    assert locate_bitcode_lib("nvshmem_device").filename == "libnvshmem_device.bc"
except (BitcodeLibNotFoundError, nv.NvshmemInvalid) as error:  # a build without clang
    assert "this Atoll was built without" in str(error), error
try:
    find_bitcode_lib("device")
except BitcodeLibNotFoundError as error:
    print(error)
"""
    done = run(tmp_path, 1, WITHOUT_CUDA + code)
    assert (done.returncode, done.stdout) == (
        0,
        "device: cuda.pathfinder is not installed; Atoll's substitute for it finds nvshmem_device alone.\n",
    ), done.stderr


def test_a_broken_cuda_pathfinder_is_the_reason(tmp_path: Path) -> None:
    package = tmp_path / "cuda" / "pathfinder"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import a_module_that_nobody_has\n")
    done = run(
        tmp_path,
        1,
        """
from cuda.pathfinder import load_nvidia_dynamic_lib
import nvshmem.core
try:
    load_nvidia_dynamic_lib("nccl")
except RuntimeError as error:
    assert "nccl: the installed cuda.pathfinder cannot be imported (No module named" in str(error), error
    assert isinstance(error.__cause__, ImportError), error
    print("right")
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_an_installed_cuda_pathfinder_finds_all_other_libraries(tmp_path: Path) -> None:
    package = tmp_path / "cuda" / "pathfinder"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from ._parts import find_nvidia_header_directory, load_nvidia_dynamic_lib\n"
    )
    (package / "_parts.py").write_text(
        "def load_nvidia_dynamic_lib(libname):\n    return f'its {libname}'\n"
        "def find_nvidia_header_directory(libname):\n    return f'headers of {libname}'\n"
    )
    done = run(tmp_path, 1, PATHFINDER)
    assert (done.returncode, done.stdout) == (0, "its nccl headers of nccl\n"), done.stderr


@without_driver
def test_init_is_counted(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        2,
        """
import nvshmem.core as nv
class Gpu:
    device_id = 99
nv.init(initializer_method="mpi")
nv.init(initializer_method="mpi")
x = nv.array((2,))
nv.finalize()
nv.put(x, x, 1 - nv.my_pe())
try:
    nv.init(uid=nv.get_unique_id(), rank=5, nranks=9, initializer_method="uid")
except nv.NvshmemInvalid as error:
    assert "rank 5 of 9 was passed, but the first call made this process PE" in str(error), error
for wrong, text in (
    ({"initializer_method": "by mail"}, "initializer_method is 'by mail'"),
    ({"device": Gpu()}, "device is GPU 99, but since the first call symmetric memory is memory of the host"),
):
    try:
        nv.init(**wrong)
    except nv.NvshmemInvalid as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"taken: {wrong}")
nv.finalize()
try:
    nv.my_pe()
except nv.NvshmemInvalid as error:
    assert "again after finalize()" in str(error), error
nv.init(initializer_method="mpi")
print(nv.n_pes())
nv.finalize()
""",
    )
    assert (done.returncode, done.stdout) == (0, "2\n2\n"), done.stderr


@without_driver
def test_properties_of_a_device_without_a_gpu(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        1,
        """
from cuda.core import Device, VirtualMemoryResource, VirtualMemoryResourceOptions
import nvshmem.core
print(Device().properties.multicast_supported)
from cuda.core import VirtualMemoryResource as same
assert isinstance(VirtualMemoryResource, type) and same is VirtualMemoryResource
assert not isinstance(Device(), (VirtualMemoryResource, VirtualMemoryResourceOptions))
for wrong in (
    lambda: Device().properties.warp_size,
    lambda: VirtualMemoryResource(Device()),
    lambda: VirtualMemoryResource.from_somewhere(),
):
    try:
        wrong()
    except (AttributeError, NotImplementedError) as error:
        assert "in Atoll's substitute for cuda.core" in str(error), error
        print("right")
""",
    )
    assert (done.returncode, done.stdout) == (0, "False\n" + "right\n" * 3), done.stderr


def test_the_folder_of_nvidias_wheel_is_atolls(tmp_path: Path) -> None:
    """Programs that compile kernels find NVSHMEM by `nvidia.nvshmem`."""
    done = run(
        tmp_path,
        1,
        """
import importlib.util
from pathlib import Path
found = importlib.util.find_spec("nvidia.nvshmem").submodule_search_locations[0]
import nvidia.nvshmem
assert nvidia.nvshmem.__path__[0] == found
print((Path(found) / "include" / "nvshmem.h").is_file(), (Path(found) / "lib" / "libnvshmem_host.so.3").is_file())
""",
    )
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr
