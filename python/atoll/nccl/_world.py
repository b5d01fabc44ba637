"""The job below all communicators: how it is joined, and the symmetric memory that they share.

The first communicator, or the first mem_alloc, joins the job. Then each PE has pools of memory for windows and of signal
words. The ranks of a unique id meet in a table, of which each PE has a part.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import time
from typing import Any

import numpy as np

from .. import _allocation, _atoll, _job
from ._board import Board
from ._engines import Engine, MessageEngine, TeamEngine
from ._errors import NcclInvalid, Result
from ._pool import Pool

_MEETINGS = 1024
"""Unique ids of a part of the ranks that can meet at one PE. Each takes a place for good."""
_SIGNAL_WORDS = 1 << 18
_PART_OF_HEAP = 4
"""This part of the heap is set aside for mem_alloc."""
STAGE_BYTES = 64 << 20
_PATIENCE_SECONDS = 300.0
_FIRST, _RANKS = 2, 1  # columns of a row of the table: the key, the number of ranks, then each rank's PE + 1


class World:
    """The state that this PE shares with the others."""

    def __init__(self) -> None:
        gpu = _gpu()
        self.on_gpu, self.device = gpu is not None, gpu or 0
        self.channel = _atoll.WORLD.split(0)
        """A team of all PEs for messages and splits, which do not meet the program's own."""
        limit = np.array([_room()], np.int64)
        _atoll.min_reduce(limit, limit, team=self.channel)
        size = int(limit[0]) // _PART_OF_HEAP // 4096 * 4096
        self.memory: Any = _allocation.empty(max(size, 4096), np.uint8)
        self.pool = Pool(len(self.memory))
        self.words: Any = _allocation.zeros(_SIGNAL_WORDS, np.uint64, device="cuda" if self.on_gpu else None)
        self.stage: Any = _allocation.empty(STAGE_BYTES, np.uint8, device="cuda") if self.on_gpu else None
        """Memory of the GPU for reductions that its groups have no form for."""
        self.board = Board() if self.on_gpu else None
        """By which the ranks of a communicator find each other's GPUs."""
        self.word_pool = Pool(_SIGNAL_WORDS, 1)
        self._table: Any = _allocation.zeros((_MEETINGS, _atoll.n_pes() + _FIRST), np.uint64)
        self.address = int(self.memory.ctypes.data)
        self.here = {pe for pe in range(_atoll.n_pes()) if _atoll.WORLD.translate_pe(pe, _atoll.SHARED) >= 0}

    def offset_of(self, address: int, nbytes: int) -> int | None:
        """Return the offset of memory in the pool for windows, or nothing."""
        offset = address - self.address
        return offset if offset >= 0 and offset + nbytes <= len(self.memory) else None

    def engine(self, pes: list[int], rank: int) -> Engine:
        """Return the engine of these PEs, which all call."""
        if len(pes) == _atoll.n_pes():
            team = self.channel.split(0, rank)
            return TeamEngine(team)
        return MessageEngine(self.channel, pes, rank)

    def together(self, uid: bytes, size: int, rank: int) -> Engine:
        """Return the engine of all PEs, whose ranks may be in any order. Collective over all PEs."""
        team = self.channel.split(_key(uid) >> 33, rank)
        if team.n_pes() != size or team.my_pe() != rank:
            raise NcclInvalid(
                f"nccl.core: Communicator.init(nranks={size}, rank={rank}): {team.n_pes()} PEs passed this unique id. "
                f"By their ranks this one is number {team.my_pe()}. Pass one id and the ranks 0 to {size - 1}, once each."
            )
        return TeamEngine(team)

    def meet(self, uid: bytes, size: int, posts: dict[int, int]) -> list[int]:
        """Return the PEs of the ranks of a unique id. Returns once all ranks have posted their PEs.

        Parameters
        ----------
        uid
            The unique id.
        size
            The number of ranks.
        posts
            PEs by rank: this PE's own, and others that it knows.
        """
        key = _key(uid)
        home = key % _atoll.n_pes()
        row = self._row(key, home)
        known = self._claim(row, home, _RANKS, size)
        if known not in (0, size):
            raise NcclInvalid(
                f"nccl.core: nranks is {size}, but another rank passed {known} with this unique id."
            )
        for rank, pe in posts.items():
            if self._claim(row, home, _FIRST + rank, pe + 1):
                raise NcclInvalid(
                    f"nccl.core: rank {rank} of this unique id is taken: two passed one number, or the id was used before. "
                    "Pass the ranks 0 to nranks - 1, once each, and a new id for each communicator."
                )
        seen = np.zeros(size, np.uint64)
        began = time.monotonic()
        while True:
            _atoll.get(seen, self._table[row, _FIRST : _FIRST + size], home)
            if seen.all():
                return [int(pe) - 1 for pe in seen]
            self._wait(began, np.flatnonzero(seen == 0).tolist())

    def _claim(self, row: int, home: int, column: int, value: int) -> int:
        """Set a word of the table if it is 0, and return its value before."""
        width = self._table.shape[1]
        return int(_atoll.atomic_compare_swap(self._table, 0, value, home, index=row * width + column))

    def _row(self, key: int, home: int) -> int:
        for step in range(_MEETINGS):
            row = (key + step) % _MEETINGS
            if self._claim(row, home, 0, key) in (0, key):
                return row
        raise NcclInvalid(
            f"nccl.core: PE {home} has met for {_MEETINGS} unique ids of a part of the ranks, its limit; use Communicator.split."
        )

    @staticmethod
    def _wait(began: float, missing: list[int]) -> None:
        limit = patience()
        if time.monotonic() - began > limit:
            shown = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
            raise _atoll.Timeout(
                f"ranks {shown} did not come within {limit:g} s; each rank calls with the same unique id and nranks. "
                "ATOLL_WAIT_TIMEOUT sets the limit."
            )
        time.sleep(0.0005)


def patience() -> float:
    """Return the seconds that ranks wait for each other while they make a communicator.

    Initialisation has refused other texts than a number, with or without its unit.
    """
    return float(os.environ.get("ATOLL_WAIT_TIMEOUT", "").removesuffix("s") or 0) or _PATIENCE_SECONDS


_world: World | None = None


def _key(uid: bytes) -> int:
    """Return a number of 64 bits for a unique id, not 0."""
    return int.from_bytes(hashlib.blake2b(uid, digest_size=8).digest(), "little") | 1


def _room() -> int:
    heap: Any = _job.info()["heap"]
    return int(heap["largest_free_bytes"])


def _gpu() -> int | None:
    """Return the number of this PE's GPU, or nothing. Collective over all PEs."""
    try:
        first: Any = _allocation.empty(1, np.uint8, device="cuda")
    except _atoll.Unsupported:
        return None
    return int(first.device)


def world() -> World:
    """Return the world, which join() made. Raises NcclInvalid."""
    if _world is None:
        raise NcclInvalid("nccl.core: there is no communicator yet; call Communicator.init first.")
    return _world


def join(uid: bytes | None = None, size: int = 1, rank: int = 0) -> World:
    """Join the job, and return the state that the PEs share. The first call is collective over all PEs
    of the job.

    A process that nothing launched with others joins the ranks of a unique id, which then are the job.
    """
    global _world
    if _world is not None and _is_current(_world):
        if size > _atoll.n_pes():
            raise NcclInvalid(
                f"nccl.core: nranks is {size}, but this process is in a job of {_atoll.n_pes()} PEs; a communicator consists "
                "of PEs of the job. Start more by atoll run -n, and make the largest communicator first."
            )
        return _world
    if not _atoll.is_initialized():
        _choose_device()
        _job.init()
        if _atoll.n_pes() == 1 and size > 1 and uid is not None and not _job._launched:
            _job.finalize()
            _job.init(uid.rstrip(b"\0"), rank, size)
    _world = None
    if size > _atoll.n_pes():
        raise NcclInvalid(
            f"nccl.core: nranks is {size}, but the job has {_atoll.n_pes()} PEs; start as many by atoll run -n {size}, "
            "each of which is one rank."
        )
    _world = World()
    return _world


def _choose_device() -> None:
    """Let this PE have the GPU that the program made current, as NCCL does. ATOLL_DEVICE comes before it."""
    try:
        driver, number = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
        is_current = driver.cuCtxGetDevice(ctypes.byref(number)) == 0
    except (OSError, AttributeError):
        return
    if is_current:
        os.environ.setdefault("ATOLL_DEVICE", str(number.value))


def _is_current(known: World) -> bool:
    if not _atoll.is_initialized():
        return False
    try:
        known.channel.n_pes()
    except _atoll.Error:
        return False
    return True


def result_of(error: Exception | None) -> Result:
    """Return the state of a communicator after its last error."""
    if error is None:
        return Result.Success
    return Result(getattr(error, "status", Result.InvalidUsage))
