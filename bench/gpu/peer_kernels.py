"""The kernels of bench/gpu/peers.py in Numba, by atoll.numba and by nvshmem.core.device.numba: the same
loops.

With one PE they run between two blocks of one kernel, with more between PEs 0 and 1, in a block each.
Collectives are one block on every PE.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import atoll
import numpy as np
from numba import cuda

ROOM = 65536  # bytes
Start = Callable[[int, int], None]


@dataclass(frozen=True)
class Row:
    op: str
    kernel: str
    nbytes: int
    threads: int
    calls: int
    """The operation's calls in a round: 2 if one way is half of a round."""

    @property
    def is_collective(self) -> bool:
        return self.kernel in ("syncs", "barriers", "reduces")


_THREADS = {8: 32, 1024: 128, 65536: 1024}
ROWS = [
    Row("flag (p, wait)", "flags", 8, 1, 2),
    *(Row("put, block", "puts", size, threads, 1) for size, threads in _THREADS.items()),
    *(Row("put_signal, wait, block", "put_signals", size, threads, 2) for size, threads in _THREADS.items()),
    Row("sync, block", "syncs", 0, 32, 1),
    Row("barrier, block", "barriers", 0, 32, 1),
    *(Row("reduce, block", "reduces", size, 256 if size < 4096 else 1024, 1) for size in _THREADS),
]


def atoll_kernels() -> dict[str, Any]:
    import atoll.numba as dev

    @dev.kernel
    def flags(team, words, role, peer, first, rounds):  # type: ignore[no-untyped-def]
        me = cuda.blockIdx.x if role < 0 else role
        mine, theirs = words[16 * me :], words[16 * (1 - me) :]
        for i in range(first, first + rounds):
            if me == 0:
                dev.p(team, theirs, i, peer)
            dev.signal_wait_until(team, mine, dev.GE, i)
            if me == 1:
                dev.p(team, theirs, i, peer)

    @dev.kernel
    def puts(team, data, n, role, peer, rounds):  # type: ignore[no-untyped-def]
        me = cuda.blockIdx.x if role < 0 else role
        if me == 0:
            dst, src = data[0, :n], data[2, :n]
            for _ in range(rounds):
                dev.put(team, dst, src, peer, scope=dev.BLOCK)

    @dev.kernel
    def put_signals(team, data, n, words, role, peer, first, rounds):  # type: ignore[no-untyped-def]
        me = cuda.blockIdx.x if role < 0 else role
        mine, theirs = words[16 * me :], words[16 * (1 - me) :]
        dst, src = data[me, :n], data[2 + me, :n]
        for i in range(first, first + rounds):
            if me == 0:
                dev.put_signal(team, dst, src, theirs, i, dev.SET, peer, scope=dev.BLOCK)
            dev.signal_wait_until(team, mine, dev.GE, i, scope=dev.BLOCK)
            if me == 1:
                dev.put_signal(team, dst, src, theirs, i, dev.SET, peer, scope=dev.BLOCK)

    @dev.kernel
    def syncs(team, data, n, rounds):  # type: ignore[no-untyped-def]
        for _ in range(rounds):
            dev.sync(team, scope=dev.BLOCK)

    @dev.kernel
    def barriers(team, data, n, rounds):  # type: ignore[no-untyped-def]
        for _ in range(rounds):
            dev.barrier(team, scope=dev.BLOCK)

    @dev.kernel
    def reduces(team, data, n, rounds):  # type: ignore[no-untyped-def]
        dst, src = data[0, :n], data[2, :n]
        for _ in range(rounds):
            dev.reduce(team, dst, src, dev.SUM, scope=dev.BLOCK)

    return {
        "flags": flags, "puts": puts, "put_signals": put_signals, "syncs": syncs, "barriers": barriers, "reduces": reduces,
    }  # fmt: skip


def nvshmem_kernels(home: Path | None) -> dict[str, Any]:
    """`home`: the folder of an NVSHMEM that is not installed; its headers are compiled."""
    import nvshmem.core.device.numba as dev

    if home is not None:
        paths = cuda.config.CUDA_NVRTC_EXTRA_SEARCH_PATHS.split(":")
        cuda.config.CUDA_NVRTC_EXTRA_SEARCH_PATHS = ":".join([str(home / "include"), *paths[1:]])
    GE, SET, WORLD = 5, 9, 0  # CMP_GE, SIGNAL_SET, TEAM_WORLD: kernels take numbers

    def flags(words, role, peer, first, rounds):  # type: ignore[no-untyped-def]
        me = cuda.blockIdx.x if role < 0 else role
        mine, theirs = words[16 * me :], words[16 * (1 - me) :]
        for i in range(first, first + rounds):
            if me == 0:
                dev.p(theirs, i, peer)
            dev.signal_wait(mine, GE, i)
            if me == 1:
                dev.p(theirs, i, peer)

    def puts(data, n, role, peer, rounds):  # type: ignore[no-untyped-def]
        me = cuda.blockIdx.x if role < 0 else role
        if me == 0:
            dst, src = data[0, :n], data[2, :n]
            for _ in range(rounds):
                dev.put_block(dst, src, peer)

    def put_signals(data, n, words, role, peer, first, rounds):  # type: ignore[no-untyped-def]
        me = cuda.blockIdx.x if role < 0 else role
        mine, theirs = words[16 * me :], words[16 * (1 - me) :]
        dst, src = data[me, :n], data[2 + me, :n]
        for i in range(first, first + rounds):
            if me == 0:
                dev.put_signal_block(dst, src, theirs, i, SET, peer)
            if cuda.threadIdx.x == 0:  # it has no signal_wait_block
                dev.signal_wait(mine, GE, i)
            cuda.syncthreads()
            if me == 1:
                dev.put_signal_block(dst, src, theirs, i, SET, peer)

    def syncs(data, n, rounds):  # type: ignore[no-untyped-def]
        for _ in range(rounds):
            dev.sync_block(WORLD)

    def barriers(data, n, rounds):  # type: ignore[no-untyped-def]
        for _ in range(rounds):
            dev.barrier_block(WORLD)

    def reduces(data, n, rounds):  # type: ignore[no-untyped-def]
        dst, src = data[0, :n], data[2, :n]
        for _ in range(rounds):
            dev.reduce_block(WORLD, dst, src, "sum")

    return {one.__name__: cuda.jit(one) for one in (flags, puts, put_signals, syncs, barriers, reduces)}


class View:
    """A block of NVSHMEM's memory as an array for Numba."""

    def __init__(self, pointer: int, shape: tuple[int, ...], typestr: str) -> None:
        self.__cuda_array_interface__ = {
            "data": (pointer, False), "shape": shape, "typestr": typestr, "strides": None, "version": 3,
        }  # fmt: skip


def source(pe: int, role: int) -> int:
    """Return the initial value of a PE's row 2 + role."""
    return 1000 * pe + 7 + role


def wanted(kernel: str, me: int, n_pes: int) -> dict[int, int]:
    """Return the values of PE `me`'s rows after a kernel: role k writes row k of the other role's PE."""
    if kernel == "reduces":
        return {0: sum(source(pe, 0) for pe in range(n_pes))}
    roles = {"puts": (0,), "put_signals": (0, 1)}.get(kernel, ())
    if n_pes == 1:
        return {role: source(0, role) for role in roles}
    return {role: source(role, role) for role in roles if me == 1 - role}


class Kernels:
    """A library's kernels and their data. `start` enqueues a row's kernel: one PE starts both blocks."""

    def __init__(self, job: Any) -> None:
        self.job = job
        self.role = -1 if job.n == 1 else job.me
        self.peer = 0 if job.n == 1 else 1 - job.me
        self.epoch = 1
        self.words: Any = None
        self.data: Any = None

    def takes_part(self, row: Row) -> bool:
        return row.is_collective or self.job.me < 2

    def grid(self, row: Row) -> int:
        return 2 if self.job.n == 1 and not row.is_collective else 1

    def arguments(self, row: Row, rounds: int) -> tuple[Any, ...]:
        n, first = row.nbytes // 4, self.epoch
        if row.kernel == "flags":
            return self.words, self.role, self.peer, first, rounds
        if row.kernel == "puts":
            return self.data, n, self.role, self.peer, rounds
        if row.kernel == "put_signals":
            return self.data, n, self.words, self.role, self.peer, first, rounds
        return self.data, n, rounds

    def launch(self, row: Row, values: tuple[Any, ...]) -> None:
        raise NotImplementedError

    def rows(self) -> Any:
        """Return this PE's data, as a torch tensor."""
        raise NotImplementedError

    def start(self, row: Row, rounds: int) -> None:
        if self.takes_part(row):
            self.launch(row, self.arguments(row, rounds))
        self.epoch += rounds

    def check(self, row: Row, synchronize: Callable[[], None]) -> None:
        """Run it once, and check what it moved."""
        rows, n = self.rows(), row.nbytes // 4
        rows[:2] = 0
        for role in range(2):
            rows[2 + role] = source(self.job.me, role)
        synchronize()
        atoll.barrier_all()
        self.start(row, 16)
        synchronize()
        atoll.barrier_all()
        for k, value in wanted(row.kernel, self.job.me, self.job.n).items():
            found = rows[k, :n].unique().tolist()
            if found != [value]:
                raise RuntimeError(f"row {k} has {found[:4]}, not {value}")


class AtollKernels(Kernels):
    def __init__(self, job: Any) -> None:
        import atoll.numba as dev

        super().__init__(job)
        self.dev = dev
        self.kernels = atoll_kernels()
        self.words = atoll.zeros(64, np.int64, device="cuda")
        self.data = atoll.zeros((4, ROOM // 4), np.int32, device="cuda")
        self.team = atoll.WORLD.device("device")

    def launch(self, row: Row, values: tuple[Any, ...]) -> None:
        kernel = self.kernels[row.kernel]
        self.dev.launch(kernel, self.grid(row), row.threads, self.job.stream.cuda_stream)(self.team, *values)

    def rows(self) -> Any:
        return self.data.torch()


class NvshmemKernels(Kernels):
    def __init__(self, job: Any, nvshmem: Any) -> None:
        import torch

        super().__init__(job)
        home = os.environ.get("PEERS_NVSHMEM")
        self.kernels = nvshmem_kernels(Path(home) if home else None)
        self.stream = cuda.external_stream(job.stream.cuda_stream)
        self.tensor = nvshmem.tensor((4, ROOM // 4), dtype=torch.int32)
        self.word_tensor = nvshmem.tensor((64,), dtype=torch.int64)
        self.word_tensor.zero_()
        torch.cuda.synchronize()
        self.words = cuda.as_cuda_array(View(self.word_tensor.data_ptr(), (64,), "<u8"))
        self.data = cuda.as_cuda_array(View(self.tensor.data_ptr(), (4, ROOM // 4), "<i4"))
        self.nvshmem = nvshmem

    def launch(self, row: Row, values: tuple[Any, ...]) -> None:
        self.kernels[row.kernel][self.grid(row), row.threads, self.stream](*values)

    def rows(self) -> Any:
        return self.tensor

    def close(self) -> None:
        for tensor in (self.tensor, self.word_tensor):
            self.nvshmem.free_tensor(tensor)


def kernels_of(peer: str, job: Any, loaded: Any) -> Kernels:
    if peer == "atoll":
        return AtollKernels(job)
    return NvshmemKernels(job, loaded.nvshmem)
