#include "cli/shell/new_project.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>

#include "atoll/version.hpp"
#include "cli/command/parse.hpp"

namespace atl::cli {
namespace {

/// A file of a project. NAME in its path and text is replaced by the project's name.
struct File {
    const char* path;
    const char* text;
};

constexpr File python_files[] = {
    {"pyproject.toml", R"([build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "NAME"
version = "0.1.0"
requires-python = ">=3.10"
dependencies = ["atoll", "numpy"]

[project.optional-dependencies]
test = ["pytest"]

[tool.setuptools]
packages = ["NAME"]

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
)"},
    {"NAME/__init__.py", R"("""An integral, computed by all PEs of a job."""

import atoll
import numpy as np


def integral(function, steps):
    """Return the integral of a function from 0 to 1, by the midpoint rule. Every PE calls it and gets the result."""
    mine = np.arange(atoll.my_pe(), steps, atoll.n_pes())   # this PE's share of the steps
    return atoll.sum_reduce(float(np.sum(function((mine + 0.5) / steps)))) / steps
)"},
    {"NAME/__main__.py", R"("""The program: atoll run -n 4 -m NAME [STEPS]"""

import sys

import atoll

from NAME import integral


def main():
    atoll.init()
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    pi = integral(lambda x: 4 / (1 + x * x), steps)
    if atoll.on(0):
        print(f"pi is {pi:.6f}, by {atoll.n_pes()} PEs")


if __name__ == "__main__":
    main()
)"},
    {"tests/test_NAME.py", R"("""Tests, on one, two and three PEs: python -m pytest"""

import pytest

import NAME


@pytest.mark.pes([1, 2, 3])
def test_every_pe_gets_the_integral():
    assert NAME.integral(lambda x: 2 * x, 1000) == pytest.approx(1)
)"},
    {"README.md", R"(# NAME

    pip install -e '.[test]'    # once: the package, and pytest for its tests
    atoll run -n 4 -m NAME      # the program, on four PEs
    python -m pytest            # the tests
    atoll run -n 4 --pdb -m NAME    # stops in pdb where a PE fails
)"},
    {".gitignore", "__pycache__/\n.pytest_cache/\n*.egg-info/\n"},
};

constexpr File cpp_files[] = {
    {"CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(NAME CXX)

find_package(atoll REQUIRED)    # CMAKE_PREFIX_PATH: `atoll config --cxx --home`
find_program(ATOLL atoll REQUIRED)

add_executable(NAME main.cpp)
target_link_libraries(NAME PRIVATE atoll::atoll)

enable_testing()
foreach(pes 1 2 3)
    add_test(NAME NAME.${pes} COMMAND ${ATOLL} run -n ${pes} --timeout 60 $<TARGET_FILE:NAME> 1000)
endforeach()
)"},
    {"main.cpp", R"(// The program: atoll run -n 4 build/NAME [STEPS]
#include <atoll/atoll.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

// The integral of a function from 0 to 1, by the midpoint rule. Every PE calls it and gets the result.
template <typename Function>
double integral(Function function, long steps) {
    double sum = 0;
    for (long i = atoll::my_pe(); i < steps; i += atoll::n_pes()) sum += function((i + 0.5) / steps);
    atoll::sum_reduce(std::span(&sum, 1), std::span(&sum, 1));
    return sum / steps;
}

int main(int argc, char** argv) {
    atoll::init();
    const long steps = argc > 1 ? std::atol(argv[1]) : 1'000'000;
    const double pi = integral([](double x) { return 4 / (1 + x * x); }, steps);
    if (atoll::my_pe() == 0) std::printf("pi is %.6f, by %d PEs\n", pi, atoll::n_pes());
    atoll::finalize();
    return std::abs(pi - std::acos(-1.0)) < 1e-5 ? 0 : 1;
}
)"},
    {"README.md", R"(# NAME

    cmake -B build -DCMAKE_PREFIX_PATH=$(atoll config --cxx --home)
    cmake --build build
    atoll run -n 4 build/NAME           # the program, on four PEs
    ctest --test-dir build              # the tests
    atoll run -n 4 --gdb build/NAME     # prints the stacks of a PE that crashes
)"},
    {".gitignore", "build/\n"},
};

std::string with_name(std::string text, const std::string& name) {
    for (std::size_t at = 0; (at = text.find("NAME", at)) != std::string::npos; at += name.size())
        // CMake's add_test has NAME for its own word.
        if (text.compare(at, 10, "NAME NAME.") == 0)
            text.replace(at + 5, 4, name), at += 5;
        else
            text.replace(at, 4, name);
    return text;
}

/// Words of Python, modules of its library that others import, and targets that CMake makes by itself.
constexpr std::string_view taken[] = {
    "all",      "and",     "as",     "assert",   "async",  "await",  "break",   "class",   "clean",
    "continue", "copy",    "def",    "del",      "elif",   "else",   "except",  "finally", "for",
    "from",     "global",  "help",   "if",       "import", "in",     "install", "is",      "json",
    "lambda",   "logging", "math",   "nonlocal", "not",    "or",     "package", "pass",    "queue",
    "raise",    "random",  "return", "select",   "signal", "socket", "string",  "struct",  "test",
    "time",     "try",     "types",  "while",    "with",   "yield"};

void check_name(const std::string& name) {
    const bool fits = !name.empty() && std::islower(static_cast<unsigned char>(name[0])) &&
                      std::all_of(name.begin(), name.end(), [](unsigned char c) {
                          return std::islower(c) || std::isdigit(c) || c == '_';
                      });
    if (!fits)
        throw UsageError("\"" + name +
                         "\" is no name for a project: expected lower-case letters, digits and _, "
                         "with a letter first");
    if (name == "atoll" || name == "numpy" || name == "pytest" || name == "tests")
        throw UsageError("\"" + name + "\" would hide the package of that name; choose another");
    if (std::find(std::begin(taken), std::end(taken), name) != std::end(taken))
        throw UsageError("\"" + name +
                         "\" is a word or a module of Python, or a target of CMake; choose another name");
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) throw std::system_error(errno, std::generic_category(), path.string() + " cannot be written");
}

}  // namespace

int new_command(const Arguments& arguments) {
    std::string folder;
    bool is_cpp = false;
    CLI::App app("Makes a project: a program, a test, and a page that says how to run both.", "atoll new");
    app.add_option("FOLDER", folder, "the folder to make; its name is the project's")
        ->required()
        ->type_name("");
    app.add_flag("--cpp", is_cpp, "a program in C++ with CMake, instead of Python");
    if (!parse(app, arguments, " (usage: atoll new [--cpp] FOLDER)")) return 0;
    const std::filesystem::path path =
        std::filesystem::absolute(folder + "/").lexically_normal().parent_path();
    const std::string name = path.filename();
    check_name(name);
    if (std::filesystem::exists(path)) throw UsageError(folder + " exists already; choose another folder");
    for (const File& file : is_cpp ? std::span<const File>(cpp_files) : std::span<const File>(python_files))
        write_file(path / with_name(file.path, name), with_name(file.text, name));
    std::printf(
        "%s is made. Next:\n    cd %s\n    %s\n", folder.c_str(), folder.c_str(),
        is_cpp ? "cmake -B build -DCMAKE_PREFIX_PATH=$(atoll config --cxx --home) && cmake --build build && "
                 "ctest --test-dir build"
               : ("atoll run -n 4 -m " + name + "\n    python -m pytest").c_str());
    check_stdout();
    return 0;
}

}  // namespace atl::cli
