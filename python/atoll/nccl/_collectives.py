"""Collectives and messages of a communicator."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import _atoll
from ._base import Base, State, pair, rank_in, room
from ._configuration import NCCLCollConfig
from ._engines import TeamEngine
from ._errors import NcclInvalid, translated
from ._gpu import Message, collective, has_gpu_form, has_scaled_form, in_order, scaled, through_host
from ._lines import line_of
from ._reductions import PLAIN, Run, apart, operator_of, run_on_host
from .group import is_open, submit, submit_message
from .typing import NcclBufferSpec, NcclRedOp, NcclStreamSpec

_EVERY_TYPE: Any = {NcclRedOp.SUM: "sum", NcclRedOp.PROD: "prod", NcclRedOp.MIN: "min", NcclRedOp.MAX: "max"}
"""Operators that Atoll has for all of PLAIN."""


AnyLine = Any
"""A Line or a DeviceLine, or nothing on ranks that have no such array."""


class Collectives(Base):
    """The calls of a communicator that move data between buffers of all ranks, or of two."""

    @translated
    def allreduce(
        self,
        sendbuf: NcclBufferSpec,
        recvbuf: NcclBufferSpec,
        op: Any,
        *,
        stream: NcclStreamSpec | None = None,
        config: NCCLCollConfig | None = None,
    ) -> None:
        """Reduce over the ranks, and give all of them the result. Collective; see reduce."""
        team = self._team_for("allreduce", sendbuf, recvbuf)
        if team is not None and sendbuf.shape == recvbuf.shape and isinstance(op, int) and op in _EVERY_TYPE:
            _atoll.reduce(recvbuf, sendbuf, _EVERY_TYPE[op], team=team)
            return
        self._reduce("allreduce", sendbuf, recvbuf, op, None, stream)

    @translated
    def reduce(
        self,
        sendbuf: NcclBufferSpec,
        recvbuf: NcclBufferSpec | Any,
        op: Any,
        root: int | None = None,
        *,
        stream: NcclStreamSpec | None = None,
        config: NCCLCollConfig | None = None,
    ) -> None:
        """Reduce over the ranks, element by element. Collective.

        Parameters
        ----------
        sendbuf
            The elements of this rank; their number counts.
        recvbuf
            The result, of one data type with sendbuf and at least its size; it may be sendbuf. Ranks that get no result may
            pass None.
        op
            SUM, PROD, MAX, MIN, AVG, or what create_pre_mul_sum returned.
        root
            The rank that gets the result; None: all of them.
        stream
            The stream that carries out the call on arrays of a GPU. Calls on host memory are complete on return.
        config
            Changes nothing.

        Raises
        ------
        NcclInvalid
            A wrong argument, or a rank's call differs.
        NCCLError
            A rank ended, or time ran out.
        """
        self._reduce("reduce", sendbuf, recvbuf, op, root, stream)

    def _team_for(self, name: str, sendbuf: Any, recvbuf: Any) -> Any:
        """Return the team if Atoll's collectives accept both arrays without conversion or a group; else None."""
        if (
            type(sendbuf) is not np.ndarray
            or type(recvbuf) is not np.ndarray
            or self._state is None
            or is_open()
        ):
            return None
        engine = self._ready(name).engine
        if (
            not isinstance(engine, TeamEngine)
            or sendbuf.dtype is not recvbuf.dtype
            or sendbuf.dtype not in PLAIN
            or not (sendbuf.flags.c_contiguous and recvbuf.flags.c_contiguous)
            or np.may_share_memory(sendbuf, recvbuf)
        ):
            return None
        return engine.team

    def _reduce(self, name: str, sendbuf: Any, recvbuf: Any, op: Any, root: int | None, stream: Any) -> None:
        state = self._ready(name)
        at = None if root is None else rank_in(state, root, "root", name)
        to: AnyLine
        if at is None or at == state.engine.rank:
            source, to = pair(name, sendbuf, recvbuf)
            to = room(name, "recvbuf", to, len(source))
        else:
            source, to = line_of(sendbuf, "sendbuf"), None
        engine = state.engine

        def on_host(into: Any, given: Any, by: str) -> None:
            engine.reduce(into, given, by, at)

        by = _operator(name, op, source)
        kind = "all_reduce" if at is None else "reduce"
        _submit_reduction(state, kind, to, source, by, len(source), stream, on_host, at)

    @translated
    def reduce_scatter(
        self,
        sendbuf: NcclBufferSpec,
        recvbuf: NcclBufferSpec,
        op: Any,
        *,
        stream: NcclStreamSpec | None = None,
        config: NCCLCollConfig | None = None,
    ) -> None:
        """Reduce over the ranks, and give each its own block of the result. Collective.

        sendbuf has as many blocks as ranks; recvbuf takes one. Other arguments and errors are reduce's.
        """
        name = "reduce_scatter"
        state = self._ready(name)
        engine = state.engine
        source, to = pair(name, sendbuf, recvbuf)
        block = _block(name, "sendbuf", source, engine.size)
        source, to = source.part(0, block * engine.size), room(name, "recvbuf", to, block)
        by = _operator(name, op, source)
        _submit_reduction(state, "reduce_scatter", to, source, by, block, stream, engine.reduce_scatter)

    @translated
    def broadcast(
        self,
        sendbuf: NcclBufferSpec | Any,
        recvbuf: NcclBufferSpec,
        root: int,
        *,
        stream: NcclStreamSpec | None = None,
        config: NCCLCollConfig | None = None,
    ) -> None:
        """Copy the root's sendbuf into recvbuf of all ranks. Collective.

        The size is recvbuf's. Ranks other than the root may pass None as sendbuf. Other arguments and errors are reduce's.
        """
        name = "broadcast"
        state = self._ready(name)
        at = rank_in(state, root, "root", name)
        if at == state.engine.rank:
            source, to = pair(name, sendbuf, recvbuf)
            if len(source) != len(to):
                raise NcclInvalid(
                    f"nccl.core: {name}: sendbuf has {len(source)} elements, recvbuf has {len(to)}; both must be equal."
                )
        else:
            source, to = None, line_of(recvbuf, "recvbuf", writable=True)
        self._move(state, "broadcast", to, source, at, stream)

    @translated
    def allgather(
        self,
        sendbuf: NcclBufferSpec,
        recvbuf: NcclBufferSpec,
        *,
        stream: NcclStreamSpec | None = None,
        config: NCCLCollConfig | None = None,
    ) -> None:
        """Give all ranks the sendbuf of all, in their order. Collective; see gather."""
        team = self._team_for("allgather", sendbuf, recvbuf)
        if team is not None and recvbuf.size == sendbuf.size * team.n_pes():
            _atoll.fcollect(recvbuf, sendbuf, team=team)
            return
        self._gather("allgather", sendbuf, recvbuf, None, stream)

    @translated
    def gather(
        self,
        sendbuf: NcclBufferSpec,
        recvbuf: NcclBufferSpec | Any,
        root: int | None = None,
        *,
        stream: NcclStreamSpec | None = None,
        config: NCCLCollConfig | None = None,
    ) -> None:
        """Give the root the sendbuf of all ranks, in their order; without a root all ranks. Collective.

        recvbuf has sendbuf's size for each rank. Ranks that get no result may pass None. Other arguments and errors are
        reduce's.
        """
        self._gather("gather", sendbuf, recvbuf, root, stream)

    def _gather(self, name: str, sendbuf: Any, recvbuf: Any, root: int | None, stream: Any) -> None:
        state = self._ready(name)
        engine = state.engine
        at = None if root is None else rank_in(state, root, "root", name)
        if at is None or at == engine.rank:
            source, to = pair(name, sendbuf, recvbuf)
            to = room(name, "recvbuf", to, len(source) * engine.size)
        else:
            source, to = line_of(sendbuf, "sendbuf"), None
        self._move(state, "all_gather" if at is None else "gather", to, source, at, stream)

    @translated
    def scatter(
        self,
        sendbuf: NcclBufferSpec | Any,
        recvbuf: NcclBufferSpec,
        root: int,
        *,
        stream: NcclStreamSpec | None = None,
        config: NCCLCollConfig | None = None,
    ) -> None:
        """Give each rank its block of the root's sendbuf. Collective.

        The root's sendbuf has recvbuf's size for each rank. Other ranks may pass None. Other arguments and errors are
        reduce's.
        """
        name = "scatter"
        state = self._ready(name)
        at = rank_in(state, root, "root", name)
        if at == state.engine.rank:
            source, to = pair(name, sendbuf, recvbuf)
            source = room(name, "sendbuf", source, len(to) * state.engine.size)
        else:
            source, to = None, line_of(recvbuf, "recvbuf", writable=True)
        self._move(state, "scatter", to, source, at, stream)

    @translated
    def alltoall(
        self,
        sendbuf: NcclBufferSpec,
        recvbuf: NcclBufferSpec,
        *,
        stream: NcclStreamSpec | None = None,
        config: NCCLCollConfig | None = None,
    ) -> None:
        """Exchange blocks: block j of this rank's sendbuf becomes this rank's block of rank j's recvbuf. Collective.

        Both buffers have a block for each rank. Other arguments and errors are reduce's.
        """
        name = "alltoall"
        state = self._ready(name)
        source, to = pair(name, sendbuf, recvbuf)
        size = _block(name, "sendbuf", source, state.engine.size) * state.engine.size
        self._move(state, "all_to_all", room(name, "recvbuf", to, size), source.part(0, size), None, stream)

    def _move(
        self, state: State, kind: str, to: AnyLine, source: AnyLine, root: int | None, stream: Any
    ) -> None:
        """Carry out a collective without arithmetic. Ranks that have no target or no source pass nothing."""
        on_gpu = (source if to is None else to).on_gpu
        arguments = [] if root is None else [root]

        def on_host(into: Any, given: Any) -> None:
            if into is None or given is None:
                into = given = (given if into is None else into).array
            else:
                into, given = into.array, apart(into.array, given.array)
            getattr(state.engine, kind)(into, given, *arguments)

        if not on_gpu:
            run = partial(on_host, to, source)
        elif state.group is not None:
            run = partial(collective, state.group, kind, to, source, root, None, stream)
        else:
            run = partial(through_host, on_host, to, source, stream)
        submit("collectives", state.order, run)

    @translated
    def send(self, sendbuf: NcclBufferSpec, peer: int, *, stream: NcclStreamSpec | None = None) -> None:
        """Send a buffer to a rank, which calls recv.

        Returns when sendbuf may be changed, which may be only after the receiver's call. In a group nothing moves before
        its end.

        Raises
        ------
        NcclInvalid
            A wrong argument; also a message to this rank itself outside a group, which would wait for ever.
        NCCLError
            A rank ended, or time ran out.
        """
        self._message("send", line_of(sendbuf, "sendbuf"), peer, stream)

    @translated
    def recv(self, recvbuf: NcclBufferSpec, peer: int, *, stream: NcclStreamSpec | None = None) -> None:
        """Receive the message of a rank, of recvbuf's size and data type. Errors are send's."""
        self._message("recv", line_of(recvbuf, "recvbuf", writable=True), peer, stream)

    def _message(self, name: str, line: AnyLine, peer: int, stream: Any) -> None:
        state = self._ready(name)
        rank = rank_in(state, peer, "peer", name)
        if not len(line):
            return
        if rank == state.engine.rank and not is_open():
            raise NcclInvalid(
                f"nccl.core: {name}: peer is this rank itself; call send and recv in one group (nccl.core.group)."
            )
        submit_message(state.order, Message(name == "send", line, rank, state, stream))


def _submit_reduction(
    state: State,
    kind: str,
    to: AnyLine,
    source: AnyLine,
    op: tuple[str, Any],
    counts: int,
    stream: Any,
    on_host: Run,
    root: int | None = None,
) -> None:
    """Carry out a reduction: on the host, by a call for GPUs, or on the host for arrays of a GPU.

    Parameters
    ----------
    kind
        The collective on a GPU.
    op
        The operator, and the scalar or nothing.
    counts
        Elements of the target.
    on_host
        The reduction of host memory.
    root
        The only rank that gets a result; None: all of them.
    """
    (operator, scalar), engine = op, state.engine
    run: Any
    if source.on_gpu and scalar is None and state.group is not None and has_gpu_form(source.kind, operator):
        run = partial(collective, state.group, kind, to, source, root, operator, stream)
    elif source.on_gpu and scalar is not None and has_scaled_form(engine, source.kind, root):
        factor = partial(scaled, engine, kind == "reduce_scatter", to, source, float(scalar), stream)
        run = partial(in_order, state, stream, factor)
    else:
        work = partial(run_on_host, on_host, op=operator, scalar=scalar, size=engine.size, counts=counts)
        by_copies = partial(through_host, work, to, source, stream)
        run = partial(in_order, state, stream, by_copies) if source.on_gpu else partial(work, to, source)
    submit("collectives", state.order, run)


def _operator(name: str, op: Any, source: AnyLine) -> tuple[str, Any]:
    """Return an operator for elements of the source's data type. Raises NcclInvalid."""
    operator, scalar = operator_of(op)
    if scalar is not None and op._datatype is not source.kind:
        raise NcclInvalid(
            f"nccl.core: {name}: the operator was made for {op._datatype.name}, but sendbuf has {source.kind.name}; make one "
            "with datatype= of the buffers."
        )
    return operator, scalar


def _block(operation: str, name: str, line: AnyLine, size: int) -> int:
    """Return the elements of a rank's block. Raises NcclInvalid if a line has fewer elements than ranks."""
    if 0 < len(line) < size:
        raise NcclInvalid(
            f"nccl.core: {operation}: {name} has {len(line)} elements for {size} ranks; pass at least one for each."
        )
    return len(line) // size
