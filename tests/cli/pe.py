"""A PE without the library: speaks src/bootstrap/launch_protocol.hpp and writes on the job board.

So the launcher is tested against its contract, and does what no well-behaved library would do.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import signal
import socket
import struct
import time

HEADER_BYTES, ENTRY_BYTES = 448, 128  # BoardHeader and BoardEntry of src/common/board.hpp
ABORT, ABORT_TEXT, GONE, LEFT = 64, 76, 384, 388
STATE, WAITS, SEQUENCE, ACTIVE, OPERATION, PEER, SINCE = 0, 8, 16, 20, 24, 68, 104
ABSENT, RUNNING, FINALIZED, LEFT_STATE, DIED = range(5)

_, number, count, _socket, _board, _heap = map(int, os.environ["ATOLL_LAUNCHED"].split(":"))
launcher = socket.socket(fileno=_socket)
board = mmap.mmap(_board, 0)
heap = _heap
lifeline: socket.socket | None = None


def say(text: object) -> None:
    """A line in one piece, at once."""
    os.write(1, f"{text}\n".encode())


def read_word(offset: int) -> int:
    return struct.unpack_from("<I", board, offset)[0]


def write_word(field: int, value: int) -> None:
    struct.pack_into("<I", board, HEADER_BYTES + ENTRY_BYTES * number + field, value)


def state(of: int) -> int:
    return read_word(HEADER_BYTES + ENTRY_BYTES * of + STATE)


def hello() -> None:
    global lifeline
    lifeline, theirs = socket.socketpair()
    socket.send_fds(launcher, [b"H"], [theirs.fileno()])
    theirs.close()
    fd = lifeline.fileno()
    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
    write_word(STATE, RUNNING)


def put(key: str, value: bytes) -> None:
    launcher.send(b"P" + key.encode() + b"\0" + value)


def ask(key: str) -> None:
    launcher.send(b"G" + key.encode())


def answer() -> bytes:
    packet = launcher.recv(1 << 17)
    assert packet[:1] == b"V", packet
    return packet[1:]


def get(key: str) -> bytes:
    ask(key)
    return answer()


def fence() -> None:
    launcher.send(b"F")
    assert launcher.recv(16) == b"F"


def finalize() -> None:
    launcher.send(b"Bf")
    write_word(STATE, FINALIZED)


def abort(status: int, text: str) -> None:
    launcher.send(b"A" + str(status).encode() + b"\0" + text.encode())


def publish_wait(operation: str, peer: int = -1) -> None:
    base = HEADER_BYTES + ENTRY_BYTES * number
    struct.pack_into("<40s", board, base + OPERATION, operation.encode())
    struct.pack_into("<i", board, base + PEER, peer)
    struct.pack_into("<Q", board, base + SINCE, time.monotonic_ns())
    write_word(ACTIVE, 1)


def wait_for_abort() -> str:
    """As a PE that waits in the library does."""
    while not read_word(ABORT):
        time.sleep(0.001)
    return board[ABORT_TEXT : ABORT_TEXT + 256].split(b"\0")[0].decode()
