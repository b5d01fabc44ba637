"""clang-tidy over all sources of src/ and python/src/ that the preset "tidy" would compile.

Headers take most of the time, so sources with the same flags are first checked together, as one file. If that file has a
finding, each half of its sources is checked in the same way, down to single sources. A using declaration passes if any
source of that file uses it.

A file that passed is cached by content: clang-tidy's version, .clang-tidy, the command, the file and the headers that
it includes. The cache is ATOLL_BUILD_TIDY_CACHE, by default in the user's cache, so that a new clone has it too. A
file that cannot be checked is a failure, and so is a run without files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"
INCLUDES = (ROOT / "include", ROOT / "src", ROOT / "include_nvshmem", BUILD / "generated" / "include")
FOLDERS = (ROOT / "src", ROOT / "python" / "src")
MOST_IN_A_BATCH = 24
TOOL = str(ROOT / "build" / "clang-tidy" / "bin" / "clang-tidy")  # by scripts/setup.sh tidy
# Sources of the module that are also compiled alone. One list serves both.
ALONE = re.compile(
    r"/python/src/.*"
    + re.findall(r'set\(_alone "(\S+)"\)', (ROOT / "cmake" / "AtollPython.cmake").read_text())[0]
)
DEFAULT_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "atoll" / "tidy"


@cache
def digest(file: Path) -> bytes:
    """A hash of a file's name and content."""
    return hashlib.sha256(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes()).digest()


@cache
def included(file: Path) -> frozenset[Path]:
    """Return the project's headers that a file includes by name, without those included by these."""
    names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(), re.MULTILINE)
    candidates = [(folder / name).resolve() for name in names for folder in (file.parent, *INCLUDES)]
    return frozenset(
        candidate for candidate in candidates if candidate.is_file() and candidate.is_relative_to(ROOT)
    )


def read_by(file: Path) -> list[Path]:
    """Return the file and every header of the project that it reads, in a fixed order."""
    seen, waiting = {file}, [file]
    while waiting:
        new = included(waiting.pop()) - seen
        seen |= new
        waiting += new
    return sorted(seen)


@dataclass(frozen=True)
class Source:
    """A compiled source, and a key of all that its result depends on."""

    file: Path
    command: str
    key: str


def sources() -> Iterator[Source]:
    """Yield each compiled source of ours."""
    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
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
        yield Source(file, entry["command"], total.hexdigest())


def run_tidy(file: Path, commands: Path = BUILD) -> str:
    """Return the findings of clang-tidy in a file; empty if it passes. `commands` has its compile commands."""
    # The commands are those of another compiler, which may know warnings that clang does not. libstdc++ itself uses what
    # it marks as deprecated.
    command = [
        TOOL,
        "--quiet",
        "--extra-arg=-Wno-unknown-warning-option",
        "--extra-arg=-Wno-deprecated-declarations",
        "-p",
        str(commands),
        str(file),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return (
        ""
        if run.returncode == 0
        else run.stdout + run.stderr or f"{file}: clang-tidy ended with {run.returncode}"
    )


def batches(waiting: list[Source]) -> Iterator[list[Source]]:
    """Yield the sources in groups of one set of flags, of equal sizes."""
    alike: dict[str, list[Source]] = {}
    for source in waiting:
        flags = (
            str(source.file)
            if ALONE.search(str(source.file))
            else re.sub(r" -o \S+ -c \S+", "", source.command)
        )
        if source.file.is_relative_to(ROOT / "python"):  # its folders have the same names in places
            flags += str(source.file.parent)
        alike.setdefault(flags, []).append(source)
    for group in alike.values():
        size = -(-len(group) // -(-len(group) // MOST_IN_A_BATCH))
        for first in range(0, len(group), size):
            yield group[first : first + size]


def passes_together(batch: list[Source], folder: Path) -> bool:
    """Check the sources as one file, written to `folder`. False also if they cannot be compiled together."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / ".clang-tidy", folder)
    joined = folder / "joined.cpp"
    joined.write_text("".join(f'#line 1 "{source.file}"\n{source.file.read_text()}\n' for source in batch))
    first = batch[0]
    quoted = " ".join(f"-iquote {parent}" for parent in dict.fromkeys(source.file.parent for source in batch))
    command = first.command.replace(f"-c {first.file}", f"{quoted} -c {joined}")
    entry = {"directory": str(BUILD), "command": command, "file": str(joined)}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    return not run_tidy(joined, folder)


def examine(name: str, batch: list[Source], passed: Path) -> int:
    """Check the sources of a batch, report findings, and note what passed; return the number of files with findings."""
    if len(batch) == 1:
        if report := run_tidy(batch[0].file):
            print(report, flush=True)
            return 1
    elif not passes_together(batch, BUILD / "together" / name):
        half = len(batch) // 2
        return examine(f"{name}a", batch[:half], passed) + examine(f"{name}b", batch[half:], passed)
    for source in batch:
        (passed / source.key).touch()
    return 0


def main() -> int:
    """Run, report, remember."""
    if not (BUILD / "compile_commands.json").exists():
        print("no build/tidy/compile_commands.json; run: cmake --preset tidy")
        return 1
    passed = Path(os.environ.get("ATOLL_BUILD_TIDY_CACHE") or DEFAULT_CACHE)
    passed.mkdir(parents=True, exist_ok=True)
    files = list(sources())
    waiting = [source for source in files if not (passed / source.key).exists()]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        work = [
            pool.submit(examine, str(number), batch, passed) for number, batch in enumerate(batches(waiting))
        ]
        found = sum(one.result() for one in work)
    compiled = {source.file for source in files}
    apart = [str(f.relative_to(ROOT)) for d in FOLDERS for f in sorted(d.rglob("*.cpp")) if f not in compiled]
    print(
        f"clang-tidy: {len(files)} files, {len(files) - len(waiting)} of them known to be right, {found} with findings"
    )
    if apart:
        print(f"not built here, so not looked at: {', '.join(apart)}")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
