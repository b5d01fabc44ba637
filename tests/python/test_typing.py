"""The package's types, as users' type checkers see them."""

from __future__ import annotations

import re
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


def test_dtypes_are_known_and_names_that_do_not_exist_are_not(tmp_path: Path) -> None:
    """An array's dtype as mypy sees it, beside a variable of that dtype."""
    dtypes = {
        "atoll.zeros(4, np.float32)": "np.float32",
        "atoll.empty((2, 2), np.dtype(np.int64))": "np.int64",
        "atoll.ones(4)": "np.float64",
        "atoll.full(4, 1, np.float32)": "np.float32",
        "atoll.array(a)": "np.float32",
        "atoll.array([1, 2], np.int64)": "np.int64",
        "atoll.zeros_like(a)": "np.float32",
        "atoll.empty_like(a, np.int64)": "np.int64",
        "atoll.ones_like(a)": "np.float32",
        "atoll.full_like(a, 1)": "np.float32",
        "atoll.signal(3)": "np.uint64",
        "atoll.zeros(4, 'f4')": "Any",
    }
    lines = ["import atoll, numpy as np, numpy.typing as npt", "from typing import Any"]
    lines += ["a: npt.NDArray[np.float32]", "d: atoll.DeviceArray = atoll.zeros(4, np.int8, device='cuda')"]
    for i, (call, dtype) in enumerate(dtypes.items()):
        lines += [f"v{i}: npt.NDArray[{dtype}]", f"reveal_type({call})", f"reveal_type(v{i})"]
    lines.append("atoll.putt")
    program = tmp_path / "dtypes.py"
    program.write_text("\n".join(lines) + "\n")
    said = check(program, tmp_path).stdout
    revealed = re.findall(r'Revealed type is ".*(dtype\[.*\])\]"', said)
    assert len(revealed) == 2 * len(dtypes), said
    for call, found, wanted in zip(dtypes, revealed[::2], revealed[1::2], strict=True):
        assert found == wanted, f"{call}: {found}, not {wanted}"
    errors = [line for line in said.splitlines() if ": error:" in line]
    assert len(errors) == 1 and errors[0].startswith(f"dtypes.py:{len(lines)}:") and "putt" in errors[0], said


def test_a_variable_of_another_dtype_takes_no_array(tmp_path: Path) -> None:
    """The scalar types of NumPy are known exactly; strings and the like may be any dtype."""
    wrong = [
        *(
            "zeros(4, np.float32)",
            "zeros(4, np.float64)",
            "zeros(4, np.complex128)",
            "zeros(4)",
            "zeros(4, float)",
        ),
        *("zeros(4, np.dtype(np.float32))", "full(4, 1, np.float32)", "array([1], np.float32)"),
    ]
    right = [
        *(
            "zeros(4, np.int8)",
            "zeros(4, np.dtype(np.int8))",
            "zeros(4, 'i1')",
            "zeros(4, int)",
            "zeros(4, u)",
        ),
        *(
            "zeros(4, [('a', 'i4')])",
            "zeros(4, t)",
            "array([1, 2])",
            "full(4, 1)",
            "array([1], t)",
            "zeros(4, k)",
        ),
    ]
    lines = ["import atoll, numpy as np, numpy.typing as npt", "from typing import Any"]
    lines += ["t: npt.DTypeLike", "u: Any", "k: np.dtype[Any]"]
    first = len(lines) + 1
    lines += [f"v{i}: npt.NDArray[np.int8] = atoll.{call}" for i, call in enumerate(wrong + right)]
    lines += ["f: npt.NDArray[np.float64] = atoll.zeros(4, float)"]
    lines += ["c: npt.NDArray[np.complex128] = atoll.empty(4, complex)"]
    program = tmp_path / "variables.py"
    program.write_text("\n".join(lines) + "\n")
    said = check(program, tmp_path).stdout
    found = [
        int(line.split(":")[1]) for line in said.splitlines() if "variables.py" in line and ": error:" in line
    ]
    assert found == list(range(first, first + len(wrong))), said


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
