"""Jobs whose PEs pretend to be on several hosts: which PEs reach each other, and the errors of those that do
not.
"""

from __future__ import annotations

import re

import pytest


def routes(atoll, n: int, **env: str) -> list[str]:
    run = atoll("run", "-n", n, atoll.path, "info", "--job", env=env)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_on_one_host_all_go_by_the_window(atoll) -> None:
    lines = routes(atoll, 3)
    assert "3 PEs on 1 host," in lines[0]
    assert [line.split("): ")[1] for line in lines[1:]] == [
        "window to PE 1,2",
        "window to PE 0,2",
        "window to PE 0,1",
    ]


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        ("a,b", ["loopback to PE 1,3, window to PE 2", "loopback to PE 0,2, window to PE 3"]),
        ("a,b,b,b", ["loopback to PE 1-3", "loopback to PE 0, window to PE 2,3"]),
    ],
)
def test_pretended_hosts(atoll, hosts: str, expected: list[str]) -> None:
    lines = routes(atoll, 4, ATOLL_HOST_ID=hosts, ATOLL_TRANSPORT="loopback")
    assert "4 PEs on 2 hosts," in lines[0]
    assert lines[1] == f"  PE 0 (host a): {expected[0]}"
    assert lines[2] == f"  PE 1 (host b): {expected[1]}"


def test_a_transport_forced_on_one_host_carries_all(atoll) -> None:
    assert routes(atoll, 2, ATOLL_TRANSPORT="loopback")[1].endswith("loopback to PE 1")


def test_pes_that_nothing_connects_are_named(atoll) -> None:
    run = atoll(
        "run", "-n", 2, atoll.path, "info", "--job", env={"ATOLL_HOST_ID": "a,b", "ATOLL_TRANSPORT": "window"}
    )
    assert run.returncode != 0
    # Both PEs detect it. The first PE to end may end the other before that PE has reported it.
    assert re.search(
        r"PE (0 \(host a\) cannot reach PE 1 \(host b\)|1 \(host b\) cannot reach PE 0 \(host a\)):",
        run.stderr,
    )
    assert "ATOLL_TRANSPORT=window" in run.stderr


def test_hosts_that_some_pes_name_and_others_do_not(atoll) -> None:
    one = 'case "$ATOLL_LAUNCHED" in 1:1:*) export ATOLL_HOST_ID=b;; esac; exec "$0" info --job'
    run = atoll("run", "-n", 2, "sh", "-c", one, atoll.path, env={"ATOLL_TRANSPORT": "loopback"})
    assert run.returncode != 0
    assert "ATOLL_HOST_ID" in run.stderr and "alike for all PEs" in run.stderr
