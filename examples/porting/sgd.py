"""Least squares by gradient descent: each rank has a part of the data, and gradients are averaged."""

import cupy as cp
import nccl.core as nccl
import numpy as np
from cuda.core import Device, system
from mpi4py import MPI

FEATURES, SAMPLES, STEPS = 8, 200, 400

mpi = MPI.COMM_WORLD
rank, nranks = mpi.Get_rank(), mpi.Get_size()
device = Device(rank % system.get_num_devices())
device.set_current()
identifier = mpi.bcast(nccl.get_unique_id() if rank == 0 else None, root=0)
comm = nccl.Communicator.init(nranks, rank, identifier)

random = np.random.default_rng(rank)
wanted = np.arange(FEATURES, dtype=np.float32)
x = random.standard_normal((SAMPLES, FEATURES)).astype(np.float32)
y = x @ wanted + 0.01 * random.standard_normal(SAMPLES).astype(np.float32)
x, y = cp.asarray(x), cp.asarray(y)

# Rank 0 chooses the start.
weights = cp.asarray(random.standard_normal(FEATURES).astype(np.float32))
comm.broadcast(weights, weights, root=0)
average = cp.empty_like(weights)
for _ in range(STEPS):
    gradient = 2 / SAMPLES * (x.T @ (x @ weights - y))
    comm.allreduce(gradient, average, nccl.AVG)
    weights -= 0.05 * average

# All ranks have the same weights, to the last bit.
everyone = cp.empty((nranks, FEATURES), dtype="float32")
comm.allgather(weights, everyone)
device.sync()
assert bool((everyone == everyone[0]).all())
error = float(cp.abs(weights - cp.asarray(wanted)).max())
assert error < 0.01, error
if rank == 0:
    print(f"{nranks} ranks agree on {FEATURES} weights")
comm.destroy()
