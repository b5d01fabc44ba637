"""Finds the C++ module for the installed PyTorch, or compiles it once for each version, into a cache of the user.

PyTorch's C++ classes have no stable ABI, so a module fits one version only. A wheel brings the modules for the newest
one (packaging/torch_modules.py). The cache has a folder for each combination of PyTorch, Python, processor, source and
the variable CXX. It belongs to the user, who alone may write it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.machinery
import importlib.util
import os
import platform
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

NAME = "_atoll_c10d"
SOURCES = (
    "gpu.cpp", "backend.cpp", "symmetric.cpp", "gpu_symmetric.cpp", "symmetric_operators.cpp", "process_memory.cpp",
    "window.cpp", "subgroups.cpp", "completions.cpp", "turns.cpp", "module.cpp",
)  # fmt: skip
HEADERS = (
    "work.hpp", "completions.hpp", "turns.hpp", "gpu.hpp", "buffers.hpp", "backend.hpp", "store.hpp", "symmetric.hpp", "gpu_symmetric.hpp",
    "process_memory.hpp", "window.hpp",
)  # fmt: skip
OLDEST, NEWEST = (2, 11), (2, 15)
WAIT_SECONDS = 600
FOLDER = Path(__file__).resolve().parent
PREBUILT = FOLDER / "prebuilt"  # only in wheels


def load() -> Any:
    """Return the module: from the wheel, from the cache, or compiled now.

    Raises
    ------
    ImportError
        PyTorch is of another version than supported, or there is no compiler, or compiling failed.
    """
    import torch

    version = _check_version(torch.__version__)
    abi = sysconfig.get_config_var("SOABI") or f"cpython-{platform.machine()}"
    broken = ""
    shipped = PREBUILT / folder_name(version, abi) / file_name(abi)
    if shipped.is_file():
        try:
            return _loaded(shipped)
        except ImportError as error:  # such as one for a newer C++ runtime than this system's
            broken = f"atoll: {shipped} cannot be loaded, so it is compiled here: {error}"
    folder = _cache() / folder_name(version, abi, os.environ.get("CXX", ""))
    file = folder / file_name(abi)
    if not file.is_file():
        folder.mkdir(mode=0o700, exist_ok=True)
        with _builder(folder / "lock", version):
            if not file.is_file():
                if broken:
                    print(broken, file=sys.stderr)
                _compile(Path(torch.__file__).parent, file, version)
    return _loaded(file)


def file_name(abi: str) -> str:
    """Return the name of a module's file for a Python's ABI, such as "cpython-311-x86_64-linux-gnu"."""
    return f"{NAME}.{abi}.so"


def _loaded(file: Path) -> Any:
    loader = importlib.machinery.ExtensionFileLoader(NAME, str(file))
    spec = importlib.util.spec_from_file_location(NAME, file, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _check_version(version: str) -> str:
    """Return PyTorch's version if it is supported; raise ImportError if not."""
    numbers = tuple(int(part) for part in version.split("+")[0].split(".")[:2])
    if OLDEST <= numbers <= NEWEST:
        return version
    oldest, newest = (".".join(map(str, pair)) for pair in (OLDEST, NEWEST))
    raise ImportError(
        f"The backend atoll supports PyTorch {oldest} to {newest}; this is {version}. "
        f"Install one of these, or another release of Atoll."
    )


def _include() -> Path:
    """Return the folder of Atoll's headers."""
    from .. import include_dir

    return Path(include_dir())


def _compiler() -> str:
    """Return the C++ compiler: the variable CXX, or the first of the usual names."""
    wanted = os.environ.get("CXX")
    for name in [wanted] if wanted else ["g++", "c++", "clang++"]:
        if name and (found := shutil.which(name)):
            return found
    reason = f"CXX is {wanted}, which is not there" if wanted else "there is no g++, c++ or clang++"
    raise ImportError(
        "The backend atoll needs a C++ compiler to compile its module for this PyTorch once, and "
        f"{reason}. Install one (on Debian: apt-get install g++), or use the backend gloo. You can also copy the folder "
        f"{_cache_folder()} from a machine with the same PyTorch, Python and Atoll."
    )


def folder_name(version: str, abi: str, compiler: str = "") -> str:
    """Return the name of a module's folder, for a PyTorch, a Python's ABI, the source, and the variable CXX if set."""
    digest = hashlib.sha256()
    for name in (*SOURCES, *HEADERS, "_build.py"):
        digest.update((FOLDER / name).read_bytes())
    for name in ("groups.h", "symmetric.h"):
        digest.update((_include() / "atoll" / name).read_bytes())
    digest.update(compiler.encode())
    return f"torch-{version}-{abi}-{digest.hexdigest()[:16]}"


def _cache_folder() -> Path:
    """Return the folder of the cache, which need not exist."""
    if folder := os.environ.get("ATOLL_TORCH_CACHE"):
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (may lack a home)
    return Path(base) / "atoll" / "torch"


def _cache() -> Path:
    """Return the cache, made if need be; a folder of /tmp for this user if the home cannot be written."""
    wanted = _cache_folder()
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(wanted, os.W_OK | os.X_OK):
            raise PermissionError(f"{wanted} cannot be written")
    except OSError as error:
        if "ATOLL_TORCH_CACHE" in os.environ:
            raise ImportError(f"ATOLL_TORCH_CACHE is {wanted}, which cannot be used: {error}") from error
        wanted = Path(tempfile.gettempdir()) / f"atoll-torch-{os.getuid()}"
        wanted.mkdir(mode=0o700, exist_ok=True)
    status = wanted.stat()
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ImportError(
            f"The cache {wanted} of the backend atoll belongs to another user, or others may write it. "
            f"Remove it, or name another folder by ATOLL_TORCH_CACHE."
        )
    return wanted


@contextlib.contextmanager
def _builder(lock: Path, version: str) -> Iterator[None]:
    """Wait until no other process compiles, then keep the others waiting."""
    with lock.open("a") as file:
        end = time.monotonic() + WAIT_SECONDS
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() > end:
                raise ImportError(
                    f"Another process has been compiling the backend atoll for PyTorch {version} for "
                    f"{WAIT_SECONDS} s (it holds {lock}). End it, or use the backend gloo."
                )
            time.sleep(0.05)
        yield


def shared_runtime(maps: str) -> list[str]:
    """Return the path of the C++ runtime that a process has loaded, from its map of memory; nothing if none.

    A compiler may have a static runtime only. The module would then have a second one beside PyTorch's, and
    crash when objects of one reach the other.
    """
    for line in maps.splitlines():
        path = line.split(maxsplit=5)[5:]
        if path and Path(path[0]).name.startswith("libstdc++.so"):
            return path
    return []


def command(
    torch_folder: Path,
    source: Path,
    target: Path,
    runtime: list[str],
    headers: str = "",
    compiler: Sequence[str] = (),
) -> list[str]:
    """Return the compiler's command line, which links the C++ `runtime` of this process.

    `headers` is the folder of Python's headers, and `compiler` the beginning of the line; by default those of this
    process.
    """
    include = torch_folder / "include"
    library = torch_folder / "lib"
    return [
        *(compiler or [_compiler()]),
        *("-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", f"-DTORCH_EXTENSION_NAME={NAME}"),
        f"-I{FOLDER}",
        f"-I{_include()}",
        *("-isystem", str(include), "-isystem", str(include / "torch" / "csrc" / "api" / "include")),
        *("-isystem", headers or sysconfig.get_paths()["include"]),
        str(source),
        *("-o", str(target), f"-L{library}", "-ltorch", "-ltorch_cpu", "-lc10", "-ltorch_python"),
        *runtime,
    ]


def write_source(file: Path) -> Path:
    """Write one source that has all others, because most of the time is spent on PyTorch's headers. Return it."""
    file.write_text("".join(f'#include "{FOLDER / name}"\n' for name in SOURCES))
    return file


def _compile(torch_folder: Path, file: Path, version: str) -> None:
    """Compile the module, and move it to its place when it is complete."""
    _compiler()  # an error about a missing compiler comes before anything else
    print(f"atoll: compiling the backend for PyTorch {version}, once, into {file.parent}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        source = write_source(Path(folder) / "all.cpp")
        target = Path(folder) / file.name
        run = subprocess.run(
            command(torch_folder, source, target, shared_runtime(Path("/proc/self/maps").read_text())),
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode != 0:
            raise ImportError(
                f"Compiling the backend atoll for PyTorch {version} failed with status {run.returncode}:\n"
                f"{run.stderr[-4000:]}"
            )
        target.replace(file)
