"""State of this process: where symmetric memory is, what was allocated, and Atoll's errors under NVSHMEM4Py's names."""

from __future__ import annotations

import bisect
import ctypes
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import _atoll
from .._device import is_tensor

Call = TypeVar("Call", bound=Callable[..., Any])


class WithMessage:
    """The text of NVSHMEM4Py's errors and warnings, as an attribute."""

    def __init__(self, msg: str) -> None:
        super().__init__(msg)  # type: ignore[call-arg]
        self.msg = msg

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.msg}>"


class NvshmemInvalid(WithMessage, Exception):
    """A wrong argument, or a call outside init() and finalize()."""


class NvshmemError(WithMessage, Exception):
    """A call that failed although its arguments are right."""


_INVALID = (
    _atoll.InvalidArgument,
    _atoll.NotInitialized,
    _atoll.NotSymmetric,
    _atoll.PeError,
    _atoll.ShapeMismatch,
    _atoll.DtypeMismatch,
    _atoll.UseAfterFree,
)
DIRECT: set[Any] = {np.ndarray, _atoll.DeviceArray}
"""Types of arrays that Atoll's calls take as they are; CuPy's once one was passed."""
_FAILED = (_atoll.OutOfMemory, _atoll.Unsupported, _atoll.BootstrapError, _atoll.SettingsError)
REFUSALS = (*_INVALID, *_FAILED, TypeError)
"""Errors of a call that changed nothing. A call on arrays as they are repeats what it refuses, with checks."""


def full_name(function: str) -> str:
    """Return a function's name for errors: its own with nvshmem.core before it, unless it names its module."""
    return function if function.startswith("nvshmem.") else f"nvshmem.core.{function}"


def translated_as(name: str) -> Callable[[Call], Call]:
    """Let a function raise NvshmemInvalid and NvshmemError, which name it so, for Atoll's errors of the same meaning.

    Errors that NVSHMEM4Py has no name for pass unchanged: PeDied, Timeout, CollectiveMismatch, KernelError.
    """

    def of(function: Call) -> Call:
        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                return function(*arguments, **keywords)
            except _INVALID as error:
                raise NvshmemInvalid(f"{full_name(name)}: {error}") from error
            except _FAILED as error:
                raise NvshmemError(f"{full_name(name)}: {error}") from error

        return call  # type: ignore[return-value]

    return of


def translated(function: Call) -> Call:
    """Do as translated_as, with the function's own name."""
    return translated_as(function.__name__)(function)


class Block:
    """An allocation: its bytes as an array of uint8, and the Buffer that shows it."""

    def __init__(self, memory: Any, kind: int) -> None:
        self.memory, self.kind = memory, kind
        self.buffer: Any = None


PEER = 1
"""The kind of a block that is another PE's memory, as BufferTypes has it."""


class State:
    """The decisions of init(), and the blocks of this PE by address."""

    def __init__(self) -> None:
        self.joined = False
        self.inits = 0
        """Calls of init() for which no finalize() was called."""
        self.ended = False
        self.on_gpu = False
        self.gpu = 0
        """The number of the GPU on which symmetric memory is, if it is on one."""
        self.blocks: dict[int, Block] = {}
        self.starts: list[int] = []
        """Addresses of this PE's own blocks, in order. A change replaces the list, so that other threads may read it."""
        self._changing = threading.Lock()
        self.words: dict[int, Any] = {}
        """Signal words by the address of their Buffer, once a call has used them."""
        self.teams: dict[int, _atoll.Team] = {}
        self.listeners: list[Callable[..., None]] = []
        """Called after a change of teams, with their handles; without any after a change of all."""

    def changed(self, *handles: int) -> None:
        """Tell the listeners that these teams have changed; without arguments, all."""
        for listener in self.listeners:
            listener(*handles)

    def add(self, address: int, block: Block) -> None:
        """Register a block."""
        with self._changing:
            self.blocks[address] = block
            self._sort()

    def drop(self, address: int) -> None:
        """Forget a block and the signal word at its begin."""
        with self._changing:
            self.blocks.pop(address, None)
            self.words.pop(address, None)
            self._sort()

    def clear(self) -> None:
        """Forget all blocks, words and teams."""
        with self._changing:
            self.blocks.clear()
            self.words.clear()
            self.teams.clear()
            self._sort()

    def _sort(self) -> None:
        self.starts = sorted(address for address, block in self.blocks.items() if block.kind != PEER)


STATE = State()


def require() -> None:
    """Raise NvshmemInvalid outside init() and finalize()."""
    if not STATE.joined:
        raise NvshmemInvalid(
            "NVSHMEM is not initialized in this process: call nvshmem.core.init() first"
            f"{', again after finalize()' if STATE.ended else ''}."
        )


def address_of(x: Any) -> int:
    """Return the address of the first byte of a Buffer or an array of any library."""
    if isinstance(x, np.ndarray):
        return int(x.__array_interface__["data"][0])
    if isinstance(x, _atoll.DeviceArray):
        return x.ptr
    if hasattr(x, "data_ptr"):
        return int(x.data_ptr())
    if hasattr(x, "__cuda_array_interface__"):
        return int(x.__cuda_array_interface__["data"][0])
    return int(x.handle)


def is_buffer(x: Any) -> bool:
    """Return whether x is a Buffer: cuda.core's, or Atoll's where that is missing."""
    return hasattr(x, "handle") and hasattr(x, "size") and not hasattr(x, "dtype")


def block_of(x: Any) -> Block:
    """Return the allocation that begins where x begins. Raises NvshmemInvalid."""
    try:
        return STATE.blocks[address_of(x)]
    except KeyError:
        raise NvshmemInvalid(
            f"{_described(x)} does not begin at an allocation of nvshmem.core, or was freed; pass what buffer(), array() "
            "or tensor() returned."
        ) from None


class OfGpu:
    """Bytes of a GPU's memory that nvshmem.core did not allocate."""

    def __init__(self, address: int, nbytes: int) -> None:
        self.nbytes, self.device = nbytes, STATE.gpu
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }


def allocation_of(address: int) -> tuple[int, Any] | None:
    """Return the begin and the bytes of this PE's allocation that has an address, or None."""
    starts = STATE.starts
    index = bisect.bisect_right(starts, address) - 1
    block = STATE.blocks.get(starts[index]) if index >= 0 else None
    if block is None or address >= starts[index] + block.memory.nbytes:
        return None
    return starts[index], bytes_of(block.memory)


def other_bytes_at(address: int, nbytes: int) -> Any:
    """Return bytes outside symmetric memory by their address."""
    if STATE.on_gpu:
        return OfGpu(address, nbytes)
    return np.ctypeslib.as_array((ctypes.c_ubyte * nbytes).from_address(address))


def bytes_at(address: int, nbytes: int) -> Any:
    """Return bytes by their address. Raises NvshmemInvalid for those that pass the end of an allocation."""
    found = allocation_of(address)
    if not found:
        return other_bytes_at(address, nbytes)
    return _first_of(found[1][address - found[0] :], address, nbytes)


def _first_of(memory: Any, address: int, nbytes: int) -> Any:
    """Return the first bytes of an allocation's rest."""
    if nbytes > memory.nbytes:
        raise NvshmemInvalid(
            f"A Buffer of {nbytes} bytes at {address:#x} passes the end of its allocation, which has {memory.nbytes} bytes "
            "from there on; pass that size or less."
        )
    return memory if nbytes == memory.nbytes else memory[:nbytes]


def _described(x: Any) -> str:
    shape = getattr(x, "shape", None)
    return f"{type(x).__name__}{'' if shape is None else f' of shape {tuple(shape)}'}"


def memory_of(x: Any) -> Any:
    """Return x as an array that Atoll's calls take, over the same memory.

    Parameters
    ----------
    x
        An array of NumPy, CuPy or Atoll, a tensor, or a Buffer.

    Raises
    ------
    NvshmemInvalid
        x is something else.
    """
    if type(x) in DIRECT or isinstance(x, np.ndarray):
        return x
    if is_tensor(x):
        if x.is_cuda:
            return x
        bits = NARROW.get(str(x.dtype))
        return (x.detach().view(getattr(sys.modules["torch"], bits)) if bits else x.detach()).numpy()
    if hasattr(x, "__cuda_array_interface__"):
        if type(x).__module__.partition(".")[0] == "cupy":
            DIRECT.add(type(x))
        return x
    if is_buffer(x):
        known = STATE.blocks.get(int(x.handle))
        if known is not None:
            return _first_of(known.memory, int(x.handle), int(x.size))
        if hasattr(x, "memory"):
            return x.memory
        return bytes_at(int(x.handle), int(x.size)) if allocation_of(int(x.handle)) else x
    raise NvshmemInvalid(
        f"Invalid memory object of type {type(x).__name__}; pass a Buffer, an array of CuPy or NumPy, or a tensor."
    )


NARROW = {"torch.bfloat16": "int16", "torch.float8_e4m3fn": "uint8", "torch.float8_e5m2": "uint8"}
"""Types of tensors that NumPy has not, and integers of their size."""


def is_narrow(x: Any) -> bool:
    """Return True for a tensor of the host whose type NumPy has not."""
    return is_tensor(x) and not x.is_cuda and str(x.dtype) in NARROW


def refuse_narrow(function: str, x: Any) -> None:
    """Raise NvshmemInvalid for such a tensor: its numbers would be taken for integers."""
    if is_narrow(x):
        raise NvshmemInvalid(
            f"nvshmem.core.{function}: {x.dtype} needs a GPU for arithmetic; on the host use torch.float32."
        )


def _strides_of(x: Any) -> tuple[int, ...]:
    """Return strides in bytes."""
    if is_tensor(x):
        return tuple(n * x.element_size() for n in x.stride())
    given = x.strides
    return tuple(given) if given is not None else _packed(tuple(x.shape), np.dtype(x.dtype).itemsize)


def _packed(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def line_of(x: Any) -> Any:
    """Return a contiguous array as one of one dimension, in the order of its memory. Raises NvshmemInvalid."""
    if not hasattr(x, "dtype"):  # a Buffer of memory that is not symmetric
        return x
    shape, strides = tuple(x.shape), _strides_of(x)
    if len(shape) == 1 and (shape[0] < 2 or strides[0] == _itemsize(x)):
        return x
    if 0 in shape or _matches(shape, strides, _itemsize(x)):
        return x.reshape(-1)
    if _matches(shape[::-1], strides[::-1], _itemsize(x)):
        back = tuple(range(len(shape)))[::-1]
        return (x.permute(back) if is_tensor(x) else x.T).reshape(-1)
    raise NvshmemInvalid(
        f"{_described(x)} is not contiguous; two arrays of one shape and dtype may have any strides, others may not."
    )


def _itemsize(x: Any) -> int:
    return int(x.element_size()) if is_tensor(x) else int(np.dtype(x.dtype).itemsize)


def _matches(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, _packed(shape, itemsize), strict=True))


def bytes_of(x: Any) -> Any:
    """Return the bytes of a contiguous array, as an array of uint8."""
    line = line_of(x)
    return line.view(sys.modules["torch"].uint8) if is_tensor(line) else line.view(np.uint8)


def same_kind(x: Any, y: Any) -> bool:
    """Return whether two arrays have one shape and one dtype."""
    if is_tensor(x) != is_tensor(y):
        return False
    return tuple(x.shape) == tuple(y.shape) and bool(x.dtype == y.dtype)


def pair_of(dst: Any, src: Any) -> tuple[Any, Any]:
    """Return two arrays for a copy: as they are if they match, else as many bytes as both have."""
    to, source = memory_of(dst), memory_of(src)
    if hasattr(to, "dtype") and hasattr(source, "dtype"):
        if same_kind(to, source):
            return to, source
        to, source = bytes_of(to), bytes_of(source)
        n = min(len(to), len(source))
        return to[:n], source[:n]
    return to, source


def word_of(signal: Any) -> Any:
    """Return the signal word at the begin of a Buffer or an array. Raises NvshmemInvalid."""
    try:
        return STATE.words[signal.handle]
    except (AttributeError, KeyError):
        pass
    try:
        data = bytes_of(memory_of(signal))
    except NvshmemInvalid as error:
        raise NvshmemInvalid(f"The signal must be a Buffer of at least 8 bytes: {error}") from None
    if len(data) < 8:
        raise NvshmemInvalid(f"The signal has {len(data)} bytes; it must be a Buffer of at least 8 bytes.")
    first = data[:8]
    if is_tensor(first):
        return first.view(sys.modules["torch"].int64)
    word = first.view(np.uint64)
    if is_buffer(signal) and int(signal.handle) in STATE.blocks:
        STATE.words[signal.handle] = word
    return word


def stream_of(stream: Any) -> Any:
    """Return the stream for a call of Atoll's. In host memory a call is complete on return, so that none is needed."""
    return stream if STATE.on_gpu else None


def team_of(team: Any) -> _atoll.Team:
    """Return the team of a handle, of a name in Teams, or Atoll's own. Raises NvshmemInvalid."""
    require()
    try:
        return STATE.teams[team]
    except (KeyError, TypeError):
        pass
    if isinstance(team, _atoll.Team):
        return team
    reason = _NO_TEAM.get(team) if isinstance(team, int) else None
    known = ", ".join(str(number) for number in sorted(STATE.teams))
    raise NvshmemInvalid(
        reason or f"{team!r} is no team of this PE; its handles are {known} (nvshmem.core.Teams)."
    )


_NO_TEAM = {
    4: "TEAM_SAME_GPU does not exist on Atoll; make it by atoll.WORLD.split(color), with the GPU's number as the color.",
    5: "TEAM_GPU_LEADERS does not exist on Atoll; make it by team_split_strided.",
    6: "TEAM_MC_SHARED does not exist on Atoll, which has no multicast memory; use TEAM_SHARED.",
}
