"""Calls that atoll.cute refuses when a kernel is compiled: the error, and the kernel's body that causes it."""

from __future__ import annotations

from typing import Any

import atoll.cute as dev
import cutlass.cute as cute
import numpy as np
from cutlass import Float32, Int64


def in_shared_memory(kind: Any) -> Any:
    return cute.make_tensor(cute.arch.alloc_smem(kind, 4, 16), cute.make_layout((2, 2)))


def in_registers() -> Any:
    return cute.make_rmem_tensor((2, 2), Float32)


MISTAKES = {
    "atomic_set: dst is of Uint8; it must be of Int32, Int64,": lambda team, x, flags, small: dev.atomic_set(team, small, 1, 0),
    "p: dst is int; it must be a cute.Tensor or a cute.Pointer": lambda team, x, flags, small: dev.p(team, 1 << 40, 1, 0),
    "p: value is float, and the word of Int64": lambda team, x, flags, small: dev.p(team, flags, 1.5, 0),
    "does not fit Int64": lambda team, x, flags, small: dev.p(team, flags, 1 << 70, 0),
    "p: value is _Tensor; it must be a number": lambda team, x, flags, small: dev.p(team, flags, flags, 0),
    "p: pe is float; it must be an integer": lambda team, x, flags, small: dev.p(team, flags, 1, 0.5),
    "get: pe is Float32; it must": lambda team, x, flags, small: dev.get(team, x, x, Float32(1)),
    "put: dst is of Float32, src of Int64; they must have one type": lambda team, x, flags, small: dev.put(team, x, flags, 0),
    "put: dst is ndarray; it must be a cute.Tensor": lambda team, x, flags, small: dev.put(team, np.zeros(4), x, 0),
    "put: dst has 2 elements, and src 4": lambda team, x, flags, small: dev.put(team, cute.make_tensor(x.iterator, cute.make_layout(2)), x, 0),
    "put: team is NoneType; it must be the result of dev.team(team)": lambda team, x, flags, small: dev.put(None, x, x, 0),
    "sync: team is int": lambda team, x, flags, small: dev.sync(3),
    "put: scope is 3; it must be one of dev.THREAD, dev.WARP, dev.BLOCK": lambda team, x, flags, small: dev.put(team, x, x, 0, 3),
    "put: scope is 'block';": lambda team, x, flags, small: dev.put(team, x, x, 0, scope="block"),
    "get: src is int; it must be a cute.Tensor": lambda team, x, flags, small: dev.get(team, x, 5, 0),
    "signal_set: signal is of Float32": lambda team, x, flags, small: dev.signal_set(team, x, 1, 0),
    "put_signal: op is dev.SUM; it must be one of dev.SET, dev.ADD": lambda team, x, flags, small: dev.put_signal(team, x, x, flags, 1, dev.SUM, 0),
    "wait_until: cmp is '>='; it must be one of dev.EQ": lambda team, x, flags, small: dev.wait_until(team, flags, ">=", 1),
    "wait_until_all: status is int": lambda team, x, flags, small: dev.wait_until_all(team, flags, 0, dev.EQ, 1),
    "local_set: words is of Uint8": lambda team, x, flags, small: dev.local_set(team, small, 1),
    "post: box is _Tensor; it must be the result of dev.mailbox": lambda team, x, flags, small: dev.post(team, small, x, 0),
    "post_next: out is _Tensor; it must be the result of dev.outbox": lambda team, x, flags, small: dev.post_next(x, x),
    "reduce: XOR of Float32": lambda team, x, flags, small: dev.reduce(team, x, x, dev.XOR),
    "async_put: dst is of Float32, src of Int64": lambda team, x, flags, small: dev.async_put(team, x, flags, 0),
    "put: dst is in shared memory, which other blocks and PEs": lambda team, x, flags, small: dev.put(team, in_shared_memory(Float32), x, 0),
    "put_signal: dst is in shared memory": lambda team, x, flags, small: dev.put_signal(team, in_shared_memory(Float32), x, flags, 1, dev.SET, 0),
    "put_signal: signal is in shared memory": lambda team, x, flags, small: dev.put_signal(team, x, x, in_shared_memory(Int64), 1, dev.SET, 0),
    "put: src is in registers; copy it to": lambda team, x, flags, small: dev.put(team, x, in_registers(), 0),
    "get: src is in shared memory": lambda team, x, flags, small: dev.get(team, x, in_shared_memory(Float32), 0),
    "async_put: dst is in shared memory": lambda team, x, flags, small: dev.async_put(team, in_shared_memory(Float32), x, 0),
    "iget: src is in shared memory": lambda team, x, flags, small: dev.iget(team, x, in_shared_memory(Float32), 1, 1, 4, 0),
    "peer: x is in shared memory": lambda team, x, flags, small: dev.peer(team, in_shared_memory(Float32), 0),
    "peer: x is _Pointer; it must be a cute.Tensor": lambda team, x, flags, small: dev.peer(team, x.iterator, 0),
    "ptr: x is in registers": lambda team, x, flags, small: dev.ptr(team, in_registers(), 0),
    "atomic_add: dst is in shared memory": lambda team, x, flags, small: dev.atomic_add(team, in_shared_memory(Int64), 1, 0),
    "wait_until: ivar is in shared memory": lambda team, x, flags, small: dev.wait_until(team, in_shared_memory(Int64), dev.EQ, 1),
    "wait_until_all: ivars is in shared memory": lambda team, x, flags, small: dev.wait_until_all(team, in_shared_memory(Int64), None, dev.EQ, 1),
    "collect: dst is in shared memory": lambda team, x, flags, small: dev.collect(team, in_shared_memory(Float32), x, 1),
    "tile_put: dst is in shared memory": lambda team, x, flags, small: dev.tile_put(team, in_shared_memory(Float32), in_shared_memory(Float32), 0),
    "tile_reduce: src is in shared memory": lambda team, x, flags, small: dev.tile_reduce(team, cute.make_tensor(x.iterator, cute.make_layout((2, 2))), in_shared_memory(Float32), dev.SUM),
    "tile_put: src is in registers": lambda team, x, flags, small: dev.tile_put(team, in_shared_memory(Float32), in_registers(), 0),
    "post: src is in registers": lambda team, x, flags, small: dev.post(team, dev.Mailbox(Int64(0), Int64(64)), in_registers(), 0),
    "broadcast: dst is in registers": lambda team, x, flags, small: dev.broadcast(team, in_registers(), in_registers(), 0),
    "tile_put: dst has the shape (4,); it must have two flat modes": lambda team, x, flags, small: dev.tile_put(team, x, x, 0),
}  # fmt: skip
