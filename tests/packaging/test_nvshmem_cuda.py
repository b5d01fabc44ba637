"""NVSHMEM's headers under nvcc: what public programs take from them beside NVSHMEM's own names."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "include_nvshmem", ROOT / "api/generated/nvshmem/include", ROOT / "include")
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
# The options that PyTorch gives nvcc for its extensions.
OF_TORCH = [
    f"-D__CUDA_NO_{what}__"
    for what in ("HALF_OPERATORS", "HALF_CONVERSIONS", "BFLOAT16_CONVERSIONS", "HALF2_OPERATORS")
]

pytestmark = pytest.mark.skipif(not NVCC, reason="nvcc is not installed")


def errors(folder: Path, text: str, *flags: str, standard: str = "c++17") -> str:
    """The errors of nvcc for a text; empty if it compiles."""
    source = folder / "program.cu"
    source.write_text(text)
    command = [
        str(NVCC),
        "-arch=sm_90",
        f"-std={standard}",
        "-ptx",
        "-o",
        str(folder / "program.ptx"),
        *flags,
    ]
    done = subprocess.run(
        [*command, *(f"-I{place}" for place in FOLDERS), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_driver_and_assert_come_with_the_headers(tmp_path: Path) -> None:
    text = """
#include "nvshmem.h"
#include "nvshmemx.h"
CUresult reserve(CUmemGenericAllocationHandle* handle, size_t bytes) {
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    assert(bytes > 0);
    return cuMemCreate(handle, bytes, &properties, 0);
}
"""
    assert errors(tmp_path, text) == ""


def test_halves_without_conversions_of_cuda(tmp_path: Path) -> None:
    text = """
#include <nvshmem.h>
#include <nvshmemx.h>
__global__ void fold(__half* a, __nv_bfloat16* b, size_t n) {
    nvshmemx_half_sum_reduce_block(NVSHMEM_TEAM_WORLD, a, a, n);
    nvshmemx_bfloat16_max_reduce_warp(NVSHMEM_TEAM_WORLD, b, b, n);
    nvshmem_half_atomic_swap(a, *a, 1);
}
"""
    assert errors(tmp_path, text, *OF_TORCH) == ""


def test_tiles_by_the_names_of_3_4(tmp_path: Path) -> None:
    """With a root and without one, in all scopes."""
    calls = "".join(
        f"nvshmemx::tile_{op}_allreduce{scope}<Tile, Tile, Place, ALGO>(0, src, dst, start, end, {root}0);\n"
        for op in ("sum", "max", "min")
        for scope in ("", "_warp", "_warpgroup", "_block")
        for root in ("", "0, ")
    )
    text = f"""
#include <nvshmem.h>
#include <nvshmemx.h>
constexpr auto ALGO = nvshmemx::tile_coll_algo_t::NVLS_ONE_SHOT_PULL_NBI;
using Place = decltype(nvshmemx::make_shape<int, int>(0, 0));
using Form = decltype(nvshmemx::make_layout(Place(), nvshmemx::make_stride<int, int>(1, 4)));
using Tile = nvshmemx::Tensor<float, Form>;
__global__ void fold(Tile src, Tile dst, Place start, Place end) {{ {calls} }}
"""
    assert errors(tmp_path, text) == ""


CALLS = {
    "one_p": ("double* x, double v", "nvshmem_double_p(x, v, 1)", "p(team, x, v, 1)"),
    "one_g": ("double* x, double* y", "*y = nvshmem_double_g(x, 1)", "*y = g(team, x, 1)"),
    "add": (
        "unsigned long* x, unsigned long* y",
        "*y = nvshmem_ulong_atomic_fetch_add(x, 3, 1)",
        "*y = atomic_fetch_add(team, x, 3, 1)",
    ),
    "signal": (
        "uint64_t* x, uint64_t v",
        "nvshmemx_signal_op(x, v, NVSHMEM_SIGNAL_SET, 1)",
        "signal_set(team, x, v, 1)",
    ),
    "block": (
        "char* x, const char* y, size_t n",
        "nvshmemx_putmem_block(x, y, n, 1)",
        "put(team, x, y, n, 1, Block{})",
    ),
    "signal_wait": (
        "uint64_t* x, uint64_t v",
        "nvshmem_signal_wait_until(x, NVSHMEM_CMP_GE, v)",
        "signal_wait_until(team, x, Compare::ge, v)",
    ),
}


def instructions(text: str) -> dict[str, Counter[str]]:
    """The instructions of each function of a PTX file, by name, without those that load the team."""
    found = {}
    for _, name, body in re.findall(
        r"\.(entry|func)[^;{]*?\b([a-z]\w+)\([^{]*\n\{(.*?)\n\}", text, re.DOTALL
    ):
        names = re.findall(r"^\s+(?:@!?%p\d+ )?([a-z][\w.]*)", body, re.MULTILINE)
        found[name] = Counter(word for word in names if not word.startswith(("ld.const", "ld.param")))
    return found


def test_a_call_costs_no_more_than_our_own(tmp_path: Path) -> None:
    """NVSHMEM's calls find the team in a constant, ours in an argument. Waits also refuse a module that does not know the
    job.
    """
    sides = {"nvshmem": "#include <nvshmem.h>\n#include <nvshmemx.h>\n"}
    sides["ours"] = (
        "#include <cstdint>\n#include <atoll/device/device.hpp>\nusing namespace atl;\nusing namespace atl::device;\n"
    )
    found = {}
    for side, text in sides.items():
        for name, (arguments, theirs, ours) in CALLS.items():
            body = f"Team team, {arguments}) {{ {ours}" if side == "ours" else f"{arguments}) {{ {theirs}"
            text += f'extern "C" __global__ void {name}({body}; }}\n'
        assert errors(tmp_path, text) == ""
        found[side] = instructions((tmp_path / "program.ptx").read_text())
    for name in CALLS:
        theirs, ours = found["nvshmem"][name], found["ours"][name]
        if name == "block":  # a function of its own
            theirs = found["nvshmem"]["nvshmemx_putmem_block"]
        assert sum(ours.values()) > 5 and not ours - theirs, (name, ours - theirs)
        more = theirs - ours
        if name == "signal_wait":
            refusal = r"(mov|setp|bra|call|trap|st\.param|param\d|cvta)\b"
            more = Counter({word: n for word, n in more.items() if not re.match(refusal, word)})
        assert not more, (name, more)


def test_tiles_without_a_boundary(tmp_path: Path) -> None:
    """By an empty class that a program declares itself, as NVSHMEM's own programs do."""
    text = """
#include <nvshmem.h>
#include <nvshmemx.h>
using Form = decltype(nvshmemx::make_layout(nvshmemx::make_shape<ConstInt<4>, int>(ConstInt<4>(), 0),
                                            nvshmemx::make_stride<ConstInt<1>, int>(ConstInt<1>(), 0)));
using Tile = nvshmemx::Tensor<float, Form>;
__global__ void all(Tile src, Tile dst) {
    struct Nothing {};
    using Algorithm = nvshmemx::tile_coll_algo_t;
    nvshmemx::tile_allgather_block<Tile, Tile, Nothing, Algorithm::NVLS_ONE_SHOT_PUSH_NBI>(0, src, dst, {}, {}, 0);
    nvshmemx::tile_sum_reduce_warp<Tile, Tile, Nothing, Algorithm::NVLS_TWO_SHOT_PUSH_NBI>(
        0, src, dst, Nothing{}, Nothing{}, 0, 0);
    nvshmemx::tile_max_rooted_reduce<Tile, Tile, Nothing, Algorithm::NVLS_ONE_SHOT_PULL_NBI>(
        0, src, dst, {}, {}, 0, 0);
    nvshmemx::tile_put_warpgroup<Tile, Tile, Nothing, nvshmemx::tile_algo_t::PEER_PUSH_NBI>(
        src, dst, {}, {}, 0, 0);
}
"""
    assert errors(tmp_path, text) == ""


def test_kernels_that_programs_declare_for_all_types_and_scopes(tmp_path: Path) -> None:
    """By the macros that repeat a template, as NVSHMEM's own tests do; halves are among the types."""
    text = """
#include <nvshmem.h>
#include <device_host/nvshmem_common.cuh>
#define FOLD(SCOPE, SUFFIX, PREFIX, NAME, TYPE, OP)                                                  \\
    __global__ void fold_##NAME##_##OP##_##SCOPE(TYPE* x, const TYPE* y) {                           \\
        nvshmem##PREFIX##_##NAME##_##OP##_reduce##SUFFIX(NVSHMEM_TEAM_WORLD, x, y, 1);               \\
    }
#define MOVE(SCOPE, SUFFIX, PREFIX, NAME, TYPE)                                                      \\
    __global__ void move_##NAME##_##SCOPE(TYPE* x, const TYPE* y) {                                  \\
        nvshmem##PREFIX##_##NAME##_put##SUFFIX(x, y, 1, 0);                                          \\
    }
#define WAIT(NAME, TYPE) \\
    __global__ void wait_##NAME(TYPE* x) { nvshmem_##NAME##_wait_until(x, NVSHMEM_CMP_EQ, (TYPE)1); }
#define BITS(BITS, TYPE) \\
    __global__ void bits_##BITS(TYPE* x) { nvshmem_put##BITS(x, x, 1, 0); }
NVSHMEMI_REPT_FOR_STANDARD_REDUCE_TYPES_WITH_SCOPE2(FOLD, block, _block, x, max)
NVSHMEMI_REPT_FOR_STANDARD_RMA_TYPES_AND_SCOPES2(MOVE)
NVSHMEMI_REPT_FOR_WAIT_TYPES(WAIT)
NVSHMEMI_REPT_FOR_SIZES_WITH_TYPE(BITS)
const void* made[] = {(void*)fold_half_max_block, (void*)move_bfloat16_warp, (void*)wait_size, (void*)bits_128};
"""
    assert errors(tmp_path, text) == ""


def test_the_oldest_standard_of_cpp(tmp_path: Path) -> None:
    """C++14, without tiles. Before it, one sentence."""
    text = """
#include <nvshmem.h>
#include <nvshmemx.h>
__global__ void shift(float* x, int pe) {
    nvshmemx_float_put_nbi_block(x, x, 4, pe);
    nvshmem_quiet();
}
"""
    assert errors(tmp_path, text, standard="c++14") == ""
    assert "nvshmemi_device_state_d" in (tmp_path / "program.ptx").read_text()  # programs look for it
    said = errors(tmp_path, text, standard="c++11")
    assert "need C++14 on Atoll: compile with -std=c++14" in said
    assert "constexpr" not in said, said
