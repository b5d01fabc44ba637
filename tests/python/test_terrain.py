"""Terrain: the solver against known solutions, and the program at several numbers of PEs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples/09_terrain"
ATOLL = Path(sys.executable).with_name("atoll")
HANG_GUARD = 800


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"terrain_{name}", FOLDER / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


solver, elevation = load("solver"), load("elevation")


def lake(ground: np.ndarray, dx: float = 10.0, dy: float = 10.0, manning: float = 0.05):
    """A closed raster, dry."""
    padded = np.pad(ground, ((1, 1), (0, 0)), mode="edge")
    return solver.Water(padded, np.zeros_like(padded), dx, dy, manning)


def move(water, dt: float) -> None:
    water.look(1, water.rows + 1)
    for faces in water.inner:
        faces.move(dt)


# ---- the solver ------------------------------------------------------------------------------------------------------


def test_a_lake_at_rest_stays_at_rest() -> None:
    ground = np.random.default_rng(1).integers(0, 40, (30, 40)).astype(float)
    water = lake(ground)
    water.own[:] = np.maximum(30.0 - ground, 0)
    before = water.own.copy()
    for _ in range(50):
        move(water, 0.3)
    assert np.array_equal(water.own, before)


def test_no_water_is_lost_and_no_depth_negative_even_with_far_too_long_steps() -> None:
    random = np.random.default_rng(2)
    water = lake(random.uniform(0, 200, (25, 33)), dx=7.3, dy=11.1)
    water.own[:] = np.round(random.exponential(0.5, water.own.shape) / solver.QUANTUM) * solver.QUANTUM
    water.own[random.random(water.own.shape) < 0.5] = 0
    # Some cells with a few quanta only: here rounding could take more than there is.
    water.own[:3] = random.integers(0, 9, (3, 33)) * solver.QUANTUM
    held = solver.quanta(water.own)
    for dt in (0.1, 5.0, 1000.0, 1e6) * 20:
        move(water, dt)
        assert water.own.min() >= 0
    assert solver.quanta(water.own) == held


def test_rain_on_a_slope_runs_off_by_mannings_law() -> None:
    """Steady rain r on a plane: at x below the top q = r x, and h = (q n / sqrt(S))^(3/5), the kinematic wave's solution."""
    cells, dx, slope, manning, rain = 80, 10.0, 0.02, 0.05, 50 / 3.6e6
    ground = np.tile(slope * dx * np.arange(cells, 0, -1.0), (3, 1))
    water = lake(ground, dx=dx, manning=manning)
    brink = solver.Brink(water, np.s_[1:-1, -1], dx)
    for _ in range(8000):
        before = brink.depth.copy()
        move(water, 0.5)
        brink.spill(before, 0.5)
        solver.rain_on(water, rain, 0.5)
    x = dx * np.arange(1, cells)
    assert water.flow_x[1] == pytest.approx(rain * x, rel=2e-3)
    expected = (rain * x * manning / np.sqrt(slope)) ** 0.6
    assert water.own[1, 5:-5] == pytest.approx(expected[5:-4], rel=0.02)


def test_a_thin_sheet_on_steep_ground_does_not_swing() -> None:
    """If friction dominates, a step changes any flow to Manning's, h^(5/3) sqrt(S) / n."""
    ground = np.tile(3.0 * np.arange(20, 0, -1.0), (3, 1))  # 0.3 down per metre
    water = lake(ground)
    water.own[:] = 0.01
    expected = 0.01 ** (5 / 3) * np.sqrt(0.3) / 0.05
    for _ in range(3):
        water.own[:] = 0.01  # the same depth before each step: only the flow carries over
        move(water, 10.0)
        assert water.flow_x == pytest.approx(expected, rel=0.02)


def test_refined_ground_keeps_heights_and_spans() -> None:
    ground = np.add.outer(np.arange(4.0), 10 * np.arange(5.0))
    fine = elevation.refined(ground, 3)
    assert fine.shape == (12, 15)
    assert fine[1::3, 1::3] == pytest.approx(ground)  # the middles of the coarse cells
    assert np.array_equal(elevation.refined(ground, 1), ground)


# ---- the program -----------------------------------------------------------------------------------------------------


def terrain(n_pes: int, *options: object, cwd: Path, env: dict[str, str] | None = None):
    command = [ATOLL, "run", "-n", n_pes, "--timeout", HANG_GUARD, FOLDER / "terrain.py", "--quiet", *options]
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
    )


def line(text: str, start: str) -> str:
    (found,) = (one for one in text.splitlines() if one.startswith(start))
    return found


@pytest.mark.parametrize("edges", [(), ("--open",)], ids=["closed", "open"])
def test_same_bits_and_no_water_lost_at_any_number_of_pes(edges: tuple[str, ...], tmp_path: Path) -> None:
    hashes, balances = set(), set()
    for n_pes in (1, 2, 3, 4, 7):
        result = terrain(
            n_pes, "--synthetic", "--no-picture", "--steps", 120, "--rain", 200, *edges, cwd=tmp_path
        )
        assert result.returncode == 0, result.stdout + result.stderr
        hashes.add(line(result.stdout, "depths: "))
        balances.add(line(result.stdout, "water: "))
    assert len(hashes) == 1
    # The tolerance is 0: depths are whole multiples of a quantum and sums of them exact (solver.py explains it).
    (balance,) = balances
    assert balance.endswith("unaccounted for: 0")
    assert ("+ 0.000000 left" in balance) == (not edges)


def test_real_mountain_with_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = terrain(4, "--steps", 8, "--check", "--open", "--output", "rain.png", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "344 x 403 cells, 8 steps, 4 PEs" in result.stdout
    assert "million cell updates per second" in result.stdout
    assert "the same, bit for bit" in result.stdout
    assert line(result.stdout, "picture: ") == f"picture: {tmp_path / 'rain.png'}"
    assert (tmp_path / "rain.png").read_bytes().startswith(b"\x89PNG")


def test_one_row_a_pe(tmp_path: Path) -> None:
    result = terrain(4, "--synthetic", "--no-picture", "--steps", 20, "--rows", 4, "--check", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


# ---- errors
# ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def without_matplotlib(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib/__init__.py").write_text("raise ImportError('not here')\n")
    return {"PYTHONPATH": str(tmp_path)}


def test_missing_matplotlib_is_named_with_its_pip_line(
    tmp_path: Path, without_matplotlib: dict[str, str]
) -> None:
    for options in ([], ["--no-picture"], ["--synthetic"]):
        result = terrain(1, *options, cwd=tmp_path, env=without_matplotlib)
        assert result.returncode != 0
        assert "pip install matplotlib" in result.stderr
        assert "Traceback" not in result.stderr
    result = terrain(2, "--synthetic", "--no-picture", "--steps", 3, cwd=tmp_path, env=without_matplotlib)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "options", [("--refine", 0), ("--hours", -1), ("--rain", -5), ("--steps", "many"), ("--rows", 0)]
)
def test_bad_options_are_refused(options: tuple[object, ...], tmp_path: Path) -> None:
    result = terrain(2, "--synthetic", "--no-picture", *options, cwd=tmp_path)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_more_pes_than_rows_are_refused(tmp_path: Path) -> None:
    result = terrain(5, "--synthetic", "--no-picture", "--steps", 3, "--rows", 4, cwd=tmp_path)
    assert result.returncode != 0
    assert "5 PEs cannot share 4 rows" in result.stderr


def test_a_missing_folder_is_reported_before_anything_is_computed(tmp_path: Path) -> None:
    result = terrain(2, "--synthetic", "--output", "nowhere/rain.png", cwd=tmp_path)
    assert result.returncode == 2
    assert f"there is no folder {tmp_path / 'nowhere'}" in result.stderr
    assert result.stdout == ""
