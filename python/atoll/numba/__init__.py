"""Communication inside kernels written with Numba, on GPUs (numba-cuda) and, from the same text, on host CPUs.

    import atoll, atoll.numba as dev

    @dev.kernel
    def exchange(team, x, flags, step):
        right = (team.my_pe + 1) % team.n_pes
        dev.put_signal(team, x[1], x[0], flags, step, dev.SET, right, scope=dev.BLOCK)
        dev.signal_wait_until(team, flags, dev.GE, step, scope=dev.BLOCK)
        dev.sync(team, scope=dev.BLOCK)

    dev.launch(exchange, 1, 256)(atoll.WORLD, x, flags, 1)

The functions also compile in plain `@numba.njit` and `@cuda.jit`, where the team is `team.device(...)`.
Names, order of arguments and memory order are those of atoll/device/*.hpp; sizes come from the arrays. A
one-word argument (a signal, a counter) is an array, whose first element is used: `flags[3:]`. `scope`
(THREAD, WARP, BLOCK, GRID) names the threads that execute a call together; all of them call it with the same
arguments. On the host every scope is one thread.

docs/kernels.md is the guide, api/kernels.toml the list of operations, from which their docstrings come.
"""

from __future__ import annotations

from . import _installed as _installed  # the first import: it raises an error if Numba is missing

# isort: split
from ._dsl import _registration

# isort: split
from ._dsl import _cpu as _cpu  # each target's primitives, before anything compiles

# isort: split
from .. import _kernels
from ._host import RESIDENT, Kernel, Mailbox, kernel, launch, mailbox, most_resident_blocks

__all__ = [
    "RESIDENT",
    "Kernel",
    "Mailbox",
    "kernel",
    "launch",
    "mailbox",
    "most_resident_blocks",
]
__all__ += _kernels.publish("numba", globals())

if _registration.DEVICE is not None:
    from ._dsl import _gpu as _gpu
    from ._dsl import _gpu_bulk as _gpu_bulk
    from ._dsl import _gpu_copies as _gpu_copies
    from ._dsl import _gpu_polling as _gpu_polling
    from ._dsl import _gpu_threads as _gpu_threads
if _registration.MLIR:
    from ._dsl import _mlir as _mlir  # the last import: it registers all of the above for its compiler
