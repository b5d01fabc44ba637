"""Reports of traces, which notebooks show."""

from __future__ import annotations

import html
import os
import subprocess
import tempfile
from pathlib import Path

from . import _atoll
from ._launching.launch import launcher_path


class Report:
    """The page of a trace; a notebook shows it below the cell. Made by `atoll.report`.

    Attributes
    ----------
    html : str
        The page, complete in itself: write it to a file to open it in a browser.
    height : int
        Pixels of the page in a notebook.
    """

    def __init__(self, page: str, height: int) -> None:
        self.html = page
        self.height = height

    def __repr__(self) -> str:
        return f"<atoll.report: a page of {len(self.html) / 1024:.0f} KiB; a notebook shows it>"

    def _repr_html_(self) -> str:
        # The frame keeps the page's scripts away from the notebook's own document.
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(self.html)}" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


def report(
    path: str | os.PathLike[str], other: str | os.PathLike[str] | None = None, *, height: int = 800
) -> Report:
    """Return the page of a trace, as `atoll report --html` writes it. Needs no job.

    Parameters
    ----------
    path
        A file of `atoll run --trace` or `--record`.
    other
        The trace of another run: the page begins with a comparison, as of `atoll report --compare path other`.
    height
        Pixels of the page in a notebook.

    Returns
    -------
    Report
        An object that a notebook shows; its attribute `html` is the page.

    Raises
    ------
    InvalidArgument
        If a file cannot be read or is not a whole trace.
    Unsupported
        If the program `atoll` is not found.

    Notes
    -----
    Not collective.
    """
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        files = [os.fspath(path)] if other is None else [os.fspath(path), os.fspath(other), "--compare"]
        done = subprocess.run(
            [launcher_path(), "report", "--html", str(page), *files],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            reason = done.stderr.strip().removeprefix("atoll report: ")
            raise _atoll.InvalidArgument(f"report(): {reason}.")
        return Report(page.read_text(encoding="utf-8"), height)
