"""Barriers and collectives of a team."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from .. import _atoll
from .._device import is_tensor
from ._dtypes import numpy_dtype
from ._state import (
    NvshmemInvalid,
    is_buffer,
    is_narrow,
    line_of,
    memory_of,
    require,
    same_kind,
    stream_of,
    team_of,
    translated,
)

__all__ = [
    "alltoall",
    "barrier",
    "barrier_all",
    "broadcast",
    "collective_on_buffer",
    "fcollect",
    "reduce",
    "reducescatter",
    "sync",
    "sync_all",
]

OPERATORS = ("min", "max", "sum")
"""Operators of reduce and reducescatter."""
MORE_OPERATORS = (*OPERATORS, "prod", "and", "or", "xor")
"""Operators of collective_on_buffer."""
COLLECTIVES = ("reduce", "reducescatter", "alltoall", "fcollect", "broadcast")


@translated
def barrier(team: Any, stream: Any = None) -> None:
    """Wait for all PEs of a team, and complete their earlier puts. Collective over the team.

    On a stream the stream waits. Without one, or without a GPU, the host waits.
    """
    _atoll.barrier(team_of(team), stream=stream_of(stream))


@translated
def sync(team: Any, stream: Any = None) -> None:
    """Wait for all PEs of a team; completes no puts. Collective over the team. A stream waits as in barrier."""
    _atoll.sync(team_of(team), stream=stream_of(stream))


@translated
def barrier_all(stream: Any = None) -> None:
    """Do as barrier, over all PEs."""
    require()
    _atoll.barrier_all(stream=stream_of(stream))


@translated
def sync_all(stream: Any = None) -> None:
    """Do as sync, over all PEs."""
    require()
    _atoll.sync_all(stream=stream_of(stream))


def _operator(function: str, op: Any, known: tuple[str, ...]) -> str:
    if op not in known:
        raise NvshmemInvalid(f"nvshmem.core.{function}: op is {op!r}; pass one of {', '.join(known)}.")
    return str(op)


def _lines(function: str, dst: Any, src: Any) -> tuple[Any, Any]:
    """Return both arrays as lines of one dtype."""
    to, source = line_of(memory_of(dst)), line_of(memory_of(src))
    if not same_kind(to[:0], source[:0]):
        raise NvshmemInvalid(
            f"nvshmem.core.{function}: dst has dtype {to.dtype}, src has {source.dtype}; both must be equal."
        )
    return to, source


_OF_BOOL = {"sum": "or", "max": "or", "min": "and"}


def _numbers(to: Any, source: Any, op: str) -> tuple[Any, Any, str]:
    """Return arrays and operator of a reduction. Those of bool are bytes, as NVSHMEM takes them; results stay 0 or 1."""
    if str(to.dtype).removeprefix("torch.") != "bool":
        return to, source, op
    kind = sys.modules["torch"].uint8 if is_tensor(to) else np.uint8
    return to.view(kind), source.view(kind), _OF_BOOL[op]


def _run(function: str, coll: str, team: Any, to: Any, source: Any, op: Any, root: int, stream: Any) -> None:
    """Run a collective on lines of one dtype. Sizes follow NVSHMEM: those of dst, or of src where dst is larger."""
    group = team_of(team)
    n = group.n_pes()
    given = {"team": group, "stream": stream_of(stream)}
    if coll in ("fcollect", "alltoall"):
        block = len(source) // (n if coll == "alltoall" else 1)
    else:
        block = len(to)
    needed = {
        "reduce": (1, 1),
        "broadcast": (1, 1),
        "reducescatter": (1, n),
        "fcollect": (n, 1),
        "alltoall": (n, n),
    }
    for name, line, times in zip(("dst", "src"), (to, source), needed[coll], strict=True):
        if len(line) < times * block:
            raise NvshmemInvalid(
                f"nvshmem.core.{function}: {name} has {len(line)} elements; {times * block} are needed, {block} for "
                f"each of {times} PEs."
            )
    to, source = to[: needed[coll][0] * block], source[: needed[coll][1] * block]
    if coll == "reduce":
        _atoll.reduce(to, source, op, **given)
    elif coll == "reducescatter":
        _atoll.reduce_scatter(to, source, op, **given)
    elif coll == "broadcast":
        _atoll.broadcast(to, source, root, **given)
    elif coll == "fcollect":
        _atoll.fcollect(to.reshape((n, block)), source, **given)
    else:
        _atoll.alltoall(to.reshape((n, block)), source.reshape((n, block)), **given)


def _run_as_floats(function: str, team: Any, dst: Any, src: Any, op: str) -> None:
    """Reduce tensors of a type that NumPy has not, as float32. Each result is rounded once."""
    kinds = [getattr(each, "dtype", type(each).__name__) for each in (dst, src)]
    if kinds[0] != kinds[1]:
        raise NvshmemInvalid(
            f"nvshmem.core.{function}: dst has dtype {kinds[0]}, and src {kinds[1]}; they must be the same."
        )
    to, source = line_of(dst.detach()), line_of(src)
    wide = to.float()
    _run(function, function, team, wide.numpy(), source.detach().float().numpy(), op, 0, None)
    to.copy_(wide)


@translated
def reduce(team: Any, dst_array: Any, src_array: Any, op: str, stream: Any = None) -> None:
    """Reduce src_array over the PEs of a team, element by element, into dst_array on all of them.

    Collective over the team.

    Parameters
    ----------
    team
        A handle, such as Teams.TEAM_WORLD.
    dst_array, src_array
        Contiguous symmetric arrays or tensors of one dtype. dst_array's size counts. They may be the same.
    op
        "sum", "min" or "max".
    stream
        The stream that carries out the call. None, or no GPU: the call is complete on return.

    Raises
    ------
    NvshmemInvalid
        A wrong argument.

    Notes
    -----
    Tensors of bfloat16 and of 8-bit floats on the host are combined as float32. For bool, "sum" and "max" are true where any
    element is, and "min" where all are.
    """
    op = _operator("reduce", op, OPERATORS)
    if is_narrow(dst_array) or is_narrow(src_array):
        _run_as_floats("reduce", team, dst_array, src_array, op)
        return
    to, source, op = _numbers(*_lines("reduce", dst_array, src_array), op)
    _run("reduce", "reduce", team, to, source, op, 0, stream)


@translated
def reducescatter(team: Any, dst_array: Any, src_array: Any, op: str, stream: Any = None) -> None:
    """Reduce src_array over a team; each PE gets its own block of the result in dst_array. Collective over the team.

    src_array has dst_array's size for each PE. Other arguments and errors are reduce's.
    """
    op = _operator("reducescatter", op, OPERATORS)
    if is_narrow(dst_array) or is_narrow(src_array):
        _run_as_floats("reducescatter", team, dst_array, src_array, op)
        return
    to, source, op = _numbers(*_lines("reducescatter", dst_array, src_array), op)
    _run("reducescatter", "reducescatter", team, to, source, op, 0, stream)


@translated
def alltoall(team: Any, dst_array: Any, src_array: Any, stream: Any = None) -> None:
    """Exchange blocks: block j of this PE's src_array becomes block my_pe of PE j's dst_array.

    Collective over the team. Both arrays consist of a block for each PE. Other arguments and errors are reduce's.
    """
    _run("alltoall", "alltoall", team, *_lines("alltoall", dst_array, src_array), None, 0, stream)


@translated
def fcollect(team: Any, dst_array: Any, src_array: Any, stream: Any = None) -> None:
    """Give every PE of a team the src_array of all, in the order of PEs. Collective over the team.

    dst_array has src_array's size for each PE. Other arguments and errors are reduce's.
    """
    _run("fcollect", "fcollect", team, *_lines("fcollect", dst_array, src_array), None, 0, stream)


@translated
def broadcast(team: Any, dst_array: Any, src_array: Any, root: int = 0, stream: Any = None) -> None:
    """Copy src_array of a team's PE `root` into dst_array of all its PEs. Collective over the team.

    Other arguments and errors are reduce's.
    """
    _run("broadcast", "broadcast", team, *_lines("broadcast", dst_array, src_array), None, root, stream)


@translated
def collective_on_buffer(
    coll: str,
    team: Any,
    dest: Any,
    src: Any,
    dtype: str | None = None,
    op: str | None = None,
    root: int = 0,
    stream: Any = None,
    enable_timing: bool = False,
) -> float:
    """Run a collective on Buffers. Collective over the team.

    Parameters
    ----------
    coll
        "reduce", "reducescatter", "alltoall", "fcollect" or "broadcast".
    team, root, stream
        As for reduce and broadcast.
    dest, src
        Buffers.
    dtype
        The elements, by NVSHMEM's name, such as "float". Without one they are bytes.
    op
        "sum", "prod", "min", "max", "and", "or" or "xor", for reductions.
    enable_timing
        True: wait for the stream, and return the time.

    Returns
    -------
    float
        Milliseconds of the host's clock if enable_timing, else 0.

    Raises
    ------
    NvshmemInvalid
        A wrong argument.
    """
    name = "collective_on_buffer"
    require()
    if coll not in COLLECTIVES:
        raise NvshmemInvalid(f"nvshmem.core.{name}: coll is {coll!r}; pass one of {', '.join(COLLECTIVES)}.")
    if not is_buffer(dest) or not is_buffer(src):
        raise NvshmemInvalid(
            f"nvshmem.core.{name}: dest and src must be Buffers; arrays go to nvshmem.core.{coll}."
        )
    if coll.startswith("reduce"):
        op = _operator(name, op, MORE_OPERATORS)
    kind = numpy_dtype("uint8" if dtype is None else dtype)
    to, source = (memory_of(x)[: x.size // kind.itemsize * kind.itemsize].view(kind) for x in (dest, src))
    if enable_timing:
        _wait_for(stream)
    began = time.perf_counter()
    _run(name, coll, team, to, source, op, root, stream)
    if not enable_timing:
        return 0
    _wait_for(stream)
    return (time.perf_counter() - began) * 1000


def _wait_for(stream: Any) -> None:
    given = stream_of(stream)
    if given is not None:
        _atoll.check_kernels(stream=given)
