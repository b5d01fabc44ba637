"""A job by an id that the program carries to its PEs itself, over hosts."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hosts import Hosts

MakeHosts = Callable[[int], Hosts]
PROGRAM = Path(__file__).parent / "programs/by_id.py"
TCP = {"UCX_TLS": "tcp,self"}
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("atoll") is None, reason="this Python has no atoll: scripts/install.sh"
)


@pytest.mark.parametrize("places", [[0, 1], [0, 1, 1, 0], [2, 0, 1, 1, 1]])
def test_places(make_hosts: MakeHosts, tmp_path: Path, places: list[int]) -> None:
    hosts = make_hosts(max(places) + 1)
    count = str(len(places))
    started = [
        hosts.start(
            host,
            [sys.executable, str(PROGRAM), str(tmp_path / "id"), str(pe), count],
            {**TCP, "ATOLL_INFO": "1"},
        )
        for pe, host in enumerate(places)
    ]
    done = [each.wait() for each in started]
    assert all(each.status == 0 for each in done), [each.text for each in done]
    assert f"right: {count} PEs on {len(set(places))} hosts" in done[0].out, done[0].text
    assert f"job of {count} PEs, started by unique id, " in done[0].err, done[0].text
