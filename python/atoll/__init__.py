"""Atoll: one symmetric memory for all processes of a job.

A job is n processes, called PEs. Arrays made by atoll.zeros() and its kin stand at the same place on every PE, so
that each can put to, get from, atomically update, signal and wait on any other's, without that PE's help:

    # atoll run -n 4 ring.py
    import atoll, numpy as np

    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    x = atoll.zeros(8)                                       # a plain numpy.ndarray, on every PE
    atoll.put(x, np.full(8, float(me)), (me + 1) % n)        # into the next PE's x
    atoll.barrier_all()
    print(me, x[0])

help(atoll.put) and so on tell everything about a function. In a notebook: atoll.launch(function, n_pes=4).
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

# The names on both sides of `as` are alike so that type checkers take them as ours to give.
from . import _atoll as _atoll  # first: it says so where it cannot be used
from ._arrays import array as array
from ._arrays import empty as empty
from ._arrays import empty_like as empty_like
from ._arrays import full as full
from ._arrays import full_like as full_like
from ._arrays import ones as ones
from ._arrays import ones_like as ones_like
from ._arrays import signal as signal
from ._arrays import zeros as zeros
from ._arrays import zeros_like as zeros_like
from ._atoll import *  # noqa: F403
from ._job import abort as abort
from ._job import finalize as finalize
from ._job import global_exit as global_exit
from ._job import info as info
from ._job import init as init
from ._job import version as version
from ._objects import bcast_object as bcast_object
from ._objects import gather_object as gather_object
from ._rc import rc as rc

if _TYPE_CHECKING:
    from ._launch import LaunchError as LaunchError
    from ._launch import launch as launch

__version__ = version()


def __getattr__(name: str) -> object:
    # Loaded when first used: what launch needs of the standard library takes longer to load than all of Atoll.
    if name in ("launch", "LaunchError"):
        from . import _launch

        globals().update(launch=_launch.launch, LaunchError=_launch.LaunchError)
        return globals()[name]
    raise AttributeError(f"module 'atoll' has no attribute {name!r}")
