"""NCCL4Py's names: each exists with its signature, or is refused with a reason. The page is the table's."""

from __future__ import annotations

import sys

from test_layout import ROOT

sys.path.insert(0, str(ROOT / "api"))
import nccl4py
from package_names import differences


def test_every_name_has_its_signature() -> None:
    theirs, ours, _ = nccl4py.read()
    assert set(theirs) == set(ours)
    assert not differences(theirs, ours)


def test_the_table_is_about_names_that_exist() -> None:
    theirs, _, table = nccl4py.read()
    kinds = [set(table[kind]) for kind in ("differs", "refused", "kernels")]
    assert set().union(*kinds) <= set(nccl4py.qualified(theirs))
    assert sum(map(len, kinds)) == len(set().union(*kinds))
    same, differs, refused, _ = nccl4py.counts()
    assert same + differs >= 0.9 * (same + differs + refused)


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs/nccl4py-coverage.md").read_text() == nccl4py.page(), (
        "run python3 api/nccl4py.py page > docs/nccl4py-coverage.md"
    )
