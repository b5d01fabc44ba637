"""Traces of `atoll run --hosts`. The hosts are agents on this machine; tests/clusters/test_traces.py has real ones."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hosts import agent, run
from jobs import HANG_GUARD, environment, launcher, write_program
from traces import Decoded

PES = ["PE 0 (host a)", "PE 1 (host a)", "PE 2 (host b)", "PE 3 (host b)"]
PROGRAM = """
    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    x = atoll.zeros(1 << 10)
    s = atoll.zeros(1, dtype="uint64")
    for i in range(5):
        with atoll.trace("step"):
            atoll.put_signal(x, np.ones(1 << 10), s, i + 1, pe=(me + 1) % n)
            atoll.signal_wait_until(s, ">=", i + 1)
        atoll.barrier_all()
    if me == 0:
        atoll.send(np.ones(4), 3)
    elif me == 3:
        atoll.recv(np.ones(4), 0)
    atoll.finalize()
"""


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traced")
    done = run(folder, PROGRAM, "--trace", "out.pftrace")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder / "out.pftrace"


def test_the_processes_name_their_hosts(traced: Path) -> None:
    trace = Decoded(traced)
    assert sorted(trace.processes.values()) == PES
    # All agents of this machine have the launcher's clock.
    assert (trace.job["PEs"], trace.job["dropped events"], trace.job["clock error (us)"]) == (4, 0, 0)
    for pe in PES:
        mine = [one.name for one in trace.slices if trace.pe(one.track) == pe]
        assert {"init", "finalize", "allocate"} <= set(mine)
        assert (mine.count("put_signal"), mine.count("step")) == (5, 5)
    assert all(one.notes["site"].startswith("program.py:") for one in trace.slices if "site" in one.notes)


def test_flows_join_the_pes_of_both_hosts(traced: Path) -> None:
    trace = Decoded(traced)
    starts = {flow: one for one in trace.slices for flow in one.flows}
    assert set(starts) == set(trace.woken)
    pairs: dict[tuple[str, str, str], int] = defaultdict(int)
    for flow, one in starts.items():
        time, track = trace.woken[flow]
        assert one.begin <= time
        pairs[one.name, trace.pe(one.track), trace.pe(track)] += 1
    expected = {("put_signal", pe, PES[(number + 1) % 4]): 5 for number, pe in enumerate(PES)}
    assert pairs == expected | {("send", PES[0], PES[3]): 1}


def test_a_report_and_a_record_read_the_file(traced: Path) -> None:
    report = subprocess.run([launcher(), "report", str(traced)], capture_output=True, text=True, check=True)
    assert report.stdout.startswith("4 PEs, ") and "\n2 hosts, whose clocks agree within " in report.stdout
    record = subprocess.run([launcher(), "record", str(traced)], capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in record.stdout.splitlines()]
    assert {event["pe"] for event in events if event["operation"] == "put_signal"} == {0, 1, 2, 3}


def test_a_page_reads_the_file(traced: Path) -> None:
    page = traced.parent / "page.html"
    subprocess.run([launcher(), "report", str(traced), "--html", str(page)], check=True)
    assert "put_signal" in page.read_text()


@pytest.mark.parametrize("way", ["option", "variable", "--env"])
def test_a_record_has_no_one_sided_operations(tmp_path: Path, way: str) -> None:
    options = {"option": ["--record", "events"], "--env": ["--env", "ATOLL_RECORD=events"]}.get(way, [])
    changes = {"ATOLL_RECORD": "events"} if way == "variable" else {}
    done = run(tmp_path, PROGRAM, *options, **changes)
    assert (done.returncode, done.stderr) == (0, "")
    lines = subprocess.run(
        [launcher(), "record", "events"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    events = [json.loads(line) for line in lines.stdout.splitlines()]
    assert {event["pe"] for event in events if event["operation"] == "barrier"} == {0, 1, 2, 3}
    assert not any(event["event"] == "move" for event in events)


def test_without_room_on_one_pe_no_pe_writes_a_trace(tmp_path: Path) -> None:
    """One PE of the job may use little memory: it has room for its heap, and none for the logs."""
    limit = """
    import resource
    try:
        os.mkdir("limited")
    except FileExistsError:
        pass
    else:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30), used + (2 << 30)))
"""
    done = run(
        tmp_path, "    from pathlib import Path\n" + limit + PROGRAM, "--trace", "out.pftrace",
        ATOLL_TRACE_EVENTS=str(20_000_000), ATOLL_HEAP_SIZE="1M",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    warning, *missing = done.stderr.splitlines()
    assert re.fullmatch(
        r"atoll: warning: PE [0-3] has no room for the logs of a trace, so no PE of this job writes one\. The job board "
        r"\(\d+ bytes\) could not be mapped: .* Lower ATOLL_TRACE_EVENTS \(20000000 events a PE\), or raise the "
        r"limit of addresses there \(ulimit -v\)\.",
        warning,
    ), done.stderr
    assert missing == [
        f"atoll run: the trace lacks events of PE {pes} (host {host}): a host has no room for the logs of all PEs, "
        "whose size ATOLL_TRACE_EVENTS sets"
        for pes, host in (("0,1", "a"), ("2,3", "b"))
    ]
    assert Decoded(tmp_path / "out.pftrace").slices == []


def test_a_full_log_counts_what_it_drops(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM, "--trace", "out.pftrace", ATOLL_TRACE_EVENTS="10")
    said = re.fullmatch(
        r"atoll run: (\d+) later events are not in the file: the log of a PE holds 10 \(ATOLL_TRACE_EVENTS\)\n",
        done.stderr,
    )
    assert done.returncode == 0 and said and int(said[1]) > 4 * 10, done.stderr
    assert len(Decoded(tmp_path / "out.pftrace").slices) == 4 * 10


def test_a_log_larger_than_a_frame_arrives(tmp_path: Path) -> None:
    code = """
        atoll.init()
        x = atoll.zeros(1)
        if atoll.my_pe() == 1:
            one = np.ones(1)
            for _ in range(40_000):
                atoll.put(x, one, 0)
        atoll.finalize()
    """
    done = run(tmp_path, code, "--trace", "out.pftrace", hosts="a:1,b:1")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(Decoded(tmp_path / "out.pftrace").named("put")) == 40_000


@pytest.mark.parametrize("status", [0, 7])
def test_a_full_disk_changes_no_status(tmp_path: Path, status: int) -> None:
    code = f"atoll.init(); me = atoll.my_pe(); atoll.finalize(); sys.exit({status} if me == 3 else 0)"
    done = run(tmp_path, code, "--trace", "/dev/full")
    assert done.returncode == status
    assert "atoll run: /dev/full is incomplete: No space left on device\n" in done.stderr, done.stderr


def test_a_file_that_cannot_be_created_is_reported_at_the_start(tmp_path: Path) -> None:
    done = run(tmp_path, "atoll.init(); print('ran', flush=True)", "--trace", "missing/out.pftrace")
    assert (done.returncode, done.stdout) == (0, "ran\n" * 4)
    expected = "--trace missing/out.pftrace cannot be written: No such file or directory; the program runs without it"
    assert done.stderr == f"atoll run: {expected}\n"


def test_a_killed_pe_has_its_events_up_to_then(tmp_path: Path) -> None:
    code = """
        atoll.init()
        x = atoll.zeros(4)
        if atoll.my_pe() == 2:
            for _ in range(7):
                atoll.put(x, np.ones(4), 0)
            os.kill(os.getpid(), 9)
        atoll.barrier_all()
    """
    done = run(tmp_path, code, "--trace", "out.pftrace")
    assert done.returncode == 137 and "lacks events" not in done.stderr, done.stderr
    trace = Decoded(tmp_path / "out.pftrace")
    assert [trace.pe(one.track) for one in trace.named("put")] == ["PE 2 (host b)"] * 7


def test_a_program_between_that_closes_descriptors_is_named(tmp_path: Path) -> None:
    program = write_program(tmp_path, "atoll.init(); atoll.barrier_all(); atoll.finalize()")
    between = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, {str(program)!r}]))"
    done = subprocess.run(
        [launcher(), "run", "--hosts", "a:1,b:1", "--agent", agent(tmp_path), "--trace", "out.pftrace",
         sys.executable, "-c", between],
        env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    for pe, host in enumerate("ab"):
        expected = f"the trace lacks events of PE {pe} (host {host}): a program between `atoll run` and it closed its "
        assert expected + "descriptors (in Python pass subprocess.run(..., close_fds=False))" in done.stderr
    assert len(Decoded(tmp_path / "out.pftrace").processes) == 2


def test_pes_without_init_have_no_events(tmp_path: Path) -> None:
    done = subprocess.run(
        [launcher(), "run", "--hosts", "a:1,b:2", "--agent", agent(tmp_path), "--trace", "out.pftrace", "true"],
        env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    trace = Decoded(tmp_path / "out.pftrace")
    assert sorted(trace.processes.values()) == ["PE 0 (host a)", "PE 1 (host b)", "PE 2 (host b)"]
    assert not trace.slices


def test_an_agent_that_does_not_connect_costs_its_events_only(tmp_path: Path) -> None:
    path = tmp_path / "agent.sh"
    path.write_text('#!/bin/sh\n[ $1 = b ] && exit 0\nshift\nexec sh -c "$*"\n')
    path.chmod(0o755)
    done = subprocess.run(
        [launcher(), "run", "--hosts", "a:1,b:1", "--agent", str(path), "--trace", "out.pftrace", "true"],
        env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    expected = "the trace lacks events of host b (PE 1): its agent did not connect to this launcher for them"
    assert (done.returncode, done.stderr) == (0, f"atoll run: {expected}\n")


def test_statistics_are_of_all_hosts(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM, "--stats")
    assert done.returncode == 0
    assert done.stderr.count("operations of all PEs:") == 1, done.stderr
    (line,) = (line.split() for line in done.stderr.splitlines() if line.split()[:1] == ["put_signal"])
    assert line[1] == "20", done.stderr
