"""Heat in a rod that is divided among the PEs: CuPy computes, and stores the ends into the neighbours' arrays."""

import cupy as cp
import nvshmem.core as nvshmem
from cuda.core import Device, system
from mpi4py import MPI
from nvshmem.core import Teams

CELLS, STEPS = 100, 300

device = Device(MPI.COMM_WORLD.Get_rank() % system.get_num_devices())
device.set_current()
stream = device.create_stream()
nvshmem.init(device=device, mpi_comm=MPI.COMM_WORLD, initializer_method="mpi")
me, n = nvshmem.my_pe(), nvshmem.n_pes()
left, right = (me - 1) % n, (me + 1) % n

# Cells 1 to CELLS are this PE's; the two others are copies of the neighbours' ends. The rod is a ring.
rod = nvshmem.array((CELLS + 2,), dtype="float64")
rod_of_left = nvshmem.get_peer_array(rod, left)
rod_of_right = nvshmem.get_peer_array(rod, right)
heat = nvshmem.array((1,), dtype="float64")
total = nvshmem.array((1,), dtype="float64")
rod[...] = 0
if me == 0:
    rod[CELLS // 2] = 1000


def meet():
    """Let all PEs finish their stores."""
    device.sync()
    nvshmem.barrier_all(stream=stream)
    stream.sync()


for _ in range(STEPS):
    meet()
    rod_of_left[CELLS + 1] = rod[1]
    rod_of_right[0] = rod[CELLS]
    meet()
    rod[1:-1] += 0.25 * (rod[:-2] - 2 * rod[1:-1] + rod[2:])

heat[0] = rod[1:-1].sum()
device.sync()
nvshmem.reduce(Teams.TEAM_WORLD, total, heat, "sum", stream=stream)
stream.sync()

# The same rod on every PE alone.
whole = cp.zeros(n * CELLS)
whole[CELLS // 2 - 1] = 1000
for _ in range(STEPS):
    whole = whole + 0.25 * (cp.roll(whole, 1) - 2 * whole + cp.roll(whole, -1))
assert bool(cp.allclose(rod[1:-1], whole[me * CELLS : (me + 1) * CELLS]))
assert abs(float(total[0]) - 1000) < 1e-6
if me == 0:
    print(f"the warmest of {n * CELLS} cells has {float(whole.max()):.1f} of {float(total[0]):.0f}")
meet()
for array in (rod, heat, total):
    nvshmem.free_array(array)
nvshmem.finalize()
