"""The host's cost of a call on a stream, from Python.

The operations are those of bench/gpu/enqueue.cpp, on arrays of each library, and torch.distributed's
all_reduce. PE 0 prints a line of JSON for each operation.
"""

import json
import statistics
import sys
import time

import atoll

CALLS, BATCHES = 200, 41
WARM_UP_S = 0.5
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right = (me + 1) % n
device = atoll.zeros(1, device="cuda").device


def measure(side, op, call, synchronize):
    each = []
    begin = time.perf_counter()
    while atoll.max_reduce(
        int(time.perf_counter() - begin < WARM_UP_S)
    ):  # until the clocks are at full speed, equally long on all PEs
        for _ in range(CALLS):
            call()
        synchronize()
    for _ in range(BATCHES):
        synchronize()
        atoll.barrier_all()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        each.append((time.perf_counter() - start) / CALLS * 1e6)
    synchronize()
    atoll.barrier_all()
    each.sort()
    if me == 0:
        row = {
            "side": side,
            "op": op,
            "bytes": 8,
            "median_us": round(statistics.median(each), 3),
            "p10_us": round(each[BATCHES // 10], 3),
            "p90_us": round(each[BATCHES * 9 // 10], 3),
        }
        print(json.dumps(row), flush=True)


def all_of(side, xp, stream, synchronize):
    x = atoll.zeros(2, "float32", device="cuda", xp=xp)
    y = atoll.zeros(2, "float32", device="cuda", xp=xp)
    words = atoll.signal(1, device="cuda", xp=xp)
    measure(side, "put", lambda: atoll.put(y, x, right, stream=stream), synchronize)
    measure(side, "signal_add", lambda: atoll.signal_add(words, 1, right, stream=stream), synchronize)
    measure(
        side,
        "put_signal",
        lambda: atoll.put_signal(y, x, words, 1, atoll.SIGNAL_ADD, right, stream=stream),
        synchronize,
    )
    measure(side, "sum_reduce", lambda: atoll.sum_reduce(y, x, stream=stream), synchronize)


import torch  # noqa: E402

torch.cuda.set_device(device)
stream = torch.cuda.Stream()
all_of("atoll DeviceArray", None, stream, torch.cuda.synchronize)
all_of("atoll torch.Tensor", torch, stream, torch.cuda.synchronize)
with torch.cuda.stream(stream):
    all_of("atoll torch.Tensor, current", torch, "current", torch.cuda.synchronize)
try:
    import cupy

    cupy.cuda.Device(device).use()
    all_of("atoll cupy.ndarray", cupy, cupy.cuda.Stream(non_blocking=True), torch.cuda.synchronize)
except ImportError as error:
    print(error, file=sys.stderr)
if torch.distributed.is_nccl_available() and "--nccl" in sys.argv:
    import os

    os.environ.update(RANK=str(me), WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT="29533")
    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", device))
    a = torch.zeros(2, device="cuda")
    with torch.cuda.stream(stream):
        torch.distributed.all_reduce(a)
        measure("torch NCCL", "sum_reduce", lambda: torch.distributed.all_reduce(a), torch.cuda.synchronize)
    torch.distributed.destroy_process_group()
atoll.finalize()
