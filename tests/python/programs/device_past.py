"""Arrays of a GPU whose memory is gone, as local arguments of calls; and the objects that count as arrays of
a GPU.

Freed ones are passed as other libraries' views, others belong to a job that was finalized. With
tests/simulated.
"""

import ctypes
from typing import Any

import atoll
import numpy as np
from checks import says
from stand_in_cupy import cupy

cupy.__version__ = "14.0.0"


class View:
    """An array of some library, which keeps no memory alive. Its protocol is an attribute of the object, not
    of its type.
    """

    def __init__(self, x: Any, **changes: Any) -> None:
        interface = x.__cuda_array_interface__
        self.__cuda_array_interface__ = interface | changes


def cupys(x: Any) -> Any:
    """Return the same as an array of CuPy."""
    pointer = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(x.ptr, x.nbytes, None, x.device), 0)
    return cupy.ndarray(x.shape, x.dtype, pointer, x.strides)


class Present:
    """The calls' other arguments, of this job. They are allocated before anything is freed, else they would reuse
    that memory.
    """

    def __init__(self) -> None:
        self.y, self.h = sevens(), atoll.zeros(4, np.int64)
        self.flag, self.box = atoll.signal(1, device="cuda"), atoll.Mailbox(64, device="cuda")


def refused(gone: Any, words: str, present: Present) -> None:
    """Check every call that reads or writes `gone`, four int64, on this PE."""
    y, h, flag, box, numbers = present.y, present.h, present.flag, present.box, np.zeros(4, np.int64)
    reads = {
        "put": lambda: atoll.put(y, gone, me),
        "put_nbi": lambda: atoll.put_nbi(y, gone, me),
        "put on a stream": lambda: atoll.put(y, gone, me, stream=0),
        "put to the host": lambda: atoll.put(h, gone, me),
        "iput": lambda: atoll.put(y[::2], strided(gone), me),
        "put_signal": lambda: atoll.put_signal(y, gone, flag, 1, "add", me),
        "put_signal on a stream": lambda: atoll.put_signal(y, gone, flag, 1, "add", me, stream=0),
        "put_at": lambda: atoll.put_at(y, [0, 1, 2, 3], gone, me),
        "add_at": lambda: atoll.add_at(y, [0, 1, 2, 3], gone, me),
        "indices": lambda: atoll.put_at(y, gone, numbers, me),
        "PEs": lambda: atoll.take(y, [0, 1, 2, 3], gone),
        "assignment": lambda: y.__setitem__(..., gone),
        "post": lambda: box.post(gone, me),
        "post on a stream": lambda: box.post(gone, me, stream=0),
        "send": lambda: atoll.send(gone, me),
        "sum_reduce": lambda: atoll.sum_reduce(y, gone),
        "broadcast": lambda: atoll.broadcast(y, gone, 0),
    }
    writes = {
        "get": lambda: atoll.get(gone, y, me),
        "get on a stream": lambda: atoll.get(gone, y, me, stream=0),
        "get of the host": lambda: atoll.get(gone, h, me),
        "take": lambda: atoll.take(y, [0, 1, 2, 3], me, out=gone),
        "receive": lambda: box.try_receive(gone, me),
        "count": lambda: box.receive(y, me, stream=0, count=first(gone)),
        "recv": lambda: atoll.recv(gone, me),
        "fcollect": lambda: atoll.fcollect(gone, y),
        "test": lambda: atoll.test_all(y, ">=", 0, stream=0, out=gone),
    }
    for name, call in (reads | writes).items():
        try:
            call()
        except atoll.UseAfterFree as error:
            assert words in str(error), (name, error)
        else:
            raise AssertionError(f"{name} accepted freed memory")
    assert not atoll.is_symmetric(gone)
    assert (y.numpy() == 7).all() and not h.any() and flag.numpy()[0] == 0


def strided(x: Any) -> Any:
    return x[::2] if isinstance(x, atoll.DeviceArray) else View(Held(x, (2,), (16,)))


def first(x: Any) -> Any:
    return x[:1] if isinstance(x, atoll.DeviceArray) else View(Held(x, (1,), (8,)))


class Held:
    """The protocol of a part of a view."""

    def __init__(self, x: Any, shape: Any, strides: Any) -> None:
        self.__cuda_array_interface__ = x.__cuda_array_interface__ | {"shape": shape, "strides": strides}


def sevens() -> Any:
    return atoll.full(4, 7, np.int64, device="cuda")


# ---- before any memory of a GPU, and objects with their own protocol
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right = (me + 1) % n
h = atoll.zeros(4, np.int64)


class Looks:
    pass


looks = Looks()
with says(TypeError, "put()", "dst is", "pass a NumPy array", "__cuda_array_interface__"):
    atoll.put(looks, 1, me)
looks.__cuda_array_interface__ = {"shape": (4,), "typestr": "<i8", "data": (4096, False), "version": 3}
with says(atoll.NotSymmetric, "put()", "dst is in the memory of a GPU", 'device="cuda"'):
    atoll.put(looks, 1, me)
with says(TypeError, "known by __dlpack__ alone", "from_dlpack()"):
    atoll.put(type("Exports", (), {"__dlpack__": None})(), 1, me)

x, y = sevens(), sevens()
assert atoll.is_symmetric(View(x)) and not atoll.is_symmetric(Looks())
atoll.put(View(x), View(y, data=(y[1:].ptr, False), shape=(4,), strides=(0,)), me)
atoll.sum_reduce(View(y), View(x))
assert (y.numpy() == 7 * n).all()
y[...] = View(x)
with says(atoll.ShapeMismatch, "the value has shape (4,)", "the target has (2,)"):
    y[1:3] = View(x)
with says(atoll.InvalidArgument, "lacks data, shape or typestr"):
    atoll.put(y, View(x, data=None), me)

# ---- dtypes that differ: the advised function exists
y[...] = 7
narrow = atoll.zeros(4, np.int32, device="cuda")
for call in (
    lambda: atoll.put(y, narrow, me),
    lambda: atoll.put(y, View(narrow), me, stream=0),
    lambda: atoll.put(h, narrow, me),
    lambda: atoll.sum_reduce(y, narrow),
    lambda: atoll.fcollect(y, narrow),
):
    with says(atoll.DtypeMismatch, "src has dtype int32, but dst has int64", "src.cupy() and src.torch()"):
        call()
with says(atoll.DtypeMismatch, "values", "values.cupy() and values.torch()"):
    atoll.put_at(y, [0, 1, 2, 3], narrow, me)
with says(atoll.DtypeMismatch, "float8_e5m2", "src.torch()"):
    atoll.put(atoll.zeros(4, "float8_e5m2", device="cuda"), narrow, me)
swapped = y.view(">i8")
with says(atoll.DtypeMismatch, "byte order", "dst.view(dst.dtype.newbyteorder('='))"):
    atoll.put(swapped, 7, me)
atoll.put(swapped.view(swapped.dtype.newbyteorder("=")), 7, me)
with says(atoll.DtypeMismatch, "use src.astype(dst.dtype)"):
    atoll.put(y, np.zeros(4), me)

# ---- freed memory: through any view
present, y = Present(), sevens()
gone, others = sevens(), atoll.full(1 << 10, 7, np.int64, device="cuda")
views = [
    gone,
    gone[:],
    View(gone),
    cupys(gone),
    View(atoll.peer(gone, right)),
    cupys(atoll.global_view(gone)[0]),
]
end = View(others, shape=(0,), data=(others.ptr + others.nbytes, False))
inside = View(others, shape=(4,), data=(others[4:].ptr, False))
atoll.free(gone)
for view in views:
    refused(view, "was freed by atoll.free()", present)
with says(atoll.UseAfterFree, "register()"):
    atoll.register(views[2])
with says(atoll.UseAfterFree, "free()"):
    atoll.free(views[2])
atoll.put(y[:0], end, me)
atoll.get(inside, y, me)
atoll.free(others)
refused(inside, "was freed by atoll.free()", present)
atoll.put(y[:0], end, me)  # no elements, no memory
atoll.barrier_all()

# A view of the host's memory that has lost its owner is recognized by its address, also if pinned.
lost = np.frombuffer((ctypes.c_char * h.nbytes).from_address(h.ctypes.data), np.int64)
seen = atoll.pin(lost)
assert "of the host, pinned" in repr(seen) and np.array_equal(seen.numpy(), h)
assert seen.__cuda_array_interface__["data"] == (h.ctypes.data, False)

# ---- arrays of an earlier job
filler = atoll.zeros(
    1 << 20, device="cuda"
)  # so that the next job's allocations end below the arrays of this one
pinned = atoll.pin(h)
h[...] = 3
old = sevens()
shared = [old, old[:], atoll.peer(old, right), atoll.pin(h)]
views = [View(old), cupys(old), View(shared[2])]
places, size = sorted({old.ptr, shared[2].ptr}), 1 << 21
atoll.finalize()
for x in shared:
    for share in (lambda x=x: x.__cuda_array_interface__, lambda x=x: x.__dlpack__()):
        with says(atoll.UseAfterFree, "belongs to a job that was finalized"):
            share()

# Map something else at these addresses, so that the next job gets other ones.
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
readable, private_anonymous_fixed = 3, 0x02 | 0x20 | 0x100000
places = [place // size * size for place in places]
for place in places:
    assert libc.mmap(place, size, readable, private_anonymous_fixed, -1, 0) == place

atoll.init()
new = atoll.zeros(4, np.int64)
for x in (old, *views):
    with says(atoll.UseAfterFree, "put()", "src belongs to a job that was finalized"):
        atoll.put(new, x, me)  # before the job has memory of a GPU
y = sevens()
atoll.put(y, views[0], me)  # memory of another library, made since then
assert not y.numpy().any()
y[...] = 7
present = Present()
for place in places:
    assert libc.munmap(place, size) == 0
for x in (*shared[:3], *views):
    refused(x, "belongs to a job that was finalized", present)
for x in (pinned, h):
    with says(atoll.UseAfterFree, "dst belongs to a job that was finalized"):
        atoll.put(x, 1, me)
with says(atoll.UseAfterFree, "the array belongs to a job that was finalized"):
    old.numpy()
assert "of a job that was finalized" in repr(old) and "finalized" not in repr(y)
# The host's memory stays as long as an array refers to it.
assert (pinned.numpy() == 3).all()
atoll.put(new, h, me)
assert (new == 3).all()
atoll.put(y, h, me)
atoll.get(h, y, me)
assert (y.numpy() == 3).all() and (h == 3).all()
atoll.barrier_all()

print("PE", me, "done")
