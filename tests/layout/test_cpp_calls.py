"""docs/cpp-calls.md has the calls of the public headers; api/cpp_calls.py writes its tables."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("api_cpp_calls", ROOT / "api/cpp_calls.py")
assert spec and spec.loader
cpp_calls = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cpp_calls)


def test_the_page_has_the_calls_of_the_headers() -> None:
    text = cpp_calls.PAGE.read_text(encoding="utf-8")
    assert text == cpp_calls.page(text), "out of step: python3 api/cpp_calls.py"
    assert "wait_until_any(const T* words" in text and "`std::pair<Team, Team>`" in text


def test_every_function_of_the_class_has_a_row() -> None:
    """The class `atoll`, whose functions users call."""
    header = (cpp_calls.HEADERS / "ops.hpp").read_text(encoding="utf-8")
    names = re.findall(r"^    ATOLL_(?:CONTEXT|TEAM)_FUNCTION\((\w+),", header, re.MULTILINE)
    names += re.findall(r"^    static .*?[ &](\w+)\(", header, re.MULTILINE)
    text = cpp_calls.PAGE.read_text(encoding="utf-8")
    missing = [name for name in names if f"| `{name}(" not in text]
    assert len(names) > 70 and missing == []
