"""libnvshmem_device.bc: what it exports, and kernels in Triton that are linked with it. No test needs a GPU.

scripts/gpu.sh kernels runs programs/nvshmem_triton.py on GPUs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import atoll.nvshmem
import pytest
from atoll.nvshmem.init_fini import DeviceLibLanguage
from jobs import HANG_GUARD, PROGRAMS, ROOT, environment
from kernel_pythons import with_triton

NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
FOLDERS = (ROOT / "include_nvshmem", ROOT / "api/generated/nvshmem/include", ROOT / "include")
STATE_BYTES = 65 * 64  # the world, and 64 teams
# The arguments of kernels of one call, and the call as nvshmem.h has it. The kernels in Triton have the same names.
CALLS = {
    "one_p": ("int* x, int value", "nvshmem_int_p(x, value, 1)"),
    "one_add": ("int* x, int* out", "*out = nvshmem_int_atomic_fetch_add(x, 3, 1)"),
    "one_signal": ("uint64_t* x, uint64_t value", "nvshmemx_signal_op(x, value, NVSHMEM_SIGNAL_SET, 1)"),
    "one_wait": ("uint64_t* x, uint64_t value", "nvshmem_signal_wait_until(x, NVSHMEM_CMP_GE, value)"),
}


@pytest.fixture(scope="module")
def bitcode() -> Path:
    if not any(shutil.which(f"clang{version}") for version in ("", *(f"-{n}" for n in range(14, 23)))):
        pytest.skip("clang is not installed, so there is no bitcode")
    return Path(atoll.nvshmem.find_device_bitcode_library())


@pytest.fixture(scope="module")
def module(bitcode: Path) -> Any:
    binding = pytest.importorskip(
        "llvmlite.binding", reason="llvmlite, which reads bitcode, comes with Numba"
    )
    return binding.parse_bitcode(bitcode.read_bytes())


def test_it_exports_the_functions_of_the_table(module: Any) -> None:
    code = "from nvshmem import *; print(*INLINE_BOTH, *(f.name for f in Table().kernels))"
    listed = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "api", capture_output=True, text=True, check=True
    )
    expected = set(listed.stdout.split())
    defined = {f.name: f for f in module.functions if not f.is_declaration}
    public = {name for name in defined if not name.startswith("_Z")}
    assert public == expected and len(public) > 2700
    assert {defined[name].linkage.name for name in public} == {"external"}
    declared = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    assert declared == {"__assertfail"}, "a function that the driver does not have"


def test_it_is_bound_to_no_gpu_and_has_the_state(module: Any) -> None:
    text = str(module)
    assert (module.triple, "target-cpu" in text, "!llvm.module.flags" in text) == (
        "nvptx64-nvidia-cuda",
        False,
        False,
    )
    state = module.get_global_variable("nvshmemi_device_state_d")
    assert re.match(
        r"@nvshmemi_device_state_d = \S* ?addrspace\(4\) externally_initialized constant", str(state)
    )
    assert atoll.nvshmem._modules.state().nbytes == STATE_BYTES


def test_it_is_found_for_every_gpu(bitcode: Path) -> None:
    find = atoll.nvshmem.find_device_bitcode_library
    assert {find(arch=arch) for arch in (None, 90, "sm_90", "100", "sm_90a")} == {str(bitcode)}
    assert Path(find(language=DeviceLibLanguage.STATIC)).name == "libnvshmem_device.a"
    with pytest.raises(atoll.nvshmem.NvshmemInvalid, match="pass 70 or more, such as 90 or 'sm_90'"):
        find(arch=60)
    with pytest.raises(atoll.nvshmem.NvshmemInvalid, match="Atoll has no LTO-IR"):
        find(language=DeviceLibLanguage.LTOIR)


def at_system_scope(text: str, kernel: str) -> list[str]:
    """Return the instructions of a kernel that other PEs see, from PTX; not those of the functions that it calls."""
    body = re.search(rf"\.entry {kernel}\(.*?\n\}}", text, re.DOTALL)
    assert body, kernel
    return sorted(re.findall(r"\b(?:ld|st|atom|red|fence|membar)\.[\w.]*\bsys\b[\w.]*", body[0]))


@pytest.mark.timeout(4 * HANG_GUARD)
def test_kernels_in_triton_compile_and_do_what_the_headers_do(bitcode: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [with_triton(False), str(PROGRAMS / "nvshmem_triton.py"), "compile", str(bitcode), str(tmp_path)],
        env=environment(TRITON_CACHE_DIR=str(tmp_path / "cache")), capture_output=True, text=True, timeout=4 * HANG_GUARD,
        check=False,
    )  # fmt: skip
    names = ["exchange", "ring", "words", "collectives", "of_team", *CALLS]
    assert (done.returncode, done.stdout.split()) == (0, names), done.stdout + done.stderr
    if not NVCC:
        pytest.skip("nvcc is not installed, so that the headers are not compiled")
    source, ptx = tmp_path / "calls.cu", tmp_path / "calls.ptx"
    source.write_text(
        "#include <nvshmem.h>\n#include <nvshmemx.h>\n"
        + "".join(
            f'extern "C" __global__ void {name}({arguments}) {{ {call}; }}\n'
            for name, (arguments, call) in CALLS.items()
        )
    )
    folders = [f"-I{folder}" for folder in FOLDERS]
    # The bitcode has no instruction of sm_90 either.
    subprocess.run(
        [NVCC, "-arch=sm_80", "-std=c++17", "-ptx", *folders, "-o", ptx, source],
        check=True,
        timeout=HANG_GUARD,
    )
    for name in CALLS:
        in_triton = at_system_scope((tmp_path / f"{name}.ptx").read_text(), name)
        assert in_triton and in_triton == at_system_scope(ptx.read_text(), name), name
