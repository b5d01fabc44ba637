"""atoll.torch: a memory pool in the symmetric heap, and operators that torch.compile keeps."""

import gc

import atoll
import torch

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
torch.cuda.set_device(atoll.zeros(1, device="cuda").device)

import atoll.torch as at  # noqa: E402

passed = []


def check(what, found, expected):
    assert torch.equal(found.cpu().float(), torch.as_tensor(expected).expand(found.shape).float()), (
        me,
        what,
        found,
    )
    passed.append(what)


# ---- the pool
model = torch.nn.Linear(512, 512, bias=False).cuda()
with torch.no_grad():
    model.weight.fill_(1.0)
    source = torch.full((256, 512), float(me + 1), device="cuda")
    with at.use_pool(64 << 20) as pool:
        y = model(source)
        z = torch.zeros_like(y)
assert atoll.is_symmetric(y) and atoll.is_symmetric(z[3:, ::2]) and not atoll.is_symmetric(source)
assert 0 < pool.used_bytes <= 64 << 20
check("pool: result", y, 512.0 * (me + 1))
atoll.sum_reduce(z, y)
check("pool: sum_reduce", z, 512.0 * n * (n + 1) / 2)
atoll.put(z[1], y[0], right)
atoll.barrier_all()
check("pool: put", z[1], 512.0 * (left + 1))
outside = torch.zeros(8, device="cuda")
assert atoll.peer(z, right).data_ptr() != z.data_ptr() or n == 1
assert atoll.global_view(z).shape == (n, 256, 512)
# The pool's memory stays although no object refers to the pool any more.
with at.use_pool(8 << 20):
    kept = torch.full((1000,), 3.0, device="cuda")
gc.collect()
others = [atoll.zeros(4 << 20, "uint8", device="cuda") for _ in range(4)]
check("pool: kept", kept, 3.0)
torch.cuda.empty_cache()
del others
assert not atoll.is_symmetric(outside)
with pool:
    try:
        torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        passed.append("pool: OutOfMemoryError")
    else:
        raise AssertionError("the pool grew")
if n > 1:
    try:
        with pool:
            wrong = torch.empty((22 + 2 * me) << 20, dtype=torch.uint8, device="cuda")
    except atoll.CollectiveMismatch:
        passed.append("pool: CollectiveMismatch")
    else:
        raise AssertionError("PEs that allocated differently were not told")
    try:
        atoll.put(wrong[:8], wrong[8:16], right)
    except atoll.NotSymmetric as error:
        assert f"PE {right}'s allocation" in str(error), error
        passed.append("pool: first use")
    else:
        raise AssertionError("a tensor at another place on the other PE was accepted")

# ---- torch.compile
x = atoll.full(1024, float(me), "float32", device="cuda", xp=torch)
y = atoll.zeros(1024, "float32", device="cuda", xp=torch)
total = atoll.zeros(1024, "float32", device="cuda", xp=torch)
words = atoll.signal(1, device="cuda", xp=torch)


def step(x, y, total, words):
    x.mul_(2).add_(1)
    at.put_signal(y, x, words, 1, "add", right)
    at.signal_consume(words, 1)
    at.sum_reduce(total, y)
    at.barrier(y)
    return total * 2 + y.sum() * 0


for mode in (None, "eager", "inductor"):
    x.fill_(float(me))
    torch.cuda.synchronize()
    atoll.barrier_all()
    run = step if mode is None else torch.compile(step, backend=mode, fullgraph=True)
    for _ in range(2):
        found = run(x, y, total, words)
    torch.cuda.synchronize()
    atoll.barrier_all()
    check(f"compile: {mode}", found, 2.0 * sum(4 * pe + 3 for pe in range(n)))
    atoll.barrier_all()


# ---- every operator in one program, without a graph break
def everything(x, y, total, words, all_of, others, part):
    at.put(y, x, right)
    at.barrier(y)
    at.get(total, y, right)
    at.put_signal(y, total, words, 1, "add", right)
    at.signal_consume(words, 1)
    at.reduce(total, y, "max")
    at.broadcast(y, total, 0)
    at.fcollect(all_of, y)
    at.alltoall(others, all_of)
    at.reduce_scatter(part, others, "sum")
    at.sum_reduce(total, total)
    return total + part


all_of = atoll.zeros((n, 1024), "float32", device="cuda", xp=torch)
others = atoll.zeros_like(all_of)
part = atoll.zeros(1024, "float32", device="cuda", xp=torch)
torch._dynamo.reset()
explained = torch._dynamo.explain(everything)(x, y, total, words, all_of, others, part)
assert explained.graph_break_count == 0, explained
passed.append(f"compile: {explained.graph_count} graph, {explained.graph_break_count} breaks")
torch.cuda.synchronize()
print("PE", me, "passed", len(passed), passed)
atoll.finalize()
