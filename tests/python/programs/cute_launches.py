"""The number of blocks of a kernel in CuTe DSL that run at once: part of cute_kernels.py."""

from __future__ import annotations

from typing import Any

import atoll
import atoll.cute as dev
import cutlass.cute as cute
from atoll._kernels import resident
from checks import raises
from cutlass import Int32

THREADS = 128


@cute.kernel
def count(team: dev.Team, out: cute.Tensor):
    dev.meet(team, dev.GRID)
    if dev.rank(dev.BLOCK) == 0:
        dev.atomic_add(team, out, 1, team.my_pe)


@cute.jit
def launch_count(team: dev.Team, out: cute.Tensor, grid: Int32):
    count(team, out).launch(grid=[grid, 1, 1], block=[THREADS, 1, 1], cooperative=True)


def largest_grid(team: Any, out: Any, to_tensor: Any = None, synchronize: Any = None) -> None:
    """Compile a kernel; with a GPU launch the largest grid, and a larger one that the driver refuses.

    The driver refuses one block more where the PE has the GPU alone. PEs that share it each have a part, and the driver
    refuses what exceeds the whole.
    """
    raises(
        TypeError, lambda: dev.most_resident_blocks(launch_count, THREADS), "result of cute.compile(run, ...)"
    )
    compiled = cute.compile(launch_count, team, to_tensor(out) if to_tensor else out, Int32(1))
    if to_tensor is None:
        return
    most = dev.most_resident_blocks(compiled, THREADS)
    compiled(team, to_tensor(out), Int32(most))
    synchronize()
    assert int(out[0]) == most > 1, (int(out[0]), most)
    is_alone = atoll._atoll._resident_share(resident.current_gpu(), 1000) == 1000
    more = most + 1 if is_alone else 2 * most * atoll.n_pes()
    try:
        compiled(team, to_tensor(out), Int32(more))
        synchronize()
    except Exception as error:
        print(f"{more} blocks, too many: {type(error).__name__}")
    else:
        raise AssertionError(f"{more} blocks were not refused; {most} may run at once")
