"""Output of the PEs of a pool: whole lines, which begin with the PE's number on request."""

from __future__ import annotations

import codecs
import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

Show = Callable[[int, int, str], None]  # PE (-1: the launcher), 1 or 2 for stdout or stderr, whole lines


class Lines:
    """One stream of a PE, read from a pipe that does not block."""

    def __init__(self, fd: int, show: Show, pe: int, stream: int) -> None:
        self.fd = fd
        self._show, self._pe, self._stream = show, pe, stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._ended = False  # the descriptor may belong to another file

    def read(self) -> bool:
        """Show the whole lines that have arrived. Returns False at the end of the stream."""
        while not self._ended:
            try:
                data = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                return True
            except OSError:
                data = b""
            text = self._rest + self._decoder.decode(data, final=not data)
            end = len(text) if not data else text.rfind("\n") + 1
            self._rest = text[end:]
            if end:
                self._show(self._pe, self._stream, text[:end])
            self._ended = not data
        return False

    def finish(self) -> None:
        """Show all that has been written, also a line without an end."""
        with contextlib.suppress(OSError):
            self.read()
        if self._rest:
            text, self._rest = self._rest, ""
            self._show(self._pe, self._stream, text)


def labelled(pe: int, text: str) -> str:
    """Begin each line with the PE's number, as `atoll run --label` does; end the last one."""
    return "".join(f"[{pe}] {line}\n" for line in text.split("\n")[: -1 if text.endswith("\n") else None])


class Output:
    """The destination of the lines of all PEs: sys.stdout and sys.stderr of the thread that waits for the call.

    Notebooks show what a thread writes in the cell that started the thread. So a thread that waits for a call
    writes the lines itself; only without one does the pool's thread write them.
    """

    def __init__(self, label: bool) -> None:
        self._label = label
        self._lock = threading.Lock()
        self._taken: queue.SimpleQueue[tuple[int, int, str] | None] | None = None

    def show(self, pe: int, stream: int, text: str) -> None:
        """Write lines, or pass them to the thread that waits."""
        with self._lock:
            if self._taken is not None:
                self._taken.put((pe, stream, text))
                return
        self._write(pe, stream, text)

    def wait(self, future: Future[Any]) -> None:
        """Write the lines of all PEs until the future is done."""
        with self._lock:
            mine = self._taken is None
            if mine:
                lines = self._taken = queue.SimpleQueue()
        if not mine:  # another thread waits for another call
            future.exception()
            return
        try:
            future.add_done_callback(lambda _: lines.put(None))
            while (found := lines.get()) is not None:
                self._write(*found)
        finally:
            with self._lock:
                self._taken = None
                while not lines.empty():
                    if (found := lines.get()) is not None:
                        self._write(*found)

    def _write(self, pe: int, stream: int, text: str) -> None:
        target = sys.stdout if stream == 1 else sys.stderr
        with contextlib.suppress(OSError, ValueError):  # it is closed
            target.write(labelled(pe, text) if self._label and pe >= 0 else text)
            target.flush()
