"""Turns pages of docs/tutorials and docs/course into notebooks without outputs, which the site offers for download.

A block of Python that begins with `%` is a cell. A block without a language behind it shows the cell's output, which
tests/python/test_tutorials.py compares. All other text becomes cells of Markdown.

A lesson of the course has exercises: a cell with `# your code`, a cell that checks it, and the solution in `<details>`,
which remains Markdown. A cell after `<!-- fails -->` ends by an error.
"""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CELL = re.compile(
    r"(?P<fails>^<!-- fails -->\n\n)?^```python\n(?P<code>%.*?)^```\n(?:\n```\n(?P<shown>.*?)^```\n)?"
    r"|^<details>\n<summary>Solution</summary>\n\n```python\n(?P<solution>.*?)^```\n.*?^</details>\n",
    re.MULTILINE | re.DOTALL,
)
BLANK = "# your code"


@dataclass(frozen=True)
class Part:
    """A cell of a notebook, and the output that its page shows; a solution is text with code in it."""

    text: str
    is_code: bool
    shown: str = ""
    fails: bool = False
    solution: str = ""


def tutorials() -> list[Path]:
    """The tutorials, each of which is a notebook."""
    return sorted((ROOT / "docs/tutorials").glob("*.md"))


def lessons() -> list[Path]:
    """The lessons of the course, in their order."""
    return sorted((ROOT / "docs/course").glob("[0-9]*.md"))


def parts(text: str) -> list[Part]:
    """The cells of a page in their order."""
    found: list[Part] = []
    start = 0
    for cell in CELL.finditer(text):
        found += words(text[start : cell.start()])
        if cell["solution"]:
            found.append(Part(cell[0].strip(), False, solution=cell["solution"].rstrip()))
        else:
            found.append(Part(cell["code"].rstrip(), True, cell["shown"] or "", bool(cell["fails"])))
        start = cell.end()
    return found + words(text[start:])


def words(text: str) -> list[Part]:
    """Text between two cells, if there is any."""
    return [Part(text.strip(), False)] if text.strip() else []


def without_links(text: str) -> str:
    """Text for a notebook on its own: links to pages beside it would lead nowhere."""
    return re.sub(r"\[([^]]+)\]\((?![a-z]+:)[^)]*\)", r"\1", text)


def notebook(text: str) -> dict[str, Any]:
    """The notebook of a page, in Jupyter's format."""
    cells = []
    for number, part in enumerate(parts(text)):
        metadata = {"tags": ["raises-exception"]} if part.fails else {}
        cell: dict[str, Any] = {"id": f"cell-{number}", "metadata": metadata}
        source = part.text if part.is_code else without_links(part.text)
        cell["source"] = source.splitlines(keepends=True)
        if part.is_code:
            cell |= {"cell_type": "code", "execution_count": None, "outputs": []}
        else:
            cell["cell_type"] = "markdown"
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write(page: Path, target: Path) -> None:
    """Write the notebook of a page."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        json.dumps(notebook(page.read_text(encoding="utf-8")), indent=1) + "\n", encoding="utf-8"
    )


def write_course(target: Path) -> None:
    """Write one file with the notebooks of all lessons; its bytes depend on the lessons only."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in lessons():
            name = zipfile.ZipInfo(f"atoll-course/{page.stem}.ipynb")
            archive.writestr(name, json.dumps(notebook(page.read_text(encoding="utf-8")), indent=1))
