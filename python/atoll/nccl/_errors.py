"""Errors of nccl.core, and Atoll's errors under their names."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .. import _atoll

Call = TypeVar("Call", bound=Callable[..., Any])


class NcclInvalid(Exception):
    """A wrong argument, a call at the wrong time, or a call that Atoll does not carry out."""

    def __init__(self, msg: str) -> None:
        super().__init__(msg)
        self.msg = msg

    def __reduce__(self) -> Any:
        return type(self), (self.msg,)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.msg}>"


class Result(enum.IntEnum):
    """States of a communicator."""

    Success = 0
    UnhandledCudaError = 1
    SystemError = 2
    InternalError = 3
    InvalidArgument = 4
    InvalidUsage = 5
    RemoteError = 6
    InProgress = 7


class NCCLError(Exception):
    """A call that failed although its arguments are right: a rank ended, time or memory ran out."""

    def __init__(self, status: int, text: str = "") -> None:
        self.status = int(status)
        self.text = text
        super().__init__(text or f"{Result(self.status).name} ({self.status})")

    def __reduce__(self) -> Any:
        return type(self), (self.status, self.text)


_INVALID = (
    _atoll.InvalidArgument,
    _atoll.NotInitialized,
    _atoll.PeError,
    _atoll.ShapeMismatch,
    _atoll.DtypeMismatch,
    _atoll.UseAfterFree,
    _atoll.CollectiveMismatch,
)
_FAILED = {
    _atoll.PeDied: Result.RemoteError,
    _atoll.Timeout: Result.RemoteError,
    _atoll.OutOfMemory: Result.SystemError,
    _atoll.SystemFailure: Result.SystemError,
    _atoll.BootstrapError: Result.SystemError,
    _atoll.SettingsError: Result.InvalidUsage,
    _atoll.KernelError: Result.UnhandledCudaError,
    _atoll.Unsupported: Result.InvalidUsage,
}
_NOT_SYMMETRIC = (
    " Make arrays by nccl.core.cupy.empty, nccl.core.torch.empty or nccl.core.mem_alloc on all ranks of the job, or register "
    "them by atoll.register."
)


def translated(function: Call) -> Call:
    """Let a function raise NcclInvalid and NCCLError, which name it, for Atoll's errors of the same meaning.

    A method of a communicator also leaves the kind of error for get_async_error and get_last_error.
    """

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except _atoll.NotSymmetric as error:
            failure: Exception = NcclInvalid(f"nccl.core: {name}: {error}{_NOT_SYMMETRIC}")
            cause: Exception = error
        except _INVALID as error:
            failure, cause = NcclInvalid(f"nccl.core: {name}: {error}"), error
        except tuple(_FAILED) as error:
            status = next(status for kind, status in _FAILED.items() if isinstance(error, kind))
            failure, cause = NCCLError(status, f"nccl.core: {name}: {error}"), error
        note = getattr(arguments[0], "_note_error", None) if arguments else None
        if note is not None:
            note(failure)
        raise failure from cause

    name = function.__name__.lstrip("_")
    return call  # type: ignore[return-value]
