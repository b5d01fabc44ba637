"""Messages between a pool and its PEs: one packet each, with large data beside it in shared memory.

A value is pickled by protocol 5. Arrays of 64 KiB and more are not pickled: they are copied once into a memory
file, which the receiver maps. So the receiver's array is that memory, and no second copy is made.
"""

from __future__ import annotations

import array
import io
import mmap
import os
import pickle
import socket
import types
from collections import ChainMap
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any, ClassVar

INLINE_BYTES = 32 << 10  # the most that one packet carries
APART_BYTES = 64 << 10  # arrays from this size on go beside the pickle
PACKET_BYTES = INLINE_BYTES + 4096
_ALIGNMENT = 4096
_INLINE, _BESIDE = b"\0", b"\1"


def pickler() -> Callable[..., bytes]:
    """Return cloudpickle.dumps if cloudpickle is installed, else pickle.dumps."""
    made = pickler_class()
    return pickle.dumps if made is None else partial(dump_with, made)


def pickler_class() -> Any:
    """Return a subclass of cloudpickle's Pickler; None if cloudpickle is not installed.

    Code keeps the name of its file, for tracebacks and reports. cloudpickle replaces it so that equal functions have
    equal bytes. A version without this table is used as it is.
    """
    try:
        cloudpickle = import_module("cloudpickle")
    except ImportError:
        return None
    return _class_with_files(cloudpickle)


@cache
def _class_with_files(cloudpickle: Any) -> Any:
    reduce_code = getattr(cloudpickle.Pickler, "dispatch_table", {}).get(types.CodeType)
    if reduce_code is None:
        return cloudpickle.Pickler

    def reduce_with_file(code: types.CodeType) -> tuple[Any, ...]:
        make, parts, *others = reduce_code(code)
        named = tuple(code.co_filename if part == "<dynamic-code>" else part for part in parts)
        return make, named, *others

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        dispatch_table: ClassVar[Any] = ChainMap(
            {types.CodeType: reduce_with_file}, cloudpickle.Pickler.dispatch_table
        )

    return Pickler


def dump_with(
    make: Callable[..., Any], value: object, protocol: int | None = None, buffer_callback: Any = None
) -> bytes:
    """Return the bytes that a Pickler of this class makes."""
    with io.BytesIO() as file:
        make(file, protocol=protocol, buffer_callback=buffer_callback).dump(value)
        return file.getvalue()


def _needs_cloudpickle(value: object) -> bool:
    """Return True for functions and classes that another process cannot import."""
    if isinstance(value, tuple):
        return any(map(_needs_cloudpickle, value))
    in_main = getattr(value, "__module__", None) == "__main__"
    return callable(value) and (in_main or "<" in getattr(value, "__qualname__", ""))


def dumps(value: object, **options: Any) -> bytes:
    """Pickle so that any process can load it: functions and classes that no module offers by value.

    Raises ImportError if that needs cloudpickle, and it is not installed.
    """
    dump = pickler()
    if dump is not pickle.dumps:
        return dump(value, **options)
    try:
        if _needs_cloudpickle(value):
            raise pickle.PicklingError("it is a function of __main__, a lambda or a closure")
        return dump(value, **options)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ImportError(
            f"A function or value cannot be sent to another process by pickle ({error}). Functions of __main__, "
            "lambdas and closures are sent by cloudpickle, which is not installed: pip install cloudpickle. "
            "Or move the function into a module."
        ) from None


def encoded(value: object, dump: Callable[..., bytes] = dumps) -> tuple[bytes, list[pickle.PickleBuffer]]:
    """Return the pickled value without its large arrays, and those."""
    apart: list[pickle.PickleBuffer] = []

    def goes_inside(buffer: pickle.PickleBuffer) -> bool:
        if buffer.raw().nbytes < APART_BYTES:
            return True
        apart.append(buffer)
        return False

    return dump(value, protocol=5, buffer_callback=goes_inside), apart


class Message:
    """An encoded value: the bytes of its packet, and the file beside it or -1. Close it after sending."""

    def __init__(self, value: object, dump: Callable[..., bytes] = dumps) -> None:
        self._encode(*encoded(value, dump))

    @classmethod
    def of(cls, data: bytes, apart: list[pickle.PickleBuffer]) -> Message:
        """Return the message with what `encoded` returned."""
        made = cls.__new__(cls)
        made._encode(data, apart)
        return made

    def _encode(self, data: bytes, apart: list[pickle.PickleBuffer]) -> None:
        self.fd = -1
        if not apart and len(data) <= INLINE_BYTES:
            self.packet = _INLINE + data
            return
        parts = [memoryview(data), *(buffer.raw() for buffer in apart)]
        extents, end = [], 0
        for part in parts:
            extents.append((end, part.nbytes))
            end += -(-part.nbytes // _ALIGNMENT) * _ALIGNMENT
        self.fd = os.memfd_create("atoll-message", os.MFD_CLOEXEC)
        try:
            os.ftruncate(self.fd, max(end, 1))
            for (start, _), part in zip(extents, parts, strict=True):
                _write(self.fd, part, start)
        except BaseException:
            self.close()
            raise
        self.packet = _BESIDE + pickle.dumps(extents)

    def arrays(self) -> list[memoryview]:
        """Return the large arrays of the file, read-only, which live on after `close`."""
        if self.fd < 0:
            return []
        memory = memoryview(mmap.mmap(self.fd, 0, access=mmap.ACCESS_READ))
        extents = pickle.loads(self.packet[1:])[1:]
        return [memory[start : start + length] for start, length in extents]

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def _write(fd: int, part: memoryview, at: int) -> None:
    while part.nbytes:
        written = os.pwrite(fd, part[: 1 << 30], at)
        part, at = part[written:], at + written


def load(packet: memoryview, fds: list[int], shared: bool) -> Any:
    """Return the value of a packet. Large arrays are mappings of its file, which is closed.

    shared: this process is the only receiver, so it writes to the file's own pages. Else pages are copied when
    they are written.
    """
    if packet[:1] == _INLINE:
        return pickle.loads(packet[1:])
    extents = pickle.loads(packet[1:])
    try:
        size = os.fstat(fds[0]).st_size
        memory = mmap.mmap(fds[0], size, flags=mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE)
    finally:
        close_all(fds)
    whole = memoryview(memory)
    parts = [whole[start : start + length] for start, length in extents]
    return pickle.loads(parts[0], buffers=parts[1:])


def close_all(fds: list[int]) -> None:
    while fds:
        os.close(fds.pop())


def send(sock: socket.socket, kind: bytes, packet: bytes = b"", fd: int = -1) -> None:
    """Send one packet, whose first byte is its kind, and a file beside it unless fd is -1."""
    files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd >= 0 else []
    sock.sendmsg([kind, packet], files)


def receive(sock: socket.socket) -> tuple[bytes, memoryview, list[int]]:
    """Return kind, rest and files of the next packet; an empty kind after the other side has closed."""
    data, fds, _, _ = socket.recv_fds(sock, PACKET_BYTES, 4, socket.MSG_CMSG_CLOEXEC)
    return data[:1], memoryview(data)[1:], list(fds)
