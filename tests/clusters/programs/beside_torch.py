"""Under torchrun: the store of torch.distributed connects the PEs (store), or torchrun's variables alone do."""

import sys

import numpy as np

if sys.argv[1] == "store":
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")

import atoll

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
x = atoll.zeros(4)
atoll.put(x, np.full(4, me + 1.0), pe=(me + 1) % n)
atoll.barrier_all()
assert (np.asarray(x) == (me - 1) % n + 1).all(), x
if sys.argv[1] == "store":
    total = torch.ones(2) * me
    dist.all_reduce(total)
    assert total[0] == n * (n - 1) / 2 and dist.get_rank() == me
atoll.finalize()
if me == 0:
    print(f"ok: {n} PEs", flush=True)
