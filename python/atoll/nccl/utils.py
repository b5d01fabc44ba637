"""Unique ids, versions and texts of errors."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import _atoll, _job
from ._errors import NcclInvalid, Result, translated

__all__ = [
    "LibraryInfo",
    "UniqueId",
    "VersionInfo",
    "get_error_string",
    "get_unique_id",
    "get_version",
    "show_versions",
]

VERSION = "0.6.0"
"""The version of NCCL4Py that these modules follow."""
NCCL_VERSION = "2.31.0"
_BYTES = 128


class UniqueId:
    """An identifier of a communicator, of 128 bytes, which programs send to all ranks."""

    def __init__(self, _internal: Any = None) -> None:
        self._data = np.zeros(_BYTES, np.uint8)
        if _internal is not None:
            self._data[:] = np.frombuffer(bytes(_internal), np.uint8)

    def __repr__(self) -> str:
        data = bytes(self)
        return f"<UniqueId: {data[:8].hex()}...{data[-8:].hex()}>"

    def __bytes__(self) -> bytes:
        return self._data.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UniqueId) and bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __getstate__(self) -> bytes:
        return bytes(self)

    def __setstate__(self, state: bytes) -> None:
        self._data = np.frombuffer(state, np.uint8).copy()

    @staticmethod
    def from_bytes(b: bytes | bytearray | memoryview) -> UniqueId:
        """Return the identifier of 128 bytes. Raises NcclInvalid for another number."""
        data = bytes(b)
        if len(data) != _BYTES:
            raise NcclInvalid(
                f"nccl.core: UniqueId.from_bytes: {len(data)} bytes were passed; pass the {_BYTES} of bytes(uid)."
            )
        return UniqueId(data)

    @property
    def ptr(self) -> int:
        """The address of the bytes."""
        return int(self._data.ctypes.data)

    @property
    def as_ndarray(self) -> Any:
        """The bytes as an array, into which a program may receive."""
        return self._data

    @property
    def as_bytes(self) -> bytes:
        """A copy of the bytes."""
        return bytes(self)


@translated
def get_unique_id(empty: bool = False) -> UniqueId:
    """Return an identifier for a communicator. Local. One rank makes it, and sends it to the others.

    `empty=True` returns one of zeros, into whose `as_ndarray` the bytes are received.
    """
    made = UniqueId()
    if not empty:
        text = _atoll.get_unique_id().encode()
        made._data[: len(text)] = np.frombuffer(text, np.uint8)
    return made


@dataclass(frozen=True, order=True)
class PlainVersion:
    """A version in parts, where the package `packaging` is missing."""

    release: tuple[int, ...]

    def __str__(self) -> str:
        return ".".join(map(str, self.release))

    @property
    def major(self) -> int:
        """The first part."""
        return self.release[0]

    @property
    def minor(self) -> int:
        """The second part."""
        return self.release[1]

    @property
    def micro(self) -> int:
        """The third part."""
        return self.release[2]


def _version(text: str) -> Any:
    try:
        return importlib.import_module("packaging.version").Version(text)
    except ImportError:
        return PlainVersion(tuple(map(int, text.split("."))))


@dataclass(frozen=True)
class LibraryInfo:
    """The library that implements the calls: its version and path."""

    version: Any
    cuda_variant: Any
    path: Path | None

    def __str__(self) -> str:
        return f"{self.version} (Atoll {_job.version()})"


@dataclass(frozen=True)
class VersionInfo:
    """The versions that this follows."""

    nccl4py: Any
    nccl_bindings: Any
    libnccl: LibraryInfo | None


def get_version() -> VersionInfo:
    """Return the versions of NCCL4Py and NCCL that this follows. Local. `libnccl.path` is the module of Atoll."""
    there = LibraryInfo(_version(NCCL_VERSION), None, Path(_atoll.__file__ or ""))
    return VersionInfo(_version(VERSION), _version(VERSION), there)


def show_versions() -> None:
    """Print the versions."""
    found = get_version()
    print(f"nccl4py: {found.nccl4py}\nnccl bindings: {found.nccl_bindings}\nlibnccl: {found.libnccl}")


_TEXTS = {
    Result.Success: "no error",
    Result.UnhandledCudaError: "a call of CUDA failed",
    Result.SystemError: "a call of the system failed, or memory ran out",
    Result.InternalError: "an error within the library",
    Result.InvalidArgument: "an argument is wrong",
    Result.InvalidUsage: "a call is wrong here",
    Result.RemoteError: "another rank ended, or did not come in time",
    Result.InProgress: "the operation is in progress",
}


def get_error_string(nccl_result: Any) -> str:
    """Return the meaning of a result as a text. Local."""
    try:
        return _TEXTS[Result(int(nccl_result))]
    except ValueError:
        return f"unknown result {nccl_result}"
