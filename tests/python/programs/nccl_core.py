"""A program of NCCL4Py, with its names only, on host memory. Arguments: a folder, this rank's number and the ranks'."""

import pickle
import sys
import time
from pathlib import Path

import nccl.core as nccl
import numpy as np
from nccl.bindings.nccl import NCCLError, Result
from nccl.core import AVG, MAX, MIN, PROD, SUM, Communicator, NcclDataType, NcclInvalid

folder, given = Path(sys.argv[1]), sys.argv[2:]
if not given:
    import os

    given = [os.environ["ATOLL_LAUNCHED"].split(":")[1], os.environ["RANKS"]]
pe, n = map(int, given)


def shared_id(name, root=0):
    """Return one unique id on all ranks, through a file."""
    path = folder / name
    if pe == root:
        path.with_suffix(".part").write_bytes(pickle.dumps(nccl.get_unique_id()))
        path.with_suffix(".part").rename(path)
    while not path.exists():
        time.sleep(0.005)
    return pickle.loads(path.read_bytes())


def refused(words, function, *arguments, kind=NcclInvalid, **keywords):
    try:
        function(*arguments, **keywords)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"{words!r} was not said")


def full(value, count=3, dtype=np.float32):
    return np.full(count, value, dtype)


def check_collectives(comm):
    me, size = comm.rank, comm.nranks
    every = np.arange(1, size + 1)
    for dtype in ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
        exact = {SUM: every.sum(), PROD: every.prod(), MIN: 1, MAX: size, AVG: every.mean()}
        for op, value in exact.items():
            got = np.zeros(4, dtype)
            comm.allreduce(np.full(4, me + 1, dtype), got, op)
            assert (got == np.asarray(value).astype(dtype)).all(), (dtype, op, got)
    signed = full(-1 - me, dtype=np.int32)
    comm.allreduce(signed, signed, AVG)
    assert (signed == int(-every.mean())).all(), signed

    x, y = np.arange(5.0) * (me + 1), full(-1, 7, float)
    comm.reduce(x, y, SUM, root=size - 1)
    assert y.tolist() == ([*(np.arange(5) * every.sum()), -1, -1] if me == size - 1 else [-1] * 7)
    comm.reduce(x, None if me else x, SUM, root=0)
    comm.broadcast(x if me == 0 else None, x, 0)
    assert x.tolist() == (np.arange(5) * every.sum()).tolist()

    turned = np.zeros((3, 2), np.int32, order="F")
    comm.allreduce(np.arange(6, dtype=np.int32), turned, SUM)
    assert turned.T.tolist() == [[0, size, 2 * size], [3 * size, 4 * size, 5 * size]]

    blocks = np.arange(2 * size, dtype=np.int64) + 100 * me
    mine = blocks[2 * me : 2 * me + 2].copy()
    got = np.zeros(2, np.int64)
    comm.reduce_scatter(blocks, got, SUM)
    assert got.tolist() == [size * (2 * me + i) + 100 * (every - 1).sum() for i in range(2)]
    comm.reduce_scatter(blocks, blocks[2 * me : 2 * me + 2], MAX)
    assert blocks[2 * me : 2 * me + 2].tolist() == (mine + 100 * (size - 1 - me)).tolist()

    gathered = np.zeros((size, 3), np.float32)
    comm.allgather(full(me), gathered)
    assert gathered.tolist() == [[rank] * 3 for rank in range(size)]
    gathered[:] = me
    comm.allgather(gathered[me], gathered)
    assert gathered.tolist() == [[rank] * 3 for rank in range(size)]
    comm.gather(full(me + 1), gathered if me == size - 1 else None, root=size - 1)
    assert gathered.tolist() == [[rank + (me == size - 1)] * 3 for rank in range(size)]
    part = np.zeros(3, np.float32)
    comm.scatter(gathered if me == size - 1 else None, part, root=size - 1)
    assert part.tolist() == [me + 1] * 3
    sent, back = np.arange(2 * size) + 10 * me, np.zeros(2 * size, int)
    comm.alltoall(sent, back)
    assert back.tolist() == [10 * rank + 2 * me + i for rank in range(size) for i in range(2)]

    op = comm.create_pre_mul_sum(0.5 * (me + 1), nccl.FLOAT32)
    got = np.zeros(3, np.float32)
    comm.allreduce(full(2), got, op)
    assert got.tolist() == [every.sum()] * 3
    refused("made for FLOAT32", comm.allreduce, x, x, op)
    twice = comm.create_pre_mul_sum(np.array([2], np.int32))
    got = np.zeros(1, np.int32)
    comm.reduce_scatter(full(me, size, np.int32), got, twice)
    assert got[0] == 2 * (every - 1).sum()
    empty = np.zeros(0)
    comm.allreduce(empty, empty, SUM)
    comm.send(empty, 0)


def check_messages(comm):
    me, size = comm.rank, comm.nranks
    right, left = (me + 1) % size, (me - 1) % size
    for count in (4, 200_000):
        x, y = full(me, count), full(-1, count)
        with nccl.group():
            comm.send(x, right)
            comm.recv(y, left)
            assert y[0] == -1
        assert (y == left).all()
    x, y, z = full(me), full(0), np.zeros((size, 3), np.float32)
    nccl.group_start()
    nccl.group_start()
    comm.recv(y, me)
    comm.allgather(x, z)
    nccl.group_end()
    comm.send(full(7), me)
    assert y[0] == z[-1, 0] == 0
    nccl.group_end()
    assert y[0] == 7
    assert z[:, 0].tolist() == list(range(size))
    refused("in one group", comm.send, x, me)
    if size > 1:
        (comm.send if me == 0 else comm.recv if me == 1 else len)(*((x, 1 - me) if me < 2 else (x,)))
        assert x[0] == (0 if me < 2 else me)
    try:
        with nccl.group():
            comm.send(x, right)
            raise KeyError
    except KeyError:
        pass
    nccl.group_start()
    comm.allreduce(x, x, SUM)
    assert nccl.group_end(simulate=True).estimated_time == 0
    refused("no group is open", nccl.group_end)


def check_windows(comm):
    me, size = comm.rank, comm.nranks
    right, left = (me + 1) % size, (me - 1) % size
    pad = nccl.mem_alloc(64 * (me + 1))  # allocation is not collective
    buffer = nccl.mem_alloc(8 * 4)
    seen = np.from_dlpack(buffer).view(np.int64)
    seen[:] = 0
    window = comm.register_window(buffer)
    assert window.is_valid
    assert (window.size, window.user_ptr) == (32, buffer.handle)
    descriptor = nccl.WaitSignalDesc(peer=left, op_count=2, signal_index=1)
    for turn in range(3):
        comm.put_signal(np.array([me, turn]), right, window, 1, signal_index=1)
        comm.signal(right, signal_index=1)
        comm.wait_signal([descriptor])
        assert seen.tolist() == [0, left, turn, 0]
        comm.allreduce(np.zeros(1), np.zeros(1), SUM)
    with nccl.group():
        comm.wait_signal(nccl.WaitSignalDesc(left, signal_index=1))
        comm.put_signal(np.array([5]), right, window.handle, 3, signal_index=1)
    assert seen[3] == 5
    assert (
        window.get_peer_device_pointer(me)
        == buffer.handle
        == window.get_lsa_device_pointer(comm.team_lsa.rank)
    )
    assert window.get_lsa_multimem_device_pointer() is None
    refused("outside rank", comm.put_signal, np.zeros(5), right, window)
    refused("set NCCLConfig.num_rma_sig", comm.signal, right, 2)
    refused("not an open window", comm.put_signal, np.zeros(1), right, 99)
    comm.allreduce(np.zeros(1), np.zeros(1), SUM)
    window.close()
    window.close()
    assert (window.handle, window.is_valid) == (0, False)
    refused("was closed", lambda: window.user_ptr, kind=RuntimeError)
    refused("cannot be reached by other PEs", comm.register_window, np.zeros(4))
    nccl.mem_free(buffer)
    nccl.mem_free(pad)
    again = nccl.cupy.empty((2, 2), np.float32, order="F")
    assert again.strides == (4, 8)
    handle = comm.register_buffer(again)
    assert handle.size == 16
    assert handle.handle == again.ctypes.data


def check_queries(comm):
    me, size = comm.rank, comm.nranks
    assert comm.is_valid
    assert Communicator(comm.ptr).rank == me
    found = comm.properties
    assert (found.rank, found.n_ranks, found.cuda_dev) == (me, size, comm.device.device_id)
    here = comm.team_lsa
    assert comm.team_world == nccl.NCCLTeam(size, me, 1)
    assert comm.n_lsa_teams == size // here.n_ranks
    if here.n_ranks == size:
        assert (here, comm.team_rail) == (comm.team_world, nccl.NCCLTeam(1, 0, size))
    assert comm.team_rank_to_lsa(comm.team_world, me) == here.rank
    last = comm.team_rank_to_world(here, here.n_ranks - 1)
    assert comm.team_rank_to_lsa(comm.team_world, last) == here.n_ranks - 1
    assert comm.team_rank_to_world(here, here.rank) == me
    refused("team_rank is", comm.team_rank_to_world, here, size)
    assert comm.get_async_error() == Result.Success
    assert comm.get_last_error() == ""
    comm.suspend()
    assert comm.get_mem_stat(nccl.NcclCommMemStat.GPU_MEM_SUSPENDED) == 1
    assert comm.get_mem_stat(nccl.NcclCommMemStat.GPU_MEM_TOTAL) == 0  # on the host
    refused("call resume first", comm.allreduce, full(0), full(0), SUM)
    comm.resume()
    assert nccl.get_error_string(Result.RemoteError)
    assert isinstance(pickle.loads(pickle.dumps(NCCLError(6, "text"))), NCCLError)
    assert str(nccl.get_version().nccl4py) == nccl.__version__
    assert NcclDataType("float32") is nccl.FLOAT


def check_mistakes(comm):
    x = full(0)
    refused("sendbuf has FLOAT32, recvbuf has FLOAT64", comm.allreduce, x, np.zeros(3), SUM)
    refused("recvbuf has 2 elements, but 3 are needed", comm.allreduce, x, x[:2], SUM)
    refused("is not contiguous", comm.allreduce, np.zeros((4, 4))[:, 1], np.zeros(4), SUM)
    refused(
        "NCCL has no data type for complex128",
        comm.allreduce,
        np.zeros(2, complex),
        np.zeros(2, complex),
        SUM,
    )
    refused("op is 9", comm.allreduce, x, x, 9)
    refused("root is 9", comm.broadcast, x, x, 9)
    refused("is a list", comm.allreduce, [1.0], x, SUM)
    refused("is read-only", comm.allreduce, x, np.frombuffer(bytes(12), np.float32), SUM)
    refused("peer is -1", comm.send, x, -1)
    refused("2 devices were passed", Communicator.init_all, 2)
    refused("is empty", Communicator.init, 1, 0, nccl.get_unique_id(empty=True))
    refused("rank is 1 and nranks 1", Communicator.init, 1, 1, nccl.get_unique_id())
    refused("but this process is in a job of", Communicator.init, 99, 0, nccl.get_unique_id())
    refused("NCCL's own cannot be used", Communicator, 4)
    if comm.nranks > 1:
        refused("allreduce", comm.allreduce, full(0, 3 + (comm.rank == 0)), full(0, 4), SUM)
        assert comm.get_async_error() == Result.InvalidUsage
        assert "allreduce" in comm.get_last_error()


empty = Communicator()
refused("is not initialized", lambda: empty.nranks)
assert not empty.is_valid
config = nccl.NCCLConfig(comm_name="all", num_rma_sig=2)
comm = Communicator.init(nranks=n, rank=n - 1 - pe, unique_id=shared_id("all"), config=config)
assert (comm.rank, comm.nranks) == (n - 1 - pe, n)
check_collectives(comm)
check_messages(comm)
check_windows(comm)
check_queries(comm)

# A communicator of the odd ranks, by a unique id of theirs; the others do not call.
if pe % 2:
    odd = Communicator.init(n // 2, pe // 2, shared_id("odd", root=1), config)
    assert (odd.rank, odd.nranks) == (pe // 2, n // 2)
    check_collectives(odd)
    check_messages(odd)
    check_windows(odd)
    odd.destroy()
    assert odd.ptr == 0
half = comm.split(comm.rank % 2, key=-comm.rank)
assert half.rank == (n - 1 - comm.rank) // 2
check_collectives(half)
halves = half.split(None if half.rank == 0 else 0)
assert halves.is_valid == (half.rank > 0)
check_messages(half)
if comm.rank:
    smaller = comm.shrink([0])
    assert (smaller.rank, smaller.nranks) == (comm.rank - 1, n - 1)
    check_collectives(smaller)
    check_messages(smaller.split(smaller.rank % 2))
    # It grows back by rank 0, which becomes the last.
    uid = smaller.get_unique_id() if comm.rank == 1 else None
    if uid:
        (folder / "grow").write_bytes(bytes(uid))
        (folder / "grown").touch()
    grown = smaller.grow(n, uid)
else:
    while not (folder / "grown").exists():
        time.sleep(0.005)
    grown = Communicator().grow(n, nccl.UniqueId.from_bytes((folder / "grow").read_bytes()), rank=n - 1)
assert grown.rank == (comm.rank - 1) % n
check_collectives(grown)
check_mistakes(grown)
comm.revoke()
refused("make another by shrink or split", comm.allreduce, full(0), full(0), SUM)
half.finalize()
half.destroy()
half.destroy()
Communicator.init_all(1)[0].destroy()
comm.abort()
print("done")
