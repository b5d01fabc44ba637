"""The settings of atoll.shmem for its import and its exit."""

from __future__ import annotations

import sys
from typing import Any


class Rc:
    """Settings of atoll.shmem, read when it is first imported; shmem4py's `rc`, from here.

    Attributes
    ----------
    initialize
        Join the job at the import (True).
    threads
        Join it by init_thread, with thread_level, instead of by init (False).
    thread_level
        "multiple", "serialized", "funneled" or "single"; Atoll always grants "multiple".
    finalize
        Leave the job when the interpreter ends. None: if the import joined it.

    Notes
    -----
    Set attributes, or call it with keywords: atoll.rc(initialize=False). If set, the variables
    SHMEM4PY_RC_INITIALIZE, _THREADS, _THREAD_LEVEL and _FINALIZE take precedence.
    """

    initialize: bool = True
    threads: bool = False
    thread_level: str = "multiple"
    finalize: bool | None = None

    def __init__(self, **kwargs: Any) -> None:
        self(**kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(self, name):
            raise TypeError(
                f"rc has no setting {name!r}; it has initialize, threads, thread_level, finalize."
            )
        super().__setattr__(name, value)

    def __call__(self, **kwargs: Any) -> None:
        for name in kwargs:
            if not hasattr(self, name):
                raise TypeError(
                    f"rc() got {name!r}; its settings are initialize, threads, thread_level, finalize."
                )
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        return "<atoll.rc>"


Rc.__module__ = "atoll"
rc = Rc()
sys.modules["atoll.rc"] = rc  # type: ignore[assignment]  # for `import atoll.rc`
