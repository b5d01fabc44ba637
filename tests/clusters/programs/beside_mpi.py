"""MPI and Atoll in one job, side by side: started by an mpiexec, connected by MPI's communicator.

beside_mpi.py [found]   with `found`, init() gets no argument and has to find the communicator (MPICH)
"""

import sys

import atoll
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD


def mpi_works() -> bool:
    return world.allreduce(world.Get_rank()) == sum(range(world.Get_size()))


if sys.argv[1:] == ["found"]:
    atoll.init()
else:
    atoll.init(comm=world)
me, n = atoll.my_pe(), atoll.n_pes()
right = (me, n) == (world.Get_rank(), world.Get_size())
x = atoll.zeros(1000, np.float64)
for turn in range(20):  # one, then the other, then both before any wait
    atoll.put(x, np.full(1000, me + 10.0 * turn), (me + 1) % n)
    received = world.sendrecv(me * turn, dest=(me + 1) % n, source=(me - 1) % n)
    atoll.barrier_all()
    right = (
        right
        and received == (me - 1) % n * turn
        and bool((x == (me - 1) % n + 10.0 * turn).all())
        and mpi_works()
    )
    atoll.barrier_all()
total = int(atoll.sum_reduce(np.array(me)))
hosts = len(set(world.allgather(MPI.Get_processor_name())))
atoll.finalize()
right = world.allreduce(right and mpi_works() and total == sum(range(n)), MPI.LAND)
if me == 0:
    print(
        f"{'right' if right else 'WRONG'}: {n} PEs on {hosts} hosts beside {MPI.Get_library_version().split()[0]}"
    )
sys.exit(0 if right else 1)
