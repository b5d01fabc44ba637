"""atoll.register on memory that PyTorch, CuPy and cuda.core have allocated."""

import os

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")  # before PyTorch is imported
os.environ.setdefault("TORCH_CUDA_EXPANDABLE_SEGMENTS_IPC", "1")

import atoll
import numpy as np
import torch

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
device = atoll.zeros(1, device="cuda").device
torch.cuda.set_device(device)
passed = []


def refused(words, x):
    try:
        atoll.register(x)
    except atoll.InvalidArgument as error:
        assert words in str(error), error
        passed.append(f"refused: {words}")
    else:
        raise AssertionError(f"{words!r} was not said")


# ---- PyTorch: a part of an allocation, one of several allocations, and one that is a view
for count in (1000, 1 << 20, 30 << 20):
    own = torch.arange(count, device="cuda", dtype=torch.int32) + me
    torch.cuda.synchronize()
    x = atoll.register(own[count // 4 :])
    assert type(x) is torch.Tensor and x.dtype == torch.int32 and x.shape == (count - count // 4,)
    assert x.data_ptr() != own.data_ptr() and atoll.is_symmetric(x) and not atoll.is_symmetric(own)
    assert torch.equal(x, own[count // 4 :])
    atoll.barrier_all()
    theirs = np.empty(100, np.int32)
    atoll.get(theirs, x[-100:], right)
    assert np.array_equal(theirs, np.arange(count - 100, count) + right)
    atoll.barrier_all()
    atoll.sum_reduce(x, x, stream="current")
    torch.cuda.synchronize()
    expected = n * torch.arange(count, device="cuda") + n * (n - 1) // 2
    assert torch.equal(own[count // 4 :].long(), expected[count // 4 :]), "seen by the old address"
    atoll.barrier_all()
    atoll.free(x)
    assert not atoll.is_symmetric(x)
    own += 1  # the memory remains its owner's
    torch.cuda.synchronize()
    passed.append(f"torch, {count}")
grid = torch.zeros(64, 64, device="cuda")
x = atoll.register(grid[::2, 1:])
atoll.put(x, torch.full((32, 63), float(me + 1), device="cuda"), right)
atoll.barrier_all()
assert torch.equal(grid[::2, 1:], torch.full((32, 63), float(left + 1), device="cuda")) and grid[1].sum() == 0
passed.append("torch, strides")
refused("symmetric already", x)

# ---- cudaMalloc's
try:
    import cupy
except ImportError:
    print("CuPy is not here: cudaMalloc's memory was not tried")
else:
    cupy.cuda.Device(device).use()
    refused("cudaMalloc", cupy.zeros(1 << 20))

# ---- cuda.core: a Buffer in, and out
try:
    from cuda.core import Device, VirtualMemoryResource, VirtualMemoryResourceOptions
except ImportError:
    try:
        from cuda.core.experimental import Device, VirtualMemoryResource, VirtualMemoryResourceOptions
    except ImportError:
        Device = None
if Device is None:
    print("cuda.core has no VirtualMemoryResource here")
else:
    core = Device(device)
    core.set_current()
    resource = VirtualMemoryResource(core, config=VirtualMemoryResourceOptions(handle_type="posix_fd"))
    buffer = resource.allocate(4 << 20)
    y = atoll.register(buffer)
    assert isinstance(y, atoll.DeviceArray) and y.dtype == np.uint8 and y.nbytes == buffer.size
    atoll.put(y[:5], np.arange(5, dtype=np.uint8) + me, right)
    atoll.barrier_all()
    assert np.array_equal(y[:5].numpy(), np.arange(5) + left)
    out = y.buffer()
    assert int(out.handle) == y.ptr and out.size == y.nbytes
    atoll.put(out, np.full(y.nbytes, 9, np.uint8), me)
    assert y.numpy().sum() == 9 * y.nbytes
    atoll.barrier_all()
    atoll.free(y)
    passed.append("cuda.core.Buffer")
atoll.barrier_all()
atoll.finalize()
print("PE", me, "passed", len(passed), passed)
