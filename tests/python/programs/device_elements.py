"""take, put_at and add_at on arrays of a GPU; with tests/simulated if there is no GPU.

--real: CuPy's and PyTorch's arrays, graphs, many elements.
"""

import sys

import atoll
import numpy as np
from checks import says

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
real, few = "--real" in sys.argv, "--few" in sys.argv
random = np.random.default_rng(7 * me + 1)


def check(found, expected):
    found = found.numpy() if isinstance(found, atoll.DeviceArray) else np.asarray(found)
    expected = np.asarray(expected, found.dtype)
    assert found.shape == expected.shape and found.tobytes() == expected.tobytes(), (me, found, expected)


kept = []


def there(values, dtype=None):
    """Return a symmetric GPU array with these values. It is kept alive until `wait`."""
    kept.append(atoll.array(np.asarray(values, dtype), device="cuda"))
    return kept[-1]


def wait():
    atoll.check_kernels(stream=0)  # waits for it
    atoll.barrier_all()
    kept.clear()


def of(pe, size, dtype):
    return (np.arange(size) + 100 * pe).astype(dtype)


# ---- take, from and to any memory
count = 40 if few else 2000
for dtype in ("int8", "int16", "float32", "int64", "complex128", "V24", [("a", "i1"), ("b", "<i2")]):
    size = 60
    everything = np.stack(
        [np.frombuffer(of(pe, size * np.dtype(dtype).itemsize, "u1").tobytes(), dtype) for pe in range(n)]
    )
    x = atoll.zeros(size, dtype, device="cuda")
    atoll.put(x, everything[me], me)
    atoll.barrier_all()
    index, pe = random.integers(-size, size, count), random.integers(0, n, count)
    expected = everything[pe, index]
    check(atoll.take(x, index, pe), expected)
    check(atoll.take(x, index.tolist(), pe.astype("u1").tolist()), expected)
    check(atoll.take(x, index.reshape(4, -1), pe.reshape(4, -1)), expected.reshape(4, -1))
    check(atoll.take(x, index[:5, None], np.arange(n)), everything[np.arange(n), index[:5, None]])
    check(atoll.take(x, 3, n - 1), everything[n - 1, 3])
    check(atoll.take(x, [], me), everything[0, :0])
    out = atoll.zeros(count, dtype, device="cuda")
    assert atoll.take(x, index, pe, out) is out
    check(out, expected)
    on_host = np.zeros(count, dtype)
    assert atoll.take(x, there(index), there(pe, "int32"), on_host) is on_host
    check(on_host, expected)
    out[...] = np.zeros(count, dtype)
    assert atoll.take(x, there(index, "int32"), there(pe), out, stream=0) is out
    wait()
    check(out, expected)
    atoll.take(x, -1, me, out[:1], stream=0)
    wait()
    check(out[:1], everything[me, -1:])
    # Views: of one axis by any step, or contiguous.
    for view in (np.s_[::3], np.s_[::-1], np.s_[50:5:-7], np.s_[10:40]):
        part = x[view]
        index = random.integers(-part.size, part.size, count)
        check(atoll.take(part, index, pe), everything[:, view][pe, index])
    grid = x.reshape(6, 10)
    index = random.integers(-60, 60, count)
    check(atoll.take(grid, index, pe), everything[pe, index])
    check(atoll.take(grid[:, 3], 2, n - 1), everything[n - 1, 23])
    with says(atoll.Unsupported, "take(): src", "not contiguous"):
        atoll.take(grid[:, 3:5], 0, me)
    atoll.barrier_all()

# ---- put_at: each PE writes different places
count = 20
for dtype in ("uint8", "float16", "int32", "float64", "complex128", "V24"):
    size = np.dtype(dtype).itemsize
    x = atoll.zeros(count * n, dtype, device="cuda")
    places = me * count + random.permutation(count)
    marks = np.frombuffer(of(me, count * size, "u1").tobytes(), dtype)
    for pe in range(n):
        if pe % 3 == 0:
            atoll.put_at(x, places, marks, pe)
        elif pe % 3 == 1:
            atoll.put_at(x, there(places), there(marks), pe, stream=0)
        else:
            atoll.put_at(x, places - count * n, there(marks), np.full(count, pe))
    wait()
    for pe in range(n):
        theirs = np.empty(count * n, dtype)
        atoll.get(theirs, x, pe)
        check(theirs[places], marks)
    atoll.barrier_all()
x = atoll.zeros(n * 4, "int64", device="cuda")
atoll.put_at(x, [4 * me, 4 * me + 1], 7, right := (me + 1) % n)
atoll.put_at(x, there([4 * me + 2, 4 * me + 3]), -8, right, stream=0)
wait()
left = (me - 1) % n
check(x.numpy()[4 * left : 4 * left + 4], [7, 7, -8, -8])
h = atoll.zeros(4, "bfloat16", device="cuda")
atoll.put_at(h, 2, 1.5, me)
atoll.put_at(h, 3, 2.5, me, stream=0)
wait()
assert [atoll.g(h, me, i) for i in range(4)] == [0, 0, 1.5, 2.5]

# ---- add_at: all PEs' values meet at the same places
count = 30 if few else 5000
for dtype in ("int32", "uint32", "int64", "uint64", "float32", "float64"):
    x = atoll.zeros(11, dtype, device="cuda")
    expected = np.zeros((n, 11), dtype)
    for who in range(n):
        draws = np.random.default_rng(who)
        keys, values = draws.integers(0, 11 * n, count), draws.integers(0, 9, count).astype(dtype)
        for _ in range(2):
            np.add.at(expected, (keys // 11, keys % 11), values)
        np.add.at(expected, (keys // 11, keys % 11), np.dtype(dtype).type(3))
        on_gpu = there(keys % 11), there(values), there(keys // 11)  # collective
        if who == me:
            atoll.add_at(x, keys % 11, values, keys // 11)
            atoll.add_at(x, *on_gpu, stream=0)
            atoll.add_at(x, on_gpu[0], 3, on_gpu[2], stream=0)
    wait()
    check(x, expected[me])
    atoll.barrier_all()

# ---- teams: PE numbers are the team's
team = atoll.WORLD.split(me % 2)
x = atoll.zeros(3, "int32", device="cuda")
x[...] = np.full(3, me, "int32")
atoll.barrier_all()
check(atoll.take(x, 1, np.arange(team.n_pes()), team=team), np.arange(me % 2, n, 2))

# ---- wrong arguments
y = atoll.zeros(10, "float32", device="cuda")
before = np.arange(10, dtype="float32")
y[...] = before
with says(IndexError, "put_at(): index 10", "10 elements"):
    atoll.put_at(y, [0, 10], 1.0, me)
with says(IndexError, "take(): index -11"):
    atoll.take(y, -11, me, there([0], "float32"), stream=0)
with says(atoll.PeError, f"add_at(): pe holds {n}"):
    atoll.add_at(y, [0, 1], 1.0, [0, n])
with says(atoll.PeError, f"add_at(): pe holds {n}"):
    atoll.add_at(y, 0, 1.0, n, stream=0)
with says(atoll.ShapeMismatch, "do not broadcast"):
    atoll.put_at(y, [0, 1, 2], 1.0, [0, 0])
with says(atoll.ShapeMismatch, "index has 2 elements, and 6", "one for each"):
    atoll.take(y, there([0, 1]), [[0], [0], [0]])
with says(atoll.ShapeMismatch, "out must be contiguous"):
    atoll.take(y, [0, 1], 0, y[:3])
with says(atoll.DtypeMismatch, "index has dtype float32"):
    atoll.take(y, y, 0)
with says(atoll.DtypeMismatch, "float32", "int16"):
    atoll.put_at(y, [0], there([1], "int16"), 0)
with says(atoll.DtypeMismatch, "add_at(): dst has dtype int16"):
    atoll.add_at(there([0], "int16"), 0, 1, 0)
with says(atoll.DtypeMismatch, "bfloat16"):
    atoll.add_at(h, 0, 1, 0)
with says(atoll.Unsupported, "on a stream, index must be an integer"):
    atoll.take(y, [0, 1], 0, y[:2], stream=0)
with says(atoll.Unsupported, "on a stream, values must be a number"):
    atoll.put_at(y, 0, [1.0], 0, stream=0)
with says(atoll.Unsupported, "pass out="):
    atoll.take(y, 0, 0, stream=0)
with says(atoll.NotSymmetric, "take(): src", "in memory of the host"):
    atoll.take(np.zeros(3), there([0]), 0)
with says(atoll.Unsupported, "not contiguous"):
    atoll.take(y, there([0, 1, 2, 3])[::2], 0)
check(y, before)
atoll.barrier_all()

if not real:  # on a real GPU a kernel's report ends the GPU context: tests/python_gpu/kernel_error.py
    with says(atoll.InvalidArgument, "take for element 10, index 1 of the call", "-10 to 9"):
        atoll.take(y, there([3, 10, 11]), 0)
    with says(atoll.PeError, f"put_at for team PE {n}"):
        atoll.put_at(y, 0, 1.0, there([n]), stream=0)
    atoll.barrier_all()

if real:
    import cupy
    import torch

    gpu = int(y.device)
    cupy.cuda.Device(gpu).use()
    torch.cuda.set_device(gpu)
    many, size = 1_000_000, 1 << 16
    keys, pes = random.integers(-size, size, many), random.integers(0, n, many)
    x = atoll.zeros(size, "float32", device="cuda", xp=torch)
    x.copy_(torch.arange(size) + size * me)
    torch.cuda.synchronize()
    atoll.barrier_all()
    expected = (np.where(keys < 0, keys + size, keys) + size * pes).astype("float32")
    check(atoll.take(x, keys, pes), expected)
    for xp in ("torch", "cupy"):
        if xp == "torch":
            i, p = torch.from_numpy(keys).cuda(gpu), torch.from_numpy(pes).cuda(gpu)
            out = torch.zeros(many, device=f"cuda:{gpu}")
        else:
            i, p, out = cupy.asarray(keys), cupy.asarray(pes), cupy.zeros(many, "float32")
        assert atoll.take(x, i, p, out, stream="current") is out
        check(out.cpu().numpy() if xp == "torch" else out.get(), expected)
    # Captured, and replayed with other numbers.
    sums = atoll.zeros(64, "int64", device="cuda", xp=torch)
    i = torch.zeros(1000, dtype=torch.int64, device=f"cuda:{gpu}")
    atoll.add_at(sums, i, 0, right, stream="current")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        atoll.add_at(sums, i, 1, right, stream="current")
    for key in range(5):
        i.fill_(key)
        graph.replay()
    torch.cuda.synchronize()
    atoll.barrier_all()
    check(sums.cpu().numpy()[:6], [1000] * 5 + [0])
    atoll.barrier_all()

atoll.finalize()
print("PE", me, "done")
