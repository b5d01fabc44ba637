"""The end of a communicator, and its errors."""

from __future__ import annotations

import contextlib

from .. import _atoll
from ._base import Base
from ._device_groups import STAGE_BYTES
from ._errors import NCCLError, NcclInvalid, Result, translated
from ._world import result_of, world
from .constants import CommSuspendFlag
from .typing import NcclCommMemStat


class Lifetime(Base):
    """The calls that end, abort or query a communicator."""

    def destroy(self) -> None:
        """End the communicator, and close its handles. Collective. Errors are not raised. A second call does nothing."""
        state, self._state = self._state, None
        if state is None:
            return
        with contextlib.suppress(_atoll.Error, NcclInvalid):
            state.close_resources()
            if not state.revoked and not _is_broken(state.error):
                state.meet()
                state.engine.end()
                world().word_pool.release(int(state.words[state.engine.rank]))
        if state.group is not None:
            state.group.leave()

    def abort(self) -> None:
        """End the communicator on this rank alone. Local; its team, signal words and memory of the GPU stay taken."""
        state, self._state = self._state, None
        if state is not None:
            state.close_resources()

    @translated
    def finalize(self) -> None:
        """Wait for all ranks; only destroy may follow. Collective. After destroy or abort it does nothing."""
        if self._state is None or self._state.finalized:
            return
        state = self._ready("finalize")
        state.meet()
        state.finalized = True

    def revoke(self, flags: int = 0) -> None:
        """Let further calls on this rank raise NcclInvalid; split, shrink and destroy may follow. Local.

        Calls of other threads that wait are not ended. Raises NcclInvalid for flags other than 0.
        """
        state = self._of("revoke")
        if flags:
            raise NcclInvalid(f"nccl.core: revoke: flags is {flags}; pass 0.")
        state.revoked = True

    def suspend(self, flags: CommSuspendFlag = CommSuspendFlag.MEM) -> None:
        """Let further calls on this rank raise NcclInvalid until resume. Local; frees no memory."""
        self._ready("suspend").suspended = True

    def resume(self) -> None:
        """End suspend. Local."""
        self._of("resume").suspended = False

    def close_all_resources(self) -> None:
        """Close all windows, registered buffers and operators of the communicator. Local."""
        if self._state is not None:
            self._state.close_resources()

    def get_last_error(self) -> str:
        """Return the text of the communicator's last error, or an empty one. Local."""
        error = self._of("get_last_error").error
        return "" if error is None else str(error)

    def get_async_error(self) -> Result:
        """Return Success, or the kind of the last call's error that was raised here. Local."""
        return result_of(self._of("get_async_error").error)

    def get_mem_stat(self, stat: NcclCommMemStat) -> int:
        """Return a figure of the communicator's memory of a GPU. Local.

        Parameters
        ----------
        stat
            GPU_MEM_TOTAL and GPU_MEM_PERSIST: bytes for messages and collectives. GPU_MEM_SUSPENDED: 1 after suspend.
            GPU_MEM_SUSPEND: 0, since suspend frees no memory.
        """
        state, given = self._of("get_mem_stat"), NcclCommMemStat(stat)
        if given is NcclCommMemStat.GPU_MEM_SUSPENDED:
            return int(state.suspended)
        counts = given in (NcclCommMemStat.GPU_MEM_TOTAL, NcclCommMemStat.GPU_MEM_PERSIST)
        return STAGE_BYTES if counts and state.group is not None else 0


def _is_broken(error: Exception | None) -> bool:
    """Return whether the ranks can no longer meet after an error."""
    return isinstance(error, NCCLError) or isinstance(
        getattr(error, "__cause__", None), _atoll.CollectiveMismatch
    )
