"""Tests on PEs, on each PE: a session of pytest that lives as long as the PE runs one test after another."""

from __future__ import annotations

import os
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .outcome import Outcome, worst_of

_sessions: dict[str, pytest.Session] = {}


class TestEnded(Exception):
    """A test has failed or was skipped on this PE. The exception ends the test on the other PEs, too."""

    __test__ = False

    def __init__(self, reports: list[dict[str, Any]], is_skip: bool) -> None:
        super().__init__(reports, is_skip)
        self.reports, self.is_skip = reports, is_skip


def _session(setup: dict[str, Any], path: str) -> pytest.Session:
    """Return a session with the options of the one that asked; made for the first test."""
    key = repr(sorted(setup["options"].items(), key=str))
    if key in _sessions:
        return _sessions[key]
    os.chdir(setup["folder"])
    if setup["draws_alike"]:
        _draw_alike()
    options = {**setup["options"]}
    options["basetemp"] = options.get("basetemp") and f"{options['basetemp']}-pe{_pe()}"
    arguments = [f"--capture={setup['capture']}", path.partition("::")[0]]
    config = pytest.Config.fromdictargs(options, arguments)
    config._do_configure()
    session = pytest.Session.from_config(config)
    config.hook.pytest_sessionstart(session=session)
    _sessions[key] = session
    return session


def _draw_alike() -> None:
    """Let Hypothesis draw the same examples on all PEs, which then make the same collective calls.

    The time of an example, and examples that this PE has stored, must not decide. Profiles and settings of the program
    come later, and so take precedence.
    """
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "atoll", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("atoll")


def _pe() -> int:
    import atoll

    return atoll.my_pe()


def prepare(setup: dict[str, Any], path: str) -> None:
    """Start the session of this PE."""
    _session(setup, path)


def run_test(setup: dict[str, Any], path: str, nodeid: str) -> list[dict[str, Any]]:
    """Run one test; return its reports. Raises TestEnded if this PE leaves it early."""
    session = _session(setup, path)
    os.chdir(setup["folder"])
    items = [item for item in session.perform_collect([path]) if item.nodeid == nodeid]
    if not items:
        raise RuntimeError(f"{nodeid} was not found by the session of a PE; its parameters may be random.")
    session._setupstate.teardown_exact(None)
    try:
        reports = runtestprotocol(items[0], log=False, nextitem=None)
    except BaseException:
        session._setupstate.teardown_exact(None)
        raise
    dump = session.config.hook.pytest_report_to_serializable
    data = [dump(config=session.config, report=report) for report in reports]
    worst = worst_of(reports)
    if worst.ends_the_test:
        raise TestEnded(data, worst == Outcome.SKIPPED)
    return data
