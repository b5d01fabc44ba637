"""The C++ headers for hosts: calls that cannot be made are errors of the compiler with the expected form."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CALLS = {
    "put(x.span(), floats, 1)": "expected put(dst, src, pe) with arrays of one type",
    "put(x.span(), 3.0, 1)": "expected put(dst, src, pe) with arrays of one type",
    "p(&x[0], 1, 1)": "expected p(T* dst, T value, int pe): a value of exactly dst's type",
    "atomic_add(halves, 1, 0)": "expected atomic_add(T* dst, T value, int pe), where T is float, double",
    "atomic_and(&x[0], 1.0, 0)": "expected atomic_and(T* dst, T value, int pe), where T is an integer of 32",
    "wait_until(&x[0], atoll::Compare::eq, 1.0)": "expected wait_until(const T* word, Compare cmp, T value,",
    "sum_reduce(x, floats)": "expected sum_reduce(dst, src) with arrays of one type of numbers",
    "max_reduce(pairs, pairs)": "expected max_reduce(dst, src) with arrays of one type of real numbers",
}


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("header", ["atoll", "dist_array", "stream", "requests"])
def test_an_older_standard_is_named_and_nothing_else(compiler: str, header: str, tmp_path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    (tmp_path / "old.cpp").write_text(f"#include <atoll/{header}.hpp>\n")
    command = [compiler, "-std=c++17", "-fsyntax-only", f"-I{ROOT}/include", "old.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    errors = re.findall(r"error: (.*)", done.stderr)
    assert len(errors) == 2, done.stderr
    assert "The C++ API of Atoll needs C++20: add -std=c++20" in errors[0], done.stderr


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_wrong_calls_name_the_expected_form(compiler: str, tmp_path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    calls = "".join(f"    atoll::{call};\n" for call in CALLS)
    (tmp_path / "wrong.cpp").write_text(
        "#include <atoll/atoll.hpp>\n#include <complex>\n#include <vector>\n"
        "void f(atoll::SymmetricArray<double>& x, short* halves) {\n    std::vector<float> floats(8);\n"
        "    std::vector<std::complex<double>> pairs(8);\n    atoll::put(x.span(), x.span(), 1);\n"
        f"    atoll::p(&x[0], 1.0, 1);\n    atoll::atomic_add(&x[0], 1, 0);\n{calls}}}\n"
    )
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT}/include", "wrong.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    missing = [sentence for sentence in CALLS.values() if sentence not in done.stderr]
    assert not missing, done.stderr
    # Clang 14 writes static_assert, and both quote the header below an error.
    assert len(re.findall("error: static.assert.*no such call", done.stderr)) == len(CALLS), done.stderr
