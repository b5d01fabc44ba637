"""Runs programs of other libraries on Atoll without a change of source.

`install("shmem4py")` makes `import shmem4py` find Atoll's names instead of that package, which need not be installed.
The same by a command, `python -m atoll.compat shmem4py program.py`, and by the variable ATOLL_COMPAT=shmem4py, which
`atoll run` and `import atoll` read. Nothing is installed: without one of the three, every import finds what it found
before.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from ._packages import PACKAGES, Package

__all__ = ["install", "installed"]


def install(*names: str) -> None:
    """Let `import NAME` find Atoll's form of these packages, in this process.

    The call is local. The first import of such a package prints one line to stderr, in PE 0 only.

    Parameters
    ----------
    names
        Names of packages: "shmem4py".

    Raises
    ------
    ValueError
        If Atoll has no form of a package.
    RuntimeError
        If the package itself is already imported.

    Examples
    --------
    >>> import atoll.compat
    >>> atoll.compat.install("shmem4py")
    >>> atoll.compat.installed()
    ('shmem4py',)
    """
    for name in names:
        if name not in PACKAGES:
            raise ValueError(f"atoll.compat has no package {name!r}; it has: {', '.join(sorted(PACKAGES))}.")
        there = sys.modules.get(name)
        if there is not None and not isinstance(getattr(there.__spec__, "loader", None), _Loader):
            place = getattr(there, "__file__", None) or "this process"
            raise RuntimeError(
                f"{name} itself is already imported, from {place}; call atoll.compat.install({name!r}) before the "
                f"program imports it, or set ATOLL_COMPAT={name}."
            )
    _FINDER.names.update(dict.fromkeys(names))
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def installed() -> tuple[str, ...]:
    """Return the names of the packages that are installed in this process."""
    return tuple(_FINDER.names)


def names_in(text: str) -> list[str]:
    """Return the names of a list that commas separate."""
    return [name.strip() for name in text.split(",") if name.strip()]


def install_from_environment() -> None:
    """Install the packages of ATOLL_COMPAT, names separated by commas.

    Raises
    ------
    ValueError
        If Atoll has no form of one of them.
    """
    try:
        install(*names_in(os.environ.get("ATOLL_COMPAT", "")))
    except ValueError as error:
        raise ValueError(f"ATOLL_COMPAT={os.environ['ATOLL_COMPAT']}: {error}") from None


class _Loader(importlib.abc.Loader):
    """Makes one module of a package: an empty one with some names, or a module of Atoll under the package's name."""

    def __init__(self, package: Package, target: str | None) -> None:
        self.package, self.target = package, target

    def exec_module(self, module: ModuleType) -> None:
        if self.target is not None:
            # The import system takes what sys.modules holds afterwards; Atoll's own module keeps its __spec__.
            sys.modules[module.__name__] = importlib.import_module(self.target)
            return
        _announce(self.package)
        for name, value in self.package.values.items():
            owner, _, attribute = value.partition(":")
            setattr(module, name, getattr(importlib.import_module(owner), attribute) if attribute else value)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the installed packages and their modules."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        name = fullname.partition(".")[0]
        if name not in self.names:
            return None
        package = PACKAGES[name]
        if reason := package.refused.get(fullname):
            raise ImportError(f"{fullname} does not exist in Atoll's form of {name}: {reason}", name=fullname)
        if fullname == name:
            return importlib.machinery.ModuleSpec(fullname, _Loader(package, None), is_package=True)
        if fullname not in package.modules:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(package, package.modules[fullname]))


_FINDER = _Finder()


def _announce(package: Package) -> None:
    """Print which package the program gets. Only PE 0 of a job that `atoll run` started prints it."""
    if os.environ.get("ATOLL_LAUNCHED", ":0").split(":")[1:2] == ["0"]:
        print(f"atoll: import {package.name} finds {package.form}.", file=sys.stderr, flush=True)
