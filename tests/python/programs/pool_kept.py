"""A pool's memory is not reused before it is freed, even if the pool object is dropped."""

import gc

import stand_in_torch  # noqa: F401

# isort: split
import atoll
import atoll.torch

atoll.init()
with atoll.torch.use_pool(1 << 21) as pool:
    start = pool._slab.ptr
again = atoll.torch.Pool(1 << 21)
del pool
gc.collect()
others = [atoll.zeros(1 << 20, "uint8", device="cuda") for _ in range(4)]
assert not any(start <= x.ptr < start + (1 << 21) for x in others), "a tensor's memory was given away"
start = again._slab.ptr
again.free()
assert atoll.zeros(1 << 21, "uint8", device="cuda", align=1 << 21).ptr == start, "free() gave nothing back"
print("done")
