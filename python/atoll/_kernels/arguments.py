"""Checks of a kernel's arguments at its launch, on the host. Errors name the kernel and the argument."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .. import _atoll
from .._device import DeviceTeam, freed, is_freed
from .ptx import AT
from .resident import check_grid


def mailbox_bytes(n_pes: int, room: int) -> int:
    """Return how many bytes a mailbox for messages of at most `room` bytes takes on each of n_pes PEs.

    Parameters
    ----------
    n_pes
        The number of PEs.
    room
        The longest message, in bytes.

    Returns
    -------
    int
        Bytes.

    Notes
    -----
    On the host. Local.
    """
    return n_pes * (AT["post_bytes"] + AT["mailbox_depth"] * max(1, (room + 7) // 8) * 16)


def on_device(argument: Any) -> bool:
    """Return whether an argument is an array in GPU memory."""
    if isinstance(argument, tuple) and not isinstance(argument, DeviceTeam):
        return any(on_device(part) for part in argument)
    return not isinstance(argument, np.ndarray) and hasattr(argument, "__cuda_array_interface__")


def on_host(argument: Any) -> bool:
    if isinstance(argument, tuple):
        return any(map(on_host, argument))
    return isinstance(argument, np.ndarray)


def gpu_of(argument: Any) -> int | None:
    """Return the number of the GPU that an array is on; None if it is unknown."""
    gpu = getattr(argument, "device", None)
    for name in ("index", "id"):  # PyTorch's name, CuPy's name
        gpu = getattr(gpu, name, gpu)
    return gpu if isinstance(gpu, int) else None


def on_gpu_of_tensors(arguments: Iterable[Any]) -> AbstractContextManager[Any]:
    """Return a context in which the GPU of the first tensor of PyTorch is current, as it may be another than GPU 0."""
    torch: Any = importlib.import_module("torch")
    gpu = next((x.get_device() for x in arguments if isinstance(x, torch.Tensor)), -1)
    return nullcontext() if gpu in (-1, torch.cuda.current_device()) else torch.cuda.device(gpu)


def team_for(memory: str, name: str, argument: Any) -> Any:
    """Convert an atoll.Team to the team that kernels take, and refuse a team of other memory."""
    if isinstance(argument, _atoll.Team):
        return argument.device(memory)
    if isinstance(argument, DeviceTeam):
        if memory == "host" and argument.window != _atoll.WORLD.device("host").window:
            raise ValueError(
                f"{name}: no argument is an array on a GPU, but the team is not of this job's host memory. Pass the "
                "atoll.Team itself, or team.device('host')"
            )
        if memory == "device" and argument.window != _atoll.WORLD.device("device").window:
            raise ValueError(
                f"{name}: an argument is an array on a GPU, but the team is not of this job's GPU memory. Pass the "
                "atoll.Team itself, or team.device('device')"
            )
    return argument


def check_argument(name: str, which: Any, x: Any) -> None:
    """Refuse an argument that compiled code would misread: an integer of more than 64 bits, or a freed array."""
    if isinstance(x, int) and not -(1 << 63) <= x < 1 << 64:
        raise OverflowError(f"{name}: argument {which} is {x}, which does not fit 64 bits")
    if (found := _freed_part(x)) is not None:
        part, array = found
        raise freed(f"{name}: argument {which}{part}", array)


def _freed_part(x: Any) -> tuple[str, Any] | None:
    """Return which part of an argument was freed: its name for an error, and the array."""
    if isinstance(x, np.ndarray):
        return ("", x) if x.base is not None and is_freed(x) else None  # symmetric ones are views
    if isinstance(x, DeviceTeam):
        return None
    if isinstance(x, tuple) and getattr(x, "_fields", None) == ("block", "room"):
        return (", a mailbox: its block", x[0]) if _freed_part(x[0]) else None
    if isinstance(x, tuple):
        return next(filter(None, map(_freed_part, x)), None)
    interfaces = ("__cuda_array_interface__", "data_ptr")
    is_array = isinstance(x, _atoll.DeviceArray) or any(hasattr(x, one) for one in interfaces)
    return ("", x) if is_array and is_freed(x) else None


def check_sizes(name: str, grid: Any, block: Any, resident: int) -> None:
    """Refuse sizes of a launch. `resident`: the value of `grid` for as many blocks as run at once."""
    for which, size, hint in (("grid", grid, " or dev.RESIDENT"), ("block", block, "")):
        parts = size if isinstance(size, tuple) else (size,)
        whole = all(isinstance(part, (int, np.integer)) for part in parts) and 1 <= len(parts) <= 3
        if not whole or (min(parts) < 1 and not (hint and size == resident)):
            raise ValueError(
                f"{name}: {which} is {size!r}; pass a number from 1 on, a tuple of up to three{hint}"
            )


def check_cooperative(name: str, blocks: int, threads: int, whole: int, gpu: int) -> None:
    """Refuse a grid whose blocks cannot all run at once beside those of other PEs on the GPU."""
    try:
        check_grid(blocks, threads, whole, gpu)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _arrays_of(arguments: Iterable[Any]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the arrays of NumPy among the arguments, and in mailboxes and other tuples there."""
    for number, x in enumerate(arguments, 1):
        if isinstance(x, np.ndarray):
            yield f"argument {number}", x
        elif isinstance(x, tuple) and not isinstance(x, DeviceTeam):
            yield from ((f"argument {number}", part) for _, part in _arrays_of(x))


def _spans(x: np.ndarray, address: int) -> bool:
    """Return whether the address is within the memory that x spans."""
    ends = [(length - 1) * stride for length, stride in zip(x.shape, x.strides, strict=True) if length > 1]
    offset = address - x.__array_interface__["data"][0]
    least, most = sum(end for end in ends if end < 0), sum(end for end in ends if end > 0)
    return bool(least <= offset < most + x.itemsize)


def at_fault(report: str, arguments: list[Any]) -> str:
    """Name the argument at the address that the kernel reported as not symmetric, and describe its memory."""
    found = re.search(r" at 0x([0-9a-f]+); this PE's symmetric memory is ", report)
    if found is None:
        return "an array is not of this PE's symmetric memory"
    address = int(found[1], 16)
    who = next(
        (name for name, x in _arrays_of(arguments) if _spans(x, address)), "an array of the kernel's own"
    )
    world = _atoll.WORLD.device("host")
    if 0 <= address - world.window < world.n_pes * world.stride:
        return f"{who} is a view of another PE's memory (atoll.peer, atoll.global_view); pass this PE's own array"
    return f"{who} is ordinary memory"
