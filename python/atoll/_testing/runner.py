"""Tests on PEs, in the process of pytest: sends each to the PEs of a pool and makes one outcome of theirs."""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from io import StringIO
from typing import Any

import pytest
from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter

from .. import _atoll
from .._launching.failures import Failure, exception_of, launch_error, pe_ranges
from .._pool.pool import Pool
from .._pool.task import Task, without_pool
from .outcome import Outcome, Phases, joint, outcome_of, worst_of
from .pe import TestEnded, prepare, run_test
from .text import merged, merged_sections

MOST_PES = 16  # alive at once
_PHASES = ("setup", "call", "teardown")
# Options that select tests, start processes or write reports: not for the sessions of the PEs.
_OWN_OPTIONS: dict[str, Any] = {
    "atoll": False, "cacheclear": False, "collectonly": False, "cov_source": [], "deselect": None, "dist": "no",
    "failedfirst": False, "ignore": None, "ignore_glob": None, "keyword": "", "lf": False, "looponfail": False,
    "markexpr": "", "maxfail": 0, "newfirst": False, "no_cov": True, "numprocesses": None, "stepwise": False,
    "tx": [], "usepdb": False, "xmlpath": None,
}  # fmt: skip


class PeFailure(TerminalRepr):
    """The failure of a test on PEs: shared lines once, the others by PE."""

    def __init__(self, text: str, location: ReprFileLocation) -> None:
        self.text, self.reprcrash = text, location

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: TerminalWriter) -> None:
        """Write the text to pytest's report."""
        for line in self.text.splitlines():
            tw.line(line, red="E   " in line, bold="E   " in line)


class Runner:
    """The pools of a session, by number of PEs, in order of their last use."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._pools: OrderedDict[int, Pool] = OrderedDict()
        options = {k: v for k, v in vars(config.option).items() if _is_plain(v)}
        options.pop(
            "file_or_dir", None
        )  # a PE gets its test's file as an argument; argparse warns of an empty list
        plugins = [*options.get("plugins", []), "no:terminal"]
        options |= {k: v for k, v in _OWN_OPTIONS.items() if k in options}
        options |= {"plugins": plugins, "rootdir": str(config.rootpath)}
        if config.inipath is not None:
            options["inifilename"] = str(config.inipath)
        self._setup = {
            "options": options,
            "folder": str(config.invocation_params.dir),
            "capture": config.getoption("capture"),
            # A test file that uses Hypothesis has imported it by now.
            "draws_alike": "hypothesis" in sys.modules and options.get("hypothesis_seed") is None,
        }

    def run(
        self, item: pytest.Item, nextitem: pytest.Item | None, n: int, timeout: float
    ) -> list[pytest.TestReport]:
        """Run a test on n PEs; return its reports, one for each phase."""
        try:
            pool = self._pool(n, str(item.path))
            name = item.nodeid[item.nodeid.index("::") :]
            arguments = self._setup, f"{item.path}{name}", item.nodeid
            task = pool._task((run_test, arguments, {}), True, timeout)
            pool._complete(task)
        except Exception as error:
            return self._close_fixtures(item, nextitem, [_single(item, "setup", str(error), n)])
        raised = task.future.exception()
        reports = self._reports(item, task, raised, n)
        is_usable = not isinstance(raised, _atoll.Timeout | _atoll.PeDied) and all(
            map(_skips, task.failures.values())
        )
        if not is_usable or self._config.getoption("atoll_fresh"):
            self._end(n)
        return self._close_fixtures(item, nextitem, reports)

    def _pool(self, n: int, path: str) -> Pool:
        """Return n idle PEs that have just joined their job: arrays and teams of earlier tests are gone."""
        pool = self._pools.pop(n, None)
        if pool is not None:
            pool.rejoin()
        else:
            while self._pools and n + sum(self._pools) > MOST_PES:
                self._end(next(iter(self._pools)))
            pool = Pool(n, spare=False, label=True, env={"ATOLL_STALL_WARN": "0"})
            pool.run(prepare, self._setup, path)  # start-up does not count as the test's time
        self._pools[n] = pool
        return pool

    def _end(self, n: int) -> None:
        self._pools.pop(n).shutdown(wait=False)

    def close(self) -> None:
        """End all PEs."""
        while self._pools:
            self._end(next(iter(self._pools)))

    def _reports(
        self, item: pytest.Item, task: Task, error: BaseException | None, n: int
    ) -> list[pytest.TestReport]:
        lists: dict[int, list[dict[str, Any]]] = dict(task.results)
        others: dict[int, Failure] = {}
        for pe, failure in task.failures.items():
            found = exception_of(failure)
            if isinstance(found, TestEnded):
                lists[pe] = found.reports
            else:
                others[pe] = failure
        if isinstance(error, _atoll.Timeout | _atoll.PeDied | _atoll.CollectiveMismatch) or not lists:
            text = without_pool(str(error), run_test.__name__, "the test")  # the next test starts new PEs
            return [_single(item, "call", f"{type(error).__name__}: {text}", n)]
        load = self._config.hook.pytest_report_from_serializable
        by_phase: Phases = {}
        for pe, reports in sorted(lists.items()):
            for data in reports:
                report = load(config=self._config, data=data)
                by_phase.setdefault(report.when, {})[pe] = report
        has_failed = any(worst_of(reports.values()) == Outcome.FAILED for reports in by_phase.values())
        own = {pe: failure for pe, failure in others.items() if not failure["consequence"]}
        if own and not has_failed:
            return [_single(item, "call", str(launch_error("The test", own)), n)]
        by_phase = joint(by_phase)
        return [_merge(item, by_phase[phase], others, n) for phase in _PHASES if phase in by_phase]

    def _close_fixtures(
        self, item: pytest.Item, nextitem: pytest.Item | None, reports: list[pytest.TestReport]
    ) -> list[pytest.TestReport]:
        """Tear down what earlier tests here have left for this one, as pytest does after each test."""
        try:
            item.session._setupstate.teardown_exact(nextitem)
        except Exception as error:
            reports.append(_single(item, "teardown", f"{type(error).__name__}: {error}", 1))
        return reports


def _skips(failure: Failure) -> bool:
    """Return whether a PE has skipped a test, so that it is as after one that passes."""
    found = exception_of(failure)
    return isinstance(found, TestEnded) and found.is_skip


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(k) and _is_plain(v) for k, v in value.items())
    return value is None or isinstance(value, str | int | float | os.PathLike)


def _report(item: pytest.Item, when: Any, outcome: Any, longrepr: Any, **more: Any) -> pytest.TestReport:
    keywords: dict[str, Any] = dict.fromkeys(item.keywords, 1)
    return pytest.TestReport(item.nodeid, item.location, keywords, outcome, longrepr, when, **more)


def _single(item: pytest.Item, when: str, text: str, n: int) -> pytest.TestReport:
    """Return a failure that is not the outcome of single PEs."""
    path, line, _ = item.location
    first = text.split("\n", 1)[0]
    longrepr = PeFailure(f"on {n} PEs: {text}", ReprFileLocation(path, (line or 0) + 1, first))
    return _report(item, when, "failed", longrepr)


def _merge(
    item: pytest.Item, reports: dict[int, pytest.TestReport], others: dict[int, Failure], n: int
) -> pytest.TestReport:
    """Return one report of a phase from those of the PEs: of the first PE with the outcome of the test."""
    worst = worst_of(reports.values())
    chosen = {pe: report for pe, report in reports.items() if outcome_of(report) == worst}
    first = next(iter(chosen.values()))
    longrepr: Any = first.longrepr
    if worst == Outcome.FAILED:
        crash = getattr(first.longrepr, "reprcrash", None)
        path, line, _ = item.location
        message = f"on PE {pe_ranges(chosen)} of {n}: {crash.message if crash else 'failed'}"
        site = ReprFileLocation(crash.path if crash else path, crash.lineno if crash else line or 0, message)
        text = merged({pe: _text(report) for pe, report in chosen.items()}, _reasons(reports, others), n)
        longrepr = PeFailure(text, site)
    more: dict[str, Any] = {
        "sections": merged_sections({pe: report.sections for pe, report in reports.items()}),
        "duration": max(report.duration for report in reports.values()),
        "user_properties": first.user_properties,
    }
    found = _report(item, first.when, first.outcome, longrepr, **more)
    if hasattr(first, "wasxfail"):
        found.wasxfail = first.wasxfail
    return found


def _text(report: pytest.TestReport) -> str:
    """Return a failure's text without colours; with its first line's indentation, unlike longreprtext."""
    writer = TerminalWriter(StringIO())
    writer.hasmarkup = False
    report.toterminal(writer)
    file = writer._file
    assert isinstance(file, StringIO)
    return file.getvalue().strip("\n")


def _reasons(reports: dict[int, pytest.TestReport], others: dict[int, Failure]) -> dict[int, str]:
    """Return the state of each PE that has not failed: passed, skipped, or waited for one that failed."""
    outcomes = {pe: outcome_of(report) for pe, report in reports.items()}
    reasons = {pe: outcome.text for pe, outcome in outcomes.items() if outcome != Outcome.FAILED}
    for pe, failure in others.items():
        lines = [line.strip() for line in failure.get("traceback", "").splitlines()]
        sites = [line for line in lines if line.startswith("File ")]
        reasons[pe] = f"was interrupted at {sites[-1]}" if sites else "was interrupted"
    return reasons
