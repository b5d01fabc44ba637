"""Jobs started from Python: the launcher's program, and functions that all PEs run."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from .. import _atoll
from .failures import LaunchError, launch_error
from .wire import dumps

Result = TypeVar("Result")
_TIMEOUT_STATUS = 124  # the launcher's


def launcher_path() -> str:
    """Return the path of the program `atoll`: beside this Python, else on $PATH."""
    beside = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    for folder in beside:
        if os.access(folder / "atoll", os.X_OK):
            return str(folder / "atoll")
    found = shutil.which("atoll")
    if found is None:
        raise _atoll.Unsupported(
            f"The program 'atoll' is neither in {beside[0]} nor on $PATH; pip install . in a clone of Atoll puts it there."
        )
    return found


def launch(
    fn: Callable[..., Result],
    n_pes: int,
    *args: Any,
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
    **kwargs: Any,
) -> list[Result]:
    """Run fn(*args, **kwargs) in n_pes new processes, the PEs of a job, and return the results in PE order.

    Each PE has called atoll.init() when fn starts, and leaves the job after it. The function may be defined
    anywhere, also in a notebook's cell. Function, arguments and results are sent by cloudpickle (the extra
    `notebook`). The PEs' output appears here.

    Parameters
    ----------
    fn, *args, **kwargs
        The function and its arguments.
    n_pes
        At least 1; more PEs than cores is legal.
    timeout
        Seconds after which the job is ended, with a table that shows the wait of every PE.
    env
        Variables of the PEs' environment in addition to this process's, such as {"ATOLL_CHECK": "all"}.

    Returns
    -------
    list
        The result of each PE, in PE order.

    Raises
    ------
    Timeout
        The timeout is over. It is an atoll.Error and a TimeoutError.
    LaunchError
        A PE raised an exception, which is the cause, or ended instead of returning. The text has the number
        of the first such PE, and its traceback or exit status.
    ImportError
        cloudpickle is missing.
    InvalidArgument
        An argument is wrong.

    Notes
    -----
    Not collective: no PE of this process's job is involved.

    Examples
    --------
    >>> atoll.launch(lambda: atoll.my_pe(), n_pes=4)
    [0, 1, 2, 3]
    """
    if not isinstance(n_pes, int) or isinstance(n_pes, bool) or n_pes < 1:
        raise _atoll.InvalidArgument(f"launch(): n_pes is {n_pes!r}; pass an integer of at least 1.")
    if not callable(fn):
        raise _atoll.InvalidArgument(
            f"launch(): fn is {fn!r}; pass a function, and its arguments after n_pes."
        )
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        raise _atoll.InvalidArgument(f"launch(): timeout is {timeout!r}; pass seconds above 0, or None.")
    payload = pickle.dumps(sys.path) + dumps((fn, args, kwargs))
    with _Files(payload, n_pes) as files:
        status, complaint = _run(_command(n_pes, timeout, files), files.all(), env)
        outcomes = files.outcomes()
    if timeout is not None and status == _TIMEOUT_STATUS and "--timeout" in complaint:
        raise _atoll.Timeout(
            f"launch(): the job was ended after timeout={timeout} seconds.\n{complaint}".rstrip()
        )
    return _results(outcomes, status, complaint)


class _Files:
    """The payload and one file for each PE's outcome, in memory. The PEs inherit them; they vanish with the
    last PE.
    """

    def __init__(self, payload: bytes, n_pes: int) -> None:
        self.results: list[int] = []
        self.payload = os.memfd_create("atoll-launch")
        try:
            with open(self.payload, "wb", closefd=False) as out:
                out.write(payload)
            for pe in range(n_pes):
                self.results.append(os.memfd_create(f"atoll-result-{pe}"))
        except OSError as error:
            self.__exit__()
            raise _atoll.SystemFailure(
                f"launch(): a file for each of {n_pes} PEs could not be made: {error}. Use fewer PEs, or "
                "raise `ulimit -n`."
            ) from None

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self.all():
            os.close(fd)

    def all(self) -> list[int]:
        return [self.payload, *self.results]

    def outcomes(self) -> list[dict[str, Any] | None]:
        """Return the outcome of each PE: a result, an exception, or None."""
        found: list[dict[str, Any] | None] = []
        for fd in self.results:
            with open(fd, "rb", closefd=False) as file:
                file.seek(0)
                data = file.read()
            found.append(pickle.loads(data) if data else None)
        return found


def _command(n_pes: int, timeout: float | None, files: _Files) -> list[str]:
    bound = [] if timeout is None else ["--timeout", str(timeout)]
    worker = [sys.executable, "-m", "atoll._launching.worker", str(files.payload), *map(str, files.results)]
    return [launcher_path(), "run", "-n", str(n_pes), *bound, *worker]


def surroundings(env: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment of PEs, with which they import this very package, also if it is not installed."""
    found = {**os.environ, **(env or {})}
    package = str(Path(__file__).resolve().parents[2])
    found["PYTHONPATH"] = os.pathsep.join(filter(None, [package, found.get("PYTHONPATH", "")]))
    return found


def _run(command: Sequence[str], fds: Sequence[int], env: Mapping[str, str] | None) -> tuple[int, str]:
    """Run the job. Its output goes to the current sys.stdout and sys.stderr, which in a notebook are the
    cell's.
    """
    process = subprocess.Popen(
        command,
        pass_fds=fds,
        env=surroundings(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    complaint = _Complaint()
    pumps = [
        threading.Thread(target=_pump, args=(process.stdout, sys.stdout, None), daemon=True),
        threading.Thread(target=_pump, args=(process.stderr, sys.stderr, complaint), daemon=True),
    ]
    for pump in pumps:
        pump.start()
    try:
        status = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        for pump in pumps:
            pump.join()
    return status, complaint.text()


class _Complaint:
    """The launcher's own lines, with the tables below them, and the last other lines. PEs print much after the
    launcher's report: it must not be lost behind their tracebacks.
    """

    def __init__(self) -> None:
        self._reports: deque[str] = deque(maxlen=60)
        self._others: deque[str] = deque(maxlen=20)
        self._in_report = False

    def add(self, line: str) -> None:
        """Add a line of the job's standard error."""
        self._in_report = line.startswith("atoll run: ") or (self._in_report and line.startswith("  "))
        (self._reports if self._in_report else self._others).append(line)

    def text(self) -> str:
        """Return the launcher's lines, then the others."""
        return "".join([*self._reports, *self._others])


def _pump(source: IO[str], target: IO[str], complaint: _Complaint | None) -> None:
    for line in source:
        target.write(line)
        if complaint is not None:
            complaint.add(line)
    target.flush()


def _results(outcomes: list[dict[str, Any] | None], status: int, complaint: str) -> list[Any]:
    failed = {pe: o for pe, o in enumerate(outcomes) if o and "result" not in o}
    missing = [pe for pe, outcome in enumerate(outcomes) if outcome is None]
    # PeDied reports the end of another PE. Prefer a PE's own outcome, if the PE that ended could leave one.
    if failed and not (missing and all(o["consequence"] for o in failed.values())):
        raise launch_error("launch()", failed)
    if status != 0 or missing:
        pe = named_by_launcher(complaint, missing)
        which = f"PE {pe}" if pe >= 0 else f"PEs {', '.join(map(str, missing))}" if missing else "the job"
        text = f"launch(): {which} ended without a result (exit status {status})."
        raise LaunchError(f"{text}\n{complaint}".rstrip(), pe)
    return [outcome["result"] for outcome in outcomes if outcome is not None]


def named_by_launcher(complaint: str, missing: Sequence[int]) -> int:
    """Return which of the PEs without a result ended first, or -1 if that is unknown."""
    if len(missing) == 1:
        return missing[0]
    # The launcher ends the others, and its message begins with the PE that failed.
    found = re.findall(r"^atoll run: PE (\d+) ", complaint, re.MULTILINE)
    return int(found[-1]) if found and int(found[-1]) in missing else -1
