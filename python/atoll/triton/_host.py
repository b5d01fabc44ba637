"""What the host does with Triton's kernels: names for errors, and how many programs run at once."""

from __future__ import annotations

import math
from typing import Any

from triton.runtime.errors import InterpreterError

from .. import _atoll
from .._resident import most_blocks

THREADS_OF_WARP = 32


def named(made: Any) -> Any:
    """The kernel, each start of which is told, so that an error of a kernel can name it. Of this kernel only: no hook."""
    start, name = made.run, made.fn.__name__

    def run(*arguments: Any, grid: Any, warmup: bool, **keywords: Any) -> Any:
        try:
            compiled = start(*arguments, grid=grid, warmup=warmup, **keywords)
        except InterpreterError as error:
            ours = error
            while isinstance(ours, InterpreterError):  # one for each function that was called
                ours = ours.__cause__
            if not isinstance(ours, _atoll.Error):
                raise
            raise type(ours)(f"{name}: {ours}") from None
        if not warmup and hasattr(compiled, "metadata"):
            blocks = 0 if callable(grid) else math.prod(grid)  # 0: any
            _atoll._note_kernel(name, blocks, THREADS_OF_WARP * compiled.metadata.num_warps)
        return compiled

    made.run = run
    return made


def most_resident_programs(kernel: Any, *arguments: Any, **options: Any) -> int:
    """Return the most programs of a kernel that run at once on the current GPU: kernels whose programs wait for one
    another, or for such programs of other PEs, may have no larger grid.

    The arguments and options are those of the launch, `kernel[grid](*arguments, **options)`; the kernel is compiled for
    them, and not started. With launch_cooperative_grid=True at the launch the driver refuses a larger grid. Local.
    """
    compiled = kernel.warmup(*arguments, grid=(1,), **options)
    compiled._init_handles()  # loads it
    facts = compiled.metadata
    return most_blocks(compiled.function, THREADS_OF_WARP * facts.num_warps, facts.shared)
