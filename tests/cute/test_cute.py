"""CuTe DSL's kernels, compiled without a GPU: scripts/cute.sh runs these tests; scripts/gpu.sh kernels runs
the kernels.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import atoll.nvshmem
import pytest
from jobs import HANG_GUARD, PROGRAMS, ROOT, environment, launcher
from program_checks import conformance_programs
from simulated import make_package, needs_plugin

PYTHON = ROOT / "build/cute/bin/python"
LIMIT = 5 * HANG_GUARD  # CuTe DSL compiles slowly: docs/measurements/2026-11-24-constants.md


@pytest.fixture(scope="module", autouse=True)
def permitted() -> None:
    if not (ROOT / "build/cute/packages").exists():
        pytest.skip(
            "CuTe DSL could not be installed (scripts/setup.sh cute; build/logs/CuTe-DSL.log says why)"
        )


def compiled(program: Path, *arguments: str, **changes: str) -> str:
    """Return the output of a program that compiles kernels."""
    done = subprocess.run(
        [str(PYTHON), str(program), *arguments],
        env=environment(CUTE_DSL_ARCH="sm_90a", **changes), capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(LIMIT)
@pytest.mark.parametrize("program", conformance_programs("cute"))
def test_kernels_compile(program: str) -> None:
    """With everything that ATOLL_CHECK=all adds to them. A kernel may be compiled several times."""
    listed = (PROGRAMS / program).read_text().count("\n@cute.kernel\n")
    done = re.fullmatch(r"(\d+) kernels\n", compiled(PROGRAMS / program, "ptx"))
    assert done is not None
    assert 0 < listed <= int(done[1])


@pytest.mark.timeout(LIMIT)
def test_kernels_by_the_names_of_nvshmem4py_compile() -> None:
    assert compiled(PROGRAMS / "nvshmem_cute.py", "ptx", "_block", NVSHMEM_HEAP_KIND="SYSMEM") == "done\n"


@pytest.mark.timeout(LIMIT)
def test_a_kernel_with_nvshmems_bitcode_compiles(tmp_path: Path) -> None:
    try:
        bitcode = atoll.nvshmem.find_device_bitcode_library()
    except atoll.nvshmem.NvshmemInvalid as error:
        pytest.skip(str(error))
    changes = {"CUTE_DSL_KEEP": "ptx", "CUTE_DSL_DUMP_DIR": str(tmp_path)}
    assert compiled(PROGRAMS / "cute_bitcode.py", "ptx", bitcode, **changes) == "True True\n"


@needs_plugin
def test_tensors_over_memory_of_others(tmp_path: Path) -> None:
    done = subprocess.run(
        [launcher(), "run", "-n", "2", str(PYTHON), str(PROGRAMS / "nvshmem_cute_memory.py")],
        env=environment(PYTHONPATH=str(make_package(tmp_path))), capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.stdout == "done\n" * 2, done.stdout + done.stderr


@pytest.mark.timeout(LIMIT)
def test_kernels_of_examples_and_pages_compile(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the example's elevation model comes with matplotlib")
    said = ["shadows.run", "collective", "shift", "ring", "sums", "round_trip"]
    said += ["compiled", "run_who", "run_barriers", "run_reduce_copy", "ring"]
    assert compiled(PROGRAMS / "cute_examples.py", str(tmp_path)).split() == said


@pytest.mark.timeout(LIMIT)
def test_kernels_of_the_benchmark_compile(tmp_path: Path) -> None:
    """Each row has a cubin; its kernel has the name by which the benchmark starts it, and the name for
    reports.
    """
    sys.path.insert(0, str(ROOT / "bench/gpu/forms"))
    import rows

    assert (
        compiled(ROOT / "bench/gpu/forms/in_cute.py", str(tmp_path), ATOLL_CHECK="args")
        == f"{len(rows.ROWS)} kernels\n"
    )
    entries = json.loads((tmp_path / "entries.json").read_text())
    assert set(entries) == {row.key for row in rows.ROWS}
    for row in rows.ROWS:
        cubin = (tmp_path / f"{row.key}.bin").read_bytes()
        assert cubin.startswith(b"\x7fELF"), row.key
        assert f".text.{entries[row.key]}\0".encode() in cubin, row.key
        assert f"atoll_check_job_{row.kernel}\0".encode() in cubin, f"{row.key}: no wait that can end"
        assert b"atoll_check_within" not in cubin, f"{row.key}: a bound that was not given"
        assert b"atoll_refuse_address" not in cubin, f"{row.key}: addresses are looked at"


def in_ptx(tmp_path: Path, what: str, **changes: str) -> dict[str, Any]:
    """Return the functions that kernels of one call each call out of line."""
    kept = {"CUTE_DSL_KEEP": "ptx", "CUTE_DSL_DUMP_DIR": str(tmp_path), "CUTE_DSL_NO_CACHE": "1"}
    found = json.loads(compiled(PROGRAMS / "cute_ptx.py", what, **kept, **changes))
    assert len(found) > 20
    return dict(found)


@pytest.mark.timeout(LIMIT)
@pytest.mark.parametrize("check", ["all", "args"])
def test_addresses_are_checked_if_everything_is_checked(tmp_path: Path, check: str) -> None:
    """Each address is checked once, except in small collectives. The report marks a wrong address."""
    two = {"g", "put_signal", "put_signal_nbi", "reduce", "tile_reduce"}
    found = in_ptx(tmp_path, "places", ATOLL_CHECK=check)
    for name, one in found.items():
        checks = 0 if check != "all" else 2 if name in two else 1
        assert one["called"].get("atoll_refuse_address", 0) == checks, (name, one)
        assert one["wrong_address"] == (checks > 0), (name, one)


@pytest.mark.timeout(LIMIT)
def test_every_wait_takes_a_bound_and_has_no_code_without_one(tmp_path: Path) -> None:
    for name, one in in_ptx(tmp_path, "bounds").items():
        is_bounded = re.search("of its own|dynamic", name) is not None
        wanted, other = ("within", "job")[:: 1 if is_bounded else -1]
        assert one["called"].get(f"atoll_check_{wanted}", 0) > 0, (name, one)
        assert f"atoll_check_{other}" not in one["called"], (name, one)
