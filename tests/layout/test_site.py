"""The documentation site: its tables name every page and every public name, and its own tools find faults."""

from __future__ import annotations

import ast
import http.server
import re
import sys
import threading
from pathlib import Path

import pytest
import tomllib

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

import check  # noqa: E402
import cpp  # noqa: E402
import drawings  # noqa: E402
import errors  # noqa: E402
import figures  # noqa: E402
import links  # noqa: E402
import openshmem  # noqa: E402
import pages  # noqa: E402


def test_every_page_is_in_the_side_bar_once() -> None:
    named = list(pages.contents().every())
    for name in sorted({name for name in named if named.count(name) > 1}):
        pytest.fail(f"{name} is twice in docs/site/contents.toml")
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")}
    found |= {str(path.relative_to(ROOT)) for path in (ROOT / "examples").rglob("*.md")}
    missing = found - set(named)
    assert not missing, f"add these pages to a section of docs/site/contents.toml: {sorted(missing)}"
    absent = {name for name in named if not name.startswith("generated/") and not (ROOT / name).is_file()}
    assert not absent, f"docs/site/contents.toml names pages that do not exist: {sorted(absent)}"


def test_names_of_the_side_bar_are_titles_of_one_page_each() -> None:
    rows = [row for _, section in pages.contents().sections for row in section]
    for name, short in rows:
        if not name.startswith("generated/"):
            title = re.search(r"^# (.+)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
            assert title and title[1] == short, (
                f"docs/site/contents.toml: {name} is {short!r} in the side bar"
            )
    assert len({short for _, short in rows}) == len(rows)


def test_every_public_name_is_in_the_reference_once() -> None:
    atoll = pytest.importorskip("atoll", reason="this Python has no atoll: scripts/install.sh")
    read = tomllib.loads((ROOT / "docs/site/names.toml").read_text())
    named = [name for page in read["page"] for name in page["names"]]
    assert len(named) == len(set(named))
    assert set(named) == set(atoll.__all__), sorted(set(named) ^ set(atoll.__all__))


def test_every_public_header_is_in_the_reference_once() -> None:
    read = cpp.table()
    named = [header for page in read["page"] for header, _ in page["headers"]] + list(read["without"])
    assert len(named) == len(set(named))
    include = ROOT / "include"
    found = {str(path.relative_to(include)) for path in include.rglob("*.h*") if "detail" not in path.parts}
    assert set(named) == found, f"correct docs/site/cpp.toml: {sorted(set(named) ^ found)}"
    for page in read["page"]:
        for header, _ in page["headers"]:
            assert cpp.opening(include / header).strip(), f"{header} begins without a comment"


def test_functions_on_the_current_job_are_on_the_first_page_of_cpp() -> None:
    text = cpp.functions_of_the_job()
    header = (ROOT / "include/atoll/ops.hpp").read_text()
    names = re.findall(r'FUNCTION\((\w+), "', header)
    assert {"put", "sum_reduce"} <= set(names)
    assert re.findall(r"`(\w+)`[,.]", text) == names


def test_every_name_of_openshmem_is_on_its_page() -> None:
    words = set(re.findall(r"\w+", openshmem.page()))
    missing = [function.name for function in openshmem.functions() if function.name not in words]
    assert not missing and {"shmem_long_put", "shmem_TYPENAME_put", "shmem_putSIZE"} <= words, missing


def test_every_error_has_cures_and_every_name_there_exists() -> None:
    atoll = pytest.importorskip("atoll", reason="this Python has no atoll: scripts/install.sh")
    rows = errors.table()
    assert set(rows) == set(errors.classes())
    cures = "\n".join(cure for row in rows.values() for cure in row["cures"])
    for name in re.findall(
        r"atoll\.([\w.]*\w)", cures + (ROOT / "docs/cheat-sheet.md").read_text(encoding="utf-8")
    ):
        value = atoll
        for part in name.split("."):
            value = getattr(value, part)
    assert all(row["cures"] for row in rows.values())


def test_every_link_of_a_page_leads_to_a_file(tmp_path: Path) -> None:
    site = pages.Site(tmp_path, pages.contents())
    for name in list(site.places):
        if not name.startswith("generated/"):
            site.with_links(name, (ROOT / name).read_text(encoding="utf-8"))
    assert site.wrong == []


def test_links_become_links_of_the_site(tmp_path: Path) -> None:
    site = pages.Site(tmp_path, pages.contents())
    text = "[a](tutorial.md#start), `[no](link)`, [b](../examples/02_ring/ring.cpp), [c](../ARCHITECTURE.md), [d](nowhere.md)"
    made = site.with_links("docs/guide.md", text)
    assert (
        "(tutorial.md#start), `[no](link)`, [b](examples/02_ring/index.md), [c](project/architecture.md)"
        in made
    )
    assert site.wrong == ["docs/guide.md:1: the link nowhere.md leads to no file"]


def test_faults_of_a_built_site_are_found(tmp_path: Path) -> None:
    assert check.check(tmp_path) == [f"{tmp_path} has no page"]
    (tmp_path / "a.html").write_text(
        '<h1>A</h1><a href="b.html#here">b</a><a href="c.html">c</a><a href="#x">x</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p><script src="https://elsewhere/x.js"></script>')
    assert sorted(check.check(tmp_path)) == [
        "a.html: #x leads to no anchor",
        "a.html: c.html leads to no file",
        "b.html: loads https://elsewhere/x.js from elsewhere",
        "b.html: the page has no title, or is empty",
    ]


def test_forms_of_links_that_leave_the_site(tmp_path: Path) -> None:
    right = ["https://semver.org", "https://a-b.example.org/x/y.html?q=1&amp;r=2#top"]
    wrong = [
        "http://semver.org",
        "https://semver",
        "https://127.0.0.1/x",
        "https://a.org/x.",
        "ftp://a.org",
        "https://a.org:x",
    ]
    text = "".join(
        f'<a class="x" href="{link}">x</a>' for link in [*right, *wrong, "b.html", "#x", "mailto:a@b.org"]
    )
    (tmp_path / "a.html").write_text(text)
    assert [line.split(": ")[1] for line in links.check_forms(tmp_path)] == wrong


class Pages(http.server.BaseHTTPRequestHandler):
    """A server of few pages; /moved leads to one that is there."""

    def do_GET(self) -> None:
        self.send_response({"/there": 200, "/moved": 301, "/private": 403}.get(self.path, 404))
        self.send_header("Location", "/there")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_links_are_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert links.main(tmp_path) == 1
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{server.server_port}"
        page = tmp_path / "a.html"
        page.write_text(
            f'<a href="{at}/there#part">x</a><a href="{at}/moved">x</a><a href="{at}/private">x</a>'
        )
        assert links.main(tmp_path) == 0
        page.write_text(f'<a href="{at}/there">x</a><a href="{at}/gone">x</a>')
        assert links.main(tmp_path) == 1
        server.shutdown()
    assert capsys.readouterr().out.splitlines()[1:] == [
        "3 links lead somewhere",
        f"a.html: {at}/gone: status 404",
    ]
    assert links.main(tmp_path) == 3  # nothing listens there any more
    assert capsys.readouterr().out == "no network: none of 2 links was followed\n"


def test_a_drawing_is_read() -> None:
    lines = ['a["one<br/>two"] --> b{"b?"}', 'b -- "yes" --> c', 'c -. "later" .-> a']
    made = drawings.graph(lines)
    for part in (
        'a [label="one\\ntwo"]',
        "a -> b",
        'b -> c [label=" yes "]',
        'c -> a [label=" later ", style=dashed]',
    ):
        assert part in made, made
    with pytest.raises(AssertionError):
        drawings.one("pie\n1")
    assert "| P | L | go |" in drawings.one(
        "sequenceDiagram\nparticipant L as L\nparticipant P as P\nP->>L: go"
    )


def test_every_drawing_of_the_pages_is_known() -> None:
    for name in pages.contents().every():
        if not name.startswith("generated/"):
            for found in drawings.DRAWING.finditer((ROOT / name).read_text(encoding="utf-8")):
                kind, *lines = found[1].strip().splitlines()
                assert drawings.sequence(lines) if kind == "sequenceDiagram" else drawings.graph(lines), name


def test_the_tables_are_read_without_a_build() -> None:
    """The tools of the site import Sphinx only where they build."""
    for path in (ROOT / "docs/site").glob("*.py"):
        imported = [
            node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        names = {alias.name for node in imported for alias in node.names} | {
            getattr(node, "module", "") or "" for node in imported
        }
        assert path.name == "build.py" or not any(name.startswith("sphinx") for name in names), path


def test_figures_beside_others_are_those_of_the_results(tmp_path: Path) -> None:
    figures.write(tmp_path)
    text = (tmp_path / "figures.md").read_text()
    for one in figures.latest("python_peers")["rows"]:
        assert figures.shown(one["min"]) in text, one
    assert all(f"| {name} 8 B |" in text for name in ("put", "put_signal", "sum_reduce"))  # beside NVSHMEM
    for one in figures.run()["comparisons"]:
        if one["operation"] in ("barrier_all", "py_put 8 B"):
            assert f"| {one['pes']} | {one['atoll']} | {one['peer']} | {one['shown']} |" in text, one
    assert "in C |" not in text and "over C++" not in text


def test_the_tutorial_on_clusters_shows_what_its_tests_run() -> None:
    """Its commands are those of docs/clusters.md, which tests/clusters runs; its errors are those that tests expect."""
    tutorial, page = ((ROOT / f"docs/{name}.md").read_text() for name in ("laptop-to-cluster", "clusters"))
    commands = re.findall(
        r"^    (?:export|atoll|srun|#SBATCH|prterun|mpirun|mpiexec|torchrun) .*$", tutorial, re.MULTILINE
    )
    assert len(commands) == 9
    for command in commands:
        assert f"\n{command.replace('primes.py', 'program.py')}\n" in page, command
    expected = "".join(path.read_text() for path in (ROOT / "tests/clusters").glob("*.py"))
    rows = re.findall(r"^\| (`.*?`) \|", tutorial.split("\n## Errors")[1], re.MULTILINE)
    assert len(rows) > 8
    for text in re.findall(r"`([^`]*)`", "".join(rows)):
        pattern = re.sub(r"node\d|\d[\d.]*", r"\\S+", re.escape(text).replace(r"\.", "."))
        assert re.search(pattern, expected), f"no test of tests/clusters expects {text}"
