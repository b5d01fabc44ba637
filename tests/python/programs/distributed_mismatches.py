"""Calls on distributed arrays that PEs make differently: each is named on every PE, and the job goes on."""

import functools
import re
import sys
from pathlib import Path

import atoll
import numpy as np
from atoll import arrays, fft, sparse
from atoll.sparse import csgraph

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
odd = int(me == n - 1)  # the PE that differs
u = arrays.from_array(np.arange(16.0).reshape(4, 4))
v = arrays.from_array(np.arange(4.0))
A = sparse.from_triplets(*(([0, 1, 2, 3], [1, 2, 3, 0], [1.0] * 4) if me == 0 else ([], [], [])), (4, 4))
folder = Path(sys.argv[1])

c = arrays.from_array(np.arange(4.0), dist="cyclic")
w, other = arrays.ones(4), arrays.ones(4)


def mixed() -> arrays.DistArray:
    with arrays.mixed_operands("redistribute" if odd else "refuse"):
        return v - c


DIFFERENT = {
    "mean(": lambda: u.mean(axis=odd),
    "numpy.mean(": lambda: np.mean(u, axis=odd),
    "ones(": lambda: arrays.ones(4, dtype=int if odd else float),
    "zeros(": lambda: arrays.zeros(3 + odd),
    "DistArray(": lambda: arrays.DistArray((4,), halo=odd),
    "from_array(": lambda: arrays.from_array(np.arange(6.0), dist="cyclic" if odd else "block"),
    "argmax(": lambda: u.argmax(axis=odd),
    "std(": lambda: u.std(ddof=odd),
    "sum(": lambda: u.sum(axis=0, keepdims=bool(odd)),
    "numpy.roll(": lambda: np.roll(v, odd + 1, 0),
    "numpy.flip(": lambda: np.flip(u, axis=odd),
    "reshape(": lambda: u.reshape((2, 8) if odd else (8, 2)),
    "redistribute(": lambda: u.redistribute("cyclic" if odd else "block"),
    "numpy.add(": lambda: v + np.arange(4.0) * odd,
    "numpy.multiply(": lambda: v * (1.0 + odd),
    "numpy.subtract(": lambda: v.__isub__(1.0 + odd),
    "numpy.divide(": lambda: np.divide(v, 1.0, out=other if odd else w),
    "prod(<float64 (4,)": lambda: (w if odd else other).prod(),
    "a[mask] = x(": lambda: v.__setitem__(v > 0, 1.0 + odd),
    "a[...] = b(": lambda: v.__setitem__(..., other if odd else w),
    "within mixed_operands('redistribute')": mixed,
    "numpy.matmul(": lambda: u @ (np.ones(4) * (odd + 1)),
    "random(": lambda: arrays.random(4, seed=odd),
    "shuffle(": lambda: arrays.shuffle(v, seed=odd),
    "from_triplets(": lambda: sparse.from_triplets([], [], [], (4 + 2 * odd, 4)),
    "pagerank(": lambda: csgraph.pagerank(A, damping=0.5 + odd / 4),
    "breadth_first(": lambda: csgraph.breadth_first(A, odd),
    "transpose(": lambda: (u + u) if odd else u.T,
    "fft(": lambda: fft.fft(u, norm="ortho" if odd else None),
    "fftn(": lambda: fft.fftn(u, norm="ortho" if odd else None),
    "save(": lambda: v.save(folder / f"{odd}.npy"),
    "exchange_halo(": lambda: arrays.zeros((4 * n, 8), halo=1).exchange_halo("periodic" if odd else "fixed"),
    "gather_object(": lambda: atoll.gather_object(1) if odd else atoll.reduce_object(1),
    "reduce_object(": lambda: atoll.reduce_object(me, "max" if odd else "sum"),
}
USUAL = {2: "0", 3: "0,1"}.get(n, f"0-{n - 2}")
for name, call in DIFFERENT.items():
    try:
        call()
    except atoll.CollectiveMismatch as error:
        text = str(error)
        assert text.startswith(f"PE {n - 1} called ") and f", where PE {USUAL} called " in text, text
        assert name in text, (name, text)
        assert (
            "_object" in name or len(re.findall(r"(?<! made) at distributed_mismatches\.py:\d+", text)) == 2
        ), text
    else:
        raise AssertionError(f"{name} differed in silence")

# These differences are legal.
_ = u.sum(0) if odd else u.sum(axis=0)
_ = u.sum(axis=None, keepdims=False) if odd else u.sum()
v.scatter(np.arange(4.0), n - 1) if odd else v.scatter(root=n - 1)
_ = u.redistribute(dist="cyclic") if odd else u.redistribute("cyclic")
assert arrays.from_array(np.arange(4.0) if me == 1 else None, root=1).sum() == 6
w = arrays.ones(n)
if odd:
    w.local[...] *= 3  # this PE's part only
atoll.barrier_all()
assert w.sum() == n + 2
assert atoll.reduce_object(me, lambda a, b: a + b) == sum(range(n))
assert atoll.reduce_object(me, atoll.SUM if odd else "sum") == sum(range(n))
assert atoll.reduce_object(me, functools.partial(max)) == n - 1
assert (u + u).sum() == 240 and u.mean() == 7.5 and not list(folder.iterdir())
print(f"{len(DIFFERENT)} calls named")
