"""The examples of kernels in Numba, on host arrays."""

from __future__ import annotations

import subprocess
import sys

import pytest
from jobs import HANG_GUARD, ROOT, environment, launcher

pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")

# With arguments that keep them small. All compare their result with NumPy's.
EXAMPLES = {
    "11_kernels_jacobi/jacobi.py": (),
    "12_kernels_experts/experts.py": (),
    "16_kernels_terrain/water.py": ("cpu", "12"),
    "17_kernels_gradient/gradient.py": ("cpu", "5"),
    "19_kernels_fft/fft.py": ("cpu",),
    "28_galaxies/galaxies.py": ("60", "20"),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("numba"))


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_on_cpus(name: str, n: int, cache: str) -> None:
    if "terrain" in name or "gradient" in name or "fft" in name:
        pytest.importorskip("matplotlib", reason="the elevation model comes with matplotlib")
    command = [
        launcher(),
        "run",
        "-n",
        str(n),
        "--timeout",
        "240",
        sys.executable,
        str(ROOT / "examples" / name),
        *EXAMPLES[name],
    ]
    done = subprocess.run(
        command,
        env=environment(NUMBA_CACHE_DIR=cache),
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert f"cpu, {n} PEs" in done.stdout
