"""A PE that runs one program after another, for tests: kept.py sends the programs through a socket.

Between programs the job is finalized, so that each finds its own heap, teams and settings. A program that
fails ends this process, and the job with it, since its PEs may be anywhere.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PE = int(os.environ["ATOLL_LAUNCHED"].split(":")[1])  # init removes the variable

import atoll  # noqa: E402  what most programs import is here before the first of them
import numpy  # noqa: E402

FOLDERS_OF_LIBRARIES = (
    sys.prefix,
    sys.base_prefix,
    str(Path(atoll.__file__).parent),
    str(Path(os.__file__).parent),
)
SIGNALS = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


@contextmanager
def streams_into(out: str, err: str) -> Iterator[None]:
    """Redirect descriptors 1 and 2 to files, also for output from below Python."""
    kept = [os.dup(1), os.dup(2)]
    try:
        for fd, path in ((1, out), (2, err)):
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(file, fd)
            os.close(file)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for fd, old in zip((1, 2), kept, strict=True):
            os.dup2(old, fd)
            os.close(old)


@contextmanager
def surroundings(program: str, arguments: list[str], changes: dict[str, str]) -> Iterator[types.ModuleType]:
    """Yield a module named __main__; afterwards restore everything around it that a program may change."""
    environment, argv, path, folder = dict(os.environ), sys.argv, list(sys.path), Path.cwd()
    modules, main = set(sys.modules), sys.modules["__main__"]
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    hooks = sys.excepthook, threading.excepthook
    errors, random = numpy.geterr(), numpy.random.get_state()  # noqa: NPY002
    os.environ.update(changes)
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).parent))
    module = types.ModuleType("__main__")
    module.__file__ = program
    sys.modules["__main__"] = module
    try:
        with warnings.catch_warnings():
            yield module
    finally:
        module.__dict__.clear()
        sys.modules["__main__"] = main
        for name in set(sys.modules) - modules:
            place = getattr(sys.modules[name], "__file__", None)
            if place is None or not place.startswith(FOLDERS_OF_LIBRARIES):
                del sys.modules[name]  # it belongs to the program, and may have read its environment
        for name in [name for name in sys.modules if name.split(".")[:2] == ["atoll", "shmem"]]:
            del sys.modules[name]  # its first import calls init
        vars(atoll).pop("shmem", None)
        sys.excepthook, threading.excepthook = hooks
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        numpy.seterr(**errors)
        numpy.random.set_state(random)  # noqa: NPY002
        os.chdir(folder)
        sys.argv, sys.path[:] = argv, path
        os.environ.clear()
        os.environ.update(environment)


def run(request: dict[str, Any]) -> int:
    """Run one program to its end; return the exit status that a separate process would have had."""
    program = request["program"]
    with surroundings(program, request["arguments"], request["environment"]) as module:
        try:
            exec(compile(Path(program).read_text(), program, "exec"), module.__dict__)
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
                return 1
            return end.code or 0
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
        end_job()
    return 0


def end_job() -> None:
    """Do what the end of a process does: finalize as often as the program called init."""
    while atoll.is_initialized():
        atoll.finalize()
    gc.collect()


def left() -> list[str]:
    """Name what a program must not leave to the next one."""
    found = []
    if atoll.is_initialized():
        found.append("a job that is not finalized")
    others = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    found += [f"the thread {name}" for name in others if "atoll" not in name]
    gc.collect()
    maps = Path("/proc/self/maps").read_text()
    found += [f"{maps.count(name)} mappings of {name}" for name in ("memfd:atoll-heap",) if name in maps]
    return found


def main() -> None:
    """Serve until the other side closes."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    stream = connection.makefile("rw")

    def say(**what: Any) -> None:
        stream.write(json.dumps(what) + "\n")
        stream.flush()

    gc.collect()
    gc.freeze()  # so that the collections after each program do not visit the objects of these modules
    say(pe=PE)
    for line in stream:
        request = json.loads(line)
        with streams_into(request["out"], request["err"]):
            status = run(request)
        if status != 0:
            say(status=status, left=[])
            sys.stdout.flush()
            os._exit(1)
        say(status=0, left=left())


main()
