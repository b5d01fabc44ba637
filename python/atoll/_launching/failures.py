"""Exceptions of PEs: described where they happen, and raised in the process that called."""

from __future__ import annotations

import pickle
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _atoll
from .._job import is_own, without_own_frames
from .._names.others import explain
from .wire import dumps

Failure = dict[str, Any]


class LaunchError(_atoll.Error, RuntimeError):
    """An exception or another end of a PE of atoll.launch; the text has the PE's number and traceback.

    pe: its number, -1 if unknown. The exception itself, if it could be pickled, is `__cause__`.
    """

    def __init__(self, text: str, pe: int = -1) -> None:
        super().__init__(text)
        self.pe = pe


LaunchError.__module__ = "atoll"


def describe(error: BaseException) -> Failure:
    """Describe an exception of this PE for the process that called."""
    if isinstance(error, SystemExit):
        text = "" if error.code is None or isinstance(error.code, int) else str(error.code)
        return {"exit": _status(error), "said": text, "time": time.monotonic(), "consequence": False}
    explain(error)
    try:
        pickled: bytes | None = dumps(error)
        pickle.loads(pickled or b"")
    except Exception:
        pickled = None
    trace = without_own_frames(error, error.__traceback__)
    if trace is not None and is_own(trace.tb_frame.f_code.co_filename):
        trace = None  # it has no other frames, as that of a cell with wrong syntax
    return {
        "error": traceback.format_exception_only(type(error), error)[-1].strip(),
        "traceback": "".join(traceback.format_exception(type(error), error, trace)),
        "pickled": pickled,
        "time": time.monotonic(),
        # Another PE's end or the interrupt is the reason, which is reported in full elsewhere.
        "consequence": isinstance(error, _atoll.PeDied | KeyboardInterrupt),
    }


def _status(error: SystemExit) -> int:
    """Return the exit status that Python derives from sys.exit's argument."""
    if error.code is None:
        return 0
    return error.code & 0xFF if isinstance(error.code, int) else 1


def pe_ranges(pes: Iterable[int], pair: str = "-") -> str:
    """Return "0-2,5" for 0, 1, 2, 5. `pair` joins two neighbours; the launcher writes "0,1"."""
    runs: list[list[int]] = []
    for pe in sorted(pes):
        if runs and runs[-1][1] == pe - 1:
            runs[-1][1] = pe
        else:
            runs.append([pe, pe])
    return ",".join(str(a) if a == b else f"{a}{pair if b == a + 1 else '-'}{b}" for a, b in runs)


def differing_calls(calls: Mapping[int, tuple[str, str]]) -> str | None:
    """Return a text with the PEs whose call differs from that of most PEs; None if all are equal.

    `calls` has the call of each PE, such as "gather(root=0)", and its place, such as " at x.py:8" or nothing. PEs have
    their numbers in the job. The launcher repeats the text as the last line of a job.
    """
    counts = Counter(call for call, _ in calls.values())
    if len(counts) < 2:
        return None
    usual = counts.most_common(1)[0][0]  # the first of several with the same count

    def text_of(wanted: str) -> str:
        pes = [pe for pe, (call, _) in calls.items() if call == wanted]
        return f"PE {pe_ranges(pes, ',')} called {wanted}{calls[pes[0]][1]}"

    other = next(call for call, _ in calls.values() if call != usual)
    return f"{text_of(other)}, where {text_of(usual)}: the calls differ"


def groups(failures: Mapping[int, Failure]) -> list[tuple[list[int], Failure]]:
    """Return the failures that are not consequences of others, equal ones once with their PEs; the first first.

    If all are consequences, all are returned.
    """
    own = {pe: failure for pe, failure in failures.items() if not failure["consequence"]} or dict(failures)
    found: dict[object, tuple[list[int], Failure]] = {}
    for pe, failure in sorted(own.items(), key=lambda item: (item[1]["time"], item[0])):
        key = failure.get("traceback", failure.get("exit"))
        found.setdefault(key, ([], failure))[0].append(pe)
    return list(found.values())


def text_of(call: str, found: list[tuple[list[int], Failure]]) -> str:
    """Return the report of all groups: PEs, exception and traceback."""
    parts = []
    for pes, failure in found:
        which = f"PE {pe_ranges(pes)}"
        if "exit" in failure:
            status = failure["exit"]
            said = f' with "{failure["said"]}"' if failure.get("said") else ""
            parts.append(
                f"{call}: {which} called sys.exit{said} (exit status {status}) instead of returning a result."
            )
        else:
            parts.append(f"{which} raised {failure['error']}\n\n{failure['traceback']}")
    return "\n".join(parts)


def exception_of(failure: Failure) -> BaseException | None:
    """Return the exception itself; None if it could not be pickled or loaded, or is sys.exit's."""
    if failure.get("pickled") is None:
        return None
    try:
        error = pickle.loads(failure["pickled"])
    except Exception:
        return None  # its class may exist in the PE only; the text is complete without it
    return error if isinstance(error, BaseException) else None


def launch_error(call: str, failures: Mapping[int, Failure]) -> LaunchError:
    """Return the error with the report of all failures, whose cause is the first exception."""
    found = groups(failures)
    error = LaunchError(text_of(call, found), min(found[0][0]))
    error.__cause__ = exception_of(found[0][1])
    return error


def caller_error(call: str, failures: Mapping[int, Failure]) -> BaseException:
    """Return the first PE's exception itself, with the report of all failures as its cause."""
    report = launch_error(call, failures)
    original = report.__cause__
    if original is None:
        return report
    report.__cause__ = None
    original.__cause__ = report
    return original
