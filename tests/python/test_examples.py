"""Every example, in Python and C++, at 1, 2 and 4 PEs. Each checks its own result and exits with 0 only if it is right."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ATOLL = Path(sys.executable).with_name("atoll")
PROGRAMS = ROOT / "build/release/examples"
HANG_GUARD = 800
# Small sizes, for examples that have one.
ARGUMENTS = {
    "pingpong": ["2000"],
    "gups": ["50000"],
    "integer_sort": ["50000"],
    "life": ["60"],
    "poisson": ["60"],
    "lattice": ["4", "4"],
    "molecules": ["7", "40"],
    "image": ["60"],
}
# Unbuffered, Python writes a line's end on its own, and lines of several PEs mix.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
NAMES = sorted(p.stem for p in ROOT.glob("examples/*/*.cpp"))
COUNTS = [1, 2, 4]


def run(n_pes: int, program: Path, cwd: Path) -> str:
    command = [ATOLL, "run", "-n", n_pes, "--timeout", HANG_GUARD, program, *ARGUMENTS.get(program.stem, [])]
    result = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, env=ENVIRONMENT
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr == ""
    return result.stdout


def source(name: str) -> Path:
    """Return the Python form of the C++ example of this name."""
    (path,) = ROOT.glob(f"examples/*/{name}.cpp")
    return path.with_suffix(".py")


@pytest.mark.parametrize("n_pes", COUNTS)
@pytest.mark.parametrize("name", NAMES)
def test_python(name: str, n_pes: int, tmp_path: Path) -> None:
    assert run(n_pes, source(name), tmp_path)


@pytest.mark.parametrize("n_pes", COUNTS)
@pytest.mark.parametrize("name", NAMES)
def test_cpp(name: str, n_pes: int, tmp_path: Path) -> None:
    program = PROGRAMS / name
    if not program.exists():
        pytest.skip(f"{program} is not built (make test builds it)")
    assert run(n_pes, program, tmp_path)


@pytest.mark.parametrize("n_pes", COUNTS)
def test_poisson(n_pes: int, tmp_path: Path) -> None:
    said = run(n_pes, ROOT / "examples/20_poisson/poisson.py", tmp_path)
    assert re.fullmatch(r"60 x 60 unknowns on a grid of \(\d, \d\): \d+ steps, error \S+\n", said)


@pytest.mark.parametrize("n_pes", COUNTS)
def test_crystal(n_pes: int, tmp_path: Path) -> None:
    said = run(n_pes, ROOT / "examples/23_crystal/crystal.py", tmp_path)
    assert re.fullmatch(r"64\^3 points on a grid of .*: Madelung's constant 1\.74756459\d, error \S+\n", said)


def test_graph(tmp_path: Path) -> None:
    said = run(3, ROOT / "examples/24_graph/graph.py", tmp_path).splitlines()
    assert said[0] == "4096 vertices, 96924 directed edges, 788 components; vertex 0 has the most edges"
    assert said[1].endswith("by distance: [1, 1305, 1951, 51]")


@pytest.mark.parametrize("n_pes", [1, 2, 3])
def test_lattice(n_pes: int, tmp_path: Path) -> None:
    said = run(n_pes, ROOT / "examples/26_lattice/lattice.py", tmp_path)
    assert re.fullmatch(
        r"4 x 4 x 4 x 4 sites on a grid of .*; \d+ steps of conjugate gradients, residual \S+\n", said
    )


@pytest.mark.parametrize("n_pes", [1, 2, 3])
def test_molecules(n_pes: int, tmp_path: Path) -> None:
    said = run(n_pes, ROOT / "examples/27_molecules/molecules.py", tmp_path)
    found = re.fullmatch(r"343 atoms in 3\^3 cells on \d PEs, 40 steps: (\d+) times .*, as by one PE\n", said)
    assert found, said
    assert (int(found[1]) > 0) == (n_pes > 1)


@pytest.mark.parametrize("n_pes", [1, 2, 3])
def test_image(n_pes: int, tmp_path: Path) -> None:
    said = run(n_pes, ROOT / "examples/29_image/image.py", tmp_path)
    assert re.fullmatch(r"60 x 90 pixels in tiles on a grid of .*, as by one PE\n", said)


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("20_poisson/poisson.py", ["30", "a.png"]),
        ("26_lattice/lattice.py", ["4", "4", "a.png"]),
        ("27_molecules/molecules.py", ["6", "3", "a.png"]),
        ("29_image/image.py", ["30", "a.png"]),
        ("29_image/image.py", ["a.png", "b.png"]),
    ],
)
def test_pictures(program: str, arguments: list[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    shutil.copy(ROOT / "examples/23_crystal/crystal.png", tmp_path / "a.png")
    command = [str(ATOLL), "run", "-n", "2", str(ROOT / "examples" / program), *arguments]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith(f"picture: {arguments[-1]}\n")


@pytest.mark.parametrize("name", NAMES)
def test_python_alone(name: str, tmp_path: Path) -> None:
    """Without the launcher the same program is a job of one PE."""
    command = [sys.executable, str(source(name)), *ARGUMENTS.get(name, [])]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_GUARD)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr


def test_every_pe_prints_hello(tmp_path: Path) -> None:
    said = run(4, source("hello"), tmp_path)
    assert sorted(said.splitlines()) == [f"Hello from PE {pe} of 4" for pe in range(4)]


def test_every_folder_has_a_readme() -> None:
    folders = sorted(p for p in (ROOT / "examples").iterdir() if p.is_dir())
    assert len(folders) >= 9
    for folder in folders:
        assert (folder / "README.md").is_file(), folder
        assert [*folder.glob("*.py"), *folder.glob("*.c"), *folder.glob("*.cu")], folder
        assert f"({folder.name})" in (ROOT / "examples/README.md").read_text(), folder


# ---- the tutorial ------------------------------------------------------------------------------------------------------

BLOCKS = re.findall(
    r"^```python\n# (\w+\.py)\n(.*?)^```$", (ROOT / "docs/tutorial.md").read_text(), re.S | re.M
)


@pytest.mark.parametrize(("name", "text"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_tutorial(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    if name == "launched.py":
        command = [sys.executable, name]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_GUARD)
        assert (result.returncode, result.stdout) == (0, "[0, 10, 20, 30]\n"), result.stderr
    else:
        run(3, tmp_path / name, tmp_path)


def test_tutorial_shows_the_output_of_the_programs(tmp_path: Path) -> None:
    (tmp_path / "view.py").write_text(dict(BLOCKS)["view.py"])
    said = run(3, tmp_path / "view.py", tmp_path)
    shown = (ROOT / "docs/tutorial.md").read_text()
    assert "".join(f"    {one}\n" for one in said.splitlines()) in shown
