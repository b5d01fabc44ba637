"""nvshmem.bindings and Buffers by address: what programs call below nvshmem.core."""

from __future__ import annotations

from pathlib import Path

from compat_programs import run, without_driver
from simulated import needs_plugin


@without_driver
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


@without_driver
def test_bindings_of_nvshmem_by_address(tmp_path: Path) -> None:
    """Memory, puts with signals, collectives and atomics, as Triton-distributed and others call them."""
    done = run(
        tmp_path,
        2,
        """
import ctypes
import numpy as np
from atoll.nvshmem._state import STATE
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
blocks = len(STATE.blocks)
STATE.blocks[data].buffer = None  # as that of registered memory
there = b.ptr(data + 16, other)
assert np.ctypeslib.as_array((ctypes.c_int64 * 1).from_address(there))[0] == me + 1
assert (b.ptr(data, 2), len(STATE.blocks)) == (0, blocks)
b.barrier_all()
b.int64_sum_reduce_on_stream(b.Team_id.TEAM_WORLD, data, data, 8, 0)
b.getmem_on_stream(where, data, 64, me, 0)
assert mine.tolist() == [3] * 8, mine
both = nvshmem.core.array((4,), dtype="float32")
both[:] = [0, 0, 0, me + 10]
address = both.ctypes.data
b.float_fcollect_on_stream(0, address, address + 12, 1, 0)
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


@without_driver
def test_functions_with_a_type_in_their_name(tmp_path: Path) -> None:
    """They have NVSHMEM's types, its names of parameters, and their own name."""
    done = run(
        tmp_path,
        2,
        """
import inspect
import numpy as np
import nvshmem.core
import nvshmem.bindings.nvshmem as b
nvshmem.core.init(initializer_method="mpi")
me = b.my_pe()
data = nvshmem.core.array((8,), dtype="int64")
d = data.ctypes.data
b.int64_atomic_add(dest=d, value=1, pe=0)
b.barrier_all()
assert b.int64_atomic_fetch(source=d, pe=0) == 2
b.barrier_all()
assert b.int64_atomic_compare_swap(dest=d + 8, cond=0, value=4, pe=me) == 0 and data[1] == 4
assert b.int64_atomic_fetch_inc(dest=d + 8, pe=me) == 4
data[:] = me + 1
b.int64_sum_reduce_on_stream(team=0, dest=d, src=d + 8, nreduce=1, stream=0)
b.int64_broadcast_on_stream(team=0, dest=d + 16, src=d + 8, nelem=1, pe_root=1, stream=0)
assert data[:3].tolist() == [3, me + 1, 2], data
for name in ("int64_atomic_add", "float_sum_reduce_on_stream", "half_fcollect_on_stream"):
    assert getattr(b, name).__name__ == name
for name in ("bfloat16_atomic_add", "half_atomic_fetch", "int_atomic_xor", "float_atomic_inc", "int8_atomic_add"):
    assert not hasattr(b, name), name
assert b.uint_atomic_xor and b.double_atomic_swap and b.ptrdiff_atomic_compare_swap
halves = data.view(np.uint16)
halves[:] = me + 5
b.bfloat16_fcollect_on_stream(0, d, d + 8, 2, 0)  # copies need no arithmetic
assert halves[:4].tolist() == [5, 5, 6, 6], halves
try:
    b.bfloat16_sum_reduce_on_stream(0, d, d + 8, 2, 0)
except nvshmem.core.NvshmemInvalid as error:
    assert str(error) == "nvshmem.bindings.bfloat16_sum_reduce_on_stream: bfloat16 needs a GPU for arithmetic; on the " \\
        "host call float_sum_reduce_on_stream.", error
    print("right")
nvshmem.core.finalize()
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr


@without_driver
def test_wrong_numbers_for_bindings_of_nvshmem(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        1,
        """
import nvshmem.core
import nvshmem.bindings.nvshmem as b
nvshmem.core.init(initializer_method="mpi")
d = b.malloc(64)
MISTAKES = {
    "malloc: size is -5; pass at least 0": lambda: b.malloc(-5),
    "calloc: count is -1; pass at least 0": lambda: b.calloc(-1, -8),
    "calloc: size is -8; pass at least 0": lambda: b.calloc(1, -8),
    "align: size is -1; pass at least 0": lambda: b.align(64, -1),
    "align: ": lambda: b.align(3, 8),
    "putmem_signal_on_stream: 0 is no operation; pass SignalOp": lambda: b.putmem_signal_on_stream(d, d + 8, 8, d + 32, 1, 0, 0, 0),
    "putmem_signal_nbi_on_stream: 0 is no operation": lambda: b.putmem_signal_nbi_on_stream(d, d + 8, 8, d + 32, 1, 0, 0, 0),
    "signal_op_on_stream: 3 is no operation": lambda: b.signal_op_on_stream(d, 1, 3, 0, 0),
    "signal_wait_until_on_stream: 77 is no comparison; pass one of CMP_EQ": lambda: b.signal_wait_until_on_stream(d, 77, 1, 0),
}
for text, call in MISTAKES.items():
    try:
        call()
    except nvshmem.core.NvshmemInvalid as error:
        assert str(error).startswith(f"nvshmem.bindings.{text}"), error
    else:
        raise AssertionError(f"taken: {text}")
nvshmem.core.finalize()
print("right")
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@without_driver
def test_addresses_while_another_thread_allocates(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        1,
        """
import threading
from atoll.nvshmem import _state
import nvshmem.core
import nvshmem.bindings.nvshmem as b
nvshmem.core.init(initializer_method="mpi")
first, wrong = b.malloc(64), []
class Changing(_state.Block):  # a block is added during each look-up
    @property
    def kind(self):
        _state.STATE.blocks.setdefault(len(_state.STATE.blocks), _state.Block(memory, 0))
        return 0
    kind = kind.setter(lambda self, value: None)
plain = _state.STATE.blocks[first]
memory = plain.memory
_state.STATE.blocks[first] = Changing(memory, 0)
assert b.ptr(first + 63, 0) == first + 63 and b.ptr(first + 64, 0) == 0 and b.ptr(first - 1, 0) == 0
_state.STATE.blocks[first] = plain
blocks = [b.malloc(8 * (i + 1)) for i in range(20)]
for i in (7, 0, 19):
    b.free(blocks[i])
for i, address in enumerate(blocks):
    last = address + 8 * i + 7
    assert b.ptr(last, 0) == (0 if i in (7, 0, 19) else last), i
nvshmem.core.finalize()
print("right")
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@without_driver
def test_buffers_that_pass_the_end_of_an_allocation(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        1,
        """
import numpy as np
import nvshmem.core
from cuda.core import Buffer
class Shown:  # as cuda.core shows memory
    def __init__(self, handle, size):
        self.handle, self.size = handle, size
nvshmem.core.init(initializer_method="mpi")
d, more = nvshmem.core.buffer(64), nvshmem.core.buffer(128)
for wrong in (
    lambda: Buffer.from_handle(d.handle, 128),
    lambda: Buffer.from_handle(d.handle + 32, 33),
    lambda: nvshmem.core.put(Shown(d.handle, 128), more, 0),
    lambda: nvshmem.core.put(Shown(d.handle + 32, 33), more, 0),
):
    try:
        wrong()
    except nvshmem.core.NvshmemInvalid as error:
        assert "passes the end of its allocation, which has" in str(error), error
    else:
        raise AssertionError("taken")
# Copies of ordinary memory.
mine = np.arange(64, dtype=np.uint8)
ordinary = Buffer.from_handle(mine.ctypes.data, 64)
other = Buffer.from_handle(np.zeros(64, np.uint8).ctypes.data, 64)
kept = other.memory
d.copy_from(ordinary)
ordinary.memory[:] = 0
assert d.copy_to(ordinary) is ordinary and mine[63] == 63
other.copy_from(ordinary)
assert kept[63] == 63
try:
    other.copy_from(more)
except nvshmem.core.NvshmemInvalid as error:
    assert str(error).startswith("nvshmem.core.Buffer.copy_from: 128 bytes cannot be copied into 64"), error
    print("right")
nvshmem.core.finalize()
""",
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@without_driver
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
    device_id = 99
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
# bfloat16
ones = np.full(4, 0x3F80 if me else 0x4000, np.uint16)  # 1 or 2
atoll.put(Buffer.from_handle(data, 8).memory, ones.view(np.uint8), me)
b.barrier_all()
b.bfloat16_sum_reduce_on_stream(0, data + 8, data, 4, 0)
atoll.get(got, Buffer.from_handle(data, 96).memory, me)
assert got[8:16].view(np.uint16).tolist() == [0x4040] * 4, got
# Buffers of ordinary memory
ordinary, part = Buffer.from_handle(free.ptr, 32), Buffer.from_handle(data, 32)
ordinary.copy_to(part), part.copy_to(ordinary), ordinary.copy_from(part)
for wrong, kind, text in (
    (lambda: ordinary.__dlpack__(), BufferError, "nvshmem.core did not allocate"),
    (lambda: nvshmem.core.init(device=Part(0, 0), initializer_method="mpi"), nvshmem.core.NvshmemInvalid, "is GPU 99, but since"),
):
    try:
        wrong()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"taken: {text}")
nvshmem.core.finalize()
print("right")
""",
        PYTHONPATH=package,
    )
    assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr


@needs_plugin
def test_modules_get_the_teams_of_the_job(tmp_path: Path, package: str) -> None:
    """A module's state, here in memory of the host: after its initialisation, a change of teams, and the end."""
    done = run(
        tmp_path,
        2,
        """
import ctypes
import numpy as np
import nvshmem.core as nv
import nvshmem.bindings as b
from atoll._device import TEAM
from atoll.nvshmem import _modules
state, other_library = np.zeros(65, TEAM), []
class Memory:
    def copy(address, values):
        ctypes.memmove(address, values.ctypes.data, values.nbytes)
def find(handle, symbol, function):
    has = symbol == _modules.STATE_SYMBOL or symbol in other_library
    return (state.ctypes.data, state.nbytes) if has and handle == 5 else (0, 0)
_modules._find, _modules._copies = find, {0: Memory}
nv.init(initializer_method="mpi")
me = nv.my_pe()
b.cumodule_init(6)  # a module without such kernels
assert not state["control"].any()
b.cumodule_init(5)
world = nv.Teams.TEAM_WORLD
assert state["my_pe"][0] == state["my_pe"][1] == me and state["n_pes"][:2].tolist() == [2, 2]
assert state["control"][0] and not state["control"][1 + 7:].any()
team = nv.team_split_strided(world, 1, 1, 1, None, 0)
assert (team is not None) == (me == 1)
assert (state["n_pes"][1 + 7], bool(state["control"][1 + 7])) == (me, me == 1)
b.cumodule_finalize(5)
before = state.copy()
if me == 1:
    nv.team_destroy(team)
assert (state == before).all(), "a module that was finalised may be unloaded"
other_library.append(_modules.FOREIGN_SYMBOL)
try:
    nv.module_init(nv.NvshmemKernelObject.from_handle(5))
except nv.NvshmemError as error:
    assert "is linked with NVSHMEM's own library for kernels" in str(error), error
    print("right")
nv.finalize()
assert not _modules._states
""",
        PYTHONPATH=package,
    )
    assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr
