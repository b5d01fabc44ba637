"""Pages and comparisons of `atoll report`, from traces of a job whose names try to break out of the page."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import atoll
import numpy as np
import pytest
from jobs import HANG_GUARD, environment, launcher, write_program

HOSTILE = "</script><b>&amp;\\u003c"
PROGRAM = f"""
    import time
    begun = time.monotonic()
    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    x = atoll.zeros(1 << 12)
    s = atoll.zeros(1, dtype="uint64")
    for i in range(int(sys.argv[1])):
        with atoll.trace({HOSTILE!r}):
            if me == 1:
                time.sleep(0.02)
        atoll.put_signal(x, np.ones(1 << 12), s, i + 1, pe=(me + 1) % n)
        atoll.signal_wait_until(s, ">=", i + 1)
        atoll.barrier_all()
    atoll.free(x)
    freed = time.monotonic()
    while time.monotonic() - freed < (freed - begun) / 2:  # so that the end of the time line shows it
        pass
    atoll.finalize()
"""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Traces of a run of four steps, and of one of two steps. PE 1 is late in each step."""
    folder = tmp_path_factory.mktemp("traces")
    program = str(write_program(folder, PROGRAM))
    for name, steps in (("four<i>.pftrace", "4"), ("two.pftrace", "2")):
        subprocess.run(
            [launcher(), "run", "-n", "2", "--trace", name, sys.executable, program, steps],
            env=environment(), cwd=folder, timeout=HANG_GUARD, check=True,
        )  # fmt: skip
    return folder / "four<i>.pftrace", folder / "two.pftrace"


def report(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [launcher(), "report", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_GUARD)


def test_each_wait_began_at_one_pe(traces: tuple[Path, Path], tmp_path: Path) -> None:
    """The delays of late PEs are divided among the PEs that they waited for, without loss."""
    report(traces[0], "--html", tmp_path / "page.html")
    data = data_of((tmp_path / "page.html").read_text())
    waited = sum(row[2] for name in ("keptInCollectives", "keptBySignals") for row in data[name])
    assert waited > 0 and sum(ns for _, ns in data["origins"]) == waited
    assert "where the waiting began:\n  PE " in report(traces[0]).stdout


def data_of(page: str) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    data: dict[str, Any] = json.loads(found[0])
    return data


@pytest.fixture(scope="module")
def page(traces: tuple[Path, Path]) -> str:
    path = traces[0].with_name("page.html")
    done = report(traces[0], "--html", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(rf"{re.escape(str(path))}: [\d.]+ KiB; open it in a browser\n", done.stdout)
    return path.read_text()


def test_names_of_a_trace_cannot_break_out_of_the_page(page: str) -> None:
    assert page.count("<script") == page.count("</script>") == 2
    assert "<b>" not in page and "<i>" not in page
    data = data_of(page)
    assert data["title"] == "four<i>.pftrace" and data["ranges"][0][0] == HOSTILE


def test_a_page_is_complete_and_refers_to_nothing(page: str) -> None:
    assert not re.search(r"https?://|\bsrc=|\bhref=|url\(|@import|\bfetch\(|\bimport\(", page)
    assert "/*style*/" not in page and "/*data*/" not in page and "/*script*/" not in page
    assert "default-src 'none'" in page and "function timeLine()" in page and "--waiting:" in page


def test_matrices_have_the_bytes_and_the_waits_of_each_pair(page: str) -> None:
    data = data_of(page)
    assert (data["pes"], data["rows"], data["width"], data["dropped"]) == (2, 2, 1, 0)
    assert data["traffic"] == [[0, 1, 4 * 8 << 12, 4], [1, 0, 4 * 8 << 12, 4]]
    assert data["sizes"] == [[15, 8, 8 * 8 << 12]]
    waits = {(late, waiting): ns for late, waiting, ns, _ in data["keptBySignals"]}
    assert waits[1, 0] >= 1e6, "PE 0 waits for the puts of PE 1, which sleeps"
    assert all(late != waiting for late, waiting, *_ in data["keptInCollectives"])
    assert any(site[1] == "signal_wait_until" for site in data["sites"])


def test_the_text_has_the_waits_for_signals(traces: tuple[Path, Path]) -> None:
    found = re.search(r"\nwaits for signals and messages:\n((?:  .*\n)+)", report(traces[0]).stdout)
    assert found is not None
    assert re.search(r"^  PE 0 for PE 1: [\d.]+ m?s in [1-4] waits?$", found[1], re.MULTILINE), found[1]


def test_the_time_line_agrees_with_the_sums(page: str) -> None:
    data = data_of(page)
    line, digits = data["timeLine"], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
    calls = sum(row[1] for row in data["operations"])
    assert sum(len(row) for row in line["calls"]) == 7 * calls, "a short trace has all calls"
    for row, (_, moving, waiting) in enumerate(data["times"]):
        shares = [digits.index(digit) / 63 for digit in line["shares"][row]]
        assert len(shares) == 2 * line["steps"]
        for sum_ns, expected in ((sum(shares[::2]), waiting), (sum(shares[1::2]), moving)):
            assert abs(sum_ns / line["steps"] * data["length"] - expected) <= 0.05 * data["length"]
        assert sum(line["calls"][row][2::7]) == waiting
    heap = data["heap"]
    assert heap["peak"] == max(heap["most"]) >= 8 << 12
    assert heap["least"][-1] <= heap["peak"] - (8 << 12)  # freed, maybe within the last step
    assert all(least <= most for least, most in zip(heap["least"], heap["most"], strict=True))


def test_a_comparison_shows_both_runs_and_the_change(traces: tuple[Path, Path]) -> None:
    done = report("--compare", *traces)
    assert (done.returncode, done.stderr) == (0, "")
    for line in (
        r" +four<i>\.pftrace +two\.pftrace +ratio",
        r"  PEs +2 +2",
        r"  put_signal +8 -> 4 +256 KiB -> 128 KiB +[\d.]+ [mu]s +[\d.]+ [mu]s +[-+][\d.]+ [nmu]s +\d+(\.\d\d)?",
        r"  program\.py:\d+ +signal_wait_until .*",
        r"  PE 1 +[\d.]+ m?s +[\d.]+ m?s +[-+].*",
    ):
        assert re.search(f"^{line}$", done.stdout, re.MULTILINE), (line, done.stdout)
    same = report("--compare", traces[0], traces[0]).stdout
    ratios = re.findall(r"(?:\+0\.00 ns +|s +)(\d+\.\d\d)$", same, re.MULTILINE)
    assert len(ratios) > 10 and set(ratios) == {"1.00"} and "->" not in same, same


def test_a_page_can_hold_a_comparison(traces: tuple[Path, Path]) -> None:
    path = traces[0].with_name("both.html")
    assert report("--compare", *traces, "--html", path).returncode == 0
    data = data_of(path.read_text())
    assert data["other"]["title"] == "two.pftrace"
    assert [row[1] for row in data["other"]["operations"] if row[0] == "put_signal"] == [4]
    assert {row[0] for row in data["other"]["operations"]} == {row[0] for row in data["operations"]}


def test_a_page_that_cannot_be_written_is_one_sentence(traces: tuple[Path, Path], tmp_path: Path) -> None:
    trace, other = traces
    whole = trace.read_bytes()
    cases = [
        ((trace, "--html", tmp_path), 2, "cannot be written: Is a directory"),
        ((trace, "--html", tmp_path / "none/page.html"), 2, "cannot be written: No such file or directory"),
        ((trace, "--html", "/dev/full"), 1, "/dev/full is incomplete: No space left on device"),
        ((trace, "--html", trace), 2, "is the trace itself; expected another file"),
        ((other, "--html"), 2, "--html"),
        ((trace, other), 2, "expected one file; two go with --compare"),
        ((trace, "--compare"), 2, "--compare needs two files"),
        ((), 2, "FILE"),
    ]
    for arguments, status, reason in cases:
        done = report(*arguments)
        assert (done.returncode, done.stdout) == (status, ""), (arguments, done)
        assert reason in done.stderr and done.stderr.count("\n") == 1, (arguments, done.stderr)
    assert trace.read_bytes() == whole


def test_a_notebook_shows_the_page(traces: tuple[Path, Path]) -> None:
    shown = atoll.report(traces[0], traces[1], height=300)
    assert data_of(shown.html)["other"]["title"] == "two.pftrace"
    frame = shown._repr_html_()
    found = re.fullmatch(
        r'<iframe sandbox="allow-scripts" srcdoc="([^"<>]*)" style="[^"]*height: 300px[^"]*"></iframe>', frame
    )
    assert found and html.unescape(found[1]) == shown.html
    with pytest.raises(
        atoll.InvalidArgument, match=r"^report\(\): .*none cannot be read: No such file or directory\.$"
    ):
        atoll.report(traces[0].with_name("none"))


def test_a_picture_for_papers(traces: tuple[Path, Path]) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (pip install matplotlib)")
    path = traces[0].with_name("a picture.svg")
    done = report(traces[0], "--picture", path)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert re.fullmatch(rf"{re.escape(str(path))}: \d+ KiB\n", done.stdout)
    svg = path.read_text()
    assert svg.startswith("<?xml")
    for text in ("own code", "PE that called", "PE of the memory", "PE that waited", "KiB"):
        assert f">{text}</text>" in svg, text


def test_a_picture_has_the_numbers_of_the_page(page: str) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (pip install matplotlib)")
    from atoll import _picture

    data = data_of(page)
    time_line, traffic, late = _picture.draw(data).axes[:3]
    assert np.array_equal(traffic.images[0].get_array().filled(0), [[0, 128], [128, 0]])  # KiB
    assert late.get_title(loc="left") == "Who kept whom waiting"
    shares = _picture._shares(data["timeLine"])
    for row, (_, moving, waiting) in enumerate(data["times"]):
        for share, expected in zip(shares[row].mean(axis=0), (waiting, moving), strict=True):
            assert abs(share * data["length"] - expected) <= 0.05 * data["length"]
    pixels = time_line.images[0].get_array()
    orange = (pixels == _picture._rgb("waiting")).all(axis=2)
    assert 0.5 < orange.sum() / (shares[..., 0].sum() * (_picture._ROW_PIXELS - 3)) < 1.5


def test_pictures_that_cannot_be_made(traces: tuple[Path, Path]) -> None:
    for arguments, words in (
        ([traces[0], "--picture", "x.jpeg"], "ends with .png, .svg or .pdf"),
        ([traces[0], "--picture", "x.svg", "--html", "y.html"], "leave out --html"),
        ([*traces, "--compare", "--picture", "x.svg"], "leave out --compare"),
    ):
        done = report(*arguments)
        assert done.returncode == 2 and words in done.stderr, done.stderr
    code = "import sys; sys.modules['matplotlib'] = None; sys.argv[1:] = ['x.svg']\nfrom atoll import _picture; sys.exit(_picture.main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "pip install matplotlib" in done.stderr, done.stderr
