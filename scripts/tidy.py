"""clang-tidy over all sources of src/ and python/src/ that the preset "tidy" would compile.

A file that passed is cached by content: clang-tidy's version, .clang-tidy, the command, the file and the headers that
it includes. The cache is ATOLL_BUILD_TIDY_CACHE, by default in the user's cache, so that a new clone has it too. A
file that cannot be checked is a failure, and so is a run without files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"
INCLUDES = (ROOT / "include", ROOT / "src", BUILD / "generated" / "include")
FOLDERS = (ROOT / "src", ROOT / "python" / "src")
DEFAULT_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "atoll" / "tidy"


@cache
def digest(file: Path) -> bytes:
    """A hash of a file's name and content."""
    return hashlib.sha256(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes()).digest()


@cache
def included(file: Path) -> frozenset[Path]:
    """Return the project's headers that a file includes by name, not those that these include."""
    names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(), re.MULTILINE)
    places = [(folder / name).resolve() for name in names for folder in (file.parent, *INCLUDES)]
    return frozenset(place for place in places if place.is_file() and place.is_relative_to(ROOT))


def read_by(file: Path) -> list[Path]:
    """Return the file and every header of the project that it reads, in a fixed order."""
    seen, waiting = {file}, [file]
    while waiting:
        new = included(waiting.pop()) - seen
        seen |= new
        waiting += new
    return sorted(seen)


def sources() -> Iterator[tuple[Path, str]]:
    """Each compiled source of ours with a key of all that its result depends on."""
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    seen = set()
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        if file in seen or not file.exists() or not any(file.is_relative_to(folder) for folder in FOLDERS):
            continue
        seen.add(file)
        total = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes())
        total.update(entry["command"].replace(str(ROOT), "").encode())
        for part in read_by(file):
            total.update(digest(part))
        yield file, total.hexdigest()


def look(file: Path) -> str:
    """The findings of clang-tidy in a file; empty if it passes."""
    # The compile commands are those of the compiler that built it, which may know warnings that clang does
    # not.
    command = [
        "clang-tidy",
        "--quiet",
        "--extra-arg=-Wno-unknown-warning-option",
        "-p",
        str(BUILD),
        str(file),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return (
        ""
        if run.returncode == 0
        else run.stdout + run.stderr or f"{file}: clang-tidy ended with {run.returncode}"
    )


def main() -> int:
    """Run, report, remember."""
    if not (BUILD / "compile_commands.json").exists():
        print("no build/tidy/compile_commands.json; run: cmake --preset tidy")
        return 1
    passed = Path(os.environ.get("ATOLL_BUILD_TIDY_CACHE") or DEFAULT_CACHE)
    passed.mkdir(parents=True, exist_ok=True)
    files = list(sources())
    waiting = [(file, key) for file, key in files if not (passed / key).exists()]

    def examine(work: tuple[Path, str]) -> bool:
        file, key = work
        if report := look(file):
            print(report, flush=True)
            return False
        (passed / key).touch()
        return True

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = list(pool.map(examine, waiting)).count(False)
    compiled = {file for file, _ in files}
    apart = [str(f.relative_to(ROOT)) for d in FOLDERS for f in sorted(d.rglob("*.cpp")) if f not in compiled]
    print(
        f"clang-tidy: {len(files)} files, {len(files) - len(waiting)} of them known to be right, {found} with findings"
    )
    if apart:
        print(f"not built here, so not looked at: {', '.join(apart)}")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
