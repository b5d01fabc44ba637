"""A program of NVSHMEM4Py by its own names, on CuPy, PyTorch and cuda.core: calls on streams, and a captured graph.

It runs by atoll.compat, so that NVSHMEM4Py need not be installed.
"""

import atoll.compat

atoll.compat.install("nvshmem")

import cupy  # noqa: E402
import numpy as np  # noqa: E402
import nvshmem.core  # noqa: E402
from nvshmem.core import ComparisonType, SignalOp, Teams  # noqa: E402

try:
    import torch
except ImportError:
    torch = None
try:
    from cuda.core import Device
except ImportError:
    try:
        from cuda.core.experimental import Device
    except ImportError:
        Device = None

WORLD = Teams.TEAM_WORLD
passed = []
nvshmem.core.init(initializer_method="mpi")
me, n = nvshmem.core.my_pe(), nvshmem.core.n_pes()
right, left = (me + 1) % n, (me - 1) % n
x = nvshmem.core.array((1024,), dtype="float32")
assert isinstance(x, cupy.ndarray), type(x)
number = x.device.id
cupy.cuda.Device(number).use()
y = nvshmem.core.array((1024,), dtype="float32")
signal = nvshmem.core.buffer(8)


def check(what, found, expected):
    found = found.get() if hasattr(found, "get") else found.cpu().numpy()
    assert np.array_equal(found, np.broadcast_to(expected, found.shape)), (me, what, found, expected)
    passed.append(what)
    nvshmem.core.barrier_all()


streams = {"CuPy": cupy.cuda.Stream(non_blocking=True)}
if torch:
    torch.cuda.set_device(number)
    streams["PyTorch"] = torch.cuda.Stream()
    streams["NvshmemStream"] = nvshmem.core.NvshmemStream(torch.cuda.Stream())
if Device:
    device = Device(number)
    device.set_current()
    streams["cuda.core"] = device.create_stream()


def finish(stream):
    nvshmem.core.barrier_all(stream=stream)
    cupy.cuda.runtime.deviceSynchronize()


for turn, (name, stream) in enumerate(streams.items(), 1):
    y[:] = 10 * turn + me
    cupy.cuda.runtime.deviceSynchronize()
    nvshmem.core.barrier_all(stream=stream)
    nvshmem.core.put(x, y, right, stream=stream)
    nvshmem.core.quiet(stream=stream)
    finish(stream)
    check(f"{name}: put", x, 10 * turn + left)
    nvshmem.core.get(x, y, right, stream=stream)
    finish(stream)
    check(f"{name}: get", x, 10 * turn + right)
    nvshmem.core.put_signal(x, y, signal, 1, SignalOp.SIGNAL_ADD, right, stream=stream)
    nvshmem.core.signal_wait(signal, turn, ComparisonType.CMP_GE, stream=stream)
    finish(stream)
    check(f"{name}: put_signal", x, 10 * turn + left)
    nvshmem.core.reduce(WORLD, x, y, "sum", stream=stream)
    finish(stream)
    check(f"{name}: reduce", x, 10 * turn * n + sum(range(n)))
    nvshmem.core.broadcast(WORLD, x, y, root=n - 1, stream=stream)
    finish(stream)
    check(f"{name}: broadcast", x, 10 * turn + n - 1)
assert nvshmem.core.signal_fetch(signal) == len(streams)

stream = streams["CuPy"]
every, other = (nvshmem.core.array((n, 3), dtype="int64") for _ in range(2))
block = nvshmem.core.array((3,), dtype="int64")
block[:] = me
cupy.cuda.runtime.deviceSynchronize()
nvshmem.core.fcollect(WORLD, every, block, stream=stream)
finish(stream)
check("fcollect", every, np.arange(n)[:, None])
every[:] = 10 * me + cupy.arange(n)[:, None]
cupy.cuda.runtime.deviceSynchronize()
nvshmem.core.alltoall(WORLD, other, every, stream=stream)
finish(stream)
check("alltoall", other, 10 * np.arange(n)[:, None] + me)
nvshmem.core.reducescatter(WORLD, block, every, "max", stream=stream)
finish(stream)
check("reducescatter", block, 10 * (n - 1) + me)
nvshmem.core.atomic_add(block, 1, right, offset=1)
nvshmem.core.barrier_all()
assert nvshmem.core.atomic_fetch(block, me, offset=1) == 10 * (n - 1) + me + 1

# ---- Buffers, other PEs' copies
if Device:
    assert isinstance(signal, type(nvshmem.core.buffer(8))) and type(signal).__module__.startswith("cuda."), (
        type(signal)
    )
buffer, nbytes, dtype = nvshmem.core.array_get_buffer(x)
assert (int(buffer.handle), buffer.size, nbytes, dtype) == (x.data.ptr, 4096, 4096, "float32")
raw = cupy.from_dlpack(nvshmem.core.buffer(64))
assert raw.nbytes == 64
y[:] = me
cupy.cuda.runtime.deviceSynchronize()
nvshmem.core.barrier_all()
theirs = nvshmem.core.get_peer_array(y, right)
check("get_peer_array", theirs, right)
taken = nvshmem.core.collective_on_buffer(
    "reduce",
    WORLD,
    buffer,
    nvshmem.core.array_get_buffer(y)[0],
    dtype="float",
    op="sum",
    stream=stream,
    enable_timing=True,
)
assert taken > 0
check("collective_on_buffer", x, sum(range(n)))

# ---- a captured graph
with stream:
    stream.begin_capture()
    y += 1
    nvshmem.core.put(x, y, right, stream=stream)
    nvshmem.core.barrier_all(stream=stream)
    graph = stream.end_capture()
for _ in range(3):
    graph.launch(stream)
stream.synchronize()
check("graph", x, left + 3)

# ---- tensors
if torch:
    a, b = (nvshmem.core.tensor((4, 8), dtype=torch.bfloat16) for _ in range(2))
    a.fill_(me + 1)
    torch.cuda.synchronize()
    nvshmem.core.barrier_all()
    nvshmem.core.reduce(WORLD, b, a, "sum", stream=torch.cuda.current_stream())
    torch.cuda.synchronize()
    check("tensor: reduce", b.float(), n * (n + 1) / 2)
    nvshmem.core.put(b, a, right, stream=torch.cuda.current_stream())
    finish(torch.cuda.current_stream())
    check("tensor: put", b.float(), left + 1)
    check("get_peer_tensor", nvshmem.core.get_peer_tensor(a, right).float(), right + 1)
    turned = nvshmem.core.tensor((2, 3), dtype=torch.float32, morder="F")
    assert turned.stride() == (1, 2) and nvshmem.core.bytetensor((5,)).dtype == torch.uint8
    for tensor in (a, b, turned):
        nvshmem.core.free_tensor(tensor)

for array in (x, y, block, every, other):
    nvshmem.core.free_array(array)
nvshmem.core.free(signal)
nvshmem.core.finalize()
print(f"PE {me} passed {len(passed)} checks on GPU {number}, streams: {', '.join(streams)}")
