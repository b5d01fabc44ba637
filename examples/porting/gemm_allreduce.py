"""A layer of a network whose matrix is divided by rows: each PE multiplies its part, and the products are added.

The rows are in blocks. While the sum of one block travels on a stream of its own, the next block is computed.
"""

import nvshmem.core as nvshmem
import torch
from cuda.core import Device, system
from mpi4py import MPI
from nvshmem.core import Teams

BATCH, WIDTH, BLOCKS = 64, 96, 4

rank = MPI.COMM_WORLD.Get_rank()
device = Device(rank % system.get_num_devices())
device.set_current()
if torch.cuda.is_available():
    torch.cuda.set_device(device.device_id)
place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
stream = device.create_stream()
nvshmem.init(device=device, mpi_comm=MPI.COMM_WORLD, initializer_method="mpi")
me, n = nvshmem.my_pe(), nvshmem.n_pes()

# All PEs draw the same numbers, so that each can check the result.
torch.manual_seed(1)
x = torch.randn(BATCH, n * WIDTH, dtype=torch.float64)
weights = torch.randn(n * WIDTH, WIDTH, dtype=torch.float64)
own = slice(me * WIDTH, (me + 1) * WIDTH)
my_x, my_weights = x[:, own].float().to(place), weights[own].float().to(place)

rows = BATCH // BLOCKS
partial = [nvshmem.tensor((rows, WIDTH), dtype=torch.float32) for _ in range(BLOCKS)]
summed = [nvshmem.tensor((rows, WIDTH), dtype=torch.float32) for _ in range(BLOCKS)]
computed = device.create_event()
for block in range(BLOCKS):
    torch.matmul(my_x[block * rows : (block + 1) * rows], my_weights, out=partial[block])
    device.default_stream.record(computed)
    stream.wait(computed)
    nvshmem.reduce(Teams.TEAM_WORLD, summed[block], partial[block], "sum", stream=stream)
stream.sync()

y = torch.cat(summed).double().cpu()
error = (y - x @ weights).abs().max().item()
assert error < 1e-3, error
if me == 0:
    print(f"{BATCH} x {n * WIDTH} by {n * WIDTH} x {WIDTH}, summed in {BLOCKS} blocks")
nvshmem.barrier_all(stream=stream)
stream.sync()
for tensor in (*partial, *summed):
    nvshmem.free_tensor(tensor)
nvshmem.finalize()
