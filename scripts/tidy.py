"""clang-tidy over all sources of src/ and python/src/ that the release build compiles.

A file that passed is cached by content: clang-tidy's version, .clang-tidy, the command, the file and the headers that
it includes. The cache is ATOLL_BUILD_TIDY_CACHE, by default in the user's cache, so that a new clone has it too. A
file that cannot be checked is a failure, and so is a run without files.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
FOLDERS = (ROOT / "src", ROOT / "python" / "src")
DEFAULT_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "atoll" / "tidy"


@cache
def digest(file: Path) -> bytes:
    """A hash of a file's name and content."""
    return hashlib.sha256(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes()).digest()


def headers_of_objects() -> dict[str, list[Path]]:
    """The project's files from which each object was made, as ninja recorded them."""
    said = subprocess.run(
        ["ninja", "-C", str(BUILD), "-t", "deps"], capture_output=True, text=True, check=True
    )
    found: dict[str, list[Path]] = {}
    for block in said.stdout.split("\n\n"):
        first, *files = block.strip().splitlines() or [""]
        places = [(BUILD / file.strip()).resolve() for file in files]
        found[first.split(":")[0]] = sorted(place for place in places if place.is_relative_to(ROOT))
    return found


def sources() -> Iterator[tuple[Path, str]]:
    """Each compiled source of ours with a key of all that its result depends on."""
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    headers = headers_of_objects()
    # The headers of an object that is not built yet are unknown, so every header counts.
    every_header = sorted(file for folder in ("include", "src") for file in (ROOT / folder).rglob("*.hpp"))
    seen = set()
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        if file in seen or not file.exists() or not any(file.is_relative_to(folder) for folder in FOLDERS):
            continue
        seen.add(file)
        total = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes())
        total.update(entry["command"].replace(str(ROOT), "").encode())
        output = entry.get("output") or entry["command"].split(" -o ")[1].split()[0]
        for part in (file, *(headers.get(output) or every_header)):
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
        print("no compile_commands.json: build first")
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
