"""The policy of docs/versioning.md: promised names exist, or are deprecated, warn and are in the changelog."""

from __future__ import annotations

import importlib.util
import json
import re
import warnings
from pathlib import Path

import atoll
import pytest
from atoll._names import deprecated
from jobs import ROOT, launcher

_spec = importlib.util.spec_from_file_location("promised", ROOT / "scripts/promised.py")
assert _spec and _spec.loader
promised = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(promised)

Names = dict[str, list[str]]


def broken(promises: dict[str, Names], present: Names, deprecated: set[str]) -> set[str]:
    """The promised names that are gone."""
    missing = {
        (kind, name)
        for names in promises.values()
        for kind, listed in names.items()
        for name in set(listed) - set(present[kind])
    }
    return {f"{kind}: {name}" for kind, name in missing if kind != "python" or name not in deprecated}


def test_a_promise_that_is_broken_is_found() -> None:
    promises = {"1.0.0": {"python": ["get", "put", "set"], "options": ["run -n"]}}
    present: Names = {"python": ["get", "more"], "options": []}
    assert broken(promises, present, {"set"}) == {"python: put", "options: run -n"}


def test_every_promised_name_exists_or_is_deprecated() -> None:
    promises = json.loads((ROOT / "api/promised.json").read_text())
    assert all(len(names["python"]) > 100 and len(names["options"]) > 20 for names in promises.values())
    gone = broken(promises, promised.names(Path(launcher())), set(deprecated.NAMES))
    assert not gone, f"deprecate them first (docs/versioning.md): {sorted(gone)}"


def deprecated_in_changelog() -> set[str]:
    """Names that lists under "Deprecated" in the changelog have."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return set(re.findall(r"^- \*\*Deprecated\*\*: `atoll\.(\w+)`", text, re.MULTILINE))


def test_deprecated_names_have_a_replacement_and_a_line_in_the_changelog() -> None:
    assert set(deprecated.NAMES) == deprecated_in_changelog()
    for old, (ours, since) in deprecated.NAMES.items():
        assert old not in atoll.__all__ and hasattr(atoll, ours) and re.fullmatch(r"\d+\.\d+\.0", since)


def test_a_deprecated_name_works_on_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(deprecated.NAMES, "allput", ("put", "0.2.0"))
    with pytest.warns(
        DeprecationWarning, match=r"^atoll\.allput is deprecated since 0\.2\.0; use atoll\.put$"
    ) as told:
        assert atoll.allput is atoll.put
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert atoll.put and "allput" not in dir(atoll)
    with pytest.raises(AttributeError, match="no attribute 'allputs'"):
        _ = atoll.allputs
