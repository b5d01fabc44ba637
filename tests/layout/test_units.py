"""Names of one file alone must differ within a target, since sanitizer builds compile up to 80 files as one unit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted(
    folder
    for parent in ("src", "tests")
    for folder in (ROOT / parent).iterdir()
    if folder.is_dir() and len(list(folder.rglob("*.cpp"))) > 1
)
# Programs of their own, one a file.
FOLDERS = [
    folder
    for folder in FOLDERS
    if f"{folder.parent.name}/{folder.name}" not in ("tests/gpu", "tests/nvshmem", "tests/shmem")
]

_IGNORED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^#.*?(?<!\\)$',
    re.S | re.M,
)
_TOKEN = re.compile(r"[{};]|[^{};]+")
_NAMESPACE = re.compile(r"(?:inline )?namespace ?([\w:]*) *$")
_TYPE = re.compile(
    r"(?:^|\s)(?:struct|class|enum class|enum|union) (?:\[\[\w+\]\] )?(?:alignas\([^)]*\) )?(\w+)(?: final)?(?: ?:.*)?$"
)
_FUNCTION = re.compile(r"([\w~]+) ?\((.*)\)(?: ?(?:const|noexcept|override|->.*))*$", re.S)
_VARIABLE = re.compile(
    r"(?:constexpr|const|constinit|static|thread_local|inline)\b.*?(\w+)(?: ?\[[^]]*\])*(?: ?=.*)?$", re.S
)


def local_names(text: str) -> Iterator[str]:
    """Yield the types, variables and functions of anonymous namespaces, with their namespace and parameter types."""
    text = _IGNORED.sub(lambda found: '""' if found[0].startswith(('"', "R")) else " ", text)
    opened: list[str | None] = []  # the names of namespaces that are open, None for other braces
    before = ""
    for token in _TOKEN.findall(text):
        if token in "{};":
            written = " ".join(before.split())
            is_local = "" in opened and None not in opened
            if token == "{":
                found = _NAMESPACE.search(written)
                opened.append(found[1] if found else None)
            if is_local and token in "{;" and opened[-1] != "":
                where = "::".join(each for each in opened if each)
                if name := defined(written, token):
                    yield f"{where}::{name}"
            if token == "}" and opened:
                opened.pop()
            before = ""
        else:
            before += token


def defined(written: str, end: str) -> str:
    """Return the name that a statement, or the text before a brace, defines."""
    if written.startswith(("using ", "template", "extern ", "friend ", "static_assert", "TEST")):
        return ""
    if end == "{" and (found := _TYPE.search(written)) and "(" not in written:
        return found[1]
    if end == "{" and (found := _FUNCTION.search(written)) and "=" not in written.partition("(")[0]:
        types = [re.sub(r"\s*\b\w+$", "", each.strip()) for each in found[2].split(",")]
        return f"{found[1]}({', '.join(types)})"
    if (found := _VARIABLE.match(written)) and "(" not in written.partition("=")[0]:
        return found[1]
    return ""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_names_of_one_file_differ_within_a_target(folder: Path) -> None:
    files: dict[str, set[str]] = defaultdict(set)
    for path in folder.rglob("*.cpp"):
        for name in local_names(path.read_text()):
            files[name].add(str(path.relative_to(ROOT)))
    twice = {name: sorted(paths) for name, paths in files.items() if len(paths) > 1}
    assert not twice, "\n".join(f"{name}: {', '.join(paths)}" for name, paths in sorted(twice.items()))


def test_it_finds_names() -> None:
    text = """
        namespace atoll { namespace {
        constexpr int sizes[] = {1, 2}; // constexpr int others = 1;
        struct Text { int inner; };
        int sum(int a, const Text& b) { int local = 1; return local; }
        } int outside = 1; }
    """
    assert list(local_names(text)) == ["atoll::sizes", "atoll::Text", "atoll::sum(int, const Text&)"]
