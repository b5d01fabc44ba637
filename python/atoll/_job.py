"""Joining, leaving and ending the job."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import io
import operator
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, overload

import numpy as np

from . import _atoll

_failure: tuple[int, str] | None = None  # the exit status, and the text for the other PEs
_watched = False
_launched = ""  # "here" or "elsewhere" (--hosts): `atoll run` started this PE and reports how the job ends
_store_inits = 0


def init(
    uid: str | bytes | None = None,
    pe: int | None = None,
    n_pes: int | None = None,
    comm: Any = None,
) -> None:
    """Join the job. Collective: every PE calls it, once before anything else.

    Without arguments the job is the one that started this process. It is found through `atoll run`,
    torchrun's variables (RANK, WORLD_SIZE, ...), PMIx (srun --mpi=pmix, prterun, Open MPI's mpirun) or PMI
    (mpiexec of MPICH, srun --mpi=pmi2). A process that was started alone is a job of one PE. If
    torch.distributed is initialised, or torchrun's agent keeps its store, that store connects the PEs.

    Parameters
    ----------
    uid, pe, n_pes
        A job of processes that something else started. One process calls atoll.get_unique_id() and sends the
        result to all. Each passes it with its own PE number and the number of PEs. Over several hosts that
        process must be PE 0.
    comm
        An mpi4py communicator whose processes become the PEs, rank for rank.

    Raises
    ------
    BootstrapError, SettingsError, OutOfMemory
        The job could not be joined, a setting is wrong, or the symmetric heap does not fit.
    InvalidArgument
        The arguments do not describe the job that this process is already in, or `atoll run` started more PEs than
        comm has ranks.

    Notes
    -----
    Calls are counted: a second call only counts, and the job ends with the same number of calls of
    finalize(). A process may end without finalize(): it tells the others, and does not wait. An exception
    that is not caught ends the job. A child forked after init cannot use Atoll. Source: OpenSHMEM 1.6,
    section 9.1.
    """
    put: Callable[[str, bytes], None] | None = None
    get: Callable[[str], bytes] | None = None
    if uid is not None and not isinstance(uid, (str, bytes)):
        raise TypeError(
            f"init(): uid is {uid!r}; expected a unique id, text or bytes. The launcher sets the number of PEs: "
            "atoll run -n 4 program.py."
        )
    if comm is not None and uid is not None:
        raise _atoll.InvalidArgument("init() takes uid= or comm=, not both.")
    if _atoll.is_initialized():
        if comm is not None:
            pe, n_pes = comm.Get_rank(), comm.Get_size()
    else:
        found = None
        if comm is None and uid is None and pe is None and n_pes is None and _atoll._may_take_store():
            comm = _mpi_world()
            found = _torch_store() if comm is None else None
        if comm is not None:
            _refuse_smaller(comm)
            pe, n_pes = comm.Get_rank(), comm.Get_size()
            uid = comm.bcast(_atoll.get_unique_id() if pe == 0 else None, root=0)
        elif found is not None:
            pe, n_pes, put, get = found
    global _launched
    invited = _atoll._launched()
    source = "elsewhere" if "ATOLL_JOIN" in os.environ else "here"
    try:
        _atoll._init(uid, pe, n_pes, put, get)
        if invited and not _atoll._launched():  # the launcher's variable is used up
            _launched = source
    finally:
        # These variables are used up: a process started with a copy of os.environ is not part of the job.
        if not _atoll._launched():
            os.environ.pop("ATOLL_LAUNCHED", None)
            os.environ.pop("ATOLL_JOIN", None)
    if invited and uid is None and _atoll.n_pes() > 1:
        _flush_by_line()
    if _launched:
        _tell_crashes()
    if "asyncio" in sys.modules:
        from ._tasks import offer

        offer()
    _watch()


def _invitation() -> tuple[str, str] | None:
    """Return PE and number of PEs from the variable of `atoll run`, or None without one.

    The variable has two forms, which src/bootstrap/launcher defines: with --hosts, and on one host.
    """
    for variable, separator in (("ATOLL_JOIN", " "), ("ATOLL_LAUNCHED", ":")):
        words = os.environ.get(variable, "").split(separator)
        if len(words) > 2:
            return words[1], words[2]
    return None


def _refuse_smaller(comm: Any) -> None:
    """Raise InvalidArgument if `atoll run` started more PEs than comm has ranks: it starts no MPI."""
    invitation = _invitation()
    if invitation is None:
        return
    pe, n_pes = map(int, invitation)
    size = comm.Get_size()
    if size < n_pes:
        raise _atoll.InvalidArgument(
            f"init(): `atoll run` started this process as PE {pe} of {n_pes}, but comm has {size} "
            f"rank{'s' * (size != 1)}. Start the program by mpiexec -n {n_pes}, or call init() without comm."
        )


def _tell_crashes() -> None:
    """Let Python print the line of a crash (SIGSEGV and the like), unless the program has chosen otherwise."""
    import faulthandler

    if faulthandler.is_enabled() or "PYTHONFAULTHANDLER" in os.environ:
        return
    # stderr is closed, or no file
    with contextlib.suppress(OSError, ValueError, AttributeError, RuntimeError):
        faulthandler.enable(all_threads=False)
        _atoll._install_crash_stack()


def _flush_by_line() -> None:
    """Flush stdout at each line, also into a pipe, so that the last lines of a killed PE are not lost."""
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream is sys.__stdout__ and not stream.isatty():
        with contextlib.suppress(OSError, ValueError):  # stdout is closed or has no reader
            stream.reconfigure(line_buffering=True)


def _mpi_world() -> Any:
    """Return mpi4py's COMM_WORLD if MPICH's mpiexec started this process and MPI runs, which has used up its
    PMI.
    """
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is None or "PMI_FD" not in os.environ or not mpi.Is_initialized() or mpi.Is_finalized():
        return None
    return mpi.COMM_WORLD


def _torch_store() -> tuple[int, int, Callable[[str, bytes], None], Callable[[str], bytes]] | None:
    """Return torch.distributed's store, if torch or its agent already keeps one."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        store = distributed.distributed_c10d._get_default_store()
        rank, size = distributed.get_rank(), distributed.get_world_size()
    elif os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        distributed = importlib.import_module("torch.distributed")
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        store = distributed.TCPStore(address, port, size, is_master=False)
    else:
        return None
    # Keys are written once, so each init has its own, and each attempt of an agent that restarts the PEs.
    global _store_inits
    _store_inits += 1
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    prefixed = distributed.PrefixStore(f"atoll/{attempt}/{_store_inits}", store)
    return rank, size, prefixed.set, prefixed.get


def finalize() -> None:
    """Leave the job. Calls are counted like those of init(); the last one waits for all PEs and ends the job.

    Collective over all PEs. Implies barrier_all. NumPy can still read and write the arrays as long as they
    live.

    Raises
    ------
    NotInitialized
        It was called more often than init(). After the last call, all other calls raise this, too.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.1.
    """
    _atoll._finalize()


def _check_status(function: str, status: int, least: int) -> None:
    try:
        fits = least <= operator.index(status) <= 255
    except TypeError:
        fits = False
    if not fits:
        raise _atoll.InvalidArgument(
            f"{function}(): status is {status!r}; pass an integer from {least} to 255."
        )


def global_exit(status: int = 0) -> NoReturn:
    """End all PEs now, with this exit status. Does not return.

    Parameters
    ----------
    status
        0 to 255, the range of an exit status.

    Raises
    ------
    InvalidArgument, NotInitialized
        The status is out of range, or there is no job.

    Notes
    -----
    Not collective: one PE is enough. Output is flushed; atexit functions do not run. Source: OpenSHMEM 1.6,
    section 9.1.
    """
    _check_status("global_exit", status, 0)
    _flush()
    _atoll._global_exit(status, "")
    raise AssertionError("unreachable")


def abort(message: str = "", status: int = 1) -> NoReturn:
    """End all PEs now because of an error, with a message that names this PE. Does not return.

    Parameters
    ----------
    message
        The reason, which the launcher prints.
    status
        The exit status, 1 to 255.

    Raises
    ------
    InvalidArgument, NotInitialized
        The status is out of range, or there is no job.

    Notes
    -----
    Not collective. It acts as global_exit(status).
    """
    me = _atoll._check_job("abort")
    _check_status("abort", status, 1)
    _flush()
    text = message or "no reason given"
    _atoll._global_exit(status, f"PE {me} aborted the job: {text}")
    raise AssertionError("unreachable")


def version() -> str:
    """Return the library's version. Local; works before init().

    Returns
    -------
    str
        Three numbers with dots, such as '0.1.0'.
    """
    return _atoll._version()


def info() -> dict[str, Any]:
    """Return the state of this PE's job and memory as a dictionary. Local; works before init().

    `atoll info --settings` prints the settings and the machine's features.

    Returns
    -------
    dict
        Keys ``version`` and ``initialized``; in a job also ``my_pe``, ``n_pes`` and ``heap``. The heap is a
        dict of ``limit_bytes``, ``used_bytes``, ``largest_free_bytes``, ``blocks``, ``kept_bytes`` and
        ``address``. ``kept_bytes`` counts pages of freed blocks that remain for the next ones (see
        ``ATOLL_HEAP_KEEP``). ``address`` is the start of the heap.
    """
    found: dict[str, Any] = {"version": version(), "initialized": _atoll.is_initialized()}
    if _atoll.is_initialized():
        found.update(my_pe=_atoll.my_pe(), n_pes=_atoll.n_pes(), heap=_atoll._heap_use())
    return found


@overload
def stats() -> dict[str, dict[str, float]]: ...
@overload
def stats(*, format: Literal["openmetrics"]) -> str: ...
def stats(*, format: Literal["openmetrics"] | None = None) -> dict[str, dict[str, float]] | str:
    """Return statistics of this PE's operations so far: calls, bytes and times. Local.

    Needs ``atoll run --stats`` or ``ATOLL_STATS=1``. Calls from Python, C and C++ count, those of kernels do not.
    A call counts once it has ended. For moves below 16 KiB the first 64 of an operation are timed, then one in
    16, whose time counts for all of them.

    Parameters
    ----------
    format
        ``"openmetrics"``: return text for monitors such as Prometheus, with the labels ``pe`` and
        ``operation``.

    Returns
    -------
    dict or str
        By the name of each operation that was called a dict of ``calls``, ``bytes`` (of this PE's arguments),
        ``seconds`` (in all calls together), ``longest_seconds``, and ``waiting_seconds`` (in waits for other
        PEs).

    Raises
    ------
    Unsupported
        The job counts nothing.
    NotInitialized
        Outside a job.
    """
    if format is None:
        return _atoll._statistics()
    if format != "openmetrics":
        raise _atoll.InvalidArgument(
            f"stats(): format is {format!r}; pass 'openmetrics', or nothing for a dict."
        )
    return _atoll._openmetrics()


class trace(contextlib.ContextDecorator):
    """A named range of the program in the file of ``atoll run --trace``. Local.

    It covers a block as a context manager, and as a decorator every call of a function. Without a trace it does
    nothing. Ranges may be nested.

    Parameters
    ----------
    name
        The name in the trace, cut at 95 bytes. A PE has room for about 1000 different names.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"trace(): name is {name!r}; pass a text.")
        self._name = name
        self._began: list[int] = []

    def _recreate_cm(self) -> trace:
        return trace(self._name)  # each call of a decorated function has a range of its own

    def __enter__(self) -> trace:
        self._began.append(_atoll._trace_now())
        return self

    def __exit__(self, *_: object) -> None:
        _atoll._trace_range(self._name, self._began.pop())


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _watch() -> None:
    """Install the hooks once: an exception that ends this PE is reported to the others, and a forked child
    leaves the job.
    """
    global _watched
    if _watched:
        return
    _watched = True
    previous = sys.excepthook

    def report(
        kind: type[BaseException], value: BaseException, trace: TracebackType | None, interrupted: bool
    ) -> bool:
        global _failure
        # At an interactive prompt an exception does not end the process.
        ends = not hasattr(sys, "ps1") and not sys.flags.interactive
        first = _first_of_calls(value)
        another = isinstance(first, _atoll.PeDied) and bool(_atoll._end_reason())
        if interrupted and _launched and ends and (another or isinstance(value, KeyboardInterrupt)):
            # Ctrl-C goes to all PEs, and the launcher reports it. Python then ends the process by SIGINT, as
            # a C program ends.
            return True
        if another:
            # Another PE has failed and has reported it. A traceback of each PE that waited for it would hide
            # that report.
            _say_where(first, trace if first is value else first.__traceback__)
            return ends
        if isinstance(value, AttributeError | TypeError):
            from ._names.others import explain

            explain(value)
        value.__traceback__ = without_own_frames(value, trace)  # Python's hook prefers it to the argument
        previous(kind, value, value.__traceback__)
        kernel = "" if isinstance(value, _atoll.Error) else _atoll._kernel_failure()
        if kernel:  # another library's error, which tells only that the GPU is lost
            sys.stderr.write(f"atoll.KernelError: {kernel}\n")
            sys.stderr.flush()
        if not ends:
            return False
        if not isinstance(value, KeyboardInterrupt):
            text = f"{type(first).__name__}: {first}".removesuffix(": ") + (f" ({kernel})" if kernel else "")
            _failure = 1, f"PE {{}} ended by an uncaught exception{_site_of(first.__traceback__)}: {text}"
        # The status is 128 + SIGINT, as in a shell. The module signal is not imported, since a program may be
        # called signal.py.
        elif _atoll.is_initialized() and _atoll.n_pes() > 1:
            _failure = 130, "PE {} was interrupted (KeyboardInterrupt)"
        return False

    if not _atoll._report_by(report):
        return  # an earlier import of this package has installed them
    os.register_at_fork(after_in_child=_atoll._forked)
    sys.excepthook = _atoll._hook
    _keep_ignored()
    atexit.register(_announce)
    # Python waits for its threads before it runs atexit functions, and one that waits for another PE may
    # never end.
    before_threads: Callable[[Callable[[], None]], None] | None = getattr(threading, "_register_atexit", None)
    if before_threads is not None:
        before_threads(_announce_if_threads)


_OWN = str(Path(__file__).parent) + os.sep
# NumPy's operators of distributed arrays, which call us.
_OPERATORS = np.lib.mixins.NDArrayOperatorsMixin.__add__.__code__.co_filename


@functools.cache
def is_own(file: str) -> bool:
    return file.startswith((_OWN, "<frozen")) or file == _OPERATORS


def program_line() -> tuple[str, int]:
    """Return the file and line of the program that called this package; an empty name without one."""
    frame = sys._getframe()
    while frame is not None:
        if not is_own(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "", 0


def alone_text() -> str:
    """Return a sentence for errors of the only PE of a job that no launcher started; else nothing."""
    if _launched or _atoll.n_pes() > 1:
        return ""
    program = Path(sys.argv[0]).name if sys.argv else ""
    if not program.endswith(".py") or program == "__main__.py":
        program = "program.py"
    return f" This process was started alone; start several by: atoll run -n 4 {program}"


def line_text() -> str:
    """Return the line of the program that makes the call, with a word before it; empty without one."""
    file, line = program_line()
    return f" at {Path(file).name}:{line}" if file else ""


def without_own_frames(error: BaseException, trace: TracebackType | None) -> TracebackType | None:
    """Return the trace without the calls within this package; also shorten those of the causes of `error`.

    A trace that has only such calls stays unchanged: then the error is this package's own.
    """
    seen: set[int] = {id(error)}
    causes = [error.__cause__, error.__context__]
    while causes:
        cause = causes.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        cause.__traceback__ = _program_part(cause.__traceback__)
        causes += [cause.__cause__, cause.__context__]
    return _program_part(trace)


def _program_part(trace: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    entry = trace
    while entry is not None:
        if not is_own(entry.tb_frame.f_code.co_filename):
            kept.append(entry)
        entry = entry.tb_next
    if not kept:
        return trace
    rest: TracebackType | None = None
    for one in reversed(kept):
        rest = TracebackType(rest, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return rest


def _innermost(trace: TracebackType | None, is_skipped: Callable[[str], bool]) -> TracebackType | None:
    """Return the innermost call whose file is not skipped, or None."""
    found = None
    while trace is not None:
        if not is_skipped(trace.tb_frame.f_code.co_filename):
            found = trace
        trace = trace.tb_next
    return found


def _keep_ignored() -> None:
    """Keep the last exception that Python prints and ignores: of a callback, a destructor or a thread.

    Other PEs may wait for something that it left undone. Reports of hangs then name its line.
    """
    unraisable: Callable[[sys.UnraisableHookArgs], Any] = sys.unraisablehook
    of_thread: Callable[[threading.ExceptHookArgs], Any] = threading.excepthook

    def keep(kind: type[BaseException] | None, trace: TracebackType | None) -> None:
        if kind is not None and not issubclass(kind, SystemExit):
            with contextlib.suppress(Exception):  # the interpreter may be ending
                _atoll._ignored(kind.__name__ + _site_of(trace))

    def on_unraisable(error: sys.UnraisableHookArgs) -> None:
        keep(error.exc_type, error.exc_traceback)
        unraisable(error)

    def on_thread(error: threading.ExceptHookArgs) -> None:
        keep(error.exc_type, error.exc_traceback)
        of_thread(error)

    sys.unraisablehook = on_unraisable
    threading.excepthook = on_thread


def _site_of(trace: TracebackType | None) -> str:
    """Return " at x.py:8", the innermost line of the program, or nothing."""
    call = _innermost(trace, lambda file: is_own(file) or _atoll._is_standard(file))
    return f" at {Path(call.tb_frame.f_code.co_filename).name}:{call.tb_lineno}" if call else ""


def _first_of_calls(error: BaseException) -> BaseException:
    """Return the first error of a call of PEs, in whose handling this one was raised, as in a `finally`.

    A later one tells only that this PE is out of step.
    """
    kinds = _atoll.CollectiveMismatch, _atoll.PeDied
    while isinstance(error, kinds) and isinstance(error.__context__, kinds) and error.__cause__ is None:
        error = error.__context__
    return error


def _say_where(error: BaseException, trace: TracebackType | None) -> None:
    """Print one line: the PE that another PE's failure stopped, and the line of the program where it was."""
    where = ""
    if call := _innermost(trace, is_own):
        code = call.tb_frame.f_code
        where = f" at {code.co_filename}:{call.tb_lineno}, in {code.co_name}"
    _flush()
    # The launcher of this host prints the reason; a process on another host prints it itself.
    why = "" if _launched == "here" else f": PeDied: {error}"
    # A single write, so that lines of several PEs do not mix.
    sys.stderr.write(f"PE {_atoll.my_pe()} stopped{where}{why}\n")
    sys.stderr.flush()


def _announce_if_threads() -> None:
    if any(t is not threading.main_thread() and not t.daemon for t in threading.enumerate()):
        _announce()


def _announce() -> None:
    if _failure is None and _atoll.is_initialized():
        _atoll._warn_of_requests()
    if _failure is not None and _atoll.is_initialized():
        _flush()
        status, sentence = _failure
        _atoll._global_exit(status, sentence.replace("{}", str(_atoll.my_pe()), 1))
