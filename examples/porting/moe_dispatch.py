"""A mixture of experts: each token goes to the PE of its expert, and the expert's result comes back.

PEs first exchange how many tokens they send. Then each stores its tokens in the inboxes of the others, by CuPy, and
signals them. The results go back in the same way.
"""

import cupy as cp
import numpy as np
import nvshmem.core as nvshmem
from cuda.core import Device, system
from mpi4py import MPI
from nvshmem.core import ComparisonType, SignalOp, Teams

TOKENS, WIDTH = 64, 16

comm = MPI.COMM_WORLD
device = Device(comm.Get_rank() % system.get_num_devices())
device.set_current()
stream = device.create_stream()

# The identifier of the job goes from rank 0 to all.
identifier = nvshmem.get_unique_id(empty=comm.Get_rank() != 0)
comm.Bcast(identifier._data.view(np.int8), root=0)
nvshmem.init(
    device=device,
    uid=identifier,
    rank=comm.Get_rank(),
    nranks=comm.Get_size(),
    mpi_comm=None,
    initializer_method="uid",
)
me, n = nvshmem.my_pe(), nvshmem.n_pes()

# Tokens in the order of their experts. PE e has expert e, which multiplies by e + 1.
random = np.random.default_rng(me)
expert = np.sort(random.integers(0, n, TOKENS))
tokens = nvshmem.array((TOKENS, WIDTH), dtype="float32")
tokens[...] = cp.asarray(random.random((TOKENS, WIDTH), dtype=np.float32))
inbox = nvshmem.array((n * TOKENS, WIDTH), dtype="float32")
results = nvshmem.array((TOKENS, WIDTH), dtype="float32")
arrived, returned = ([nvshmem.buffer(8) for _ in range(n)] for _ in range(2))

# counts[s][t]: the number of tokens that PE s sends to PE t. They begin at these rows of s's tokens, and of t's inbox.
mine = nvshmem.array((n,), dtype="int64")
table = nvshmem.array((n * n,), dtype="int64")
mine[...] = cp.asarray(np.bincount(expert, minlength=n))
device.sync()
nvshmem.fcollect(Teams.TEAM_WORLD, table, mine, stream=stream)
stream.sync()
counts = np.array([int(count) for count in table]).reshape(n, n)
of_source = np.cumsum(counts, axis=1) - counts
of_inbox = np.cumsum(counts, axis=0) - counts


def rows(begin, source, target):
    """Return the rows of one source's tokens for one target."""
    return slice(int(begin[source, target]), int(begin[source, target] + counts[source, target]))


def send(array, values, there, signal, target):
    """Store values in rows of the target's array, and signal the target."""
    nvshmem.get_peer_array(array, target)[there] = values
    device.sync()
    nvshmem.signal_op(signal, 1, SignalOp.SIGNAL_SET, target, stream=stream)


for step in range(n):
    target = (me + step) % n
    send(inbox, tokens[rows(of_source, me, target)], rows(of_inbox, me, target), arrived[me], target)
for step in range(n):
    source = (me + step) % n
    nvshmem.signal_wait(arrived[source], 1, ComparisonType.CMP_EQ, stream=stream)
    stream.sync()
    done = inbox[rows(of_inbox, source, me)] * (me + 1)
    send(results, done, rows(of_source, source, me), returned[me], source)
for source in range(n):
    nvshmem.signal_wait(returned[source], 1, ComparisonType.CMP_EQ, stream=stream)
stream.sync()

expected = tokens * cp.asarray(expert.astype(np.float32) + 1)[:, None]
assert bool((results == expected).all())
if me == 0:
    print(f"{n} experts took {n * TOKENS} tokens, the first one {counts[:, 0].sum()}")
nvshmem.barrier_all(stream=stream)
stream.sync()
for array in (tokens, inbox, results, mine, table):
    nvshmem.free_array(array)
for signal in (*arrived, *returned):
    nvshmem.free(signal)
nvshmem.finalize()
