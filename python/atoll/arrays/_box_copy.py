"""The class of `a[box]` on hosts: read-only arrays, whose in-place operators return new arrays for `a[box] += x`."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from opcode import opmap
from types import CodeType
from typing import Any

import numpy as np


class Copy(np.ndarray[Any, Any]):
    """A read-only copy of a box: a NumPy array but for its in-place operators, which return NumPy's own, changed.

    Python carries out `a[box] += x` in three steps: it reads the box, adds, and writes the result to `a[box]`. Writes to
    elements of the copy itself would be lost, so they are NumPy's error. Results of computations are NumPy's own arrays.
    """

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array.view(np.ndarray) if array.ndim else array[()]

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def copy(self, order: Any = "C") -> Any:
        """Return an ordinary array of NumPy with the elements."""
        return self.view(np.ndarray).copy(order)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        return self.view(np.ndarray).__reduce__()


def read_only(found: np.ndarray[Any, Any]) -> Copy:
    """Return a new array as a copy that refuses writes."""
    found.flags.writeable = False
    return found.view(Copy)


# Byte codes of all versions of Python between an operator and the write of its result to `a[box]`.
_BETWEEN = {opmap[name] for name in ("CACHE", "SWAP", "ROT_THREE", "EXTENDED_ARG", "NOP") if name in opmap}
# Python 3.12 has the second one for `a[i:j] += x`.
_WRITES = {opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in opmap}


def _is_written_back(code: CodeType, at: int) -> bool:
    """Return True if the result of the operator at this place is written to a box, as by `a[box] += x`."""
    following = code.co_code[at + 2 :: 2]
    return next((each for each in following if each not in _BETWEEN), None) in _WRITES


def _in_place(operation: Callable[[Any, Any], Any]) -> Callable[[Copy, Any], Any]:
    def changed(self: Copy, other: Any) -> Any:
        if self.flags.writeable:  # made writeable, for example by numpy.empty_like(a[box])
            operation(self.view(np.ndarray), other)
            return self
        caller = sys._getframe(1)
        if not _is_written_back(caller.f_code, caller.f_lasti):
            raise ValueError(
                "a copy of a box is read-only: after x = a[box] the line x += ... would not change a. "
                "Write a[box] += ..., or change a copy of your own: x = a.get(box)."
            )
        if not isinstance(other, np.ndarray) and hasattr(other, "_layout"):
            raise TypeError("a[box] += b: b is a distributed array. Write a += b, or a[box] += b[box].")
        return operation(np.array(self), other)

    return changed


for _name in (
    *("iadd", "isub", "imul", "imatmul", "itruediv", "ifloordiv", "imod", "ipow"),
    *("ilshift", "irshift", "iand", "ixor", "ior"),
):
    setattr(Copy, f"__{_name}__", _in_place(getattr(operator, _name)))
