"""The table of the flight recorder's events (api/events.toml) against what is generated from it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "api"))
import events  # noqa: E402 (found in the folder above)


def test_generated_files_are_up_to_date() -> None:
    for path, text in events.generated(events.table()).items():
        assert path.read_text() == text, f"{path.relative_to(ROOT)} is out of step: python api/events.py"


def test_an_event_with_too_many_words_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "events.toml").write_text('[events.many]\nwords = ["a", "b", "c", "d", "e"]\n')
    monkeypatch.setattr(events, "HERE", tmp_path)
    with pytest.raises(ValueError, match="many has 5 words, at most 4 have room"):
        events.table()
