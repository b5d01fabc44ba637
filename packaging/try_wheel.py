"""A job that tries an installed wheel: a put, a barrier, a sum, and what the binding asks Python about itself.

A free-threaded Python must go on without its GIL, and threads must call Atoll at the same time.
"""

import inspect
import platform
import sys
import sysconfig
import threading

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

# Threads start together and each adds to one counter of the next PE.
counter = atoll.zeros(1, "i8")
together = threading.Barrier(4)


def add() -> None:
    together.wait()
    for _ in range(250):
        atoll.atomic_add(counter, 1, pe=(me + 1) % n)


threads = [threading.Thread(target=add) for _ in range(together.parties)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
atoll.barrier_all()
assert counter[0] == 1000, counter

kind = ""
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    assert not sys._is_gil_enabled(), "a module of Atoll or NumPy has turned the GIL on"
    kind = " without a GIL"
print(f"PE {me} of {n}: Python {platform.python_version()}{kind} on {platform.machine()}")
atoll.finalize()
