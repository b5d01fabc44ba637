"""Comforts for programs: output in PE order, work of one PE, named phases."""

from __future__ import annotations

import builtins
import functools
import pickle
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, TextIO, TypeVar

from .. import _atoll
from .._objects import bcast_object, check_pe, gather_object

Function = TypeVar("Function", bound=Callable[..., Any])
_here = threading.local()  # .phases: names of the phases that this thread is in
_times: dict[str, list[float]] = {}  # path of a phase: number of ends, seconds


def _check(function: str, pe: int, team: _atoll.Team | None) -> None:
    """Raise NotInitialized, PeError or InvalidArgument if the function cannot run on this PE."""
    _atoll._check_job(function)  # here: a frame of _objects would give the error its name
    check_pe(function, "pe", pe, team)


def print_in_order(
    *values: object,
    sep: str = " ",
    end: str = "\n",
    file: TextIO | None = None,
    flush: bool = False,
    team: _atoll.Team | None = None,
) -> None:
    """Print the values of all PEs in PE order: PE 0 of the team prints all of them.

    Parameters
    ----------
    *values, sep, end, file, flush
        As for the built-in print. sep and end are each PE's own; file and flush are those of PE 0.
    team
        The PEs that call; None: all.

    Raises
    ------
    PeDied, CollectiveMismatch
        A PE has ended; the PEs called differently (unless ATOLL_CHECK=none).

    Notes
    -----
    Collective over the team: every PE calls it. Lines of separate prints of several PEs may appear in another
    order. It is not part of `from atoll import *`, which would replace the built-in.

    For example, `atoll.print("PE", atoll.my_pe(), "has", x.sum())` prints "PE 0 has 0.0", then "PE 1 has 0.0".
    """
    for name, given in (("sep", sep), ("end", end)):
        if not isinstance(given, str):
            raise TypeError(f"print({name}={given!r}): expected a string.")
    _check("print", 0, team)
    text = sep.join(map(str, values)) + end
    texts = gather_object(text, 0, team=team)
    if texts is not None:
        builtins.print("".join(texts), end="", file=file, flush=flush)


print_in_order.__name__ = print_in_order.__qualname__ = "print"


class on:
    """Select one PE: a condition for `if`, and a decorator of functions that only that PE runs.

    Parameters
    ----------
    pe
        The PE; within the team, if one is given.
    team
        The team that numbers the PE; None: all PEs.

    Raises
    ------
    PeError
        There is no such PE. It is raised at the test or the call, as NotInitialized is.

    Notes
    -----
    Local. A decorated function returns None on other PEs, which do not wait for it. `once` also passes the result
    to all PEs.

    Examples
    --------
    >>> lines = ["all done"] if atoll.on(0) else []
    >>> @atoll.on(0)
    ... def report(text): print(text)
    """

    def __init__(self, pe: int, team: _atoll.Team | None = None) -> None:
        if callable(pe):
            raise TypeError(f"on({_name_of(pe)}): expected a PE, as in @atoll.on(0).")
        self._pe, self._team = pe, team

    def __bool__(self) -> bool:
        _check("on", self._pe, self._team)
        return bool(_atoll.my_pe(self._team) == self._pe)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise TypeError(f"on({self._pe!r})({function!r}): expected a function, which that PE then runs.")

        @functools.wraps(function)
        def only_there(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs) if self else None

        return only_there

    def __repr__(self) -> str:
        return f"atoll.on({self._pe!r})"


def once(
    function: Callable[..., Any] | None = None, *, pe: int = 0, team: _atoll.Team | None = None
) -> Callable[..., Any]:
    """Return a function that one PE runs; its result is returned on every PE.

    Parameters
    ----------
    function
        The function; its result must be picklable. Without it, a decorator is returned.
    pe
        The PE that runs it; within the team, if one is given.
    team
        The PEs that call; None: all.

    Returns
    -------
    callable
        The function, whose calls are collective over the team. An exception is raised on every PE.

    Raises
    ------
    PeError, InvalidArgument, PeDied, CollectiveMismatch
        By each call: there is no such PE; the result cannot be pickled; a PE has ended; the PEs called
        differently (unless ATOLL_CHECK=none).

    Notes
    -----
    For set-up, by pickle: large arrays are faster by `broadcast`.

    Examples
    --------
    >>> table = atoll.once(lambda: [1, 2, 3])()
    """
    if function is None:
        return functools.partial(once, pe=pe, team=team)
    if not callable(function):
        raise TypeError(f"once({function!r}): expected a function; the PE's number is pe=.")
    run = function

    @functools.wraps(run)
    def everywhere(*args: Any, **kwargs: Any) -> Any:
        _check("once", pe, team)
        if _atoll.my_pe(team) != pe:
            failed, value = bcast_object(None, pe, team=team)
            if failed:
                raise value
            return value
        try:
            value = run(*args, **kwargs)
        except Exception as error:
            bcast_object((True, _picklable(error)), pe, team=team)
            raise
        bcast_object((False, value), pe, team=team)
        return value

    return everywhere


def _name_of(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _picklable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def current_phase() -> str:
    """Return the phases that this thread is in, joined by slashes; empty outside any."""
    return "/".join(getattr(_here, "phases", ()))


class phase:
    """Name a part of the program: `with atoll.phase("assembly"):`, or as a decorator.

    The name appears in log records (`atoll.logging`) and, with ATOLL_NVTX=1, as a range in Nsight's time lines.
    `phase.times()` has the seconds of each. Phases may be nested.

    Parameters
    ----------
    name
        The phase's name, without slashes.

    Raises
    ------
    InvalidArgument
        The name is empty or not a text, or has a slash.

    Notes
    -----
    Local; also outside a job. Each PE and thread has its own.

    Examples
    --------
    >>> with atoll.phase("assembly"):
    ...     x[0] = 1
    >>> times, seconds = atoll.phase.times()["assembly"]
    """

    def __init__(self, name: str) -> None:
        if callable(name):
            called = _name_of(name)
            raise _atoll.InvalidArgument(
                f'phase({called}): the name is missing, as in @atoll.phase("{called}").'
            )
        if not isinstance(name, str) or not name or "/" in name:
            raise _atoll.InvalidArgument(f"phase(): name is {name!r}; pass a text without slashes.")
        self.name = name
        self._began: list[float] = []

    def __enter__(self) -> phase:
        stack = _here.__dict__.setdefault("phases", [])
        stack.append(self.name)
        _nvtx_range(self.name)
        self._began.append(time.perf_counter())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        seconds = time.perf_counter() - self._began.pop()
        entry = _times.setdefault(current_phase(), [0, 0.0])
        entry[0] += 1
        entry[1] += seconds
        _here.phases.pop()
        _nvtx_range(None)

    def __call__(self, function: Function) -> Function:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with phase(self.name):
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]

    @staticmethod
    def times() -> dict[str, tuple[int, float]]:
        """Return how often and how long this PE was in each phase. Local.

        Returns
        -------
        dict
            By the path of the phase, such as "step/solve": the number of its ends, and their seconds in total.
        """
        return {path: (int(count), seconds) for path, (count, seconds) in _times.items()}

    def __repr__(self) -> str:
        return f"atoll.phase({self.name!r})"


def _nvtx_range(name: str | None) -> None:
    """Open a range of NVTX, or close it, if ATOLL_NVTX had the package load it."""
    module = sys.modules.get(f"{__package__}.nvtx")
    if module is None:
        return
    push, pop = module._provider()
    pop() if name is None else push(name)


for _public in (print_in_order, on, once, phase):
    _public.__module__ = "atoll"
