"""torchrun's variables over several hosts, with and without failures."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hosts import PATIENCE, Done, Hosts, Started, rubbish

MakeHosts = Callable[[int], Hosts]
SECRET = {"ATOLL_SECRET": "between us"}


def wait_all(started: list[Started], seconds: float = PATIENCE) -> list[Done]:
    end = time.monotonic() + seconds
    return [each.wait(max(1.0, end - time.monotonic())) for each in started]


def told(done: list[Done]) -> str:
    return "\n".join(f"PE {pe}: {each.text}" for pe, each in enumerate(done))


@pytest.mark.parametrize(
    "places", [[0, 1], [0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 2, 3], [3, 0, 3, 1, 3, 0]]
)
def test_places(make_hosts: MakeHosts, pe: str, places: list[int]) -> None:
    hosts = make_hosts(max(places) + 1)
    done = wait_all(hosts.torchrun(places, [pe], SECRET))
    assert all(each.status == 0 for each in done), told(done)
    assert f"ok: {len(places)} PEs on {len(set(places))} hosts by tcp store" in done[0].out
    assert "".join(each.err for each in done) == ""


def test_no_secret_is_one_warning(make_hosts: MakeHosts, pe: str) -> None:
    done = wait_all(make_hosts(2).torchrun([0, 0, 1, 1], [pe]))
    assert all(each.status == 0 for each in done), told(done)
    warnings = [line for each in done for line in each.err.splitlines()]
    assert len(warnings) == 1 and "the network is trusted" in warnings[0], told(done)


def rank(hosts: Hosts, number: int, count: int, **more: str) -> dict[str, str]:
    """The variables of one process; the store is on host 0."""
    place = {"MASTER_ADDR": hosts.address(0), "MASTER_PORT": "29500"}
    return {"RANK": str(number), "WORLD_SIZE": str(count), **place, **SECRET, **more}


WAITS = """
import atoll
atoll.init()
word = atoll.zeros(1, dtype="int64")
if atoll.my_pe() == 1:
    atoll.wait_until(word, "==", 7)
atoll.barrier_all()
"""


def test_a_stall_is_reported_once(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    command = [sys.executable, "-c", WAITS]
    started = hosts.torchrun([0, 0, 1, 1], command, {**SECRET, "ATOLL_STALL_WARN": "0.5"})
    heading = "every PE waits and nothing has moved"
    started[0].wait_for(heading + " for 0.5 s (ATOLL_STALL_WARN)")
    started[0].wait_for("  PE 3: barrier")
    time.sleep(1.5)
    said = "".join(each.err() for each in started)
    assert said.count(heading) == 1 and "atoll: PE 1 waits in wait_until" in said, said
    assert all(each.process.poll() is None for each in started), said


def test_wrong_secret(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    pe0 = hosts.start(0, [pe], rank(hosts, 0, 2, ATOLL_INIT_TIMEOUT="8"))
    stranger = hosts.run(1, [pe], rank(hosts, 1, 2, ATOLL_SECRET="guessed"))
    assert stranger.status == 4 and "its ATOLL_SECRET is another" in stranger.err, stranger.text
    waited = pe0.wait()
    assert waited.status == 4, waited.text
    assert "PE 1 of 2 did not come (connections of others that were refused: 1)" in waited.err, waited.text
    assert f"a connection from {hosts.address(1)}:" in waited.err


def test_missing_pes_are_named(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    environment = {**SECRET, "WORLD_SIZE": "5", "ATOLL_INIT_TIMEOUT": "6"}
    done = wait_all(hosts.torchrun([0, 1, 1], [pe], environment))
    for each in done:
        assert each.status == 4 and "PE 3,4 of 5 did not come" in each.err, told(done)


def test_numbers_of_pes_that_differ(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    started = [hosts.start(0, [pe], rank(hosts, 0, 2)), hosts.start(1, [pe], rank(hosts, 1, 3))]
    done = wait_all(started)
    for each in done:
        assert each.status == 4 and "says that it is PE 1 of 3, PE 0 was told that there are 2" in each.err, (
            told(done)
        )


@pytest.mark.parametrize("host", [0, 1])
def test_a_second_pe_0_is_named_by_all(make_hosts: MakeHosts, pe: str, host: int) -> None:
    """It is on the store's host, where the port is taken, or on another, where the address is not local.

    The listening PE need not be the first that claims to be PE 0.
    """
    hosts = make_hosts(2)
    first = hosts.start(0, [pe], rank(hosts, 0, 3))
    other = hosts.start(1, [pe], rank(hosts, 1, 3))
    listens = 'until ss -ltnH | grep -q ":29500 "; do sleep 0.05; done'
    assert hosts.run(0, ["sh", "-c", listens]).status == 0
    second = hosts.start(host, [pe], rank(hosts, 0, 3))
    for done in wait_all([first, other, second]):
        assert done.status == 4, done.text
        said = rf"Process \d+ on n[0{host}] says that it is PE 0, which process \d+ already is"
        assert re.search(said, done.err), done.text


def test_settings_that_differ(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    started = [
        hosts.start(0, [pe], rank(hosts, 0, 2)),
        hosts.start(1, [pe], rank(hosts, 1, 2, ATOLL_CHECK="all")),
    ]
    done = wait_all(started)
    for each in done:
        assert (
            each.status == 4 and "ATOLL_CHECK=basic or args" in each.err and "ATOLL_CHECK=all" in each.err
        ), told(done)


def test_atoll_port(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    done = wait_all(hosts.torchrun([0, 1], [pe], {**SECRET, "ATOLL_PORT": "31007", "MASTER_PORT": "1"}))
    assert all(each.status == 0 for each in done), told(done)


def test_rubbish_has_no_effect(make_hosts: MakeHosts, pe: str, tmp_path: Path) -> None:
    """A stranger on another host sends random bytes to the store's port while the job starts."""
    hosts = make_hosts(3)
    pe0 = hosts.start(0, [pe], rank(hosts, 0, 2))
    seed = int(os.environ.get("ATOLL_TEST_SEED", random.randrange(1 << 30)))
    stranger = hosts.run(2, rubbish(hosts.address(0), 29500, 200, seed))
    assert stranger.status == 0 and int(stranger.out) == 200, f"seed {seed}\n{stranger.text}"
    pe1 = hosts.start(1, [pe], rank(hosts, 1, 2))
    done = wait_all([pe0, pe1])
    assert all(each.status == 0 for each in done), f"seed {seed}\n{told(done)}"
    assert f"a connection from {hosts.address(2)}:" in done[0].err
    assert len(done[0].err.splitlines()) <= 9, done[0].err


@pytest.mark.parametrize("victim", [0, 1, 3])
def test_a_killed_pe_is_named(make_hosts: MakeHosts, pe: str, victim: int) -> None:
    started = make_hosts(2).torchrun([0, 0, 1, 1], [pe, "die", str(victim)], SECRET)
    done = wait_all(started)
    for number, each in enumerate(done):
        if number == victim:
            assert each.status == -signal.SIGKILL, told(done)
        else:
            assert each.status == 9 and re.search(
                f"the job is over: PE {victim}( .process.*)? died", each.err
            ), told(done)


def test_abort_ends_all(make_hosts: MakeHosts, pe: str) -> None:
    for who in (0, 2):
        done = wait_all(make_hosts(2).torchrun([0, 0, 1, 1], [pe, "abort", str(who)], SECRET))
        for number, each in enumerate(done):
            assert each.status == (5 if number == who else 9), told(done)
            assert number == who or f"PE {who} has had enough." in each.err, told(done)


@pytest.mark.parametrize("gone", [0, 1])
def test_a_vanished_host_is_named(make_hosts: MakeHosts, pe: str, gone: int) -> None:
    hosts = make_hosts(3)
    places = [0, 0, 1, 1, 2]
    started = hosts.torchrun(places, [pe, "wait"], SECRET)
    started[0].wait_for("started")
    hosts.cut(gone)
    done = wait_all(started)  # without it the network would report after a quarter of an hour
    expected = "Host n1 (PE 2,3) does not answer" if gone == 1 else "PE 0's host does not answer"
    for number, each in enumerate(done):
        assert each.status == 9, told(done)
        if places[number] != gone and number != 0:
            assert expected in each.err, told(done)


def test_a_stopped_pe_is_waited_for(make_hosts: MakeHosts, pe: str) -> None:
    """A PE may be in a debugger, or swapped out: a slow PE is not dead, however long it takes."""
    hosts = make_hosts(2)
    started = hosts.torchrun([0, 1], [pe, "stop", "1"], {**SECRET, "ATOLL_PEER_TIMEOUT": "2"})
    started[1].wait_until_stopped()
    time.sleep(5)
    assert started[0].process.poll() is None, started[0].wait(1).text
    os.killpg(started[1].process.pid, signal.SIGCONT)
    done = wait_all(started)
    assert all(each.status == 0 for each in done), told(done)


def test_packet_loss(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    for host in (0, 1):
        hosts.lose(host, 1)
    done = wait_all(hosts.torchrun([0, 0, 1, 1], [pe], SECRET))
    assert all(each.status == 0 for each in done), told(done)


def test_a_port_that_is_taken(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    listener = hosts.start(
        0,
        [
            "python3",
            "-c",
            "import socket, time; s = socket.create_server(('', 29500)); print('on', flush=True); time.sleep(600)",
        ],
    )
    listener.wait_for("on")
    done = hosts.torchrun([0, 1], [pe], {**SECRET, "ATOLL_INIT_TIMEOUT": "2"})[0].wait()
    assert done.status == 4 and "another program does" in done.err, done.text
