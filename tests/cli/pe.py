"""A PE without the library, which uses src/bootstrap/launcher/launch_protocol.hpp and the job board directly.

So the launcher is tested against its contract, also by acts that the library would never do.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import signal
import socket
import struct
import time
from pathlib import Path

LAYOUT = json.loads(os.environ["ATOLL_TEST_BOARD"])  # from `atoll info --json`, by conftest.py
ABORT, ABORT_TEXT, EXITED, LEFT = (LAYOUT[name] for name in ("abort", "abort_text", "exited", "left"))
ENTRY = LAYOUT["entry"]
ABSENT, RUNNING, FINALIZED, LEFT_STATE, DIED = range(5)

_, number, count, _socket, _board, _heap = map(int, os.environ["ATOLL_LAUNCHED"].split(":"))
launcher = socket.socket(fileno=_socket)
board = mmap.mmap(_board, 0)
heap = _heap


def say(text: object) -> None:
    """Print a line at once, by one write."""
    os.write(1, f"{text}\n".encode())


def read_word(offset: int) -> int:
    return struct.unpack_from("<I", board, offset)[0]


def place(field: str, of: int) -> int:
    return LAYOUT["header_bytes"] + LAYOUT["entry_bytes"] * of + ENTRY[field]


def write_word(field: str, value: int) -> None:
    struct.pack_into("<I", board, place(field, number), value)


def state(of: int) -> int:
    return read_word(place("state", of))


def hello() -> None:
    ours, theirs = socket.socketpair()
    socket.send_fds(launcher, [b"H"], [theirs.fileno()])
    theirs.close()
    fd = ours.detach()  # open until the process ends, which is long after sys.exit
    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
    write_word("state", RUNNING)


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
    write_word("state", FINALIZED)


def abort(status: int, text: str) -> None:
    launcher.send(b"A" + str(status).encode() + b"\0" + text.encode())


def write_abort(text: str) -> None:
    """Write this PE's error to the board, as the library does before it sends the packet."""
    board[ABORT_TEXT : ABORT_TEXT + len(text) + 1] = text.encode() + b"\0"
    struct.pack_into("<Iii", board, ABORT, 1, number, 1)


def publish_process() -> None:
    """Write the process, as `init` does, so that the launcher reads its state."""
    write_word("pid", os.getpid())
    struct.pack_into("<Q", board, place("pid_namespace", number), Path("/proc/self/ns/pid").stat().st_ino)


def publish_wait(operation: str, peer: int = -1) -> None:
    struct.pack_into("<40s", board, place("operation", number), operation.encode())
    struct.pack_into("<i", board, place("peer", number), peer)
    struct.pack_into("<Q", board, place("since_ns", number), time.monotonic_ns())
    write_word("active", 1)


def wait_for_abort() -> str:
    """Wait until the job is aborted, like a PE that waits in the library. Return the reason."""
    while not read_word(ABORT):
        time.sleep(0.001)
    return board[ABORT_TEXT : ABORT_TEXT + 256].split(b"\0")[0].decode()
