"""The first allocation makes the PE's GPU current, and a kernel runs on the GPU of its arrays in any case.

With several GPUs PE 1 shows it; with one, all PEs are on the current GPU.
"""

import atoll
import atoll.cupy
import atoll.triton as dev
import cupy
import torch
import triton.language as tl

CODE = r"""
#include <atoll/device/device.hpp>
extern "C" __global__ void fill(atl::device::Team team, int* x) {
    atl::device::p(team, x, team.my_pe, (team.my_pe + 1) % team.n_pes);
    atl::device::sync(team);
}"""


@dev.kernel
def fill(team, x, n: tl.constexpr):
    right = (team.my_pe + 1) % team.n_pes
    dev.p(team, x, team.my_pe, right)
    dev.sync(team)


atoll.init()
left = (atoll.my_pe() - 1) % atoll.n_pes()
x = atoll.zeros(1, "int32", device="cuda", xp=cupy)
y = atoll.zeros(1, "int32", device="cuda", xp=torch)
# No context was current before the first allocation, which keeps that of the PE's GPU.
assert cupy.cuda.runtime.getDevice() == torch.cuda.current_device() == x.device.id == y.get_device()
x += 1

for gpu in (x.device.id, 0):
    cupy.cuda.Device(gpu).use()
    kernel = atoll.cupy.RawModule(CODE).get_function("fill")
    for is_cooperative in (False, True):
        with x.device:
            x.fill(-1)
            y.fill_(-1)
            torch.cuda.synchronize()
        atoll.barrier_all()
        atoll.cupy.launch(kernel, 1, 1, atoll.WORLD, x, cooperative=is_cooperative)
        fill[(1,)](atoll.WORLD.device(), y, 1, launch_cooperative_grid=is_cooperative)
        torch.cuda.synchronize(y.device)
        assert x.tolist() == y.tolist() == [left], (x, y)
        assert cupy.cuda.runtime.getDevice() == gpu
        atoll.barrier_all()
atoll.finalize()
