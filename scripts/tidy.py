"""clang-tidy over the library's sources within a time budget (ATOLL_BUILD_TIDY_SECONDS, 240 by default).

What passed is remembered by content (the file, every header of the project and .clang-tidy), so a second run
looks only at what changed. Files changed last come first; what the budget leaves out is said.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
CACHE = ROOT / "build" / "tidy-passed.json"


def digest(*files: Path) -> str:
    """One hash of several files' contents."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()


def sources() -> list[Path]:
    """The compiled sources of src/ and python/src/, last changed first."""
    database = json.loads((BUILD / "compile_commands.json").read_text())
    folders = (ROOT / "src", ROOT / "python" / "src")
    found = {Path(entry["file"]) for entry in database}
    ours = [file for file in found if file.exists() and any(file.is_relative_to(f) for f in folders)]
    return sorted(ours, key=lambda file: file.stat().st_mtime, reverse=True)


def main() -> int:
    """Run, report, remember."""
    if not (BUILD / "compile_commands.json").exists():
        print("no compile_commands.json: build first")
        return 1
    budget = float(os.environ.get("ATOLL_BUILD_TIDY_SECONDS", "240"))
    deadline = time.monotonic() + budget
    headers = sorted(file for folder in ("include", "src") for file in (ROOT / folder).rglob("*.hpp"))
    common = digest(ROOT / ".clang-tidy", *headers)
    passed: dict[str, str] = json.loads(CACHE.read_text()) if CACHE.exists() else {}

    def look(file: Path) -> tuple[Path, str, str | None]:
        key = hashlib.sha256((common + digest(file)).encode()).hexdigest()
        if passed.get(str(file)) == key:
            return file, key, ""
        left = deadline - time.monotonic()
        if left <= 0:
            return file, key, None
        # The commands are the compiler's that built it, which may know warnings that clang does not.
        command = [
            "clang-tidy",
            "--quiet",
            "--extra-arg=-Wno-unknown-warning-option",
            "-p",
            str(BUILD),
            str(file),
        ]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=left, check=False)
        except subprocess.TimeoutExpired:
            return file, key, None
        return file, key, "" if run.returncode == 0 else run.stdout + run.stderr

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(look, sources()))
    for file, key, report in results:
        if report == "":
            passed[str(file)] = key
        elif report:
            print(report)
    CACHE.write_text(json.dumps(passed))
    left_out = [str(file.relative_to(ROOT)) for file, _, report in results if report is None]
    found = [str(file.relative_to(ROOT)) for file, _, report in results if report]
    print(f"clang-tidy: {len(results)} files, {len(found)} with findings, {len(left_out)} left out (budget)")
    if left_out:
        print("left out:", *left_out)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
