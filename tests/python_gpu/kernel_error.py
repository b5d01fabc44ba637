"""The errors that a program gets when the GPU stops a kernel: kernel_error.py
[atoll|many|torch|wrong_pe|wrong_index|wrong_address].

One PE's kernel is stopped; the other PEs go on.
"""

import os
import sys

os.environ.setdefault("ATOLL_WAIT_TIMEOUT", "1")

import atoll
import numpy as np

mode = sys.argv[1] if len(sys.argv) > 1 else "atoll"
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
flag = atoll.zeros(1, np.int64, device="cuda")
host = atoll.zeros(1, np.int64)
atoll.check_kernels()


def heard(call, *words):
    try:
        call()
    except atoll.KernelError as error:
        for word in ("context is lost", *words):
            assert word in str(error), (word, str(error))
        print("PE", me, "heard:", error)
        return
    raise AssertionError("no KernelError")


atoll.barrier_all()
if me == n - 1:
    if mode in ("wrong_pe", "wrong_address"):
        import atoll.cupy
        import cupy

        cupy.cuda.Device(flag.device).use()
        code = """
        #include <atoll/device/device.hpp>
        extern "C" __global__ void wrong(atl::device::Team team, long long* x, int pe) { atl::device::p(team, x, 1ll, pe); }
        """
        kernel = atoll.cupy.RawKernel(
            code, "wrong"
        )  # kept: CuPy can no longer unload it, and would print an error
        grid = "The kernel wrong, 1 block of 1 thread,"
        if mode == "wrong_pe":
            atoll.cupy.launch(kernel, 1, 1, atoll.WORLD, flag, np.int32(99))
            heard(lambda: atoll.check_kernels(stream=0), "p for team PE 99", "PEs 0 to", grid)
        else:
            ordinary = cupy.zeros(1, np.int64)
            atoll.cupy.launch(kernel, 1, 1, atoll.WORLD, ordinary, np.int32(0))
            words = f"p at {ordinary.data.ptr:#x}", "this PE's symmetric memory is 0x", grid
            heard(lambda: atoll.check_kernels(stream=0), "not symmetric", *words)
    elif mode == "wrong_index":
        import cupy

        cupy.cuda.Device(flag.device).use()
        index = flag.cupy()[:1].repeat(3)
        index[1] = 7
        index.device.synchronize()
        out = index.copy()
        atoll.take(flag, index, 0, out, stream=0)
        heard(
            lambda: atoll.check_kernels(stream=0),
            "take for element 7, index 1 of the call",
            "-1 to 0",
            "1 block of 256 threads,",
        )
    else:
        import atoll.triton as dev
        import torch
        import triton  # noqa: F401

        torch.cuda.set_device(flag.device)

        @dev.kernel
        def late(team, flag):
            dev.signal_wait_until(team, flag, dev.GE, 5, 42)

        @dev.kernel
        def none_of_many(team, flag):
            dev.wait_until_any(team, flag, 1, None, dev.GE, 5, 42)

        (none_of_many if mode == "many" else late)[(1,)](atoll.WORLD.device(), flag.torch())
        call = "wait_until" if mode == "many" else "signal_wait_until"
        name = "none_of_many" if mode == "many" else "late"
        grid = f"The kernel {name}, 1 block of 128 threads,"
        waited = f"{call} at 0x", "found 0, waiting for >= 5", "tag 42", " of block 0. ", grid
        if mode != "torch":
            heard(lambda: atoll.check_kernels(stream="current"), *waited)
        else:
            try:
                torch.cuda.synchronize()
            except RuntimeError as error:
                print("PyTorch says:", str(error).splitlines()[0])
            else:
                raise AssertionError("PyTorch noticed nothing")
        heard(atoll.check_kernels, *waited)
        heard(lambda: atoll.put(flag, flag, me, stream=0), *waited)
        heard(lambda: flag.numpy(), *waited)
    atoll.put(host, 7, 0)  # memory of the host works on
    if me != 0:
        atoll.wait_until(host, "==", 8, timeout=60)
if me == 0:  # it has no other bound: the limit of 1 s holds for all PEs
    atoll.wait_until(host, "==", 7, timeout=60)
    for pe in range(1, n):
        atoll.put(host, 8, pe)
    atoll.quiet()
else:
    atoll.wait_until(host, "==", 8, timeout=60)
print("PE", me, "passed", mode, flush=True)
