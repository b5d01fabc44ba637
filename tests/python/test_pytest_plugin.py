"""The plug-in for pytest: a marked test runs on PEs, has one outcome, and a failure shows what differs."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from jobs import ROOT, Done, environment

Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A function that runs pytest on a test file; `ok` says if all its tests pass."""

    def run_file(code: str, *options: str, ok: bool = False) -> Done:
        (tmp_path / "test_it.py").write_text("import atoll, os, pytest, time\n" + textwrap.dedent(code))
        # An editable installation of Atoll has the warning, which changes the counts.
        quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            *quiet,
            "--rootdir",
            str(tmp_path),
        ]
        done = subprocess.run(
            [*command, *options, str(tmp_path)],
            cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=250, check=False,
        )  # fmt: skip
        assert done.returncode == (0 if ok else 1), done.stdout + done.stderr
        return done

    return run_file


def blocks() -> list[str]:
    """Return the text of each fenced block of the page."""
    page = (ROOT / "docs" / "testing.md").read_text()
    return re.findall(r"^```\w*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_pages_file_passes(run: Run) -> None:
    code, shown = blocks()[:2]
    done = run(code, ok=True)
    assert shown.split()[1] in done.stdout, done.stdout


def test_pytest_without_arguments_shows_nothing_else(run: Run, tmp_path: Path) -> None:
    run("@pytest.mark.pes(2)\ndef test_it(): pass", ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip
    assert re.fullmatch(r"\. +\[100%\]\n1 passed in .*\n", done.stdout) and not done.stderr, (
        done.stdout + done.stderr
    )


def test_a_function_of_the_pages_program_is_tested(run: Run, tmp_path: Path) -> None:
    program, test = blocks()[-2:]
    (tmp_path / "mean.py").write_text(program)
    assert "2 passed" in run(test, ok=True).stdout


def test_the_pages_failure_is_what_pytest_shows(run: Run) -> None:
    shown = blocks()[2]
    code = [line[4:] for line in shown.splitlines() if line.startswith("    ")] + ["    assert me % 2 == 0"]
    done = run("\n".join(code))
    assert shown in done.stdout, done.stdout
    assert "FAILED test_it.py::test_odd - on PE 1,3 of 4: assert (1 % 2) == 0" in done.stdout


def test_outcomes_of_every_kind_count_once(run: Run) -> None:
    done = run(
        """
        pytestmark = pytest.mark.pes(2)

        @pytest.fixture
        def broken():
            raise ValueError("in the fixture")

        def test_passes(): assert atoll.n_pes() == 2
        def test_is_skipped(): pytest.skip("a reason")
        @pytest.mark.skip(reason="marked")
        def test_is_marked(): pass
        @pytest.mark.xfail
        def test_is_expected(): assert False
        def test_has_no_fixture(broken): pass
        def test_one_skips():
            if atoll.my_pe(): pytest.skip("not here")
        """,
        "-rA",
    )
    assert "1 passed, 3 skipped, 1 xfailed, 1 error" in done.stdout, done.stdout
    assert "a reason" in done.stdout and "PE 0-1 of 2 failed" in done.stdout
    assert done.stdout.count("E       ValueError: in the fixture") == 1


def test_pes_are_kept_and_new_after_a_failure(run: Run) -> None:
    done = run(
        """
        pytestmark = pytest.mark.pes(2)

        def test_a(): print("pid", os.getpid()); global x; x = atoll.zeros(4)
        def test_b():
            print("pid", os.getpid())
            with pytest.raises(atoll.Error): atoll.put(x, 1.0, 0)
        def test_c(): print("pid", os.getpid()); assert False
        def test_d(): print("pid", os.getpid())
        """,
        "-rA",
    )
    assert "1 failed, 3 passed" in done.stdout, done.stdout
    pids = re.findall(r"\[[01]\] pid (\d+)", done.stdout)
    assert len(pids) == 8 and len(set(pids)) == 4, pids


def test_a_hang_fails_with_the_report(run: Run) -> None:
    done = run(
        """
        @pytest.mark.pes(2, timeout=5)
        def test_hangs():
            x = atoll.zeros(1, int)
            if atoll.my_pe() == 1: atoll.wait_until(x, "==", 1)

        @pytest.mark.pes(2)
        def test_next(): pass
        """
    )
    assert "1 failed, 1 passed" in done.stdout and "within timeout=5 seconds" in done.stdout, done.stdout
    assert "wait_until" in done.stdout


def test_a_pe_that_ends_the_test_early_fails_it(run: Run) -> None:
    done = run(
        """
        @pytest.mark.pes(2)
        def test_early():
            if atoll.my_pe() == 1: atoll.barrier_all()

        @pytest.mark.pes(2)
        def test_next(): pass
        """
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "CollectiveMismatch: the test: PE 0 returned, and a collective call" in done.stdout, done.stdout
    assert re.search(
        r"PE 0 is between calls of the pool, and PE 1 waits for it in barrier at test_it.py:5", done.stdout
    )
    assert "atoll run:" not in done.stdout + done.stderr


def test_a_failure_of_one_ends_the_others_and_a_death_is_named(run: Run) -> None:
    done = run(
        """
        pytestmark = pytest.mark.pes(2)

        def test_one():
            assert atoll.my_pe() == 0
            atoll.barrier_all()

        def test_dies():
            if atoll.my_pe() == 1: os._exit(3)
            atoll.barrier_all()

        def test_next(): pass
        """
    )
    assert "2 failed, 1 passed" in done.stdout, done.stdout
    assert re.search(
        r"PE 1 of 2 failed; PE 0 was interrupted at File .*test_it.py\", line \d+, in test_one", done.stdout
    )
    assert re.search(r"PeDied: PE 1 .*3", done.stdout)


PATIENT = """
        import atoll._pool.job
        atoll._pool.job.GRACE_SECONDS = 1000  # no PE that ends by itself is interrupted, however slow the machine is
        pytestmark = pytest.mark.pes(2)
"""


def test_xfail_is_judged_by_all_pes_together(run: Run) -> None:
    """A PE that passes against the mark does not make the test pass."""
    done = run(
        PATIENT
        + """

        @pytest.mark.xfail
        def test_one(): assert atoll.my_pe() == 0
        @pytest.mark.xfail(strict=True, reason="a reason")
        def test_strict(): assert atoll.my_pe() == 0
        @pytest.mark.xfail(raises=ValueError)
        def test_raises_another():
            if atoll.my_pe(): raise RuntimeError
            raise ValueError
        @pytest.mark.xfail
        def test_passes(): pass
        @pytest.mark.xfail(strict=True, reason="not any more")
        def test_passes_strictly(): pass
        """,
        "-rA",
    )
    assert "2 failed, 2 xfailed, 1 xpassed" in done.stdout, done.stdout
    assert "XFAIL test_it.py::test_strict - a reason" in done.stdout
    assert "PE 1 of 2 failed; PE 0 failed as expected" in done.stdout, done.stdout
    assert "FAILED test_it.py::test_passes_strictly - [XPASS(strict)] not any more" in done.stdout


def test_a_skip_on_one_pe_skips_the_test(run: Run) -> None:
    """A failure of another PE counts more. PEs that all skipped a test run the next one."""
    done = run(
        PATIENT
        + """
        @pytest.fixture
        def place():
            if atoll.my_pe(): pytest.skip("no place")

        def test_one():
            if atoll.my_pe(): pytest.skip("not here")
        def test_fails():
            if atoll.my_pe(): pytest.skip("not here")
            assert False
        def test_all(): print("pid", os.getpid()); pytest.skip("on all")
        def test_next(): print("pid", os.getpid())
        def test_in_the_fixture(place): pass
        def test_fails_beside_the_fixture(place): assert False
        """,
        "-rA",
    )
    assert "2 failed, 1 passed, 3 skipped" in done.stdout, done.stdout
    assert done.stdout.count("PE 0 of 2 failed; PE 1 skipped") == 1, done.stdout
    assert "not here" in done.stdout and "no place" in done.stdout
    pids = re.findall(r"\[[01]\] pid (\d+)", done.stdout)
    assert len(set(pids)) == 2, pids


def test_pes_that_wait_for_one_that_does_not_pass_are_interrupted(run: Run) -> None:
    done = run(
        """
        pytestmark = pytest.mark.pes(2)

        def test_skips():
            if atoll.my_pe(): pytest.skip("not here")
            atoll.barrier_all()
        @pytest.mark.xfail(strict=True, raises=RuntimeError)
        def test_is_expected():
            if atoll.my_pe(): raise RuntimeError
            atoll.barrier_all()
        def test_expects_it_itself():
            if atoll.my_pe(): pytest.xfail("called")
            atoll.barrier_all()
        """,
        ok=True,
    )
    assert "1 skipped, 2 xfailed" in done.stdout, done.stdout


def test_an_end_of_pytest_on_one_pe_is_a_failure(run: Run) -> None:
    done = run(
        """
        @pytest.mark.pes(2)
        def test_it():
            if atoll.my_pe(): pytest.exit("enough")
        """
    )
    assert "1 failed" in done.stdout and "PE 1 raised" in done.stdout and "enough" in done.stdout, done.stdout


def test_fixtures_of_others_are_torn_down_between_modules(tmp_path: Path, run: Run) -> None:
    (tmp_path / "test_after.py").write_text("def test_after(): pass\n")
    done = run(
        """
        @pytest.fixture(scope="module")
        def place(): yield 1; print("torn down")
        def test_here(place): pass
        @pytest.mark.pes([1, 2])
        def test_there(place): assert place == 1
        """,
        f"{tmp_path}/test_it.py",
        f"{tmp_path}/test_after.py",
        ok=True,
    )
    assert "4 passed" in done.stdout


def test_it_works_with_xdist(run: Run) -> None:
    code = """
        @pytest.mark.pes([1, 2])
        @pytest.mark.parametrize("a", ["x", "y::z[1]"])
        def test_it(a, pes, request): assert atoll.n_pes() == pes
        @pytest.mark.pes(2)
        def test_fails(): assert atoll.my_pe() == 0
        """
    done = run(code, "-n", "2")
    assert "1 failed, 4 passed" in done.stdout and "PE 1 of 2 failed; PE 0 passed" in done.stdout, done.stdout


def test_a_test_without_the_mark_is_told_of_it(run: Run) -> None:
    done = run("def test_it(): atoll.zeros(1)")
    text = "zeros() was called before atoll.init(); call atoll.init() first, on every PE. A test marked @pytest.mark.pes(2) runs"
    assert text in done.stdout, done.stdout


@pytest.mark.parametrize("options", [[], ["--hypothesis-seed=3"]])
def test_hypothesis_draws_the_same_on_all_pes(run: Run, options: list[str]) -> None:
    pytest.importorskip("hypothesis", reason="hypothesis is not installed: requirements-dev.txt")
    code = """
        import hypothesis
        @pytest.mark.pes(2)
        @hypothesis.settings(max_examples=20, database=None, deadline=None)
        @hypothesis.given(hypothesis.strategies.integers(0, 10**9))
        def test_it(n): assert atoll.allgather_object(n) == [n, n]
        """
    run(code, *options, ok=True)


def test_options(run: Run) -> None:
    code = """
        def test_alone(): pass
        @pytest.mark.pes(1)
        def test_there(): pass
        """
    assert "1 passed, 1 deselected" in run(code, "--atoll", "--atoll-fresh", ok=True).stdout


@pytest.mark.parametrize(
    "marker", ["pes", "pes()", "pes(0)", "pes([])", "pes('2')", "pes(2, wait=1)", "pes(1, 2)"]
)
def test_wrong_markers_are_refused(tmp_path: Path, marker: str) -> None:
    (tmp_path / "test_it.py").write_text(f"import pytest\n@pytest.mark.{marker}\ndef test_it(): pass\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode != 0 and not done.stderr, done.stderr
    told = [line for line in done.stdout.splitlines() if "pass the number of PEs" in line]
    assert told and told[0].startswith("test_it.py::test_it: pytest.mark.pes got"), done.stdout
    assert "pluggy/" not in done.stdout and len(done.stdout.splitlines()) < 14, done.stdout


def test_atoll_is_not_imported_without_such_tests(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import sys\ndef test_it(): assert 'atoll' not in sys.modules\n")
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stdout


def test_coverage_as_on_the_page_has_lines_that_only_one_pe_runs(tmp_path: Path) -> None:
    pytest.importorskip("coverage", reason="coverage is not installed: requirements-dev.txt")
    page = (ROOT / "docs" / "testing.md").read_text().split("## Coverage")[1]
    indented = re.findall(r"(?:^    .*\n)+", page, re.MULTILINE)
    settings, commands = (textwrap.dedent(block) for block in indented)
    (tmp_path / ".coveragerc").write_text(settings)
    lines = [
        "import atoll",
        "",
        "def work():",
        "    if atoll.my_pe() == 1:",
        "        return 5",
        "    return 0",
    ]
    (tmp_path / "work.py").write_text("\n".join(lines) + "\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest, work\n\n@pytest.mark.pes(2)\ndef test_it():\n    work.work()\n"
    )
    out = ""
    for command in commands.splitlines():
        done = subprocess.run(
            [sys.executable, *command.split()[1:]],
            cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=250, check=True,
        )  # fmt: skip
        out = done.stdout
    assert re.search(r"^work\.py +5 +0 +100%$", out.replace(" " * 2 + "\n", "\n"), re.MULTILINE), out
