"""The oldest supported versions of other libraries: their table, the error for an older one, and checks that
import nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from atoll import _versions
from jobs import PROGRAMS, ROOT, Job, python
from simulated import needs_plugin


def test_the_extras_of_the_package_agree_with_the_table() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    for library, row in _versions.LIBRARIES.items():
        extra = re.search(rf"^{library} = \[(.*)\]", project, re.MULTILINE)
        assert extra is not None, library
        wanted = row.package if row.only else f"{row.package}>={row.oldest}"
        assert f'"{wanted}"' in extra[1], (library, extra[1])


@pytest.mark.parametrize(
    ("version", "parts"),
    [("2.11.0+cu130", (2, 11)), ("14.0.0rc1", (14, 0)), ("0.6", (0, 6)), ("unknown", ())],
)
def test_a_version_is_its_first_two_numbers(version: str, parts: tuple[int, ...]) -> None:
    assert _versions.numbers(version) == parts


def test_an_old_pytorch_is_named_when_atolls_part_for_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("__version__ = '2.1.2+cu118'\nclass Tensor: pass\n")
    done = python("import atoll; atoll.init(); import atoll.torch", PYTHONPATH=str(tmp_path))
    words = "atoll.torch needs PyTorch 2.7 or later, and found 2.1.2+cu118: pip install -U torch"
    assert done.returncode != 0 and words in done.stderr, done.stderr


@needs_plugin
def test_an_old_cupy_is_named_where_its_arrays_are_made_and_where_they_are_passed(
    job: Job, package: str
) -> None:
    done = job(
        f"""
        sys.path.insert(0, {str(PROGRAMS)!r})
        from stand_in_cupy import Kernel, cupy
        cupy.__version__ = "13.5.1"
        import atoll.cupy
        from checks import raises
        words = "needs CuPy 13.6 or later, and found 13.5.1: pip install -U cupy-cuda13x"
        atoll.init()
        x = atoll.zeros(4, device="cuda")
        foreign = cupy.ndarray((4,), "f8", cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(x.ptr, 32, x, 0), 0), (8,))
        for call in (lambda: x.cupy(), lambda: atoll.put(foreign, x, 0), lambda: atoll.put(foreign, x, 0, stream="current")):
            raises(atoll.Unsupported, call, words)
        raises(ImportError, lambda: atoll.cupy.launch(Kernel(), 1, 1, atoll.WORLD), words)
        cupy.__version__ = "13.6.0"
        assert x.cupy().data.ptr == x.ptr
        atoll.put(foreign, x, 0, stream=0)
        print("done")
        """,
        1,
        PYTHONPATH=package,
    )
    assert "done" in done.stdout
