"""A pipeline: batches go through the ranks, each of which is a layer. Results return to rank 0 by windows and signals."""

import cupy as cp
import nccl.core as nccl
import numpy as np
from cuda.core import Device, system
from mpi4py import MPI

BATCHES, WIDTH = 6, 32

mpi = MPI.COMM_WORLD
rank, nranks = mpi.Get_rank(), mpi.Get_size()
device = Device(rank % system.get_num_devices())
device.set_current()
identifier = mpi.bcast(nccl.get_unique_id() if rank == 0 else None, root=0)
comm = nccl.Communicator.init(nranks, rank, identifier)

# All ranks draw the layers of all, so that rank 0 can check the result.
random = np.random.default_rng(5)
layers = random.standard_normal((nranks, WIDTH, WIDTH)).astype(np.float32) / WIDTH**0.5
inputs = random.standard_normal((BATCHES, WIDTH)).astype(np.float32)
layer, batches = cp.asarray(layers[rank]), cp.asarray(inputs)

# The last rank puts its results from registered memory into that of rank 0.
outbox, inbox = nccl.mem_alloc(WIDTH * 4), nccl.mem_alloc(BATCHES * WIDTH * 4)
window_of_outbox, window = comm.register_window(outbox), comm.register_window(inbox)
made = cp.from_dlpack(outbox).view("float32")
found = cp.from_dlpack(inbox).view("float32").reshape(BATCHES, WIDTH)
for batch in range(BATCHES):
    if rank == 0:
        given = batches[batch]
    else:
        given = cp.empty(WIDTH, dtype="float32")
        comm.recv(given, rank - 1)
    made[...] = cp.maximum(given @ layer, 0)
    if rank + 1 < nranks:
        comm.send(made, rank + 1)
    elif nranks > 1:
        comm.put_signal(made, 0, window, peer_window_offset=batch * WIDTH)
    else:
        found[batch] = made

if rank == 0:
    if nranks > 1:
        comm.wait_signal(nccl.WaitSignalDesc(peer=nranks - 1, op_count=BATCHES))
    device.sync()
    expected = inputs
    for each in layers:
        expected = np.maximum(expected @ each, 0)
    assert bool(cp.allclose(found, cp.asarray(expected), atol=1e-4))
    print(f"{BATCHES} batches went through {nranks} layers")
mpi.barrier()
for each in (window_of_outbox, window):
    each.close()
comm.destroy()
