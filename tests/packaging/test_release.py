"""A release is refused where its files do not agree."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("release", ROOT / "scripts/release.py")
assert _spec and _spec.loader
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)


def tree(
    folder: Path, *, cmake: str = "1.2.3", citation: str = "1.2.3", heading: str = "1.2.3 (2026-12-01)"
) -> Path:
    (folder / "CMakeLists.txt").write_text(f"project(atoll VERSION {cmake} LANGUAGES CXX)\n")
    (folder / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {citation}\n")
    (folder / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## {heading}\n\n- New.\n\n## 1.2.2 (2026-11-01)\n\n- Old.\n"
    )
    return folder


def test_the_notes_are_the_section_of_the_version(tmp_path: Path) -> None:
    assert release.notes("v1.2.3", tree(tmp_path)) == "- New."


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"cmake": "1.2.4"}, "The tag v1.2.3 is not v1.2.4"),
        ({"citation": "1.2.2"}, "CITATION.cff states another version than 1.2.3"),
        ({"heading": "1.3.0 (2026-12-01)"}, "no section `## 1.2.3 (DATE)`"),
        ({"heading": "1.2.3 (unreleased)"}, "is `unreleased`. Give it the date"),
    ],
)
def test_files_that_do_not_agree_are_named(tmp_path: Path, wrong: dict[str, str], text: str) -> None:
    with pytest.raises(release.Refused, match=re.escape(text)):
        release.notes("v1.2.3", tree(tmp_path, **wrong))


def test_the_citation_has_the_version_of_the_build() -> None:
    version = re.search(r"project\(atoll VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert version
    assert f"\nversion: {version[1]}\n" in (ROOT / "CITATION.cff").read_text()
