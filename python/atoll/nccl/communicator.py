"""Communicators: how they are made, asked and ended."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _atoll
from ._base import State, by_pointer
from ._collectives import Collectives
from ._configuration import (
    GinBarrierRequirement,
    LLA2ARequirement,
    LsaBarrierRequirement,
    NCCLCollConfig,
    NCCLCommProperties,
    NCCLConfig,
    NCCLDevCommRequirements,
    TeamRequirement,
    VendorOption,
    WaitSignalDesc,
)
from ._errors import NCCLError, NcclInvalid, Result, translated
from ._lifetime import Lifetime
from ._queries import Queries
from ._windows import Windows
from ._world import World, join
from .constants import CommShrinkFlag
from .utils import UniqueId, get_unique_id

__all__ = [  # noqa: RUF022
    "NCCLConfig",
    "NCCLCollConfig",
    "VendorOption",
    "NCCLCommProperties",
    "WaitSignalDesc",
    "TeamRequirement",
    "LsaBarrierRequirement",
    "GinBarrierRequirement",
    "LLA2ARequirement",
    "NCCLDevCommRequirements",
    "Communicator",
]


class Communicator(Queries, Collectives, Windows, Lifetime):
    """Ranks that communicate: PEs of a job of Atoll, in an order of their own.

    Calls are local unless their description begins with how they are collective.
    """

    def __init__(self, ptr: int | None = None) -> None:
        """Return a communicator that is not initialized, or that of another object's `ptr` in this process.

        Raises NcclInvalid for another library's pointer.
        """
        self._state: State | None = by_pointer.get(ptr) if ptr else None
        if ptr and self._state is None:
            raise NcclInvalid(
                f"nccl.core: Communicator({ptr:#x}): this is no communicator of Atoll in this process; NCCL's own cannot be "
                "used. Make one by Communicator.init."
            )

    @classmethod
    def init(
        cls,
        nranks: int,
        rank: int,
        unique_id: UniqueId | Sequence[UniqueId],
        config: NCCLConfig | None = None,
    ) -> Communicator:
        """Return a new communicator. Collective over its ranks; the process's first over all PEs of the job.

        Parameters
        ----------
        nranks
            The number of ranks, at most the job's PEs. With fewer, the other PEs need not call, and the ranks exchange
            messages instead of Atoll's collectives.
        rank
            This rank, 0 to nranks - 1. Ranks need not be in the order of PEs.
        unique_id
            What get_unique_id() returned on one rank. Of several the first counts.
        config
            Options.

        Raises
        ------
        NcclInvalid
            A wrong argument, or ranks that do not fit together.
        NCCLError
            The job could not be joined.
        """
        made = cls()
        made.initialize(nranks, rank, unique_id, config)
        return made

    @classmethod
    @translated
    def init_all(cls, devices: int | Sequence[int] | None = None) -> list[Communicator]:
        """Return a communicator of this process alone. Raises NcclInvalid for several devices: a PE is a process.

        Parameters
        ----------
        devices
            A number of devices, or their numbers. None: this PE's own.
        """
        count = 1 if devices is None else int(devices) if isinstance(devices, int) else len(list(devices))
        if count > 1:
            raise NcclInvalid(
                f"nccl.core: Communicator.init_all: {count} devices were passed, but a PE is a process of one device. Start "
                "one process for each (atoll run -n, atoll.launch) and call Communicator.init."
            )
        if count < 1:
            return []
        return [cls.init(1, 0, get_unique_id())]

    @translated
    def initialize(
        self,
        nranks: int,
        rank: int,
        unique_id: UniqueId | Sequence[UniqueId],
        config: NCCLConfig | None = None,
    ) -> None:
        """Initialize an empty communicator; see init. Raises NcclInvalid for one that is initialized."""
        name = "Communicator.init"
        if self._state is not None:
            raise NcclInvalid(f"nccl.core: {name}: this communicator is initialized; destroy it first.")
        uid = _one_id(unique_id, name)
        if not 0 <= rank < nranks:
            raise NcclInvalid(
                f"nccl.core: {name}: rank is {rank} and nranks {nranks}; pass a rank from 0 to nranks - 1."
            )
        here = join(uid, nranks, rank)
        if nranks == _atoll.n_pes():
            engine: Any = here.together(uid, nranks, rank)
        else:
            engine = here.engine(here.meet(uid, nranks, {rank: _atoll.my_pe()}), rank)
        self._state = State(engine, uid, config)

    @translated
    def split(self, color: int | None = None, key: int = 0, config: NCCLConfig | None = None) -> Communicator:
        """Return the communicator of the ranks that passed this color, ordered by key, then by rank. Collective.

        Parameters
        ----------
        color
            At least 0. None: this rank gets an empty communicator.
        key
            The order.
        config
            Options; None: this communicator's.

        Raises
        ------
        NcclInvalid
            A wrong argument.
        """
        state = self._of("split")
        if color is not None and color < 0:
            raise NcclInvalid(
                f"nccl.core: split: color is {color}; pass at least 0, or None for no communicator."
            )
        order = state.next_order()
        engine = state.engine.split(-1 if color is None else int(color), int(key))
        made = Communicator()
        if engine is not None:
            made._state = State(engine, order, config or state.config)
        return made

    @translated
    def shrink(
        self,
        exclude_ranks: Sequence[int] | None = None,
        config: NCCLConfig | None = None,
        flag: CommShrinkFlag = CommShrinkFlag.DEFAULT,
    ) -> Communicator:
        """Return a communicator without some ranks, which do not call. Collective over the others.

        Parameters
        ----------
        exclude_ranks
            The ranks that are left out; equal on all callers.
        config
            Options; None: this communicator's.
        flag
            ABORT: the communicator is also revoked.

        Raises
        ------
        NcclInvalid
            A wrong argument.
        NCCLError
            exclude_ranks is empty.
        """
        state = self._of("shrink")
        out = set(exclude_ranks or ())
        ranks = [rank for rank in range(state.engine.size) if rank not in out]
        if state.engine.rank in out or out - set(range(state.engine.size)):
            raise NcclInvalid(
                f"nccl.core: shrink: exclude_ranks is {sorted(out)}, but this is rank {state.engine.rank} of "
                f"{state.engine.size}; pass other ranks of this communicator. Ranks that are left out do not call."
            )
        if not out:
            raise NCCLError(
                Result.InvalidArgument,
                "nccl.core: shrink: exclude_ranks is empty; pass the ranks to leave out, or use split.",
            )
        if flag == CommShrinkFlag.ABORT:
            state.revoked = True
        pes = [state.engine.pes[rank] for rank in ranks]
        order = state.next_order()
        engine = join().engine(pes, ranks.index(state.engine.rank))
        made = Communicator()
        made._state = State(engine, order, config or state.config)
        return made

    def get_unique_id(self) -> UniqueId:
        """Return an identifier for grow. Local; one rank calls it. Raises NcclInvalid if there is no communicator."""
        self._of("get_unique_id")
        return get_unique_id()

    @translated
    def grow(
        self,
        nranks: int,
        unique_id: UniqueId | None = None,
        rank: int | None = None,
        config: NCCLConfig | None = None,
    ) -> Communicator:
        """Return a communicator of this one's ranks and new ones. Collective over all of them.

        Parameters
        ----------
        nranks
            The number of ranks of the new communicator.
        unique_id
            What this communicator's get_unique_id() returned: on the rank that called it, and on new ranks. None on others.
        rank
            New ranks, which call this on an empty communicator: their rank, behind the existing ones. None on others.
        config
            Options.

        Raises
        ------
        NcclInvalid
            A wrong argument, or ranks that do not fit together.
        """
        made = Communicator()
        if self._state is None:
            if rank is None or unique_id is None:
                raise NcclInvalid(
                    "nccl.core: grow: a new rank passes unique_id and rank; existing ranks call it on their communicator."
                )
            uid = _one_id(unique_id, "grow")
            here = join(uid, nranks, rank)
            pes = here.meet(uid, nranks, {rank: _atoll.my_pe()})
            made._state = State(here.engine(pes, rank), uid, config)
            return made
        state = self._state
        if rank is not None or nranks < state.engine.size:
            raise NcclInvalid(
                f"nccl.core: grow: nranks is {nranks} and rank {rank}; existing ranks pass at least {state.engine.size} and no rank."
            )
        uid, pes = _grown(join(), state, nranks, unique_id)
        made._state = State(join().engine(pes, state.engine.rank), uid, config or state.config)
        return made

    def __repr__(self) -> str:
        if self._state is None:
            return "<Communicator (not initialized)>"
        name = self._state.config.comm_name
        return f"<Communicator{f' {name!r}' if name else ''}: rank {self.rank} of {self.nranks}>"


def _grown(here: World, state: State, nranks: int, unique_id: UniqueId | None) -> tuple[bytes, list[int]]:
    """Return the identifier and the PEs of a grown communicator, on its existing ranks."""
    engine = state.engine
    roots = np.empty(engine.size, np.uint8)
    engine.all_gather(roots, np.array([unique_id is not None], np.uint8))
    if roots.sum() != 1:
        raise NcclInvalid(
            f"nccl.core: grow: {int(roots.sum())} existing ranks passed unique_id; the one that called get_unique_id passes it."
        )
    root = int(np.flatnonzero(roots)[0])
    found = np.zeros(nranks, np.int64)
    data = np.zeros(128, np.uint8)
    if unique_id is not None:
        data[:] = np.frombuffer(bytes(unique_id), np.uint8)
        found[:] = here.meet(bytes(unique_id), nranks, dict(enumerate(engine.pes)))
    engine.broadcast(found, found, root)
    engine.broadcast(data, data, root)
    return data.tobytes(), found.tolist()


def _one_id(given: Any, name: str) -> bytes:
    """Return the bytes of a unique id, or of the first of several. Raises NcclInvalid."""
    one = (
        given if isinstance(given, UniqueId) else (list(given) or [None])[0] if _is_sequence(given) else given
    )
    if not isinstance(one, UniqueId) or not any(bytes(one)):
        raise NcclInvalid(
            f"nccl.core: {name}: unique_id is {'empty' if isinstance(one, UniqueId) else f'a {type(one).__name__}'}; pass what "
            "get_unique_id() returned on one rank, sent to all."
        )
    return bytes(one)


def _is_sequence(given: Any) -> bool:
    return isinstance(given, list | tuple)


def device_class() -> Any:
    """Return cuda.core's Device, or the substitute's where cuda.core is missing."""
    try:
        return importlib.import_module("cuda.core").Device
    except (ImportError, AttributeError):
        return importlib.import_module("atoll.compat._cuda_core").Device
