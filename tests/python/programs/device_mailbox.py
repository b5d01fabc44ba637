"""atoll.Mailbox with device="cuda": by the host, on streams, and as kernels take it.

With tests/simulated if there is no GPU. With --real: on GPUs, with CuPy's streams.
"""

import sys

import atoll
import atoll.cupy
import numpy as np
from checks import says

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
STREAM: object = 0
if "--real" in sys.argv:
    import cupy

    cupy.cuda.Device(int(atoll.zeros(1, device="cuda").device)).use()
    STREAM = cupy.cuda.Stream(non_blocking=True)


def finish() -> None:
    if STREAM != 0:
        STREAM.synchronize()


box = atoll.Mailbox(65536, slots=4, device="cuda")
assert box.capacity_bytes() == 65536
x = atoll.zeros(8192, device="cuda")
y = atoll.zeros(8192, device="cuda")
count = atoll.zeros(2, np.int64, device="cuda")

# ---- the host waits
assert box.try_receive(y, left) is None
atoll.barrier_all()
for i in range(30):
    x[: i + 1] = np.arange(i + 1.0) + me
    assert box.post(x[: i + 1], right) is None
    assert box.receive(y, left) == i + 1
    assert np.array_equal(y[: i + 1].numpy(), np.arange(i + 1) + left)
for length in (0, 1, 8192):
    box.post(x[:length], right, stream=None)
    assert box.receive(y, left, stream=None) == length

# ---- on a stream: four posts, then as many receives; sizes, and bytes that did not come
for length in (1, 128, 8192, 0, 1000):
    x[:length] = np.full(length, 100.0 * me + length)
    finish()
    for _ in range(4):
        assert box.post(x[:length], right, stream=STREAM) is None
    for _ in range(4):
        assert box.receive(y, left, stream=STREAM, count=count[1:]) is None
    finish()
    assert count.numpy()[1] == length
    assert (y[:length].numpy() == 100.0 * left + length).all()
atoll.barrier_all()
box.try_receive(y, left, stream=STREAM, count=count[:1])
finish()
assert count.numpy()[0] == -1
atoll.barrier_all()
box.post(x[:3], right, stream=STREAM)
finish()
atoll.barrier_all()
box.try_receive(y, left, stream=STREAM, count=count[:1])
finish()
assert count.numpy()[0] == 3

# ---- wrong arguments
h = np.zeros(4)
with says(atoll.InvalidArgument, "Mailbox.post(): src", "memory of the host"):
    box.post(h, right)
with says(atoll.InvalidArgument, "Mailbox.receive(): dst", "memory of the host"):
    box.receive(h, left, stream=STREAM)
with says(atoll.ShapeMismatch, "64 KiB"):
    box.post(atoll.zeros(8193, device="cuda"), right)
with says(atoll.PeError, str(n)):
    box.post(x[:1], n)
with says(atoll.Unsupported, "Mailbox.post()", "timeout", "ATOLL_WAIT_TIMEOUT"):
    box.post(x[:1], right, timeout=1.0, stream=STREAM)
with says(atoll.InvalidArgument, "Mailbox.post(): timeout is -1"):
    box.post(x[:1], right, timeout=-1)
for bound in (0, 0.02):
    with says(atoll.Timeout, f"after {bound:.3g} s", "mailbox receive", f"waiting for PE {left}"):
        box.receive(y, left, timeout=bound)
with says(atoll.InvalidArgument, "Mailbox.receive(): timeout is -1"):
    box.receive(y, left, timeout=-1)
with says(atoll.InvalidArgument, "count="):
    box.try_receive(y, left, stream=STREAM)
with says(atoll.DtypeMismatch, "count", "float64"):
    box.receive(y, left, stream=STREAM, count=x[:1])
with says(atoll.InvalidArgument, "count is for calls on a stream"):
    box.receive(y, left, count=count[:1])
with says(atoll.Unsupported, "timeout", "ATOLL_WAIT_TIMEOUT"):
    box.receive(y, left, timeout=1.0, stream=STREAM)
with says(atoll.Unsupported, "src", "contiguous"):
    box.post(x[::2], right)
with says(atoll.InvalidArgument, "slots 5", "at most 4"):
    atoll.Mailbox(8, slots=5, device="cuda")
with says(atoll.InvalidArgument, "device is 'gpu'"):
    atoll.Mailbox(8, device="gpu")
atoll.barrier_all()  # no PE posts before the timeout above has expired
box.post(x[:4], right)
with says(atoll.ShapeMismatch, "32", "larger"):
    box.receive(y[:3], left, timeout=600)
assert box.receive(y, left, timeout=600) == 4

# ---- no room
with atoll.Mailbox(64, device="cuda") as narrow:
    for length in range(8):
        narrow.post(x[:length], right, timeout=0)  # there is room: nothing to wait for
    for bound in (0, 0.02):
        with says(atoll.Timeout, f"after {bound:.3g} s", "mailbox post", f"waiting for PE {right}"):
            narrow.post(x[:1], right, timeout=bound)
    atoll.barrier_all()
    for length in range(8):
        assert narrow.receive(y, left) == length
    assert narrow.try_receive(y, left) is None
    atoll.barrier_all()
    narrow.post(x[:3], right, timeout=600)
    assert narrow.receive(y, left) == 3

on_host = atoll.Mailbox(64)
with says(atoll.Unsupported, "of the host's memory", 'device="cuda"'):
    on_host.post(h, right, stream=STREAM)
with says(atoll.Unsupported, "src is an array of a GPU", 'device="cuda"'):
    on_host.post(x[:1], right)
with says(atoll.Unsupported, "Mailbox.block", 'device="cuda"'):
    on_host.block  # noqa: B018
with says(atoll.Unsupported, "Mailbox.block"):
    atoll.cupy.mailbox(on_host)
came = atoll.pin(atoll.zeros(2))  # pinned memory is the host's
on_host.post(atoll.pin(atoll.full(2, me + 1.0)), right)
assert on_host.receive(came, left) == 2 and (came.numpy() == left + 1).all()
on_host.free()

# ---- the form that kernels take
block = box.block
assert block.dtype == np.uint8 and block.nbytes == atoll.cupy.mailbox_bytes(n, 65536)
taken = atoll.cupy.mailbox(box)
assert (int(taken["block"]), int(taken["room"])) == (block.ptr, 65536)
with says(TypeError, "pass room"):
    atoll.cupy.mailbox(block)
with says(atoll.InvalidArgument, "free()", "view"):
    atoll.free(block)

# ---- a team, and the end
half = atoll.WORLD.split_strided(0, 1, (n + 1) // 2)
with atoll.Mailbox(8, team=half or atoll.WORLD, device="cuda") as small:
    if half:
        small.post(x[:1], (half.my_pe() + 1) % half.n_pes())
        assert small.receive(y, (half.my_pe() - 1) % half.n_pes()) == 1
with says(atoll.UseAfterFree, "freed"):
    small.post(x[:1], 0)
atoll.barrier_all()
box.free()
with says(atoll.UseAfterFree):
    box.receive(y, left)
with says(atoll.UseAfterFree):
    atoll.cupy.mailbox(block, 65536)
used = atoll.Mailbox(8, device="cuda")
del used  # reclaimed by a later allocation
atoll.barrier_all()
atoll.free(y)
atoll.finalize()
print("PE", me, "done")
