"""put, get, assignment and numpy() with local arrays of any layout.

Each call of the library takes microseconds there. The arrays are in a GPU's memory (`cuda`; with
tests/simulated if there is no GPU), or on another host (`host`).
"""

import os
import sys
from functools import partial

import atoll
import numpy as np

device = "cuda" if sys.argv[1] == "cuda" else None
if "--real" in sys.argv:
    import cupy  # to wait for streams

atoll.init()
if "--real" in sys.argv:
    cupy.cuda.Device(int(atoll.zeros(1, device="cuda").device)).use()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
calls = (
    np.memmap(os.environ["ATOLL_SIMULATED_CALLS"], np.uint64, "r")
    if "ATOLL_SIMULATED_CALLS" in os.environ
    else None
)

SHAPE = (5, 6, 4)
VIEWS = (
    np.s_[...],
    np.s_[::-1],
    np.s_[:, ::-2, 1:3],
    np.s_[::-1, ::-1, ::-1],
    np.s_[:, 2, ::3],
    np.s_[1:4, :, ::-1],
    np.s_[2:2],
)


def numbers(pe, shape):
    return np.arange(np.prod(shape), dtype=np.int64).reshape(shape) + 1000 * (pe + 1)


def layouts(values):
    """Return the same numbers, in every layout."""
    yield values
    yield np.asfortranarray(values)
    yield np.repeat(values, 2, -1)[..., ::2]
    yield values[::-1].copy()[::-1]
    yield values[..., ::-1].copy()[..., ::-1]
    yield np.moveaxis(np.moveaxis(values, 0, -1).copy(), -1, 0)


def as_numpy(x):
    return x if isinstance(x, np.ndarray) else x.numpy()


def check(found, expected):
    found = as_numpy(found)
    assert found.shape == expected.shape and np.array_equal(found, expected), (me, found, expected)


x, y = atoll.zeros(SHAPE, np.int64, device=device), atoll.zeros(SHAPE, np.int64, device=device)
for order in ("whole", "transposed"):
    far, mine = (x, y) if order == "whole" else (x.T, y.T)
    mine[...] = numbers(me, mine.shape)
    for view in VIEWS:
        shape = np.empty(mine.shape)[view].shape
        sent = [*layouts(numbers(me, shape)), np.broadcast_to(np.int64(7 + me), shape)]
        expected = [*layouts(numbers(left, shape)), np.broadcast_to(np.int64(7 + left), shape)]
        sent.append(np.broadcast_to(numbers(me, shape)[..., :1], shape))  # repeated along the last axis
        expected.append(np.broadcast_to(numbers(left, shape)[..., :1], shape))
        sent.append(np.broadcast_to(numbers(me, shape)[:1], shape) if shape[0] else sent[0])
        expected.append(np.broadcast_to(numbers(left, shape)[:1], shape) if shape[0] else expected[0])
        for to_put, arrived in zip(sent, expected, strict=True):
            far[...] = -1
            atoll.barrier_all()
            atoll.put(far[view], to_put, right)
            atoll.barrier_all()
            whole = np.full(far.shape, -1, np.int64)
            whole[view] = arrived
            check(far, whole)
            check(far[view], arrived)
            atoll.barrier_all()
        for into in layouts(np.zeros(shape, np.int64)):
            atoll.get(into, mine[view], left)
            assert np.array_equal(into, numbers(left, mine.shape)[view])
        atoll.barrier_all()
atoll.put(x[0], 5, right)
atoll.barrier_all()
check(x[0], np.full(SHAPE[1:], 5))
atoll.barrier_all()

# ---- the number of calls of the GPU for large ones
large = atoll.zeros((1 << 17, 4), np.float32, device=device)
values = np.arange(large.size, dtype=np.float32).reshape(large.shape)


def few(action, expected=None, most=8):
    atoll.barrier_all()
    before = 0 if calls is None else int(calls[0])
    action()
    after = 0 if calls is None else int(calls[0])
    atoll.barrier_all()
    assert after - before <= most * n, (after - before, most)
    if expected is not None:
        check(large, expected)
    atoll.barrier_all()


few(lambda: large.__setitem__(..., 2.5), np.full_like(values, 2.5))
few(lambda: large.__setitem__(..., values), values)
few(lambda: large.__setitem__(..., values[::-1]), values[::-1])
few(lambda: large.__setitem__(..., np.asfortranarray(values)), values)
few(lambda: large.__setitem__(..., values[5]), np.broadcast_to(values[5], values.shape))
few(lambda: large.__setitem__(..., values[:, :1]), np.broadcast_to(values[:, :1], values.shape))
few(lambda: large.T.__setitem__(..., values[:, :1].T), np.broadcast_to(values[:, :1], values.shape))
few(lambda: large[::-1].__setitem__(..., 4.5), np.full_like(values, 4.5))
few(lambda: large.reshape(-1)[::-1].__setitem__(..., 0.5), np.full_like(values, 0.5))
few(lambda: atoll.put(large, 3.0, right), np.full_like(values, 3))
few(lambda: atoll.put(large[::-1], values, right), values[::-1])
few(lambda: check(large[::-1], values))
few(lambda: check(large[::2], values[::-1][::2]))
few(lambda: check(large.T, values[::-1].T))
if device and n > 1:
    everybody = atoll.global_view(large)
    few(lambda: check(everybody[:, ::2], np.stack([values[::-1][::2]] * n)))
    few(lambda: check(everybody[::-1, ::-1, 1], np.stack([values[:, 1]] * n)))
into = np.zeros_like(values)[::-1]
few(lambda: atoll.get(into, large, left))
assert np.array_equal(into, values[::-1])

# ---- local arrays in a GPU's memory, too, backwards and repeated
if device:
    src = atoll.array(values + me, device="cuda")
    dst = atoll.zeros(values.shape, np.float32, device="cuda")
    theirs = values + left

    def repeated(shape, strides):
        """Return a view of src with these strides, in bytes."""
        interface = {
            "shape": shape,
            "typestr": "<f4",
            "version": 3,
            "strides": strides,
            "data": (src.__cuda_array_interface__["data"][0], False),
        }
        attributes = {"__cuda_array_interface__": interface, "shape": shape, "dtype": values.dtype}
        return type("Repeated", (), attributes)()

    local = repeated(values.shape, (16, 0))
    for stream in (None, 0):
        for to, what, expected in (
            (dst, src[::-1], theirs[::-1]),
            (dst[::-1], src, theirs[::-1]),
            (dst[::-1], src[::-1], theirs),
            (dst[:, ::-1], src, theirs[:, ::-1]),
            (dst, local, np.broadcast_to(theirs[:, :1], theirs.shape)),
        ):
            few(lambda to=to, what=what, stream=stream: atoll.put(to, what, right, stream=stream))
            atoll.barrier_all(stream=stream)
            if "cupy" in sys.modules:
                sys.modules["cupy"].cuda.runtime.deviceSynchronize()
            atoll.barrier_all()
            check(dst, expected)
            atoll.barrier_all()
        few(lambda stream=stream: atoll.get(dst[::-1], src, right, stream=stream))
        if "cupy" in sys.modules:
            sys.modules["cupy"].cuda.runtime.deviceSynchronize()
        check(dst, (values + right)[::-1])
        atoll.barrier_all()
    into = np.zeros(values.shape, np.float32)
    few(lambda: atoll.get(into, local, left))
    assert np.array_equal(into, np.broadcast_to(theirs[:, :1], into.shape))
    few(lambda: atoll.get(into[::-1], repeated(into.shape, (0, 8)), left))
    assert np.array_equal(into, np.broadcast_to(np.array([0, 2, 4, 6]) + left, into.shape))
    # onto itself: all is read before anything is written
    for to, what in (
        (np.s_[...], np.s_[::-1]),
        (np.s_[1:], np.s_[:-1]),
        (np.s_[:, 1:], np.s_[:, :-1]),
        (np.s_[::-1], np.s_[:, ::-1]),
    ):
        expected = as_numpy(src)
        expected[to] = expected[what].copy()
        few(lambda to=to, what=what: src.__setitem__(to, src[what]))
        check(src, expected)
        expected[to] = expected[what].copy()
        few(lambda to=to, what=what: atoll.get(src[to], src[what], me))
        check(src, expected)
    few(lambda: src.__setitem__(..., src))
    check(src, expected)
    # the same by an array that represents another PE's memory here
    theirs, everybody = atoll.peer(src, right), atoll.global_view(src)
    for to, what in ((np.s_[...], np.s_[::-1]), (np.s_[1:], np.s_[:-1]), (np.s_[:, ::-1], np.s_[:])):
        for move, into, source in (
            (atoll.put, src, theirs),
            (atoll.get, theirs, src),
            (atoll.put, src, everybody[right]),
        ):
            src[...] = values
            few(partial(move, into[to], source[what], right))
            expected = values.copy()
            expected[to] = values[what]
            check(src, expected)
    if n > 1:  # parts of it on each PE
        both = atoll.zeros((n, 64), device="cuda")
        both[...] = np.arange(64.0) + me
        mixed = atoll.global_view(both[0])
        atoll.barrier_all()
        if me == 0:
            atoll.put(both, mixed, 1)
        atoll.barrier_all()
        if me == 1:
            check(both, np.arange(64.0) + np.arange(n)[:, None])
full = atoll.full(3 * (1 << 17) + 5, 1.5, device=device)
few(lambda: None)
assert (as_numpy(full) == 1.5).all()
atoll.finalize()
print("PE", me, "done")
