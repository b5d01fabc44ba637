"""atoll.cupy.launch and mailbox: the arguments that a kernel gets, and those that are refused before it
starts.
"""

from typing import Any

from stand_in_cupy import Kernel, PooledMemory, cupy, on_gpu

import atoll  # isort: skip  # after CuPy
import atoll.cupy
import numpy as np
from checks import raises

atoll.init()
kernel = Kernel()


def launch(*arguments: Any) -> Any:
    atoll.cupy.launch(kernel, 2, 64, atoll.WORLD, *arguments)
    return kernel.started


x = atoll.zeros((4, 8), np.float32, device="cuda", xp=cupy)
y = atoll.zeros(8, np.float32, device="cuda")
grid, block, (team, first, second, number) = launch(x, y[2:], 3)
assert (grid, block, number, first) == ((2,), (64,), 3, x)
with on_gpu(7):  # another one is current
    launch(x)
    assert (kernel.gpu, cupy.cuda.runtime.getDevice()) == (x.data.device_id, 7)
    launch(3)
    assert kernel.gpu == 7
assert (
    team.tobytes() == atoll.cupy.team(atoll.WORLD).tobytes() and team.dtype.fields is None and team.size == 1
)
assert int(team.view(atoll.cupy.TEAM)["n_pes"]) == atoll.n_pes()
assert type(second) is np.uint64 and second == y.ptr + 8  # DeviceArray: its address
for memory in (PooledMemory(4096), cupy.cuda.UnownedMemory(4096, 32, None, 0)):
    local = cupy.ndarray((8,), np.float32, cupy.cuda.MemoryPointer(memory, 0), (4,))
    assert launch(local)[2][1] is local  # an ordinary array of the GPU, which may be a source

raises(TypeError, lambda: launch(3, np.zeros(3)), "stand_in: argument 3 is an array of NumPy")
whole = atoll.zeros(3000, np.uint8, device="cuda")
box = atoll.cupy.mailbox(whole, 8)
assert launch(box)[2][1].tobytes() == box.tobytes() and int(box["block"]) == whole.ptr
halves = [atoll.WORLD.split_strided(pe, 1, 1) for pe in range(atoll.n_pes())]
(half,) = [each for each in halves if each]
for each in (half, atoll.WORLD, half.device()):  # each has its own bytes, although they are cached
    atoll.cupy.launch(kernel, 2, 64, each)
    assert kernel.started[2][0].tobytes() == atoll.cupy.team(each).tobytes()
assert atoll.cupy.team(half) is not atoll.cupy.team(half)  # a new array, which the caller may change
raises(ValueError, lambda: atoll.cupy.mailbox(whole[:9], 8), "room is 8, and block has 9 bytes")
raises(
    atoll.NotSymmetric, lambda: atoll.cupy.mailbox(local, 8), "atoll.cupy.mailbox: block is an ordinary array"
)

view, slices = cupy.ndarray((2,), np.float32, cupy.cuda.MemoryPointer(x.data, 64), (4,)), y[1:]
for gone in (x, y, whole):
    atoll.free(gone)
for freed, shape in ((x, "(4, 8)"), (view, "(2,)"), (y, "(8,)"), (slices, "(7,)")):
    kernel.started = None
    raises(
        atoll.UseAfterFree,
        lambda freed=freed: launch(1, freed),
        f"argument 3, an array of shape {shape}, was freed",
    )
    assert kernel.started is None
raises(
    atoll.UseAfterFree,
    lambda: atoll.cupy.mailbox(whole, 8),
    "atoll.cupy.mailbox: block, an array of shape (3000,), was",
)
raises(atoll.UseAfterFree, y.cupy, "DeviceArray.cupy(): x, an array of shape (8,), was freed")

old, team = atoll.zeros(4, device="cuda"), atoll.WORLD.device()
atoll.finalize()
raises(atoll.UseAfterFree, lambda: atoll.cupy.launch(kernel, 1, 1, team, old), "a job that was finalized")
atoll.init()
new = atoll.zeros(4, device="cuda")
raises(atoll.UseAfterFree, lambda: launch(new, old), "a job that was finalized")
print("done")
