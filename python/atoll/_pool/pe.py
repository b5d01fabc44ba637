"""The program of a PE of atoll.Pool: `main`, with the number of a socket as its argument.

It imports what most calls need, reports that, and joins the job on request. Then it runs one call after another. A call
that fails leaves the PE running.
"""

from __future__ import annotations

import array
import contextlib
import gc
import io
import os
import pickle
import select
import signal
import socket
import struct
import sys
import threading
import time
import types

PE = int(os.environ["ATOLL_LAUNCHED"].split(":")[1])  # init removes the variable

import numpy  # noqa: E402, F401  most calls need it

import atoll  # noqa: E402
from atoll import _atoll  # noqa: E402
from atoll._launching.failures import describe  # noqa: E402
from atoll._launching.wire import PACKET_BYTES, Message, load, pickler, receive, send  # noqa: E402
from atoll._pool.names import Names, dump_result  # noqa: E402
from atoll._pool.task import refused_result  # noqa: E402

STEP = struct.Struct("<q")  # the world team's step, before each answer
NAMES = Names()
_running = False  # a call of the program runs: an interrupt is for it


def connect(fd: int) -> socket.socket:
    """Send this PE's end of its own connection, and its output, through the socket that all PEs share."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fds = [theirs.fileno()]
    for number in (1, 2):
        reads, writes = os.pipe2(os.O_CLOEXEC)
        os.dup2(writes, number)
        os.close(writes)
        fds.append(reads)
    shared = socket.socket(fileno=fd)
    hello = struct.pack("<ii", PE, os.getpid())
    shared.sendmsg([hello], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    shared.close()
    theirs.close()
    for pipe in fds[1:]:
        os.close(pipe)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * PACKET_BYTES)
    return ours


def _interrupt(*_: object) -> None:
    if _running:
        raise KeyboardInterrupt


def _watch(fd: int) -> None:
    """End this process a while after the pool's process has ended, even in the middle of a call."""
    poll = select.poll()
    poll.register(fd, select.POLLRDHUP)
    while not poll.poll():
        pass
    time.sleep(2)
    os._exit(1)


def join() -> None:
    """Enter the job as if new: leave it first if a collective has failed there. The pool has stopped all PEs."""
    while atoll.is_initialized():
        _atoll._meet_elsewhere()
        _atoll._will_rejoin()
        atoll.finalize()
    gc.collect()
    atoll.init()


def call(packet: memoryview, fds: list[int]) -> tuple[bytes, Message]:
    """Run one call of the program; return the kind of the answer, and the answer."""
    global _running
    _atoll._ignored("")  # errors of earlier calls explain nothing of this one
    try:
        _running = True
        NAMES.check()
        fn, args, kwargs = load(packet, fds, shared=False)
        result = fn(*args, **kwargs)
        _running = False
        try:
            return b"r", Message(result, dump_result)
        except Exception as error:
            raise refused_result(PE, result, error) from None
    except BaseException as error:
        _running = False
        return b"e", Message(describe(error))
    finally:
        _running = False


def answer(sock: socket.socket, kind: bytes, message: Message) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    for report in NAMES.reports():
        send(sock, b"o", pickle.dumps(report))
    send(sock, kind, STEP.pack(_atoll._step()) + message.packet, message.fd)
    message.close()


def serve(sock: socket.socket) -> None:
    """Answer calls until the pool closes the connection or asks this PE to end."""
    while True:
        kind, packet, fds = receive(sock)
        if kind in (b"", b"q"):
            return
        if kind == b"v":
            NAMES.take(packet, fds)
            continue
        try:
            if kind == b"j":
                join()
                found = b"r", Message(None)
            else:
                found = call(packet, fds)
        except BaseException as error:
            found = b"e", Message(describe(error))
        answer(sock, *found)


def main() -> None:
    sock = connect(int(sys.argv[1]))
    sys.path[:] = pickle.loads(receive(sock)[1])
    main_module = types.ModuleType("__main__")
    main_module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main_module  # the program's own, empty
    pickler()  # imported before the first call
    signal.signal(signal.SIGINT, _interrupt)
    threading.Thread(target=_watch, args=(sock.fileno(),), name="atoll-pool", daemon=True).start()
    send(sock, b"h")
    serve(sock)
    sys.stdout.flush()
    if atoll.is_initialized() and _atoll._step() >= 0:
        with contextlib.suppress(_atoll.Error):
            atoll.finalize()
