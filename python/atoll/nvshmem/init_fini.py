"""Joining and leaving the job, identifiers and versions."""

from __future__ import annotations

import contextlib
import ctypes
import enum
import importlib
import os
import re
import sys
from typing import Any

import numpy as np

from .. import _allocation, _atoll, _job
from .._include import lacks_bitcode, nvshmem_home
from . import _internal_tracking, _modules
from ._state import STATE, NvshmemError, NvshmemInvalid, require, translated
from .memory import forget
from .nvshmem_types import Version
from .teams import make_predefined

__all__ = [
    "DeviceLibLanguage",
    "UniqueID",
    "finalize",
    "find_device_bitcode_library",
    "get_name",
    "get_unique_id",
    "get_version",
    "init",
    "library_finalize",
    "library_init",
    "module_finalize",
    "module_init",
]

VERSION = "0.4.1"
"""The version of NVSHMEM4Py that these modules follow."""


class DeviceLibLanguage(enum.Enum):
    """Forms of NVSHMEM's library for kernels."""

    LLVM_BITCODE = "bc"
    LTOIR = "ltoir"
    STATIC = "a"


class UniqueID:
    """An identifier of a job, of 128 bytes in `_data`, which programs send to all PEs."""

    _TYPE = np.dtype([("version", np.int32), ("internal", np.int8, (124,))])

    def __init__(self) -> None:
        self._data: Any = np.zeros(1, self._TYPE).view(np.recarray)

    @property
    def ptr(self) -> int:
        """The address of the bytes."""
        return int(self._data.ctypes.data)

    @property
    def version(self) -> int:
        """The form of the identifier, always 1."""
        return 1

    def _bytes(self) -> Any:
        return self._data.view(np.ndarray).view(np.uint8)

    def _set(self, text: str) -> None:
        data = text.encode()
        self._bytes()[: len(data)] = np.frombuffer(data, np.uint8)

    def _get(self) -> bytes:
        return bytes(self._bytes()).rstrip(b"\0")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UniqueID) and self._get() == other._get()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"UniqueID({self._get().decode(errors='replace')!r})"


def get_name() -> str:
    """Return the library's name. Local; works before init()."""
    return "NVSHMEM v3.8.0 on Atoll"


def get_version() -> Version:
    """Return the versions of OpenSHMEM, NVSHMEM4Py and NVSHMEM that this follows. Local; works before init()."""
    return Version(openshmem_spec_version="1.3", nvshmem4py_version=VERSION, libnvshmem_version="3.8.0")


@translated
def get_unique_id(empty: bool = False) -> UniqueID:
    """Return an identifier for init() with initializer_method="uid". Local; works before init().

    One PE calls it. `empty=True` gives the others an object into which the bytes of `_data` are received.
    """
    made = UniqueID()
    if not empty:
        made._set(_atoll.get_unique_id())
    return made


def _communicator(method: str, given: Any) -> Any:
    """Return the communicator by which the PEs meet, or None for the launcher's job.

    `atoll run` starts no MPI, so that each of its PEs is alone in COMM_WORLD; they meet by the launcher.
    """
    comm = given
    if comm is None:
        try:
            comm = importlib.import_module("mpi4py.MPI").COMM_WORLD
        except ImportError:
            return None
    if type(comm).__module__ == "atoll.compat._mpi4py":
        if comm is not importlib.import_module("atoll.compat._mpi4py").COMM_WORLD:
            raise NvshmemInvalid("nvshmem.core.init: mpi_comm is a part of the job; pass MPI.COMM_WORLD.")
        return None  # it is the launcher's job itself
    if not hasattr(comm, "Get_rank") or not hasattr(comm, "bcast"):
        raise NvshmemInvalid(
            f"nvshmem.core.init: mpi_comm is a {type(comm).__name__}; pass a communicator of mpi4py."
        )
    return None if comm.Get_size() == 1 and _atoll._launched() else comm


class _SymbolInfo(ctypes.Structure):
    """The answer of dladdr about an address."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("at", ctypes.c_void_p),
    )


def _refuse_real_library() -> None:
    """Raise NvshmemError if NVSHMEM's own library is loaded for all to see, as by LD_PRELOAD."""
    process = ctypes.CDLL(None)
    try:
        function = process.nvshmem_n_pes
    except AttributeError:
        return
    symbol = _SymbolInfo()
    process.dladdr.argtypes = [ctypes.c_void_p, ctypes.POINTER(_SymbolInfo)]
    process.dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(symbol))
    file = (symbol.file or b"a file without a name").decode()
    with contextlib.suppress(OSError):  # a program's own file cannot be loaded
        if symbol.file and hasattr(ctypes.CDLL(file), "atoll_nvshmem_init_attr"):  # Atoll's own
            return
    raise NvshmemError(
        f"nvshmem.core.init: another library with NVSHMEM's names is loaded in this process: {file}. Start the program "
        "without it: LD_PRELOAD or ctypes.CDLL names it, or a module that the program imports."
    )


def _is_that_job(rank: int, nranks: int) -> bool:
    """Return whether atoll.compat's substitute for mpi4py, which sent the identifier, has joined the same job."""
    if "atoll.compat._mpi4py" not in sys.modules or not _atoll.is_initialized():
        return False
    return (rank, nranks) == (_atoll.my_pe(), _atoll.n_pes())


def _join(uid: Any, rank: Any, nranks: Any, mpi_comm: Any, method: str) -> None:
    if method in ("mpi", "emulated_mpi"):
        _job.init(comm=_communicator(method, mpi_comm))
    elif method == "uid":
        if uid is None or rank is None or nranks is None or mpi_comm is not None:
            raise NvshmemInvalid(
                'nvshmem.core.init: initializer_method="uid" takes uid, rank and nranks, and no mpi_comm.'
            )
        if _is_that_job(rank, nranks):
            _job.init()
        else:
            _job.init(uid._get() if isinstance(uid, UniqueID) else uid, rank, nranks)
    elif method == "":
        _job.init()
    else:
        raise _wrong(method)


def _wrong(method: str) -> NvshmemInvalid:
    return NvshmemInvalid(
        f'nvshmem.core.init: initializer_method is {method!r}; pass "mpi", "emulated_mpi" or "uid", or nothing for '
        "the job that the launcher started."
    )


def _is_substitute(device: Any) -> bool:
    """Return whether a device is of atoll.compat's substitute for cuda.core, whose numbers mean nothing."""
    return type(device).__module__ == "atoll.compat._cuda_core"


def _wants_host_memory() -> bool:
    return os.environ.get("NVSHMEM_HEAP_KIND", "").upper() == "SYSMEM"


def _find_memory(number: int | None) -> bool:
    """Return whether symmetric memory is on a GPU: this PE has one, and NVSHMEM_HEAP_KIND is not SYSMEM."""
    if _wants_host_memory():
        return False
    try:
        first: Any = _allocation.empty(1, np.uint8, device="cuda")
    except _atoll.Unsupported as error:
        if number is None:
            return False
        raise NvshmemError(f"nvshmem.core.init: device is GPU {number}, but: {error}") from error
    if number is not None and first.device != number:
        raise NvshmemInvalid(
            f"nvshmem.core.init: device is GPU {number}, but this PE's symmetric memory is on GPU {first.device}, by "
            "ATOLL_DEVICE or an earlier atoll.init(); pass that device."
        )
    STATE.gpu = int(first.device)
    return True


def _join_again(number: int | None, rank: int | None, nranks: int | None, method: str) -> None:
    """Count a further call of init(), for the same job and device."""
    if method not in ("", "mpi", "emulated_mpi", "uid"):
        raise _wrong(method)
    if number is not None and number != (STATE.gpu if STATE.on_gpu else None) and not _wants_host_memory():
        where = f"on GPU {STATE.gpu}" if STATE.on_gpu else "memory of the host"
        raise NvshmemInvalid(
            f"nvshmem.core.init: device is GPU {number}, but since the first call symmetric memory is {where}. Pass the "
            "device of the first call, or call finalize() first."
        )
    mine = (_atoll.my_pe(), _atoll.n_pes())
    given = (mine[0] if rank is None else rank, mine[1] if nranks is None else nranks)
    if given != mine:
        raise NvshmemInvalid(
            f"nvshmem.core.init: rank {given[0]} of {given[1]} was passed, but the first call made this process PE "
            f"{mine[0]} of {mine[1]}. Pass the same, or call finalize() first."
        )
    STATE.inits += 1


@translated
def init(
    device: Any = None,
    uid: Any = None,
    rank: int | None = None,
    nranks: int | None = None,
    mpi_comm: Any = None,
    initializer_method: str = "",
) -> None:
    """Join the job. Collective: every PE calls it before anything else.

    Parameters
    ----------
    device
        A cuda.core.Device: this PE's GPU. None: the GPU of the PE's number on its host, or memory of the host if there
        is none.
    uid, rank, nranks
        With "uid": what get_unique_id() returned on one PE, this PE's number, and the number of PEs.
    mpi_comm
        With "mpi" and "emulated_mpi": a communicator of mpi4py; None is COMM_WORLD.
    initializer_method
        "uid", "mpi" or "emulated_mpi". "": the job that the launcher started. The two by MPI also take the launcher's
        job if `atoll run` started this process, or mpi4py is missing.

    Raises
    ------
    NvshmemInvalid
        A wrong argument, or a second call for another job or device.
    NvshmemError
        The job could not be joined, or the device has no part in it.

    Notes
    -----
    NVSHMEM_HEAP_KIND=SYSMEM puts symmetric memory on the host although there is a GPU. A second call is counted, and
    changes nothing else.
    """
    number = None if _is_substitute(device) else getattr(device, "device_id", None)
    if STATE.joined:
        _join_again(number, rank, nranks, initializer_method)
        return
    _refuse_real_library()
    if number is not None and not _atoll.is_initialized():
        os.environ.setdefault("ATOLL_DEVICE", str(number))
    _join(uid, rank, nranks, mpi_comm, initializer_method)
    try:
        STATE.on_gpu = _find_memory(number)
    except BaseException:
        _job.finalize()
        raise
    STATE.joined, STATE.inits = True, 1
    _internal_tracking.joined(device)
    make_predefined()


@translated
def finalize() -> None:
    """Leave the job, and free all its memory. Collective over all PEs.

    After several calls of init() as many of this are needed; the last one does the work.

    Raises
    ------
    NvshmemInvalid
        There is no job.
    """
    require()
    STATE.inits -= 1
    if STATE.inits > 0:
        return
    forget()
    STATE.joined, STATE.ended = False, True
    _internal_tracking.left()
    _job.finalize()
    STATE.changed()


def module_init(mod: Any) -> None:
    """Give a CUmodule's kernels the job's teams, if they call NVSHMEM's functions. Others need no initialisation.

    Parameters
    ----------
    mod
        An NvshmemKernelObject.

    Raises
    ------
    NvshmemInvalid
        Another argument, or a call outside init() and finalize().
    NvshmemError
        The module is linked with NVSHMEM's own library for kernels, or symmetric memory is on the host.
    """
    _modules.initialize("module_init", mod)


def module_finalize(mod: Any) -> None:
    """Forget a CUmodule, before it is unloaded. Raises NvshmemInvalid for what is not an NvshmemKernelObject."""
    _modules.finalize("module_finalize", mod)


def library_init(lib: Any) -> None:
    """Give a CUlibrary's kernels the job's teams, as module_init.

    Parameters
    ----------
    lib
        An NvshmemKernelObject.

    Raises
    ------
    NvshmemInvalid, NvshmemError
        As of module_init.
    """
    _modules.initialize("library_init", lib)


def library_finalize(lib: Any) -> None:
    """Forget a CUlibrary, before it is unloaded. Raises NvshmemInvalid for what is not an NvshmemKernelObject."""
    _modules.finalize("library_finalize", lib)


OLDEST_GPU = 70
"""The oldest architecture that kernels with NVSHMEM's functions run on."""


def find_device_bitcode_library(
    *, language: DeviceLibLanguage = DeviceLibLanguage.LLVM_BITCODE, arch: int | str | None = None
) -> str:
    """Return the path of the library of NVSHMEM's functions for kernels. Local; works before init().

    Parameters
    ----------
    language
        LLVM_BITCODE is for Triton's `extern_libs` and other compilers that link bitcode. STATIC is an almost empty
        archive: `nvshmem.h` has the functions.
    arch
        A GPU's architecture, such as 90 or "sm_90". One file serves all.

    Raises
    ------
    NvshmemInvalid
        There is no such file: this Atoll was built without it, `language` is LTOIR, or the architecture is below sm_70.
    """
    number = OLDEST_GPU if arch is None else int(re.sub(r"\D", "", str(arch)) or 0)
    if number < OLDEST_GPU:
        raise NvshmemInvalid(
            f"nvshmem.core.find_device_bitcode_library: arch is {arch!r}; pass {OLDEST_GPU} or more, such as 90 or 'sm_90'."
        )
    if language is DeviceLibLanguage.LTOIR:
        raise NvshmemInvalid(
            "nvshmem.core.find_device_bitcode_library: Atoll has no LTO-IR; pass DeviceLibLanguage.LLVM_BITCODE, or in "
            "Numba use nvshmem.core.device.numba."
        )
    name = f"libnvshmem_device.{language.value}"
    path = nvshmem_home() / "lib" / name
    if not path.exists():
        raise NvshmemInvalid(f"nvshmem.core.find_device_bitcode_library: {lacks_bitcode(path)}")
    return str(path)
