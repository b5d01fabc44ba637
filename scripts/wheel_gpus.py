#!/usr/bin/env python3
"""Prints the GPUs that a wheel's kernels are compiled for, and fails unless they are all that a wheel must have.

A wheel made without nvcc has no GPU part; the script reports that.
"""

import os
import struct
import sys
import zipfile
from pathlib import Path

WANTED = {"sm_80", "sm_90", "sm_100", "PTX"}
PLUGIN = "libatoll_cuda.so"
MAGIC = struct.pack("<I", 0xBA55ED50)  # a fat binary: header, then entries of one kind of code each
PTX_KIND = 1


def codes(library: bytes) -> list[set[str]]:
    """For each fat binary in it: "sm_90" of machine code, "PTX" of code that newer GPUs compile."""
    found = []
    start = library.find(MAGIC)
    while start >= 0:
        _, _, header_bytes, all_bytes = struct.unpack_from("<IHHQ", library, start)
        at, end, here = start + header_bytes, start + header_bytes + all_bytes, set()
        while at < end:
            kind, _, entry_header_bytes, code_bytes = struct.unpack_from("<HHIQ", library, at)
            (gpu,) = struct.unpack_from("<I", library, at + 28)
            here.add("PTX" if kind == PTX_KIND else f"sm_{gpu}")
            at += entry_header_bytes + code_bytes
        found.append(here)
        start = library.find(MAGIC, end)
    return found


def main() -> int:
    wheel = zipfile.ZipFile(Path(sys.argv[1]))
    plugins = [name for name in wheel.namelist() if name.endswith(PLUGIN)]
    if not plugins:
        print("no GPU part: it needs the CUDA toolkit where the wheel is made")
        return int(bool(os.environ.get("ATOLL_BUILD_WHEEL_GPUS")))  # a release must have it
    found = codes(wheel.read(plugins[0]))
    if not found:
        print("a GPU part without kernels: these need nvcc where the wheel is made")
        return 0
    lacking = {code for here in found for code in WANTED - here}
    print("kernels for", ", ".join(sorted(set.intersection(*found))))
    if lacking:
        print("missing:", ", ".join(sorted(lacking)), file=sys.stderr)
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
