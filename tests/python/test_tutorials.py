"""The notebooks of docs/tutorials and docs/course run cell by cell in a Jupyter kernel, and show what the pages show.

An exercise of the course is checked twice: unsolved it must fail, and its solution must pass.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import HANG_GUARD, ROOT

sys.path.insert(0, str(ROOT / "docs/site"))
import notebooks

pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install ipykernel")
nbformat = pytest.importorskip("nbformat")

from cells import Notebook, by_pe, started  # noqa: E402

# Packages of single notebooks, and the command that runs these notebooks.
NEEDS = {"pytorch": ("torch", "make torch"), "kernel": ("numba", "make docs")}
# The errors by which the check of an unsolved exercise fails.
FAILS = r"^error (PE .*raised (AssertionError|atoll.CollectiveMismatch)|Timeout):"
FORGET = """%%atoll
for _name in [each for each in globals() if each[0] != "_" and each not in ("atoll", "np")]:
    del globals()[_name]
"""
TIMEOUT = re.compile(r"(?<=--timeout )\d+")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """A kernel for all notebooks; each starts and stops its own PEs."""
    with started(str(tmp_path_factory.mktemp("tutorials"))) as made:
        yield made


@pytest.fixture
def kernel(client: Notebook) -> Iterator[Notebook]:
    """The kernel without the extension, as a new one; ends the PEs of a notebook that failed."""
    yield client
    client.run("%unload_ext atoll")


@pytest.fixture(scope="module")
def loaded(client: Notebook) -> Iterator[Notebook]:
    client.run("%unload_ext atoll\n%load_ext atoll")
    yield client
    client.run("%unload_ext atoll")


@pytest.fixture
def course(loaded: Notebook) -> Iterator[Notebook]:
    """The PEs of all lessons, without the names of the lesson before."""
    yield loaded
    loaded.run(FORGET)


def check_output(part: notebooks.Part, found: str) -> None:
    """Compare what a cell shows with its page; `…` on a page is any text."""
    if part.fails:
        pattern = ".*".join(map(re.escape, part.shown.strip().split("…")))
        assert "error " in found and re.search(pattern, found, re.DOTALL), found
    else:
        assert by_pe(found) == by_pe(part.shown), f"{part.text}\n{found}"


def check_exercise(kernel: Notebook, check: notebooks.Part, solution: str) -> None:
    """Run a check on the unsolved exercise, which has been run; then on its solution."""
    unsolved = kernel.run(TIMEOUT.sub("1", check.text))
    assert re.search(FAILS, unsolved, re.MULTILINE), f"unsolved:\n{check.text}\n{unsolved}"
    assert kernel.run(solution) == ""
    check_output(check, kernel.run(TIMEOUT.sub(str(HANG_GUARD), check.text)))


def parts_of(page: Path, folder: Path) -> list[notebooks.Part]:
    """The parts of a page, which its notebook has as cells."""
    notebooks.write(page, folder / "made.ipynb")
    made = nbformat.read(folder / "made.ipynb", as_version=4)
    nbformat.validate(made)
    parts = notebooks.parts(page.read_text(encoding="utf-8"))
    assert [part.is_code for part in parts] == [cell.cell_type == "code" for cell in made.cells]
    return parts


@pytest.mark.parametrize("page", notebooks.tutorials(), ids=lambda page: page.stem)
def test_notebook(page: Path, kernel: Notebook, tmp_path: Path) -> None:
    package, command = NEEDS.get(page.stem, ("", ""))
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"no {package}: {command} runs this notebook")
    for part in parts_of(page, tmp_path):
        if part.is_code:
            check_output(part, kernel.run(part.text))


@pytest.mark.parametrize("page", notebooks.lessons(), ids=lambda page: page.stem)
def test_lesson(page: Path, course: Notebook, tmp_path: Path) -> None:
    parts = parts_of(page, tmp_path)
    code = [part.text for part in parts if part.is_code]
    assert (code[0], code[-1]) == ("%load_ext atoll", "%atoll stop")
    assert code[1].startswith("%%atoll -n 4")
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        if following and following.solution:
            check_exercise(course, part, following.solution)
        elif part.is_code and part.text not in (code[0], code[-1]):
            check_output(part, course.run(part.text))


@pytest.mark.parametrize("page", notebooks.lessons(), ids=lambda page: page.stem)
def test_every_exercise_has_a_gap_a_check_and_a_solution(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    parts = notebooks.parts(text)
    gaps = [i for i, part in enumerate(parts) if part.is_code and notebooks.BLANK in part.text]
    assert len(gaps) == text.count("\n### Exercise ") >= 2
    assert gaps == [i - 2 for i, part in enumerate(parts) if part.solution]
    for gap in gaps:
        assert parts[gap + 1].is_code and "assert " in parts[gap + 1].text
        assert notebooks.BLANK not in parts[gap + 2].solution


def test_one_file_has_all_lessons_and_each_build_makes_the_same(tmp_path: Path) -> None:
    notebooks.write_course(tmp_path / "one.zip")
    notebooks.write_course(tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert len(archive.namelist()) == len(notebooks.lessons()) >= 6
        for name in archive.namelist():
            nbformat.validate(nbformat.reads(archive.read(name).decode(), as_version=4))
            assert "<summary>Solution</summary>" in json.dumps(json.loads(archive.read(name)))
