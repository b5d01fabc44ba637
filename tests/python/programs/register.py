"""atoll.register with a GPU whose memory is the host's: memory files take the place of cuMemCreate's
allocations.
"""

import ctypes
import gc
import mmap
import os

import atoll
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
GRANULE = 2 << 20
_mmap = ctypes.CDLL(None).mmap
_mmap.restype = ctypes.c_void_p
_mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


class Theirs:
    """An array of another library: some adjacent allocations, and a view within them."""

    def __init__(self, parts, first, shape, dtype, strides=None):
        base = _mmap(None, (sum(parts) + 2) * GRANULE, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        at = base = -(-base // GRANULE) * GRANULE + GRANULE
        for part in parts:
            file = os.memfd_create("allocation")
            os.ftruncate(file, part * GRANULE)
            shared, fixed = mmap.MAP_SHARED, 0x10
            _mmap(at, part * GRANULE, mmap.PROT_READ | mmap.PROT_WRITE, shared | fixed, file, 0)
            at += part * GRANULE
        self.base, self.bytes = base, at - base
        self.said = {
            "shape": shape, "typestr": np.dtype(dtype).str, "strides": strides, "data": (base + first, False), "version": 3,
        }  # fmt: skip

    @property
    def __cuda_array_interface__(self):
        return self.said

    def whole(self):
        return np.frombuffer((ctypes.c_char * self.bytes).from_address(self.base), np.uint8)


def refused(kind, words, x):
    try:
        atoll.register(x)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"{words!r} was not said")


def wait():
    atoll.barrier_all()


# ---- one allocation, before anything else of the GPU; the view begins within it
theirs = Theirs([1], 4096, (1000,), "float64")
mine = theirs.whole()[4096 : 4096 + 8000].view(np.float64)
mine[:] = np.arange(1000) + 1e4 * me
x = atoll.register(theirs)
assert isinstance(x, atoll.DeviceArray) and x.shape == (1000,) and atoll.is_symmetric(x[3:7])
assert not atoll.is_symmetric(theirs)
assert np.array_equal(x.numpy(), mine)
wait()
got = np.empty(1000)
atoll.get(got, x, right)
assert np.array_equal(got, np.arange(1000) + 1e4 * right)
wait()
atoll.put(x[10:20], x[30:40], right)
wait()
assert np.array_equal(mine[10:20], np.arange(30.0, 40) + 1e4 * left), "seen by the old address"
atoll.sum_reduce(x, x, stream=0)
wait()
assert mine[500] == 500 * n + 1e4 * n * (n - 1) / 2
wait()
atoll.free(x)
assert not atoll.is_symmetric(x)

# ---- several adjacent allocations, strides, and a view that begins in one and ends in another
theirs = Theirs([1, 3, 2], GRANULE - 64, (2, GRANULE // 2), "int32", (2 * GRANULE + 4, 4))
x = atoll.register(theirs)
assert x.shape == (2, GRANULE // 2) and x.strides == (2 * GRANULE + 4, 4)
x[1, -1] = 77 + me
last = theirs.whole()[GRANULE - 64 :].view(np.int32)[GRANULE // 2 + 1 + GRANULE // 2 - 1]
assert last == 77 + me, last
wait()
assert atoll.g(x[1, -1:], right) == 77 + right
again = atoll.register(theirs)  # the same memory at another address
wait()
atoll.p(again[0, :1], 5, right)
wait()
assert x[0, :1].numpy()[0] == 5
wait()

# ---- memory that was dropped stays until all PEs have dropped it
keep = again if me == 0 else None
place, x, again = again.ptr, None, None
gc.collect()
wait()
first = atoll.register(theirs)
assert first.ptr != place
wait()
keep = None
gc.collect()
atoll.zeros(1, device="cuda")  # a collective allocation: it reuses the memory
second = atoll.register(theirs)
wait()

# ---- memory that cannot be registered
y = atoll.zeros(4, device="cuda")
if n == 1:
    refused(atoll.InvalidArgument, "symmetric already", y)
    refused(atoll.InvalidArgument, "numpy.ndarray", np.zeros(4))
    refused(atoll.InvalidArgument, "no elements", Theirs([1], 0, (0,), "int8"))
plain = Theirs([1], 0, (8,), "int8")
if me == n - 1:  # like cudaMalloc's: on one PE only
    ordinary = np.zeros(4 * GRANULE, np.uint8)
    plain.said["data"] = (ordinary.ctypes.data, False)
refused(atoll.InvalidArgument, "cudaMalloc" if me == n - 1 else f"PE {n - 1}", plain)
if n > 1:
    refused(atoll.CollectiveMismatch, "register", Theirs([1], 0, (8 + me,), "int8"))
    refused(atoll.CollectiveMismatch, "within", Theirs([1], 64 * me, (8,), "int8"))
    refused(atoll.CollectiveMismatch, "parts", Theirs([2] if me else [1, 1], 0, (2 * GRANULE,), "int8"))
    refused(
        atoll.InvalidArgument if me == 0 else atoll.CollectiveMismatch,
        "symmetric already" if me == 0 else "register",
        y if me == 0 else Theirs([1], 0, (8,), "int8"),
    )
wait()
atoll.free(first)
atoll.free(second)
atoll.finalize()
print("PE", me, "done")
