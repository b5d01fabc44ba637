"""Names of the code use the standard words that CONTRIBUTING.md demands (its table)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from english import TOKEN, WORD_OF_NAME
from test_layout import ROOT, name_of, tracked

# Words that follow each other in a name, and the reason why it may have them.
STANDARD = {
    "in place": "the field's term for operations whose source is their target",
    "give smem": "NVSHMEM's function",
}
FOLDERS = ("src/", "include/", "python/")


def words_of(name: str) -> str:
    """Split a name by case, digits and underscores: "KernelLog_of2" is "kernel log of 2"."""
    return " ".join(WORD_OF_NAME.findall(name)).lower()


def private_words() -> list[str]:
    """Return the words in the table of CONTRIBUTING.md that others replace."""
    table = (ROOT / "CONTRIBUTING.md").read_text().split("| not | but |")[1].split("\n\n")[0]
    return [word for row in re.findall(r"^\| (.*?) \| ", table, re.M) for word in re.findall(r"`(.*?)`", row)]


PRIVATE = re.compile(rf"\b(?:{'|'.join(private_words())})\b")


def private_word(name: str) -> str | None:
    words = words_of(name)
    for standard in STANDARD:
        words = re.sub(rf"\b{standard}\b", "", words)
    found = PRIVATE.search(words)
    return found[0] if found else None


def names_of_python(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        for field in ("id", "attr", "arg", "name", "asname", "module"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield from value.split(".")


def names_of_cpp(source: str) -> Iterator[str]:
    source = re.sub(r"/\*.*?\*/", " ", source, flags=re.S)
    for token in TOKEN.finditer(source):
        if not token[0].startswith(('"', 'R"', "//")):
            yield from re.findall(r"[A-Za-z_]\w*", token[0])


def names_of(file: Path) -> set[str]:
    source = file.read_text()
    names = names_of_python(source) if file.suffix in {".py", ".pyi"} else names_of_cpp(source)
    return {*names, *file.relative_to(ROOT).with_suffix("").parts}


def test_names_use_standard_words() -> None:
    files = [
        f
        for f in tracked(".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".pyi")
        if name_of(f).startswith(FOLDERS)
    ]
    assert len(files) > 500
    wrong = [
        f"{name_of(file)}: {name} has {word!r}"
        for file in files
        for name in sorted(names_of(file))
        if (word := private_word(name))
    ]
    assert not wrong, "the standard word is in the table of CONTRIBUTING.md:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("place_of", "place"),
        ("KernelPlace", "place"),
        ("is_told_", "told"),
        ("ATOLL_LOOKS", "looks"),
        ("all_reduce_in_place", None),
        ("InPlace", None),
        ("replaced", None),
        ("always", None),
    ],
)
def test_a_private_word_is_found(name: str, word: str | None) -> None:
    assert private_word(name) == word


def test_comments_and_texts_are_no_names() -> None:
    cpp = 'int a = f("place"); // place\n/* place */ auto b = R"(place)";'
    assert set(names_of_cpp(cpp)) == {"int", "a", "f", "auto", "b"}
    python = '"""place"""\nx = "place"  # place\nprint(f"{told}")'
    assert set(names_of_python(python)) == {"x", "print", "told"}
