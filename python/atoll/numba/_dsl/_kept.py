"""Compiled kernels that are kept on disk (`cache=True`): one compilation serves the PEs of a host and later runs."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..._kernels.fingerprints import fingerprint

PATIENCE = 120.0
"""Seconds that a PE waits for another one's compilation. Then it compiles too."""

_compiling = threading.local()


def of_this_atoll(dispatcher: Any) -> Any:
    """Return the dispatcher, changed so that it does not load kernels that another Atoll has cached."""
    cache = dispatcher._cache
    if hasattr(cache, "_index_key"):
        key = cache._index_key
        cache._index_key = lambda *arguments: (*key(*arguments), fingerprint("numba"))
    return dispatcher


def compiled_once(dispatcher: Any) -> Any:
    """Return the dispatcher, changed so that one process at a time compiles its function.

    All PEs start a kernel at about the same time. The first one compiles and keeps it, and the others load it. Numba's
    index of kept functions also loses an entry when two processes write it at once.
    """
    cache, compile_one = dispatcher._cache, dispatcher.compile
    if not hasattr(cache, "_index_key"):
        return dispatcher

    @functools.wraps(compile_one)
    def compile_alone(signature: Any) -> Any:
        with _alone(Path(cache._cache_file._index_path).with_suffix(".lock")):
            return compile_one(signature)

    dispatcher.compile = compile_alone
    return dispatcher


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a file's lock. The system releases it if this process dies. Without such a file or lock: do nothing."""
    if getattr(_compiling, "now", False):  # a function that calls itself, or compiles another one
        yield
        return
    _compiling.now = True
    try:
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(
                OSError
            ):  # a folder that is read-only or gone, a file system without locks
                path.parent.mkdir(parents=True, exist_ok=True)
                _lock(stack.enter_context(path.open("ab")))
            yield
    finally:
        _compiling.now = False


def _lock(file: Any) -> None:
    """Wait for the file's lock, at most PATIENCE: its holder may be stopped."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return
            time.sleep(0.02)
        else:
            return
