"""The screen of `atoll top`, drawn by rich: the list of jobs, and the PEs of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rich.console import Console
from rich.live import Live
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from .._launching.failures import pe_ranges

Row = dict[str, Any]

_STYLES = {"running": "green", "waiting": "yellow", "stopped": "red", "died": "bold red", "left": "red"}


def _bytes(value: float | None) -> str:
    if value is None:
        return "-"
    if value == 0:
        return "0"
    unit = "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1000 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"


def _time(seconds: float) -> str:
    whole = int(seconds)
    if seconds < 60:
        return f"{seconds:.1f} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole // 60 % 60:02} h"


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


class Column(NamedTuple):
    """A column: its title with the key that sorts by it, and a row's number and text."""

    title: str
    key: str
    number: Callable[[Row], float]
    text: Callable[[Row], str]
    falls: bool = True  # the largest number first
    used: Callable[[Row], bool] = lambda row: True  # without such a row it is left out


def _rates(title: str, key: str, name: str) -> Column:
    return Column(
        title, key, lambda row: row[name] or 0, lambda row: _bytes(row[name]),
        used=lambda row: row[name] is not None,
    )  # fmt: skip


_COLUMNS = [
    Column("PE", "p", lambda row: row["pes"][0], lambda row: pe_ranges(row["pes"], pair=","), falls=False),
    Column("CPU %", "c", lambda row: row["cpu_percent"] or 0, lambda row: _whole(row["cpu_percent"])),
    Column("memory", "m", lambda row: row["resident_bytes"] or 0, lambda row: _bytes(row["resident_bytes"])),
    Column("heap", "h", lambda row: row["heap_bytes"] or 0, lambda row: _bytes(row["heap_bytes"])),
    Column(
        "GPU", "g", lambda row: row["gpu_bytes"],
        lambda row: "-" if row["gpu"] is None else f"{row['gpu']}: {_bytes(row['gpu_bytes'])}",
        used=lambda row: row["gpu"] is not None,
    ),
    _rates("put/s", "u", "put_bytes_per_s"),
    _rates("got/s", "o", "got_bytes_per_s"),
    _rates("coll/s", "t", "collective_bytes_per_s"),
    Column("waits", "w", lambda row: row["waits_s"], lambda row: _time(row["waits_s"]) if row["waits_s"] else "-"),
]  # fmt: skip
_SORTED_BY = {column.key for column in _COLUMNS}


class Screen:
    """The terminal's second screen, with the last figures."""

    def __init__(self) -> None:
        self._console = Console()
        self._live = Live(console=self._console, screen=True, auto_refresh=False)
        self._figures: Row = {}
        self._job: int | None = None
        self._notice = ""
        self._sorted_by = "p"
        self._reverse = False
        self._first = 0  # first line shown if not all fit
        self._chosen = 0  # selected job of the list

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def open(self, job: int | None, notice: str = "") -> None:
        """Show another job, or the list without one."""
        if job != self._job:
            self._first, self._figures = 0, {}
        self._job, self._notice = job, notice

    def take(self, figures: Row) -> None:
        """Take new figures."""
        self._figures = figures

    def selected(self) -> int | None:
        """Return the job at the mark of the list."""
        jobs = self._figures.get("jobs", [])
        return int(jobs[min(self._chosen, len(jobs) - 1)]["job"]) if jobs else None

    def press(self, key: str) -> None:
        """Sort, scroll or move the mark."""
        if key in _SORTED_BY and self._job is not None:
            self._reverse = key == self._sorted_by and not self._reverse
            self._sorted_by = key
        elif key in ("up", "k", "down", "j"):
            step = -1 if key in ("up", "k") else 1
            if self._job is None:
                last = len(self._figures.get("jobs", [])) - 1
                self._chosen = max(0, min(self._chosen + step, last))
            else:
                self._first = max(0, self._first + step)

    def draw(self) -> None:
        """Draw the screen."""
        size = self._console.size
        head = self._console.render_lines(self._heading(), self._console.options.update(height=None))
        foot = self._console.render_lines(self._keys(), self._console.options.update(height=None))
        body = self._console.render_lines(self._table(), self._console.options.update(height=None), pad=False)
        titles, lines = body[:1], body[1:]
        room = max(1, size.height - len(head) - len(foot) - len(titles))
        if self._job is None:  # the mark stays in sight
            self._first = min(max(self._first, self._chosen - room + 1), self._chosen)
        self._first = max(0, min(self._first, len(lines) - room))
        lines = lines[self._first : self._first + room]
        lines = [*lines, *[[]] * (room - len(lines))]
        self._live.update(_Lines([*head, *titles, *lines, *foot]), refresh=True)

    def _heading(self) -> Text:
        if self._job is None:
            text = Text("your jobs on this host", style="bold")
            return text.append(f"\n{self._notice}", style="yellow") if self._notice else text
        if not self._figures:
            return Text(f"job {self._job}: reading", style="bold")
        job = self._figures
        text = Text(f"job {job['job']}", style="bold").append(f": {job['program']}\n", style="not bold")
        several = "" if job["n_pes"] == 1 else "s"
        heap = f", heap {_bytes(job['heap_limit_bytes'])} a PE" if job["heap_limit_bytes"] else ""
        return text.append(
            f"{job['n_pes']} PE{several}, {job['waiting']} waiting, CPU {_whole(job['cpu_percent'])} %, "
            f"for {_time(job['seconds'])}{heap}",
            style="not bold",
        )

    def _table(self) -> Table:
        return self._jobs_table() if self._job is None else self._pes_table()

    def _jobs_table(self) -> Table:
        table = Table(box=None, expand=True, header_style="reverse", padding=(0, 1, 0, 1), pad_edge=False)
        jobs = self._figures.get("jobs")
        if not jobs:
            table.add_column("no job of yours runs on this host" if jobs == [] else "reading")
            return table
        for title in ("job", "PEs", "waiting", "CPU %", "time"):
            table.add_column(title, justify="right", no_wrap=True)
        table.add_column("program", ratio=1, no_wrap=True, overflow="ellipsis")
        self._chosen = min(self._chosen, len(jobs) - 1)
        for i, job in enumerate(jobs):
            table.add_row(
                str(job["job"]), str(job["n_pes"]), str(job["waiting"]), _whole(job["cpu_percent"]),
                _time(job["seconds"]), Text(job["program"]), style="bold on blue" if i == self._chosen else "",
            )  # fmt: skip
        return table

    def _pes_table(self) -> Table:
        table = Table(box=None, expand=True, header_style="reverse", padding=(0, 1, 0, 1), pad_edge=False)
        rows = self._figures.get("rows", [])
        shown = [column for column in _COLUMNS if any(column.used(row) for row in rows)]
        by = next((column for column in shown if column.key == self._sorted_by), None)
        for column in shown:
            mark = "" if column is not by else "▼" if by.falls != self._reverse else "▲"
            side = "left" if column.key == "p" else "right"
            table.add_column(column.title + mark, justify=side, no_wrap=column.key != "p", max_width=24)  # type: ignore[arg-type]
        table.add_column("state", ratio=1, overflow="fold")
        if by is not None:
            rows = sorted(rows, key=by.number, reverse=by.falls != self._reverse)
        for row in rows:
            table.add_row(
                *[column.text(row) for column in shown],
                Text(row["text"], style=_STYLES.get(row["state"], "dim")),
            )
        return table

    def _keys(self) -> Text:
        if self._job is None:
            return Text("Enter shows a job, ↑ ↓ choose, q leaves", style="dim")
        rows = self._figures.get("rows", [])
        letters = ", ".join(
            f"{column.key} {column.title.removesuffix(' %').removesuffix('/s')}"
            for column in _COLUMNS
            if any(column.used(row) for row in rows)
        )
        folds = any(len(row["pes"]) > 1 for row in rows)
        fold = ", f all PEs" if folds else ", f folds equal PEs" if len(rows) > 16 else ""
        means = " Lines of several PEs have means." if folds else ""
        return Text(f"Sort: {letters}. l lists jobs{fold}, ↑ ↓ scroll, q leaves.{means}", style="dim")


class _Lines:
    """Lines that are rendered already."""

    def __init__(self, lines: list[list[Segment]]) -> None:
        self._lines = lines

    def __rich_console__(self, _: object, __: object) -> Any:
        for i, line in enumerate(self._lines):
            if i:
                yield Segment.line()
            yield from line
