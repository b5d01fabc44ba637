"""Documents name files, folders and layers that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = "ARCHITECTURE.md"
# A path of the repository: it begins with one of its top-level folders.
PATH = re.compile(r"\b(?:api|bench|cmake|docs|examples|include|python|scripts|src|tests)/[\w./-]*[\w/]")
LINK = re.compile(r"\]\(([^)#\s]+)")


def missing(text: str) -> list[str]:
    """Paths that ``text`` names, in prose, links and drawings, and that the working tree lacks."""
    return [name for name in PATH.findall(text) if not (ROOT / name).exists()]


def section(page: str, heading: str) -> str:
    """The text below one heading of the second level."""
    return page.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def without_code(page: str) -> str:
    """A page without its fenced and inline code, which may look like links."""
    return re.sub(r"`[^`]*`", "", re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE))


def test_every_path_of_the_architecture_exists() -> None:
    assert missing((ROOT / PAGE).read_text(encoding="utf-8")) == []


def test_every_path_of_contributings_table_exists() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert missing(section(page, "Where an operation's code is")) == []


def test_a_missing_path_is_found() -> None:
    assert missing("put: src/core/nowhere.cpp, then `src/core`") == ["src/core/nowhere.cpp"]


def test_every_layer_is_drawn() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    layers = sorted(folder.name for folder in (ROOT / "src").iterdir() if folder.is_dir())
    assert [layer for layer in layers if f"src/{layer}" not in page] == []


@pytest.mark.parametrize("folder", [".", "docs", "bench", "examples"])
def test_every_relative_link_leads_somewhere(folder: str) -> None:
    root = ROOT / folder
    pages = root.glob("*.md") if folder == "." else root.rglob("*.md")
    wrong = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in LINK.findall(without_code(page.read_text(encoding="utf-8")))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert wrong == []
