"""The notebooks of docs/tutorials run cell by cell in a Jupyter kernel, and show what the pages show."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jobs import HANG_GUARD, ROOT, environment

sys.path.insert(0, str(ROOT / "docs/site"))
import notebooks

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install ipykernel")
nbformat = pytest.importorskip("nbformat")

# Packages of single notebooks, and the command that runs these notebooks.
NEEDS = {"pytorch": ("torch", "make torch"), "kernel": ("numba", "make docs")}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A kernel for all notebooks; each starts and stops its own PEs."""
    folder = str(tmp_path_factory.mktemp("tutorials"))
    client = nbclient.NotebookClient(
        nbformat.v4.new_notebook(),
        timeout=HANG_GUARD,
        startup_timeout=HANG_GUARD,
        kernel_name="python3",
        resources={"metadata": {"path": folder}},
    )
    with client.setup_kernel(env=environment(IPYTHONDIR=folder)):
        yield client


@pytest.fixture
def kernel(client: Any) -> Iterator[Any]:
    """The kernel without the extension, as a new one; ends the PEs of a notebook that failed."""
    yield client
    unload = nbformat.v4.new_code_cell("%unload_ext atoll")
    client.nb = nbformat.v4.new_notebook(cells=[unload])
    client.execute_cell(unload, 0)


def by_pe(text: str) -> list[str]:
    """Lines sorted by PE; the order of one PE's lines is kept."""
    return sorted(text.splitlines(), key=lambda line: line.split("]")[0])


def shown(cell: Any) -> str:
    """The text that a cell printed, then its value."""
    return "".join(
        output.text if output.output_type == "stream" else output.data["text/plain"] + "\n"
        for output in cell.outputs
    )


@pytest.mark.parametrize("page", notebooks.tutorials(), ids=lambda page: page.stem)
def test_notebook(page: Path, kernel: Any, tmp_path: Path) -> None:
    package, command = NEEDS.get(page.stem, ("", ""))
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"no {package}: {command} runs this notebook")
    notebooks.write(page, tmp_path / "made.ipynb")
    kernel.nb = nbformat.read(tmp_path / "made.ipynb", as_version=4)
    nbformat.validate(kernel.nb)
    wanted = [part.shown for part in notebooks.parts(page.read_text(encoding="utf-8"))]
    assert len(wanted) == len(kernel.nb.cells)
    for number, cell in enumerate(kernel.nb.cells):
        if cell.cell_type == "code":
            kernel.execute_cell(cell, number)
            assert by_pe(shown(cell)) == by_pe(wanted[number]), cell.source
