"""The search of the site: entries of the index from search.toml, and a check of what it shows first.

The check runs Sphinx's own script by Node. Without Node it compares the entries of the built index.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import tomllib

HERE = Path(__file__).resolve().parent
READ = tomllib.loads((HERE / "search.toml").read_text(encoding="utf-8"))


def entries(kind: str, name: str) -> str:
    """Sphinx's directive `index` with the words of a page ("pages") or public name ("names"); empty without any."""
    words = READ[kind].get(name)
    return f"```{{index}} {', '.join('! ' + word for word in words)}\n```\n" if words else ""


def in_markdown(name: str, text: str) -> str:
    """The text of a page with its entries below the title."""
    title, rest = text.split("\n", 1)
    directive = entries("pages", name)
    return f"{title}\n\n{directive}{rest}" if directive else text


def expected(place: Any, reference: dict[str, str]) -> dict[str, str]:
    """The place that the search shows first for each word; `place` maps files, `reference` public names to places."""
    found = {word: place(name).removesuffix(".md") for name, words in READ["pages"].items() for word in words}
    found |= {word: reference[name] for name, words in READ["names"].items() for word in words}
    return found | READ["found"]


def first_places(site: Path, words: list[str]) -> dict[str, list[str]]:
    """The places of the first results for each word, with their anchors; empty without Node."""
    if not shutil.which("node"):
        return {}
    done = subprocess.run(
        ["node", HERE / "search.js", site],
        input=json.dumps(words),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return dict(json.loads(done.stdout))


def faults(site: Path, wanted: dict[str, str]) -> list[str]:
    """Each word of the table whose first result is another page."""
    shown = first_places(site, list(wanted))
    if not shown:
        return without_entry(site, wanted)
    return [
        f"search.toml: {word!r} shows {', '.join(shown[word]) or 'nothing'}; {place} is to come first"
        for word, place in wanted.items()
        if not shown[word] or shown[word][0].partition("#")[0] != place
    ]


def without_entry(site: Path, wanted: dict[str, str]) -> list[str]:
    """Each word of the table without a main entry for its page in the built index."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    wrong = []
    for word, place in wanted.items():
        pages = {index["docnames"][row[0]] for row in index["indexentries"].get(word, []) if row[2]}
        if word not in READ["found"] and pages != {place}:
            wrong.append(f"search.toml: {word!r} is an entry of {sorted(pages)}, not of {place}")
    return wrong
