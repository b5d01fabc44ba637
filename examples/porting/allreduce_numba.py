"""All-reduce in a kernel of Numba: every PE stores its numbers in all inboxes, and adds what has arrived."""

import numpy as np
import nvshmem.core as nvshmem
import nvshmem.core.device.numba as shmem
from cuda.core import Device, system
from mpi4py import MPI
from numba import cuda
from nvshmem.core import ComparisonType, SignalOp, Teams

SIGNAL_SET, CMP_EQ, WORLD = SignalOp.SIGNAL_SET, ComparisonType.CMP_EQ, Teams.TEAM_WORLD
COUNT, THREADS = 1000, 128


@cuda.jit
def one_shot(total, inbox, values, arrived):
    """Add the values of all PEs. inbox and arrived have a row and a signal for each PE. One block."""
    me, n = shmem.my_pe(), shmem.n_pes()
    for step in range(n):
        shmem.put_signal_block(inbox[me], values, arrived[me : me + 1], 1, SIGNAL_SET, (me + step) % n)
    for pe in range(n):
        if cuda.threadIdx.x == 0:
            shmem.signal_wait(arrived[pe : pe + 1], CMP_EQ, 1)
        cuda.syncthreads()
        for i in range(cuda.threadIdx.x, total.size, cuda.blockDim.x):
            total[i] += inbox[pe, i]


@cuda.jit
def by_library(total, values):
    """Do the same by one call."""
    shmem.reduce_block(WORLD, total, values, "sum")


def main():
    """Compare both kernels with the sum that PEs know."""
    import cupy as cp

    device = Device(MPI.COMM_WORLD.Get_rank() % system.get_num_devices())
    device.set_current()
    nvshmem.init(device=device, mpi_comm=MPI.COMM_WORLD, initializer_method="mpi")
    me, n = nvshmem.my_pe(), nvshmem.n_pes()
    values, total, by_call = (nvshmem.array((COUNT,), dtype="float32") for _ in range(3))
    inbox = nvshmem.array((n, COUNT), dtype="float32")
    arrived = nvshmem.array((n,), dtype="uint64")
    values[...] = cp.asarray(np.arange(COUNT, dtype=np.float32) % 100 + me)
    total[...] = 0
    arrived[...] = 0
    stream = device.create_stream()
    device.sync()
    nvshmem.barrier_all(stream=stream)
    stream.sync()

    one_shot[1, THREADS](total, inbox, values, arrived)
    by_library[1, THREADS](by_call, values)
    device.sync()
    expected = n * (np.arange(COUNT) % 100) + n * (n - 1) / 2
    for found in (total, by_call):
        assert bool((found == cp.asarray(expected, dtype="float32")).all())
    if me == 0:
        print(f"{COUNT} numbers were added on {n} PEs")
    nvshmem.barrier_all(stream=stream)
    stream.sync()
    for array in (values, total, by_call, inbox, arrived):
        nvshmem.free_array(array)
    nvshmem.finalize()


if __name__ == "__main__":
    main()
