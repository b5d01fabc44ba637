"""Kernels in CUDA C++ from CuPy, with Atoll's device headers.

    import atoll, atoll.cupy, cupy

    module = atoll.cupy.RawModule(r'''
    #include <atoll/device/device.hpp>
    extern "C" __global__ void fill(atl::device::Team team, int* x) {
        atl::device::p(team, x, team.my_pe, (team.my_pe + 1) % team.n_pes);
        atl::device::sync(team);
    }''')
    x = atoll.zeros(1, "int32", device="cuda", xp=cupy)
    atoll.cupy.launch(module.get_function("fill"), 1, 1, atoll.WORLD, x)

The names are those of atoll/device/*.hpp. docs/kernels.md is the guide.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _atoll, _kernels, _versions
from ._device import TEAM as TEAM
from ._device import DeviceTeam, freed, is_freed, mailbox_address, mailbox_parts
from ._include import include_dir
from ._kernels import ptx
from ._kernels.arguments import gpu_of
from ._kernels.arguments import mailbox_bytes as mailbox_bytes
from ._kernels.resident import check_grid

if TYPE_CHECKING:
    import cupy

RESIDENT = -1
"""`grid` of launch: the most blocks that run at once."""

MAILBOX = np.dtype([("block", np.uint64), ("room", np.uint64)], align=True)
"""atl::device::Mailbox as NumPy's structure."""


def options(*more: str) -> tuple[str, ...]:
    """Return the compiler's options for code that uses the headers, for NVRTC, cuda.core and nvcc.

    After init, in a job of several hosts, kernels are compiled so that they reach all PEs, which costs
    registers. With ATOLL_CHECK=all they also check that addresses are symmetric. With ATOLL_TRACE, which `atoll run --trace` sets,
    they write their operations to the trace.

    Parameters
    ----------
    *more
        Further options, which follow them.

    Returns
    -------
    tuple of str
    """
    far = _atoll.is_initialized() and _atoll.SHARED.n_pes() < _atoll.WORLD.n_pes()
    kinds = {
        "-DATOLL_DEVICE_FAR=1": far,
        "-DATOLL_DEVICE_CHECK_ADDRESSES=1": ptx.CHECKS_ADDRESSES,
        "-DATOLL_DEVICE_TRACE=1": ptx.TRACES,
    }
    return ("-std=c++17", f"-I{include_dir()}", *(option for option, given in kinds.items() if given), *more)


def team(value: _atoll.Team | DeviceTeam) -> np.ndarray[Any, Any]:
    """Return a team as a kernel's argument of type atl::device::Team, by value.

    Parameters
    ----------
    value
        A team, or the result of its `device()`.

    Returns
    -------
    numpy.ndarray
        Of no axes and dtype `TEAM`, for `kernel(grid, block, args)`.

    Raises
    ------
    TypeError
        If it is another value.
    """
    if isinstance(value, _atoll.Team):
        value = _atoll._cuda_team(value)
    if not isinstance(value, DeviceTeam):
        raise TypeError(
            f"atoll.cupy.team: the argument is {value!r}; pass an atoll.Team, or the result of its device()"
        )
    packed = np.zeros((), TEAM)  # the gaps between the fields are zero
    packed[()] = tuple(value)
    return packed


@functools.lru_cache(64)
def _packed(value: DeviceTeam) -> np.ndarray[Any, Any]:
    """Return a team's bytes for launch. The key is the value, so a team of another job has other bytes."""
    return _bytes(team(value))


def _bytes(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the same memory as one element without fields: CuPy lists the fields of an argument at each
    launch.
    """
    return value.view(np.dtype((np.void, value.itemsize)))


def mailbox(block: Any, room: int | None = None) -> np.ndarray[Any, Any]:
    block, room = mailbox_parts(block, room, "atoll.cupy.mailbox")
    address = mailbox_address("atoll.cupy.mailbox", block, room, mailbox_bytes(1, max(room, 0)))
    return np.array((address, room), MAILBOX)


def RawModule(code: str, *, more: Iterable[str] = (), **keywords: Any) -> cupy.RawModule:
    """Return cupy.RawModule(code=...) that finds Atoll's headers.

    Parameters
    ----------
    code
        CUDA C++.
    more
        Further options of the compiler.
    **keywords
        As for cupy.RawModule, such as name_expressions.

    Returns
    -------
    cupy.RawModule
    """
    return _cupy().RawModule(code=code, options=options(*more), **keywords)


def RawKernel(code: str, name: str, *, more: Iterable[str] = ()) -> Any:
    """Return the kernel `name` of `code`, compiled as by RawModule.

    Parameters
    ----------
    code, more
        As for `RawModule`.
    name
        The kernel's name in the code.

    Returns
    -------
    cupy.RawKernel
    """
    return RawModule(code, more=more).get_function(name)


def most_resident_blocks(kernel: Any, threads: int, shared: int = 0) -> int:
    return _atoll._resident_share(_gpu(), _whole_blocks(kernel, threads, shared))


def _gpu() -> int:
    return int(_cupy().cuda.runtime.getDevice())


def _whole_blocks(kernel: Any, threads: int, shared: int) -> int:
    cupy = _cupy()
    each = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(_function(kernel), threads, shared)
    return int(each) * int(cupy.cuda.Device().attributes["MultiProcessorCount"])


def launch(
    kernel: Any,
    grid: Any,
    block: Any,
    *arguments: Any,
    stream: Any = None,
    shared: int = 0,
    cooperative: bool = False,
) -> None:
    cupy = _cupy()
    gpu = _gpu_of_arrays(cupy, arguments)
    # CuPy's current GPU is 0 until the program says otherwise, and the arrays of each PE are on its own GPU.
    with contextlib.nullcontext() if gpu in (None, _gpu()) else cupy.cuda.Device(gpu):
        _launch(cupy, kernel, grid, block, arguments, stream, shared, cooperative)


def _gpu_of_arrays(cupy: Any, arguments: tuple[Any, ...]) -> int | None:
    """Return the number of the GPU of the first array among the arguments; None if they contain no array."""
    for argument in arguments:
        if isinstance(argument, cupy.ndarray):
            return int(argument.data.device_id)
        if isinstance(argument, (int, float, _atoll.Team, tuple, np.generic, np.ndarray)):
            continue
        if (found := gpu_of(argument)) is not None:
            return found
    return None


def _launch(
    cupy: Any, kernel: Any, grid: Any, block: Any, arguments: Any, stream: Any, shared: int, cooperative: bool
) -> None:
    """Launch a kernel on the current GPU."""
    threads = math.prod(_tuple(block))
    if cooperative or grid == RESIDENT:
        gpu, whole = _gpu(), _whole_blocks(kernel, threads, shared)
        if grid == RESIDENT:
            grid = _atoll._resident_share(gpu, whole)
        check_grid(math.prod(_tuple(grid)), threads, whole, gpu)
    values = tuple([_value(cupy, kernel, number, argument) for number, argument in enumerate(arguments, 1)])
    _atoll._note_kernel(_name(kernel), math.prod(_tuple(grid)), threads)
    if stream is None:
        kernel(_tuple(grid), _tuple(block), values, shared_mem=shared)
    else:
        with stream:
            kernel(_tuple(grid), _tuple(block), values, shared_mem=shared)


def _value(cupy: Any, kernel: Any, number: int, argument: Any) -> Any:
    """Return the argument for CuPy, in the form of the same bytes that costs it least."""
    if isinstance(argument, _atoll.Team):
        return _packed(_atoll._cuda_team(argument))
    if isinstance(argument, DeviceTeam):
        return _packed(argument)
    if isinstance(argument, (int, float, np.generic)):
        return argument
    if isinstance(argument, cupy.ndarray):
        # Memory from CuPy's own pool is not symmetric; skip a check that would cost a caught error.
        if type(argument.data.mem).__name__ != "PooledMemory" and is_freed(argument):
            raise freed(f"{_name(kernel)}: argument {number}", argument)
        return argument
    if isinstance(argument, _atoll.DeviceArray):
        if is_freed(argument):
            raise freed(f"{_name(kernel)}: argument {number}", argument)
        return np.uint64(argument.ptr)
    if isinstance(argument, np.ndarray):
        if argument.dtype in (TEAM, MAILBOX):
            return _bytes(argument)
        raise TypeError(
            f"{_name(kernel)}: argument {number} is an array of NumPy, in host memory; pass one in GPU memory "
            "(device='cuda')"
        )
    if not hasattr(argument, "__cuda_array_interface__"):
        return argument
    if is_freed(argument):
        raise freed(f"{_name(kernel)}: argument {number}", argument)
    return cupy.asarray(argument)  # the same memory


def _name(kernel: Any) -> str:
    return str(getattr(kernel, "name", "kernel"))


def _tuple(size: Any) -> tuple[int, ...]:
    return (size,) if isinstance(size, int) else tuple(size)


def _function(kernel: Any) -> int:
    return int(kernel.kernel.ptr if hasattr(kernel, "kernel") else kernel.ptr)


@functools.cache
def _cupy() -> Any:
    return _versions.need("atoll.cupy", "cupy")


_kernels.describe("cpp", globals())
