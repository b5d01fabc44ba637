"""Documents and comments name files, folders and layers that exist."""

from __future__ import annotations

import re
from pathlib import Path

import english
import pytest
from test_layout import RANK

ROOT = Path(__file__).resolve().parents[2]
PAGE = "ARCHITECTURE.md"
# A path of the repository: it begins with one of its top-level folders.
PATH = re.compile(r"\b(?:api|bench|cmake|docs|examples|include|python|scripts|src|tests)/[\w./-]*[\w/]")
LINK = re.compile(r"\]\(([^)\s]+)")


def missing(text: str) -> list[str]:
    """Paths that ``text`` names, in prose, links and drawings, and that the working tree lacks."""
    return [
        name
        for name in PATH.findall(text)
        if not re.search(r"\b[A-Z]{3,}\b", name) and not (ROOT / name).exists()
    ]


def section(page: str, heading: str) -> str:
    """The text below one heading of the second level."""
    return page.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def without_code(page: str) -> str:
    """A page without its fenced and inline code, which may look like links."""
    return re.sub(r"`[^`]*`", "", re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE))


def test_every_path_of_the_architecture_exists() -> None:
    assert missing((ROOT / PAGE).read_text(encoding="utf-8")) == []


def test_every_path_of_a_decision_or_measurement_exists() -> None:
    pages = [*(ROOT / "docs/decisions").glob("*.md"), *(ROOT / "docs/measurements").glob("*.md")]
    wrong = [
        f"{page.name}: {name}"
        for page in pages
        # Links are relative to the page, and have a test of their own.
        for name in missing(re.sub(r"\]\([^)]*\)", "", page.read_text(encoding="utf-8")))
    ]
    assert wrong == []


def test_every_path_of_a_comment_exists() -> None:
    wrong = [
        f"{block.path}:{block.line}: {name}"
        for file in english.files("src", "include", "python/src", "tests")
        for block in english.blocks(file)
        if block.kind in {"comment", "docstring"}
        for name in missing(block.text)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "heading",
    [
        "Where an operation's code is",
        "Adding a reduction operator",
        "Adding a barrier algorithm",
        "Adding a collective algorithm",
    ],
)
def test_every_path_of_contributing_exists(heading: str) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert missing(section(page, heading)) == []


def test_tables_have_short_cells() -> None:
    """Prose and lists hold what does not fit into a cell; generated tables of names are longer."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench/README.md"]
    long = [
        f"{page.relative_to(ROOT)}: {cell.strip()[:60]}"
        for page in pages
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
        for cell in re.split(r"(?<!\\)\|", line)
        if len(cell) > 280
    ]
    assert long == []


def test_a_missing_path_is_found() -> None:
    text = "put: src/core/nowhere.cpp, then `src/core` and bench/gpu/NAME.cu"
    assert missing(text) == ["src/core/nowhere.cpp"]


NODE = re.compile(r'(\w+)\["([^"]*)"\]')
LAYER = re.compile(r"\b(?:(python)/src|(?<!/)src/(\w+))(?![\w/])")


def drawn_includes(drawing: str) -> set[tuple[str, str]]:
    """The pairs of layers of which the first may include the second, along the arrows of a Mermaid flowchart."""
    layers = {
        node: [python or layer for python, layer in LAYER.findall(label)]
        for node, label in NODE.findall(drawing)
    }
    arrows = re.findall(r"^ *(\w+) *--> *(\w+) *$", NODE.sub(r"\1", drawing), re.MULTILINE)
    assert len(arrows) == drawing.count("-->"), "an arrow of another form"
    below = {node: {end for start, end in arrows if start == node} for node in layers}
    for _ in below:
        below = {node: ends.union(*(below[end] for end in ends)) for node, ends in below.items()}
    return {
        (high, low)
        for node, ends in below.items()
        for end in ends
        for high in layers[node]
        for low in layers[end]
    }


ALLOWED = {(high, low) for high, rank in RANK.items() for low, other in RANK.items() if rank > other}


def layers_drawing() -> str:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    return section(page, "Layers").split("```mermaid\n")[1].split("```")[0]


def test_the_drawing_of_layers_is_their_order() -> None:
    assert drawn_includes(layers_drawing()) == ALLOWED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("NVIDIA's\"] --> transport\n", "NVIDIA's\"] --> common\n"),
        ("    bootstrap --> common\n", ""),
        ("    bootstrap --> common\n", "    bootstrap --> common\n    memory --> transport\n"),
        ("src/shmem (C), ", ""),
        ('nvshmem["src/nvshmem', 'nvshmem["src/front (C++), src/nvshmem'),
    ],
)
def test_a_wrong_drawing_is_found(old: str, new: str) -> None:
    drawing = layers_drawing()
    assert drawing.count(old) == 1
    assert drawn_includes(drawing.replace(old, new)) != ALLOWED


def anchors(page: str) -> set[str]:
    """The names that a forge gives the headings of a page."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def leads_somewhere(page: Path, target: str) -> bool:
    """The file of a relative link exists, and has the heading that the link names."""
    name, _, anchor = target.partition("#")
    file = page.parent / name if name else page
    if not anchor or file.suffix != ".md":
        return file.exists()
    return file.is_file() and anchor in anchors(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", [".", "docs", "bench", "examples"])
def test_every_relative_link_leads_somewhere(folder: str) -> None:
    root = ROOT / folder
    pages = root.glob("*.md") if folder == "." else root.rglob("*.md")
    wrong = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in LINK.findall(without_code(page.read_text(encoding="utf-8")))
        if "://" not in target and not leads_somewhere(page, target)
    ]
    assert wrong == []


DECISIONS = sorted((ROOT / "docs/decisions").glob("*.md"))


@pytest.mark.parametrize("decision", DECISIONS, ids=[page.stem for page in DECISIONS])
def test_a_decision_is_a_page_with_its_reason(decision: Path) -> None:
    page = decision.read_text(encoding="utf-8")
    assert page.startswith(f"# {decision.name[:4]}. ")
    headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert headings[:2] == ["Context", "Decision"]
    assert set(headings) <= {"Context", "Decision", "Consequences", "Measurements"}
    assert len(page.split()) <= 500, "a decision is at most a page"
    assert f"(decisions/{decision.name})" in (ROOT / "docs/design.md").read_text(encoding="utf-8")


def test_measurement_notes_are_dated_and_listed() -> None:
    folder = ROOT / "docs/measurements"
    index = (folder / "README.md").read_text(encoding="utf-8")
    notes = [note.name for note in folder.glob("*.md") if note.name != "README.md"]
    assert [
        note for note in notes if not re.match(r"\d{4}-\d\d-\d\d-", note) or f"({note})" not in index
    ] == []
    days = re.findall(r"^\| \[(\d{4}-\d\d-\d\d)", index, re.MULTILINE)
    assert days == sorted(days, reverse=True), "the newest note comes first"
