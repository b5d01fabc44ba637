"""Lists the functions that NVSHMEM's own headers declare for kernels, and writes api/nvshmem_device_names.txt.

Usage:

    python3 api/nvshmem_device_names.py FOLDER [NVCC]    FOLDER holds NVIDIA's nvshmem.h
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

OUT = Path(__file__).resolve().parent / "nvshmem_device_names.txt"
DECLARED = re.compile(r"__attribute__\(\(device\)\)[^;{}()]*?\b(nvshmemx?_\w+)\s*\(")
HEAD = """# The functions that the headers of NVSHMEM 3.8.0 (PyPI: nvidia-nvshmem-cu13) declare for kernels, without templates.
# api/nvshmem_device_names.py read them; api/nvshmem.py compares them with api/nvshmem.toml.
"""


def names(folder: str, nvcc: str) -> list[str]:
    """The names, from the preprocessed headers."""
    with tempfile.TemporaryDirectory() as work:
        source, output = Path(work, "all.cu"), Path(work, "all.ii")
        source.write_text("#include <nvshmem.h>\n#include <nvshmemx.h>\n")
        flags = ["-E", "-arch=sm_90", "-D__CUDA_ARCH__=900", "-Xcompiler", "-P", "-I", folder]
        subprocess.run([nvcc, *flags, str(source), "-o", str(output)], check=True)
        found = set(DECLARED.findall(output.read_text()))
        return sorted(
            name for name in found if not name.endswith("_on_stream")
        )  # declared so, but the host's alone


if __name__ == "__main__":
    found = names(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "nvcc")
    OUT.write_text(HEAD + "".join(f"{name}\n" for name in found))
