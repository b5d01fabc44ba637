"""Compiles NVSHMEM's functions for kernels to LLVM bitcode that every GPU and every compiler of kernels takes.

Usage:

    python3 cmake/nvshmem_bitcode.py CLANG OUTPUT SOURCE [OPTION ...]
"""

from __future__ import annotations

import re
import subprocess
import sys

# Inlining is left to the compiler that links the file. With it the file would be twice as large.
COMPILED = (
    "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib", "-ffreestanding",
    "-nostdlibinc", "-std=c++17", "-O2", "-mllvm", "-inline-threshold=0", "-Wno-unknown-cuda-version", "-S", "-emit-llvm",
    "-o", "-",
)  # fmt: skip
ASSEMBLED = (
    "-x", "ir", "--target=nvptx64-nvidia-cuda", "-O0", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm", "-",
)  # fmt: skip

# Flags of the module contradict those of another compiler, which then refuses to link. The rest has no use there.
DROPPED = (
    re.compile(r"^source_filename = .*\n", re.MULTILINE),
    re.compile(r"^!(?:llvm\.module\.flags|llvm\.ident|nvvmir\.version) = .*\n", re.MULTILINE),
    re.compile(r"^@llvm\.(?:compiler\.)?used = .*\n", re.MULTILINE),
    re.compile(r", !tbaa !\d+"),
    re.compile(r"^\$\S+ = comdat any\n", re.MULTILINE),
    re.compile(
        r" comdat(?: align \d+)?(?= \{$)", re.MULTILINE
    ),  # libNVVM refuses the alignment of C++'s methods
)
ATTRIBUTES = re.compile(r"^attributes #\d+ = \{[^}\n]*\}", re.MULTILINE)
# The GPU and the habits of one compilation.
OF_A_TARGET = re.compile(r' "[\w-]+"(?:="[^"]*")?')
# The library fills the teams' state before kernels run, so that they need not load it again after a store.
STATE = re.compile(
    r"^(@nvshmemi_device_state_d = .*addrspace\(4\) externally_initialized) global", re.MULTILINE
)


def neutral(text: str) -> str:
    """Return a module's text without what binds it to one GPU or one compiler, with its state as a constant."""
    for pattern in DROPPED:
        text = pattern.sub("", text)
    text = STATE.sub(r"\1 constant", text)
    return ATTRIBUTES.sub(lambda one: OF_A_TARGET.sub("", one[0]), text)


def main(clang: str, output: str, source: str, *options: str) -> None:
    made = subprocess.run([clang, *COMPILED, *options, source], stdout=subprocess.PIPE, text=True, check=True)
    subprocess.run([clang, *ASSEMBLED, "-o", output], input=neutral(made.stdout), text=True, check=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
