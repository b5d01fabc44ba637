"""Counts checks into a file, and closes a run with a table and one line.

Usage:

    summary.py count FILE NAME STATUS SECONDS LOG [JUNIT]   appends a row: the JUnit file's cases, else one check
    summary.py skip FILE NAME                               appends a row: one skipped check
    summary.py close FILE...                                prints the rows and each failure's last lines, then
                                                            "N passed, N failed, N skipped"
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def outcome(case: ElementTree.Element) -> str:
    """Return whether a case of pytest's or ctest's JUnit file "passed", "failed" or was "skipped"."""
    skip = case.find("skipped")
    # ctest also reports a program that could not be started as "skipped"; a real skip has SKIP_...
    reason = skip.get("message", "") if skip is not None else ""
    not_started = case.get("status") == "notrun" and "SKIP_" not in reason
    if case.find("failure") is not None or case.find("error") is not None or not_started:
        return "failed"
    return "skipped" if skip is not None or case.get("status") == "disabled" else "passed"


def full_name(case: ElementTree.Element) -> str:
    """Return a case's class and name."""
    return "::".join(filter(None, (case.get("classname"), case.get("name"))))


def cases(junit: Path) -> tuple[int, int, int, list[str]]:
    """The passed, failed and skipped cases of pytest's or ctest's JUnit file, and the names of the failed."""
    passed = skipped = 0
    failed: list[str] = []
    for case in ElementTree.parse(junit).iter("testcase"):
        found = outcome(case)
        if found == "failed":
            failed.append(full_name(case))
        elif found == "skipped":
            skipped += 1
        else:
            passed += 1
    return passed, len(failed), skipped, failed


def last_lines(text: str, most: int = 12, width: int = 200) -> list[str]:
    """Return the last lines of a text that are not empty, cut to a width."""
    return [line[:width] for line in text.splitlines() if line.strip()][-most:]


def failures(junit: Path) -> list[tuple[str, list[str]]]:
    """Return the name and the last lines of each failed case of a JUnit file."""
    found = []
    for case in ElementTree.parse(junit).iter("testcase"):
        if outcome(case) == "failed":
            parts = [case.find(kind) for kind in ("failure", "error", "system-out", "skipped")]
            texts = [part.text or part.get("message", "") for part in parts if part is not None]
            found.append((full_name(case), last_lines(max(texts, key=len, default=""))))
    return found


def count(table: Path, name: str, status: int, seconds: int, log: Path, junit: Path | None) -> None:
    """Append the counts of one step."""
    passed, failed, skipped = (1, 0, 0) if status == 0 else (0, 1, 0)
    names: list[str] = []
    if junit is not None and junit.exists():
        passed, failed, skipped, names = cases(junit)
        if status != 0 and failed == 0:
            failed = 1  # the runner itself failed: a crash, a time-out, a file that does not import
        if passed + failed + skipped == 0:
            failed, names = 1, ["no test ran"]
    elif junit is not None:
        passed, failed, names = 0, 1, ["no results"]
    append(table, name, (passed, failed, skipped, seconds), names, log, junit)


def append(
    table: Path,
    name: str,
    values: tuple[int, int, int, int],
    names: list[str],
    log: Path | None,
    junit: Path | None,
) -> None:
    """Append a row: its name, passed, failed, skipped, seconds, names of failed cases, log and JUnit file."""
    with table.open("a") as out:
        print(name, *values, " ".join(names), log or "", junit or "", sep="\t", file=out)


def slowest(junits: list[Path], most: int = 8) -> list[tuple[float, str]]:
    """Return the time in seconds and the name of the slowest cases in JUnit files."""
    found = []
    for junit in junits:
        for case in ElementTree.parse(junit).iter("testcase"):
            name = "::".join(filter(None, dict.fromkeys((case.get("classname"), case.get("name")))))
            found.append((float(case.get("time") or 0), name))
    return sorted(found, reverse=True)[:most]


def print_failures(checks: list[tuple[str, str, str]], most: int = 20) -> None:
    """Print the last lines of failed checks, given by name, log and JUnit file."""
    found: list[tuple[str, list[str]]] = []
    for name, log, junit in checks:
        of_check = failures(Path(junit)) if junit and Path(junit).exists() else []
        if not of_check and log and Path(log).exists():
            of_check = [(name, last_lines(Path(log).read_text(errors="replace")))]
        found += of_check
    for name, lines in found[:most]:
        print(f"\n  failed: {name}", *lines, sep="\n    | ")
    if len(found) > most:
        print(f"\n  and {len(found) - most} more")


def close(tables: list[Path]) -> int:
    """Print every row, the failures and the sum; 1 where anything failed or nothing ran."""
    total = [0, 0, 0]
    rows, junits, failed = [], list[Path](), list[tuple[str, str, str]]()
    for table in tables:
        for line in table.read_text().splitlines() if table.exists() else []:
            name, *numbers, names, log, junit = line.split("\t")
            values = [int(number) for number in numbers]
            total = [sum(pair) for pair in zip(total, values, strict=False)]
            rows.append((name, *values, names))
            junits += [Path(junit)] if junit and Path(junit).exists() else []
            failed += [(name, log, junit)] if values[1] else []
        if not table.exists():
            rows.append((f"{table.stem} did not start", 0, 1, 0, 0, ""))
            total[1] += 1
    print(f"\n  {'':34} {'passed':>7} {'failed':>7} {'skipped':>7} {'seconds':>8}")
    for name, *values, names in rows:
        print("  {:34} {:7} {:7} {:7} {:8}".format(name, *values), f"  {names[:300]}" if names else "")
    if times := slowest(junits):
        print("\n  slowest tests:")
        for seconds, name in times:
            print(f"  {seconds:8.1f} s  {name[:110]}")
    print_failures(failed)
    print(f"\n{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "count":
        junit = Path(rest[5]) if len(rest) > 5 else None
        count(Path(rest[0]), rest[1], int(rest[2]), int(rest[3]), Path(rest[4]), junit)
    elif what == "skip":
        append(Path(rest[0]), rest[1], (0, 0, 1, 0), [], None, None)
    else:
        sys.exit(close([Path(name).with_suffix(".tsv") for name in rest]))
