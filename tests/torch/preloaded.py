"""Runs programs by one import of PyTorch: a process has imported it, and forks for each program.

Requests are lines of JSON on standard input, answers lines on standard output:

    {"program": FILE or TEXT, "arguments": [...], "environment": {...}, "out": FILE, "err": FILE}  ->  its process
    PROCESS  ->  the exit status of this process, once it has ended

A program has its own environment, files and module __main__, and its process ends as any process of Python.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch.distributed  # noqa: F401 (the import that the programs share)


def redirect(descriptor: int, name: str, flags: int) -> None:
    """Let a descriptor be that of a file."""
    opened = os.open(name, flags, 0o600)
    os.dup2(opened, descriptor)
    os.close(opened)


def serve() -> dict[str, Any]:
    """Answer requests until the input ends. Return in each child, with its request."""
    gc.freeze()  # collections of children would copy the pages of all objects
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            answer = os.waitstatus_to_exitcode(os.waitpid(request, 0)[1])
        else:
            answer = os.fork()
            if answer == 0:
                return request
        print(answer, flush=True)
    os._exit(0)


def main() -> None:
    """Serve; in each child, run the program like a new Python."""
    request = serve()
    redirect(0, os.devnull, os.O_RDONLY)
    redirect(1, request["out"], os.O_WRONLY | os.O_CREAT)
    redirect(2, request["err"], os.O_WRONLY | os.O_CREAT)
    os.environ.clear()
    os.environ.update(request["environment"])
    program, name, text, folder = request["program"], "-c", request["program"], ""
    module = sys.modules["__main__"] = ModuleType("__main__")
    if program.endswith(".py"):
        name = module.__file__ = program
        text, folder = Path(program).read_text(), str(Path(program).parent)
    sys.path[:2] = [folder]  # one_import.py has put its own folder before that of Python's option -c
    sys.argv = [name, *request["arguments"]]
    exec(compile(text, name, "exec"), vars(module))
