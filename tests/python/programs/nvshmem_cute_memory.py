"""Registered tensors of CuTe DSL with a GPU whose memory is the host's: a memory file is cuMemCreate's allocation."""

import mmap
import os

import atoll.compat

atoll.compat.install("nvshmem")

import ctypes  # noqa: E402

import cutlass  # noqa: E402
import numpy as np  # noqa: E402
import nvshmem.core  # noqa: E402
from cutlass.cute.runtime import from_dlpack  # noqa: E402
from nvshmem.core import NvshmemInvalid  # noqa: E402
from nvshmem.core.interop import cute as interop  # noqa: E402

nvshmem.core.init(initializer_method="mpi")
me, n = nvshmem.core.my_pe(), nvshmem.core.n_pes()
GRANULE = 2 << 20
reserved = mmap.mmap(-1, 2 * GRANULE)
place = -(-ctypes.addressof(ctypes.c_char.from_buffer(reserved)) // GRANULE) * GRANULE
file = os.memfd_create("allocation")
os.ftruncate(file, GRANULE)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
both, shared_and_fixed = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | 0x10
assert libc.mmap(place, GRANULE, both, shared_and_fixed, file, 0) == place
mine = np.frombuffer((ctypes.c_char * GRANULE).from_address(place), np.float32)[16:76].reshape(6, 10)[:, :7]


def at(address: int, like: np.ndarray) -> np.ndarray:
    whole = np.frombuffer((ctypes.c_char * 240).from_address(address), np.float32)
    return whole.reshape(6, 10)[:, :7]


for kind in (None, cutlass.Int32):
    mine[...] = np.arange(42).reshape(6, 7) + 100 * me
    theirs = from_dlpack(mine)
    if kind is not None:
        theirs.element_type = kind
    nvshmem.core.barrier_all()
    x = interop.register_external_tensor(theirs)
    assert tuple(x.shape) == (6, 7) and tuple(x.stride) == (10, 1), (x.shape, x.stride)
    assert x.element_type is (kind or cutlass.Float32)
    there = interop.get_peer_tensor(x, (me + 1) % n)
    assert there.element_type is x.element_type, there.element_type
    assert np.array_equal(at(there.data_ptr, mine), np.arange(42).reshape(6, 7) + 100 * ((me + 1) % n))
    nvshmem.core.barrier_all()
    interop.unregister_external_tensor(x)
    try:
        interop.unregister_external_tensor(x)
    except NvshmemInvalid as error:
        assert "or was freed" in error.msg
    else:
        raise AssertionError("a tensor was unregistered twice")
for wrong, words in ((5, "a int is no tensor with memory"), (theirs, "")):
    try:
        interop.tensor_get_buffer(wrong) if wrong is theirs else interop.register_external_tensor(wrong)
    except NvshmemInvalid as error:
        assert words in error.msg, error.msg
    else:
        raise AssertionError(f"{wrong} was accepted")
nvshmem.core.finalize()
print("done", flush=True)
