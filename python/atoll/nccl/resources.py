"""Handles that belong to a communicator: registered buffers, windows, custom operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _atoll
from ._base import State, size_of
from ._configuration import no_kernels
from ._errors import NcclInvalid
from ._lines import DeviceLine, Shown, address_of, line_of
from ._world import world
from .constants import WindowFlag
from .team import NCCLTeam
from .typing import NcclBufferSpec, NcclDataType

__all__ = [  # noqa: RUF022
    "MultimemHandle",
    "LsaBarrierHandle",
    "GinBarrierHandle",
    "LLA2AHandle",
    "RegisteredBufferHandle",
    "RegisteredWindowHandle",
    "CftLeInfo",
    "CustomRedOp",
    "DevCommResource",
]


class CommResource:
    """A handle that a communicator keeps until close(), destroy() or abort()."""

    _what = "resource"

    def __init__(self, state: State) -> None:
        self._state: State | None = state
        state.resources.append(self)

    def close(self) -> None:
        """Give the handle back. Local; a second call does nothing."""
        state, self._state = self._state, None
        if state is not None and self in state.resources:
            state.resources.remove(self)

    @property
    def is_valid(self) -> bool:
        """True if the handle is open."""
        return self._state is not None

    def _open(self) -> State:
        if self._state is None:
            raise RuntimeError(
                f"This {self._what} of nccl.core was closed; make another from its communicator."
            )
        return self._state

    def __repr__(self) -> str:
        return f"<{type(self).__name__} ({'open' if self.is_valid else 'closed'})>"


class RegisteredBufferHandle(CommResource):
    """A buffer that the program registered. Registration changes nothing here."""

    _what = "buffer"

    def __init__(self, state: State, buffer: NcclBufferSpec) -> None:
        line = line_of(buffer, "buffer")
        self._address, self._size = line.address, size_of(line.kind, len(line))
        super().__init__(state)

    @property
    def handle(self) -> int:
        """A number of the registration. Raises RuntimeError once closed."""
        self._open()
        return self._address

    @property
    def size(self) -> int:
        """Bytes of the buffer."""
        return self._size


class RegisteredWindowHandle(CommResource):
    """Memory of this rank and of all others, to which they put."""

    _what = "window"

    def __init__(self, state: State, buffer: NcclBufferSpec, flags: WindowFlag | None = None) -> None:
        line = line_of(buffer, "buffer")
        self._size = size_of(line.kind, len(line))
        self._address = line.address
        self._flags = WindowFlag.DEFAULT if flags is None else flags
        self._memory: Any = line.shown if isinstance(line, DeviceLine) else None
        """A window on a GPU: the array, which is symmetric. Windows of the host lie in the pool of each rank."""
        here = world()
        offset = 0 if line.on_gpu else here.offset_of(self._address, self._size)
        if line.on_gpu:
            offset = 0 if _atoll.is_symmetric(self._memory) else None
        seen = np.empty((state.engine.size, 2), np.int64)
        state.engine.all_gather(
            seen.reshape(-1), np.array([-1 if offset is None else offset, self._size], np.int64)
        )
        self.extents = [(int(first), int(size)) for first, size in seen]
        missing = [rank for rank, (first, _) in enumerate(self.extents) if first < 0]
        if missing:
            raise NcclInvalid(
                f"nccl.core: register_window: the buffer of rank {missing[0]} cannot be reached by other PEs; allocate windows by "
                "nccl.core.mem_alloc, nccl.core.torch.empty or nccl.core.cupy.empty."
            )
        state.windows += 1
        self._number = state.windows
        super().__init__(state)

    @property
    def handle(self) -> int:
        """The window's number in its communicator, equal on all ranks; 0 once closed."""
        return self._number if self.is_valid else 0

    @property
    def size(self) -> int:
        """Bytes of this rank's window."""
        return self._size

    @property
    def user_ptr(self) -> int:
        """The address of this rank's window. Raises RuntimeError once closed."""
        self._open()
        return self._address

    @property
    def _on_gpu(self) -> bool:
        """True if the window is memory of a GPU."""
        return self._memory is not None

    def _at(self, peer: int, first: int, nbytes: int, operation: str) -> Any:
        """Return the bytes of a rank's window as an array of this PE for Atoll's calls. Raises NcclInvalid."""
        start, size = self.extents[peer]
        if first < 0 or first + nbytes > size:
            raise NcclInvalid(
                f"nccl.core: {operation}: bytes {first} to {first + nbytes} are outside rank {peer}'s window of {size} bytes; pass a "
                "smaller buffer or offset."
            )
        if self._memory is not None:
            return Shown(self._address + first, nbytes, np.dtype(np.uint8), self._memory)
        return world().memory[start + first : start + first + nbytes]

    def get_peer_device_pointer(self, peer: int, offset: int = 0) -> int | None:
        """Return the address by which this PE loads and stores in a rank's window; None if it cannot reach it.

        Local. On a machine without GPUs it is an address of the host.

        Parameters
        ----------
        peer
            A rank of the communicator.
        offset
            Bytes from the window's begin.

        Raises
        ------
        RuntimeError
            The window was closed.
        """
        state, here = self._open(), world()
        pe = state.engine.pes[peer]
        if pe not in here.here:
            return None
        if self._memory is not None:
            return address_of(_atoll.peer(self._memory, pe)) + offset
        return address_of(_atoll.peer(here.memory, pe)) + self.extents[peer][0] + offset

    def get_lsa_device_pointer(self, lsa_rank: int, offset: int = 0) -> int:
        """Return the address by which this PE loads and stores in the window of a rank of team_lsa.

        Other arguments and errors are get_peer_device_pointer's.
        """
        state = self._open()
        ranks = [rank for rank, pe in enumerate(state.engine.pes) if pe in world().here]
        if not 0 <= lsa_rank < len(ranks):
            raise NcclInvalid(
                f"nccl.core: get_lsa_device_pointer: lsa_rank is {lsa_rank}; pass 0 to {len(ranks) - 1}."
            )
        found = self.get_peer_device_pointer(ranks[lsa_rank], offset)
        assert found is not None
        return found

    def get_lsa_multimem_device_pointer(self, offset: int = 0) -> int | None:
        """Return None: Atoll has no multicast memory, as GPUs without NVLink SHARP."""
        self._open()
        return None

    def get_multimem_device_pointer(self, multimem: Any, offset: int = 0) -> int | None:
        """Return None: Atoll has no multicast memory, as GPUs without NVLink SHARP."""
        self._open()
        return None

    def get_multimem_le_info(self, offset: int = 0) -> CftLeInfo:
        """Raise NcclInvalid: Atoll does not use the compute fabric transport."""
        raise no_fabric("get_multimem_le_info")

    def get_cft_le_info(self, peer_cft: int, cft_team: NCCLTeam, offset: int = 0) -> CftLeInfo:
        """Raise NcclInvalid: Atoll does not use the compute fabric transport."""
        raise no_fabric("get_cft_le_info")

    def get_peer_le_info(self, peer: int, offset: int = 0) -> CftLeInfo:
        """Raise NcclInvalid: Atoll does not use the compute fabric transport."""
        raise no_fabric("get_peer_le_info")


def no_fabric(name: str) -> NcclInvalid:
    """Return the error of calls for NVLink's compute fabric transport."""
    return NcclInvalid(
        f"nccl.core: {name}: Atoll does not use NVLink's compute fabric transport; put by Communicator.put_signal, or store to "
        "the address of get_peer_device_pointer."
    )


class CustomRedOp(CommResource):
    """The operator that create_pre_mul_sum returned: the sum of the ranks' elements, each rank's times its scalar."""

    _what = "operator"

    def __init__(self, state: State, scalar: Any, datatype: NcclDataType) -> None:
        self._scalar, self._datatype = scalar, datatype
        super().__init__(state)

    @property
    def op(self) -> int:
        """A number of the operator. Raises RuntimeError once closed."""
        self._open()
        return id(self)

    def __int__(self) -> int:
        return self.op

    def _scalar_of_call(self) -> Any:
        self._open()
        return self._scalar() if callable(self._scalar) else self._scalar


@dataclass(frozen=True)
class CftLeInfo:
    """An address of NVLink's compute fabric transport."""

    le_id: int
    le_offset: int


class _OfKernels:
    """A handle of NCCL's API for kernels, which cannot be made."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        raise no_kernels(type(self).__name__)

    def _refuse(self) -> Any:
        """Raise NcclInvalid: kernels of Atoll take a team."""
        raise no_kernels(type(self).__name__)


class MultimemHandle(_OfKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    mc_base_pointer = property(_OfKernels._refuse)


class LsaBarrierHandle(_OfKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    buf_handle = property(_OfKernels._refuse)
    n_barriers = property(_OfKernels._refuse)


class GinBarrierHandle(_OfKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    signal0 = property(_OfKernels._refuse)


class LLA2AHandle(_OfKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    buf_handle = property(_OfKernels._refuse)
    n_slots = property(_OfKernels._refuse)


class DevCommResource(_OfKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    dev_comm = property(_OfKernels._refuse)
    ptr = property(_OfKernels._refuse)
    resource_handles = property(_OfKernels._refuse)
    is_valid = property(_OfKernels._refuse)
    close = _OfKernels._refuse

    def multimem_handle(self, team: NCCLTeam) -> MultimemHandle:
        """Raise NcclInvalid."""
        return self._refuse()  # type: ignore[no-any-return]
