"""The table of kernel operations (api/kernels.toml) against the sources, the tests and what is generated from it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "api"))
import kernels  # noqa: E402 (found in the folder above)

constants = kernels.kernel_pages.documentation.constants


@pytest.fixture
def table() -> dict[str, Any]:
    return kernels.table()


def test_generated_files_are_up_to_date() -> None:
    for path, text in kernels.generated(kernels.table()).items():
        assert path.read_text() == text, f"{path.relative_to(ROOT)} is out of step: python api/kernels.py"


def test_the_sources_have_these_operations_with_these_arguments(table: dict[str, Any]) -> None:
    assert kernels.disagreements(table) == []


def test_another_argument_is_found(table: dict[str, Any]) -> None:
    table["operations"]["signal_set"]["arguments"] = "team, signal, number, pe"
    found = kernels.disagreements(table)
    assert [line.split(":")[0] for line in found] == ["numba", "triton", "cute", "cpp"]
    assert "signal_set is (team, signal, number, pe) in the table" in found[0]


def test_an_operation_in_another_header_is_found(table: dict[str, Any]) -> None:
    """The docstrings of Python name the header, and kernel_comments writes the comment there."""
    table["operations"]["async_put"]["header"] = "bulk.hpp"
    assert [line for line in kernels.disagreements(table) if "no such function in bulk" in line]


def test_comments_of_cpp_come_from_the_table(table: dict[str, Any]) -> None:
    """The comment has the names of the arguments in C++, and a changed table changes it."""
    comments = kernels.kernel_comments.with_comments
    header = ROOT / "include/atoll/device/peers.hpp"
    assert comments(table)[header] == header.read_text()
    assert "/// Return the address of PE `pe`'s copy of `symmetric`." in header.read_text()
    table["operations"]["ptr"]["does"] = "Return another address."
    assert "/// Return another address. `symmetric` is" in comments(table)[header]


def test_an_operation_without_a_function_or_a_test_is_found(table: dict[str, Any]) -> None:
    """An absent operation without a reason is found, too: Triton has no async_put."""
    table["operations"]["put_twice"] = {**table["operations"]["put"], "name": "put_twice"}
    del table["operations"]["async_put"]["absent"]
    found = kernels.disagreements(table)
    for language in table["languages"]:
        assert any(line.startswith(f"{language}: put_twice") and "no such function" in line for line in found)
        assert any(line.startswith(f"{language}: no program") and "put_twice" in line for line in found)
    assert any(line.startswith("triton: async_put") for line in found)


@pytest.mark.parametrize("language", ["numba", "triton", "cute"])
def test_docstrings_have_all_sections(language: str) -> None:
    """Docstrings are in numpydoc's form. Each argument is described, and no placeholder is left."""
    listed = kernels.Language(language, kernels.table())
    for name, operation in listed.operations().items():
        text = listed.docstring(name)
        assert "{" not in text, (name, text)
        assert text.index("\nParameters\n----------\n") < text.index("\nNotes\n-----\n"), name
        assert ("\nReturns\n-------\n" in text) == ("returns" in operation), name
        for parameter in listed.parameters(operation):
            assert f"\n{parameter}\n    " in text or f"\n{parameter} : " in text, (name, parameter)
        assert all(len(line) <= 110 for line in text.splitlines()), name


def test_a_check_without_a_name_in_reports_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = (ROOT / "api/kernels.toml").read_text()
    assert 'check = "tile_put"' in text
    (tmp_path / "kernels.toml").write_text(text.replace('check = "tile_put"', 'check = "tile_putt"'))
    monkeypatch.setattr(kernels, "HERE", tmp_path)
    with pytest.raises(ValueError, match="tile_put: no report has the name tile_putt"):
        kernels.table()


@pytest.mark.parametrize(
    ("group", "header", "name"),
    [
        ("COMPARE", "anywhere.hpp", "Compare"), ("SIGNAL_OP", "anywhere.hpp", "SignalOp"),
        ("REDUCE_OP", "types.hpp", "ReduceOp"), ("ORDER", "device/sync.hpp", "Order"),
    ],
)  # fmt: skip
def test_constants_have_the_order_of_their_enumeration(group: str, header: str, name: str) -> None:
    """A constant of kernels in Python is its index in this tuple."""
    text = (ROOT / "include/atoll" / header).read_text()
    found = re.search(rf"enum class {name}\b[^{{]*{{ (.*?) }};", text)
    assert found is not None
    listed = [value.removeprefix("bit_").upper() for value in found[1].split(", ")]
    only_hosts = ["AVG"] if group == "REDUCE_OP" else []
    assert listed == [*getattr(constants, group), *only_hosts]


def test_operations_that_touch_other_pes_state_their_memory_order(table: dict[str, Any]) -> None:
    """Those that only return numbers, or keep counters in registers, have none."""
    asked = {
        name: each
        for name, each in table["operations"].items()
        if each.get("dtypes") or each.get("symmetric") or each.get("waits") or each.get("collective")
    }
    assert len(asked) > 55
    assert [name for name, each in asked.items() if not each.get("order")] == []
