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

help(atoll.put) and so on tell everything about a function. All of them, by topic:

Job          init finalize is_initialized get_unique_id abort global_exit info version rc; my_pe n_pes.
             launch (run a function in new PEs, in a notebook too), LaunchError.
Arrays       (device="cuda", xp=cupy or torch: on this PE's GPU; DeviceArray) empty zeros ones full array, empty_like zeros_like ones_like full_like, signal (words), free. register (what another library allocated on the GPU).
             pin: what kernels read of the host. is_symmetric pe_accessible addr_accessible; peer and global_view: other PEs' copies as arrays.
Moves        put get, put_nbi get_nbi (done after quiet), p g (one element); strided: iput iget ibput ibget;
             irregular: take put_at add_at; messages: send recv, group (pairs them), Mailbox.
Atomics      atomic_set, and likewise fetch add inc and or xor swap compare_swap, fetch_add fetch_inc fetch_and
             fetch_or fetch_xor; with _nbi behind it the value before comes into an array.
Signals      put_signal put_signal_nbi signal_set signal_add signal_fetch signal_wait_until
             signal_consume. On arrays of a GPU these and all others take stream=.
Waits        wait_until test, for many words with _all _any _some, and _vector for a value each.
Order        fence (puts to one PE) quiet pe_quiet (completed), barrier_all barrier, sync_all sync.
Groups       Team, WORLD, SHARED, HOST, RAIL; split with WORLD.split(color). Context: operations that complete by themselves.
Collectives  broadcast collect fcollect gather scatter alltoall alltoalls; of Python objects: bcast_object
             gather_object allgather_object scatter_object alltoall_object reduce_object;
             sum_ prod_ min_ max_ avg_ and_ or_ xor_reduce, reduce (any operator, one root), reduce_scatter,
             premul_sum_reduce premul_sum_reduce_scatter, sum_inscan sum_exscan.
Locks        Lock. C++: include_dir (headers). PyTorch: the module atoll.torch. Kernels: check_kernels.
Values       Compare (EQ NE GT GE LT LE), ReduceOp (SUM PROD MIN MAX AVG AND OR XOR), SignalOp (SIGNAL_SET SIGNAL_ADD).
Errors       Error and its kinds: NotInitialized PeError NotSymmetric ShapeMismatch DtypeMismatch UseAfterFree
             CollectiveMismatch Timeout PeDied OutOfMemory Unsupported InvalidArgument SettingsError
             BootstrapError SystemFailure KernelError.

ATOLL_CHECK in the environment sets what is checked: none, basic (bounds of symmetric memory), args (the default: blocks and
freed memory too) or all. Collectives that the PEs of a team call differently (which call, how many bytes, dtype, root; of
reductions the operator, too) raise CollectiveMismatch on all of them, unless it is none; making arrays and teams always
compares. ATOLL_CHECK=all compares calls before anything is moved.
`from atoll import shmem` is the interface of shmem4py.
"""

# ruff: noqa: F405
import os as _os
import typing as _typing
from functools import partial as _partial

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
from ._include import include_dir as include_dir
from ._job import abort as abort
from ._job import finalize as finalize
from ._job import global_exit as global_exit
from ._job import info as info
from ._job import init as init
from ._job import version as version
from ._objects import allgather_object as allgather_object
from ._objects import alltoall_object as alltoall_object
from ._objects import bcast_object as bcast_object
from ._objects import gather_object as gather_object
from ._objects import reduce_object as reduce_object
from ._objects import scatter_object as scatter_object
from ._rc import rc as rc

if _typing.TYPE_CHECKING:
    from ._launch import LaunchError as LaunchError
    from ._launch import launch as launch

__version__ = version()

if _os.environ.get("ATOLL_NVTX", "0").lower() in ("1", "yes", "true", "on"):
    from . import _nvtx

    globals().update(_nvtx.ranged(vars(_atoll)))
    _nvtx.range_methods(_atoll.Team, _atoll.Context, _atoll.Lock, _atoll.Mailbox, _atoll.DeviceArray)

# Also what help(atoll) shows.
__all__ = [  # noqa: RUF022
    "AND", "AVG", "Block", "BootstrapError", "CollectiveMismatch", "Compare", "Context", "DeviceArray", "DtypeMismatch", "EQ", "Error",
    "GE", "GT", "HOST", "InvalidArgument", "KernelError", "LE", "LT", "LaunchError", "Lock", "MAX", "MIN", "Mailbox", "NE",
    "NotInitialized", "NotSymmetric", "OR", "OutOfMemory", "PROD", "PeDied", "PeError", "RAIL", "ReduceOp", "SHARED",
    "SIGNAL_ADD", "SIGNAL_SET", "SUM", "SettingsError", "ShapeMismatch", "SignalOp", "SystemFailure", "Team",
    "Timeout", "Unsupported", "UseAfterFree", "WORLD", "XOR", "abort", "add_at", "addr_accessible", "allgather_object", "alltoall",
    "alltoall_object", "alltoalls", "and_reduce", "array", "atomic_add", "atomic_and", "atomic_compare_swap",
    "atomic_compare_swap_nbi", "atomic_fetch", "atomic_fetch_add", "atomic_fetch_add_nbi", "atomic_fetch_and",
    "atomic_fetch_and_nbi", "atomic_fetch_inc", "atomic_fetch_inc_nbi", "atomic_fetch_nbi", "atomic_fetch_or",
    "atomic_fetch_or_nbi", "atomic_fetch_xor", "atomic_fetch_xor_nbi", "atomic_inc", "atomic_or", "atomic_set",
    "atomic_swap", "atomic_swap_nbi", "atomic_xor", "avg_reduce", "barrier", "barrier_all", "bcast_object", "broadcast", "check_kernels",
    "collect", "empty", "empty_like", "fcollect", "fence", "finalize", "free", "full", "full_like", "g", "gather",
    "gather_object", "get", "get_nbi", "get_unique_id", "global_exit", "global_view", "group", "ibget", "ibput",
    "iget", "include_dir", "info", "init", "iput", "is_initialized", "is_symmetric", "launch", "max_reduce", "min_reduce", "my_pe",
    "n_pes", "ones", "ones_like", "or_reduce", "p", "pe_accessible", "pe_quiet", "peer", "pin", "premul_sum_reduce", "premul_sum_reduce_scatter", "prod_reduce", "put",
    "put_at", "put_nbi", "put_signal", "put_signal_nbi", "quiet", "rc", "recv", "reduce", "reduce_object", "reduce_scatter", "register",
    "scatter", "scatter_object", "send", "signal", "signal_add", "signal_consume", "signal_fetch", "signal_set", "signal_wait_until", "sum_exscan",
    "sum_inscan", "sum_reduce", "sync", "sync_all", "take", "test", "test_all", "test_all_vector", "test_any",
    "test_any_vector", "test_some", "test_some_vector", "version", "wait_until", "wait_until_all",
    "wait_until_all_vector", "wait_until_any", "wait_until_any_vector", "wait_until_some", "wait_until_some_vector",
    "xor_reduce", "zeros", "zeros_like",
]  # fmt: skip


def _late(name: str) -> object:
    # Loaded when first used: what launch needs of the standard library takes longer to load than all of Atoll.
    if name in ("launch", "LaunchError"):
        from . import _launch

        globals().update(launch=_launch.launch, LaunchError=_launch.LaunchError)
        return globals()[name]
    raise AttributeError(f"module 'atoll' has no attribute {name!r}" + _suggestion(name))


def _suggestion(name: str) -> str:
    """The nearest name of the package, as a question; nothing for names that only Python asks for."""
    if name.startswith("_"):
        return ""
    import difflib

    near = difflib.get_close_matches(name, __all__, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _names() -> list[str]:
    return sorted({*globals(), "launch", "LaunchError"})


# No plain functions: help(atoll) would show them as the first of Atoll's. Not for type checkers, to which every name would
# then exist.
if not _typing.TYPE_CHECKING:
    __getattr__ = _partial(_late)
    __dir__ = _partial(_names)
