"""Check that a tag can be released, and print the notes of the release: its section of the changelog.

``python scripts/release.py v0.1.0``
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Refused(Exception):
    """The tag cannot be released."""


def notes(tag: str, root: Path = ROOT) -> str:
    """Return the notes of the release. Raise Refused if the files do not agree on its version."""
    stated = re.search(r"project\(atoll VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())
    version = stated[1] if stated else ""
    if tag != f"v{version}":
        raise Refused(
            f"The tag {tag} is not v{version}, the version in CMakeLists.txt. Set one to the other."
        )
    if f"\nversion: {version}\n" not in (root / "CITATION.cff").read_text():
        raise Refused(f"CITATION.cff states another version than {version}. Set it there.")
    section = re.search(
        rf"^## {re.escape(version)} \(([^)\n]*)\)\n(.*?)(?=^## |\Z)",
        (root / "CHANGELOG.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    if not section:
        raise Refused(f"CHANGELOG.md has no section `## {version} (DATE)`. Write it.")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", section[1]):
        raise Refused(
            f"The section of {version} in CHANGELOG.md is `{section[1]}`. Give it the date of the release."
        )
    return section[2].strip()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        print(notes(sys.argv[1]))
    except Refused as refusal:
        sys.exit(str(refusal))
