"""Scripts that check something: each fails if there was nothing to check."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PASSED = '<testsuite><testcase classname="a" name="b" status="run"/></testsuite>'


def summary(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run scripts/summary.py."""
    command = [sys.executable, str(ROOT / "scripts/summary.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("junit", "status", "said"),
    [
        (PASSED, 0, "1 passed, 0 failed, 0 skipped"),
        (PASSED, 2, "1 passed, 1 failed, 0 skipped"),
        ("<testsuite></testsuite>", 0, "0 passed, 1 failed, 0 skipped"),
        (None, 0, "0 passed, 1 failed, 0 skipped"),
        (None, 1, "0 passed, 1 failed, 0 skipped"),
    ],
)
def test_a_suite_that_ran_nothing_failed(tmp_path: Path, junit: str | None, status: int, said: str) -> None:
    results, table = tmp_path / "junit.xml", tmp_path / "test.tsv"
    if junit is not None:
        results.write_text(junit)
    table.write_text("another check\t1\t0\t0\t0\t\t\t\n")  # a passing check hides nothing
    assert summary("count", table, "suite", status, 1, tmp_path / "log", results).returncode == 0
    closed = summary("close", tmp_path / "test")
    wanted = said.replace("1 passed", "2 passed").replace("0 passed", "1 passed")
    assert closed.stdout.splitlines()[-1] == wanted, closed.stdout
    assert closed.returncode == (0 if " 0 failed" in said else 1)


def test_a_skipped_check_is_counted_by_the_scripts(tmp_path: Path) -> None:
    """A row of another form once ended `make ci` with a traceback, on a machine without namespaces only."""
    (tmp_path / "scripts").mkdir()
    for name in ("lib.sh", "summary.py"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    script = "source scripts/lib.sh; begin suite; check works true; skip another 'needs root'; closing suite"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped: needs root" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 passed, 0 failed, 1 skipped"


def test_the_end_of_the_output_names_each_failure(tmp_path: Path) -> None:
    """A reader of the last lines alone learns what failed."""
    (tmp_path / "scripts").mkdir()
    for name in ("lib.sh", "summary.py"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    (tmp_path / "suite.xml").write_text(
        '<testsuite><testcase classname="a" name="works"/><testcase classname="a" name="breaks">'
        "<failure>first\nexpected 1, got 2</failure></testcase></testsuite>"
    )
    script = """
        source scripts/lib.sh
        begin suite
        check cases --junit kept.xml bash -c 'cp suite.xml kept.xml; false'
        check crashes bash -c 'echo no such tool >&2; exit 3'
        closing suite
    """
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.splitlines()[-9:] == [
        "",
        "  failed: a::breaks",
        "    | first",
        "    | expected 1, got 2",
        "",
        "  failed: crashes",
        "    | no such tool",
        "",
        "1 passed, 2 failed, 0 skipped",
    ]


def test_rows_of_the_summary_have_one_writer() -> None:
    writers = [
        path.name for path in (ROOT / "scripts").glob("*.sh") if re.search(r">>.*\.tsv", path.read_text())
    ]
    assert writers == []


def gpu_script(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run scripts/gpu.sh alone in a tree, where nvidia-smi names a GPU."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "gpu.sh", tmp_path / "scripts")
    shutil.copytree(ROOT / "scripts" / "gpu", tmp_path / "scripts" / "gpu")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nvidia-smi").write_text("#!/bin/sh\necho 'GPU 0: pretended'\n")
    (tools / "nvidia-smi").chmod(0o755)
    return subprocess.run(
        ["bash", "scripts/gpu.sh", *arguments],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{tools}:{os.environ['PATH']}",
            "OUT": str(tmp_path / "out"),
            "CUDA_MPS_PIPE_DIRECTORY": str(tmp_path / "pipes"),  # if the caller has a daemon, none is started
        },
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_gpu_script_passes_nothing_where_nothing_was_built(tmp_path: Path) -> None:
    done = gpu_script(tmp_path, "programs", "--no-build", "tests", "soak")
    assert done.returncode == 1, done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith("ok")] == []
    assert "FAILED" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("0 passed, "), done.stdout


@pytest.mark.parametrize("script", ["programs", "python", "kernels"])
def test_an_unknown_part_of_the_gpu_script_is_refused(tmp_path: Path, script: str) -> None:
    done = gpu_script(tmp_path, script, "test")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "'test' is not one of tests, " in done.stdout


def test_the_gpu_script_without_a_part_names_the_parts(tmp_path: Path) -> None:
    done = gpu_script(tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "gpu.sh kernels [tests] [examples]" in done.stderr
