"""A program of NCCL4Py on arrays of a GPU, with NCCL4Py's names but for atoll.barrier_all and DeviceArray.numpy."""

import itertools

import atoll
import nccl.core as nccl
import numpy as np
from atoll.nccl import _world
from cuda.core import Device
from mpi4py import MPI
from nccl.core import AVG, MAX, SUM

mpi = MPI.COMM_WORLD
me, n = mpi.Get_rank(), mpi.Get_size()
assert mpi.allreduce(me + 1) == n * (n + 1) // 2
assert mpi.Split(me % 2, -me).Get_size() == len(range(me % 2, n, 2))
assert mpi.allgather(me) == list(range(n)) == mpi.alltoall([me] * n)
assert mpi.gather(me, 1) == (list(range(n)) if me == 1 else None)
assert mpi.scatter(list(range(n)) if me == 0 else None) == me
assert mpi.reduce(me, MPI.MAX) == (n - 1 if me == 0 else None)
assert mpi.Split_type(MPI.COMM_TYPE_SHARED).size <= n
mpi.Dup().Barrier()
try:
    mpi.Iprobe()
except AttributeError as error:
    assert "start the program by mpiexec instead" in str(error)
ids = np.zeros(128, np.uint8) if me else nccl.get_unique_id().as_ndarray
mpi.Bcast([ids, MPI.BYTE], root=0)
mpi.Allgather(np.array([me]), numbers := np.zeros(n, int))
assert numbers.tolist() == list(range(n))
_world.STAGE_BYTES = 4096
comm = nccl.Communicator.init(n, me, nccl.UniqueId.from_bytes(ids.tobytes()))
right, left = (me + 1) % n, (me - 1) % n
total = n * (n + 1) // 2


class Foreign:
    """An array of another library, whose memory is not symmetric."""

    def __init__(self, values):
        self.values = values
        self.shape, self.dtype = values.shape, values.dtype

    @property
    def __cuda_array_interface__(self):
        return {**self.values.__array_interface__, "version": 3}

    def numpy(self):
        return self.values.copy()


def make(shape, value):
    if foreign:
        return Foreign(np.full(shape, value, np.float32))
    made = nccl.cupy.empty(shape, np.float32)
    made[...] = np.full(made.shape, value, np.float32)
    return made


def check(x, expected):
    atoll.barrier_all()
    found = x.numpy().tolist()
    atoll.barrier_all()
    assert found == expected, (me, found, expected)


rows = [[rank + 1.0] * 4 for rank in range(n)]
for stream, foreign in itertools.product((None, Device(0).create_stream()), (False, True)):
    given = {"stream": stream}
    x, y, z = make(4, me + 1), make(4, 0), make((n, 4), 0)
    comm.allreduce(x, y, SUM, **given)
    check(y, [total] * 4)
    comm.allreduce(x, y, AVG, **given)
    check(y, [total / n] * 4)
    comm.reduce(x, y if me == 0 else None, MAX, root=0, **given)
    check(y, [total / n if me else n] * 4)
    comm.allreduce(x, y, comm.create_pre_mul_sum(0.5, nccl.FLOAT32), **given)
    check(y, [total / 2] * 4)
    comm.allgather(x, z, **given)
    check(z, rows)
    comm.reduce_scatter(z, y, SUM, **given)
    check(y, [n * (me + 1)] * 4)
    comm.reduce_scatter(z, y, comm.create_pre_mul_sum(2.0, nccl.FLOAT32), **given)
    check(y, [2 * n * (me + 1)] * 4)
    comm.broadcast(x if me == 1 else None, y, 1, **given)
    check(y, rows[1])
    z = make((n, 4), 0)
    comm.gather(x, z if me == 1 else None, root=1, **given)
    check(z, rows if me == 1 else [[0] * 4] * n)
    comm.scatter(z if me == 1 else None, y, root=1, **given)
    check(y, rows[me])
    comm.alltoall(z, z2 := make((n, 4), -1), **given)
    check(z2, [rows[me] if rank == 1 else [0] * 4 for rank in range(n)])
    with nccl.group():
        comm.send(x, right, **given)
        comm.recv(y, left, **given)
    check(y, rows[left])
    comm.split(0, -me).allreduce(x, y, SUM, **given)
    check(y, [total] * 4)
    if foreign:  # several pieces between hosts
        comm.allreduce(long := make(n * 2000, me), long, SUM, **given)
        check(long, [float(total - n)] * (n * 2000))
        comm.alltoall(make(n * 2000, me), long, **given)
        check(long, [float(rank) for rank in range(n) for _ in range(2000)])
        with nccl.group():
            comm.recv(long, left, **given)
            comm.send(make(n * 2000, me), right, **given)
        check(long, [float(left)] * (n * 2000))
        comm.reduce_scatter(long, Foreign(long.values[2000 * me : 2000 * (me + 1)]), MAX, **given)
        assert long.values[2000 * me : 2000 * (me + 1)].max() == n - 1
    # These have no form on GPUs.
    comm.reduce(x, y, comm.create_pre_mul_sum(3.0, nccl.FLOAT32), 1, **given)
    check(y, [total] * 4 if me != 1 else [3 * total] * 4)
    numbers = Foreign(np.full(3, -1 - me, np.int32)) if foreign else nccl.cupy.empty(3, np.int32)
    if not foreign:
        numbers[...] = np.full(3, -1 - me, np.int32)
    comm.allreduce(numbers, numbers, AVG, **given)
    check(numbers, [int(-total / n)] * 3)
    if me > 0:
        others = comm.shrink([0])
        others.allreduce(x, y, SUM, **given)
        assert y.numpy().tolist() == [total - 1] * 4
        all_rows = Foreign(np.zeros((n - 1, 4), np.float32))
        others.gather(x, all_rows if me == 1 else None, root=0, **given)
        others.allgather(x, all_rows, **given)
        assert all_rows.numpy().tolist() == rows[1:]
        assert x.numpy().tolist() == rows[me]
    memory = nccl.mem_alloc(4 * 6)
    seen = memory.memory.view(np.float32)
    seen[...] = np.zeros(6, np.float32)
    window = comm.register_window(memory)
    comm.allreduce(x, y, SUM, **given)
    comm.put_signal(x, right, window, 1, **given)
    comm.signal(right, **given)
    comm.wait_signal(nccl.WaitSignalDesc(left, 2), **given)
    check(seen, [0, *rows[left], 0])
    window.close()
_, count, kind, device = nccl.cupy.resolve_array(nccl.cupy.empty(4, np.float32))
assert (count, kind, device) == (4, nccl.FLOAT32, comm.cuda_dev)
comm.allreduce(host := np.ones(3), host, SUM)
assert host.tolist() == [n] * 3
try:
    comm.register_window(host)
except nccl.NcclInvalid as error:
    assert "cannot be reached by other PEs" in str(error)
else:
    raise AssertionError("a window of other memory was accepted")
if comm._state.group:
    try:
        with nccl.group():
            comm.send(Foreign(np.zeros(3, np.float32)), me)
    except nccl.NcclInvalid as error:
        assert "sends 1 messages to itself, but receives 0" in str(error)
    else:
        raise AssertionError("a message to this rank that nothing receives was accepted")
assert comm.get_mem_stat(nccl.NcclCommMemStat.GPU_MEM_TOTAL) == (32 << 20 if comm._state.group else 0)
same = nccl.Communicator(comm.ptr)
comm.destroy()
try:
    same.allreduce(Foreign(np.zeros(3, np.float32)), Foreign(np.zeros(3, np.float32)), SUM)
except nccl.NcclInvalid as error:
    assert "was destroyed" in str(error)
else:
    raise AssertionError("a call on a communicator that was destroyed was accepted")
print("done")
