"""Kernels of cute_kernels.py whose tensors are in shared memory."""

from __future__ import annotations

from typing import Any

import atoll.cute as dev
import cutlass
import cutlass.cute as cute
from cutlass import Int32


@cute.jit
def fill(team: dev.Team, tile: cute.Tensor):
    i = dev.rank(dev.BLOCK)
    while i < 256:
        tile[i // 16, i % 16] = tile.element_type(50 * team.my_pe + i)
        i += dev.size(dev.BLOCK)
    dev.meet(team, dev.BLOCK)


STAGED = ((1, 16), (16, 1), (17, 1), "off", "swizzled")
"""Tiles of 16 x 16 in shared memory, which put and tile_put move in units of 16 bytes, in smaller ones, and
by elements.
"""


def shared_tile(kind: Any, which: Any) -> Any:
    at = cute.arch.alloc_smem(kind, 16 * 17 + 1, 512)
    if which == "off":
        return cute.make_tensor(at + 1, cute.make_layout((16, 16), stride=(1, 16)))
    if which == "swizzled":
        at = cute.recast_ptr(at, cute.make_swizzle(2, 4, 3), dtype=kind)
        return cute.make_tensor(at, cute.make_layout((16, 16), stride=(16, 1)))
    return cute.make_tensor(at, cute.make_layout((16, 16), stride=which))


def plain_tile(x: Any, row: Any, which: Any) -> Any:
    """In global memory, with rows or columns contiguous."""
    columns = which in ((1, 16), "off")
    layout = cute.make_layout((16, 16), stride=(1, 16) if columns else (16, 1))
    return cute.make_tensor((x.iterator + row * 256).align(16), layout)


@cute.kernel
def shared_memory(team: dev.Team, values):
    """Put to the neighbour from shared memory, and get from there into it."""
    x, flags, out = values
    right = (team.my_pe + 1) % team.n_pes
    kind = x.element_type
    first, step = dev.rank(dev.BLOCK), dev.size(dev.BLOCK)
    for k in cutlass.range_constexpr(len(STAGED)):
        staged = shared_tile(kind, STAGED[k])
        fill(team, staged)
        to = [plain_tile(x, 4 * k + j, STAGED[k]) for j in range(4)]
        dev.put(team, to[0], staged, right, scope=dev.BLOCK)
        dev.put_signal(team, to[1], staged, flags.iterator + k, 1, dev.SET, right, scope=dev.BLOCK)
        dev.tile_put(team, to[2], staged, right, scope=dev.BLOCK)
        dev.async_put(team, to[3], staged, right, scope=dev.BLOCK)
        dev.signal_wait_until(team, flags.iterator + k, dev.EQ, 1, scope=dev.BLOCK)
        dev.barrier(team, scope=dev.BLOCK)
        dev.get(team, staged, to[0], right, scope=dev.BLOCK)
        for i in cutlass.range(first, 256, step, unroll=1):
            out[2 * k, i] = staged[i // 16, i % 16]
            staged[i // 16, i % 16] = kind(0)
        dev.meet(team, dev.BLOCK)
        dev.tile_get(team, staged, to[2], right, scope=dev.BLOCK)
        for i in cutlass.range(first, 256, step, unroll=1):
            out[2 * k + 1, i] = staged[i // 16, i % 16]
        dev.barrier(team, scope=dev.BLOCK)


@cute.kernel
def shared_memory_of_the_rest(team: dev.Team, values):
    """Strided operations, messages and small collectives from and to shared memory."""
    box, x, out = values
    n = 100
    right, left = (team.my_pe + 1) % team.n_pes, (team.my_pe + team.n_pes - 1) % team.n_pes
    first, step = dev.rank(dev.BLOCK), dev.size(dev.BLOCK)
    src = cute.make_tensor(cute.arch.alloc_smem(Int32, n, 16), cute.make_layout(n))
    dst = cute.make_tensor(cute.arch.alloc_smem(Int32, 8 * n, 16), cute.make_layout((8, n), stride=(n, 1)))
    for i in cutlass.range(first, n, step, unroll=1):
        src[i] = 1000 * team.my_pe + i
    dev.meet(team, dev.BLOCK)
    dev.iput(team, x, src, 2, 1, n // 2, right, scope=dev.BLOCK)
    dev.sync(team, scope=dev.BLOCK)
    dev.iget(team, dst[0, None], x, 1, 2, n // 2, right, scope=dev.BLOCK)
    dev.post(team, box, src, right, scope=dev.BLOCK)
    dev.receive(team, box, dst[1, None], left, scope=dev.BLOCK)
    dev.broadcast(team, dst[2, None], src, team.n_pes - 1, scope=dev.BLOCK)
    dev.reduce(team, dst[3, None], src, dev.MAX, scope=dev.BLOCK)
    rest, out_rest = (cute.make_tensor(t[4, None].iterator, cute.make_layout(4 * n)) for t in (dst, out))
    some = cute.make_tensor(src.iterator, cute.make_layout(n // 4))
    dev.fcollect(team, rest, some, scope=dev.BLOCK)
    for i in cutlass.range(first, n // 4 * team.n_pes, step, unroll=1):
        out_rest[i] = rest[i]
    for i in cutlass.range(first, n, step, unroll=1):
        if i < n // 2:
            out[0, i] = dst[0, i]
        for k in cutlass.range_constexpr(1, 4):
            out[k, i] = dst[k, i]
