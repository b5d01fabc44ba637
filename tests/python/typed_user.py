"""A user's program as type checkers see it (test_typing.py runs mypy --strict over it)."""

from __future__ import annotations

from typing import Any

import atoll
import atoll.cupy
import atoll.cute
import atoll.numba as dev
import atoll.torch
import atoll.triton
import numpy as np
import numpy.typing as npt
from atoll import shmem


@dev.kernel
def ring(team: Any, x: Any, flags: Any, steps: int) -> None:
    right = (team.my_pe + 1) % team.n_pes
    out = dev.outbox(team, x, right, dev.BLOCK)
    for step in range(1, steps + 1):
        dev.put_signal(team, x[1], x[0], flags, step, dev.SET, right, scope=dev.BLOCK)
        dev.signal_wait_until(team, flags, dev.GE, step, scope=dev.BLOCK)
        out = dev.post_next(out, x[0])
    for i in dev.grid_range(x.shape[1]):
        dev.p(team, x[0, i:], 1.0, right)
    dev.close(out)


@dev.kernel(cache=True, max_registers=64)
def alone(team: Any, x: Any) -> None:
    dev.sync(team)


@atoll.triton.kernel
def in_triton(team: Any, x: Any, flags: Any) -> None:
    atoll.triton.put_signal(team, x, x, 1, flags, 1, atoll.triton.SET, 0)


def in_cute(team: atoll.cute.Team, x: Any) -> None:
    atoll.cute.put(team, x, x, 0, scope=atoll.cute.BLOCK)


atoll.init()
me: int = atoll.my_pe()
x: npt.NDArray[Any] = atoll.zeros((4, 4), np.float64, order="F")
atoll.put(x[0], np.arange(4.0), (me + 1) % atoll.n_pes())
atoll.put(x, 1.0, 0, team=atoll.WORLD)
old = atoll.atomic_fetch_add(atoll.zeros(3, np.int64), 5, 0, index=1)
sig = atoll.signal()
atoll.put_signal(x, x, sig, 1, "add", 0)
seen: int = atoll.signal_wait_until(sig, ">=", 1, timeout=3.5)
total: npt.NDArray[Any] = atoll.sum_reduce(x)
atoll.sum_reduce(x, x)
atoll.sum_reduce(x, [1, 2])
print(atoll.sum_reduce([1, 2]))
atoll.max_reduce(x, me)
atoll.sum_exscan(x, 1.5)
both: npt.NDArray[Any] = atoll.fcollect([me, 1])
atoll.fcollect(x, [me, 1])
n_collected: int = atoll.collect(x, me)
part = atoll.reduce(x, atoll.MAX, 0)
if part is not None:
    print(part.shape)
found: int | None = atoll.wait_until_any(sig, atoll.GE, 1)
with atoll.Context() as ctx:
    atoll.p(x, 3, 0, ctx=ctx)
team = atoll.WORLD.split(me % 2)
if team:
    with team:
        rows: npt.NDArray[Any] = atoll.fcollect(x, team=team)
with atoll.Lock(), atoll.group():
    atoll.send(x, 0)
results: list[int] = atoll.launch(lambda: atoll.my_pe(), 2)
try:
    atoll.free(x)
except atoll.UseAfterFree as error:
    print(error)
except (atoll.PeError, IndexError):
    raise
atoll.rc(finalize=False)
y: npt.NDArray[Any] = shmem.array([1, 2], np.int64)
with (
    shmem.TEAM_WORLD.split_strided(0, 2, num_contexts=1) as halves,
    shmem.Ctx.create(shmem.CTX_PRIVATE, halves) as own,
):
    shmem.put(y, y, 0, 1, own)
    shmem.reduce(y, y, shmem.OP_MAX, team=halves)
which: list[int] = shmem.test_some(y, shmem.CMP_GE, 1, [0, 1])
flag = shmem.new_signal()
shmem.put_signal(y, y, 0, flag, 1, shmem.SIGNAL_ADD)
there: npt.NDArray[Any] | None = shmem.ptr(y, 0)
number: int | float | complex | np.number[Any] = shmem.atomic_fetch_op(y[:1], 1, shmem.AMO_ADD, pe=0)
atoll.finalize()
g: atoll.DeviceArray = atoll.zeros((4, 4), "float32", device="cuda")
s = object()
atoll.put(g[0], g[1], 0, stream=0)
atoll.put(g, np.ones((4, 4), np.float32), 0)
atoll.put_signal(g, g, atoll.signal(device="cuda"), 1, "add", 0, stream="current")
atoll.signal_wait_until(atoll.signal(device="cuda"), ">=", 1, stream=5)
flags, told = atoll.signal(4, device="cuda"), atoll.zeros(5, np.int64, device="cuda")
one_of_them: int | None = atoll.wait_until_any(flags, ">=", 1, [0, 0, 1, 0], timeout=1.0)
several: npt.NDArray[np.intp] = atoll.test_some_vector(flags, ">=", [1, 2, 3, 4])
yes: bool = atoll.test_all(flags, ">=", 1) and atoll.test(flags, ">=", 1)
atoll.wait_until_some(flags, ">=", 1, out=told, stream=s)
atoll.test(flags, ">=", 1, out=told, stream="current")
atoll.wait_until_all(flags, ">=", 1, stream=5)
atoll.sum_reduce(g, g.reshape(4, 4), stream="current")
host: npt.NDArray[Any] = g.numpy()
gathered: npt.NDArray[Any] = atoll.take(g, [0, 1], 0)
gathered = atoll.take(g, [0, 1], 0, stream=None)
same: atoll.DeviceArray = atoll.take(g, g[0], 0, g[1], stream=0)
atoll.put_at(g, g[0], g[1], 0, stream="current")
atoll.add_at(g, 0, 1.0, [0, 0])
kernel_team = atoll.WORLD.device()
where: int = kernel_team.window + kernel_team.stride
headers: str = atoll.include_dir()
atoll.barrier_all(stream=0)
view = atoll.peer(g, 1)
g = atoll.zeros_like(g)
h: npt.NDArray[Any] = atoll.full_like(np.ones(3), 2, align=128)
dev.launch(ring, dev.RESIDENT, 256, 0, cooperative=True)(atoll.WORLD, g, atoll.signal(device="cuda"), 3)
dev.launch(alone, (1, 2), 32)(kernel_team, dev.mailbox(64, device="cuda"))
in_triton[(1,)](atoll.WORLD.device(), g, g)
programs: int = atoll.triton.most_resident_programs(in_triton, atoll.WORLD.device(), g, g, num_warps=4)
in_cute(atoll.cute.team(atoll.WORLD), atoll.cute.tensor(g, 16))
raw = atoll.cupy.RawKernel("code", "name", more=("-O3",))
atoll.cupy.launch(raw, atoll.cupy.RESIDENT, 256, atoll.WORLD, g, atoll.cupy.mailbox(g, 64), cooperative=True)
with atoll.Mailbox(64, device="cuda") as box:
    box.post(g, 0, stream="current")
    box.receive(g, 0, stream=0, count=g)
    arrived: int = box.receive(g, 0, timeout=1.0)
    came: int | None = box.try_receive(g, 0)
    kernels_box: atoll.DeviceArray = box.block
    atoll.cupy.launch(raw, 1, 256, atoll.WORLD, atoll.cupy.mailbox(box))
with atoll.torch.use_pool(1 << 20) as pool:
    used: int = pool.used_bytes
atoll.torch.sum_reduce(g.torch(), g.torch())
atoll.check_kernels(stream="current")
