"""A first launch of a kernel of ours does not wait for kernels that spin.

Each kind of call is made while a kernel waits on another stream.
"""

import threading

import atoll
import cupy
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
x, y = (atoll.zeros(64 * n, np.int64, device="cuda") for _ in range(2))
word = atoll.zeros(1, np.uint64, device="cuda")
box = atoll.Mailbox(256, device="cuda")
cupy.cuda.Device(x.device).use()
atoll.barrier_all()

CALLS = {
    "take": lambda: atoll.take(x, np.arange(5), right),
    "put_at": lambda: atoll.put_at(x, np.arange(5), np.arange(5), right),
    "add_at": lambda: atoll.add_at(x, np.arange(5), np.arange(5), right),
    "a strided put": lambda: atoll.put(x[::2], y[::2], right),
    "an atomic": lambda: atoll.atomic_fetch_add(x, 1, right, index=0),
    "post and receive": lambda: (box.post(x[:8], right), box.receive(y[:8], left)),
    "sum_inscan": lambda: atoll.sum_inscan(y, x),
    "sum_reduce": lambda: atoll.sum_reduce(y, x),
    "collect": lambda: atoll.collect(y, x[:5]),
    "alltoalls": lambda: atoll.alltoalls(y, x, 2, 2, 3),
    "wait_until_any": lambda: atoll.wait_until_any(y[32:36], "==", 0),
}
spins = cupy.cuda.Stream(non_blocking=True)
atoll.signal_wait_until(word, ">=", 1, stream=spins)
late = []


def end(name: str) -> None:
    """Copy by the copy engine, so that a hang ends and is named."""
    late.append(name)
    word[...] = np.ones(1, np.uint64)


for name, call in CALLS.items():
    limit = threading.Timer(10, end, [name])
    limit.start()
    call()
    limit.cancel()
    assert not late, f"PE {me}: {late[0]} waited for a kernel that had nothing to do with it"
assert not spins.done, "the kernel that was to spin had ended"
word[...] = np.ones(1, np.uint64)
spins.synchronize()
atoll.barrier_all()
box.free()
atoll.finalize()
print("PE", me, "done")
