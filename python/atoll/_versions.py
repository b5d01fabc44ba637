"""The optional libraries that Atoll works with: their oldest versions, and the commands that install them.

A library is checked when Atoll first uses it, not when atoll is imported. pyproject.toml's extras have the
same versions (a test compares them).
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import re
import sys
from typing import Any, NamedTuple


class Library(NamedTuple):
    """A row of the table."""

    name: str  # human-readable, such as PyTorch
    module: str
    oldest: str
    package: str  # for pip
    metadata: bool = False  # True: read the version of the distribution; False: that of the module
    only: bool = False  # newer versions are unsupported too, since inner modules are used

    @property
    def known(self) -> str:
        return self.oldest if self.only else f"{self.oldest} or later"


LIBRARIES = {
    "cupy": Library("CuPy", "cupy", "13.6", "cupy-cuda13x"),
    "torch": Library("PyTorch", "torch", "2.7", "torch"),
    "numba": Library("Numba", "numba", "0.61", "numba"),
    "numba-cuda": Library("numba-cuda", "numba_cuda", "0.30", "numba-cuda[cu13]", metadata=True),
    "numba-cuda-mlir": Library(
        "numba-cuda-mlir",
        "numba_cuda_mlir.cuda",
        "0.6",
        "numba-cuda-mlir[cu13]==0.6.*",
        metadata=True,
        only=True,
    ),
    "triton": Library("Triton", "triton", "3.6", "triton"),
    "cute": Library("NVIDIA's CuTe DSL", "cutlass.cute", "4.8", "nvidia-cutlass-dsl[cu13]", metadata=True),
    "cuda-core": Library("cuda.core", "cuda.core", "0.5", "cuda-core", metadata=True),
}


def pip_line(library: str, *, newer: bool = False) -> str:
    """Return the command that installs it, or a newer one."""
    package = LIBRARIES[library].package
    quoted = f"'{package}'" if "[" in package or "=" in package else package
    return f"pip install {'-U ' if newer else ''}{quoted}"


def numbers(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version: "2.11.0+cu130" gives (2, 11)."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def found_version(library: str) -> str | None:
    """Return the version that is installed, or None if it is unknown, as for a source tree."""
    row = LIBRARIES[library]
    module = sys.modules.get(row.module)
    version = None if row.metadata else getattr(module, "__version__", None)
    if isinstance(version, str):
        return version
    try:
        return importlib.metadata.version(row.package.partition("[")[0])
    except importlib.metadata.PackageNotFoundError:
        return None


def missing(who: str, library: str, error: BaseException | None = None) -> str:
    """Return the error text for a library that is missing. `who` needs it."""
    row = LIBRARIES[library]
    why = f" ({error})" if error is not None else ""
    return f"{who} needs {row.name} {row.known}; install it: {pip_line(library)}{why}"


def unknown(who: str, library: str) -> str | None:
    """Return the error text for a library that is older (or newer) than Atoll supports; None if it is right
    or unknown.
    """
    row, found = LIBRARIES[library], found_version(library)
    if found is None or not numbers(found):
        return None
    if numbers(found) == numbers(row.oldest) or (numbers(found) > numbers(row.oldest) and not row.only):
        return None
    return f"{who} needs {row.name} {row.known}, and found {found}: {pip_line(library, newer=True)}"


@functools.cache
def need(who: str, library: str, raised: type[Exception] = ImportError) -> Any:
    """Return the library's module. Raises `raised`, with the command that installs it, if it is missing or
    too old.
    """
    row = LIBRARIES[library]
    # Before the import, if possible: another version may not even have the module.
    if row.metadata and (words := unknown(who, library)) is not None:
        raise raised(words)
    try:
        module = importlib.import_module(row.module)
    except ImportError as error:
        raise raised(missing(who, library, error)) from error
    if not row.metadata and (words := unknown(who, library)) is not None:
        raise raised(words)
    return module
