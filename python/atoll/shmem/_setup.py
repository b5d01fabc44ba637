"""The job, as shmem4py sees it: joined at the import, left at exit."""

from __future__ import annotations

import atexit
import enum
import operator
import os

from .. import _atoll, _job
from .._job import global_exit as global_exit
from .._rc import rc

MAJOR_VERSION: int = 1
MINOR_VERSION: int = 6
VENDOR_STRING: str = "Atoll"

_inits = 0  # counts calls through this module only; other parts of the program may hold the job, too


class THREAD(enum.IntEnum):
    """Levels of thread support. Atoll gives MULTIPLE, whatever is asked for.

    SINGLE: one thread; FUNNELED: only the main thread calls; SERIALIZED: several, never at once; MULTIPLE: any.
    Source: OpenSHMEM 1.6, section 9.2.
    """

    SINGLE = 0
    FUNNELED = 1
    SERIALIZED = 2
    MULTIPLE = 3


THREAD_SINGLE: THREAD = THREAD.SINGLE
THREAD_FUNNELED: THREAD = THREAD.FUNNELED
THREAD_SERIALIZED: THREAD = THREAD.SERIALIZED
THREAD_MULTIPLE: THREAD = THREAD.MULTIPLE


def info_get_version() -> tuple[int, int]:
    """Return OpenSHMEM's version that this follows, as (major, minor). Local; works before init."""
    return MAJOR_VERSION, MINOR_VERSION


def info_get_name() -> str:
    """Return the library's name. Local; works before init."""
    return VENDOR_STRING


def init() -> None:
    """Join the job, as atoll.init(). Collective; calls are counted.

    The import has called it, unless rc.initialize is False. Raises BootstrapError, SettingsError,
    OutOfMemory. Source: OpenSHMEM 1.6, section 9.1 (shmem_init).
    """
    global _inits
    _job.init()
    _inits += 1


def init_thread(requested: THREAD = THREAD_MULTIPLE) -> THREAD:
    """Join the job as init does, and return the level of thread support: MULTIPLE, whatever is requested.

    Raises InvalidArgument if `requested` is not a level. Source: OpenSHMEM 1.6, section 9.2
    (shmem_init_thread).
    """
    if requested not in (0, 1, 2, 3):
        raise _atoll.InvalidArgument(f"init_thread(): requested is {requested!r}; pass one of shmem.THREAD.")
    init()
    return THREAD_MULTIPLE


def query_thread() -> THREAD:
    """Return the level of thread support, MULTIPLE. Local. Source: OpenSHMEM 1.6, section 9.2."""
    return THREAD_MULTIPLE


def finalize() -> None:
    """Leave the job, as atoll.finalize(). Collective; calls are counted, and the last one ends the job.

    It completes all operations and waits for all PEs. Raises NotInitialized. Source: OpenSHMEM 1.6, section
    9.1 (shmem_finalize).
    """
    global _inits
    _job.finalize()
    _inits = max(_inits - 1, 0)


def my_pe() -> int:
    """Return the number of this PE, 0 to n_pes() - 1. Local. Source: OpenSHMEM 1.6, section 9.1."""
    return _atoll.my_pe()


def n_pes() -> int:
    """Return the number of PEs of the job. Local. Source: OpenSHMEM 1.6, section 9.1."""
    return _atoll.n_pes()


def pe_accessible(pe: int) -> bool:
    """Return True if pe is the number of a PE of the job. Local. Source: OpenSHMEM 1.6, section 9.1."""
    return _atoll.pe_accessible(pe)


def pcontrol(level: int = 1) -> None:
    """Do nothing: a profiler would set its level here. Local. Source: OpenSHMEM 1.6, section 10."""
    operator.index(level)


def _read_environment() -> None:
    for name in ("initialize", "threads", "thread_level", "finalize"):
        variable = f"SHMEM4PY_RC_{name.upper()}"
        value = os.environ.get(variable, "").lower()
        if not value:
            continue
        if name == "thread_level":
            rc.thread_level = value
        elif value in ("true", "yes", "on", "y", "1"):
            setattr(rc, name, True)
        elif value in ("false", "no", "off", "n", "0"):
            setattr(rc, name, False)
        else:
            raise _atoll.SettingsError(f"{variable} is {value!r}; set it to true or false.")


def _requested_level() -> THREAD:
    try:
        return THREAD[rc.thread_level.upper()]
    except (AttributeError, KeyError):
        raise _atoll.SettingsError(
            f"rc.thread_level is {rc.thread_level!r}; it is one of 'multiple', 'serialized', 'funneled', 'single'."
        ) from None


def _leave() -> None:
    """Leave the job at exit. A PE that failed, or was notified of another's failure, does not wait for others."""
    if _job._failure is not None:
        return
    try:
        while _inits > 0 and _atoll.is_initialized():
            finalize()
    except _atoll.PeDied:
        if not _atoll._end_reason():
            raise


def start() -> None:
    """Run at the import: join the job as `rc` says."""
    _read_environment()
    if rc.initialize:
        if rc.threads:
            init_thread(_requested_level())
        else:
            init()
        if rc.finalize is None:
            rc.finalize = True
    if rc.finalize:
        atexit.register(_leave)
