"""Rows of the module's function tables: entry<N> must parse as many arguments as the signature text has."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from jobs import ROOT

nanobind = pytest.importorskip("nanobind")

ROW = """
#include "calls/call.hpp"
namespace atl::python {{
Spec spec;
PyObject* body(const Arguments<{n}>&) {{ return nullptr; }}
const Function functions[] = {{{{"f", entry<{n}, spec, body>, "{signature}", ""}}}};
}}
"""


def compiled(n: int, signature: str) -> subprocess.CompletedProcess[str]:
    folders = [ROOT / "python/src", ROOT / "include", ROOT / "src", Path(nanobind.include_dir())]
    folders += [Path(sysconfig.get_paths()["include"]), Path(np.get_include())]
    flags = ["-std=c++20", "-fsyntax-only", *(f"-isystem{folder}" for folder in folders)]
    command = [os.environ.get("CXX", "g++"), *flags, "-x", "c++", "-"]
    text = ROW.format(n=n, signature=signature)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.mark.skipif(
    not (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file(),
    reason=f"{sys.executable} has no development headers",
)
def test_an_entry_for_another_number_of_arguments_does_not_compile() -> None:
    signature = "(dst: Array, kind: Literal['a', 'b'], pe: int, *, ctx: Context | None = None) -> None"
    right = compiled(4, signature)
    assert right.returncode == 0, right.stderr
    for wrong in (3, 5):
        refused = compiled(wrong, signature)
        assert refused.returncode != 0
        assert "the_signature_has_another_number_of_parameters" in refused.stderr
