"""The errors of Atoll. Each is an `Error`, and tells the argument, the expectation and the cure.

The same names are in `atoll` itself. Completion of `atoll.` leaves out the rare ones.
"""

from . import (
    BootstrapError,
    CollectiveMismatch,
    DtypeMismatch,
    Error,
    InvalidArgument,
    KernelError,
    LaunchError,
    NotInitialized,
    NotSymmetric,
    OutOfMemory,
    PeDied,
    PeError,
    SettingsError,
    ShapeMismatch,
    SystemFailure,
    Timeout,
    Unsupported,
    UseAfterFree,
)

__all__ = [
    "BootstrapError",
    "CollectiveMismatch",
    "DtypeMismatch",
    "Error",
    "InvalidArgument",
    "KernelError",
    "LaunchError",
    "NotInitialized",
    "NotSymmetric",
    "OutOfMemory",
    "PeDied",
    "PeError",
    "SettingsError",
    "ShapeMismatch",
    "SystemFailure",
    "Timeout",
    "Unsupported",
    "UseAfterFree",
]
