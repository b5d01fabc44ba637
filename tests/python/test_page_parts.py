"""Blocks of Python on pages that are parts of programs: each runs between the lines that a program needs around it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from jobs import HANG_GUARD, ROOT, Job, environment, launcher
from page_blocks import block_with
from simulated import needs_plugin


def test_an_array_goes_to_the_second_half_of_the_pes(job: Job) -> None:
    before = """
        from atoll import arrays
        atoll.init()
        arrays.reserve(1 << 20)
        first = atoll.WORLD.split(0 if atoll.my_pe() == 0 else 1)
        a = arrays.from_function(lambda i: 10 * i, (3,), dtype=int, team=first) if atoll.my_pe() == 0 else None
    """
    after = "print(None if b is None else b.to_numpy())\n"
    done = job(f"{textwrap.dedent(before)}{block_with('arrays', 'half = atoll.WORLD.split')}{after}", 2)
    assert sorted(done.stdout.splitlines()) == ["None", "[ 0 10 20]"]


@needs_plugin
def test_a_halo_of_arrays_on_a_simulated_gpu(job: Job, package: str, tmp_path: Path) -> None:
    (tmp_path / "cupy.py").symlink_to(ROOT / "tests/python/programs/cupy_on_numpy.py")
    block = block_with("arrays", "u.local is a cupy.ndarray")
    assert "(4096, 4096)" in block
    block = block.replace("(4096, 4096)", "(12, 10)")
    done = job(f"from atoll import arrays\natoll.init()\n{block}", 2, PYTHONPATH=package)
    sums = [float(line.split("> ")[1]) for line in done.stdout.splitlines()]
    assert len(sums) == 2 and sums[0] == sums[1] > 0, done.stdout


def test_parts_of_a_program_are_ranges_of_a_trace(job: Job, tmp_path: Path) -> None:
    before = "atoll.init()\ngrid = atoll.zeros(4)\ndef exchange(grid): atoll.barrier_all()\n"
    block = block_with("slow", "exchange(grid)\n\n@atoll.trace")
    done = job(f"{before}{block}step(grid)\n", 2, ATOLL_TRACE=str(tmp_path / "out.pftrace"))
    command = [launcher(), "report", str(tmp_path / "out.pftrace")]
    report = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in ("halo", "step"):
        assert re.search(rf"^  {name}: .* of all PEs", report, re.MULTILINE), report + done.stderr


def test_numbers_of_this_pe(job: Job) -> None:
    text = (ROOT / "docs/slow.md").read_text()
    asked, answer = re.findall(r'^    >>> (atoll\.stats\(\)\["put"\])\n    (\{.*\})$', text, re.MULTILINE)[0]
    program = (block_with("slow", "# slow.py").replace("atoll.finalize()\n", ""), f"print({asked})\n")
    out = job("".join(program), 4, ATOLL_STATS="1").stdout
    shown, found = eval(answer), [eval(line) for line in out.splitlines() if line.startswith("{")]
    assert len(found) == 4
    for each in found:
        assert list(each) == list(shown)
        assert {name: each[name] for name in ("calls", "bytes")} == {
            name: shown[name] for name in ("calls", "bytes")
        }


def test_different_calls_are_reported_as_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "mismatch.py").write_text(block_with("hangs", "# mismatch.py"))
    text = (ROOT / "docs/hangs.md").read_text()
    (shown,) = re.findall(r"^> `(atoll run: PE 1 called barrier.*), …`$", text, re.MULTILINE)
    done = subprocess.run(
        [launcher(), "run", "-n", "4", "mismatch.py"], cwd=tmp_path, env=environment(ATOLL_PYTHON=sys.executable),
        text=True, capture_output=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    # A PE that was not yet in its call is not in the line.
    expected = re.escape(shown).replace("PE\\ 0,2,3", r"PE\ [0,23-]+")
    assert done.returncode != 0 and re.search(f"^{expected}", done.stderr, re.MULTILINE), done.stderr


def test_the_pictures_of_the_pages_are_drawn_from_their_programs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    script = ROOT / "docs/site/report_pictures.py"
    subprocess.run([sys.executable, script, tmp_path], env=environment(), check=True, timeout=HANG_GUARD)
    pages = "".join((ROOT / f"docs/{page}.md").read_text() for page in ("slow", "hangs"))
    names = sorted(re.findall(r"\(images/(report-\w+\.svg)\)", pages))
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        assert "PE that was late" in (tmp_path / name).read_text(), name
        assert (ROOT / "docs/images" / name).stat().st_size < 100_000


@pytest.mark.parametrize(
    ("n", "program", "begin"),
    [(2, "locks.py", "PE 0,1 wait for each other"), (4, "halo.py", "PE 2 left out an update")],
)
def test_hangs_are_reported_as_on_the_page(tmp_path: Path, n: int, program: str, begin: str) -> None:
    """The job hangs, and ends by an interrupt once it has told why."""
    (tmp_path / program).write_text(block_with("hangs", f"# {program}"))
    (shown,) = re.findall(rf"^> `(atoll run: {begin}.*)`$", (ROOT / "docs/hangs.md").read_text(), re.M)
    command = [launcher(), "run", "-n", str(n), "--timeout", str(HANG_GUARD), program]
    job = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(ATOLL_PYTHON=sys.executable),
        text=True,
        stderr=subprocess.PIPE,
    )
    assert job.stderr
    said = []
    for line in job.stderr:
        said.append(line)
        if line.startswith("atoll run: PE"):
            break
    job.send_signal(signal.SIGINT)
    rest = job.communicate(timeout=HANG_GUARD)[1]
    assert f"{shown}\n" in said, "".join(said) + rest
    assert job.returncode != 0
