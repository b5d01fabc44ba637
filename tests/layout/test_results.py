"""bench/results: one file for each benchmark in one schema, from which the tables in the pages are made."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import schema  # noqa: E402
import tables  # noqa: E402

PRINTED: dict[str, Any] = {
    "date": "2026-11-24T06:45:00+00:00",
    "machine": {"cpu": "A CPU", "cores": 2},
    "rounds": 3,
    "rows": [
        {"side": "atoll", "op": "p", "bytes": 8, "pes": 2, "unit": "ns", "median": median, "p10": 1.0}
        | {"p90": 9.0, "repeats": 1000, "batches": [median] * 15, "round": number}
        for number, median in enumerate((3.0, 2.0, 7.0))
    ],
}


def kernel(side: str, repeats: list[float]) -> dict[str, Any]:
    """A row as bench/gpu/kernels.py prints it."""
    row = {"side": side, "op": "flag", "bytes": 8, "threads": 1, "pes": 2, "median_us": repeats[1]}
    return row | {"quartiles_us": [repeats[0], repeats[2]], "repeats_us": repeats}


def test_files_and_tables_are_current() -> None:
    found = tables.problems()
    assert not found, "\n".join(found)


def test_links_lead_to_files_of_results() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]:
        for name in re.findall(r"bench/results/([\w.-]+\.json)", page.read_text()):
            assert (schema.RESULTS / name).is_file(), f"{page}: bench/results/{name} is not there"


def test_pages_have_no_unknown_table() -> None:
    for page in ROOT.glob("docs/**/*.md"):
        for name in re.findall(r"<!-- table: (\S+) -->", page.read_text()):
            assert name in tables.TABLES, f"{page}: no table is called '{name}'"


def test_rounds_become_one_row() -> None:
    run = schema.convert("host", PRINTED)
    assert (run["run"], run["date"], run["facts"]) == ("a-cpu-2-cores", "2026-11-24", {"rounds": 3})
    [row] = run["rows"]
    assert row == {
        "operation": "p",
        "implementation": "atoll",
        "language": "C++",
        "pes": 2,
        "bytes": 8,
        "unit": "ns",
        "median": 3.0,
        "p10": 1.0,
        "p90": 9.0,
        "round_min": 2.0,
        "round_max": 7.0,
        "n": 45,
        "rounds": 3,
    }


def test_repeated_rows_without_rounds_are_numbered() -> None:
    row = {"side": "atoll C++", "op": "put", "bytes": 8, "median_us": 3.1}
    rows = schema.rows_of([row, {**row, "median_us": 3.2}], "gpu_enqueue")
    assert [(one["settings"], one["median"], one["unit"]) for one in rows] == [
        ({"run": 1}, 3.1, "us"),
        ({"run": 2}, 3.2, "us"),
    ]


def test_kernels_have_the_median_ratio_of_their_turns() -> None:
    rows = [kernel("cpp", [1.0, 2.0, 4.0]), kernel("numba", [2.0, 2.0, 6.0])]
    run = schema.convert(
        "gpu_kernels", {"about": {"date": "2026-11-24", "gpu": "G", "gpus": 2}, "rows": rows}
    )
    assert run["machine"] == {"gpus": ["G", "G"]}
    assert [row.get("ratio") for row in run["rows"]] == [None, 1.5]  # median of 2, 1 and 1.5
    table = tables.kernel_table(run)
    assert "| flag 8 B | 2.00 ± 75 % | 2.00; 1.50 |" in table
    assert table.endswith("No row.")


def test_a_new_run_replaces_the_current_one_but_no_cited_one(tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    run = schema.convert("host", PRINTED)
    schema.add("host", {**run, "date": "2026-11-01", "kept_for": ["docs/page.md"]}, file)
    schema.add("host", {**run, "date": "2026-11-02"}, file)
    schema.add("host", run, file)
    assert [one["date"] for one in schema.runs("host", file)] == ["2026-11-24", "2026-11-01"]
    assert schema.problems(file) == []


def test_lines_among_other_output_are_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    row = '{"side": "torch NCCL", "op": "sum_reduce", "bytes": 8, "median_us": 41.0}'
    file.write_text(f"a warning\n{row}\n")
    [found] = schema.convert("gpu_enqueue", tables.printed_in(file))["rows"]
    assert (found["implementation"], found["median"]) == ("torch.distributed", 41.0)
    file.write_text("a warning\n")
    with pytest.raises(ValueError, match="has no row"):
        tables.printed_in(file)


def test_errors_name_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="benchmark 'hots' is unknown"):
        schema.convert("hots", PRINTED)
    with pytest.raises(ValueError, match="side 'attol', expected one of atoll"):
        schema.rows_of([{"side": "attol", "op": "p", "median": 1.0}], "host")
    with pytest.raises(ValueError, match="needs 'side', 'op' and 'median'"):
        schema.rows_of([{"side": "atoll", "op": "p"}], "host")
    with pytest.raises(ValueError, match="0 rows of 'q'"):
        tables.figure(schema.convert("host", PRINTED), "q", bytes=8)
    with pytest.raises(ValueError, match="0 places"):
        tables.placed("no marker", "scaling", "| |")


def test_a_file_that_breaks_the_schema_is_found(tmp_path: Path) -> None:
    file = schema.add("host", schema.convert("host", PRINTED), tmp_path / "host.json")
    broken = json.loads(file.read_text())
    broken["runs"][0]["rows"][0] |= {"speed": 1, "median": "fast"}
    broken["runs"][0]["rows"] *= 2
    file.write_text(schema.text_of("host", broken["runs"]))
    found = "\n".join(schema.problems(file))
    assert "'speed' is unknown" in found
    assert "a statistic is not a number" in found
    assert "twice" in found


def test_a_changed_figure_is_put_back() -> None:
    page = "before\n\n<!-- table: scaling -->\n\n| 1 |\n\n<!-- end -->\n\nafter\n"
    assert tables.placed(page, "scaling", "| 2 |") == page.replace("| 1 |", "| 2 |")
