"""The PEs beside those of legal.c, which make the same meetings in C."""

import atoll
import numpy as np

BLOCK, MOST_PES = 4, 8
atoll.init()
n = atoll.n_pes()
x = atoll.empty(BLOCK, "i8")
gathered = atoll.empty(BLOCK * MOST_PES, "i8")
x[:] = atoll.my_pe() + 1
atoll.barrier_all()
assert atoll.sum_reduce(x)[-1] == n * (n + 1) // 2
received = atoll.fcollect(x)
assert np.array_equal(np.ravel(received), np.repeat(np.arange(1, n + 1), BLOCK)), received
atoll.broadcast(gathered[:BLOCK], x, root=n - 1)
assert gathered[0] == n
atoll.alltoall(np.empty((n, 0), np.float64))
sizes = [pe % 2 for pe in range(n)]
atoll.collect(gathered[: sum(sizes)], x[: sizes[atoll.my_pe()]])
assert list(gathered[: sum(sizes)]) == [pe + 1 for pe in range(n) if sizes[pe]]
atoll.max_reduce(np.empty(0, np.float32))
team = atoll.WORLD.split_strided(0, 1, n)
team.sync()
atoll.sync_all()
atoll.free(gathered)
atoll.free(x)
atoll.finalize()
