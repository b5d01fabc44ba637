"""Lists NVSHMEM's macros, types, fields, enumerators and inline functions, and its functions of both sides.

They come from NVIDIA's own headers, and are written to api/nvshmem_header_names.txt. Names of NVSHMEM's inside (nvshmemi_),
macros that its headers declare functions with, and guards of headers are left out.

Usage:

    python3 api/nvshmem_header_names.py FOLDER [NVCC]    FOLDER holds NVIDIA's nvshmem.h
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

OUT = Path(__file__).resolve().parent / "nvshmem_header_names.txt"
HEAD = """# NVSHMEM 3.8.0's macros, enumerators, types, fields and inline functions (PyPI: nvidia-nvshmem-cu13), and the functions
# that hosts and kernels both have. api/nvshmem_header_names.py read them; api/nvshmem.py compares them with our headers.
"""
PUBLIC = r"(?:nvshmemx?_|NVSHMEMX?_)"
# Some macros of the structs that programs fill have no such prefix.
MACRO = re.compile(rf"^#define ((?:{PUBLIC}|UNIQUEID_|INIT_ARGS_|TEAM_)\w+)(\(.*?\))? ?(.*)$", re.MULTILINE)
# Macros that NVIDIA's headers make declarations of, and those of its build.
INSIDE = re.compile(r"_(DECL|SUPPORT|THREADGROUP|TYPE|USE|BUILD)(_|$)|_REPT|_H_?$|_NVTX$|_PLUGIN_|_ALWAYS_")
ENUM = re.compile(r"\benum\b[^;{}]*\{([^}]*)\}")
STRUCT = re.compile(r"\btypedef\s+struct\b[^;{}]*\{([^}]*)\}\s*(" + PUBLIC + r"\w+)\s*;")
TYPE = re.compile(rf"\btypedef\b[^;{{}}]*?\b({PUBLIC}\w+)\s*;|\}}\s*({PUBLIC}\w+_(?:t|v\d+))\s*;")
BOTH = re.compile(r"__attribute__\(\(host\)\)\s*__attribute__\(\(device\)\)[^;{}()]*?\b(nvshmemx?_\w+)\s*\(")
INLINE = re.compile(r"^static inline [\w *]*?\b(nvshmemx?_\w+)\s*\(", re.MULTILINE)


def preprocessed(folder: str, nvcc: str, *more: str) -> str:
    """The text of both headers, for kernels, or with -dM their macros."""
    with tempfile.TemporaryDirectory() as work:
        source, output = Path(work, "all.cu"), Path(work, "all.ii")
        source.write_text("#include <nvshmem.h>\n#include <nvshmemx.h>\n")
        flags = [
            "-E",
            "-arch=sm_90",
            "-D__CUDA_ARCH__=900",
            "-Xcompiler",
            ",".join(["-P", *more]),
            "-I",
            folder,
        ]
        subprocess.run([nvcc, *flags, str(source), "-o", str(output)], check=True)
        return output.read_text()


def names(text: str, macros: str) -> Iterator[str]:
    """Lines "KIND NAME"."""
    for name, parameters, value in MACRO.findall(macros):
        if not INSIDE.search(name) and not (parameters and name.isupper()) and value:
            yield f"macro {name}"
    for body in ENUM.findall(text):
        for name in re.findall(rf"\b({PUBLIC}\w+)\b\s*(?:=|,|$)", body.strip()):
            yield f"enumerator {name}"
    for body, owner in STRUCT.findall(text):
        for field in re.findall(r"(\w+)\s*(?:\[\w+\])?\s*;", body):
            yield f"field {owner}.{field}"
    for first, second in TYPE.findall(text):
        yield f"type {first or second}"
    for name in BOTH.findall(text):
        # Those of streams and of wide scopes are of one side, however they are declared.
        if not name.endswith(("_on_stream", "_warp", "_block")):
            yield f"both {name}"
    for name in INLINE.findall(text):
        yield f"inline {name}"


if __name__ == "__main__":
    nvcc = sys.argv[2] if len(sys.argv) > 2 else "nvcc"
    found = names(preprocessed(sys.argv[1], nvcc), preprocessed(sys.argv[1], nvcc, "-dM"))
    OUT.write_text(HEAD + "".join(f"{line}\n" for line in sorted(set(found))))
