"""Compiles every header of ours with each installed gcc and clang (headers.py [COMPILER...] selects others).

The first compiler compiles each header of src/ separately; tests/layout does this for include/, and tests/shmem for
OpenSHMEM's headers. A header that another one includes before all other headers of ours is compiled alone with that one.
Other compilers may accept other code, so each compiles all headers at once.
The test tests/layout/test_includes.py finds standard headers that a header uses and does not include, for all releases of the
library. The first compiler may therefore precompile the standard headers.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "build/release/generated/include"
KNOWN = ("g++", *(f"g++-{n}" for n in range(11, 17)), *(f"clang++-{n}" for n in range(13, 23)))
STANDARD = (
    *("algorithm", "array", "atomic", "chrono", "cstddef", "cstdint", "cstring", "functional", "map"),
    *("memory", "mutex", "optional", "set", "span", "string", "string_view", "thread", "utility"),
    *("variant", "vector"),
)
FOLDERS = ("include", "src", "include_nvshmem")
# A template's members are compiled once they are used.
USED = """
template class atl::SymmetricArray<double>;
template class atl::View<double, 3>;
template class atl::DistArray<double, 3>;
template atl::DistArray<double, 3> atl::redistribute(const atl::DistArray<double, 3>&, const atl::Team&,
                                                     const atl::Team&, const atl::DistOptions<3>&);
"""


def installed() -> list[str]:
    """The compilers that are there, each once: g++ is also one of the numbered ones."""
    by_file = {os.path.realpath(path): name for name in reversed(KNOWN) if (path := shutil.which(name))}
    return [name for name in KNOWN if name in by_file.values()]


def without_package(header: Path) -> str:
    """The reason why a header cannot be compiled on this machine; empty if it can."""
    if header.name in {"mpi.hpp", "shmemx_mpi.h"}:
        return "needs MPI"
    if "bitcode" in header.parts:
        return "replaces CUDA's headers, where clang compiles the bitcode"
    if "cuda" in header.parts or header.name in {"half.hpp", "launch.hpp"}:
        return "" if Path("/usr/local/cuda/include/cuda.h").exists() else "needs CUDA's headers"
    return ""


def headers() -> tuple[list[str], list[str]]:
    """All headers as they are included, and those left out, with the reason."""
    found, left_out = [], []
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".h", ".hpp"):
                continue
            name = str(file.relative_to(ROOT / folder))
            if reason := without_package(file.relative_to(ROOT)):
                left_out.append(f"{name} ({reason})")
            else:
                found.append(name)
    return found, left_out


def read_alone(names: list[str]) -> set[str]:
    """The headers of src/ that another one includes before all else of ours, so that they are compiled alone with it.

    Standard headers before them are precompiled for all headers.
    """
    found = set()
    for name in names:
        for line in (ROOT / "src" / name).read_text().splitlines():
            if re.match(r"\s*#\s*(?:if|define|undef)", line):
                break
            if included := re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line):
                if included[1]:
                    found.add(included[1])
                if included[1] or included[2] not in STANDARD:
                    break
    return found & set(names)


def compile_text(compiler: str, text: str, *more: str) -> str:
    """The errors of the compiler for a text; empty if it compiles."""
    folders = [
        *(
            f"-I{ROOT / folder}"
            for folder in (*FOLDERS, "api/generated/include", "api/generated/nvshmem/include")
        ),
        f"-I{GENERATED}",
        "-isystem",
        "/usr/local/cuda/include",
    ]
    flags = [
        "-std=c++20",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unknown-warning-option",
        "-DATOLL_NVSHMEM_WITHOUT_CUDA",  # compilers warn of its functions with C linkage and C++ types
        *folders,
    ]
    if not compiler.startswith("clang"):
        flags.remove("-Wno-unknown-warning-option")
    run = subprocess.run(
        [compiler, *flags, *more, "-x", "c++", "-"], input=text, capture_output=True, text=True, check=False
    )
    return "" if run.returncode == 0 else run.stderr or f"ended with {run.returncode}"


def precompiled(compiler: str, folder: Path) -> list[str]:
    """Flags by which a compiler takes the standard headers from a precompiled one."""
    is_clang = Path(compiler).name.startswith("clang")
    header = folder / "standard.hpp"
    header.write_text("".join(f"#include <{name}>\n" for name in STANDARD))
    output = header.with_suffix(".hpp.pch" if is_clang else ".hpp.gch")
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-x", "c++-header", str(header), "-o", str(output)]
    subprocess.run(command, check=True)
    return ["-include-pch", str(output)] if is_clang else ["-include", str(header)]


def main() -> int:
    """Compile all headers, and print those that fail."""
    compilers = sys.argv[1:] or installed()
    names, left_out = headers()
    if not compilers or not names or not GENERATED.is_dir():
        print(
            f"{len(compilers)} compilers, {len(names)} headers, {GENERATED}: nothing to compile, build first"
        )
        return 1
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        works = []
        alone = precompiled(compilers[0], Path(folder))
        groups = [(compiler, names, []) for compiler in compilers]
        internal = [name for name in names if (ROOT / "src" / name).exists()]
        first = read_alone(internal)
        groups += [(compilers[0], [name], alone) for name in internal if name not in first]
        for compiler, group, flags in groups:
            text = "".join(f'#include "{name}"\n' for name in group) * 2  # twice: guards, too
            text += USED if group is names else ""
            works.append((compiler, group, pool.submit(compile_text, compiler, text, *flags)))
        wrong = [(compiler, group, said) for compiler, group, work in works if (said := work.result())]
    for compiler, group, said in wrong:
        print(f"{compiler}: {group[0] if len(group) == 1 else 'all headers'}\n{said[:3000]}")
    print(f"{len(names)} headers by {', '.join(compilers)}: {len(wrong)} with errors")
    if left_out:
        print("left out:", *left_out)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
