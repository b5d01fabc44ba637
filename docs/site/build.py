"""Builds the documentation site into build/docs/html: gathers the pages, runs Sphinx, checks the links.

    .venv/bin/python docs/site/build.py [LAUNCHER [JOBS]]

Warnings are errors. LAUNCHER is the `atoll` that prints its help; the one beside this Python by default. JOBS is the
number of processes of Sphinx, 1 by default.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import check
import cpp
import errors
import figures
import links
import pages
import reference
import search
import sheet
from sphinx.cmd.build import main as sphinx

BUILD = pages.ROOT / "build/docs"


def gather(launcher: Path) -> list[str]:
    """Write the sources of all pages, leaving equal files as they are; return the faults of their links."""
    fresh, source = BUILD / "fresh", BUILD / "source"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    site = pages.Site(fresh, pages.contents())
    site.fill()
    reference.write_python(fresh / "reference")
    reference.write_command_line(fresh / "reference", launcher)
    cpp.write(fresh / "reference", BUILD / "doxygen")
    figures.write(fresh / "reference")
    errors.write(fresh / "reference", launcher)
    if names(fresh) != names(source):
        shutil.rmtree(source, ignore_errors=True)
        shutil.rmtree(BUILD / "html", ignore_errors=True)
    for name in names(fresh):
        if not (source / name).exists() or (source / name).read_bytes() != (fresh / name).read_bytes():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(fresh / name, source / name)
    return site.wrong


def names(folder: Path) -> set[Path]:
    """The files of a folder, within it."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def main() -> int:
    """Build, and print the faults."""
    launcher = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(sys.executable).with_name("atoll")
    faults = gather(launcher)
    jobs = sys.argv[2] if len(sys.argv) > 2 else "1"
    html = BUILD / "html"
    options = ["-W", "--keep-going", "-q", "-j", jobs, "-d", str(BUILD / "doctrees"), "-c", str(pages.HERE)]
    status = sphinx([*options, "-b", "html", str(BUILD / "source"), str(html)])
    faults += sheet.write(html)
    faults += check.check(html) + links.check_forms(html)
    faults += search.faults(html, search.expected(pages.place, reference.places()))
    print("\n".join(faults) or f"The site is {html}/index.html")
    return 1 if faults or status else 0


if __name__ == "__main__":
    raise SystemExit(main())
