"""A program of NCCL4Py, unchanged by either library that it finds: a row of JSON for each operation and size.

By NCCL4Py itself, on two GPUs:    mpiexec -n 2 python3 bench/gpu/peers/nccl_program.py nccl4py
By Atoll's nccl.core:              ATOLL_COMPAT=nccl atoll run -n 2 python3 bench/gpu/peers/nccl_program.py atoll

`host_us` is the time of a call on the host, which does not wait for the GPU. `median_us` is the time on the GPU
from call to call. Both are medians of REPEATS runs of CALLS calls.
"""

import json
import statistics
import sys
import time

import cupy
import nccl.core as nccl
import numpy as np
from mpi4py import MPI

CALLS, REPEATS = 50, 7
SIZES = [8, 4096, 65536, 1 << 20, 16 << 20]

world = MPI.COMM_WORLD
me, n = world.Get_rank(), world.Get_size()
cupy.cuda.Device(me % cupy.cuda.runtime.getDeviceCount()).use()
uid = world.bcast(nccl.get_unique_id() if me == 0 else None)
comm = nccl.Communicator.init(n, me, uid)
right, left = (me + 1) % n, (me - 1) % n
stream = cupy.cuda.Stream(non_blocking=True)


def own(count):
    return cupy.zeros(count, np.float32)


def symmetric(count):
    array = nccl.cupy.empty(count, np.float32)
    array[...] = 0
    return array


def swap(x, y):
    with nccl.group():
        comm.send(x, right, stream=stream)
        comm.recv(y, left, stream=stream)


def measure(name, nbytes, call):
    host, device = [], []
    for _ in range(REPEATS + 1):
        cupy.cuda.runtime.deviceSynchronize()
        world.Barrier()
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record(stream)
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        host.append((time.perf_counter() - start) / CALLS * 1e6)
        end.record(stream)
        end.synchronize()
        device.append(cupy.cuda.get_elapsed_time(begin, end) / CALLS * 1e3)
    row = {
        "side": sys.argv[1], "op": name, "bytes": nbytes,
        "median_us": round(statistics.median(device[1:]), 3), "host_us": round(statistics.median(host[1:]), 3),
    }  # fmt: skip
    worst = world.allgather(row["median_us"])
    if me == 0:
        print(json.dumps({**row, "median_us": max(worst)}), flush=True)


def operations(kind, make, nbytes):
    x, y, whole = make(nbytes // 4), make(nbytes // 4), make(nbytes // 4 * n)
    cupy.cuda.runtime.deviceSynchronize()
    measure(f"allreduce, {kind}", nbytes, lambda: comm.allreduce(x, y, nccl.SUM, stream=stream))
    measure(f"allgather, {kind}", nbytes, lambda: comm.allgather(x, whole, stream=stream))
    measure(f"send and recv in a group, {kind}", nbytes, lambda: swap(x, y))


for kind, make in (("symmetric", symmetric), ("CuPy's own", own)):
    for nbytes in SIZES:
        operations(kind, make, nbytes)
comm.destroy()
