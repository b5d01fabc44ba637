"""Traces of kernels on a GPU: two PEs on one GPU under MPS, or on two.

    python3 tests/python_gpu/test_kernel_traces.py                the job, then its file by Perfetto's definitions
    python3 tests/python_gpu/test_kernel_traces.py --check FILE   only the file, on a machine with Perfetto's package

The file is $OUT/kernels.pftrace. Without that package the events that `atoll record` prints are checked.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build/release/bin/atoll"
LAUNCHER = str(BUILT) if BUILT.exists() else shutil.which("atoll") or "atoll"
BLOCKS, THREADS, STEPS = 4, 64, 10
IN_A_STEP = ("step", "put_signal", "signal_wait_until")
AT_THE_END = {"barrier": 1, "reduce": 1}  # events of block 0

CODE = r"""
#include <atoll/device/device.hpp>
namespace d = atl::device;
// Rounds as long as those of the trace, to be timed with and without it.
extern "C" __global__ void kernel(d::Team team, double* data, unsigned long long* signals, double* sums, int from,
                                  int steps) {
    const int right = (team.my_pe + 1) % team.n_pes;
    unsigned long long* signal = signals + blockIdx.x;
    double* mine = data + 1024 * blockIdx.x;
    for (int step = from + 1; step <= from + steps; ++step) {
        const d::TraceRange<d::Block> range(team, "step", d::Block{});
        d::put_signal(team, mine, mine + 512, 512, signal, step, right, d::Block{});
        d::signal_wait_until(team, signal, d::Compare::ge, step, d::Block{});
    }
    if (blockIdx.x != 0) return;
    d::barrier(team, d::Block{});
    const double one = 1;
    d::reduce(team, sums, &one, 1, d::Sum{}, d::Block{});
}
"""


def body() -> None:
    """Run as a PE."""
    import atoll
    import atoll.cupy
    import cupy

    atoll.init()
    data = atoll.zeros(1024 * BLOCKS, "float64", device="cuda", xp=cupy)
    cupy.cuda.Device(data.device).use()
    signals = atoll.zeros(BLOCKS, "uint64", device="cuda", xp=cupy)
    sums = atoll.zeros(1, "float64", device="cuda", xp=cupy)
    kernel = atoll.cupy.RawModule(CODE).get_function("kernel")

    def run(first: int, steps: int) -> float:
        atoll.barrier_all()
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        atoll.cupy.launch(
            kernel, BLOCKS, THREADS, atoll.WORLD, data, signals, sums, np_int(first), np_int(steps)
        )
        end.record()
        end.synchronize()
        assert sums.tolist() == [atoll.n_pes()]
        return cupy.cuda.get_elapsed_time(begin, end) * 1e3

    with atoll.trace("around the kernel"):
        run(0, STEPS)
    if not os.environ.get("ATOLL_TRACE") or os.environ.get("TIME_STEPS"):
        steps = int(os.environ.get("TIME_STEPS", "1000"))
        first, times = STEPS, []
        for _ in range(5):
            times.append(run(first, steps) / steps)
            first += steps
        if atoll.my_pe() == 0:
            traced = "with" if os.environ.get("ATOLL_TRACE") else "without"
            print(f"{traced} a trace: {min(times):.3f} us a step of put_signal and wait, {BLOCKS} blocks")
    atoll.finalize()


def np_int(value: int) -> object:
    import numpy

    return numpy.int32(value)


def job(*options: str, program: tuple[str, ...] = (__file__, "--pe"), **changes: str) -> None:
    command = [LAUNCHER, "run", "-n", "2", "--timeout", "90", *options, sys.executable, *program]
    subprocess.run(command, check=True, env={**os.environ, **changes})


def checked_by_perfetto(path: Path) -> None:
    sys.path.insert(0, str(ROOT / "tests/python"))
    from traces import Decoded

    trace = Decoded(path)  # slices nest, times on a track grow
    starts = {flow: one for one in trace.within_kernels() for flow in one.flows}
    for pe in ("PE 0", "PE 1"):
        mine = [one for one in trace.within_kernels() if trace.pe(one.track) == pe]
        expected = dict.fromkeys(IN_A_STEP, BLOCKS * STEPS) | AT_THE_END
        assert Counter(one.name for one in mine) == expected, Counter(one.name for one in mine)
        by_title = defaultdict(list)
        for one in mine:
            by_title[trace.titles[one.track]].append(one)
        gpu = mine[0].notes["GPU"]
        assert sorted(by_title) == [f"GPU {gpu} kernels, block {block}" for block in range(BLOCKS)]
        for title, slices in by_title.items():
            assert {one.notes["block"] for one in slices} == {int(title.split()[-1])}
            assert all(one.depth == (one.name in IN_A_STEP[1:]) for one in slices)
        notes = trace.kernels[int(pe[3:])]
        error = notes["error of that clock (ns)"]
        assert notes["clock of the GPU"].startswith("compared") and notes["dropped events of kernels"] == 0
        [host] = [one for one in trace.named("around the kernel") if trace.pe(one.track) == pe]
        early = host.begin - min(one.begin for one in mine)
        late = max(one.end for one in mine) - host.end
        assert early <= error and late <= error, (pe, early, late, error)
        waits = [one.end - one.begin for one in mine if one.name == "signal_wait_until"]
        puts = [one.end - one.begin for one in mine if one.name == "put_signal"]
        print(
            f"{pe}: {len(mine)} slices of kernels, clock error {error} ns, shortest put {min(puts)} ns, shortest wait"
            f" {min(waits)} ns; kernel began {-early} ns into the host's range and ended {-late} ns before its end"
        )
    assert len(starts) == 2 * BLOCKS * STEPS, len(starts)
    for flow, one in starts.items():
        time, track = trace.woken[flow]
        assert trace.pe(track) != trace.pe(one.track) and one.begin <= time


def recorded(path: Path, pe: int) -> list[dict[str, Any]]:
    """Return the events inside kernels of a PE."""
    done = subprocess.run([LAUNCHER, "record", str(path)], check=True, capture_output=True, text=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [one for one in events if one["event"] == "kernel" and one["pe"] == pe]


def checked_in_python(path: Path) -> None:
    """The kernel of tests/python/programs/traced_numba.py and traced_triton.py."""
    cut = "a name of more than twen"
    in_a_step = ("step", "put_signal", "signal_wait_until", cut, "barrier")
    for pe in (0, 1):
        mine = recorded(path, pe)
        found = Counter(one.get("name") or one["operation"] for one in mine)
        assert found == dict.fromkeys(in_a_step, 3) | {"quiet": 1, "reduce": 1}, found
        steps = [one for one in mine if one.get("name") == "step"]
        for one in mine:
            assert one["gpu"] >= 0 and one["block"] == 0 and one["began_ns"] <= one["ended_ns"]
            inside = [step for step in steps if step["began_ns"] <= one["began_ns"] <= step["ended_ns"]]
            assert (one.get("name") or one["operation"]) in ("quiet", "reduce") or inside, one
        puts = [one for one in mine if one["operation"] == "put_signal"]
        assert {(one["peer"], one["bytes"]) for one in puts} == {(1 - pe, 4096)}
        assert [one["value"] for one in puts] == [1, 2, 3]


def checked_by_lines(path: Path) -> None:
    for pe in (0, 1):
        mine = recorded(path, pe)
        found = Counter(one.get("name") or one["operation"] for one in mine)
        assert found == dict.fromkeys(IN_A_STEP, BLOCKS * STEPS) | AT_THE_END, found
        assert {one["block"] for one in mine} == set(range(BLOCKS)) and min(one["gpu"] for one in mine) >= 0
        assert all(one["began_ns"] <= one["ended_ns"] for one in mine)


def main() -> None:
    if sys.argv[1:] == ["--pe"]:
        body()
    elif sys.argv[1:2] == ["--check"]:
        checked_by_perfetto(Path(sys.argv[2]))
    else:
        whole()


def whole() -> None:
    path = Path(os.environ.get("OUT", ".")) / "kernels.pftrace"
    job("--trace", str(path))
    checked_by_lines(path)
    try:
        import perfetto  # noqa: F401
    except ImportError:
        print(f"Perfetto's package is not here: check {path} elsewhere, by --check")
    else:
        checked_by_perfetto(path)
    job()
    job("--trace", f"{path}.timed", TIME_STEPS="1000", ATOLL_TRACE_EVENTS="1000000")
    Path(f"{path}.timed").unlink()
    for language in ("numba", "triton"):
        if importlib.util.find_spec(language) is None:
            print(f"{language} is not here: not tested")
            continue
        program = str(ROOT / f"tests/python/programs/traced_{language}.py")
        path = Path(os.environ.get("OUT", ".")) / f"{language}.pftrace"
        job("--trace", str(path), program=(program, "cuda"))
        checked_in_python(path)
    print("ok")


if __name__ == "__main__":
    main()
