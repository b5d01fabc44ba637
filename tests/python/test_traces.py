"""Traces: files of `atoll run --trace` and --record, decoded by Perfetto's own message definitions."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from jobs import HANG_GUARD, Done, environment, launcher, python, write_program
from traces import Decoded

PROGRAM = """
    import time
    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    right = (me + 1) % n
    x = atoll.zeros(1 << 12)
    s = atoll.zeros(1, dtype="uint64")
    box = atoll.Mailbox(64)

    @atoll.trace("step")
    def step(i):
        with atoll.trace("compute"):
            if me == n - 1:
                time.sleep(0.02)
        atoll.put_signal(x, np.ones(1 << 12), s, i + 1, pe=right)
        atoll.signal_wait_until(s, ">=", i + 1)

    for i in range(3):
        step(i)
        atoll.barrier_all()
    if me == 0:
        atoll.send(np.ones(4), 1)
        box.post(np.ones(4), 1)
    elif me == 1:
        atoll.recv(np.ones(4), 0)
        box.receive(np.ones(4), 0)
    first, second = (atoll.sum_reduce(np.ones(4), blocking=False) for _ in range(2))
    second.wait()
    first.wait()
    atoll.free(x)
    atoll.finalize()
"""


def run(folder: Path, code: str, *options: str, n: int = 3, **changes: str) -> Done:
    return subprocess.run(
        [launcher(), "run", "-n", str(n), *options, sys.executable, str(write_program(folder, code))],
        env=environment(**changes), cwd=folder, capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traced")
    done = run(folder, PROGRAM, "--trace", "out.pftrace")
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "out.pftrace"


def test_a_trace_has_a_process_for_each_pe_and_its_calls(traced: Path) -> None:
    trace = Decoded(traced)
    assert sorted(trace.processes.values()) == ["PE 0", "PE 1", "PE 2"]
    assert (trace.job["PEs"], trace.job["dropped events"], trace.job["clock error (us)"]) == (3, 0, 0)
    for name, count in {"put_signal": 9, "signal_wait_until": 9, "step": 9, "compute": 9, "send": 1}.items():
        assert len(trace.named(name)) == count, name
    inner = trace.named("compute")[0]
    outer = next(one for one in trace.named("step") if one.track == inner.track and one.begin <= inner.begin)
    assert inner.end <= outer.end and inner.depth == outer.depth + 1
    put = trace.named("put_signal")[0]
    assert put.notes["bytes"] == 8 << 12 and put.notes["peer"] in (0, 1, 2)


def test_flows_lead_from_each_signal_and_message_to_the_wait_that_it_ends(traced: Path) -> None:
    trace = Decoded(traced)
    starts = {flow: one for one in trace.slices for flow in one.flows}
    assert set(starts) == set(trace.woken) and starts
    pairs = defaultdict(int)
    for flow, one in starts.items():
        time, track = trace.woken[flow]
        assert one.begin <= time
        pairs[one.name, trace.pe(one.track), trace.pe(track)] += 1
    expected = {("put_signal", f"PE {pe}", f"PE {(pe + 1) % 3}"): 3 for pe in range(3)}
    expected |= {("send", "PE 0", "PE 1"): 1, ("mailbox post", "PE 0", "PE 1"): 1}
    assert pairs == expected


def test_collectives_name_the_last_to_arrive(traced: Path) -> None:
    barriers = [one for one in Decoded(traced).named("barrier") if "skew (ns)" in one.notes]
    assert len(barriers) >= 9
    by_call = defaultdict(list)
    for one in barriers:
        by_call[one.notes["call"]].append(one)
    for members in by_call.values():
        begins = [one.begin for one in members]
        assert {one.notes["skew (ns)"] for one in members} == {max(begins) - min(begins)}
        latest = max(members, key=lambda one: one.begin)
        assert {f"PE {one.notes['last to arrive (PE)']}" for one in members} == {
            Decoded(traced).pe(latest.track)
        }


def test_counters_follow_bytes_and_the_heap(traced: Path) -> None:
    trace = Decoded(traced)
    moved = [values for track, values in trace.counters.items() if trace.titles[track] == "bytes moved"]
    heap = [values for track, values in trace.counters.items() if trace.titles[track] == "heap in use"]
    assert len(moved) == len(heap) == 3
    assert all(values == sorted(values) and values[-1] >= 3 * (8 << 12) for values in moved)
    assert all(values[-1] == max(values) - (8 << 12) for values in heap)


def test_call_sites_are_lines_of_the_program(traced: Path) -> None:
    sites = {(one.name, one.notes["site"]) for one in Decoded(traced).slices if "site" in one.notes}
    of_zeros = {site for name, site in sites if name == "allocate" and site.endswith(" (zeros)")}
    assert sites and of_zeros
    others = {site for _, site in sites} - of_zeros
    assert all(re.fullmatch(r"program\.py:\d+ \(zeros\)", site) for site in of_zeros), of_zeros
    assert all(re.fullmatch(r"program\.py:\d+", site) for site in others), others


ONE_SIDED = """
    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    right = (me + 1) % n
    x, w = atoll.zeros(64), atoll.zeros(1, dtype="int64")
    s = atoll.zeros(1, dtype="uint64")
    other = atoll.Context()
    lock = atoll.Lock()
    atoll.put_nbi(x, np.ones(64), right)
    atoll.put_nbi(x[:8], np.ones(8), right, ctx=other)
    atoll.get_nbi(np.zeros(64), x, right)
    atoll.quiet()
    atoll.put_signal_nbi(x, np.ones(64), s, 1, pe=right)
    atoll.signal_wait_until(s, ">=", 1)
    atoll.barrier_all()
    other.quiet()
    atoll.put_signal_nbi(x[::8], np.ones(8), s, 2, pe=right)
    atoll.signal_wait_until(s, ">=", 2)
    atoll.iput(x, np.ones(64), 2, 1, 8, right)
    for name, arguments in (("add", (1,)), ("fetch_add", (1,)), ("compare_swap", (5, 6)), ("set", (0,))):
        getattr(atoll, "atomic_" + name)(w, *arguments, right)
    atoll.barrier_all()
    if me == 0:
        lock.acquire()
        atoll.p(w, 7, 1)
        atoll.wait_until(w, "==", 8)
        time.sleep(0.5)  # PE 1 acquires now
    else:
        atoll.wait_until(w, "==", 7)
        try:
            lock.acquire(timeout=0.01)
        except atoll.Error:
            pass
        else:
            sys.exit("the lock was free")
        atoll.p(w, 8, 0)
        lock.acquire()
    atoll.put_nbi(x, np.ones(64), right)
    lock.release()
    atoll.put_nbi(x[:8], np.ones(8), right, ctx=other)
    atoll.WORLD.split(color=0).destroy()
    y = atoll.zeros(4)
    atoll.free(y)
    atoll.finalize()
"""


@pytest.fixture(scope="module")
def one_sided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one_sided")
    done = run(folder, "    import time\n" + ONE_SIDED, "--trace", "out.pftrace", n=2)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "out.pftrace"


def test_one_sided_calls_have_their_peer_their_bytes_and_their_place(one_sided: Path) -> None:
    trace = Decoded(one_sided)
    expected = {
        "put_nbi": (8, {64, 512}), "get_nbi": (2, {512}), "put_signal_nbi": (4, {64, 512}), "iput": (2, {64}),
        "atomic_add": (2, {8}), "atomic_fetch_add": (2, {8}), "atomic_compare_swap": (2, {8}), "atomic_set": (2, {8}),
        "Lock.acquire": (3, {8}), "Lock.release": (2, {8}),
    }  # fmt: skip
    for name, (count, sizes) in expected.items():
        found = trace.named(name)
        assert len(found) == count and {one.notes["bytes"] for one in found} == sizes, name
        assert {one.notes["peer"] for one in found} <= {0, 1}, name
    locks = {one.notes["place"] for name in ("Lock.acquire", "Lock.release") for one in trace.named(name)}
    assert len(locks) == 1


def test_bytes_are_in_flight_until_their_context_is_quiet(one_sided: Path) -> None:
    trace = Decoded(one_sided)
    flights = [values for track, values in trace.counters.items() if trace.titles[track] == "bytes in flight"]
    # Two puts and a get; quiet of the default context; a put that the barrier completes; quiet of the other one. Then
    # a strided put until a barrier, a put until the lock's release, and one on the other context until finalize.
    assert flights == [[512, 576, 1088, 64, 576, 64, 0, 64, 0, 512, 0, 64, 0]] * 2


def test_the_end_of_a_lock_leads_to_the_wait_for_it(one_sided: Path) -> None:
    trace = Decoded(one_sided)
    starts = {flow: one for one in trace.slices for flow in one.flows}
    released = [flow for flow, one in starts.items() if one.name == "Lock.release"]
    assert [(trace.pe(starts[flow].track), trace.pe(trace.woken[flow][1])) for flow in released] == [
        ("PE 0", "PE 1")
    ]
    of_pe_1 = [one for one in trace.named("Lock.acquire") if trace.pe(one.track) == "PE 1"]
    failed, woken = sorted(of_pe_1, key=lambda one: one.begin)
    assert failed.notes["state"] == 3 and woken.notes["state"] == 2


def test_calls_of_several_meetings_are_one_slice(one_sided: Path) -> None:
    trace = Decoded(one_sided)
    calls = {"init": 1, "allocate": 5, "free": 1, "finalize": 1, "sync": 0, "barrier": 2}
    for name, count in calls.items():
        assert len([one for one in trace.named(name) if "call" in one.notes]) == 2 * count, name
    assert len(trace.named("team_destroy")) == 2
    assert len(trace.named("quiet")) == 4  # the program's own


def test_collectives_that_do_not_block_are_slices_from_start_to_end(traced: Path) -> None:
    trace = Decoded(traced)
    titles = {one.track: trace.titles[one.track] for one in trace.slices}
    requests = [one for one in trace.named("reduce") if titles[one.track].startswith("requests ")]
    assert sorted((trace.pe(one.track), one.notes["call"]) for one in requests) == [
        (f"PE {pe}", call) for pe in range(3) for call in (1, 2)
    ]
    assert {(one.notes["bytes"], one.notes["site"]) for one in requests} == {(32, requests[0].notes["site"])}
    starts = [one for one in trace.named("reduce") if one not in requests]
    assert len(starts) == 6 and len(trace.named("Request.wait")) == 6


def test_record_prints_the_file(traced: Path) -> None:
    done = subprocess.run([launcher(), "record", str(traced)], capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    puts = [event for event in events if event["operation"] == "put_signal"]
    assert len(puts) == 9 and {event["pe"] for event in puts} == {0, 1, 2}
    assert all(event["began_ns"] <= event["ended_ns"] for event in events)
    assert [event["name"] for event in events if event["event"] == "range"].count("step") == 9


def test_a_report_names_the_slow_pe_and_the_heaviest_calls(traced: Path) -> None:
    done = subprocess.run([launcher(), "report", str(traced)], capture_output=True, text=True, check=True)
    assert re.match(r"3 PEs, \d+ events in ", done.stdout)
    assert re.search(r"the last to arrive:\n  PE [0-2]: last in \d+ of \d+ collectives", done.stdout), (
        done.stdout
    )
    assert re.search(r"most bytes between PEs:\n  PE 0 with PE 1: 96(\.\d)? KiB in 5 calls", done.stdout), (
        done.stdout
    )
    assert re.search(r"ranges of the program:\n  step: .*\(PE", done.stdout), done.stdout
    assert re.search(r"heaviest call sites:\n  program.py:\d+: ", done.stdout), done.stdout


def test_a_report_counts_one_call_as_one(tmp_path: Path) -> None:
    code = "atoll.init()\nx = atoll.zeros(4)\nif atoll.my_pe() == 0: atoll.put(x, np.ones(4), 1)\natoll.finalize()"
    done = run(tmp_path, code, "--trace", "out.pftrace", n=2)
    assert (done.returncode, done.stderr) == (0, "")
    said = subprocess.run(
        [launcher(), "report", "out.pftrace"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "PE 0 with PE 1: 32 bytes in 1 call\n" in said.stdout, said.stdout


def test_a_record_has_no_one_sided_operations(tmp_path: Path) -> None:
    done = run(tmp_path, PROGRAM, "--record", "events")
    assert (done.returncode, done.stderr) == (0, "")
    lines = subprocess.run(
        [launcher(), "record", "events"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    events = [json.loads(line) for line in lines.stdout.splitlines()]
    kinds = {event["event"] for event in events}
    assert {
        "collective",
        "request",
        "allocate",
        "free",
        "init",
        "finalize",
        "range",
    } <= kinds and "move" not in kinds
    assert sum(event["operation"] == "barrier" for event in events) >= 9


def test_a_killed_pe_has_its_events_up_to_then(tmp_path: Path) -> None:
    code = """
    atoll.init()
    x = atoll.zeros(4)
    if atoll.my_pe() == 1:
        for _ in range(7):
            atoll.put(x, np.ones(4), 0)
        os.kill(os.getpid(), 9)
    atoll.barrier_all()
    """
    done = run(tmp_path, code, "--trace", "out.pftrace")
    assert done.returncode == 137
    trace = Decoded(tmp_path / "out.pftrace")
    assert [trace.pe(one.track) for one in trace.named("put")] == ["PE 1"] * 7


def test_a_full_log_counts_what_it_drops(tmp_path: Path) -> None:
    code = (
        "atoll.init()\nx = atoll.zeros(4)\nfor _ in range(500): atoll.put(x, np.ones(4), 0)\natoll.finalize()"
    )
    done = run(tmp_path, code, "--trace", "out.pftrace", n=1, ATOLL_TRACE_EVENTS="100")
    assert done.returncode == 0
    said = re.search(r"(\d+) later events are not in the file: the log of a PE holds 100", done.stderr)
    assert said and int(said[1]) >= 400, done.stderr
    assert Decoded(tmp_path / "out.pftrace").job["dropped events"] == int(said[1])


@pytest.mark.parametrize("status", [0, 7])
def test_a_full_disk_changes_no_status(tmp_path: Path, status: int) -> None:
    code = f"atoll.init(); atoll.barrier_all(); atoll.finalize(); sys.exit({status})"
    done = run(tmp_path, code, "--trace", "/dev/full")
    assert done.returncode == status
    assert "atoll run: /dev/full is incomplete: No space left on device\n" in done.stderr, done.stderr


def test_a_file_that_cannot_be_created_is_reported_at_the_start(tmp_path: Path) -> None:
    done = run(tmp_path, "atoll.init(); print('ran', flush=True)", "--trace", "missing/out.pftrace", n=2)
    assert (done.returncode, done.stdout) == (0, "ran\nran\n")
    expected = "--trace missing/out.pftrace cannot be written: No such file or directory; the program runs without it"
    assert done.stderr == f"atoll run: {expected}\n"


def test_a_cut_file_and_other_files_are_refused(traced: Path, tmp_path: Path) -> None:
    whole = traced.read_bytes()
    cases = {
        "cut": (whole[: len(whole) // 2], "is cut short: its end is missing"),
        "empty": (b"", "is no trace of Atoll"),
        "text": (b"hello, this is no trace at all\n" * 9, "is no trace of Atoll"),
    }
    for name, (content, reason) in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        for command in ("report", "record"):
            done = subprocess.run(
                [launcher(), command, str(path)], capture_output=True, text=True, check=False
            )
            assert done.returncode == 2 and reason in done.stderr, (name, done.stderr)
    for path, reason in (
        (str(tmp_path / "none"), "cannot be read: No such file"),
        ("/dev/null", "is a device"),
    ):
        done = subprocess.run([launcher(), "report", path], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and reason in done.stderr


def test_ranges_without_a_trace_do_nothing(tmp_path: Path) -> None:
    code = """
        with atoll.trace("before init"):
            atoll.init()
        @atoll.trace("f")
        def f(depth):
            return 1 if depth == 0 else f(depth - 1)
        assert f(3) == 1
        try:
            atoll.trace(3)
        except TypeError as error:
            assert "name is 3" in str(error)
        else:
            sys.exit("trace(3) was taken")
    """
    done = run(tmp_path, code, n=1)
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


def test_a_trace_needs_the_launcher(tmp_path: Path) -> None:
    done = python("import atoll; atoll.init()", ATOLL_TRACE=str(tmp_path / "out.pftrace"))
    assert done.returncode == 0 and "`atoll run` writes these files" in done.stderr, done.stderr
