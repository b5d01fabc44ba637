"""Takes the place of a program that preloaded.py runs: passes signals on, and ends as the program does.

    python ARGUMENTS OF PYTHON...

A copy of this file has that name. Beside it are the socket of the server, and `real`: the path of the Python for
arguments that the server does not know.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PASSED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


def is_known(arguments: list[str]) -> bool:
    """Return true for the arguments that the server understands."""
    first = [argument for argument in arguments if argument != "-u"][:1]
    return first in (["-c"], ["-m"]) or (bool(first) and not first[0].startswith("-"))


def inherited() -> list[int]:
    """Return the descriptors that a new program would have."""
    found = []
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # that of the list itself is closed
            if os.get_inheritable(int(path.name)):
                found.append(int(path.name))
    return found


def ask(connection: socket.socket) -> None:
    """Send all that makes the program."""
    descriptors = inherited()
    request = {
        "process": os.getpid(),
        "executable": str(FOLDER / "python"),
        "arguments": sys.argv[1:],
        "environment": dict(os.environ),
        "folder": str(Path.cwd()),
        "descriptors": descriptors,
        "namespaces": {kind: str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in ("net", "uts", "mnt")},
    }
    data = json.dumps(request).encode() + b"\n"
    sent = socket.send_fds(connection, [data], descriptors)
    connection.sendall(data[sent:])


def main() -> None:
    """Have the program run, and end like it."""
    if not is_known(sys.argv[1:]):
        python = (FOLDER / "real").read_text()
        os.execv(python, [python, *sys.argv[1:]])
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(FOLDER / "socket"))
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED)
    ask(connection)
    answers = connection.makefile()
    process = int(answers.readline())
    for number in PASSED:
        signal.signal(number, lambda number, _: os.kill(process, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED)
    status = int(answers.readline())
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


main()
