"""atoll.compat: what public programs of NVSHMEM4Py and NCCL4Py import and call beside nvshmem.core and nccl.core."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from jobs import HANG_GUARD, environment, launcher
from simulated import needs_plugin


def run(
    folder: Path, pes: int, text: str, package: str = "nvshmem", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a program below `atoll run`."""
    program = folder / "program.py"
    program.write_text(text)
    return subprocess.run(
        [str(launcher()), "run", "-n", str(pes), str(program)],
        env=environment(ATOLL_COMPAT=package, ATOLL_PYTHON=sys.executable, **settings),
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )


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


def test_bindings_of_nvshmem(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        2,
        """
import nvshmem
import nvshmem.bindings
import nvshmem.bindings.nvshmem as same
import nvshmem.core
from cuda.core import Device, EventOptions, Stream, StreamOptions
stream = Stream.from_handle(7)
assert stream.__cuda_stream__() == (0, 7) and Device().pci_bus_id == "none"
Device().create_event(EventOptions(enable_timing=True)), Device().create_stream(options=StreamOptions())
nvshmem.core.init(initializer_method="mpi")
names = nvshmem.bindings
assert (names.my_pe(), names.n_pes(), same.team_n_pes(0)) == (nvshmem.core.my_pe(), 2, 2)
names.barrier_all_on_stream(0)
assert names.barrier(0) == 0 and names.mc_ptr(0, 1) == 0
try:
    names.int_p
except AttributeError as error:
    assert "use nvshmem.core" in str(error), error
    print("right")
nvshmem.core.finalize()
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr


def test_bindings_of_nvshmem_by_address(tmp_path: Path) -> None:
    """Memory, puts with signals, collectives and atomics, as Triton-distributed and others call them."""
    done = run(
        tmp_path,
        2,
        """
import numpy as np
import nvshmem.core
import nvshmem.bindings.nvshmem as b
nvshmem.core.init(initializer_method="mpi")
me, other = b.my_pe(), 1 - b.my_pe()
data, signal = b.malloc(64), b.calloc(2, 8)
assert b.align(4096, 8) % 4096 == 0 and b.malloc(0) == 0
mine = np.full(8, me + 1, np.int64)
where = mine.ctypes.data
b.putmem_signal_on_stream(data, where, 64, signal + 8, 5, b.Signal_op.SIGNAL_ADD, other, 0)
b.signal_wait_until_on_stream(signal + 8, b.Cmp_type.CMP_EQ, 5, 0)
assert b.signal_fetch(signal + 8) == 5 and b.signal_fetch(signal) == 0
b.barrier_all_on_stream(0)
got = np.zeros(8, np.int64)
b.getmem_on_stream(got.ctypes.data + 8, data + 8, 56, other, 0)
assert got.tolist() == [0] + [me + 1] * 7, got
b.signal_op_on_stream(signal, 9, int(b.Signal_op.SIGNAL_SET), other, 0)
b.signal_wait_until_on_stream(signal, int(b.Cmp_type.CMP_GE), 9, 0)
assert b.ptr(data + 16, me) == data + 16 and b.ptr(where, me) == 0 and b.ptr(data + 16, other) not in (0, data + 16)
b.barrier_all()
b.int64_sum_reduce_on_stream(b.Team_id.TEAM_WORLD, data, data, 8, 0)
b.getmem_on_stream(where, data, 64, me, 0)
assert mine.tolist() == [3] * 8, mine
both = nvshmem.core.array((4,), dtype="float32")
both[:] = [me, me + 10, 0, 0]
address = both.ctypes.data
b.float_fcollect_on_stream(0, address, address + 4, 1, 0)
assert both[:2].tolist() == [10, 11], both
b.float_broadcast_on_stream(0, address + 8, address, 1, 1, 0)
assert both[2] == 10, both
b.team_sync_on_stream(0, 0), b.quiet_on_stream(0), b.flush_on_stream(0)
assert b.uint64_atomic_fetch_add(signal, 2, me) == 9 and b.uint64_atomic_fetch(signal, me) == 11
for wrong in (lambda: b.putmem_on_stream(data, where, 65, other, 0), lambda: b.signal_fetch(where)):
    try:
        wrong()
    except nvshmem.core.NvshmemInvalid as error:
        assert "no allocation has the" in str(error), error
    else:
        raise AssertionError("a wrong address was taken")
assert not hasattr(b, "float_mean_reduce_on_stream") and not hasattr(b, "thing_alltoall_on_stream")
b.free(signal)
print("right")
nvshmem.core.finalize()
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr


def test_buffers_of_parts(tmp_path: Path) -> None:
    """Rows by their address, as Warp's example of NVSHMEM exchanges them."""
    done = run(
        tmp_path,
        2,
        """
import numpy as np
import nvshmem.core
from cuda.core import Buffer, Device
nvshmem.core.init(device=Device(0), initializer_method="mpi")
me, other = nvshmem.core.my_pe(), 1 - nvshmem.core.my_pe()
buffer = nvshmem.core.memory.buffer(96)
start = int(buffer.handle)
rows = np.asarray(buffer.memory).reshape(3, 32)
rows[1] = me + 1
nvshmem.core.barrier_all()
top, mine = Buffer.from_handle(start, 32), Buffer.from_handle(start + 32, size=32)
nvshmem.core.rma.put(top, mine, other, Device().create_stream())
source = np.full(4, 9)
nvshmem.core.rma.put(Buffer.from_handle(start + 64, 32), Buffer.from_handle(source.ctypes.data, 32), other)
nvshmem.core.barrier_all()
assert (rows[:, 0] == [other + 1, me + 1, 9]).all() and (rows[:, :1] == rows[:, 8:9]).all(), rows
nvshmem.core.collective_on_buffer("reduce", 0, top, mine, dtype="uint8", op="sum")
assert (rows[0] == 3).all(), rows
nvshmem.core.finalize()
print("right")
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr


@needs_plugin
def test_addresses_of_a_simulated_gpu(tmp_path: Path, package: str) -> None:
    """Symmetric memory, a part of it as cuda.core shows it, and other memory of the GPU."""
    done = run(
        tmp_path,
        2,
        """
import numpy as np
import atoll
import nvshmem.core
import nvshmem.bindings as b
from atoll.nvshmem.memory import Buffer
class Part:
    def __init__(self, handle, size):
        self.handle, self.size = handle, size
nvshmem.core.init(initializer_method="mpi")
me, other = b.my_pe(), 1 - b.my_pe()
data, free = b.malloc(96), atoll.zeros(32, np.uint8, device="cuda")
assert isinstance(free, atoll.DeviceArray)
atoll.put(free, np.full(32, me + 1, np.uint8), me)
b.putmem_signal_on_stream(data, free.ptr, 32, data + 88, 5, b.Signal_op.SIGNAL_ADD, other, 0)
b.signal_wait_until_on_stream(data + 88, b.Cmp_type.CMP_EQ, 5, 0)
nvshmem.core.put(Part(data + 32, 32), Part(data, 32), other)
nvshmem.core.put(Buffer.from_handle(data + 64, 8), Buffer.from_handle(free.ptr, 8), other)
b.barrier_all()
b.uint8_sum_reduce_on_stream(b.Team_id.TEAM_WORLD, data, data, 1, 0)
got = np.zeros(96, np.uint8)
atoll.get(got, Buffer.from_handle(data, 96).memory, me)
assert got[[0, 1, 32, 63, 64, 71, 72]].tolist() == [3, other + 1, me + 1, me + 1, other + 1, other + 1, 0], got
nvshmem.core.finalize()
print("right")
""",
        PYTHONPATH=package,
    )
    assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr


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
assert _is_initialized["status"] != InternalInitStatus.INITIALIZED
nvshmem.core.init(device=Device(3), initializer_method="mpi")
assert _is_initialized["status"] == InternalInitStatus.INITIALIZED
assert _get_device() == (Device(3), None) and _cached_device["device"].device_id == 3
nvshmem.core.finalize()
assert _is_initialized["status"] != InternalInitStatus.INITIALIZED and _get_device() == (None, None)
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


def test_nvshmems_library_is_found_without_cuda_pathfinder(tmp_path: Path) -> None:
    done = run(tmp_path, 1, PATHFINDER)
    assert done.returncode == 0, done.stderr
    assert "nccl: cuda.pathfinder is not installed" in done.stdout


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


def test_init_is_counted(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        2,
        """
import nvshmem.core as nv
nv.init(initializer_method="mpi")
nv.init(initializer_method="mpi")
x = nv.array((2,))
nv.finalize()
nv.put(x, x, 1 - nv.my_pe())
try:
    nv.init(uid=nv.get_unique_id(), rank=5, nranks=9, initializer_method="uid")
except nv.NvshmemInvalid as error:
    assert "rank 5 of 9 was passed, but the first call made this process PE" in str(error), error
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


def test_properties_of_a_device_without_a_gpu(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        1,
        """
from cuda.core import Device, VirtualMemoryResource, VirtualMemoryResourceOptions
import nvshmem.core
print(Device().properties.multicast_supported)
for wrong in (lambda: Device().properties.warp_size, lambda: VirtualMemoryResource(Device())):
    try:
        wrong()
    except (AttributeError, NotImplementedError) as error:
        assert "in Atoll's substitute for cuda.core" in str(error), error
        print("right")
""",
    )
    assert (done.returncode, done.stdout) == (0, "False\nright\nright\n"), done.stderr


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
