"""Checks the built site: links lead to files and anchors, no page loads from elsewhere, and each has a title."""

from __future__ import annotations

import html
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

TAG = re.compile(r"<(\w+)\s([^<>]*)>")
ATTRIBUTE = re.compile(r'\b(id|name|href|src)="([^"]*)"')
LOADS = {"script", "img", "link", "iframe", "source"}


class Page:
    """The anchors and links of one page, as Sphinx writes them: attributes have double quotes."""

    def __init__(self, text: str) -> None:
        self.has_title = "<h1" in text
        self.anchors: set[str] = {""}
        self.links: dict[str, bool] = {}
        for tag in TAG.finditer(text):
            for attribute, value in ATTRIBUTE.findall(tag[2]):
                if attribute in ("id", "name"):
                    self.anchors.add(value)
                elif value:
                    link = html.unescape(value)
                    self.links[link] = self.links.get(link, False) or tag[1] in LOADS


def check(site: Path) -> list[str]:
    """The faults of a site, each with its page."""
    pages = {str(path): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    files = {str(path) for path in site.rglob("*") if path.is_file()}
    faults = []
    for path, page in pages.items():
        where = os.path.relpath(path, site)
        if not page.has_title:
            faults.append(f"{where}: the page has no title, or is empty")
        for link, is_loaded in page.links.items():
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                faults += [f"{where}: loads {link} from elsewhere"] if is_loaded else []
                continue
            within = str(Path(path).parent / unquote(parts.path))
            target = os.path.normpath(within) if parts.path else path
            if target not in files:
                faults.append(f"{where}: {link} leads to no file")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                faults.append(f"{where}: {link} leads to no anchor")
    return faults if pages else [f"{site} has no page"]


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "every internal link leads somewhere")
    raise SystemExit(1 if found else 0)
