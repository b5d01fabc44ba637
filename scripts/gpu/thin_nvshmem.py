"""Extracts the part of NVSHMEM's wheel that scripts/gpu.sh peers carries.

That is the headers, the host library with the kernels of one architecture, and the bootstrap by a unique id. Kernels
of other architectures are zeroed, so that they take no room when packed.

python scripts/gpu/thin_nvshmem.py WHEEL FOLDER [ARCHITECTURE=90]
"""

from __future__ import annotations

import struct
import sys
import zipfile
from pathlib import Path

MAGIC, CUBIN = 0xBA55ED50, 2
HEADER, ENTRY = (
    "<IHHQ",
    "<HHIQ",
)  # headers. A fat binary: magic, version, header's size, size. An entry: kind, version, header's size, size
ARCHITECTURE_AT = 28  # in an entry's header


def thin(library: bytes, architecture: int) -> bytes:
    """Zero all cubins and PTX of fat binaries except the cubins of one architecture; their headers stay."""
    data, at, kept = bytearray(library), 0, 0
    while (at := data.find(struct.pack("<I", MAGIC), at)) >= 0:
        _, version, header, size = struct.unpack_from(HEADER, data, at)
        if (version, header) != (1, struct.calcsize(HEADER)):
            at += 4
            continue
        entry, at = at + header, at + header + size
        while entry < at:
            kind, _, own, nbytes = struct.unpack_from(ENTRY, data, entry)
            (found,) = struct.unpack_from("<I", data, entry + ARCHITECTURE_AT)
            if (kind, found) == (CUBIN, architecture):
                kept += nbytes
            else:
                data[entry + own : entry + own + nbytes] = bytes(nbytes)
            entry += own + nbytes
    if not kept:
        raise SystemExit(f"no kernels for sm_{architecture} found: nothing would run")
    return bytes(data)


def main() -> None:
    wheel, to = Path(sys.argv[1]), Path(sys.argv[2])
    architecture = int(sys.argv[3]) if len(sys.argv) > 3 else 90
    with zipfile.ZipFile(wheel) as packed:
        for name in packed.namelist():
            part = name.partition("nvidia/nvshmem/")[2]
            wanted = part.startswith("include/") or "host.so" in part or "bootstrap_uid" in part
            if not wanted or name.endswith("/"):
                continue
            data = packed.read(name)
            path = to / part
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(thin(data, architecture) if "host.so" in part else data)


main()
