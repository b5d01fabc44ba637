#!/usr/bin/env python3
"""Prints the newest symbol versions that a wheel's files need, and fails if its tag promises older systems.

``python scripts/wheel_symbols.py dist/atoll-*.whl``. A wheel tagged ``linux_*`` promises nothing, so all its symbols pass.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# The newest version of each library on the oldest systems of a tag: RHEL 8's glibc 2.28 with GCC 8, RHEL 9's with GCC 11.
NEWEST = {
    "manylinux_2_28": {"GLIBC": "2.28", "GLIBCXX": "3.4.24", "CXXABI": "1.3.11", "GCC": "7.0.0"},
    "manylinux_2_34": {"GLIBC": "2.34", "GLIBCXX": "3.4.29", "CXXABI": "1.3.13", "GCC": "11.0"},
}
# Libraries that these systems have. The wheel itself brings libatoll.so.
THERE = {
    "libc.so.6",
    "libm.so.6",
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
}
OWN = {"libatoll.so"}
# Those of PyTorch, in whose process a module of its backend is loaded.
PYTORCH = {"libtorch.so", "libtorch_cpu.so", "libtorch_python.so", "libc10.so"}
REFERENCE = re.compile(r"\b(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)$", re.MULTILINE)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def newest(headers: str) -> dict[str, str]:
    """The newest version of each library in the output of ``objdump -p``."""
    found: dict[str, str] = {}
    for library, version in REFERENCE.findall(headers):
        if number(version) > number(found.get(library, "0")):
            found[library] = version
    return found


def faults(name: str, headers: str, limits: dict[str, str]) -> list[str]:
    """The promises of a tag that a file breaks."""
    wrong = [
        f"{name} needs {library}_{version}, newer than {library}_{limits[library]}"
        for library, version in sorted(newest(headers).items())
        if number(version) > number(limits[library])
    ]
    known = THERE | OWN | (PYTORCH if "/_c10d/prebuilt/" in name else set())
    for needed in re.findall(r"^\s*NEEDED\s+(\S+)", headers, re.MULTILINE):
        if needed not in known and not needed.startswith("ld-linux"):
            wrong.append(f"{name} needs {needed}, which a system may lack")
    for path in re.findall(r"^\s*(?:RPATH|RUNPATH)\s+(\S+)", headers, re.MULTILINE):
        if not all(part.startswith("$ORIGIN") for part in path.split(":")):
            wrong.append(f"{name} looks for libraries in {path}, a folder of the machine that built it")
    return wrong


def headers_of(wheel: Path) -> dict[str, str]:
    """The report that ``objdump -p`` prints of each ELF file in the wheel."""
    found = {}
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        for name in archive.namelist():
            if archive.read(name)[:4] == b"\x7fELF":
                file = archive.extract(name, folder)
                found[name] = subprocess.run(
                    ("objdump", "-p", file), capture_output=True, text=True, check=True
                ).stdout
    return found


def main() -> int:
    wheel = Path(sys.argv[1])
    headers = headers_of(wheel)
    whole = newest("\n".join(headers.values()))
    print("needs", ", ".join(f"{library}_{version}" for library, version in sorted(whole.items())))
    tag = re.sub(r"_(x86_64|aarch64)$", "", wheel.stem.split("-")[-1])
    if tag == "linux":
        return 0
    if tag not in NEWEST:
        print(f"scripts/wheel_symbols.py does not know {tag}; add its versions to NEWEST", file=sys.stderr)
        return 1
    wrong = [fault for name, text in headers.items() for fault in faults(name, text, NEWEST[tag])]
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        print(
            f"So the tag {tag} would be wrong. Avoid these symbols, build on Debian 12, or make a wheel for this "
            "machine: ATOLL_BUILD_WHEEL_PLATFORM=linux make wheel",
            file=sys.stderr,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
