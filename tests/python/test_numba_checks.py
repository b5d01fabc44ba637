"""atoll.numba: waits with their own bounds, and kernels that check addresses (ATOLL_CHECK=all)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jobs import HANG_GUARD, PROGRAMS, Job, environment

pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
from test_numba_gpus import with_numba_cuda

# Errors are the same without LLVM's optimisations, which take half of the time.
UNOPTIMISED = "0"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("numba"))


@pytest.mark.timeout(2 * HANG_GUARD)  # 22 kernels are compiled
@pytest.mark.parametrize("check", ["args", "none"])
def test_each_collective_and_message_ends_by_its_own_bound(job: Job, check: str, cache: str) -> None:
    """With any value of ATOLL_CHECK, and the same kernels: only `all` compiles others."""
    done = job(
        "numba_bounds.py",
        2,
        timeout=HANG_GUARD,
        NUMBA_OPT=UNOPTIMISED,
        NUMBA_CACHE_DIR=cache,
        ATOLL_CHECK=check,
    )
    assert "22 waits ended by their own bounds" in done.stdout


@pytest.mark.timeout(2 * HANG_GUARD)
def test_each_operation_refuses_an_ordinary_array_on_hosts(job: Job, cache: str) -> None:
    """With the checks of ATOLL_CHECK=args."""
    done = job(
        "numba_places.py",
        2,
        timeout=HANG_GUARD,
        NUMBA_OPT=UNOPTIMISED,
        NUMBA_CACHE_DIR=cache,
        ATOLL_CHECK="args",
    )
    assert done.stdout.count("all places are looked at") == 2


def test_kernels_that_check_addresses_are_cached_separately(job: Job, tmp_path: Path) -> None:
    """By @dev.kernel and by Numba's own jit: a process finds cached kernels of its kind, and compiles others."""
    code = """
        import atoll.numba as dev, numba
        atoll.init()
        x, compiled = atoll.zeros(1), []
        def one(team, x):
            dev.p(team, x, 1, 0)
        ours, plain = dev.kernel(one, cache=True), numba.njit(one, cache=True)
        dev.launch(ours, 1, 1)(atoll.WORLD, x)
        plain(atoll.WORLD.device("host"), x)
        print("compiled", sum(ours.host.stats.cache_misses.values()), sum(plain.stats.cache_misses.values()))
        """
    said = [
        job(code, 1, NUMBA_CACHE_DIR=str(tmp_path), ATOLL_CHECK=check).stdout.split()[-2:]
        for check in ("all", "all", "args", "args", "all")
    ]
    assert said == [["1", "1"], ["0", "0"], ["1", "1"], ["0", "0"], ["0", "0"]]


def in_ptx(package: str, check: str, *what: str) -> Any:
    done = subprocess.run(
        [with_numba_cuda(), str(PROGRAMS / "numba_checks_ptx.py"), *what],
        env=environment(PYTHONPATH=package, ATOLL_CHECK=check), capture_output=True, text=True,
        timeout=3 * HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.timeout(7 * HANG_GUARD)  # both compile slowly: docs/measurements/2026-11-24-constants.md
def test_kernels_for_gpus_check_addresses_on_request(package: str) -> None:
    checked, plain = in_ptx(package, "all", "bounds"), in_ptx(package, "args")
    assert len(checked["refused"]) > 20
    for name, (calls, reports) in checked["refused"].items():
        assert calls >= (2 if "put_signal" in name else 1), name
        assert reports, name
    assert set(map(tuple, plain["refused"].values())) == {(0, False)}
    # Each kernel with a bound waits by that bound alone.
    assert len(checked["bounds"]) == 17
    assert set(map(tuple, checked["bounds"].values())) == {(True, False)}
    assert checked["key"] != plain["key"], (
        "a kernel that was kept would be found by the other kind of process"
    )
    assert checked["same"]
    assert plain["same"]
