"""Runs programs by one import of PyTorch: a process has imported it, and forks for each program.

    python preloaded.py SOCKET

Its clients (preloaded_client.py) take the place of the programs. They hand over arguments, environment, folder, open
descriptors and namespaces. An answer has two lines, the program's process and its exit status. A program whose client
has ended is killed. The server ends with its standard input, and all programs with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import _atoll_torch
import torch.distributed  # noqa: F401 (the import that the programs share)

LIMIT_S = 60
MOST_DESCRIPTORS = 250  # in one message
ABOVE_ALL = 500  # programs get descriptors of lower numbers
PR_SET_PDEATHSIG = 1
NAMESPACES = {"net": 0x40000000, "uts": 0x04000000, "mnt": 0x00020000}
libc = ctypes.CDLL(None, use_errno=True)


class Request(NamedTuple):
    """The message of a client, and the descriptors that came with it."""

    said: dict[str, Any]
    descriptors: list[int]


class Running(NamedTuple):
    """A program, a descriptor that tells its end, and the connection of its client."""

    process: int
    end: int
    connection: socket.socket


def receive(connection: socket.socket) -> Request:
    """Return the request of a client."""
    connection.settimeout(LIMIT_S)
    data, descriptors, *_ = socket.recv_fds(connection, 1 << 16, MOST_DESCRIPTORS)
    while not data.endswith(b"\n"):
        more = connection.recv(1 << 16)
        if not more:
            raise EOFError("the client has ended")
        data += more
    return Request(json.loads(data), list(descriptors))


def answer(connection: socket.socket, number: int) -> None:
    """Send a number, unless the client has ended."""
    with contextlib.suppress(OSError):
        connection.sendall(b"%d\n" % number)


class Server:
    """Forks for each client."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._running: set[Running] = set()
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(sys.stdin.fileno(), selectors.EVENT_READ)

    def serve(self) -> Request:
        """Serve until the input ends. Return in each child, with its request."""
        while True:
            for key, _ in self._selector.select():
                if isinstance(key.data, Running):
                    self._go_on(key.data, key.fd == key.data.end)
                elif key.fileobj is self._listener:
                    if request := self._start(self._listener.accept()[0]):
                        return request
                else:
                    os._exit(0)

    def _start(self, connection: socket.socket) -> Request | None:
        request = receive(connection)
        process = os.fork()
        if process == 0:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            connection.close()
            self._close()
            return request
        for descriptor in request.descriptors:
            os.close(descriptor)
        running = Running(process, os.pidfd_open(process), connection)
        self._running.add(running)
        for event in (running.end, connection):
            self._selector.register(event, selectors.EVENT_READ, running)
        answer(connection, process)
        return None

    def _close(self) -> None:
        """Close all in a child: an object that goes later would close a descriptor of the program's."""
        self._selector.close()
        self._listener.close()
        for running in self._running:
            running.connection.close()
            os.close(running.end)

    def _go_on(self, running: Running, has_ended: bool) -> None:
        if running not in self._running:
            return  # the program and its client have ended at once
        if not has_ended:
            self._selector.unregister(running.connection)
            os.kill(running.process, signal.SIGKILL)
            return
        self._running.remove(running)
        answer(running.connection, os.waitstatus_to_exitcode(os.waitpid(running.process, 0)[1]))
        self._selector.unregister(running.end)
        os.close(running.end)
        if running.connection in self._selector.get_map():
            self._selector.unregister(running.connection)
        running.connection.close()


def enter_namespaces(said: dict[str, Any]) -> None:
    """Enter those of the client that are not the server's."""
    own = {kind: str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in NAMESPACES}
    kinds = [kind for kind in NAMESPACES if own[kind] != said["namespaces"][kind]]
    if not kinds:
        return
    client = os.pidfd_open(said["process"])
    if libc.setns(client, sum(NAMESPACES[kind] for kind in kinds)) != 0:
        raise OSError(ctypes.get_errno(), f"the program cannot enter the namespaces {kinds}")
    os.close(client)


def take_descriptors(request: Request) -> None:
    """Have the client's descriptors by their numbers, and no other one."""
    taken = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, ABOVE_ALL) for descriptor in request.descriptors]
    os.closerange(0, ABOVE_ALL)
    for descriptor, number in zip(taken, request.said["descriptors"], strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)


def become(request: Request) -> list[str]:
    """Have everything that a new process would have of the client. Return the arguments."""
    said = request.said
    enter_namespaces(said)
    take_descriptors(request)
    os.setsid()
    os.chdir(said["folder"])
    os.environ.clear()
    os.environ.update(said["environment"])
    sys.executable = said["executable"]
    arguments: list[str] = said["arguments"]
    if arguments[0] == "-u":
        sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
        arguments = arguments[1:]
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(":"))
    _atoll_torch.register()  # the import of PyTorch does this by its environment
    return arguments


def run(program: str, *arguments: str) -> None:
    """Run a file, a text behind -c or a module behind -m, as a new Python does."""
    if program == "-m":
        sys.argv, sys.path[0] = list(arguments), str(Path.cwd())
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        return
    module = sys.modules["__main__"] = ModuleType("__main__")
    if program == "-c":
        text, name, folder, arguments = arguments[0], "<string>", "", arguments[1:]
    else:
        text, name, folder = Path(program).read_text(), program, str(Path(program).resolve().parent)
        module.__file__ = program
    sys.argv, sys.path[0] = [program, *arguments], folder
    exec(compile(text, name, "exec"), vars(module))


def main() -> None:
    """Serve; in each child, run its program."""
    assert len(list(Path("/proc/self/task").iterdir())) == 1, (
        "the import has started threads, which a fork would end"
    )
    assert "atoll" not in sys.modules, "the import has loaded Atoll, which is the programs' part"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen(64)
    print("ready", flush=True)
    gc.freeze()  # collections of children would copy the pages of all objects
    run(*become(Server(listener).serve()))


if __name__ == "__main__":
    main()
