"""Windows, signals and custom operators of a communicator."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import _atoll
from ._base import Base, State, rank_in
from ._configuration import NCCLDevCommRequirements, WaitSignalDesc, no_kernels
from ._errors import NcclInvalid, translated
from ._gpu import in_order
from ._lines import DeviceLine, line_of
from ._world import world
from .constants import WindowFlag
from .group import submit
from .resources import CustomRedOp, DevCommResource, RegisteredBufferHandle, RegisteredWindowHandle
from .typing import NcclBufferSpec, NcclDataType, NcclScalarSpec, NcclStreamSpec


class Windows(Base):
    """The calls of a communicator that reach one rank without its help, and those that make handles."""

    @translated
    def register_buffer(self, buffer: NcclBufferSpec) -> RegisteredBufferHandle:
        """Return a handle of a buffer. Local. It makes nothing faster here. Raises NcclInvalid for other objects than buffers."""
        return RegisteredBufferHandle(self._ready("register_buffer"), buffer)

    @translated
    def register_window(
        self, buffer: NcclBufferSpec, flags: WindowFlag | None = None
    ) -> RegisteredWindowHandle:
        """Return a window: memory of each rank, to which the others put. Collective, at once even in a group.

        Parameters
        ----------
        buffer
            Memory of nccl.core.mem_alloc, or an array of nccl.core.torch.empty or nccl.core.cupy.empty, or a part of one. The
            ranks' sizes may differ. On a GPU all ranks pass the same part of the same allocation.
        flags
            Change nothing.

        Raises
        ------
        NcclInvalid
            A rank's buffer is other memory.
        """
        return RegisteredWindowHandle(self._ready("register_window"), buffer, flags)

    @translated
    def put_signal(
        self,
        local_buffer: NcclBufferSpec,
        peer: int,
        peer_window: RegisteredWindowHandle,
        peer_window_offset: int = 0,
        signal_index: int = 0,
        context: int = 0,
        flags: int = 0,
        *,
        stream: NcclStreamSpec | None = None,
    ) -> None:
        """Put a buffer into a rank's window, then add 1 to a signal there. Local; local_buffer may then be changed.

        Parameters
        ----------
        local_buffer
            Any buffer, of a GPU if the window is.
        peer
            The rank that gets the data and the signal.
        peer_window
            This rank's handle of the window, or its number.
        peer_window_offset
            Elements of local_buffer's data type from the window's begin.
        signal_index, context
            The signal; below num_rma_sig and num_rma_ctx of NCCLConfig, 1 each by default.
        flags
            0.
        stream
            As for reduce.

        Raises
        ------
        NcclInvalid
            A wrong argument.
        """
        state = self._ready("put_signal")
        rank = rank_in(state, peer, "peer", "put_signal")
        line = line_of(local_buffer, "local_buffer")
        nbytes = line.kind.itemsize * len(line)
        window = _window_of(state, peer_window)
        to = window._at(rank, int(peer_window_offset) * line.kind.itemsize, nbytes, "put_signal")
        word = _word(state, state.engine.rank, rank, signal_index, context, flags, "put_signal")
        source: Any
        if line.on_gpu != window._on_gpu:
            raise NcclInvalid(
                "nccl.core: put_signal: local_buffer and the window must both be memory of the GPU, or both of the host."
            )
        source = line.bytes_at(0, nbytes) if isinstance(line, DeviceLine) else line.array.view(np.uint8)
        put = partial(
            _atoll.put_signal,
            to,
            source,
            world().words,
            1,
            "add",
            state.engine.pes[rank],
            word,
            stream=_stream(stream),
        )
        submit("puts", state.order, partial(in_order, state, _stream(stream), put))

    @translated
    def signal(
        self,
        peer: int,
        signal_index: int = 0,
        context: int = 0,
        flags: int = 0,
        *,
        stream: NcclStreamSpec | None = None,
    ) -> None:
        """Add 1 to a signal of a rank, after this rank's puts to it. Local. Arguments and errors are put_signal's."""
        state = self._ready("signal")
        rank = rank_in(state, peer, "peer", "signal")
        word = _word(state, state.engine.rank, rank, signal_index, context, flags, "signal")

        def add() -> None:
            _atoll.fence()
            _atoll.signal_add(world().words, 1, state.engine.pes[rank], word, stream=_stream(stream))

        submit("puts", state.order, partial(in_order, state, _stream(stream), add))

    @translated
    def wait_signal(
        self, descs: WaitSignalDesc | Sequence[WaitSignalDesc], *, stream: NcclStreamSpec | None = None
    ) -> None:
        """Wait for signals of ranks, and take them from their counts. Data that came with them are there.

        Parameters
        ----------
        descs
            The ranks, and how many signals of each.
        stream
            As for reduce.

        Raises
        ------
        NcclInvalid
            A wrong argument.
        NCCLError
            A rank ended, or time ran out.
        """
        state = self._ready("wait_signal")
        listed = [descs] if isinstance(descs, WaitSignalDesc) else list(descs)
        if not all(isinstance(x, WaitSignalDesc) for x in listed):
            raise NcclInvalid("nccl.core: wait_signal: descs must be a WaitSignalDesc, or several of them.")
        me = state.engine.rank
        words = [
            (
                _word(
                    state,
                    rank_in(state, x.peer, "peer", "wait_signal"),
                    me,
                    x.signal_index,
                    x.context,
                    0,
                    "wait_signal",
                ),
                int(x.op_count),
            )
            for x in listed
        ]

        def wait() -> None:
            for word, count in words:
                if count > 0:
                    _atoll.signal_consume(world().words, count, index=word, stream=_stream(stream))

        submit("waits", state.order, partial(in_order, state, _stream(stream), wait))

    @translated
    def create_pre_mul_sum(self, scalar: NcclScalarSpec, datatype: NcclDataType | None = None) -> CustomRedOp:
        """Return an operator: the sum of elements, each rank's times that rank's scalar. Local.

        Parameters
        ----------
        scalar
            A number, or a buffer of one element. A number or an array of NumPy is taken now; other buffers are read at each call.
        datatype
            The buffers' data type. None: the scalar's; int64 or float64 for numbers.

        Raises
        ------
        NcclInvalid
            scalar is something else, or of another data type.
        """
        state = self._ready("create_pre_mul_sum")
        value: Any
        if isinstance(scalar, int | float | np.number | np.ndarray):
            given = np.asarray(scalar)
            _one(given.size)
            kind = NcclDataType.from_numpy_dtype(given.dtype) if datatype is None else NcclDataType(datatype)
            value = np.array(given.reshape(()))
        else:
            line = line_of(scalar, "scalar")
            _one(len(line))
            kind = line.kind if datatype is None else NcclDataType(datatype)
            if kind is not line.kind:
                raise NcclInvalid(
                    f"nccl.core: create_pre_mul_sum: datatype is {kind.name}, but scalar has {line.kind.name}; pass equal ones."
                )
            value = line.wide_scalar
        return CustomRedOp(state, value, kind)

    def create_dev_comm(self, requirements: NCCLDevCommRequirements | None = None) -> DevCommResource:
        """Raise NcclInvalid: kernels of Atoll take a team."""
        raise no_kernels("create_dev_comm")


def _one(count: int) -> None:
    if count != 1:
        raise NcclInvalid(f"nccl.core: create_pre_mul_sum: scalar has {count} elements; pass one.")


def _window_of(state: State, given: Any) -> RegisteredWindowHandle:
    """Return an open window of a communicator by its handle or number. Raises NcclInvalid."""
    for found in state.resources:
        if isinstance(found, RegisteredWindowHandle) and (found is given or found.handle == given):
            return found
    raise NcclInvalid(
        f"nccl.core: put_signal: peer_window is {given!r}, not an open window of this communicator; pass what its "
        "register_window returned."
    )


def _word(
    state: State, sender: int, receiver: int, signal: int, context: int, flags: int, operation: str
) -> int:
    """Return the number of a signal's word on its receiver. Raises NcclInvalid."""
    for value, limit, name, option in (
        (signal, state.signals, "signal_index", "num_rma_sig"),
        (context, state.contexts, "context", "num_rma_ctx"),
    ):
        if not 0 <= value < limit:
            raise NcclInvalid(
                f"nccl.core: {operation}: {name} is {value}; pass 0 to {limit - 1}, or set NCCLConfig.{option}, which is {limit}."
            )
    if flags:
        raise NcclInvalid(f"nccl.core: {operation}: flags is {flags}; pass 0.")
    first = int(state.words[receiver])
    if first < 0:
        raise NcclInvalid(
            f"nccl.core: {operation}: rank {receiver} has no signal words left; destroy other communicators, or set smaller "
            "num_rma_sig and num_rma_ctx."
        )
    return first + (sender * state.contexts + context) * state.signals + signal


def _stream(stream: Any) -> Any:
    """Return the stream for calls on signals: on host memory each call is complete on return."""
    return stream if world().on_gpu else None
