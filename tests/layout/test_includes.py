"""Each file gets the standard library's names from headers that it or a header of ours includes.

Standard headers include each other differently in each release of the library. A file that relies on that compiles
with one compiler and not with the next.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("include", "src", "python/src", "api/generated/include", "tests/support", "tests")
# A standard header, and names that only it guarantees. For a name that several guarantee (size_t), any of
# them is enough.
PROMISED = {
    "algorithm": r"std::(?:min|max|sort|find|find_if|any_of|all_of|none_of|clamp|copy|copy_n|fill|fill_n|count_if|transform"
    r"|reverse|lower_bound|upper_bound|erase_if_not|ranges::\w+)\(",
    "array": r"std::array<",
    "atomic": r"std::(?:atomic|atomic_ref|memory_order|atomic_thread_fence)\b",
    "bit": r"std::(?:bit_cast|countr_zero|countl_zero|has_single_bit|bit_ceil|bit_floor|bit_width|popcount)\b",
    "cerrno": r"(?<![\w:.])errno\b(?! *\()",
    "charconv": r"std::(?:from_chars|to_chars)\b",
    "chrono": r"std::chrono\b",
    "cmath": r"std::(?:ceil|floor|sqrt|isnan|isinf|log2|lround|ldexp)\(",
    "complex": r"std::complex<",
    "concepts": r"std::(?:same_as|integral|floating_point|convertible_to|derived_from)\b",
    "condition_variable": r"std::condition_variable\b",
    "cstdint": r"(?:std::|(?<![\w:.]))u?int(?:8|16|32|64|ptr|max)_t\b",
    "cstdio": r"std::(?:f?printf|snprintf|fputs|fflush|fwrite|FILE)\b",
    "cstdlib": r"std::(?:abort|exit|_Exit|malloc|free|strtol|strtoull|strtod|getenv)\(",
    "cstring": r"std::(?:mem(?:cpy|set|cmp|move|chr)|str(?:len|n?cmp|error|chr|rchr|str))\b",
    "deque": r"std::deque<",
    "exception": r"std::(?:exception_ptr|current_exception|rethrow_exception|uncaught_exceptions|terminate)\b",
    "filesystem": r"std::filesystem\b",
    "fstream": r"std::(?:ifstream|ofstream|fstream)\b",
    "functional": r"std::(?:function<|hash<|invoke\()",
    "iterator": r"std::(?:prev|next|back_inserter|distance|make_move_iterator)\(",
    "limits": r"std::numeric_limits\b",
    "map": r"std::(?:multi)?map<",
    "memory": r"std::(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared)\b",
    "mutex": r"std::(?:mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once)\b",
    "numeric": r"std::(?:accumulate|iota|gcd|lcm)\(",
    "optional": r"std::(?:optional|nullopt)\b",
    "random": r"std::(?:mt19937|random_device|uniform_\w+_distribution)\b",
    "set": r"std::(?:multi)?set<",
    "span": r"std::span\b",
    "sstream": r"std::(?:ostringstream|stringstream|istringstream)\b",
    "stdexcept": r"std::(?:runtime_error|logic_error|invalid_argument|out_of_range)\b",
    "string": r"std::(?:string\b(?!_)|to_string\b)",
    "string_view": r"std::string_view\b",
    "system_error": r"std::(?:system_error|error_code|generic_category)\b",
    "thread": r"std::(?:thread|this_thread|jthread)\b",
    "tuple": r"std::(?:tuple|tie|make_tuple)\b",
    "type_traits": r"std::(?:is_\w+_v|conditional_t|remove_\w+_t|enable_if_t|decay_t|make_(?:un)?signed_t|underlying_type_t)\b",
    "unordered_map": r"std::unordered_map<",
    "unordered_set": r"std::unordered_set<",
    "utility": r"std::(?:move|exchange|pair|swap|forward|declval|as_const|in_place\w*)\b",
    "variant": r"std::(?:variant|get_if|visit|holds_alternative)\b",
    "vector": r"std::vector<",
}
# Headers that, by the standard, include the others.
ALSO = {
    "string": {"string_view"},
    "cinttypes": {"cstdint"},
    "stdint.h": {"cstdint"},
    "inttypes.h": {"cstdint"},
    "map": {"utility"},
    "unordered_map": {"utility"},
    "string.h": {"cstring"},
    "errno.h": {"cerrno"},
    "stdlib.h": {"cstdlib"},
    "stdio.h": {"cstdio"},
}
DEVICE = (
    ROOT / "include/atoll/device"
)  # also compiled by NVRTC, which has no standard headers and declares uint64_t itself


def code_of(file: Path) -> str:
    """The file without comments and texts."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read_text(), flags=re.DOTALL)
    return re.sub(
        r"^(?!\s*#).*$", lambda line: re.sub(r'"(?:\\.|[^"\\])*"', '""', line[0]), text, flags=re.MULTILINE
    )


@cache
def direct(file: Path) -> tuple[frozenset[str], frozenset[Path]]:
    """The standard headers and the headers of ours that a file itself includes."""
    standard: set[str] = set()
    ours: set[Path] = set()
    for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', file.read_text(), re.MULTILINE):
        places = [file.parent / name, *(ROOT / folder / name for folder in FOLDERS)]
        if place := next((place.resolve() for place in places if place.is_file()), None):
            ours.add(place)
        else:
            standard |= {name} | ALSO.get(name, set())
    return frozenset(standard), frozenset(ours)


def included(file: Path) -> set[str]:
    """The standard headers that a file includes, directly and through headers of ours."""
    found: set[str] = set()
    waiting, seen = [file], {file}
    while waiting:
        standard, ours = direct(waiting.pop())
        found |= standard
        waiting += ours - seen
        seen |= ours
    return found


def missing(file: Path) -> list[str]:
    """The standard headers whose names a file uses without including them."""
    code, there = code_of(file), included(file)
    return [name for name, promised in PROMISED.items() if name not in there and re.search(promised, code)]


SOURCES = sorted(
    file
    for folder in ("include", "src", "python/src", "tests", "examples", "bench")
    for file in (ROOT / folder).rglob("*.?pp")
    if DEVICE not in file.parents
)


def test_names_of_the_standard_library_come_from_its_headers() -> None:
    assert len(SOURCES) > 300, "the folders moved"
    wrong = {str(file.relative_to(ROOT)): names for file in SOURCES if (names := missing(file))}
    assert not wrong, "\n".join(f"{file}: #include <{'>, <'.join(names)}>" for file, names in wrong.items())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("enum class Kind : std::uint8_t { one };\n", ["cstdint"]),
        ("#include <cstdint>\nenum class Kind : std::uint8_t { one };\n", []),
        ("#include <map>\n// std::vector<int>\nstd::pair<int, int> x;\n", []),
        ('const char* x = "std::vector<int>";\n', []),
        ("#include <string>\nstd::string_view a; auto b = std::move(a);\n", ["utility"]),
    ],
)
def test_a_missing_header_is_found(tmp_path: Path, text: str, names: list[str]) -> None:
    (tmp_path / "header.hpp").write_text(text)
    assert missing(tmp_path / "header.hpp") == names
