"""Operations and collectives on streams between pretended hosts; with tests/simulated if there is no GPU."""

import atoll
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n


def check(found, expected):
    atoll.barrier_all(stream=0)
    found = found.numpy() if isinstance(found, atoll.DeviceArray) else np.asarray(found)
    assert np.array_equal(found, expected), (me, found, expected)
    atoll.barrier_all()


def each(value):
    """Return a row for each PE."""
    return np.stack([np.arange(4.0) + value(pe) for pe in range(n)])


a = atoll.zeros(4, device="cuda")
b = atoll.zeros(4, device="cuda")
many, back = atoll.zeros((n, 4), device="cuda"), atoll.zeros((n, 4), device="cuda")
mine = np.arange(4.0) + 10 * me
everybodys = each(lambda pe: 10 * pe)
atoll.put(a, mine, me)
for team in (atoll.WORLD, atoll.WORLD.split(0)):
    atoll.put(b, a, right, stream=0)
    check(b, np.arange(4.0) + 10 * left)
    atoll.sum_reduce(b, a, team=team, stream=0)
    check(b, everybodys.sum(0))
    atoll.reduce(b, a, "max", team=team, stream=0)
    check(b, everybodys.max(0))
    atoll.avg_reduce(b, a, team=team, stream=0)
    check(b, everybodys.mean(0))
    atoll.premul_sum_reduce(b, a, 0.5, team=team, stream=0)
    check(b, 0.5 * everybodys.sum(0))
    atoll.broadcast(b, a, n - 1, team=team, stream=0)
    check(b, np.arange(4.0) + 10 * (n - 1))
    atoll.fcollect(many, a, team=team, stream=0)
    check(many, everybodys)
    atoll.alltoall(back, many, team=team, stream=0)
    check(back, np.broadcast_to(np.arange(4.0) + 10 * me, (n, 4)))
    atoll.reduce_scatter(b, many, "sum", team=team, stream=0)
    check(b, n * mine)
    atoll.gather(back, a, 0, team=team, stream=0)
    if me == 0:
        assert np.array_equal(back.numpy(), everybodys), back.numpy()
    atoll.scatter(b, many, 0, team=team, stream=0)
    check(b, mine)
    atoll.sum_reduce(b, a, team=team)  # and without a stream
    check(b, everybodys.sum(0))

for kind in ("bfloat16", "float16"):
    for stream in (None, 0):
        h = atoll.full(5, 1.5, kind, device="cuda")
        s = atoll.zeros(5, kind, device="cuda")
        atoll.sum_reduce(s, h, stream=stream)
        atoll.barrier_all(stream=0)
        assert atoll.g(s, me, 0) == 1.5 * n, atoll.g(s, me, 0)
        atoll.avg_reduce(s, h, stream=stream)
        atoll.barrier_all(stream=0)
        assert atoll.g(s, me, 0) == 1.5, atoll.g(s, me, 0)
        atoll.barrier_all()

try:
    atoll.broadcast(b, a, n, stream=0)
except atoll.Error as error:
    assert str(n) in str(error)
else:
    raise AssertionError("a PE that does not exist was accepted")
atoll.barrier_all()
atoll.finalize()
print("PE", me, "done")
