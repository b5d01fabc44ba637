"""pdb in the PEs of `atoll run --pdb`. All PEs have the same standard input, so one at a time is in the debugger."""

from __future__ import annotations

import bdb
import contextlib
import fcntl
import os
import pdb
import sys
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import IO, Any

from .. import _atoll

_TURN = "ATOLL_LAUNCH_PDB"  # the file that a PE locks during its turn; set by the launcher
_file = ""  # its path; the variable is removed, since processes that the PE starts are no PEs


class _Lines:
    """Standard input without read-ahead, which would take the lines of other PEs."""

    def readline(self) -> str:
        line = bytearray()
        while not line.endswith(b"\n"):
            byte = os.read(0, 1)
            if not byte:
                break
            line += byte
        return line.decode(errors="replace")


@contextlib.contextmanager
def _turn(has_own_terminal: bool) -> Iterator[None]:
    """Wait for this PE's turn. A lock of a file ends with its process."""
    if has_own_terminal:
        yield
        return
    file = os.open(_file, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)  # a child that was forked at the prompt may have the file open
        os.close(file)


class Debugger(pdb.Pdb):
    """A pdb whose prompt has the PE's number."""

    def __init__(self) -> None:
        self._has_own_terminal = sys.stdin is not None and sys.stdin.isatty()  # a pane of --tmux
        streams: dict[str, IO[str] | _Lines] = {"stdin": _Lines(), "stdout": sys.stdout}
        super().__init__(**({} if self._has_own_terminal else streams))  # type: ignore[arg-type]
        name = f"PE {_atoll.my_pe()}" if _atoll.is_initialized() else "before init"
        self.prompt = f"({name}) "

    def interaction(self, frame: FrameType | None, *rest: Any) -> None:
        """Run the prompt. It waits while the user is at the prompt of another PE."""
        with _turn(self._has_own_terminal):
            # The PE whose debugger was left has ended the job.
            if not (_atoll.is_initialized() and _atoll._end_reason()):
                super().interaction(frame, *rest)


def _breakpoint(*_: object, **__: object) -> None:
    Debugger().set_trace(sys._getframe(1))


def install() -> None:
    """Let breakpoint() and uncaught exceptions of this PE open the debugger."""
    global _file
    _file = os.environ.pop(_TURN)
    previous = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        previous(kind, value, trace)
        if trace is not None and issubclass(kind, Exception) and not issubclass(kind, bdb.BdbQuit):
            debugger = Debugger()
            debugger.reset()
            debugger.interaction(None, trace)

    sys.excepthook = hook
    sys.breakpointhook = _breakpoint
