"""Reductions to one PE, scans, collect and alltoalls on arrays of a GPU; with tests/simulated if there is no
GPU.
"""

import sys

import atoll
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
STREAMS = (None, 0) if "--streams" not in sys.argv else (0,)
FAR = "--far" in sys.argv


def check(found, expected):
    assert np.array_equal(found.numpy(), expected), (me, found.numpy(), expected)


def wait(stream):
    """Wait until all enqueued work is done on all PEs."""
    atoll.barrier_all(stream=stream)
    if stream is not None and "cupy" in sys.modules:
        sys.modules["cupy"].cuda.runtime.deviceSynchronize()
    atoll.barrier_all()


if "--real" in sys.argv:
    import cupy  # for wait()

    cupy.cuda.Device(int(atoll.zeros(1, device="cuda").device)).use()

SIZES = (1, 7, 4096, (1 << 20) + 5)
TYPES: tuple[str, ...] = ("int8", "uint64", "float32", "complex128")
if "--real" in sys.argv:
    TYPES += ("uint16", "int32", "float64", "complex64")


def reductions(team, stream, size, dtype):
    rank, members = team.my_pe(), team.n_pes()

    def mine(pe):
        return (np.arange(size) % 5 + team.world_pe(pe) + 1).astype(dtype)

    def folded(count):
        return sum((mine(pe) for pe in range(count)), np.zeros(size, dtype)).astype(dtype)

    src = atoll.array(mine(rank), device="cuda")
    dst = atoll.zeros(size, dtype, device="cuda")
    team.sync()
    for target in (dst, src):  # the second time in place
        for call, count in ((atoll.sum_inscan, rank + 1), (atoll.sum_exscan, rank)):
            src[...] = mine(rank)
            wait(None)
            call(target, src, team=team, stream=stream)
            wait(stream)
            check(target, folded(count))
        for root in {0, members - 1}:
            src[...] = mine(rank)
            dst[...] = 77
            wait(None)
            atoll.reduce(target, src, "sum", root, team=team, stream=stream)
            atoll.sum_reduce(dst[:1], dst[:1], team=team, stream=stream)  # other collectives between them
            wait(stream)
            kept = mine(rank) if target is src else np.full(size, 77, dtype)
            if size > 1:
                check(target[1:], (folded(members) if rank == root else kept)[1:])
    for x in (dst, src):
        atoll.free(x)


def blocks(team, stream, size):
    rank, members = team.my_pe(), team.n_pes()

    def count(pe):
        return 0 if pe % 3 == 1 else size - pe % size

    def mine(pe):
        return (np.arange(count(pe)) + 100 * pe).astype(np.int32)

    every = np.concatenate([mine(pe) for pe in range(members)])
    dst = atoll.full(members * size, -1, np.int32, device="cuda")
    src = atoll.zeros(size + 4, np.int32, device="cuda")[rank:]  # at another offset on each PE
    src = src[: count(rank)]
    if count(rank):
        src[...] = mine(rank)
    wait(None)
    for _ in range(2):
        found = atoll.collect(dst, src, team=team, stream=stream)
        assert found == (every.size if stream is None else None), found
        wait(stream)
        check(dst[: every.size], every)
        assert (dst[every.size :].numpy() == -1).all()
    atoll.free(dst)


def strided(team, stream, count):
    rank, members = team.my_pe(), team.n_pes()
    src = atoll.zeros(members * count * 3, np.int16, device="cuda")
    dst = atoll.full(members * count * 2, -1, np.int16, device="cuda")
    src[...] = (np.arange(src.size) % 1000 + rank).astype(np.int16)
    wait(None)
    atoll.alltoalls(dst, src, 2, 3, count, team=team, stream=stream)
    wait(stream)
    expected = np.full(dst.size, -1, np.int16)
    for pe in range(members):
        theirs = np.arange(src.size) % 1000 + pe
        expected[2 * pe * count : 2 * (pe + 1) * count : 2] = theirs[::3][rank * count :][:count]
    check(dst, expected)
    for x in (src, dst):
        atoll.free(x)


reverse = atoll.WORLD.split(0, key=-me)
for stream in STREAMS:
    for team in (atoll.WORLD, reverse):
        for size in SIZES if team is atoll.WORLD and not FAR else SIZES[1:3]:
            for dtype in TYPES if size == 7 and team is atoll.WORLD else ("float32",):
                reductions(team, stream, size, dtype)
            blocks(team, stream, size)
            strided(team, stream, size)

# ---- halves are added up in float; a mean goes to the root alone
for kind in ("bfloat16", "float16"):
    if FAR or "--real" in sys.argv or kind == "bfloat16":  # the simulated GPU has no float16
        h, s = atoll.full(5, 1.5, kind, device="cuda"), atoll.zeros(5, kind, device="cuda")
        for stream in STREAMS:
            atoll.sum_exscan(s, h, stream=stream)
            wait(stream)
            assert atoll.g(s, me, 0) == 1.5 * me
            atoll.reduce(s, h, "avg", 0, stream=stream)
            wait(stream)
            assert atoll.g(s, me, 0) == (1.5 if me == 0 else 1.5 * me)

# ---- in a graph, replayed
if "--real" in sys.argv:
    x, y = (atoll.array(np.full(300000, me + 1.0, np.float32), device="cuda") for _ in range(2))
    many = atoll.zeros(n * 300000, np.float32, device="cuda")
    captured = cupy.cuda.Stream(non_blocking=True)
    atoll.sum_inscan(y, x, stream=captured)
    wait(captured)
    with captured:
        captured.begin_capture()
        atoll.sum_inscan(y, x, stream=captured)
        atoll.sum_exscan(y[:7], y[:7], stream=captured)
        atoll.reduce(y, y, "max", n - 1, stream=captured)
        atoll.collect(many, y[: 300000 - me], stream=captured)
        graph = captured.end_capture()
    for _ in range(2):
        many[...] = 0
        wait(None)
        graph.launch(captured)
        wait(captured)
        assert many[n - 1 :].numpy().any() and float(many[299999].numpy()) == 1.0

# ---- refused calls
for stream in STREAMS:
    x = atoll.zeros(4 * n, np.int32, device="cuda")
    y = atoll.zeros(4, np.int32, device="cuda")
    floats, host = y.view(np.float32), np.zeros(1, np.int32)
    atoll.alltoalls(y, x, 2, 2, 0, stream=stream)  # no elements
    for error, words, call, arguments in (
        (atoll.Unsupported, "pass both", atoll.sum_inscan, (y,)),
        (atoll.Unsupported, "pass both", atoll.collect, (y,)),
        (atoll.Unsupported, "contiguous", atoll.sum_exscan, (x[:4:2], y[:2])),
        (atoll.DtypeMismatch, "sum_inscan", atoll.sum_inscan, (floats, y)),
        (atoll.PeError, str(n), atoll.reduce, (y, y, "sum", n)),
        (atoll.ShapeMismatch, "reach past", atoll.alltoalls, (x, x, 100, 1, 5)),
        (atoll.InvalidArgument, "overlap", atoll.alltoalls, (x, x, 1, 1, 1)),
        (atoll.NotSymmetric, "memory of the host", atoll.collect, (x, host)),
    ):
        try:
            call(*arguments, stream=stream)
        except error as raised:
            assert words in str(raised), raised
        else:
            raise AssertionError(words)
    atoll.barrier_all()
try:
    atoll.collect(x[: n - 1], y[:1])
except atoll.ShapeMismatch as raised:
    assert f"sent {4 * n} in all" in str(raised), raised
else:
    raise AssertionError("a dst without room was taken")
atoll.barrier_all()

# ---- pinned memory is the host's
pinned = atoll.pin(atoll.full(3, atoll.my_pe() + 1.0))
assert (atoll.sum_reduce(pinned) == sum(range(1, atoll.n_pes() + 1))).all()
assert atoll.take(pinned, 0, atoll.n_pes() - 1) == atoll.n_pes()
atoll.finalize()
print("PE", me, "done")
