"""Runs programs of other libraries on Atoll without a change of source.

`install("shmem4py")` makes `import shmem4py` find Atoll's names instead of that package, which need not be installed.
`install("nvshmem")` does so for NVSHMEM4Py's `import nvshmem.core`, `install("nccl")` for NCCL4Py's `import
nccl.core`, and `install("nbshmem")` for nbshmem. The same by a command, `python -m atoll.compat shmem4py program.py`, and by the variable
ATOLL_COMPAT=shmem4py, which `atoll run` and `import atoll` read. Nothing is installed: without one of the three, every
import finds what it found before.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from ._packages import ABSENT, PACKAGES, Package

__all__ = ["install", "installed"]


def install(*names: str) -> None:
    """Let `import NAME` find Atoll's form of these packages, in this process.

    The call is local. The first import of such a package prints one line to stderr, in PE 0 only.

    Parameters
    ----------
    names
        Names of packages: "shmem4py", "nvshmem", "nccl", "nbshmem".

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
        if name in ABSENT:
            raise ValueError(ABSENT[name])
        if name not in PACKAGES:
            raise ValueError(f"atoll.compat has no package {name!r}; it has: {', '.join(sorted(PACKAGES))}.")
        there = sys.modules.get(name)
        if there is not None and not isinstance(getattr(there.__spec__, "loader", None), _Loader):
            source = getattr(there, "__file__", None) or "this process"
            raise RuntimeError(
                f"{name} itself is already imported, from {source}; call atoll.compat.install({name!r}) before the "
                f"program imports it, or start the program by python -m atoll.compat {name} program.py."
            )
    _FINDER.names.update(dict.fromkeys(names))
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def installed() -> tuple[str, ...]:
    """Return the names of the packages for which `install` was called in this process.

    Returns
    -------
    tuple of str
        In the order of their calls.
    """
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
    SystemExit
        The same in `python -m atoll.compat`, whose traceback would have no line of the program.
    """
    try:
        install(*names_in(os.environ.get("ATOLL_COMPAT", "")))
    except ValueError as error:
        text = f"ATOLL_COMPAT={os.environ['ATOLL_COMPAT']}: {error}"
        if sys.argv[:1] == ["-m"]:  # runpy still looks for the module
            raise SystemExit(text) from None
        raise ValueError(text) from None


class _Loader(importlib.abc.Loader):
    """Makes one module of a package: an empty one with some names, or a module of Atoll under the package's name."""

    def __init__(self, package: Package, target: str | None) -> None:
        self.package, self.target = package, target

    def exec_module(self, module: ModuleType) -> None:
        if self.target is not None:
            # The import system takes what sys.modules holds afterwards; Atoll's own module keeps its __spec__.
            own = importlib.import_module(self.target)
            sys.modules[module.__name__] = getattr(own, "in_place_of", lambda _: own)(module.__name__)
            # Modules that this one has imported are there under both names. The import of one by its other name would
            # set it as an attribute, in the place of a function that has the module's name.
            for name, target in self.package.modules.items():
                if name.startswith(f"{module.__name__}.") and target in sys.modules:
                    sys.modules.setdefault(name, sys.modules[target])
            return
        _announce(self.package)
        for name, value in self.package.values.items():
            owner, _, attribute = value.partition(":")
            setattr(module, name, getattr(importlib.import_module(owner), attribute) if attribute else value)


class _Options(SimpleNamespace):
    """Options of a package, which a call sets by keywords."""

    def __call__(self, **options: Any) -> None:
        vars(self).update(options)


class _Empty(importlib.abc.Loader):
    """Makes a package whose modules are substitutes. Programs set options of `mpi4py.rc` before they import MPI."""

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == "mpi4py":
            vars(module)["rc"] = _Options(
                initialize=True, finalize=None, threads=True, thread_level="multiple"
            )


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the installed packages and their modules."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        name = fullname.partition(".")[0]
        if name not in self.names:
            return self._substitute(fullname)
        package = PACKAGES[name]
        if reason := package.refused.get(fullname):
            raise ImportError(f"{fullname} does not exist in Atoll's form of {name}: {reason}", name=fullname)
        if fullname == name:
            return importlib.machinery.ModuleSpec(fullname, _Loader(package, None), is_package=True)
        if fullname not in package.modules:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(package, package.modules[fullname]))

    def _substitute(self, fullname: str) -> importlib.machinery.ModuleSpec | None:
        """Find a module in another package's place: for all programs, without NVIDIA's driver or below `atoll run`."""
        for package in (PACKAGES[name] for name in self.names):
            if fullname in package.always:
                module = package.always[fullname]
            elif fullname in package.substitutes and not _has_driver():
                module = package.substitutes[fullname]
            elif fullname in package.launched and _is_launched():
                module = package.launched[fullname]
            else:
                continue
            if module == ":nvshmem":
                from .._include import nvshmem_home

                spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
                spec.submodule_search_locations = [str(nvshmem_home())]
                return spec
            if module:
                # A package, so that its own modules are looked for, and named in errors.
                return importlib.machinery.ModuleSpec(fullname, _Loader(package, module), is_package=True)
            if importlib.machinery.PathFinder.find_spec(fullname) is None:
                return importlib.machinery.ModuleSpec(fullname, _Empty(), is_package=True)
        return None


_FINDER = _Finder()


@functools.cache
def _has_driver() -> bool:
    """Return whether NVIDIA's driver can be loaded."""
    import ctypes

    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def _is_launched() -> bool:
    """Return whether `atoll run` started this process. Its variable is used up when the process joins the job."""
    from .. import _atoll, _job

    return _atoll._launched() or _job._launched != ""


# Variables of other launchers with the number of a process: mpirun, mpiexec, srun and torchrun.
_NUMBERS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "RANK")


def _number() -> str:
    """Return the number of this process in its job; "0" for one that no launcher started."""
    from .. import _atoll, _job

    if _atoll.is_initialized():  # the variable of `atoll run` is used up then
        return str(_atoll.my_pe())
    if invitation := _job._invitation():
        return invitation[0]
    return next((os.environ[name] for name in _NUMBERS if name in os.environ), "0")


def _announce(package: Package) -> None:
    """Print which package the program gets. Only PE 0 of a job prints it, whichever launcher started the job."""
    if _number() == "0":
        print(f"atoll: import {package.name} finds {package.form}.", file=sys.stderr, flush=True)
