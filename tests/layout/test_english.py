"""The prose of the repository is plain English: see "How we write" in CONTRIBUTING.md."""

from pathlib import Path

import english
import pytest


def found(text: str, kind: str = "comment") -> list[str]:
    return [finding.rule for finding in english.findings(english.Block("file", 1, text, kind))]


def test_no_finding():
    every = [
        str(f) for path in english.files() for block in english.blocks(path) for f in english.findings(block)
    ]
    assert not every, "\n".join(every[:40])


@pytest.mark.parametrize(
    "text",
    [
        "What a PE waits for.",
        "what a PE waits for",
        "The flag stands in the first line.",
        "The error is said on every PE.",
        " ".join(["word"] * 26) + ".",
        "Wakes the PE that waits for the word which this PE sets, whose team has ended.",
        "A PE that dies ends the call that waits for it.",
        "Puts return at once. So do gets.",
        "Parts of arrays move as such.",
        "A description for people.",
        "Returns what a PE sent.",
        "Reads the own slot.",
        "Use zeros() and its kin.",
        "Counts ticks between two looks at the clock.",
        "Polls once: it looks once more.",
        "The same of a put.",
        "Counts the numbers given out.",
        "It is seldom true.",
        "Reads the flag. Whether it is set, others learn later.",
        "Reads the flag. As in shmem.h, it is a word.",
        '"Where" a PE waits.',
        "---- what others answered",
    ],
)
def test_a_finding(text):
    assert found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Returns the offset of an address in this PE's slot. Throws Error if it lies outside.",
        "States that the PE that waits is alive, so that others know which one it is.",
        "A PE that imports Numba takes 1.1 s, and one that imports PyTorch 2.9.",
        "So each PE can wait, and so does the host. This page is for people who know NumPy.",
        "Returns the value, such as kinds of akin names. It reads its own slot.",
    ],
)
def test_plain_text_has_none(text):
    assert not found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Keeps one value. Of two equal indices, one remains.",
        "Of several waits the first is shown.",
        "(Of two members the later one throws.)",
    ],
)
def test_the_subject_comes_before_of(text):
    assert found(text, "page") == ["inverted sentence"]


@pytest.mark.parametrize("text", ["What is a PE?", "One of several waits is shown.", "of two PEs: one line"])
def test_a_page_may_ask_and_list(text):
    assert not found(text, "page")


def findings_of(folder: Path, name: str, text: str) -> int:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return sum(1 for block in english.blocks(file, folder) for _ in english.findings(block))


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.cpp", "// What it is.\nint x;  // Whose turn it is\n/* Where it\n * lies. */", 3),
        ("a.cpp", "int width;  // of the blur\n", 1),
        ("a.cpp", "int width;  // the width\n            // of the blur\nint x;\n// of it", 1),
        ("a.py", '"""It stands here."""\n# What it is.\n', 2),
        ("a.py", 'x = 1\n"""Of a word."""\nclass A:\n    y: int\n    """As in B."""\n', 2),
        (
            "a.py",
            'print(f"no {x} of these {y} stands here")\nsay("a" + x + " of these three words stands")\n',
            2,
        ),
        ("a.py", 'NAMES = "add stands subtract anew multiply"\nprint("stands alone")\n', 0),
        ("tests/a.py", 'print("none of these words stands here")\n', 0),
        ("a.sh", "# Who waits.\n", 2),
        ("a.sh", "make || true # what failed\necho '# it stands' \"a # of\" ${x#of} $# # of both\n", 2),
        ("a.fish", "echo x # what failed\n", 1),
        ("CMakeLists.txt", 'set(x "# of it")   # of the newest\nset(y)  # it stands\n', 2),
        ("a.yml", "key: don't   # as there\n", 1),
        ("pyproject.toml", "key = ['#'] # where it is\n", 1),
        ("a.py", "x = 1  # a count. Of both\n", 1),
        ("Makefile", "all: setup ## what runs long\n\t@echo\nstubs: all ## written anew\n", 2),
        ("a.cc", "int rows;  // of each PE\n", 1),
        ("a.cpp", "// ---- of each PE\n\n/// Reads it. What is left stays.\n", 2),
        ("a.py", '"""A word.\n\nIt is read. Where it is absent, nothing is.\n"""\n', 1),
        ("a.md", "# Title\n\nIt stands here.\n\n| it stands |\n", 2),
        ("a.md", "```python\nstands = 1  # it stands here\n```\n", 1),
        (
            "a.js",
            "// Of a page\nsay('none of these words stands here'); say(`${x} of them stands in the way`);\n",
            3,
        ),
        ("a.css", "/* What it prints */ body { stands: x; }\n", 1),
        ("api/a.toml", '# As it is\nstands = 1\n[x]\ny = ["none of these words stands here"]\n', 2),
    ],
)
def test_reads_each_kind_of_text(tmp_path: Path, name: str, text: str, count: int) -> None:
    assert findings_of(tmp_path, name, text) == count


def test_reads_the_names_of_tests(tmp_path):
    names = {
        "a.cpp": "TEST(Teams, OfOnePe) {\nTEST_F(Heap, ANewGroup) {\nTYPED_TEST_P(Ucx, DataStandFirst) {\n"
        "INSTANTIATE_TEST_SUITE_P(Stands, Heap, x);\nvoid check_nobody() {\nTEST_F(\n    Heap, WhoIsLate) {",
        "a.py": "def test_a_new_group(): ...\ndef test_who_is_late(): ...\nasync def test_it_is_said(): ...\n"
        "def check_who(): ...\ndef stands(): ...\n",
    }
    rules = {}
    for name, text in names.items():
        (tmp_path / name).write_text(text)
        of_file = english.blocks(tmp_path / name, tmp_path)
        rules[name] = sorted((f.line, f.text) for block in of_file for f in english.findings(block))
    assert rules == {
        "a.cpp": [(3, "Data Stand First"), (5, "check nobody"), (6, "Who Is Late")],
        "a.py": [(2, "who is late"), (3, "it is said")],
    }


LONG = "word " * 20


def test_reads_the_texts_of_errors(tmp_path):
    """Literals are joined over lines and values. A period ends a sentence, as in comments."""
    sources = {
        "a.cpp": [
            f'    throw Error(code, "{LONG}" + name +\n          "{LONG}");',
            f'    throw Error(code, "A {LONG}. " "A {LONG}");',
            f'    const char* text = a ? "{LONG}" : "{LONG}";',
            f'    refuse(spec, "{LONG}" "{LONG}", name);',
        ],
        "a.py": [
            f'raise ValueError(f"{LONG}{{x}}" "{LONG}")',
            f'raise ValueError(f"A {LONG}{{x}}. " "A {LONG}")',
            f'text = "{LONG}{LONG}"',
            f'raise ValueError("{LONG}", "{LONG}", "{LONG}{LONG}")',
        ],
    }
    for name, lines in sources.items():
        file = tmp_path / name
        counts = []
        for line in lines:
            file.write_text(line)
            counts.append(sum(1 for block in english.blocks(file, tmp_path) for _ in english.findings(block)))
        assert counts == [1, 0, 0, 1], name
