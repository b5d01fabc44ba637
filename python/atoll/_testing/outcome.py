"""The outcome of a test on one PE, and the phases that remain when the outcomes of all PEs become one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import pytest

Phases = dict[str, dict[int, pytest.TestReport]]


class Outcome(IntEnum):
    """The outcome of a phase on one PE. The greatest of all PEs is that of the test."""

    PASSED = 0
    XPASSED = 1
    XPASSED_STRICTLY = 2
    SKIPPED = 3
    XFAILED = 4
    FAILED = 5

    @property
    def ends_the_test(self) -> bool:
        """True if this PE leaves the test early. One that passes against an xfail mark does not."""
        return self >= Outcome.SKIPPED

    @property
    def text(self) -> str:
        """How reports of failures name it."""
        names = {Outcome.SKIPPED: "skipped", Outcome.XFAILED: "failed as expected", Outcome.FAILED: "failed"}
        return names.get(self, "passed")


def outcome_of(report: pytest.TestReport) -> Outcome:
    """Return the outcome of one phase."""
    is_marked = hasattr(report, "wasxfail")
    if report.skipped:
        return Outcome.XFAILED if is_marked else Outcome.SKIPPED
    if report.passed:
        return Outcome.XPASSED if is_marked else Outcome.PASSED
    # pytest makes this text, and no exception, of a strict mark.
    is_strict = isinstance(report.longrepr, str) and report.longrepr.startswith("[XPASS(strict)]")
    return Outcome.XPASSED_STRICTLY if is_strict else Outcome.FAILED


def worst_of(reports: Iterable[pytest.TestReport]) -> Outcome:
    """Return the greatest outcome of some PEs."""
    return max(map(outcome_of, reports), default=Outcome.PASSED)


def joint(phases: Phases) -> Phases:
    """Return the phases that pytest counts as one test.

    Without that, a test that one PE skips in its setup and another runs would count twice.
    """
    setup, call = phases.get("setup", {}), phases.get("call", {})
    of_setup, of_call = worst_of(setup.values()), worst_of(call.values())
    if not call or not of_setup.ends_the_test or of_setup == of_call == Outcome.FAILED:
        return phases
    if of_setup >= of_call:
        return {phase: reports for phase, reports in phases.items() if phase != "call"}
    return {**phases, "setup": {pe: r for pe, r in setup.items() if not outcome_of(r).ends_the_test}}
