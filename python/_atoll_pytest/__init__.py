"""Atoll's plug-in for pytest: tests marked `pes` run on PEs.

pytest imports this module in every session, so it imports Atoll only when such a test runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from atoll._testing.runner import Runner

_runner = pytest.StashKey["Runner"]()
_MARKER = """pes(n, timeout=60): run the test on n PEs of Atoll, which have called atoll.init(). If n is a list, there is \
one test for each number. The timeout is in seconds for each test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("atoll", "tests on PEs of Atoll")
    group.addoption(
        "--atoll",
        action="store_true",
        help="run only tests that are marked pes",
    )
    group.addoption(
        "--atoll-timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="seconds that a test on PEs may take, unless its marker has a timeout (60)",
    )
    group.addoption("--atoll-fresh", action="store_true", help="start new PEs for every test on PEs")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)


def numbers_of(marker: pytest.Mark, test: str) -> list[int]:
    """Return the numbers of PEs for which a test runs."""
    given = marker.args[0] if len(marker.args) == 1 else marker.kwargs.get("n")
    numbers: list[Any] = (
        list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    )
    extra = set(marker.kwargs) - {"n", "timeout"}
    good = numbers and all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in numbers)
    if extra or len(marker.args) > 1 or not good:
        raise pytest.Collector.CollectError(
            f"{test}: pytest.mark.pes got {marker.args} {marker.kwargs}; pass the number of PEs, or a list of numbers, of "
            "at least 1 each, and perhaps timeout=seconds."
        )
    return numbers


@pytest.fixture
def pes(request: pytest.FixtureRequest) -> int:
    """The number of PEs on which this test runs."""
    marker = request.node.get_closest_marker("pes")
    if marker is None:
        raise pytest.UsageError(
            "The fixture pes is for tests that are marked pes, as in @pytest.mark.pes(4)."
        )
    given = hasattr(request, "param")
    number: int = request.param if given else numbers_of(marker, request.node.nodeid)[0]
    return number


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("pes")
    if marker is None:
        return
    numbers = numbers_of(marker, metafunc.definition.nodeid)
    if len(numbers) > 1:
        if "pes" not in metafunc.fixturenames:
            metafunc.fixturenames.append("pes")
        metafunc.parametrize("pes", numbers, indirect=True, ids=[f"{n}pes" for n in numbers])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("atoll"):
        others = [item for item in items if item.get_closest_marker("pes") is None]
        items[:] = [item for item in items if item.get_closest_marker("pes") is not None]
        config.hook.pytest_deselected(items=others)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    marker = item.get_closest_marker("pes")
    if marker is None:
        return None
    callspec = getattr(item, "callspec", None)
    number = callspec.params.get("pes") if callspec is not None else None
    number = number or numbers_of(marker, item.nodeid)[0]
    timeout = marker.kwargs.get("timeout", item.config.getoption("atoll_timeout"))
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runner_of(item.config).run(item, nextitem, number, timeout):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def runner_of(config: pytest.Config) -> Runner:
    """Return the runner of the session's tests on PEs; made for the first one."""
    found = config.stash.get(_runner, None)
    if found is None:
        from atoll._testing.runner import Runner

        found = config.stash[_runner] = Runner(config)
    return found


def pytest_unconfigure(config: pytest.Config) -> None:
    runner = config.stash.get(_runner, None)
    if runner is not None:
        runner.close()


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    """Leave the time of tests on PEs to the pool, whose time-out reports why the PEs wait."""
    return True if item.get_closest_marker("pes") is not None else None


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> bool | None:
    return True if item.get_closest_marker("pes") is not None else None
