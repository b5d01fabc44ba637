"""Errors of operations on arrays of a GPU; with tests/simulated if there is no GPU."""

import gc
import sys
import types

import atoll
import numpy as np
from checks import says

me, n = 0, 0


class Other:
    """A simulated array with the protocols of array interfaces."""

    def __init__(self, x, **changes):
        self.x = x
        interface = dict(x.__cuda_array_interface__)
        interface.update(changes)
        self.__cuda_array_interface__ = interface
        self.shape, self.dtype = interface["shape"], x.dtype

    # The protocol is looked up on the type.
    __cuda_array_interface__ = property(
        lambda self: self._interface, lambda self, v: setattr(self, "_interface", v)
    )


class Stream:
    """A stream of some library."""

    asked = 0

    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        self.asked += 1
        return (0, self.handle)


# Before there is any device memory, an object that looks like a GPU's array is distinguished.
class Looks:
    __cuda_array_interface__ = {"shape": (4,), "typestr": "<f8", "data": (4096, False), "version": 3}  # noqa: RUF012


with says(atoll.NotInitialized):
    atoll.zeros(3, device="cuda")
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right = (me + 1) % n
h = atoll.zeros(4)
assert not atoll.is_symmetric(Looks())
with says(atoll.NotSymmetric, "put()", "memory of a GPU", 'device="cuda"'):
    atoll.put(Looks(), h, me)
with says(atoll.InvalidArgument, "device is 'gpu'", '"cuda"'):
    atoll.zeros(3, device="gpu")
with says(atoll.InvalidArgument, "xp is", "cupy or torch"):
    atoll.zeros(3, device="cuda", xp=np)
with says(atoll.InvalidArgument, "xp is", "numpy"):
    atoll.zeros(3, xp=__import__("math"))
assert isinstance(atoll.zeros(3, device="cpu", xp=np), np.ndarray)
with says(atoll.NotInitialized, 'device="cuda"', 'Team.device("host")'):
    atoll.WORLD.device()
assert atoll.WORLD.device("cpu") == atoll.WORLD.device("host")
with says(atoll.InvalidArgument, "memory is 'gpu'"):
    atoll.WORLD.device("gpu")
with says(atoll.DtypeMismatch, "float128_x", "bfloat16"):
    atoll.zeros(3, "float128_x", device="cuda")
with says(atoll.DtypeMismatch, "Python objects"):
    atoll.zeros(3, object, device="cuda")
with says(atoll.DtypeMismatch, "dtype is 'bfloat16'; arrays in host memory", "device='cuda'"):
    atoll.zeros(3, "bfloat16")

x = atoll.zeros((4, 6), device="cuda")
with says(atoll.InvalidArgument, "'cuda:7'", "GPU 0"):
    atoll.zeros(3, device="cuda:7")
atoll.barrier_all()

# ---- other libraries' arrays, by protocol: pointer, offset and strides
whole = Other(x)
x[...] = np.arange(24.0).reshape(4, 6)

# Used as values: x[...] = y, truth, ==
one = atoll.zeros(1, device="cuda")
assert not one
one[...] = 2
assert one and one[0] and not x[0, :1] and x[0, 1]
for ambiguous in (x, x[1:], one[1:]):
    with says(ValueError, f"of shape {ambiguous.shape} is ambiguous", "x.numpy()", ".any()"):
        bool(ambiguous)
for compared in (lambda: x == x, lambda: x != 0, lambda: one == None):  # noqa: E711
    with says(TypeError, "compares no elements", "x.cupy()", "x.torch()", "x is y"):
        compared()
with says(TypeError, "'<' not supported"):
    x < 1  # noqa: B015
assert {x: 1}[x] == 1
x[1:3, ::2] = [7, 8, 9]  # broadcast
assert (x.numpy()[1:3, ::2] == [7, 8, 9]).all()
with says(atoll.ShapeMismatch, "the value has shape (3,)", "the target has (4, 6)", "as NumPy does"):
    x[...] = np.zeros(3)
with says(atoll.ShapeMismatch, "the value has shape (2, 6)", "the target has (3,)"):
    x[1:, 0] = np.zeros((2, 6))
with says(atoll.ShapeMismatch, "the value has shape (6,)", "the target has (4, 6)", "x.cupy()"):
    x[...] = x[0]
x[...] = np.arange(24.0).reshape(4, 6)
part = Other(x, shape=(2, 3), strides=(96, 16), data=(x[1, 1].ptr, False))
assert atoll.is_symmetric(whole) and atoll.is_symmetric(part)
atoll.barrier_all()
atoll.put(part, [[-1.0, -2, -3], [-4, -5, -6]], me)
expected = np.arange(24.0).reshape(4, 6)
expected[1::2, 1::2] = [[-1.0, -2, -3], [-4, -5, -6]]
assert np.array_equal(x.numpy(), expected), x.numpy()
into = np.zeros((2, 3))
atoll.get(into, part, me)
assert np.array_equal(into, expected[1::2, 1::2])
assert atoll.g(part, me, index=-1) == -6
atoll.sum_reduce(whole, Other(x))
assert np.array_equal(x.numpy(), n * expected)
with says(atoll.NotSymmetric, "src", "not in this PE's symmetric memory"):
    atoll.get(into[0], Other(x, shape=(3,), data=(64, False)), me)
with says(atoll.InvalidArgument, "read-only"):
    atoll.put(Other(x, data=(x.ptr, True)), 1.0, me)
with says(atoll.NotSymmetric, "reaches outside"):
    atoll.put(Other(x, shape=(4, 7)), 0.0, me)
with says(atoll.NotSymmetric, "other PEs' memory"):
    atoll.put(atoll.peer(x, right), 0.0, me)
if n > 1:
    with says(atoll.NotSymmetric):
        atoll.put(Other(atoll.peer(x, right)), 0.0, me)

# ---- arguments
with says(atoll.DtypeMismatch, "float64", "int64"):
    atoll.put(x[0], np.arange(6), me)
with says(atoll.ShapeMismatch, "(6,)", "(5,)"):
    atoll.put(x[0], np.zeros(5), me)
with says(atoll.PeError, str(n)):
    atoll.put(x, x, n)
with says(atoll.PeError):
    atoll.get(x, x, -1, stream=0)
with says(atoll.NotSymmetric, "memory of the host", "On a stream"):
    atoll.put(h, x[0, :4], me, stream=0)
with says(atoll.InvalidArgument, "stream is -1"):
    atoll.put(x, x, me, stream=-1)
with says(atoll.NotSymmetric, "memory of a GPU"):
    atoll.pin(x)
with says(atoll.NotSymmetric):
    atoll.pin(np.zeros(4))
with says(atoll.Unsupported, "signal_consume"):
    counter = atoll.signal()
    atoll.pin(counter)
    atoll.signal_consume(counter, 1, stream=0)
with says(atoll.InvalidArgument, "not pinned"):
    atoll.signal_wait_until(atoll.signal(1 << 20)[-1:], ">=", 0, stream=0)
with says(atoll.NotSymmetric, "sum_reduce()", "src", "memory of the host"):
    atoll.sum_reduce(x[0, :4], h)
with says(atoll.NotSymmetric, "dst", "On a stream"):
    atoll.put(h, h, me, stream=0)
with says(atoll.Unsupported, "contiguous"):
    atoll.sum_reduce(x[:, 0], x[:, 1])
with says(atoll.Unsupported, "pass both"):
    atoll.sum_reduce(x)
with says(atoll.Unsupported, "take()", "src", "not contiguous"):
    atoll.take(x[:, :2], 0, me)
with says(atoll.NotSymmetric, "shmem.put()", "memory of the host only"):
    from atoll import shmem  # which calls init once more

    shmem.put(x, x, 0)
atoll.finalize()
with says(atoll.NotSymmetric, "send()", "src", "memory of the host"):
    atoll.send(h, right, stream=0)
with says(atoll.NotSymmetric, "recv()", "dst", "memory of the host"):
    atoll.recv(h, right, stream=0)
with says(atoll.Unsupported, "send()", "contiguous"):
    atoll.send(x[:, 0], right)
with says(atoll.PeError, str(n)):
    atoll.recv(x, n, stream=0)
with says(atoll.InvalidArgument, "recv()", "one stream", "the same stream="), atoll.group():
    atoll.send(x[0], right, stream=0)
    atoll.recv(x[1], right)
with says(atoll.NotSymmetric, "add_at()", "dst", "memory of the host"):
    atoll.add_at(h, 0, 1.0, me, stream=0)
with says(atoll.InvalidArgument, "at most 64", "65"), atoll.group():
    for _ in range(65):
        atoll.send(x[0], right, stream=0)
with says(atoll.DtypeMismatch, "integers"):
    atoll.wait_until(x, ">=", 1, index=0)
tiny = atoll.zeros(4, "float8_e5m2", device="cuda")
with says(atoll.DtypeMismatch, "float32", "float8_e5m2", "x[...] = src"):
    atoll.put(tiny, np.ones(4, "f4"), me)
with says(atoll.DtypeMismatch, "float32", "float8_e5m2", "float(value)"):
    atoll.p(tiny, np.float32(1), me, index=0)
with says(atoll.DtypeMismatch, "dtype float8_e5m2;", "bfloat16, float32"):
    atoll.sum_reduce(tiny, tiny)
with says(atoll.DtypeMismatch, "dtype float8_e5m2;", "bfloat16, float32 and float64"):
    atoll.max_reduce(tiny, tiny)
for value in (2**64, -1):
    with says(atoll.InvalidArgument, "signal_set()", str(value), "does not fit uint64"):
        atoll.signal_set(atoll.signal(1, device="cuda"), value, me)
with says(atoll.Unsupported, "nothing can be returned", "atomic_fetch_add_nbi"):
    atoll.atomic_fetch_add(atoll.zeros(1, int, device="cuda"), 1, me, stream=0)
with says(atoll.InvalidArgument, "does not fit"):
    atoll.p(atoll.zeros(1, np.int8, device="cuda"), 200, me)
with says(atoll.Unsupported, "a slice" if False else "indices"):
    x[[0, 1]]
with says(atoll.Unsupported, "contiguous"):
    x.T.reshape(-1)
for call in (
    atoll.atomic_add,
    lambda half, *more: atoll.wait_until(half, ">=", 1, index=0),
    atoll.signal_set,
):
    with says(atoll.DtypeMismatch, "dtype bfloat16"):
        call(atoll.zeros(1, "bfloat16", device="cuda"), 1, me)
with says(TypeError, "x.numpy()"):
    np.asarray(x)
with says(atoll.Unsupported, "pip install cupy-cuda13x"):
    x.cupy()
with says(atoll.Unsupported, "pip install torch"):
    x.torch()
with says(atoll.Unsupported, "on a stream, src must"):
    atoll.put(x[0], 1.0, me, stream=0)
words = atoll.signal(1, device="cuda")
with says(atoll.Unsupported, "no timeout"):
    atoll.signal_wait_until(words, ">=", 1, timeout=1.0, stream=0)
with says(atoll.Timeout, "signal_wait_until"):
    atoll.signal_wait_until(words, ">=", 1, timeout=0.05)

# ---- streams
for stream in (0, 5, Stream(7), "current"):
    if stream == "current":
        with says(atoll.InvalidArgument, "current", "DeviceArray belongs to neither", "x.cupy(), x.torch()"):
            atoll.put(x[0], x[1], me, stream=stream)
    else:
        atoll.put(x[0], x[1], me, stream=stream)
once = Stream(9)
for _ in range(3):
    atoll.put(x[0], x[1], me, stream=once)
assert once.asked == 1, once.asked


# A torch.Stream does not have its handle; torch.cuda.Stream has it. This is a fake PyTorch of three lines.
class CudaStream:
    def __init__(self, stream_id, device_index, device_type):
        self.cuda_stream = stream_id + 100 * device_index + 1000 * device_type


class AnyStream:
    stream_id, device_index, device_type = 3, 0, 1

    def __init__(self, kind):
        self.device = types.SimpleNamespace(type=kind)


torch = sys.modules["torch"] = types.ModuleType("torch")
torch.cuda = sys.modules["torch.cuda"] = types.ModuleType("torch.cuda")
torch.cuda.Stream = CudaStream
atoll.put(x[0], x[1], me, stream=AnyStream("cuda"))
with says(atoll.InvalidArgument, "stream is", "__cuda_stream__"):
    atoll.put(x[0], x[1], me, stream=AnyStream("cpu"))
torch.cuda.Stream = lambda **of: types.SimpleNamespace(cuda_stream=0xDEAD)
with says(atoll.InvalidArgument, "not of GPU"):
    atoll.put(x[0], x[1], me, stream=AnyStream("cuda"))
del sys.modules["torch"], sys.modules["torch.cuda"]
for wrong in ("now", 1.5, object(), True):
    with says(atoll.InvalidArgument, "stream is", "__cuda_stream__"):
        atoll.put(x[0], x[1], me, stream=wrong)
with says(atoll.InvalidArgument, "not of GPU"):
    atoll.put(x[0], x[1], me, stream=0xDEAD)
atoll.barrier_all()

# ---- DLPack
for version, name in ((None, "dltensor"), ((1, 0), "dltensor_versioned"), ((0, 8), "dltensor")):
    capsule = x[1:, ::2].__dlpack__(max_version=version)
    assert f'"{name}"' in repr(capsule), capsule
    del capsule
with says(BufferError, "not (2, 5)"):
    x.__dlpack__(dl_device=(2, 5))
with says(BufferError, "never copied"):
    x.__dlpack__(copy=True)
with says(BufferError, "no name"):
    atoll.zeros(2, "S3", device="cuda").__dlpack__()
with says(AttributeError, "bfloat16"):
    atoll.zeros(2, "bfloat16", device="cuda").__cuda_array_interface__  # noqa: B018

# ---- lifetime: a view keeps its memory; memory that all PEs dropped is reused, and not before
gc.collect()
atoll.barrier_all()
first = atoll.zeros(1 << 16, np.uint8, device="cuda")
place = first.ptr
view = first[5:]
del first
again = atoll.zeros(1 << 16, np.uint8, device="cuda")
assert again.ptr != place
capsule = view.__dlpack__()
del view
third = atoll.zeros(1 << 16, np.uint8, device="cuda")
assert third.ptr != place
del capsule
fourth = atoll.zeros(1 << 16, np.uint8, device="cuda")
assert fourth.ptr == place, (hex(fourth.ptr), hex(place))
stale = Other(fourth)
atoll.free(stale)
for gone in (fourth, stale):
    with says(atoll.UseAfterFree):
        atoll.put(gone, 0, me)
with says(atoll.UseAfterFree):
    atoll.free(fourth)
with says(atoll.UseAfterFree):
    fourth.numpy()
with says(atoll.UseAfterFree, "__cuda_array_interface__"):
    np.asarray(fourth.__cuda_array_interface__)
with says(atoll.InvalidArgument, "view of"):
    atoll.free(third[1:])
# A block right behind another is distinguished from a view that reaches out of that other one.
several = [atoll.empty(1 << 16, np.uint8, device="cuda") for _ in range(4)]
behind = next([a, b] for a in several for b in several if b.ptr == a.ptr + a.nbytes)
stale = Other(behind[1])
atoll.free(behind[1])
with says(atoll.UseAfterFree):
    atoll.put(stale, 0, me)


# ---- a buffer of cuda.core, by its attributes
class Buffer:
    memory_resource = None

    def __init__(self, x):
        self.handle, self.size = x.ptr, x.nbytes

    @property
    def device_id(self):
        raise AttributeError("no memory resource")


Buffer.__module__ = "cuda.core._memory"
atoll.put(Buffer(behind[0]), np.full(1 << 16, 9, np.uint8), me)
assert (behind[0].numpy() == 9).all()
assert atoll.is_symmetric(Buffer(behind[0]))

# ---- PEs that differ get an error with each one's arguments
if n > 1:
    asked = ("bytes=32, in host memory, dtype=float64)", "bytes=32, align=256, on the GPU, dtype=float64)")
    with says(
        atoll.CollectiveMismatch,
        *(f"(its allocate({asked[pe]}" for pe in (0, 1)),
        "where the memory is",
    ):
        atoll.zeros(4, device="cuda" if me else "cpu")
    both = [atoll.zeros(4, dtype, device="cuda") for dtype in ("int64", "float64")]
    four = both[min(me, 1)]
    told = ("bytes=32, dtype=int64", "bytes=32, dtype=float64")
    with says(
        atoll.CollectiveMismatch,
        *(f"PE {pe} called sum_reduce({told[pe]})" for pe in (0, 1)),
        "they differ in dtype;",
    ):
        atoll.sum_reduce(four, four)
assert "freed" in repr(fourth) and "GPU 0" in repr(third)
with says(atoll.OutOfMemory):
    atoll.zeros(1 << 40, np.uint8, device="cuda")
last = atoll.zeros(3, device="cuda")
atoll.finalize()
with says(atoll.NotInitialized):
    atoll.put(last, 0.0, 0)
print("PE", me, "done")
