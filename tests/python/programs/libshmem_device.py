"""NVSHMEM's functions for Triton, declared as users of its bitcode declare them: by name, with addresses as integers.

PyTorch's wrappers and Triton-distributed's module of this name do so, each with a part of the functions.
"""

from __future__ import annotations

from typing import Any

import triton.language as tl
from triton.language import core

# NVSHMEM's numbers, which such modules write out.
CMP_EQ, CMP_GE = tl.constexpr(0), tl.constexpr(5)
SIGNAL_SET, SIGNAL_ADD = tl.constexpr(9), tl.constexpr(10)
TEAM_WORLD = tl.constexpr(0)
INT, LONG, WORD, HALF = tl.int32, tl.int64, tl.uint64, tl.float16
MOVE = (LONG, LONG, WORD, INT)


def declared(name: str, *kinds: Any, result: Any = INT, is_pure: bool = False) -> Any:
    """Return the function of that name. Addresses have type LONG, and a function without a result is declared int32."""

    def call(*arguments: Any, _semantic: Any = None) -> Any:
        given = [tl.cast(one, kind, _semantic=_semantic) for one, kind in zip(arguments, kinds, strict=True)]
        listed = {tuple(kinds): (name, result)}
        return core.extern_elementwise("", "", given, listed, is_pure=is_pure, _semantic=_semantic)

    return core.extern(call)


my_pe = declared("nvshmem_my_pe", is_pure=True)
n_pes = declared("nvshmem_n_pes", is_pure=True)
team_my_pe = declared("nvshmem_team_my_pe", INT, is_pure=True)
remote_ptr = declared("nvshmem_ptr", LONG, INT, result=LONG)
int_p = declared("nvshmem_int_p", LONG, INT, INT)
int_g = declared("nvshmem_int_g", LONG, INT)
putmem_block = declared("nvshmemx_putmem_block", *MOVE)
putmem_nbi_warp = declared("nvshmemx_putmem_nbi_warp", *MOVE)
getmem = declared("nvshmem_getmem", *MOVE)
getmem_block = declared("nvshmemx_getmem_block", *MOVE)
SIGNAL = (LONG, LONG, WORD, LONG, WORD, INT, INT)
putmem_signal_block = declared("nvshmemx_putmem_signal_block", *SIGNAL)
putmem_signal_nbi_block = declared("nvshmemx_putmem_signal_nbi_block", *SIGNAL)
signal_op = declared("nvshmemx_signal_op", LONG, WORD, INT, INT)
signal_wait_until = declared("nvshmem_signal_wait_until", LONG, INT, WORD, result=WORD)
int_wait_until = declared("nvshmem_int_wait_until", LONG, INT, INT)
int_atomic_fetch_add = declared("nvshmem_int_atomic_fetch_add", LONG, INT, INT)
fence = declared("nvshmem_fence")
quiet = declared("nvshmem_quiet")
barrier_all_block = declared("nvshmemx_barrier_all_block")
barrier_block = declared("nvshmemx_barrier_block", INT)
sync_all_block = declared("nvshmemx_sync_all_block")
fcollectmem_block = declared("nvshmemx_fcollectmem_block", INT, LONG, LONG, WORD)
broadcastmem_block = declared("nvshmemx_broadcastmem_block", INT, LONG, LONG, WORD, INT)
int_sum_reduce_block = declared("nvshmemx_int_sum_reduce_block", INT, LONG, LONG, WORD)
half_sum_reduce_block = declared("nvshmemx_half_sum_reduce_block", INT, LONG, LONG, WORD)
