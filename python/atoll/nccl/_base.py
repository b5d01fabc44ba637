"""The state of a communicator, and the checks that all of its calls share."""

from __future__ import annotations

import itertools
import os
import weakref
from typing import Any

import numpy as np

from ._configuration import NCCLConfig
from ._device_groups import DeviceGroup
from ._engines import Engine
from ._errors import NCCLError, NcclInvalid
from ._lines import DeviceLine, Line, line_of
from ._world import patience, world
from .typing import NcclDataType

_pointers = itertools.count(0x10000, 16)
by_pointer: weakref.WeakValueDictionary[int, State] = weakref.WeakValueDictionary()
"""Communicators of this process by their `ptr`."""


AnyLine = Line | DeviceLine


class State:
    """The parts of a communicator, while it has not been destroyed."""

    def __init__(self, engine: Engine, order: bytes, config: NCCLConfig | None) -> None:
        self.engine, self.order = engine, order
        self.config = config or NCCLConfig()
        self.contexts, self.signals = self.config.num_rma_ctx or 1, self.config.num_rma_sig or 1
        self.pointer = next(_pointers)
        self.resources: list[Any] = []
        self.children = 0
        self.windows = 0
        self.revoked = self.suspended = self.finalized = False
        self.error: NcclInvalid | NCCLError | None = None
        self.words = self._take_words()
        self.group = self._join_group()
        """The ranks on their GPUs; nothing if PEs have no GPU, or run on several hosts."""
        by_pointer[self.pointer] = self

    def _take_words(self) -> Any:
        """Take signal words, and return the number of the first one on each rank; -1: it had none. Collective."""
        here, engine = world(), self.engine
        count = engine.size * self.contexts * self.signals
        first = here.word_pool.take(count)
        if first is not None:
            here.words[first : first + count] = 0
        words = np.empty(engine.size, np.int64)
        engine.all_gather(words, np.array([-1 if first is None else first], np.int64))
        return words

    def _join_group(self) -> DeviceGroup | None:
        """Join the ranks on their GPUs. Collective."""
        here, engine = world(), self.engine
        if here.board is None or not here.here.issuperset(engine.pes):
            return None
        keys = np.empty((engine.size, 8), np.uint8)
        engine.all_gather(keys.reshape(-1), np.frombuffer(os.urandom(8), np.uint8))
        seconds = patience()
        with here.board.opened(keys[0].tobytes(), engine.pes, seconds) as entries:
            group = DeviceGroup(entries, engine.size, engine.rank, here.device, seconds)
            self.meet()  # a rank may still read this one's entries
        return group

    def next_order(self) -> bytes:
        """Return the order of a communicator that is made from this one."""
        self.children += 1
        return self.order + self.children.to_bytes(4, "big")

    def meet(self) -> None:
        """Wait for all ranks."""
        seen = np.empty(self.engine.size, np.uint8)
        self.engine.all_gather(seen, np.zeros(1, np.uint8))

    def close_resources(self) -> None:
        """Close handles that the program left open."""
        while self.resources:
            self.resources.pop().close()


class Base:
    """A communicator, or nothing: one that was not initialized, or was destroyed."""

    _state: State | None

    def _of(self, operation: str) -> State:
        """Return the state. Raises NcclInvalid if there is not one."""
        if self._state is None:
            raise NcclInvalid(
                f"nccl.core: {operation}: the communicator is not initialized, or was destroyed; make one by "
                "Communicator.init."
            )
        return self._state

    def _ready(self, operation: str) -> State:
        """Return the state of a communicator that may communicate. Raises NcclInvalid."""
        state = self._of(operation)
        if state.revoked or state.suspended or state.finalized:
            done, cure = (
                ("revoked", "make another by shrink or split")
                if state.revoked
                else ("suspended", "call resume first")
                if state.suspended
                else ("finalized", "destroy it")
            )
            raise NcclInvalid(f"nccl.core: {operation}: the communicator is {done}; {cure}.")
        return state

    def _note_error(self, error: NcclInvalid | NCCLError) -> None:
        if self._state is not None:
            self._state.error = error


def rank_in(state: State, value: Any, name: str, operation: str) -> int:
    """Return a rank of a communicator. Raises NcclInvalid."""
    try:
        rank = int(value)
    except (TypeError, ValueError):
        rank = -1
    if not 0 <= rank < state.engine.size:
        raise NcclInvalid(
            f"nccl.core: {operation}: {name} is {value!r}; pass a rank, 0 to {state.engine.size - 1}."
        )
    return rank


def pair(operation: str, sendbuf: Any, recvbuf: Any) -> tuple[Any, Any]:
    """Return the lines of both buffers, of one data type and on one device. Raises NcclInvalid."""
    source, to = line_of(sendbuf, "sendbuf"), line_of(recvbuf, "recvbuf", writable=True)
    if source.on_gpu != to.on_gpu:
        raise NcclInvalid(
            f"nccl.core: {operation}: one of sendbuf and recvbuf is memory of the GPU, the other of the host; copy one of them."
        )
    if source.kind is not to.kind:
        raise NcclInvalid(
            f"nccl.core: {operation}: sendbuf has {source.kind.name}, recvbuf has {to.kind.name}; both must be equal."
        )
    return source, to


def room(operation: str, name: str, line: AnyLine, needed: int) -> AnyLine:
    """Return the first elements of a line. Raises NcclInvalid if there are fewer."""
    if len(line) < needed:
        raise NcclInvalid(
            f"nccl.core: {operation}: {name} has {len(line)} elements, but {needed} are needed; pass a larger one."
        )
    return line.part(0, needed)


def size_of(kind: NcclDataType, count: int) -> int:
    """Return the bytes of elements."""
    return kind.itemsize * count
