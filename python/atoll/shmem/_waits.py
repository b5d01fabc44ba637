"""Waits for, and tests of, this PE's own symmetric words.

- `ivar` is a symmetric array of one integer, `ivars` a contiguous one of several, numbered in memory order.
- `cmp` is CMP_EQ and the like, or its text ("==", "eq"): found `cmp` value.
- `status` has an integer for each word, and words whose entry is not 0 are left out; None: no word is.

Waits acquire: what the updating PEs had ordered before their updates is visible on return. Other threads run
meanwhile, and Ctrl-C is answered. Source: OpenSHMEM 1.6, section 9.12.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _atoll
from .._atoll import signal_wait_until as _signal_wait_until
from .._atoll import test as _test
from .._atoll import wait_until as _wait_until
from ._memory import flat

if TYPE_CHECKING:
    from ._types import Array, Number, SigAddr, Status, Values


class CMP(enum.IntEnum):
    """Comparisons of waits and tests: equal, not equal, greater, less or equal, less, greater or equal."""

    EQ = 0
    NE = 1
    GT = 2
    LE = 5
    LT = 4
    GE = 3


CMP_EQ: CMP = CMP.EQ
CMP_NE: CMP = CMP.NE
CMP_GT: CMP = CMP.GT
CMP_LE: CMP = CMP.LE
CMP_LT: CMP = CMP.LT
CMP_GE: CMP = CMP.GE

_signs = {"EQ": "==", "NE": "!=", "GT": ">", "GE": ">=", "LT": "<", "LE": "<="}
# Atoll's own members, which its calls take without parsing a text.
_compares: dict[Any, _atoll.Compare] = {
    key: _atoll.Compare[name] for name, sign in _signs.items() for key in (name, sign, CMP[name].value)
}


def _compare(cmp: Any) -> _atoll.Compare:
    found = _compares.get(cmp.upper() if isinstance(cmp, str) else cmp)
    if found is None:
        raise _atoll.InvalidArgument(f"cmp is {cmp!r}; pass one of shmem.CMP, such as shmem.CMP_EQ, or '=='.")
    return found


def number(value: Any) -> Any:
    """Convert a NumPy number to Python's. Atoll fits that into any dtype that holds it."""
    return value.item() if isinstance(value, np.generic | np.ndarray) and value.size == 1 else value


def _status(status: Status | None, ivars: Array) -> Any:
    """Return one entry for each word; more are allowed."""
    if status is None:
        return None
    entries = np.asarray(status, np.int32).reshape(-1)
    return entries if entries.size <= ivars.size else entries[: ivars.size]


def _values(values: Values, ivars: Array) -> Any:
    """Return one value for each word, of the words' dtype; more are allowed."""
    given = np.asarray(values).reshape(-1)[: ivars.size]
    each = given.astype(ivars.dtype)
    if given.size and (given.dtype.kind not in "iu" or not np.array_equal(each, given)):
        raise _atoll.DtypeMismatch(
            f"values is {values!r}; pass an integer for each word that fits {ivars.dtype}."
        )
    return each


def wait_until(ivar: Array, cmp: CMP, value: Number) -> None:
    """Wait until ivar[0] compares with value: `ivar cmp value`.

    Parameters
    ----------
    ivar
        A symmetric array of one integer.
    cmp
        One of CMP, or its text, such as "==".
    value
        An integer.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric
        An argument is wrong.
    Timeout
        The wait exceeded ATOLL_WAIT_TIMEOUT.
    PeDied
        A PE has ended.

    Notes
    -----
    Acquires; other threads run meanwhile and Ctrl-C is answered. Local. Source: OpenSHMEM 1.6, section 9.12
    (shmem_wait_until).
    """
    if type(value) is not int:
        value = number(value)
    _wait_until(ivar, _compares.get(cmp) or _compare(cmp), value, None, None)


def test(ivar: Array, cmp: CMP, value: Number) -> bool:
    """Return True if ivar[0] compares with value. It does not wait; arguments and errors as for wait_until.

    Source: OpenSHMEM 1.6, section 9.12 (shmem_test).
    """
    if type(value) is not int:
        value = number(value)
    return _test(ivar, _compares.get(cmp) or _compare(cmp), value, None)


def signal_wait_until(signal: SigAddr, cmp: CMP, value: Number) -> int:
    """Wait until this PE's signal compares with value, and return its value.

    Acquires: data that the signalling PE sent by put_signal are visible. Raises as wait_until does. Source:
    OpenSHMEM 1.6, section 9.12 (shmem_signal_wait_until).
    """
    return _signal_wait_until(signal, _compares.get(cmp) or _compare(cmp), number(value), None, None)


def wait_until_all(ivars: Array, cmp: CMP, value: Number, status: Status | None = None) -> None:
    """Wait until every word has compared with value; a word that did so once counts.

    Parameters
    ----------
    ivars
        A contiguous symmetric array of integers.
    cmp, value
        As for wait_until.
    status
        An integer for each word; words whose entry is not 0 are left out. None: no word is left out.

    Notes
    -----
    Acquires. Local. Raises as wait_until does. Source: OpenSHMEM 1.6, section 9.12 (shmem_wait_until_all).
    """
    words = flat("wait_until_all", "ivars", ivars)
    _atoll.wait_until_all(words, _compare(cmp), number(value), _status(status, words))


def wait_until_any(ivars: Array, cmp: CMP, value: Number, status: Status | None = None) -> int | None:
    """Wait until a word compares with value; return its index. Among several, successive calls take turns.

    Returns `None` if all words are left out. Arguments and errors as for wait_until_all. Source: OpenSHMEM
    1.6, section 9.12.
    """
    words = flat("wait_until_any", "ivars", ivars)
    return _atoll.wait_until_any(words, _compare(cmp), number(value), _status(status, words))


def wait_until_some(ivars: Array, cmp: CMP, value: Number, status: Status | None = None) -> list[int]:
    """Wait until a word compares with value; return the indices of all that do.

    The list is empty if all words are left out. Arguments and errors as for wait_until_all. Source: OpenSHMEM
    1.6, section 9.12.
    """
    words = flat("wait_until_some", "ivars", ivars)
    return _list(_atoll.wait_until_some(words, _compare(cmp), number(value), _status(status, words)))


def _list(indices: Any) -> list[int]:
    found: list[int] = indices.tolist()
    return found


def wait_until_all_vector(ivars: Array, cmp: CMP, values: Values, status: Status | None = None) -> None:
    """Do wait_until_all with one value for each word: values[i] for ivars[i]."""
    words = flat("wait_until_all_vector", "ivars", ivars)
    _atoll.wait_until_all_vector(words, _compare(cmp), _values(values, words), _status(status, words))


def wait_until_any_vector(ivars: Array, cmp: CMP, values: Values, status: Status | None = None) -> int | None:
    """Do wait_until_any with one value for each word: values[i] for ivars[i]."""
    words = flat("wait_until_any_vector", "ivars", ivars)
    return _atoll.wait_until_any_vector(words, _compare(cmp), _values(values, words), _status(status, words))


def wait_until_some_vector(ivars: Array, cmp: CMP, values: Values, status: Status | None = None) -> list[int]:
    """Do wait_until_some with one value for each word: values[i] for ivars[i]."""
    words = flat("wait_until_some_vector", "ivars", ivars)
    found = _atoll.wait_until_some_vector(
        words, _compare(cmp), _values(values, words), _status(status, words)
    )
    return _list(found)


def test_all(ivars: Array, cmp: CMP, value: Number, status: Status | None = None) -> bool:
    """Return True if every word compares with value. It does not wait; arguments and errors as for
    wait_until_all.
    """
    words = flat("test_all", "ivars", ivars)
    return _atoll.test_all(words, _compare(cmp), number(value), _status(status, words))


def test_any(ivars: Array, cmp: CMP, value: Number, status: Status | None = None) -> int | None:
    """Return the index of a word that compares with value, or None. Among several, successive calls take
    turns.

    It does not wait; arguments and errors as for wait_until_all.
    """
    words = flat("test_any", "ivars", ivars)
    return _atoll.test_any(words, _compare(cmp), number(value), _status(status, words))


def test_some(ivars: Array, cmp: CMP, value: Number, status: Status | None = None) -> list[int]:
    """Return the indices of all words that compare with value. It does not wait; arguments as for
    wait_until_all.
    """
    words = flat("test_some", "ivars", ivars)
    return _list(_atoll.test_some(words, _compare(cmp), number(value), _status(status, words)))


def test_all_vector(ivars: Array, cmp: CMP, values: Values, status: Status | None = None) -> bool:
    """Do test_all with one value for each word: values[i] for ivars[i]."""
    words = flat("test_all_vector", "ivars", ivars)
    return _atoll.test_all_vector(words, _compare(cmp), _values(values, words), _status(status, words))


def test_any_vector(ivars: Array, cmp: CMP, values: Values, status: Status | None = None) -> int | None:
    """Do test_any with one value for each word: values[i] for ivars[i]."""
    words = flat("test_any_vector", "ivars", ivars)
    return _atoll.test_any_vector(words, _compare(cmp), _values(values, words), _status(status, words))


def test_some_vector(ivars: Array, cmp: CMP, values: Values, status: Status | None = None) -> list[int]:
    """Do test_some with one value for each word: values[i] for ivars[i]."""
    words = flat("test_some_vector", "ivars", ivars)
    found = _atoll.test_some_vector(words, _compare(cmp), _values(values, words), _status(status, words))
    return _list(found)
