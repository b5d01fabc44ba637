"""How waits end, and wrong PEs are found, where Triton's interpreter runs kernels on the host (TRITON_INTERPRET=1): as in Numba's
kernels there. In the place of inline PTX."""

# mypy: ignore-errors
from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path

from .. import _atoll, _ptx
from .._ptx import AT

_INTS, _WORDS = [ctypes.c_int] * 5, [ctypes.c_uint64] * 5
_look = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *_INTS, *_WORDS)(_atoll._kernel_look())


def _numbers(x):
    """Of a number, a constant, or what the interpreter has for a tensor: one after another."""
    handle = getattr(x, "handle", None)
    return map(int, [getattr(x, "value", x)] if handle is None else handle.data.reshape(-1))


def _number(x) -> int:
    return next(_numbers(x))


class HostArray:
    """An array of NumPy, as the interpreter takes one: it asks for what PyTorch's tensors have, and would copy their memory to
    the host, where this is."""

    def __init__(self, array) -> None:
        self.array, self.dtype, self.shape = array, array.dtype, array.shape

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def _self(self, *_, **__):
        return self

    untyped_storage = cpu = new_empty = set_ = copy_ = _self

    def storage_offset(self) -> int:
        return 0

    def size(self):
        return self.shape

    def stride(self):
        return self.array.strides


def _at_control(control: int, name: str, kind) -> int:
    return kind.from_address(control + AT[name]).value


def _look_from(control, operation, compare, peer, tag, address, expected, found, waited, bound) -> None:
    """Raise what ends a kernel: Timeout, PeDied, InvalidArgument, KeyboardInterrupt."""
    watch, team = (
        _at_control(control, "watch", ctypes.c_uint64),
        _at_control(control, "team", ctypes.c_int),
    )
    if _look(watch, operation, team, compare, peer, tag, address, expected, found, waited, bound):
        _atoll._kernel_ended()


def pause(team, address, form, cmp, expected, found, operation, peer, tag, since, bound):
    """Between two looks at a word, or (form "") at a flagged pair. Returns since when it looks."""
    now, control, since = time.monotonic_ns(), _number(team.control), _number(since)
    os.sched_yield()
    if control != 0:
        compare = int(_ptx.reported(form, _number(cmp))) if form else -1
        bits = (1 << int(form[1:] if form else 32)) - 1
        _look_from(
            control, _number(operation), compare, _number(peer), _number(tag), _number(address),
            _number(expected) & bits, _number(found) & bits, now - since if since else 0, _number(bound),
        )  # fmt: skip
    return since or now


def refuse_pe(team, pe, operation) -> None:
    """A PE, or one of a block, that the team has not is an error where checks are on."""
    control, n_pes = _number(team.control), _number(team.n_pes)
    wrong = [one for one in _numbers(pe) if not 0 <= one < n_pes]
    if wrong and control != 0 and _at_control(control, "checks", ctypes.c_uint) != 0:
        _look_from(control, _number(operation), AT["wrong_pe"], wrong[0], 0, 0, n_pes, 0, 0, 0)


def _called() -> str:
    """The function of atoll.triton that the kernel calls: of ours on the stack, the first."""
    here, frame, name = Path(__file__).parent, sys._getframe(1), ""
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.parent == here and file.name != "_host.py":
            name = frame.f_code.co_name
        frame = frame.f_back
    return name


def refuse_place(team, x, some) -> None:
    """An address, or one of a block, that is not in this PE's symmetric memory is an error where checks are on: what stands as far
    from it as a peer's memory from ours is anybody's. some: of a block one that is suffices."""
    control, stride = _number(team.control), _number(team.stride)
    mine = _number(team.window) + _number(team.my_slot) * stride
    addresses = list(_numbers(x))
    wrong = [one for one in addresses if not 0 <= one - mine < stride]
    if control == 0 or not wrong or (_number(some) and len(wrong) < len(addresses)):
        return
    if _at_control(control, "checks", ctypes.c_uint) != 0:
        raise _atoll.NotSymmetric(
            f"atoll.triton.{_called()}: {wrong[0]:#x} is not in the symmetric memory that this team's PEs share; make the array by "
            "atoll.zeros() or its kin, on every PE"
        )
