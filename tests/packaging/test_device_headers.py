"""The headers for kernels: each compiles alone, wrong calls do not compile, and the guide's line for nvcc
works.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
OF_CUDA = {"half.hpp", "launch.hpp"}  # include CUDA's own headers
FOLDER = ROOT / "include/atoll/device"
HEADERS = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.hpp") if p.name not in OF_CUDA)

PROGRAM = """
#include <atoll/atoll.hpp>
#include <atoll/device/device.hpp>
#include <atoll/device/half.hpp>
#include <atoll/device/launch.hpp>
#include <cstdio>

@STEP@
int main() {
    try {
        atoll::Job& job = atoll::init();
        auto* x = static_cast<float*>(job.calloc(2048, sizeof(float), atoll::Memory::device));
        auto* flag = static_cast<std::uint64_t*>(job.calloc(1, sizeof(std::uint64_t), atoll::Memory::device));
        cudaSetDevice(job.device_heap_use().number);
        step<<<1, 128>>>(job.world().device(atoll::Memory::device), x, flag);
        if (cudaDeviceSynchronize() != cudaSuccess) return 1;
        atoll::finalize();
    } catch (const atoll::Error& error) {
        std::printf("%s", error.what());
    }
}
"""


def compiled(tmp_path: Path, text: str, *command: str) -> subprocess.CompletedProcess[str]:
    source = tmp_path / "source.cpp"
    source.write_text(text)
    return subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)


def test_each_compiles_alone_with_clang(tmp_path: Path) -> None:
    """tests/layout compiles them with g++."""
    if not shutil.which("clang++"):
        pytest.skip("clang++ is not installed")
    for header in HEADERS:
        text = f"#include <atoll/device/{header}>\n#include <atoll/device/{header}>\n"
        flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
        done = compiled(tmp_path, text, "clang++", *flags, f"-I{ROOT}/include")
        assert done.returncode == 0, f"{header}:\n{done.stderr[:2000]}"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("float x; atomic_add(team, &x, 1, 0)", ""),
        ("long long x; atomic_fetch_xor(team, &x, 1, 0)", ""),
        ("float x; atomic_compare_swap(team, &x, 1, 2, 0)", ""),
        ("struct { float a, b; } x{}; atomic_add(team, &x, x, 0)", "atomic additions are of integers"),
        ("short x; atomic_fetch_inc(team, &x, 0)", "atomic additions are of integers"),
        ("float x; atomic_and(team, &x, 1, 0)", "bitwise atomics are of integers"),
        ("short x; atomic_swap(team, &x, 1, 0)", "atomics are for words of 4 and 8 bytes"),
        ("float x; signal_add(team, &x, 1, 0)", "signals are integers"),
        ("short x; p(team, &x, 1, 0)", ""),
        ("short x; signal_fetch(team, &x)", "signals have 4 or 8 bytes"),
        ("char x; wait_until(team, &x, Compare::eq, 1)", "words that PEs wait for have 2, 4 or 8 bytes"),
        ("short x; signal_set(team, &x, 1, 0)", "words that PEs wait for have 4 or 8 bytes"),
        ("struct { char a[3]; } x; load_relaxed(&x)", "words have 1, 2, 4 or 8 bytes"),
        ("Outbox<> out(team, Mailbox{}, 0)", ""),
        ("Outbox<> out(Team{team}, Mailbox{}, 0)", "deleted"),
        ("Inbox<> in(Team{team}, Mailbox{}, 0)", "deleted"),
        ("Meeting<> meeting(Team{team})", "deleted"),
    ],
)
def test_wrong_calls_do_not_compile(call: str, sentence: str, tmp_path: Path) -> None:
    """Two floats are not added as an integer of eight bytes; the classes for loops keep a reference to their
    team.
    """
    text = (
        f"#include <atoll/device/device.hpp>\nusing namespace atl::device;\nvoid f(Team team) {{ {call}; }}\n"
    )
    done = compiled(tmp_path, text, "g++", "-std=c++17", "-fsyntax-only", f"-I{ROOT}/include")
    assert (done.returncode == 0) == (sentence == ""), done.stderr
    assert sentence in done.stderr


def test_the_line_of_the_guide_for_nvcc(tmp_path: Path) -> None:
    if not NVCC:
        pytest.skip("nvcc is not installed")
    guide = (ROOT / "docs" / "guide.md").read_text()
    (line,) = re.findall(r"^ +(nvcc .*)$", guide, re.MULTILINE)
    (step,) = re.findall(r"^```cpp\n(#include <atoll/device/.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    tree = tmp_path / "tree"
    subprocess.run(
        ["cmake", "--install", BUILD, "--prefix", tree, "--component", "atoll"],
        check=True,
        capture_output=True,
    )
    (tmp_path / "program.cu").write_text(PROGRAM.replace("@STEP@", step))
    command = line.replace("TREE", str(tree)).replace("nvcc ", f"{NVCC} ", 1)
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True).stdout
    assert not said or "GPU" in said, said


def test_words_of_8_bytes_are_copied_whole(tmp_path: Path) -> None:
    """PTX does not tear a vector's element, but may tear the vector: sixteen bytes are two of 8, not four of
    4.
    """
    if not NVCC:
        pytest.skip("nvcc is not installed")
    text = """
#include <atoll/device/device.hpp>
using namespace atl::device;
__global__ void move(Team team, double* x, const double* y) { put(team, x, y, 100, 1, Block{}); }
"""
    flags = ["-std=c++17", "-arch=sm_90", "-ptx", "-o", str(tmp_path / "kernel.ptx"), f"-I{ROOT}/include"]
    done = compiled(tmp_path, text, NVCC, *flags, "-x", "cu")
    assert done.returncode == 0, done.stderr
    moves = set(
        re.findall(r"\b(?:ld\.global|st|st\.global)\.(v\d\.\w+)", (tmp_path / "kernel.ptx").read_text())
    )
    assert {"v2.u64", "v2.b64"} & moves and not {"v4.u32", "v4.b32"} & moves, moves


def test_a_kernel_of_1024_threads_can_be_launched(tmp_path: Path) -> None:
    """A block of 1,024 threads has 64 registers for each. The report of a wait is the part that most easily needs more."""
    if not NVCC:
        pytest.skip("nvcc is not installed")
    text = """
#include <atoll/device/device.hpp>
using namespace atl::device;
__global__ void exchange(Team team, double* x, const double* y, unsigned long long* flag, unsigned long long n) {
    put(team, x, y, n, 1, Block{});
    fence(team, Block{});
    if (threadIdx.x == 0) p(team, flag, n, 1);
    signal_wait_until(team, flag, Compare::ge, n, Block{});
}
__global__ void signals(Team team, double* x, const double* y, unsigned long long* flag, unsigned long long n) {
    for (unsigned long long i = 1; i <= n; ++i) {
        put_signal(team, x, y, n, flag, i, 1, Block{});
        signal_wait_until(team, flag, Compare::ge, i, Block{});
    }
}
__global__ void words(Team team, unsigned* x, unsigned n) {
    atomic_add(team, x, n, 1);
    wait_until(team, x, Compare::ge, n);
    sync(team, Block{});
    barrier(team, Block{});
}
__global__ void sums(Team team, double* x, const double* y, unsigned n) { reduce(team, x, y, n, Sum{}, Block{}); }
__global__ void copies(Team team, double* x, const double* y, unsigned n) { broadcast(team, x, y, n, 0, Block{}); }
"""
    flags = [
        "-std=c++17",
        "-O3",
        "-arch=sm_90",
        "-cubin",
        "-Xptxas",
        "-v",
        "-o",
        str(tmp_path / "kernels.cubin"),
    ]
    done = compiled(tmp_path, text, NVCC, *flags, f"-I{ROOT}/include", "-x", "cu")
    assert done.returncode == 0, done.stderr
    used = [int(number) for number in re.findall(r"Used (\d+) registers", done.stderr)]
    assert len(used) == 5 and max(used) <= 64, done.stderr


def test_kernels_alone_are_cpp17(tmp_path: Path) -> None:
    """Half types are added in float whether half.hpp is included before, after, or not at all."""
    if not NVCC:
        pytest.skip("nvcc is not installed")
    text = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <atoll/device/device.hpp>
using namespace atl::device;
template <class T> constexpr bool in_float = detail::IsSame<typename Wide<T>::type, float>::value;
static_assert(in_float<__half> && in_float<__nv_bfloat16> && in_float<float> && !in_float<double>, "");
__global__ void sum(Team team, __half* x) { reduce(team, x, x, 100, Sum{}, Warp{}); }
#include <atoll/device/half.hpp>
#include <atoll/device/launch.hpp>
__global__ void add(Team team, __nv_bfloat16* x) { atomic_add(team, x, *x, 0); }
"""
    flags = ["-std=c++17", "-arch=sm_90", "-ptx", "-o", str(tmp_path / "kernel.ptx"), f"-I{ROOT}/include"]
    done = compiled(tmp_path, text, NVCC, *flags, "-x", "cu")
    assert done.returncode == 0, done.stderr
