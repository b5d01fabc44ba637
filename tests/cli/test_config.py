"""`atoll config`: its flags compile and link programs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ATOLL = ROOT / ".venv/bin/atoll"  # of an installed tree, as users have it


def atoll(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ATOLL), *arguments], capture_output=True, text=True, check=False, timeout=280,
        env=os.environ | variables,
    )  # fmt: skip


@pytest.fixture
def compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc")
    if found is None:
        pytest.skip("no C compiler")
    return found


def ring(text: str) -> str:
    """Return the program of docs/from-nvshmem.md."""
    found = re.search(r"```c\n(.*?)```", text, re.DOTALL)
    assert found
    return found.group(1)


def test_the_pages_program(compiler: str, tmp_path: Path) -> None:
    source, program = tmp_path / "ring.c", tmp_path / "ring"
    source.write_text(ring((ROOT / "docs/from-nvshmem.md").read_text()))
    flags = atoll("config", "--nvshmem").stdout.split()
    built = subprocess.run(
        [compiler, "-Wall", "-Werror", str(source), *flags, "-o", str(program)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    done = atoll("run", "-n", "3", str(program))
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == [f"PE {pe} of 3 got {(pe + 2) % 3}" for pe in range(3)]
    given = {
        "NVSHMEM_SYMMETRIC_SIZE": "48m",
        "NVSHMEM_INFO": "1",
        "NVSHMEM_HEAP_KIND": "SYSMEM",
        "NVSHMEM_BOOTSTRAP": "PMI",
    }
    done = atoll(
        "run", "-n", "2", str(program), NVSHMEM_IB_ENABLE_IBGDA="1", NVSHMEM_DISABLE_NVLS="1", **given
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"ATOLL_HEAP_SIZE = 48m \(NVSHMEM_SYMMETRIC_SIZE\)", done.stdout + done.stderr)
    warning = "NVSHMEM_DISABLE_NVLS and NVSHMEM_IB_ENABLE_IBGDA have no effect on Atoll"
    assert done.stderr.count("NVSHMEM_IB") == done.stderr.count(warning) == 1
    done = atoll("run", "-n", "2", str(program), NVSHMEM_HEAP_KIND="MANAGED")
    assert done.returncode != 0 and "NVSHMEM_HEAP_KIND=MANAGED cannot be read" in done.stderr


def test_a_call_before_init_is_named(compiler: str, tmp_path: Path) -> None:
    source, program = tmp_path / "early.c", tmp_path / "early"
    source.write_text("#include <nvshmem.h>\nint main(void) { nvshmem_barrier_all(); return 0; }\n")
    flags = atoll("config", "--nvshmem").stdout.split()
    subprocess.run([compiler, str(source), *flags, "-o", str(program)], check=True)
    done = atoll("run", "-n", "1", str(program))
    assert done.returncode != 0
    assert "nvshmem_barrier_all" in done.stderr
    assert "call nvshmem_init first" in done.stderr


def test_a_home_holds_headers_and_library() -> None:
    home = Path(atoll("config", "--nvshmem-home").stdout.strip())
    assert atoll("config", "--nvshmem", "--home").stdout.strip() == str(home)
    assert (home / "include/nvshmem.h").exists()
    for name in (
        "libnvshmem_host.so",
        "libnvshmem_host.so.3",
        "libnvshmem.so",
        "libnvshmem_device.a",
        "cmake/nvshmem/NVSHMEMConfig.cmake",
    ):
        assert (home / "lib" / name).exists()
    assert not (Path(atoll("config", "--cxx", "--home").stdout.strip()) / "include/nvshmem.h").exists()


@pytest.mark.parametrize(
    "arguments",
    [(), ("--nvshmem", "--flags"), ("--nvshmem-home", "--libs"), ("--cxx", "--shmem"), ("--libs",)],
)
def test_mistakes_show_the_usage(arguments: tuple[str, ...]) -> None:
    done = atoll("config", *arguments)
    assert done.returncode == 2
    assert "usage: atoll config" in done.stderr
