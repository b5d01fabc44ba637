"""docs/settings.md has the table of variables that `atoll info` shows; api/settings.py writes it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("api_settings", ROOT / "api/settings.py")
assert spec and spec.loader
settings = importlib.util.module_from_spec(spec)
spec.loader.exec_module(settings)


def test_the_page_has_the_variables_of_the_code(atoll) -> None:
    text = settings.PAGE.read_text()
    assert text == settings.page(text, atoll.path), "out of step: python3 api/settings.py"


def test_a_page_without_rows_is_completed(atoll) -> None:
    text = settings.PAGE.read_text()
    head = text.splitlines().index("|---|---|---|---|---|")
    short = "\n".join(text.splitlines()[: head + 1]) + "\n"
    assert "ATOLL_HEAP_SIZE" not in short and settings.page(short, atoll.path) == text
