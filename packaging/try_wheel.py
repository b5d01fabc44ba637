"""A job that tries an installed wheel: a put, a barrier, a sum, and what the binding asks Python about itself."""

import inspect
import platform

import atoll

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
x = atoll.zeros(1, "i8")
atoll.put(x, [me + 1], pe=(me + 1) % n)
atoll.barrier_all()
assert x[0] == (me - 1) % n + 1, x
total = atoll.sum_reduce(x)
assert total[0] == n * (n + 1) // 2, total

assert "timeout" in inspect.signature(atoll.Lock.acquire).parameters
try:
    atoll.wait_until(x, "==", -1, timeout=0.01)
except atoll.Timeout as error:
    assert "try_wheel.py" in str(error), error
else:
    raise AssertionError("a wait for -1 ended")
atoll.barrier_all()
print(f"PE {me} of {n}: Python {platform.python_version()} on {platform.machine()}")
atoll.finalize()
