"""`atoll run --hosts`, with an agent in place of ssh."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILT
from hosts import PATIENCE, Done, Hosts, Started

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")


def start(hosts: Hosts, *arguments: str, **environment: str) -> Started:
    return hosts.start(0, [ATOLL, "run", *arguments], {"ATOLL_AGENT": hosts.agent(), **environment})


def run(hosts: Hosts, *arguments: str, **environment: str) -> Done:
    return start(hosts, *arguments, **environment).wait()


@pytest.mark.parametrize("places", ["n0:2,n1:2", "n1:1,n0:3", "n1", "n3:1,n1:2,n0:2,n2:1"])
def test_places(make_hosts: MakeHosts, pe: str, places: str) -> None:
    hosts = make_hosts(4)
    done = run(hosts, "--hosts", places, pe)
    count = sum(int(part.partition(":")[2] or 1) for part in places.split(","))
    expected = f"ok: {count} PEs on {places.count(',') + 1} hosts by launcher over hosts"
    assert done.status == 0 and expected in done.out and done.err == "", done.text


def test_output_has_the_numbers_of_the_pes(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    done = run(
        hosts,
        "--label",
        "--hosts",
        "n0:1,n1:2",
        "sh",
        "-c",
        'echo "$(hostname) $MINE"; echo two >&2',
        MINE="",
    )
    assert done.status == 0, done.text
    assert sorted(done.out.split("\n")[:-1]) == ["[0] n0 ", "[1] n1 ", "[2] n1 "], done.text
    assert sorted(done.err.split("\n")[:-1]) == ["[0] two", "[1] two", "[2] two"], done.text


def test_arguments_and_variables_arrive(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    odd = "two  words; $HOME 'quoted' \"twice\" \\ *"
    done = run(
        hosts,
        "--hosts",
        "n1",
        "--env",
        f"GIVEN={odd}",
        "sh",
        "-c",
        'printf "%s|%s" "$1" "$GIVEN"; pwd',
        "-",
        odd,
    )
    assert done.status == 0 and done.out == f"{odd}|{odd}{Path.cwd()}\n", done.text


@pytest.mark.parametrize("victim", [0, 3])
def test_a_killed_pe_is_named(make_hosts: MakeHosts, pe: str, victim: int) -> None:
    done = run(make_hosts(2), "--hosts", "n0:2,n1:2", pe, "die", str(victim))
    assert done.status == 128 + signal.SIGKILL, done.text
    assert re.search(rf"PE {victim} was killed by SIGKILL \S+ s after the start", done.err), done.text
    assert f"the job is over: PE {victim} (process" in done.err, done.text


def test_global_exit_gives_its_status(make_hosts: MakeHosts, pe: str) -> None:
    done = run(make_hosts(2), "--hosts", "n0:2,n1:2", pe, "abort", "1")
    assert done.status == 5 and "PE 1 has had enough." in done.err, done.text


def test_a_status_is_the_jobs(make_hosts: MakeHosts) -> None:
    done = run(make_hosts(2), "--hosts", "n0:1,n1:1", "sh", "-c", 'test "$(hostname)" = n0 || exit 7')
    assert done.status == 7 and "host n1 (PE 1) ended with status 7" in done.err, done.text


def test_an_unknown_host(make_hosts: MakeHosts, pe: str) -> None:
    done = run(make_hosts(2), "--hosts", "n0:2,nowhere:3", pe)
    assert done.status == 255 and "host nowhere (PE 2-4)" in done.err and "could not reach it" in done.err, (
        done.text
    )


def test_a_program_that_a_host_lacks(make_hosts: MakeHosts) -> None:
    done = run(make_hosts(2), "--hosts", "n0:2,n1:1", "/nowhere/program")
    assert done.status == 127, done.text
    for host in ("n0", "n1"):
        assert f"on host {host}: /nowhere/program: there is no such file" in done.err, done.text


def test_an_invalid_setting(make_hosts: MakeHosts) -> None:
    done = run(make_hosts(2), "--hosts", "n0:1,n1:1", "--env", "ATOLL_CHECK=most", "true")
    assert done.status == 2 and "on host n1: ATOLL_CHECK=most" in done.err, done.text


@pytest.mark.parametrize("hosts", ["n0:0", "n0:x", ":2", "n0:2,,n1:2", "-oProxyCommand=x:2", "n0:999999"])
def test_hosts_that_cannot_be_read(hosts: str) -> None:
    done = subprocess.run(
        [ATOLL, "run", "--hosts", hosts, "true"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "expected NAME:PES" in done.stderr, done.stderr


def test_numbers_that_differ() -> None:
    command = [ATOLL, "run", "-n", "3", "--hosts", "a:2,b:2", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "those hosts have 4 PEs" in done.stderr, done.stderr


def test_no_agent() -> None:
    command = [ATOLL, "run", "--agent", "/nowhere/ssh", "--hosts", "a", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 127 and "/nowhere/ssh cannot be started" in done.stderr, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_all(make_hosts: MakeHosts, pe: str, number: signal.Signals) -> None:
    hosts = make_hosts(2)
    started = start(hosts, "--hosts", "n0:2,n1:2", pe, "wait")
    started.wait_for("started")
    os.kill(started.process.pid, number)
    done = started.wait()
    assert done.status == 128 + number and hosts.empty_within(), done.text


def test_a_launcher_that_dies(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    started = start(hosts, "--hosts", "n0:2,n1:2", pe, "wait")
    started.wait_for("started")
    os.kill(started.process.pid, signal.SIGKILL)
    started.process.wait(PATIENCE)
    assert hosts.empty_within()


def test_a_vanished_host_is_named(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(3)
    started = start(hosts, "--hosts", "n0:1,n1:2,n2:1", pe, "wait")
    started.wait_for("started")
    hosts.cut(1)
    done = started.wait()
    assert (
        done.status != 0 and done.status != 124 and "Host n1 (PE 1,2) does not answer within 3 s" in done.err
    ), done.text
    assert hosts.empty_within()


def test_a_vanished_host_that_notices_it_first(make_hosts: MakeHosts, pe: str) -> None:
    hosts = make_hosts(2)
    sooner = ("--env", "ATOLL_PEER_TIMEOUT=2")
    started = start(hosts, *sooner, "--hosts", "n0:1,n1:2", pe, "wait", ATOLL_PEER_TIMEOUT="5")
    started.wait_for("started")
    hosts.cut(1)
    done = started.wait()
    assert done.status not in (0, 124), done.text
    assert "atoll run: Host n1 (PE 1,2) does not answer within 5 s" in done.err, done.text
    assert "ended with status 9" not in done.err, done.text
    assert hosts.empty_within()


WAITS = """
import os, signal, sys, time
import atoll
atoll.init()
word = atoll.zeros(1, dtype="int64")
if atoll.my_pe() == 3 and "stop" in sys.argv:
    os.kill(os.getpid(), signal.SIGSTOP)
if atoll.my_pe() == 1:
    atoll.wait_until(word, "==", 7)
if atoll.my_pe() != 0 or "all" in sys.argv:
    atoll.barrier_all()
time.sleep(1000)
"""


@pytest.mark.parametrize("stopped", [False, True])
def test_timeout_says_what_the_pes_of_all_hosts_do(make_hosts: MakeHosts, stopped: bool) -> None:
    hosts = make_hosts(2)
    program = [sys.executable, "-c", WAITS, *(["stop"] if stopped else [])]
    seconds = 10
    while True:  # on a busy machine four interpreters may need longer to come so far
        done = run(hosts, "--timeout", str(seconds), "--hosts", "n0:2,n1:2", *program)
        if not re.search("has not called init|PE [123]: in its own code", done.err) or seconds > PATIENCE / 4:
            break
        seconds *= 2
    assert done.status == 124 and hosts.empty_within(), done.text
    lines = [line for line in done.err.splitlines() if line.startswith("  PE")]
    lines.sort()  # the PE at fault comes first
    assert lines[0] == "  PE 0: in its own code", done.text
    waits = "  PE 1: wait_until on the int64 array of shape (1,) allocated at <string>:5: found 0, waiting for == 7, at <string>:9 ("
    assert lines[1].startswith(waits), done.text
    assert lines[2].startswith("  PE 2: barrier"), done.text
    last = "  PE 3: does not answer: its process is stopped" if stopped else "  PE 3: barrier"
    assert lines[3].startswith(last) and len(lines) == 4, done.text
    assert f"the job was ended after its --timeout of {seconds} s" in done.err
    assert "killed" not in done.err and "status" not in done.err, done.text


def test_a_stall_over_hosts_is_reported_once(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    started = start(hosts, "--hosts", "n0:2,n1:2", sys.executable, "-c", WAITS, "all", ATOLL_STALL_WARN="0.5")
    started.wait_for("every PE waits and nothing has moved for 0.5 s (ATOLL_STALL_WARN)")
    started.wait_for("  PE 3: barrier")
    time.sleep(1.5)
    heading = "every PE waits and nothing has moved"
    assert started.process.poll() is None and started.err().count(heading) == 1, started.err()
    assert started.err().startswith("atoll run: PE 1 waits in wait_until"), started.err()
    os.kill(started.process.pid, signal.SIGQUIT)
    started.wait_for("atoll run: what the PEs are doing")
    os.kill(started.process.pid, signal.SIGTERM)
    assert started.wait().status == 128 + signal.SIGTERM and hosts.empty_within()


def test_timeout_before_init(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    done = run(hosts, "--timeout", "1", "--hosts", "n0:1,n1:1", "sleep", "100")
    assert done.status == 124 and hosts.empty_within(), done.text
    assert "PE 0,1: has not called init" in done.err, done.text
