"""A program of NVSHMEM4Py, with its names only: on host memory, or on a GPU if there is one."""

import sys

import atoll
import numpy as np
import nvshmem.core
from cuda.core import Device, system
from nvshmem.core import ComparisonType, SignalOp, Teams

WORLD = Teams.TEAM_WORLD


device = Device(0 % system.get_num_devices())
device.set_current()
stream = device.create_stream()
assert nvshmem.core.init_status() == nvshmem.core.InitStatus.STATUS_NOT_INITIALIZED
try:
    nvshmem.core.array((4,))
except nvshmem.core.NvshmemInvalid as error:
    assert "call nvshmem.core.init() first" in error.msg
else:
    raise AssertionError("a call before init() was accepted")
nvshmem.core.init(device=device, initializer_method="mpi")
assert nvshmem.core.init_status() == nvshmem.core.InitStatus.STATUS_IS_INITIALIZED
me, n = nvshmem.core.my_pe(), nvshmem.core.n_pes()
right, left = (me + 1) % n, (me - 1) % n


def host(x):
    """Return an array's values after all PEs have done their work; no PE goes on before all have them."""
    nvshmem.core.barrier_all(stream=stream)
    stream.sync()
    nvshmem.core.barrier_all()
    found = np.array(x.numpy() if hasattr(x, "numpy") else x)
    nvshmem.core.barrier_all()
    return found.tolist()


def check(x, expected):
    found = host(x)
    assert found == expected, (me, found, expected)


def refused(words, function, *arguments, kind=nvshmem.core.NvshmemInvalid, **keywords):
    try:
        function(*arguments, **keywords)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"{words!r} was not said")


# ---- arrays
x = nvshmem.core.array((2, 3), dtype="float32")
y = nvshmem.core.array((2, 3), dtype="float32")
assert x.shape == (2, 3) and x.dtype == np.float32 and isinstance(x, np.ndarray) != ("gpu" in sys.argv)
check(x, [[0.0] * 3] * 2)
turned = nvshmem.core.array((2, 3), dtype="int64", morder="F")
assert turned.strides == (8, 16)
buffer, nbytes, dtype = nvshmem.core.array_get_buffer(x)
assert (nbytes, dtype, buffer.size) == (24, "float32", 24)
assert nvshmem.core.bytearray((2, 5)).nbytes == 10

# ---- moves
y[...] = me + 1
nvshmem.core.barrier_all(stream=stream)
nvshmem.core.put(x, y, right, stream=stream)
check(x, [[left + 1.0] * 3] * 2)
nvshmem.core.get(dst=x, src=y, remote_pe=right, stream=stream)
nvshmem.core.quiet(stream=stream)
check(x, [[right + 1.0] * 3] * 2)
short = nvshmem.core.array((4,), dtype="int32")  # 16 of the 24 bytes
nvshmem.core.put_nbi(short, y, right, stream=stream)
nvshmem.core.flush(stream=stream)
check(short, [int(np.float32(left + 1).view(np.int32))] * 4)
nvshmem.core.get_nbi(x[1], y[0], left, stream=stream)
check(x, [[right + 1.0] * 3, [left + 1.0] * 3])
turned[...] = [[1, 2, 3], [4, 5, 6]]
line = nvshmem.core.array((6,), dtype="int64")
nvshmem.core.put(line, turned, right, stream=stream)
check(line, [1, 4, 2, 5, 3, 6])
nvshmem.core.put(line, y, right)  # without a stream the host waits
nvshmem.core.barrier_all()
refused("not contiguous", nvshmem.core.put, line, y[:, :2], right, stream=stream)
refused(f"PE {n}", nvshmem.core.put, x, y, n, stream=stream)
refused("Invalid memory object of type list", nvshmem.core.put, x, [1.0], right, stream=stream)

# ---- signals
signal = nvshmem.core.buffer(8)
assert nvshmem.core.signal_fetch(signal) == 0
y[...] = me + 10
nvshmem.core.barrier_all(stream=stream)
nvshmem.core.put_signal(x, y, signal, 1, SignalOp.SIGNAL_SET, right, stream=stream)
nvshmem.core.signal_wait(signal, 1, ComparisonType.CMP_EQ, stream=stream)
check(x, [[left + 10.0] * 3] * 2)
nvshmem.core.put_signal_nbi(x, y, signal, 2, SignalOp.SIGNAL_ADD, left, stream=stream)
nvshmem.core.signal_wait(signal, 3, ComparisonType.CMP_GE, stream=stream)
nvshmem.core.barrier_all(stream=stream)
nvshmem.core.signal_op(signal, 7, SignalOp.SIGNAL_SET, right, stream=stream)
nvshmem.core.signal_wait(signal, 7, ComparisonType.CMP_EQ)
check(x, [[right + 10.0] * 3] * 2)
assert nvshmem.core.signal_fetch(signal) == 7
nvshmem.core.barrier_all()
refused("is no operation", nvshmem.core.signal_op, signal, 1, 0, right, stream=stream)
refused("is no comparison", nvshmem.core.signal_wait, signal, 1, 9, stream=stream)
small = nvshmem.core.buffer(4)
refused("at least 8 bytes", nvshmem.core.signal_op, small, 1, SignalOp.SIGNAL_SET, right, stream=stream)

# ---- collectives
a = nvshmem.core.array((2,), dtype="int32")
b = nvshmem.core.array((2,), dtype="int32")
every = nvshmem.core.array((n, 2), dtype="int32")
other = nvshmem.core.array((n, 2), dtype="int32")
a[...] = [me, 2 * me]
nvshmem.core.reduce(WORLD, b, a, "sum", stream=stream)
total = sum(range(n))
check(b, [total, 2 * total])
nvshmem.core.reduce(WORLD, b, a, "max", stream=stream)
check(b, [n - 1, 2 * n - 2])
nvshmem.core.broadcast(WORLD, b, a, root=n - 1, stream=stream)
check(b, [n - 1, 2 * n - 2])
nvshmem.core.fcollect(WORLD, every, a, stream=stream)
check(every, [[pe, 2 * pe] for pe in range(n)])
every[...] = [[10 * me + pe, me] for pe in range(n)]
nvshmem.core.alltoall(WORLD, other, every, stream=stream)
check(other, [[10 * pe + me, pe] for pe in range(n)])
nvshmem.core.reducescatter(WORLD, b, every, "min", stream=stream)
check(b, [me, 0])
truths, found = nvshmem.core.array((n, 2), dtype="bool"), nvshmem.core.array((2,), dtype="bool")
truths[...] = [[True, me == 0]] * n
for op, expected in (("sum", [True, True]), ("max", [True, True]), ("min", [True, n == 1])):
    nvshmem.core.reducescatter(WORLD, found, truths, op, stream=stream)
    check(found, expected)
    nvshmem.core.reduce(WORLD, found, truths[0], op, stream=stream)
    check(found, expected)
nvshmem.core.barrier(WORLD, stream=stream)
nvshmem.core.sync(WORLD, stream=stream)
nvshmem.core.sync_all(stream=stream)
source, dest = nvshmem.core.buffer(8), nvshmem.core.buffer(8)
nvshmem.core.put(source, a, me)
run = nvshmem.core.collective_on_buffer
assert run("reduce", WORLD, dest, source, dtype="int32", op="prod", stream=stream) == 0
assert run("reduce", WORLD, dest, source, dtype="int", op="sum", stream=stream, enable_timing=True) > 0
nvshmem.core.get(b, dest, me)
check(b, [total, 2 * total])
refused("op is 'prod'", nvshmem.core.reduce, WORLD, b, a, "prod", stream=stream)
refused("both must be equal", nvshmem.core.reduce, WORLD, b, y, "sum", stream=stream)
refused("elements; 3 are needed", nvshmem.core.reduce, WORLD, line[:3], short[:2].view(np.int64), "sum")
refused("coll is 'gather'", run, "gather", WORLD, dest, source)

# ---- atomics
word = nvshmem.core.array((3,), dtype="int64")
nvshmem.core.atomic_add(word, 5, right, offset=2)
nvshmem.core.barrier_all()
assert nvshmem.core.atomic_fetch_add(word, 1, right, offset=2) in (5, 6)
nvshmem.core.barrier_all()
assert nvshmem.core.atomic_fetch(word, me, offset=2) == 6
assert nvshmem.core.atomic_compare_swap(word, 0, 9, me) == 0 and nvshmem.core.atomic_swap(word, 3, me) == 9
for name, value in (("or", 4), ("xor", 1), ("and", 6)):
    getattr(nvshmem.core, f"atomic_{name}")(word, value, me)
assert nvshmem.core.atomic_fetch_inc(word, me) == 6
assert nvshmem.core.atomic_fetch_inc(signal, me, dtype="uint64") == 7
refused("pass dtype", nvshmem.core.atomic_inc, signal, me)
refused("offset is 3; pass the number of an element, 0 to 2", nvshmem.core.atomic_inc, word, me, offset=3)

# ---- teams
config = nvshmem.core.TeamConfig()
first = nvshmem.core.team_split_strided(WORLD, 0, 1, n - 1, config, 0, "first")
assert (first is None) == (me == n - 1)
if first is not None:
    assert Teams.first == first and nvshmem.core.team_n_pes(first) == n - 1
    assert nvshmem.core.team_my_pe(first) == me == nvshmem.core.team_translate_pe(first, me, WORLD)
    nvshmem.core.reduce(first, b, a, "sum", stream=stream)
    nvshmem.core.barrier(first, stream=stream)
    nvshmem.core.team_destroy("first")
    refused("is no team of this PE", nvshmem.core.barrier, first)
row, column = nvshmem.core.team_split_2d(WORLD, n, config, 0, config, 0)
assert (nvshmem.core.team_n_pes(row), nvshmem.core.team_n_pes(column)) == (n, 1)
assert nvshmem.core.team_n_pes(Teams.TEAM_NODE) == n and nvshmem.core.team_my_pe(None) == -1
refused("no multicast", nvshmem.core.team_n_pes, Teams.TEAM_MC_SHARED)
uid = nvshmem.core.get_team_unique_id() if me == 0 else None
uid = atoll.bcast_object(uid.value if uid else None, root=0)
backwards = nvshmem.core.team_init(nvshmem.core.TeamConfig(uniqueid=uid), 2, n, n - 1 - me, "BACKWARDS")
assert nvshmem.core.team_translate_pe(backwards, 0, WORLD) == n - 1 and backwards == Teams.BACKWARDS
nvshmem.core.team_destroy("BACKWARDS")
nvshmem.core.barrier_all(stream=stream)

# ---- other PEs' copies, and the ends of memory
a[...] = [me, 2 * me]
nvshmem.core.barrier_all(stream=stream)
theirs = nvshmem.core.get_peer_array(a, right)
check(theirs, [right, 2 * right])
nvshmem.core.free_array(theirs)
peer = nvshmem.core.get_peer_buffer(source, right)
assert peer.size == 8 and peer.handle != source.handle
refused("no multicast memory", nvshmem.core.get_multicast_array, WORLD, a, kind=nvshmem.core.NvshmemError)
refused("no multicast memory", nvshmem.core.get_multicast_buffer, WORLD, peer, kind=nvshmem.core.NvshmemError)
failure = nvshmem.core.NvshmemInvalid if "gpu" in sys.argv else nvshmem.core.NvshmemError
refused("GPU", nvshmem.core.register_external_array, np.zeros(4), kind=failure)
refused(
    "get_team_unique_id",
    nvshmem.core.team_init,
    nvshmem.core.TeamConfig(),
    2,
    n,
    me,
    kind=nvshmem.core.NvshmemError,
)
refused("pass an NvshmemKernelObject", nvshmem.core.module_init, None)
loaded = nvshmem.core.NvshmemKernelObject.from_handle(0)
nvshmem.core.library_init(loaded)
nvshmem.core.library_finalize(loaded)
refused("did you mean 'put_signal'", getattr, nvshmem.core, "put_signals", kind=AttributeError)
for array in (x, y):
    nvshmem.core.free_array(array)
refused("freed", nvshmem.core.put, x, y, right, stream=stream)
nvshmem.core.free_array(y)  # an error in the log
for one in (signal, small, source, dest):
    nvshmem.core.free(one)
nvshmem.core.finalize()

# ---- a second job, by a unique identifier that goes from PE 0 to all
if "gpu" not in sys.argv:
    import pickle

    identifier = nvshmem.core.get_unique_id()
    received = nvshmem.core.get_unique_id(empty=True)
    received._data.view(np.int8)[:] = identifier._data.view(np.int8)
    assert received == identifier == pickle.loads(pickle.dumps(identifier))
    nvshmem.core.init(uid=received, rank=0, nranks=1, initializer_method="uid")
    assert (nvshmem.core.my_pe(), nvshmem.core.n_pes()) == (0, 1)
    nvshmem.core.finalize()
refused("initializer_method is 'udp'", nvshmem.core.init, initializer_method="udp")
print(f"PE {me} done", flush=True)
