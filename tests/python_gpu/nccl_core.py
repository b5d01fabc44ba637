"""A program of NCCL4Py by its own names, on CuPy and PyTorch: their own arrays and symmetric ones, streams, groups, windows.

It runs by atoll.compat, so that NCCL4Py need not be installed.
"""

import itertools

import atoll.compat

atoll.compat.install("nccl")

import cupy  # noqa: E402
import nccl.core as nccl  # noqa: E402
import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402
from nccl.core import AVG, MAX, SUM  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

world = MPI.COMM_WORLD
me, n = world.Get_rank(), world.Get_size()
cupy.cuda.Device(me % cupy.cuda.runtime.getDeviceCount()).use()
uid = world.bcast(nccl.get_unique_id() if me == 0 else None)
comm = nccl.Communicator.init(n, me, uid)
right, left = (me + 1) % n, (me - 1) % n
total = n * (n + 1) // 2
rows = [[rank + 1.0] * 4 for rank in range(n)]
done = 0


def of_cupy(shape, value):
    return cupy.full(shape, value, cupy.float32)


def of_cupy_symmetric(shape, value):
    made = nccl.cupy.empty(shape, np.float32)
    made[...] = value
    return made


def of_torch(shape, value):
    return torch.full(shape if isinstance(shape, tuple) else (shape,), float(value), device="cuda")


def of_torch_symmetric(shape, value):
    made = nccl.torch.empty(shape if isinstance(shape, tuple) else (shape,), dtype=torch.float32)
    return made.fill_(value)


makers = [of_cupy, of_cupy_symmetric]
streams = [None, cupy.cuda.Stream(non_blocking=True)]
if torch:
    torch.cuda.set_device(cupy.cuda.runtime.getDevice())
    makers += [of_torch, of_torch_symmetric]
    streams.append(torch.cuda.Stream())


def settle():
    cupy.cuda.runtime.deviceSynchronize()
    world.Barrier()


def check(what, x, expected):
    global done
    settle()
    found = x.tolist()
    settle()
    assert found == expected, (me, what, found, expected)
    done += 1


def collectives(make, given):
    x, y, z = make(4, me + 1), make(4, 0), make((n, 4), 0)
    empty, swapped = make((n, 4), 0), make((n, 4), -1)
    long, sent, got = make(3_000_001, me), make(3_000_001, me), make(3_000_001, 0)
    settle()  # the libraries fill arrays on streams of their own
    comm.allreduce(x, y, SUM, **given)
    check("allreduce", y, [total] * 4)
    comm.allreduce(x, y, AVG, **given)
    check("average", y, [total / n] * 4)
    comm.reduce(x, y if me == 0 else None, MAX, root=0, **given)
    check("reduce", y, [total / n if me else n] * 4)
    comm.allreduce(x, y, comm.create_pre_mul_sum(0.5, nccl.FLOAT32), **given)
    check("scaled sum", y, [total / 2] * 4)
    comm.allgather(x, z, **given)
    check("allgather", z, rows)
    comm.reduce_scatter(z, y, SUM, **given)
    check("reduce_scatter", y, [n * (me + 1)] * 4)
    comm.broadcast(x if me == n - 1 else None, y, n - 1, **given)
    check("broadcast", y, rows[n - 1])
    comm.gather(x, empty if me == 0 else None, root=0, **given)
    check("gather", empty, [[0] * 4] * n if me else rows)
    comm.scatter(empty if me == 0 else None, y, root=0, **given)
    check("scatter", y, rows[me])
    comm.alltoall(empty, swapped, **given)
    check("alltoall", swapped, [[0] * 4 if rank else rows[me] for rank in range(n)])
    with nccl.group():
        comm.send(x, right, **given)
        comm.recv(y, left, **given)
    check("messages", y, rows[left])
    comm.allreduce(long, long, SUM, **given)
    check("a long sum", long[-2:], [total - n] * 2)
    with nccl.group():
        comm.recv(got, left, **given)
        comm.send(sent, right, **given)
    check("a long message", got[-2:], [left] * 2)


def groups(make, given):
    x, y = make(4, me + 1), make(4, 0)
    settle()
    halves = comm.split(me % 2, me)
    halves.allreduce(x, y, SUM, **given)
    check("split", y, [sum(range(me % 2 + 1, n + 1, 2))] * 4)
    if me > 0:
        others = comm.shrink([0])
        others.allreduce(x, y, SUM, **given)
        cupy.cuda.runtime.deviceSynchronize()
        assert y.tolist() == [total - 1] * 4
    settle()


def windows(given):
    made = nccl.cupy.empty(6, np.float32)
    made[...] = 0
    values = of_cupy(4, me + 1)
    settle()
    window = comm.register_window(made)
    comm.put_signal(values, right, window, 1, **given)
    comm.signal(right, **given)
    comm.wait_signal(nccl.WaitSignalDesc(left, 2), **given)
    check("window", made, [0, *rows[left], 0])
    window.close()


def overlapping():
    """Calls in turn on streams that are busy for different times: each works on the result of the one before."""
    busy = cupy.RawKernel(
        'extern "C" __global__ void busy(long long n) { for (long long start = clock64(); clock64() - start < n;); }',
        "busy",
    )
    ways = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
    x, wide = of_cupy(1000, 1), of_cupy(12_000_000, 1)  # 48 MB: in several pieces
    settle()
    for turn in range(9):
        way = ways[turn % 3]
        with way:
            busy((1,), (1,), (3_000_000 * (2 - turn % 3),))
        shown = way.ptr if turn % 2 else way  # streams that are known by a handle alone, too
        comm.allreduce(x, x, SUM, stream=shown)
        comm.allreduce(wide, wide, AVG, stream=shown)
    check("overlapping streams", x[-2:], [float(n) ** 9] * 2)
    check("long sums on them", wide[:: 12_000_000 - 1], [1] * 2)


for stream, make in itertools.product(streams, makers):
    given = {"stream": stream}
    collectives(make, given)
    groups(make, given)
for stream in streams:
    windows({"stream": stream})

overlapping()
x, y = of_cupy_symmetric(1000, 0), of_cupy_symmetric(1000, 0)
captured = cupy.cuda.Stream(non_blocking=True)
settle()
comm.allreduce(x, y, SUM, stream=captured)
captured.synchronize()
with captured:
    captured.begin_capture()
    comm.allreduce(x, y, SUM, stream=captured)
    graph = captured.end_capture()
for turn in range(3):
    x[...] = turn
    settle()
    graph.launch(captured)
    check("a graph", y[-2:], [turn * n] * 2)
overlapping()
try:
    comm.register_window(of_cupy(4, 0))
except nccl.NcclInvalid as error:
    assert "cannot be reached by other PEs" in str(error), error
else:
    raise AssertionError("a window of CuPy's own memory was accepted")
comm.destroy()
print(f"PE {me} of {n}: {done} checks passed", flush=True)
