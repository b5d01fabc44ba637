"""Waits and checks of PEs in Triton's interpreter on the host (TRITON_INTERPRET=1), in place of inline PTX.

They act as in Numba's kernels on the host.
"""

# mypy: ignore-errors
from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path

from ... import _atoll
from ..._kernels import ptx
from ._patching import patch_once

patch_once()
_FUNCTIONS = _atoll._kernel_functions()
_INTS, _WORDS = [ctypes.c_int] * 5, [ctypes.c_uint64] * 5
_check = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *_INTS, *_WORDS)(_FUNCTIONS["atoll_kernel_check"])
_write = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_int, *[ctypes.c_uint64] * 3
)(_FUNCTIONS["atoll_kernel_trace"])


def _numbers(x):
    """Yield the integers of a number, a constant, or an interpreter's tensor."""
    handle = getattr(x, "handle", None)
    return map(int, [getattr(x, "value", x)] if handle is None else handle.data.reshape(-1))


def _number(x) -> int:
    return next(_numbers(x))


class HostArray:
    """An array of NumPy with the attributes of PyTorch's tensors that the interpreter uses.

    The interpreter would copy a tensor's memory to the host; this memory is there already.
    """

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
    return kind.from_address(control + ptx.AT[name]).value


def _check_from(control, operation, subject, peer, tag, address, expected, found, waited, bound) -> None:
    """Raise the error that ends a kernel, if there is one: Timeout, PeDied, InvalidArgument,
    KeyboardInterrupt.
    """
    watch, team = (
        _at_control(control, "watch", ctypes.c_uint64),
        _at_control(control, "team", ctypes.c_int),
    )
    if _check(watch, operation, team, subject, peer, tag, address, expected, found, waited, bound):
        _atoll._kernel_ended()


def pause(team, address, form, cmp, expected, found, operation, peer, tag, since, bound):
    """Rest between two loads of a word, or (form "") of a flagged pair. Returns the start of the wait."""
    now, control, since = time.monotonic_ns(), _number(team.control), _number(since)
    os.sched_yield()
    if control != 0:
        subject = int(ptx.reported(form, _number(cmp))) if form else ptx.AT["subject wait"]
        bits = (1 << int(form[1:] if form else 32)) - 1
        _check_from(
            control, _number(operation), subject, _number(peer), _number(tag), _number(address),
            _number(expected) & bits, _number(found) & bits, now - since if since else 0, _number(bound),
        )  # fmt: skip
    return since or now


def begin_event(team) -> int:
    """Return the time, or 0 without a trace."""
    return time.monotonic_ns() if _number(team.trace) != 0 else 0


def end_event(team, what, began, peer, first, second, third) -> None:
    """Write an event that ends now."""
    words = (_number(one) & (1 << 64) - 1 for one in (first, second, third))
    _write(_number(team.trace), _number(what), _number(began), _number(peer), *words)


def refuse_pe(team, pe, operation) -> None:
    """With checks on, refuse a PE, or one of a block, that the team does not have."""
    control, n_pes = _number(team.control), _number(team.n_pes)
    wrong = [one for one in _numbers(pe) if not 0 <= one < n_pes]
    if wrong and control != 0 and _at_control(control, "checks", ctypes.c_uint) != 0:
        _check_from(control, _number(operation), ptx.AT["subject wrong_pe"], wrong[0], 0, 0, n_pes, 0, 0, 0)


def _called() -> str:
    """Return the name of the function of atoll.triton that the kernel calls: the outermost of this package."""
    here, frame, name = Path(__file__).parents[1], sys._getframe(1), ""
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.parent == here and file.name != "_host.py":
            name = frame.f_code.co_name
        frame = frame.f_back
    return name


def refuse_address(team, x, some) -> None:
    """With checks on, refuse an address, or one of a block, that is outside this PE's symmetric memory.

    Its counterpart at another PE would be arbitrary memory. some: in a block, one address inside suffices.
    """
    control, stride = _number(team.control), _number(team.stride)
    mine = _number(team.window) + _number(team.my_slot) * stride
    addresses = list(_numbers(x))
    wrong = [one for one in addresses if not 0 <= one - mine < stride]
    if control == 0 or not wrong or (_number(some) and len(wrong) < len(addresses)):
        return
    if _at_control(control, "checks", ctypes.c_uint) != 0:
        raise _atoll.NotSymmetric(
            f"atoll.triton.{_called()}: {wrong[0]:#x} is not in the symmetric memory that this team's PEs share; make the array by "
            "atoll.zeros() or a similar function, on every PE"
        )
