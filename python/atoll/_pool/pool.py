"""atoll.Pool: PEs that stay alive between calls, as an executor of concurrent.futures."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from .. import _atoll
from .._launching.failures import launch_error
from .._launching.launch import launcher_path, surroundings
from .job import PoolJob
from .output import Output
from .task import ANSWER_SECONDS, Task, call_name, name_of, refused_argument
from .variables import Value, Variables

Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")
SPARE_AFTER_SECONDS = 1.0  # a pool that lives longer gets spare PEs


# Arguments of other pools, and what replaces them.
_ARGUMENTS_OF_OTHERS = {
    "processes": "pass n_pes",
    "max_workers": "pass n_pes",
    "n_jobs": "pass n_pes",
    "initializer": "call pool.run(initializer) once; the global variables that it assigns live on",
    "initargs": "pass them by pool.run(initializer, *initargs)",
    "mp_context": "PEs are new processes, as those of 'spawn' are",
    "context": "PEs are new processes, as those of 'spawn' are",
    "maxtasksperchild": "PEs live until pool.restart()",
    "max_tasks_per_child": "PEs live until pool.restart()",
}


def _with_names_of_others(init: Callable[Parameters, None]) -> Callable[Parameters, None]:
    @functools.wraps(init)
    def named(*args: Parameters.args, **others: Parameters.kwargs) -> None:
        for name in others:
            if name in _ARGUMENTS_OF_OTHERS:
                raise TypeError(f"Pool() has no argument {name!r}: {_ARGUMENTS_OF_OTHERS[name]}.")
        init(*args, **others)

    return named


class Pool(Executor):
    """PEs that stay alive between calls: a job that runs functions, for programs and notebooks.

    A `concurrent.futures.Executor`: `submit` and `map` run a function on one idle PE, and asyncio's
    `run_in_executor` accepts a pool. `run` calls a function on every PE at once, as a program of `atoll run`
    does. The PEs have called atoll.init(). Global variables, symmetric arrays and teams live on between calls.

    Parameters
    ----------
    n_pes
        At least 1; more PEs than cores is legal. None: one PE for each core that this process may use.
    env
        Variables of the PEs' environment in addition to this process's, such as {"ATOLL_CHECK": "all"}.
    timeout
        Seconds that each call of `run` may take, from the call on; None: no limit.
    label
        Begin each line of the PEs' output with the PE's number, as in "[3] ".
    spare
        Start as many spare processes after a second, with which `restart` takes milliseconds instead of the
        start of Python. They wait and use no processor time.

    Raises
    ------
    InvalidArgument
        An argument is wrong.
    BootstrapError
        The PEs did not start; the text has the reason.

    Notes
    -----
    Functions, arguments and results are pickled, by cloudpickle if it is installed. Then functions of
    `__main__`, lambdas and closures work, too. Arrays of 64 KiB or more are not pickled, symmetric or not. They
    are copied once into shared memory, which the caller maps as its array.

    Global variables: a function on a PE uses the variables of that PE. That holds for `run`, `submit` and `map`,
    for methods and partials, and for functions that are arguments. A variable that the PE has not assigned has the caller's value
    at the time of the call. It is sent the first time and after a change; for `map` once for all tasks. So a PE
    has its own copy, and what it changes in place stays until the caller changes its own. A variable that calls on the
    PE have assigned (`global x; x = ...`) is the PE's own. No later call resets it, until `restart`. If the caller changes
    its variable of that name, a RuntimeWarning names it. Modules that PEs import have their own variables.

    An exception of a PE is raised here. Its `__cause__` is a LaunchError, whose text has PEs and traceback, once
    for PEs with the same one. When one PE fails, the others are interrupted after a second. If the world team is
    then out of step, the PEs leave the job and join again before the next call. Variables live on, and symmetric
    arrays and teams made before are freed. A PE that ends ends the job: this call and all later ones raise PeDied
    until `restart`.

    If an exception leaves the `with` block, calls that have not begun are cancelled, and running ones are interrupted.

    Output of the PEs goes to sys.stdout and sys.stderr in whole lines, before the result of their call.

    Examples
    --------
    >>> with atoll.Pool(4) as pool:
    ...     pool.run(lambda: atoll.my_pe())
    [0, 1, 2, 3]
    """

    @_with_names_of_others
    def __init__(
        self,
        n_pes: int | None = None,
        *,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        label: bool = False,
        spare: bool = True,
    ) -> None:
        if n_pes is None:
            n_pes = _usable_cores()
        if not isinstance(n_pes, int) or isinstance(n_pes, bool) or n_pes < 1:
            raise _atoll.InvalidArgument(f"Pool(): n_pes is {n_pes!r}; pass an integer of at least 1.")
        _check_timeout("Pool", timeout)
        self._n_pes = n_pes
        self._env = dict(env or {})
        self._timeout = timeout
        self._output = Output(label)
        self._variables = Variables()
        self._wants_spare = spare
        self._owner = os.getpid()
        self._jobs = _Jobs(self._new)
        self._closer = weakref.finalize(self, self._jobs.close)
        self._begin(self._new())

    # ---- calls

    def run(
        self, fn: Callable[..., Result], /, *args: Any, timeout: float | None = None, **kwargs: Any
    ) -> list[Result]:
        """Call fn(*args, **kwargs) on every PE; return the results in PE order.

        Parameters
        ----------
        fn, *args, **kwargs
            The function, which may use every operation of Atoll, and its arguments.
        timeout
            Seconds from this call until all PEs must have returned, also if earlier calls keep it from its start.
            None: the pool's.

        Returns
        -------
        list
            The result of each PE, in PE order.

        Raises
        ------
        Timeout
            The time is over. The text names the PEs and the calls that hang, and why the PEs wait. Finding that
            takes some tenths of a second, at most 10 s on a busy machine. PEs in this call are interrupted, and the pool
            goes on. If the call had not started, those in earlier calls go on, too: see `interrupt`.
        CollectiveMismatch
            A PE has returned, and others wait for it in a collective call. That is found about 2 s after it returned, later
            if they enter the call later. The text has the report, and the pool goes on.
        PeDied
            A PE has ended; its number is the attribute `pe`. `restart` starts new PEs.
        ImportError
            The function can be sent by cloudpickle only, which is not installed.
        Exception
            The exception of a PE, the first one if there are several.

        Notes
        -----
        Ctrl-C interrupts the call on all PEs, and the pool goes on. Calls start in the order in which they were
        made, each when all PEs are idle.

        A PE that does not answer an interrupt in 5 s ends the pool: later calls raise PeDied until `restart`. A long
        call of another library may be the reason. Time in which other programs have its core does not count.
        """
        _check_timeout("Pool.run", timeout)
        task = self._task((fn, args, kwargs), True, timeout if timeout is not None else self._timeout)
        self._complete(task)
        results: list[Result] = task.future.result()
        return results

    def _complete(self, task: Task) -> None:
        """Make a call, wait until it has ended, and write its output. An exception here interrupts it."""
        try:
            self._check_open().add(task)
            self._output.wait(task.future)
        except BaseException as error:
            self._interrupt(task)
            if task.failures and error.__cause__ is None:
                error.__cause__ = launch_error("Pool", task.failures)  # it has their places
            raise

    def submit(
        self, fn: Callable[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Future[Result]:
        """Call fn(*args, **kwargs) on one PE that is idle, and return the future of its result.

        The other PEs do not take part: the function may put to them and get from them, but must not call
        collectives.

        Parameters
        ----------
        fn, *args, **kwargs
            The function and its arguments, all of which can be pickled.

        Returns
        -------
        concurrent.futures.Future
            Its result is what the function returned, or the exception that it raised.

        Raises
        ------
        RuntimeError
            The pool is shut down.
        PeDied
            A PE has ended; `restart` starts new PEs.
        ImportError
            The function can be sent by cloudpickle only, which is not installed.
        """
        task = self._task((fn, args, kwargs), False, None)
        self._check_open().add(task)
        return task.future

    def map(
        self,
        fn: Callable[..., Result],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        **others: Any,
    ) -> Iterator[Result]:
        """Call fn on each set of arguments, each on one idle PE; return an iterator over the results in order.

        Parameters
        ----------
        fn, *iterables
            As for the built-in map.
        timeout
            Seconds from this call until each result must be there; later ones raise TimeoutError.
        chunksize
            The number of calls that go to a PE at once.
        **others
            As for concurrent.futures.Executor.map.

        Returns
        -------
        iterator
            It raises the exception of the first call that failed when it comes to it.

        Raises
        ------
        ValueError
            chunksize is below 1.
        """
        if chunksize < 1:
            raise ValueError(f"Pool.map(): chunksize is {chunksize!r}; pass at least 1.")
        chunks = _chunks(zip(*iterables, strict=False), chunksize)
        each = _Each(fn)
        if callable(fn):  # else the first task reports it
            each.variables = self._variables.encode(fn, self._check_open())[1]
        results = super().map(each, chunks, timeout=timeout, **others)
        return itertools.chain.from_iterable(results)

    # ---- life

    def interrupt(self) -> None:
        """Interrupt the calls that run now, as Ctrl-C does: they raise KeyboardInterrupt, and the pool goes on.

        It returns at once. Calls that have not begun start afterwards.

        Raises
        ------
        RuntimeError
            The pool is shut down.
        """
        self._check_open().interrupt_running()

    def rejoin(self) -> None:
        """Let the PEs leave the job and join it again: symmetric arrays and teams of earlier calls are freed.

        Variables live on. The pool does this by itself when the world team is out of step.

        Raises
        ------
        RuntimeError
            The pool is shut down.
        PeDied
            A PE has ended; `restart` starts new PEs.
        """
        self._check_open().join().result()

    def restart(self) -> None:
        """End all PEs and start new ones; calls that have not ended raise PeDied.

        It takes milliseconds if the spare processes are ready, else the start of Python.

        Raises
        ------
        RuntimeError
            The pool is shut down.
        BootstrapError
            The PEs did not start.
        """
        self._check_open()
        job = self._jobs.replace()
        self._begin(job)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the PEs once the calls that were made have ended. No call can be made later.

        A call that hangs is waited for, too; `interrupt` or `restart` ends it before.

        Parameters
        ----------
        wait
            Return after the processes have ended.
        cancel_futures
            Cancel the calls that have not begun.
        """
        self._shut_down(wait, cancel_futures, False)

    def _shut_down(self, wait: bool, cancel: bool, interrupt: bool) -> None:
        job = self._jobs.current
        if job is not None and os.getpid() == self._owner:
            if wait:
                job.drain(cancel, interrupt)
            self._closer()
            if wait:
                job.wait(ANSWER_SECONDS + 5)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        failed = kind is not None  # no one takes the results, and a call may hang
        self._shut_down(True, cancel=failed, interrupt=failed)

    @property
    def n_pes(self) -> int:
        """The number of PEs."""
        return self._n_pes

    def status(self) -> list[tuple[int, int, str]]:
        """Return the states of the PEs, in PE order.

        Returns
        -------
        list of tuples
            The number of a PE, the id of its process, and "starting", "idle", "busy" or "ended". Empty after
            `shutdown`.
        """
        job = self._jobs.current
        return [] if job is None else job.states()

    def report(self) -> str:
        """Return why the PEs wait, and their call stacks, as `atoll stacks` prints it.

        Returns
        -------
        str
            Lines for people; their form may change.

        Raises
        ------
        RuntimeError
            The pool is shut down.
        """
        return self._check_open().report()

    def __getattr__(self, name: str) -> Any:
        from .._names.others import method_cure

        text = f"'Pool' object has no attribute {name!r}{method_cure(self, name)}"
        raise AttributeError(text, name=name, obj=self)

    def __repr__(self) -> str:
        job = self._jobs.current
        if job is None:
            return f"<atoll.Pool of {self._n_pes} PEs, shut down>"
        busy = sum(state == "busy" for _, _, state in job.states())
        state = f"ended: {job.ended}" if job.ended else f"{busy} busy" if busy else "idle"
        return f"<atoll.Pool of {self._n_pes} PEs, {state}>"

    # ---- within

    def _joins(self) -> int:
        """Return how often the PEs have joined the job."""
        job = self._jobs.current
        return 0 if job is None else job.joins

    def _new(self) -> PoolJob:
        return PoolJob(self._n_pes, self._env, self._output.show)

    def _begin(self, job: PoolJob) -> None:
        self._jobs.current = job
        try:
            job.ready.result()
            job.join().result()
        except BaseException:
            job.kill("it was interrupted at its start")
            raise
        if self._wants_spare:
            self._jobs.start_spare(SPARE_AFTER_SECONDS)

    def _check_open(self) -> PoolJob:
        job = self._jobs.current
        if job is None:
            raise RuntimeError("This atoll.Pool is shut down; make another one.")
        if os.getpid() != self._owner:
            raise RuntimeError(
                "This atoll.Pool belongs to the process that forked this one; make another one."
            )
        return job

    def _task(self, call: tuple[Any, ...], collective: bool, timeout: float | None) -> Task:
        job = self._check_open()
        fn = call[0].fn if isinstance(call[0], _Each) else call[0]
        if not callable(fn):
            raise _atoll.InvalidArgument(
                f"Pool: the function is {fn!r}; pass a function, and its arguments after it."
            )
        known = call[0].variables if isinstance(call[0], _Each) else ()
        try:
            message, variables = self._variables.encode(call, job, known)
        except Exception as error:
            raise refused_argument(call_name(name_of(fn), collective), call, error) from None
        return Task(message, collective, timeout, name_of(fn), variables)

    def _interrupt(self, task: Task) -> None:
        """Interrupt a call after Ctrl-C here, and wait until its PEs have answered. A second Ctrl-C ends them."""
        job = self._check_open()
        job.interrupt(task)
        try:
            task.future.exception(ANSWER_SECONDS + 1)
        except KeyboardInterrupt:
            job.kill("it was interrupted twice")
        except BaseException:
            return


class _Jobs:
    """The job of a pool and its spare one, which end with the pool or this process."""

    def __init__(self, new: Callable[[], PoolJob]) -> None:
        self.current: PoolJob | None = None
        self._spare: PoolJob | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._new = weakref.WeakMethod(new)  # the pool must not live on because of its spare

    def start_spare(self, seconds: float) -> None:
        with self._lock:
            if self._spare is None or self._spare.ended:
                self._timer = threading.Timer(seconds, self._make_spare)
                self._timer.daemon = True
                self._timer.start()

    def _make_spare(self) -> None:
        new = self._new()
        with self._lock:
            if self.current is not None and self._timer is not None and new is not None:
                self._spare = new()

    def replace(self) -> PoolJob:
        """End the current job; return the spare one or a new one."""
        self._stop_timer()
        with self._lock:
            job, self._spare = self._spare, None
        if self.current is not None:
            self.current.kill("it was restarted")
        new = self._new()
        if job is None or job.ended:
            assert new is not None
            job = new()
        return job

    def _stop_timer(self) -> None:
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def close(self) -> None:
        self._stop_timer()
        with self._lock:
            jobs = [self.current, self._spare]
            self.current = self._spare = None
        for job in jobs:
            if job is not None:
                with contextlib.suppress(OSError):
                    job.quit()


def _usable_cores() -> int:
    """Return the number of PEs that `atoll run` starts without -n: cores by affinity and the quota of the cgroup."""
    command = [launcher_path(), "info", "--json"]
    found = subprocess.run(command, env=surroundings(None), stdout=subprocess.PIPE, text=True, check=True)
    return int(json.loads(found.stdout)["machine"]["usable_cpus"])


def _check_timeout(call: str, timeout: float | None) -> None:
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        raise _atoll.InvalidArgument(f"{call}(): timeout is {timeout!r}; pass seconds above 0, or None.")


def _chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(items)
    while chunk := list(itertools.islice(rest, size)):
        yield chunk


class _Each:
    """The function of `map`, for several sets of arguments. Its global variables were found once, for all tasks."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.variables: Sequence[Value] = ()

    def __call__(self, arguments: list[tuple[Any, ...]]) -> list[Any]:
        return [self.fn(*one) for one in arguments]

    def __reduce__(self) -> tuple[Any, ...]:
        return _Each, (self.fn,)


Pool.__module__ = "atoll"
