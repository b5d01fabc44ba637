"""CuPy and PyTorch imported before atoll (the default), after it, or after init (the arguments `after`,
`late`).

In each order, arrays and current streams of both are known.
"""

import importlib
import sys

libraries = []


def load():
    for name in ("cupy", "torch"):
        try:
            libraries.append(importlib.import_module(name))
        except ImportError:
            print(f"{name} is not installed")


if len(sys.argv) == 1:
    load()
import atoll  # noqa: E402

if "after" in sys.argv:
    load()
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
here = atoll.zeros(4, device="cuda")
if "late" in sys.argv:
    load()
for xp in libraries:
    device = xp.cuda.device if xp.__name__ == "torch" else xp.cuda.Device
    with device(here.device):
        x = atoll.full(1000, float(me), "float32", device="cuda", xp=xp)
        y = atoll.zeros(1000, "float32", device="cuda", xp=xp)
        x += 1  # on the current stream of xp, on which the reduction is next
        atoll.sum_reduce(y, x, stream="current")
        atoll.barrier_all(stream="current")
        assert (float(y[7]), float(y.sum())) == (n * (n + 1) / 2, 500 * n * (n + 1)), (xp.__name__, y)
        atoll.barrier_all()  # no PE writes y before all have read it
        x += 1
        atoll.put(y, x, (me + 1) % n)  # without a stream: waits for the work on the current stream of xp
        atoll.barrier_all()
        assert float(y[999]) == (me - 1) % n + 2, (xp.__name__, y)
        atoll.barrier_all()
print([xp.__name__ for xp in libraries], "done")
