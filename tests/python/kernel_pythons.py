"""The Python that has a language of kernels: this one, or that of an environment of scripts/setup.sh. And programs whose
kernels are kept.
"""

from __future__ import annotations

import importlib.util
import re
import sys

import numpy as np
import pytest
from jobs import ROOT


def with_triton(is_interpreted: bool) -> str:
    """Return the Python that has Triton: this one, or that of build/triton."""
    there = ROOT / "build/triton/bin/python"
    is_old_enough = np.lib.NumpyVersion(np.__version__) < "2.4.0"
    if importlib.util.find_spec("triton") is not None and (is_old_enough or not is_interpreted):
        return sys.executable
    if not (ROOT / "build/triton/packages").exists():
        pytest.skip("Triton with a NumPy before 2.4 is not installed (scripts/setup.sh triton)")
    return str(there)


def with_kept_kernels(program: str) -> str:
    """Return a program whose kernels in Numba are kept: one PE compiles each, and the others load it."""
    text, kernels = re.subn(r"^( *@dev\.kernel)\b(?!\()", r"\1(cache=True)", program, flags=re.M)
    assert kernels > 0, "no line is @dev.kernel"
    return text
