"""NVSHMEM's headers of NVSHMEM_HOME: all names of NVIDIA's compile, and so do its headers that programs include."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import tomllib

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "include_nvshmem", ROOT / "api/generated/nvshmem/include", ROOT / "include")
THEIRS = sorted(
    str(file.relative_to(FOLDERS[1]))
    for file in FOLDERS[1].rglob("*.*")
    if file.parent.name != "atoll_nvshmem"
)
REFUSED = [name for name in THEIRS if "#error" in (FOLDERS[1] / name).read_text()]
FORWARDS = [name for name in THEIRS if name not in REFUSED]
LISTED = [
    line.split()
    for line in (ROOT / "api/nvshmem_header_names.txt").read_text().splitlines()
    if line[0] != "#"
]
# Those that api/nvshmem.toml refuses, and those that need CUDA's headers.
WITHOUT = {
    "nvshmemx_proxy_status_t",
    "nvshmemx_collective_launch_attr_t",
    "nvshmemx_collective_launch_attr_t.cuda_config",
}
INITIALIZED = {
    "NVSHMEMX_UNIQUEID_INITIALIZER": "nvshmemx_uniqueid_v1",
    "NVSHMEMX_UNIQUEID_ARGS_INITIALIZER": "nvshmemx_uniqueid_args_v1",
    "NVSHMEMX_INIT_ARGS_INITIALIZER": "nvshmemx_init_args_v1",
    "NVSHMEMX_INIT_ARGS_V2_INITIALIZER": "nvshmemx_init_args_v2",
    "NVSHMEMX_INIT_ATTR_INITIALIZER": "nvshmemx_init_attr_v2",
    "NVSHMEMX_INIT_ATTR_V1_INITIALIZER": "nvshmemx_init_attr_v1",
    "NVSHMEMX_REGION_ATTRS_INITIALIZER": "nvshmemx_region_attrs_t",
    "NVSHMEM_TEAM_CONFIG_INITIALIZER": "nvshmem_team_config_t",
}


def compiled(language: str, text: str) -> str:
    """The compiler's errors for a text; empty if it compiles."""
    compiler = os.environ.get("CXX", "g++") if language == "c++" else os.environ.get("CC", "gcc")
    flags = [
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-DATOLL_NVSHMEM_WITHOUT_CUDA",
        f"-x{language}",
        "-",
    ]
    done = subprocess.run(
        [compiler, *(f"-I{folder}" for folder in FOLDERS), *flags],
        input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr


@pytest.mark.parametrize("language", ["c", "c++"])
def test_headers_that_programs_include(language: str) -> None:
    assert {"host/nvshmem_api.h", "device_host/nvshmem_common.cuh", "non_abi/nvshmemx_error.h"} <= set(
        FORWARDS
    )
    for name in FORWARDS:
        assert compiled(language, f'#include "{name}"\n') == "", name
    after = "".join(
        f"#include <{name}>\n" for name in ["nvshmem.h", "nvshmemx.h", *FORWARDS, *reversed(FORWARDS)]
    )
    assert compiled(language, after) == ""


@pytest.mark.parametrize("language", ["c", "c++"])
def test_headers_of_nvshmems_transport_are_refused_with_the_reason(language: str) -> None:
    assert "device_host_transport/nvshmem_common_ibgda.h" in REFUSED
    for name in REFUSED:
        said = compiled(language, f'#include "nvshmem.h"\n#include "{name}"\n')
        assert f"{name} is a part of NVSHMEM's inside, which does not exist on Atoll" in said, said


@pytest.mark.parametrize("language", ["c", "c++"])
def test_macros_types_and_enumerators(language: str) -> None:
    lines = ["#include <nvshmem.h>", "#include <nvshmemx.h>", "#include <stddef.h>"]
    for i, (kind, name) in enumerate(LISTED):
        if name in WITHOUT:
            continue
        if kind == "macro" and name in INITIALIZED:
            lines.append(f"extern {INITIALIZED[name]} v{i}; {INITIALIZED[name]} v{i} = {name};")
        elif kind == "macro":
            lines.append(f"#ifndef {name}\n#error {name}\n#endif")
        elif kind == "enumerator":
            lines.append(f"extern long e{i}; long e{i} = (long){name};")
        elif kind == "type":
            lines.append(f"extern {name}* t{i};")
        elif kind == "field":
            owner, _, field = name.partition(".")
            lines.append(f"enum {{ f{i} = offsetof({owner}, {field}) }};")
    assert len(lines) > 150
    assert compiled(language, "\n".join(lines) + "\n") == ""


@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_unique_id_has_the_bytes_that_programs_send(language: str) -> None:
    text = """#include <nvshmem.h>
    extern char whole[sizeof(nvshmemx_uniqueid_t) == 128 ? 1 : -1];
    char whole[1];
    extern char inside[sizeof(((nvshmemx_uniqueid_t*)0)->internal) == UNIQUEID_PADDING ? 1 : -1];
    char inside[1];
    """
    assert compiled(language, text) == ""


def test_nvrtc_without_cccl_is_told_the_option() -> None:
    """NVRTC finds no header by itself."""
    said = compiled("c++", "#define __CUDACC_RTC__ 1\n#include <nvshmem.h>\n")
    assert "NVRTC needs the headers of CUDA's CCCL: add -I$CUDA_HOME/include/cccl" in said


@pytest.mark.parametrize("language", ["c", "c++"])
def test_amounts_of_shared_memory(language: str) -> None:
    text = """#include <nvshmem.h>
    int dynamic_bytes(void);
    int dynamic_bytes(void) {
        return nvshmemx_ask_smem(NVSHMEMX_SMEM_RECOMMENDED) - nvshmemx_ask_smem(NVSHMEMX_SMEM_BARRIERS_ONLY);
    }
    """
    assert compiled(language, text) == ""


@pytest.mark.parametrize("language", ["c", "c++"])
def test_functions_that_do_not_exist_are_refused_with_the_reason(language: str) -> None:
    table = tomllib.loads((ROOT / "api/nvshmem.toml").read_text())["refused"]
    assert len(table) > 2
    for name in table:
        if "TYPE" in name:
            continue
        said = compiled(language, f"#include <nvshmem.h>\nvoid f(void);\nvoid f(void) {{ (void){name}; }}\n")
        assert f"{name} does not exist on Atoll: " in said, said
    said = compiled(
        language, "#include <nvshmem.h>\nvoid f(void);\nvoid f(void) { nvshmem_int_alltoalls(); }\n"
    )
    assert "nvshmem_int_alltoalls does not exist on Atoll: Pack the elements" in said
    said = compiled(
        language,
        "#include <nvshmem.h>\nvoid f(void);\nvoid f(void) { nvshmemx_half_atomic_fetch_add(0, 0, 0); }\n",
    )
    assert "Hosts have no atomics of 16 bits; kernels do." in said


@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_host_that_calls_functions_of_kernels_is_told_the_one_on_streams(language: str) -> None:
    text = """#include <nvshmem.h>
    void f(float* x, uint64_t* s);
    void f(float* x, uint64_t* s) {
        nvshmem_float_put_signal(x, x, 1, s, 1, NVSHMEM_SIGNAL_SET, 0);
        nvshmem_signal_wait_until(s, NVSHMEM_CMP_EQ, 1);
        nvshmem_int_test((int*)x, NVSHMEM_CMP_EQ, 1);
    }
    """
    said = compiled(language, text)
    for name in ("float_put_signal", "signal_wait_until"):
        assert f"nvshmem_{name} is a function of kernels; on the host call nvshmemx_{name}_on_stream" in said
    assert "nvshmem_int_test is a function of kernels" in said


@pytest.mark.parametrize("language", ["c", "c++"])
def test_functions_that_programs_declare_for_all_types(language: str) -> None:
    """By the macros that repeat a template, as bindings for Python do."""
    text = """#include <host/nvshmem_api.h>
    #define PUT(NAME, TYPE)                              \\
        void my_##NAME##_p(TYPE* dest, TYPE value, int pe); \\
        void my_##NAME##_p(TYPE* dest, TYPE value, int pe) { nvshmem_##NAME##_p(dest, value, pe); }
    NVSHMEMI_REPT_FOR_STANDARD_RMA_TYPES(PUT)
    #define FOLD(NAME, TYPE, OP)                            \\
        int my_##NAME##_##OP(TYPE* x, const TYPE* y);    \\
        int my_##NAME##_##OP(TYPE* x, const TYPE* y) {   \\
            return nvshmem_##NAME##_##OP##_reduce(NVSHMEM_TEAM_WORLD, x, y, 1); \\
        }
    NVSHMEMI_REPT_TYPES_AND_OPS_FOR_REDUCE(FOLD)
    #define MOVE(BITS)                         \\
        void my_put##BITS(void* x, void* y); \\
        void my_put##BITS(void* x, void* y) { nvshmem_put##BITS(x, y, 1, 0); }
    NVSHMEMI_REPT_FOR_SIZES(MOVE)
    #define FLAG(NAME, TYPE)        \\
        TYPE my_##NAME##_flag(TYPE* x);     \\
        TYPE my_##NAME##_flag(TYPE* x) { return nvshmem_##NAME##_g(x, 0); }
    NVSHMEMX_REPT_FOR_SIGNAL_TYPES(FLAG)
    #define NVSHMEMI_DECL_TYPE_SWAP(NAME, TYPE, OP)        \\
        TYPE my_##NAME##_##OP(TYPE* x, TYPE value);     \\
        TYPE my_##NAME##_##OP(TYPE* x, TYPE value) { return nvshmem_##NAME##_atomic_##OP(x, value, 0); }
    NVSHMEMI_REPT_OPGROUP_FOR_BITWISE_AMO(SWAP, swap)
    NVSHMEMI_REPT_OPGROUP_FOR_STANDARD_AMO(SWAP, swap)
    NVSHMEMI_REPT_OPGROUP_FOR_EXTENDED_AMO(SWAP, swap)
    void all(double* x, unsigned long* y, ptrdiff_t* z);
    void all(double* x, unsigned long* y, ptrdiff_t* z) {
        my_double_p(x, my_double_swap(x, 1.5), 0);
        my_ptrdiff_p(z, (ptrdiff_t)my_ulong_swap(y, 1), my_ulong_xor(y, y) + my_double_sum(x, x));
        my_put128(x, y);
        my_ulong_flag(y);
    }
    """
    assert compiled(language, text) == ""
