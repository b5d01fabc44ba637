"""Compiles the modules of the backend for PyTorch that a wheel brings, against the C library of a sysroot.

``python packaging/torch_modules.py OUT TORCH SYSROOT HEADERS...``, with an environment in which Atoll is installed. OUT
becomes the folder `atoll/_c10d/prebuilt` of the wheel. TORCH is the folder of an installed PyTorch, whose version the
modules are for. HEADERS are folders of Python's headers, a module for each.

``python packaging/torch_modules.py --remove WHEEL COPY`` writes a copy of a wheel without them.

All Pythons link the `libtorch_python.so` of that PyTorch: only its names are read. The C++ runtime is that of the sysroot,
because a module shares it with PyTorch (_build.py).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from atoll._c10d import _build

PREBUILT = "/_c10d/prebuilt/"
OLD_GLIBC = Path(__file__).parents[1] / "cmake" / "old_glibc.hpp"


def version_of(torch: Path) -> str:
    """Return the version of an installed PyTorch, without importing it."""
    found = re.search(r"^__version__ = ['\"](.+)['\"]", (torch / "version.py").read_text(), re.MULTILINE)
    assert found, torch / "version.py"
    return found[1]


def abi_of(headers: Path, machine: str) -> str:
    """Return the ABI of the Python with these headers, such as "cpython-311-x86_64-linux-gnu"."""
    version = re.search(
        r'define PY_VERSION\s+"(\d+)\.(\d+)', (headers / "patchlevel.h").read_text(encoding="utf-8")
    )
    assert version, headers / "patchlevel.h"
    config = machine_config(headers, machine).read_text(encoding="utf-8")
    no_gil = "t" if "define Py_GIL_DISABLED 1" in config else ""
    return f"cpython-{version[1]}{version[2]}{no_gil}-{machine}-linux-gnu"


def machine_config(headers: Path, machine: str) -> Path:
    """Return the header with Python's configuration; Debian's own one includes that of the machine."""
    of_machine = headers.parent / f"{machine}-linux-gnu" / headers.name / "pyconfig.h"
    return of_machine if of_machine.is_file() else headers / "pyconfig.h"


def header_folders(compiler: list[str], triplet: str) -> list[str]:
    """Return GCC's folders of headers, without those of a cross-compiler's own, newer C library (sysroot.cmake)."""
    run = subprocess.run(
        [*compiler, "-E", "-v", "-x", "c++", "/dev/null"], capture_output=True, text=True, check=True
    )
    listed = run.stderr.split("include <", 1)[1].split("\n", 1)[1].split("End of search", 1)[0]
    return [folder for folder in listed.split() if not folder.endswith(f"/{triplet}/include")]


def compiler_of(sysroot: Path, machine: str) -> list[str]:
    """Return the beginning of the compiler's command line."""
    triplet = f"{machine}-linux-gnu"
    compiler = [f"{triplet}-g++", f"--sysroot={sysroot}"]
    folders = [part for folder in header_folders(compiler, triplet) for part in ("-isystem", folder)]
    libraries = sysroot / "usr" / "lib" / triplet
    return [
        *compiler,
        *("-nostdinc", *folders, "-include", str(OLD_GLIBC)),
        *(f"-B{libraries}", f"-L{sysroot / 'lib' / triplet}", f"-L{libraries}"),
        *("-nodefaultlibs", "-s", "-ffile-prefix-map=" + str(_build.FOLDER) + "=."),
    ]


def write_without_modules(wheel: Path, copy: Path) -> None:
    """Write a copy of a wheel that lacks the modules, for tools that know no libraries of PyTorch."""
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(copy, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename.endswith(".dist-info/RECORD"):
                lines = content.splitlines(keepends=True)
                content = b"".join(line for line in lines if PREBUILT not in line.decode())
            if PREBUILT not in entry.filename:
                target.writestr(entry, content)


def main() -> int:
    if sys.argv[1:2] == ["--remove"]:
        write_without_modules(Path(sys.argv[2]), Path(sys.argv[3]))
        return 0
    parser = argparse.ArgumentParser(description="Compile the backend's modules for a wheel.")
    parser.add_argument("--machine", default="x86_64")
    for name in ("out", "torch", "sysroot"):
        parser.add_argument(name, type=Path)
    parser.add_argument("headers", type=Path, nargs="+")
    given = parser.parse_args()
    version = version_of(given.torch)
    runtime = given.sysroot / "usr" / "lib" / f"{given.machine}-linux-gnu" / "libstdc++.so.6"
    libraries = [str(runtime), "-lm", "-lgcc_s", "-lgcc", "-lc", "-lgcc"]
    compiler = compiler_of(given.sysroot, given.machine)
    with tempfile.TemporaryDirectory() as folder:
        source = _build.write_source(Path(folder) / "all.cpp")
        for headers in given.headers:
            abi = abi_of(headers, given.machine)
            target = given.out / _build.folder_name(version, abi) / _build.file_name(abi)
            target.parent.mkdir(parents=True, exist_ok=True)
            line = _build.command(given.torch, source, target, libraries, str(headers), compiler)
            done = subprocess.run(line, check=False).returncode
            if done != 0:
                return done
            print(f"{target.relative_to(given.out)}: {target.stat().st_size / 2**20:.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
