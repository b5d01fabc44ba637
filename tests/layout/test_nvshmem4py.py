"""NVSHMEM4Py's names: each exists with its signature, and the table has those that differ. The page is the table's."""

from __future__ import annotations

import sys

from test_layout import ROOT

sys.path.insert(0, str(ROOT / "api"))
import nvshmem4py as names
from package_names import differences


def test_every_name_has_its_signature() -> None:
    theirs, ours, _ = names.read()
    assert set(theirs) == set(ours)
    assert not differences(theirs, ours)


def test_the_table_is_about_names_that_exist() -> None:
    theirs, ours, table = names.read()
    assert {*table["differs"], *table["refused"]} <= set(names.qualified(theirs, ours))
    assert not set(table["differs"]) & set(table["refused"])
    same, differs, refused = names.counts()
    multicast = sum("ulticast" in name for name in table["refused"])
    assert same + differs >= 0.99 * (same + differs + refused - multicast)


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs/nvshmem4py-coverage.md").read_text() == names.page(), (
        "run python3 api/nvshmem4py.py page > docs/nvshmem4py-coverage.md"
    )
