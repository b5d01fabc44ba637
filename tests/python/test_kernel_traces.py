"""Traces of what happens inside kernels, on CPUs: files of `atoll run --trace`, by Perfetto's definitions."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from jobs import HANG_GUARD, Done, environment, launcher
from kernel_pythons import with_triton
from simulated import needs_plugin
from traces import Decoded

PROGRAM = Path(__file__).parent / "programs/traced_kernels.cpp"
STEPS, CUT_NAME = 3, "a name of more than twen"
IN_A_STEP = ["step", "put_signal", "signal_wait_until", CUT_NAME, "barrier"]


def compiled(folder: Path, traced: int) -> Path:
    program = folder / f"kernels{traced}"
    flags = subprocess.run([launcher(), "config", "--cxx"], capture_output=True, text=True, check=True)
    options = ["-std=c++20", "-O1", "-pthread", f"-DATOLL_DEVICE_TRACE={traced}", *shlex.split(flags.stdout)]
    subprocess.run([os.environ.get("CXX", "g++"), str(PROGRAM), "-o", str(program), *options], check=True)
    return program


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("kernels"), 1)


def run(command: list[str | Path], folder: Path, **changes: str) -> Done:
    return subprocess.run(
        [launcher(), "run", "-n", "2", "--trace", "out.pftrace", *map(str, command)],
        env=environment(**changes), cwd=folder, capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module", params=["C++", "numba", "triton"])
def traced(kernels: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path_factory.mktemp("traced")
    program = PROGRAM.with_name(f"traced_{request.param}.py")
    if request.param == "triton":
        package = request.getfixturevalue("package")
        done = run([with_triton(True), program], folder, TRITON_INTERPRET="1", PYTHONPATH=package)
    elif request.param == "numba":
        pytest.importorskip("numba")
        done = run([sys.executable, program], folder, NUMBA_OPT="0", NUMBA_CACHE_DIR=str(folder))
    else:
        done = run([kernels], folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "out.pftrace"


def test_operations_and_ranges_of_kernels_are_slices_of_their_own_tracks(traced: Path) -> None:
    trace = Decoded(traced)
    for pe in ("PE 0", "PE 1"):
        mine = [one for one in trace.within_kernels() if trace.pe(one.track) == pe]
        found = Counter(one.name for one in mine)
        assert found == {**dict.fromkeys(IN_A_STEP, STEPS), "quiet": 1, "reduce": 1}
        assert {one.depth for one in mine if one.name in IN_A_STEP[1:]} == {1}
        assert {one.depth for one in mine if one.name in ("step", "reduce")} == {0}
        titles = {trace.titles[one.track] for one in mine}
        assert all(re.fullmatch(r"CPU kernels, thread \d+", title) for title in titles)
        ends = [one.begin for one in trace.named("finalize") if trace.pe(one.track) == pe]
        assert all(one.begin <= one.end <= min(ends) for one in mine)
    assert {pe: notes["dropped events of kernels"] for pe, notes in trace.kernels.items()} == {0: 0, 1: 0}


def test_they_have_the_peer_the_bytes_and_the_word(traced: Path) -> None:
    trace = Decoded(traced)
    places = set()
    for one in trace.within_kernels():
        if one.name == "put_signal":
            assert one.notes["bytes"] == 4096
            assert f"PE {1 - one.notes['peer']}" == trace.pe(one.track)
        if one.name in ("put_signal", "signal_wait_until"):
            places.add(one.notes["place"])
            assert 1 <= one.notes["value"] <= STEPS
    assert len(places) == 1, "a signal and the wait for it are of one word"


def test_each_signal_of_a_kernel_leads_to_the_wait_that_it_ends(traced: Path) -> None:
    trace = Decoded(traced)
    starts = {flow: one for one in trace.within_kernels() for flow in one.flows}
    assert len(starts) == 2 * STEPS and {one.name for one in starts.values()} == {"put_signal"}
    for flow, one in starts.items():
        time, track = trace.woken[flow]
        assert one.begin <= time and trace.pe(track) != trace.pe(one.track)


def test_signals_between_a_host_and_a_kernel_are_arrows(kernels: Path, tmp_path: Path) -> None:
    done = run([kernels, "host"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    trace = Decoded(tmp_path / "out.pftrace")
    starts = {flow: one for one in trace.slices for flow in one.flows}
    inside = {one.track for one in trace.within_kernels()}
    arrows = [
        (one.name, trace.pe(one.track), one.track in inside, trace.pe(track), track in inside)
        for one, track in ((starts[flow], track) for flow, (_, track) in trace.woken.items())
    ]
    assert sorted(arrows) == [
        ("put_signal", "PE 0", False, "PE 1", True), ("put_signal", "PE 1", True, "PE 0", False),
    ]  # fmt: skip


def test_record_and_report_have_them(traced: Path) -> None:
    def printed(command: str) -> str:
        done = subprocess.run([launcher(), command, str(traced)], capture_output=True, text=True, check=True)
        return done.stdout

    events = [json.loads(line) for line in printed("record").splitlines()]
    inside = [event for event in events if event["event"] == "kernel"]
    assert Counter(event.get("name", "") for event in inside) == {
        "": 2 * (3 * STEPS + 2), "step": 2 * STEPS, CUT_NAME: 2 * STEPS,
    }  # fmt: skip
    assert {(event["gpu"], event["block"]) for event in inside} == {(-1, 0)}
    report = printed("report")
    inside_text = report[report.index("inside kernels, all blocks together:") :]
    assert "put_signal" in inside_text and "ranges of kernels, all blocks together:\n  step: " in inside_text


@needs_plugin
def test_a_gpu_has_a_log_and_a_clock_of_its_own(kernels: Path, package: str, tmp_path: Path) -> None:
    """By the simulated GPU, whose kernels run on the host. tests/python_gpu/test_kernel_traces.py uses a real one."""
    done = run([kernels, "gpu"], tmp_path, LD_LIBRARY_PATH=f"{package}/atoll/lib")
    assert (done.returncode, done.stderr) == (0, "")
    trace = Decoded(tmp_path / "out.pftrace")
    for pe in ("PE 0", "PE 1"):
        mine = [one for one in trace.within_kernels() if trace.pe(one.track) == pe]
        assert Counter(one.name for one in mine) == {
            **dict.fromkeys(IN_A_STEP, STEPS),
            "quiet": 1,
            "reduce": 1,
        }
        assert all(trace.titles[one.track].startswith("GPU 0 kernels, block 0") for one in mine)
        assert {one.notes["GPU"] for one in mine} == {0}
        notes = trace.kernels[int(pe[3:])]
        assert notes["clock of the GPU"].startswith("compared")
        ends = [one.begin for one in trace.named("finalize") if trace.pe(one.track) == pe]
        assert all(one.end <= min(ends) + notes["error of that clock (ns)"] for one in mine)


def test_kernels_of_a_killed_pe_are_in_the_file_up_to_then(kernels: Path, tmp_path: Path) -> None:
    assert run([kernels, "killed"], tmp_path).returncode == 137
    trace = Decoded(tmp_path / "out.pftrace")
    mine = [one for one in trace.within_kernels() if trace.pe(one.track) == "PE 1"]
    assert Counter(one.name for one in mine) == dict.fromkeys(IN_A_STEP, STEPS)


def test_a_full_log_of_kernels_counts_what_it_drops(kernels: Path, tmp_path: Path) -> None:
    done = run([kernels, "many"], tmp_path, ATOLL_TRACE_EVENTS="200")
    assert done.returncode == 0 and "later events are not in the file" in done.stderr
    trace = Decoded(tmp_path / "out.pftrace")
    assert len(trace.within_kernels()) == 2 * 200
    assert [trace.kernels[pe]["dropped events of kernels"] for pe in (0, 1)] == [100 * 5 + 2 - 200] * 2


def test_kernels_compiled_without_it_leave_no_events(tmp_path: Path) -> None:
    done = run([compiled(tmp_path, 0)], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert Decoded(tmp_path / "out.pftrace").within_kernels() == []


def test_a_job_without_a_trace_runs_traced_kernels(kernels: Path, tmp_path: Path) -> None:
    subprocess.run([launcher(), "run", "-n", "2", str(kernels)], env=environment(), cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []
