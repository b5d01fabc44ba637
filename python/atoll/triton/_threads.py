"""The threads of a program: their numbers and their barrier.

Triton takes one thread's value for a number that all threads share. So a thread's number may be used only in
arithmetic, in conditions without a barrier inside, and in the functions of _primitives.py and _polling.py. The same
holds for values computed from it.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from ._types import INTERPRETED

if INTERPRETED:

    def num_threads():
        """Interpreted programs have one thread."""
        return 1

else:
    from triton.language.extra.cuda import num_threads as num_threads


@jit
def thread():
    """This thread's number in the program."""
    if INTERPRETED:
        return tl.full((), 0, tl.int32)
    else:  # noqa: RET505
        return tl.inline_asm_elementwise("mov.u32 $0, %tid.x;", "=r", [], tl.int32, is_pure=True, pack=1)


@jit
def meet_threads():
    """tl.debug_barrier, faster in a program of one warp. It is slower if single threads arrive from separate
    branches.
    """
    if INTERPRETED or num_threads() != 32:
        tl.debug_barrier()
    else:
        tl.inline_asm_elementwise(
            "bar.warp.sync 0xffffffff; mov.u32 $0, 0;", "=r", [], tl.int32, is_pure=False, pack=1
        )
