"""The search of the site: its table names pages and names that exist, and its order prefers pages that answer a question."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tomllib

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

import pages  # noqa: E402
import search  # noqa: E402

# Prints the score of each result on stdin, for the query in the first argument.
SCORES = """
globalThis.location = { search: "?" + new URLSearchParams({ q: process.argv[1] }) };
const fs = require("fs");
(0, eval)(fs.readFileSync(process.argv[2], "utf8"));
process.stdout.write(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")).map(Scorer.score)));
"""


def test_the_table_names_what_exists_and_each_word_once() -> None:
    read = search.READ
    words = [word for kind in ("pages", "names") for row in read[kind].values() for word in row] + [
        *read["found"]
    ]
    assert sorted({word for word in words if words.count(word) > 1 or word != word.lower()}) == []
    assert not [word for word in words if "," in word or ";" in word], "the directive splits there"
    table = tomllib.loads((ROOT / "docs/site/names.toml").read_text())
    modules = {f"generated/python/{module['name'].replace('.', '-')}.md" for module in table["module"]}
    assert set(read["pages"]) <= {*pages.contents().every(), *modules}
    assert set(read["names"]) <= {name for page in table["page"] for name in page["names"]}


def test_a_page_has_its_entries_below_the_title() -> None:
    made = search.in_markdown("docs/hangs.md", "# Hangs\n\nText.\n")
    assert made.startswith("# Hangs\n\n```{index} ! deadlock, ! hang,") and made.endswith("\n```\n\nText.\n")
    assert search.in_markdown("docs/design.md", "# A\n") == "# A\n"


def test_missing_entries_of_a_built_site_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {"hang": [[0, "index-0", "main"]], "slow": [[0, "index-0", ""]]}
    index = {"docnames": ["hangs", "slow"], "indexentries": entries}
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    wanted = {"hang": "hangs", "slow": "slow", "map": "reference/python/jobs"}
    assert search.faults(tmp_path, wanted) == ["search.toml: 'slow' is an entry of [], not of slow"]


def test_the_first_result_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {"hang": ["hangs#index-0", "slow"], "slow": ["hangs", "slow"], "lock": []}
    monkeypatch.setattr(search, "first_places", lambda *_: shown)
    assert search.faults(tmp_path, {"hang": "hangs", "slow": "slow", "lock": "locks"}) == [
        "search.toml: 'slow' shows hangs, slow; slow is to come first",
        "search.toml: 'lock' shows nothing; locks is to come first",
    ]


@pytest.mark.skipif(not shutil.which("node"), reason="no Node runs the scorer")
def test_order_of_results() -> None:
    """Each result comes before the next one."""
    results = [
        ["hangs", "Find out why it hangs", "#index-0", None, 100, "hangs.md", "index"],
        ["reference/python/jobs", "atoll.hang", "#atoll.hang", "", 55, "", "object"],
        ["reference/python/arrays", "atoll.arrays.DistArray.hang", "", "", 55, "", "object"],
        ["hangs", "Find out why it hangs", "", None, 15, "", "text"],
        ["debugging", "Debug a job > The job hangs", "#the-job-hangs", None, 7, "", "title"],
        ["reference/errors", "Errors", "", None, 5, "", "text"],
        ["examples/13/index", "An example", "", None, 5, "", "text"],
        ["torch", "Unchanged", "", None, 3, "", "title"],
        ["decisions/0001", "Hang", "", None, 15, "", "title"],
        ["project/changelog", "Changes", "", None, 9, "", "title"],
    ]
    done = subprocess.run(
        ["node", "-e", SCORES, "hang", ROOT / "docs/site/static/scorer.js"],
        input=json.dumps(results),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    scores = json.loads(done.stdout)
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == len(scores), scores
