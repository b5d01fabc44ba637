"""Links of the built site that leave it: their form is checked offline, and each is followed where a network exists.

    .venv/bin/python docs/site/links.py [SITE]      (`make linkcheck`; SITE is build/docs/html by default)

Prints the links that lead nowhere and ends with status 1. Status 3: no server answered, so no link was followed.
"""

from __future__ import annotations

import html
import re
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
ANCHOR = re.compile(r'<a\s[^<>]*\bhref="([^"]*)"')
HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}")
# Servers that refuse programs, or ask for a pause, have the page.
THERE = {401, 403, 405, 429}
SECONDS = 20


def links(site: Path) -> dict[str, str]:
    """Each link that leaves the site, and a page that has it."""
    found: dict[str, str] = {}
    for path in sorted(site.rglob("*.html")):
        for link in ANCHOR.findall(path.read_text(encoding="utf-8")):
            if urlsplit(html.unescape(link)).scheme not in ("", "mailto"):
                found.setdefault(html.unescape(link), str(path.relative_to(site)))
    return found


def wrong_form(link: str) -> str:
    """The fault of a link that can be seen without a network, or nothing."""
    try:
        parts = urlsplit(link)
        port = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme != "https":
        return f"the scheme is {parts.scheme}, not https"
    if not HOST.fullmatch(parts.hostname or "") or port or parts.username:
        return f"{parts.netloc!r} is no public host"
    if re.search(r"[\s<>`\"]|[.,;:]$", link):
        return "it has a character that ends a link"
    return ""


def follow(link: str) -> tuple[bool, str]:
    """Read the page of a link. Return (a server answered, the fault or nothing)."""
    request = urllib.request.Request(
        link.partition("#")[0], headers={"User-Agent": "Mozilla/5.0 (link check)"}
    )
    try:
        with urllib.request.urlopen(request, timeout=SECONDS):
            return True, ""
    except urllib.error.HTTPError as error:
        with error:
            return True, "" if error.code in THERE else f"status {error.code}"
    except (OSError, HTTPException) as error:
        return False, str(error)


def check_forms(site: Path) -> list[str]:
    """The faults that need no network, each with its page."""
    return [f"{page}: {link}: {fault}" for link, page in links(site).items() if (fault := wrong_form(link))]


def main(site: Path) -> int:
    """Follow every link, and print what was found."""
    found = links(site)
    if not found:
        print(f"{site} has no link to follow; make docs builds the site")
        return 1
    with ThreadPoolExecutor(8) as pool:
        answers = dict(zip(found, pool.map(follow, found), strict=True))
    if not any(answered for answered, _ in answers.values()):
        print(f"no network: none of {len(found)} links was followed")
        return 3
    faults = [f"{found[link]}: {link}: {fault}" for link, (_, fault) in answers.items() if fault]
    print("\n".join(faults) or f"{len(found)} links lead somewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/docs/html"))
