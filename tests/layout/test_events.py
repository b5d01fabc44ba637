"""The table of the flight recorder's events (api/events.toml) against what is generated from it."""

from __future__ import annotations

import re
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


def test_a_list_with_an_unknown_operation_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = (
        (ROOT / "api/events.toml").read_text().replace('unfinished = ["put_nbi"', 'unfinished = ["put_nbj"')
    )
    (tmp_path / "events.toml").write_text(text)
    monkeypatch.setattr(events, "HERE", tmp_path)
    with pytest.raises(ValueError, match=r"`unfinished` of .* not in `names`: \['put_nbj'\]"):
        events.table()


def test_operations_of_kernels_are_listed_once() -> None:
    names = events.table()["operations"]["names"]
    assert {"put", "barrier", "sync of a grid", "inscan"} <= set(names)
    assert len(names) == len(set(names))


def test_every_collective_call_has_a_name_in_the_table() -> None:
    names = events.table()["operations"]["names"]
    called = re.compile(
        r"(?:\b(?:sync|agree_to|call_record|check_call|measure)|\b(?:Called|Within|Measured|MeasuredLock) \w+)\("
        r'[^"();]*"(\w+)"'
    )
    found = {
        name: path.relative_to(ROOT)
        for layer in ("core", "stream", "collective")
        for path in (ROOT / "src" / layer).rglob("*.cpp")
        if path.parent.name != "symmetric"  # groups of PyTorch, which record nothing
        for name in called.findall(path.read_text())
    }
    assert {"barrier", "alltoall", "mailbox", "test_lock"} <= set(found)
    unknown = {name: str(path) for name, path in found.items() if name not in names}
    assert not unknown, f'recorded as "other": add to the names of api/events.toml: {unknown}'
