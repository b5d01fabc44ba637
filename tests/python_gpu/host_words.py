"""Kernels of Numba, CuPy and Triton wait for words of the host heap that another PE's host writes."""

import atoll
import numpy as np
import torch

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
gpu = atoll.zeros(1, device="cuda").device
torch.cuda.set_device(gpu)

import atoll.cupy as in_cupy  # noqa: E402
import atoll.numba as in_numba  # noqa: E402
import atoll.triton as in_triton  # noqa: E402
import cupy  # noqa: E402
import numba.cuda  # noqa: E402
import triton.language as tl  # noqa: E402

numba.cuda.select_device(gpu)
cupy.cuda.Device(gpu).use()
SIZE = 512


@in_numba.kernel
def numba_wait(team, flag, data, out, value):
    in_numba.signal_wait_until(team, flag, in_numba.GE, value, scope=in_numba.BLOCK)
    for i in range(in_numba.rank(in_numba.BLOCK), out.size, in_numba.size(in_numba.BLOCK)):
        out[i] = data[i]


@in_triton.kernel
def triton_wait(team, flag, data, out, value, N: tl.constexpr):
    in_triton.signal_wait_until(team, flag, in_triton.GE, value)
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(data + at, volatile=True))


CODE = r"""
#include <atoll/device/device.hpp>
namespace dev = atl::device;
extern "C" __global__ void wait(dev::Team team, unsigned long long* flag, const float* data, float* out, long long n,
                                unsigned long long value) {
    dev::signal_wait_until(team, flag, dev::Compare::ge, value, dev::Block{});
    for (long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = data[i];
}
"""
cupy_wait = in_cupy.RawModule(CODE).get_function("wait")
team = atoll.WORLD.device("device")

flag, data = atoll.signal(), atoll.zeros(SIZE, np.float32)
out = atoll.zeros(SIZE, np.float32, device="cuda")
seen, values = atoll.pin(flag), atoll.pin(data)
assert seen.ptr == flag.ctypes.data and values.torch().data_ptr() == data.ctypes.data


def start(library, value):
    if library == "numba":
        in_numba.launch(numba_wait, 1, 128)(team, seen, values, out, value)
    elif library == "cupy":
        cupy_wait((1,), (128,), (in_cupy.team(team), seen.ptr, values.ptr, out.ptr, SIZE, value))
    elif library == "triton":
        triton_wait[(1,)](team, seen.view(np.int64).torch(), values.torch(), out.torch(), value, SIZE)
    else:
        atoll.signal_wait_until(flag, ">=", value, stream=0)
        atoll.put(out, values.torch(), me, stream=0)


# Run each once before anything waits, so that nothing is compiled or loaded after a kernel that does.
for library in ("numba", "cupy", "triton", "stream"):
    start(library, 0)
torch.cuda.synchronize()
atoll.barrier_all()
for value, library in enumerate(("numba", "cupy", "triton", "stream") * 3, 1):
    start(library, value)
    atoll.put_signal(data, np.full(SIZE, 100 * me + value, np.float32), flag, 1, "add", right)
    torch.cuda.synchronize()
    assert (out.numpy() == 100 * left + value).all(), (library, value, out.numpy()[:4])
    atoll.barrier_all()
atoll.finalize()
print("PE", me, "done")
