"""The package's types, as users' type checkers see them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def check(file: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mypy")
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(file)],
        env={"MYPYPATH": str(ROOT / "python"), "PATH": ""}, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_users_program_is_clean(tmp_path: Path) -> None:
    done = check(HERE / "typed_user.py", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mistakes_are_found(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text(
        "import atoll, numpy as np\n"
        "x = atoll.zeros(3)\n"
        "atoll.put(x, x)\n"
        "atoll.wait_until(x, '=>', 1)\n"
        "atoll.put(x, x, 0, colour=1)\n"
        "n: str = atoll.n_pes()\n"
    )
    done = check(program, tmp_path)
    assert done.returncode != 0 and all(f"wrong.py:{line}:" in done.stdout for line in (3, 4, 5, 6)), (
        done.stdout
    )
