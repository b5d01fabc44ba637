"""`atoll run --hosts --trace`: one file for the PEs of all hosts, whose clocks began at different times."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import BUILT, ROOT
from hosts import PATIENCE, Done, Hosts

sys.path.append(str(ROOT / "tests/python"))

MakeHosts = Callable[[int], Hosts]
ATOLL = str(BUILT / "bin/atoll")
PROGRAM = [sys.executable, str(Path(__file__).parent / "programs/traced.py")]
TCP = {"UCX_TLS": "tcp,self"}
# Seconds by which the clocks of n1, n2, ... are ahead of n0's.
AHEAD = 100_000
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("atoll") is None or importlib.util.find_spec("perfetto") is None,
    reason="this Python has no atoll, or no perfetto: scripts/install.sh, make setup-test",
)


def with_clocks(hosts: Hosts) -> str:
    """An agent whose hosts have clocks of their own; without the right to that, all have one clock."""
    enter = ["unshare", "--time", "--monotonic", "1", "--fork"]
    if subprocess.run([*enter, "true"], capture_output=True, check=False).returncode:
        return hosts.agent()
    path = hosts.folder / "agent_with_clocks.sh"
    lines = ["#!/bin/sh", "number=${1#n}", f"exec unshare --time --monotonic $((number * {AHEAD})) --fork \\"]
    path.write_text("\n".join([*lines, f'    {hosts.agent()} "$@"']) + "\n")
    path.chmod(0o755)
    return str(path)


def run(
    hosts: Hosts, places: str, *what: str, options: tuple[str, ...] = (), agent: str | None = None
) -> Done:
    command = [ATOLL, "run", "--hosts", places, "--trace", str(hosts.folder / "out.pftrace"), *options]
    return hosts.run(0, [*command, *PROGRAM, *what], {"ATOLL_AGENT": agent or with_clocks(hosts), **TCP})


def decoded(hosts: Hosts):
    from traces import Decoded

    return Decoded(hosts.folder / "out.pftrace")


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    hosts = Hosts(3, tmp_path_factory.mktemp("traced"))
    try:
        done = run(hosts, "n0:2,n1:1,n2:2")
        assert (done.status, done.err) == (0, ""), done.text
        yield hosts
    finally:
        hosts.close()


PES = ["PE 0 (host n0)", "PE 1 (host n0)", "PE 2 (host n1)", "PE 3 (host n2)", "PE 4 (host n2)"]


def test_the_file_has_the_pes_of_all_hosts(traced: Hosts) -> None:
    trace = decoded(traced)
    assert sorted(trace.processes.values()) == PES
    assert (trace.job["PEs"], trace.job["dropped events"]) == (5, 0)
    for name in ("put_signal", "signal_wait_until", "step"):
        counts = dict.fromkeys(PES, 0)
        for one in trace.named(name):
            counts[trace.pe(one.track)] += 1
        assert set(counts.values()) == {10}, (name, counts)


def test_signals_begin_before_the_waits_that_they_end(traced: Hosts) -> None:
    trace = decoded(traced)
    error_ns = trace.job["clock error (us)"] * 1000
    starts = {flow: one for one in trace.slices for flow in one.flows}
    assert set(starts) == set(trace.woken)
    pairs = defaultdict(int)
    for flow, one in starts.items():
        time, track = trace.woken[flow]
        pairs[trace.pe(one.track), trace.pe(track)] += 1
        is_near = trace.pe(one.track)[5:] == trace.pe(track)[5:]
        assert one.begin <= time + (0 if is_near else error_ns)
    assert pairs == {(pe, PES[(number + 1) % 5]): 10 for number, pe in enumerate(PES)}


def test_no_pe_leaves_a_barrier_before_all_have_come(traced: Hosts) -> None:
    barriers = defaultdict(list)
    for one in decoded(traced).named("barrier"):
        barriers[one.notes["call"]].append(one)
    whole = [members for members in barriers.values() if len(members) == len(PES)]
    assert len(whole) >= 10
    for members in whole:
        assert max(one.begin for one in members) <= min(one.end for one in members)


def test_times_are_those_of_the_launcher(traced: Hosts) -> None:
    trace = decoded(traced)
    begins = defaultdict(list)
    for one in trace.slices:
        begins[trace.pe(one.track)].append(one.begin)
    assert max(min(times) for times in begins.values()) < min(max(times) for times in begins.values())
    assert trace.job["clock error (us)"] < AHEAD * 1e6  # so the clocks were compared


def test_a_report_tells_of_the_clocks(traced: Hosts) -> None:
    path = str(traced.folder / "out.pftrace")
    done = subprocess.run([ATOLL, "report", path], capture_output=True, text=True, check=True)
    assert "\n3 hosts, whose clocks agree within " in done.stdout, done.stdout


def test_a_killed_pe_has_its_events_up_to_then(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    done = run(hosts, "n0:1,n1:2", "kill", "2")
    assert done.status == 128 + signal.SIGKILL, done.text
    assert "lacks events" not in done.err, done.text
    trace = decoded(hosts)
    assert [trace.pe(one.track) for one in trace.named("put")] == ["PE 2 (host n1)"] * 7
    assert hosts.empty_within()


def test_missing_events_of_a_killed_agent_are_reported(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    done = run(hosts, "n0:1,n1:2", "kill-agent", "2")
    assert done.status == 128 + signal.SIGKILL, done.text
    expected = (
        "atoll run: the trace lacks events of host n1 (PE 1,2): its agent ended, or was lost, before it had"
    )
    assert expected in done.err, done.text
    trace = decoded(hosts)
    assert {trace.pe(one.track) for one in trace.slices} == {"PE 0 (host n0)"}
    assert hosts.empty_within()


@pytest.mark.parametrize("end", ["exit 255", "exit 1", "kill -TERM $$", "sleep 600"])
def test_the_end_of_ssh_does_not_change_the_status(make_hosts: MakeHosts, end: str) -> None:
    hosts = make_hosts(2)
    path = hosts.folder / "bad_end.sh"
    path.write_text(f'#!/bin/sh\n{with_clocks(hosts)} "$@"\n{end}\n')
    path.chmod(0o755)
    done = run(hosts, "n0:1,n1:1", agent=str(path))
    assert (done.status, done.err) == (0, ""), done.text
    assert sorted(decoded(hosts).processes.values()) == ["PE 0 (host n0)", "PE 1 (host n1)"]
    assert hosts.empty_within()


def test_output_that_cannot_be_written_is_the_status_with_a_trace(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    path = hosts.folder / "deaf.sh"
    path.write_text(f'#!/bin/sh\nexec {with_clocks(hosts)} "$@" >/dev/full\n')
    path.chmod(0o755)
    done = run(hosts, "n0:1,n1:1", "say", "1", agent=str(path))
    assert done.status == 1, done.text
    assert {decoded(hosts).pe(one.track) for one in decoded(hosts).slices} == {
        "PE 0 (host n0)",
        "PE 1 (host n1)",
    }


def test_a_vanished_host_costs_its_events_only(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    trace = str(hosts.folder / "out.pftrace")
    command = [ATOLL, "run", "--hosts", "n0:1,n1:1", "--trace", trace, *PROGRAM, "wait", "1"]
    started = hosts.start(0, command, {"ATOLL_AGENT": with_clocks(hosts), **TCP})
    started.wait_for("ready")
    hosts.cut(1)
    done = started.wait()
    assert done.status not in (0, 124), done.text
    assert "lacks events of host n1 (PE 1): its agent ended, or was lost," in done.err, done.text
    assert {decoded(hosts).pe(one.track) for one in decoded(hosts).slices} == {"PE 0 (host n0)"}


def test_a_time_limit_leaves_the_events(make_hosts: MakeHosts) -> None:
    hosts = make_hosts(2)
    seconds = 3
    while True:  # on a busy machine two interpreters may need longer to come so far
        done = run(hosts, "n0:1,n1:1", "wait", "1", options=("--timeout", str(seconds)))
        if "ready" in done.out or seconds > PATIENCE / 4:
            break
        seconds *= 2
    assert done.status == 124 and "lacks events" not in done.err, done.text
    trace = decoded(hosts)
    assert {trace.pe(one.track) for one in trace.slices} == {"PE 0 (host n0)", "PE 1 (host n1)"}
    assert hosts.empty_within()
