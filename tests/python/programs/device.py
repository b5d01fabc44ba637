"""Arrays of a GPU and all operations that take them; with tests/simulated if there is no GPU."""

import sys

import atoll
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
STREAMS = (None, 0) if "--streams" not in sys.argv else (0,)


def check(found, expected):
    found = found.numpy() if isinstance(found, atoll.DeviceArray) else np.asarray(found)
    assert np.array_equal(found, expected), (me, found, expected)


def wait(stream):
    """Wait until all enqueued work is done on all PEs."""
    atoll.barrier_all(stream=stream)
    if stream is not None:
        synchronize()
    atoll.barrier_all()


def synchronize():
    if "cupy" in sys.modules:
        sys.modules["cupy"].cuda.runtime.deviceSynchronize()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.synchronize()


if "--real" in sys.argv:
    import cupy  # for synchronize()

    cupy.cuda.Device(int(atoll.zeros(1, device="cuda").device)).use()

# ---- allocation
x = atoll.zeros((4, 6), np.float64, device="cuda")
assert isinstance(x, atoll.DeviceArray), x
assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes) == ((4, 6), 2, 24, 8, 192)
assert x.strides == (48, 8) and x.dtype == np.float64 and len(x) == 4 and x.T.shape == (6, 4)
assert atoll.is_symmetric(x) and atoll.is_symmetric(x[1:3, ::2]) and not atoll.is_symmetric(np.zeros(3))
assert x.ptr % 256 == 0 and x.__dlpack_device__() == (2, x.device)
check(x, np.zeros((4, 6)))
check(atoll.ones(3, np.int32, device="cuda"), np.ones(3, np.int32))
check(atoll.full((2, 2), me, device="cuda"), np.full((2, 2), me))
check(atoll.array([[1, 2], [3, 4]], device="cuda"), [[1, 2], [3, 4]])
check(atoll.zeros_like(x), np.zeros((4, 6)))
check(atoll.array(x, device="cuda"), np.zeros((4, 6)))
assert atoll.empty((3, 2), order="F", device="cuda").strides == (8, 24)

# ---- conversion to other arrays, on the GPU or the host
on_host = np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3))
moved = atoll.zeros_like(on_host, device="cuda")
assert isinstance(moved, atoll.DeviceArray) and moved.dtype == np.int16 and moved.strides == (2, 4)
check(moved, np.zeros((2, 3)))
assert atoll.empty_like(moved).strides == (2, 4) and atoll.empty_like(moved, order="C").strides == (6, 2)
back = atoll.full_like(moved, 7, device="cpu")
assert isinstance(back, np.ndarray) and back.dtype == np.int16 and (back == 7).all()
assert atoll.ones_like(moved, align=4096).ptr % 4096 == 0
check(atoll.full_like(on_host, 2.5, "float32", device="cuda"), np.full((2, 3), 2.5))

# ---- views and assignment
grid = np.arange(24.0).reshape(4, 6) + 100 * me
x[...] = grid
check(x, grid)
x[1] = 7
x[2, 3] = -1
x[3, ::2] = [1, 2, 3]
grid[1], grid[2, 3], grid[3, ::2] = 7, -1, [1, 2, 3]
check(x, grid)
check(x[1:3, ::-2], grid[1:3, ::-2])
check(x.T[2:, 1], grid.T[2:, 1])
check(x.reshape(8, 3)[5], grid.reshape(8, 3)[5])
check(x.reshape(-1).view(np.uint64), grid.reshape(-1).view(np.uint64))
check(x[2, 3], grid[2, 3])
x[...] = np.arange(24.0).reshape(4, 6) + 100 * me

# ---- put and get, of every kind of view; the local array in either memory
for stream in STREAMS:
    y = atoll.full((4, 6), -1.0, device="cuda")
    z = atoll.zeros((4, 6), device="cuda")
    host = np.arange(24.0).reshape(4, 6) + 100 * me
    theirs = np.arange(24.0).reshape(4, 6) + 100 * left
    for view in (
        np.s_[...],
        np.s_[1:3],
        np.s_[:, 2],
        np.s_[::2, 1::2],
        np.s_[3, 5],
        np.s_[::-1, ::-1],
        np.s_[0:0],
    ):
        y[...] = -1.0
        wait(None)
        atoll.put(y[view], x[view], right, stream=stream)
        wait(stream)
        expected = np.full((4, 6), -1.0)
        expected[view] = theirs[view]
        check(y, expected)
        wait(None)
        z[...] = 0.0
        atoll.get(z[view], x[view], right, stream=stream)
        wait(stream)
        expected = np.zeros((4, 6))
        expected[view] = (np.arange(24.0).reshape(4, 6) + 100 * right)[view]
        check(z, expected)
    if stream is None:
        y[...] = -1.0
        wait(None)
        atoll.put(y[:, 1:3], host[:, 1:3], right)
        atoll.barrier_all()
        check(y[:, 1:3], theirs[:, 1:3])
        into = np.zeros((4, 3))
        atoll.get(into, x[:, ::2], left)
        assert np.array_equal(into, theirs[:, ::2])
        wait(None)
        atoll.put(y[2], 5, right)
        atoll.put(y[3], [1, 2, 3, 4, 5, 6], right)
        wait(None)
        check(y[2:], [[5] * 6, [1, 2, 3, 4, 5, 6]])
    wait(None)
    atoll.p(y, 3.5, right, index=7, stream=stream)
    wait(stream)
    assert atoll.g(y, me, index=7) == 3.5 and atoll.g(x[2, 3:4], right) == 15 + 100 * right
    u, v = atoll.zeros(12, np.int32, device="cuda"), atoll.array(np.arange(12, dtype=np.int32), device="cuda")
    atoll.iput(u, v, 3, 2, 4, right, stream=stream)
    wait(stream)
    check(u, [0, 0, 0, 2, 0, 0, 4, 0, 0, 6, 0, 0])
    wait(None)
    atoll.ibget(u, v, 4, 6, 2, 2, right, stream=stream)
    wait(stream)
    check(u[:6], [0, 1, 0, 2, 6, 7])
    wait(None)

    # ---- signals, waits and atomics
    flags = atoll.signal(2, device="cuda")
    atoll.put_signal(y, x, flags, 1, "add", right, index=1, stream=stream)
    atoll.signal_wait_until(flags, ">=", 1, index=1, stream=stream)
    wait(stream)
    check(y, theirs)
    wait(None)
    assert atoll.signal_fetch(flags, index=1) == 1 and atoll.test(flags, "==", 0, 0)
    wait(None)
    atoll.put_signal(y[::2], x[1::2], flags, 4, "set", right, 0, stream=stream)
    atoll.wait_until(flags[:1], ">=", 4, stream=stream)
    wait(stream)
    check(y[::2], theirs[1::2])
    wait(None)
    atoll.signal_add(flags, 2, right, stream=stream, index=0)
    atoll.signal_consume(flags, 6, stream=stream, index=0)
    wait(stream)
    assert atoll.signal_fetch(flags, 0) == 0
    wait(None)
    atoll.signal_set(flags, 9, right, stream=stream, index=0)
    atoll.signal_wait_until(flags, "==", 9, stream=stream, index=0)
    wait(stream)
    counts = atoll.zeros(3, np.int64, device="cuda")
    atoll.atomic_add(counts, 5, 0, index=2, stream=stream)
    atoll.atomic_inc(counts, 0, stream=stream, index=0)
    wait(stream)
    if me == 0:
        check(counts, [n, 0, 5 * n])
    before = atoll.zeros(1, np.int64, device="cuda")
    atoll.atomic_fetch_add_nbi(before, counts, 1, right, index=1, stream=stream)
    wait(stream)
    check(before, [0])
    if stream is None:
        assert atoll.atomic_fetch_add(counts, 1, right, index=1) == 1
        assert atoll.atomic_compare_swap(counts, 2, 20, right, index=1) == 2
        assert atoll.atomic_swap(counts, 21, right, index=1) == 20
        assert atoll.atomic_fetch(counts, right, index=1) == 21
        assert atoll.atomic_fetch_or(counts, 2, right, index=1) == 21
    wait(None)

    # ---- collectives
    a = atoll.array(np.arange(4, dtype=np.float32) + me, device="cuda")
    b = atoll.zeros(4, np.float32, device="cuda")
    atoll.sum_reduce(b, a, stream=stream)
    wait(stream)
    check(b, sum(np.arange(4) + pe for pe in range(n)))
    # Sizes on both sides of ATOLL_REDUCE_ENGINES as set by tests/python/test_device.py, odd ones, and in
    # place.
    for size in ((1 << 20) - 1, 1 << 20, (1 << 20) + 5):
        large = atoll.array((np.arange(size) % 23 + me).astype(np.int8), device="cuda")
        total = atoll.zeros(size, np.int8, device="cuda")
        for target in (total, large):
            atoll.sum_reduce(target, large, stream=stream)
            wait(stream)
            check(target, n * (np.arange(size) % 23) + n * (n - 1) // 2)
    atoll.reduce(b[:2], a[:2], "max", stream=stream)
    wait(stream)
    check(b[:2], np.arange(2) + n - 1)
    atoll.avg_reduce(b, a, stream=stream)
    wait(stream)
    check(b, np.arange(4) + (n - 1) / 2)
    atoll.premul_sum_reduce(b, a, 0.5, stream=stream)
    wait(stream)
    check(b, sum(np.arange(4) + pe for pe in range(n)) / 2)
    atoll.broadcast(b, a, n - 1, stream=stream)
    wait(stream)
    check(b, np.arange(4) + n - 1)
    every = atoll.zeros((n, 4), np.float32, device="cuda")
    atoll.fcollect(every, a, stream=stream)
    wait(stream)
    check(every, np.arange(4)[None] + np.arange(n)[:, None])
    wait(None)
    atoll.premul_sum_reduce_scatter(b, every, 2, stream=stream)
    wait(stream)
    check(b, 2 * n * (np.arange(4) + me))
    back = atoll.zeros((n, 4), np.float32, device="cuda")
    atoll.alltoall(back, every, stream=stream)
    wait(stream)
    check(back, np.broadcast_to(np.arange(4) + me, (n, 4)))
    atoll.gather(back, a, n - 1, stream=stream)
    wait(stream)
    if me == n - 1:
        check(back, np.arange(4)[None] + np.arange(n)[:, None])
    atoll.scatter(b, every, 0, stream=stream)
    wait(stream)
    check(b, np.arange(4) + me)
    atoll.reduce_scatter(b, every, "sum", stream=stream)
    wait(stream)
    check(b, n * (np.arange(4) + me))
    atoll.sync_all(stream=stream)
    atoll.sync(stream=stream)

# ---- messages: to the neighbours in a group, several between a pair, and down a chain without one
for stream in STREAMS:
    sent = atoll.array(np.arange(3000, dtype=np.float32) + me, device="cuda")
    got = [atoll.zeros(1000, np.float32, device="cuda") for _ in range(3)]
    for _ in range(3):
        with atoll.group():
            for i in range(3):
                atoll.recv(got[i], left, stream=stream)
                atoll.send(sent[1000 * i :][:1000], right, stream=stream)
        wait(stream)
        for i in range(3):
            check(got[i], np.arange(1000 * i, 1000 * (i + 1)) + left)
            got[i][...] = 0
    if me > 0:
        atoll.recv(got[0], me - 1, stream=stream)
    if me < n - 1:
        atoll.send(sent[:1000], me + 1, stream=stream)
    with atoll.group():  # memory of the host, and of a GPU
        here = np.full(4, -1)
        atoll.send(np.full(4, me), right)
        atoll.recv(here, left)
        atoll.send(sent[1000:2000], right, stream=stream)
        atoll.recv(got[1], left, stream=stream)
    wait(stream)
    assert (here == left).all()
    check(got[0], np.arange(1000) + me - 1 if me > 0 else np.zeros(1000))
    check(got[1], np.arange(1000, 2000) + left)

# ---- half types
for kind in ("bfloat16", "float16"):
    h = atoll.full(5, 1.5, kind, device="cuda")
    s = atoll.zeros(5, kind, device="cuda")
    if kind == "bfloat16" or "--real" in sys.argv:
        atoll.sum_reduce(s, h)
        assert atoll.g(s, me, 0) == 1.5 * n, atoll.g(s, me, 0)
assert atoll.zeros(4, "float8_e4m3fn", device="cuda").itemsize == 1

# ---- values of types that NumPy does not have: from Python's numbers, and to them
for kind, codes in (
    ("bfloat16", (0x3F80, 0xBFC0, 0x4020)),
    ("float8_e4m3fn", (0x38, 0xBC, 0x42)),
    ("float8_e4m3fnuz", (0x40, 0xC4, 0x4A)),
    ("float8_e5m2", (0x3C, 0xBE, 0x41)),
    ("float8_e5m2fnuz", (0x40, 0xC2, 0x45)),
):
    narrow = atoll.array([1, -1.5, 2.5], kind, device="cuda")
    assert narrow.numpy()[kind].tolist() == list(codes), narrow.numpy()
    assert atoll.ones(2, kind, device="cuda").numpy()[kind].tolist() == [codes[0]] * 2
    assert atoll.full_like(narrow, -1.5).numpy()[kind].tolist() == [codes[1]] * 3
    atoll.put(narrow[:1], 2.5, me)
    atoll.p(narrow, 1, me, index=1)
    narrow[2] = -1.5
    assert [atoll.g(narrow, me, index=i) for i in range(3)] == [2.5, 1.0, -1.5]
    assert f"dtype {kind}," in repr(narrow)
    atoll.put(narrow, [2.5, -1.5, 1], me)
    assert narrow.numpy()[kind].tolist() == [codes[i] for i in (2, 1, 0)]

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
if ml_dtypes is not None:  # the same bits, by ml_dtypes' NumPy types
    for kind in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        theirs = np.array([1, -1.5, 2.5, 0.5], getattr(ml_dtypes, kind))
        narrow = atoll.zeros(4, theirs.dtype.type, device="cuda")
        back = np.zeros(4, theirs.dtype)
        atoll.put(narrow, theirs, me)
        atoll.get(back, narrow, me)
        assert (back == theirs).all(), back
        atoll.put(narrow[::2], theirs[1::2], me)
        atoll.p(narrow, theirs[2], me, index=3)
        atoll.get(back, narrow, me)
        assert back.astype(float).tolist() == [-1.5, -1.5, 0.5, 2.5], back
        other = "bfloat16" if kind != "bfloat16" else "float8_e5m2"
        try:
            atoll.put(atoll.zeros(4, other, device="cuda"), theirs, me)
        except atoll.DtypeMismatch as error:
            assert kind in str(error) and other in str(error), error
        else:
            raise AssertionError("another type was taken")

# ---- other PEs' copies
everyone = atoll.global_view(x)
assert everyone.shape == (n, 4, 6) and isinstance(everyone, atoll.DeviceArray)
assert everyone.__dlpack_device__() == (2, x.device)  # this GPU maps the slots of all PEs
for pe in range(n):
    assert atoll.peer(x, pe).__dlpack_device__() == everyone[pe].__dlpack_device__() == (2, x.device)
check(everyone, np.arange(24.0).reshape(4, 6)[None] + 100 * np.arange(n)[:, None, None])
check(atoll.peer(x, right), np.arange(24.0).reshape(4, 6) + 100 * right)
check(atoll.peer(x[1, ::2], left), np.arange(6.0, 12)[::2] + 100 * left)

# ---- the host heap beside a GPU: its arrays as local ones, pinned words for streams and kernels
shared = atoll.zeros((4, 6))
atoll.put(shared[1:3, ::2], x[1:3, ::2], right)
atoll.put(shared[0], x[0], right)
atoll.barrier_all()
expected = np.zeros((4, 6))
expected[0], expected[1:3, ::2] = (
    np.arange(6.0) + 100 * left,
    (np.arange(24.0).reshape(4, 6) + 100 * left)[1:3, ::2],
)
check(shared, expected)
back = atoll.zeros((4, 6), device="cuda")
atoll.get(back, shared, me)
check(back, expected)
done = atoll.signal(2)
pinned = atoll.pin(done)
assert isinstance(pinned, atoll.DeviceArray) and pinned.device == x.device and "pinned" in repr(pinned)
assert pinned.ptr == done.ctypes.data == atoll.pin(done).ptr and pinned.__dlpack_device__() == (2, x.device)
assert (
    pinned.__cuda_array_interface__["data"] == (done.ctypes.data, False) and pinned[1:].ptr == pinned.ptr + 8
)
atoll.barrier_all()
atoll.put_signal(shared, back, done, 3, "add", right, 0)
atoll.signal_wait_until(done, ">=", 3, index=0, stream=0)
atoll.signal_set(pinned, 4, right, index=1)
atoll.wait_until(pinned[1:], "==", 4)
assert done[1] == 4 and list(pinned.numpy()) == [3, 4]
pinned[1] = 5
assert done[1] == 5
atoll.barrier_all()

# ---- teams, by value
team = atoll.WORLD.device()
assert team._fields == (
    "my_pe",
    "n_pes",
    "window",
    "stride",
    "my_slot",
    "first",
    "step",
    "table",
    "control",
    "trace",
)
assert (team.my_pe, team.n_pes) == (me, n) and all(type(field) is int for field in team)
assert team.window + team.my_slot * team.stride <= x.ptr < team.window + (team.my_slot + 1) * team.stride
assert atoll.peer(x, right).ptr == x.ptr + (right - me) * team.stride
assert atoll.WORLD.device("cuda") == atoll.WORLD.device("device") == team
assert atoll.WORLD.device("cpu") == atoll.WORLD.device(memory="host") != team
assert atoll.WORLD.device(memory="host").window != team.window

# ---- freeing
view = x[1:]
atoll.barrier_all()
atoll.free(x)
for gone in (x, view, everyone):
    try:
        atoll.put(gone, 0.0, me)
    except atoll.UseAfterFree:
        pass
    else:
        raise AssertionError("a freed array was taken")
assert not atoll.is_symmetric(view)
atoll.barrier_all()
atoll.finalize()
print("PE", me, "done")
