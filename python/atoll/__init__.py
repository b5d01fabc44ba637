"""Atoll: one symmetric memory for all processes of a job.

A job is n processes, called PEs. Arrays made by atoll.zeros() and similar functions have the same offset on every PE. So each
PE can put to, get from, atomically update, signal and wait on any other's, without that PE's help:

    # atoll run -n 4 ring.py
    import atoll, numpy as np

    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    x = atoll.zeros(8)                                       # a plain numpy.ndarray, on every PE
    atoll.put(x, np.full(8, float(me)), (me + 1) % n)        # into the next PE's x
    atoll.barrier_all()
    print(me, x[0])

help(atoll.put) and so on describe a function in full. All of them, by topic:

Job          init finalize is_initialized get_unique_id abort global_exit info stats trace version rc; my_pe n_pes.
             Pool (PEs that stay alive between calls), launch (run a function in new PEs), LaunchError.
             report (a trace as a page). In notebooks: %load_ext atoll. Tests: @pytest.mark.pes(4).
Arrays       empty zeros ones full array, empty_like zeros_like ones_like full_like, signal (words), free.
             device="cuda", xp=cupy or torch: on this PE's GPU; DeviceArray. register: memory of another library on the GPU.
             pin: host memory for kernels. is_symmetric pe_accessible addr_accessible; peer and global_view: other PEs' copies as arrays.
Moves        put get, put_nbi get_nbi (done after quiet), p g (one element); strided: iput iget ibput ibget;
             irregular: take put_at add_at; messages: send recv, group (pairs them), Mailbox.
Atomics      atomic_set, and likewise fetch add inc and or xor swap compare_swap, fetch_add fetch_inc fetch_and
             fetch_or fetch_xor; the _nbi forms store the previous value in an array.
Signals      put_signal put_signal_nbi signal_set signal_add signal_fetch signal_wait_until
             signal_consume. On arrays of a GPU these and all others take stream=.
Waits        wait_until test, for many words with _all _any _some, and _vector for one value for each word.
Order        fence (puts to one PE) quiet pe_quiet (completed), barrier_all barrier, sync_all sync.
Groups       Team, WORLD, SHARED, HOST, RAIL; split with WORLD.split(color), or team_init(get_team_unique_id(), ...).
             Context: operations that complete by themselves.
Collectives  broadcast collect fcollect gather scatter alltoall alltoalls; of Python objects: bcast_object
             gather_object allgather_object scatter_object alltoall_object reduce_object;
             sum_ prod_ min_ max_ avg_ and_ or_ xor_reduce, reduce (any operator, one root), reduce_scatter,
             premul_sum_reduce premul_sum_reduce_scatter, sum_inscan sum_exscan. blocking=False gives a Request.
Locks        Lock. C++: include_dir (headers). PyTorch: the module atoll.torch. Kernels: check_kernels.
Programs     print (in PE order), on and once (work of one PE), phase (a name for a part), progress (a bar
             over all PEs); the module atoll.logging.
Values       Compare (EQ NE GT GE LT LE), ReduceOp (SUM PROD MIN MAX AVG AND OR XOR), SignalOp (SIGNAL_SET SIGNAL_ADD).
Errors       Error and its kinds: NotInitialized PeError NotSymmetric ShapeMismatch DtypeMismatch UseAfterFree
             CollectiveMismatch Timeout PeDied OutOfMemory Unsupported InvalidArgument SettingsError
             BootstrapError SystemFailure KernelError.

The variable ATOLL_CHECK sets what is checked: none, basic (bounds of symmetric memory), args (the default: blocks and
freed memory too) or all. Collectives that the PEs of a team call differently raise CollectiveMismatch on all of them,
unless ATOLL_CHECK=none. Compared are the call, bytes, dtype and root, and the operator of a reduction.
Calls that make arrays and teams are always compared. ATOLL_CHECK=all compares calls before anything is moved.
`from atoll import shmem` is the interface of shmem4py.
"""

# ruff: noqa: F405
import os as _os
import sys as _sys
import typing as _typing
from functools import partial as _partial

# Each name is imported as itself, so that type checkers treat it as exported.
from . import _atoll as _atoll  # the first import: it raises an error where Atoll cannot be used
from ._allocation import array as array
from ._allocation import empty as empty
from ._allocation import empty_like as empty_like
from ._allocation import full as full
from ._allocation import full_like as full_like
from ._allocation import ones as ones
from ._allocation import ones_like as ones_like
from ._allocation import signal as signal
from ._allocation import zeros as zeros
from ._allocation import zeros_like as zeros_like
from ._atoll import *  # noqa: F403
from ._include import include_dir as include_dir
from ._job import abort as abort
from ._job import finalize as finalize
from ._job import global_exit as global_exit
from ._job import info as info
from ._job import init as init
from ._job import stats as stats
from ._job import trace as trace
from ._job import version as version
from ._names import ClassSignature as _ClassSignature
from ._objects import allgather_object as allgather_object
from ._objects import alltoall_object as alltoall_object
from ._objects import bcast_object as bcast_object
from ._objects import gather_object as gather_object
from ._objects import reduce_object as reduce_object
from ._objects import scatter_object as scatter_object
from ._rc import rc as rc

if _typing.TYPE_CHECKING:
    from . import arrays as arrays
    from . import atomics as atomics
    from . import constants as constants
    from . import errors as errors
    from . import reductions as reductions
    from . import strided as strided
    from . import waits as waits
    from ._launching.failures import LaunchError as LaunchError
    from ._launching.launch import launch as launch
    from ._pool.pool import Pool as Pool
    from ._programs import comforts as _comforts
    from ._programs.comforts import on as on
    from ._programs.comforts import once as once
    from ._programs.comforts import phase as phase
    from ._programs.progress import progress as progress
    from ._report import report as report
    from .arrays import DistArray as DistArray

    print = _comforts.print_in_order

__version__ = version()

for _class in (_atoll.Context, _atoll.Lock, _atoll.Mailbox, _atoll.group):
    _class.__signature__ = _ClassSignature()  # type: ignore[union-attr]
del _class

if _os.environ.get("ATOLL_NVTX", "0").lower() in ("1", "yes", "true", "on"):
    from ._programs import nvtx as _nvtx

    globals().update(_nvtx.ranged(vars(_atoll)))
    _nvtx.range_methods(_atoll.Team, _atoll.Context, _atoll.Lock, _atoll.Mailbox, _atoll.DeviceArray)

if _os.environ.get("ATOLL_LAUNCH_PDB"):  # set by `atoll run --pdb`
    from ._programs import debugger as _debugger

    _debugger.install()

if _os.environ.get("ATOLL_COMPAT"):
    from . import compat as _compat

    _compat.install_from_environment()

# The order of help(atoll).
__all__ = [  # noqa: RUF022
    "AND", "AVG", "Block", "BootstrapError", "CollectiveMismatch", "Compare", "Context", "DeviceArray", "DtypeMismatch", "EQ", "Error",
    "GE", "GT", "HOST", "InvalidArgument", "KernelError", "LE", "LT", "LaunchError", "Lock", "MAX", "MIN", "Mailbox", "NE",
    "NotInitialized", "NotSymmetric", "OR", "OutOfMemory", "PROD", "PeDied", "PeError", "Pool", "RAIL", "ReduceOp", "Request", "SHARED",
    "SIGNAL_ADD", "SIGNAL_SET", "SUM", "SettingsError", "ShapeMismatch", "SignalOp", "SystemFailure", "Team",
    "Timeout", "Unsupported", "UseAfterFree", "WORLD", "XOR", "abort", "add_at", "addr_accessible", "allgather_object", "alltoall",
    "alltoall_object", "alltoalls", "and_reduce", "array", "atomic_add", "atomic_and", "atomic_compare_swap",
    "atomic_compare_swap_nbi", "atomic_fetch", "atomic_fetch_add", "atomic_fetch_add_nbi", "atomic_fetch_and",
    "atomic_fetch_and_nbi", "atomic_fetch_inc", "atomic_fetch_inc_nbi", "atomic_fetch_nbi", "atomic_fetch_or",
    "atomic_fetch_or_nbi", "atomic_fetch_xor", "atomic_fetch_xor_nbi", "atomic_inc", "atomic_or", "atomic_set",
    "atomic_swap", "atomic_swap_nbi", "atomic_xor", "avg_reduce", "barrier", "barrier_all", "bcast_object", "broadcast", "check_kernels",
    "collect", "empty", "empty_like", "fcollect", "fence", "finalize", "free", "full", "full_like", "g", "gather",
    "gather_object", "get", "get_nbi", "get_team_unique_id", "get_unique_id", "global_exit", "global_view", "group", "ibget", "ibput",
    "iget", "include_dir", "info", "init", "iput", "is_initialized", "is_symmetric", "launch", "max_reduce", "min_reduce", "my_pe",
    "n_pes", "on", "once", "ones", "ones_like", "or_reduce", "p", "pe_accessible", "pe_quiet", "peer", "phase", "pin", "premul_sum_reduce", "premul_sum_reduce_scatter", "prod_reduce", "progress", "put",
    "put_at", "put_nbi", "put_signal", "put_signal_nbi", "quiet", "rc", "recv", "reduce", "reduce_object", "reduce_scatter", "register", "report",
    "scatter", "scatter_object", "send", "signal", "signal_add", "signal_consume", "signal_fetch", "signal_set", "signal_wait_until", "stats", "sum_exscan",
    "sum_inscan", "sum_reduce", "sync", "sync_all", "take", "team_init", "test", "test_all", "test_all_vector", "test_any",
    "test_any_vector", "test_some", "test_some_vector", "trace", "version", "wait_until", "wait_until_all",
    "wait_until_all_vector", "wait_until_any", "wait_until_any_vector", "wait_until_some", "wait_until_some_vector",
    "xor_reduce", "zeros", "zeros_like",
]  # fmt: skip


# Names and the modules that have them. They are imported when first used: the standard library's modules that
# they need load slower than all of Atoll.
_LATE = {
    "DistArray": "arrays",
    "LaunchError": "_launching.failures",
    "Pool": "_pool.pool",
    "arrays": "arrays",
    "launch": "_launching.launch",
    "load_ipython_extension": "_notebook.magics",
    "logging": "logging",
    "on": "_programs.comforts",
    "once": "_programs.comforts",
    "phase": "_programs.comforts",
    "print": "_programs.comforts",
    "progress": "_programs.progress",
    "report": "_report",
    "unload_ipython_extension": "_notebook.magics",
}
# Modules that have rare names, beside the usual ones of their group.
_GROUPS = ("atomics", "constants", "errors", "reductions", "strided", "waits")
_LATE.update({name: name for name in _GROUPS})
_MORE = ("arrays", "logging", "print")  # which `from atoll import *` leaves out


def _late(name: str) -> object:
    if name in _LATE:
        import importlib

        module = importlib.import_module(f"atoll.{_LATE[name]}")
        found = (
            module if name == _LATE[name] else getattr(module, "print_in_order" if name == "print" else name)
        )
        globals()[name] = found
        return found
    if not name.startswith("_"):
        from ._names.deprecated import replacement

        if ours := replacement(name):
            return getattr(_sys.modules[__name__], ours)
    raise AttributeError(f"module 'atoll' has no attribute {name!r}" + _suggestion(name))


def _suggestion(name: str) -> str:
    """Return a cure, the nearest name as a question, or nothing for names that only Python asks for."""
    if name.startswith("_"):
        return ""
    import importlib.util

    found = importlib.util.find_spec(f"{__name__}.{name}") if name.isidentifier() else None
    if found is not None and found.origin is not None:  # not a folder of headers or libraries
        return f"; this is a module: first `import atoll.{name}`"
    from ._names.others import cure

    return cure(name, [*__all__, *_GROUPS, *_MORE])


def _team_attribute(team: object, name: str) -> object:
    text = f"'atoll.Team' object has no attribute {name!r}"
    if not name.startswith("_"):
        from ._names.others import team_cure

        text += team_cure(name, dir(_atoll.Team), _takes_team)
    raise AttributeError(text)


def _takes_team(name: str) -> bool:
    import inspect

    return name in __all__ and "team=" in str(inspect.signature(getattr(_sys.modules[__name__], name)))


_atoll.Team.__getattr__ = _team_attribute  # type: ignore[attr-defined]


def _is_rare(name: str) -> bool:
    """Return True for names that completion leaves out: variants of others, and constants that texts replace.

    Those of a group are in a module, too (`_GROUPS`).
    """
    variants = ("_vector", "_some", "_any", "_all_vector", "_accessible", "_inscan", "_exscan")
    bits = ("premul_", "and_", "or_", "xor_", "avg_", "atomic_and", "atomic_or", "atomic_xor")
    fetching = ("atomic_fetch_and", "atomic_fetch_or", "atomic_fetch_xor", "atomic_fetch_inc", "atomic_inc")
    others = """ibget ibput iget iput alltoalls rc pe_quiet get_team_unique_id get_unique_id team_init check_kernels Block
        include_dir global_exit BootstrapError KernelError SettingsError SystemFailure Unsupported"""
    return (
        (name.endswith(variants) and name != "sum_inscan")
        or (name.startswith("atomic_") and name.endswith("_nbi"))
        or name.startswith(bits + fetching)
        or name in others.split()
        or (name.isupper() and name not in ("WORLD", "SHARED", "HOST", "RAIL"))
    )


def _names() -> list[str]:
    # help(atoll) finds its names through the module inspect, and lists all of them.
    everything = _sys._getframe(1).f_globals.get("__name__") == "inspect"
    names = [name for name in __all__ if everything or not _is_rare(name)]
    return sorted([*names, *_GROUPS, *_MORE, "__version__"])


# Not plain functions, which help(atoll) would list before Atoll's. Hidden from type checkers, for which every
# name would otherwise exist.
if not _typing.TYPE_CHECKING:
    __getattr__ = _partial(_late)
    __dir__ = _partial(_names)
