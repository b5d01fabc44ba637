"""Comparison of the arguments of collective calls: each PE publishes a fingerprint of its call before any work."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

import atoll

from .._job import line_text
from .._launching.failures import differing_calls
from . import _libraries, _replicated, _settings
from ._libraries import _numpy_warnings
from ._teams import _current, _dropped
from ._teams._exchange import gathered

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")
CHECKED_BYTES = 1 << 22  # read at a time for a checksum
X87_BYTES = 10  # bytes of an x86 long double that hold its value


class _Thread(threading.local):
    is_inside = False  # a collective call; those that it makes itself are not compared
    is_for_error = False  # texts of calls have the lines that made the arrays


_thread = _Thread()


def under_one_name(kind: type[C]) -> type[C]:
    """Give the methods of a class, and of its bases here, its name: Python's errors about arguments have it."""
    for base in kind.__mro__:
        if base.__module__.startswith("atoll."):
            for name, each in vars(base).items():
                while inspect.isfunction(each):
                    each.__qualname__ = f"{kind.__name__}.{name}"
                    each = getattr(each, "__wrapped__", None)
    return kind


def collective(
    *apart: str, name: str | None = None, on_gpus: bool = False, on_copies: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for functions that all PEs call with the same arguments.

    Parameters
    ----------
    apart
        Names of arguments that may differ between PEs; "**" for all keywords.
    name
        The name of the call in errors; by default that of the function.
    on_gpus
        The function takes arrays on GPUs, too. Others refuse them.
    on_copies
        The function takes arrays of which several PEs have the same elements. Others get blocks of them.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False))
        defaults |= function.__kwdefaults__ or {}
        called = name or function.__name__

        def called_with(arguments: Any, keywords: Any) -> R:
            if on_copies or not _replicated.exist:
                return function(*arguments, **keywords)
            named = _replicated.blocks_of(dict(zip(names, arguments, strict=False)))
            rest = map(_replicated.in_blocks, arguments[len(named) :])
            return function(*named.values(), *rest, **_replicated.blocks_of(keywords))

        @functools.wraps(function)
        def wrapper(*arguments: P.args, **keywords: P.kwargs) -> R:
            if _libraries.others and not on_gpus:
                require_host(called, arguments, keywords)
            if _thread.is_inside:
                return called_with(arguments, keywords)
            # With "**" the keywords are names of the program's own.
            is_own = "**" in apart
            team = team_of(called, arguments, keywords, None if is_own else keywords.get("team"))
            given, kept = _spelled(names, defaults, apart, arguments, {} if is_own else keywords)
            return compared(called, given, kept, lambda: called_with(arguments, keywords), team)

        return wrapper

    return decorate


def _spelled(
    names: Sequence[str],
    defaults: Mapping[str, Any],
    apart: Sequence[str],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call in one spelling, without those apart and those that have their default.

    An argument is positional as far as those before it are there. PEs may pass it by its position or by its name.
    """
    kept = dict(zip(names, arguments, strict=False))
    kept.update(keywords)
    for name in [n for n, value in kept.items() if n in apart or (n in defaults and value is defaults[n])]:
        del kept[name]
    positional = []
    for name in names:
        if name in kept:
            positional.append(kept.pop(name))
        elif name not in apart:
            break
    return [*positional, *arguments[len(names) :]], kept


def compared(
    name: str,
    arguments: Any,
    keywords: Mapping[str, Any],
    function: Callable[[], R],
    team: atoll.Team | None = None,
    *,
    meets: bool = False,
) -> R:
    """Return the result of a function after a comparison of the call that it belongs to. Collective over a team.

    The team is by default that of the arguments.

    Nothing is compared within another such call, in a job of one PE, or with ATOLL_CHECK=none. With `meets` the function
    begins once all PEs are here in those cases, too; a comparison is such a meeting.

    Raises
    ------
    CollectiveMismatch
        On every PE, if two PEs make different calls. It names both calls and their lines.
    """
    if _thread.is_inside:
        if meets and _current.n_pes() > 1:
            _current.barrier()
        return function()
    its = library_of(name, arguments, keywords)
    with _current.over(team or team_of(name, arguments, keywords, keywords.get("team")), its, name):
        _thread.is_inside = True
        try:
            is_much = _dropped.is_much()
            if are_compared():
                is_much = _compare(name, arguments, keywords, is_much)
            elif _current.n_pes() > 1:
                is_much = False  # no PE knows of the others
                if meets:
                    _current.barrier()
            # All PEs are known to make this call. The function may raise an error on one of them.
            if is_much and _current.n_pes() == atoll.WORLD.n_pes():
                _dropped.free()
            with _numpy_warnings.named(name, lambda: _raise_together(arguments, keywords)) as numbers:
                found = function()
            if numbers.is_raising:
                _raise_of_any(name, numbers.first)
            return found
        except atoll.PeDied as error:
            if hasattr(error, "add_note"):  # Python 3.11
                error.add_note(f"This PE was in {name}() of distributed arrays, which all PEs call.")
            raise
        finally:
            _thread.is_inside = False


def _raise_together(arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
    """Return whether the PEs of a call raise together at its end: they are several, and no function of the program is in it."""
    every = (*arguments, *keywords.values())
    return _current.n_pes() > 1 and not any(callable(x) and not isinstance(x, type) for x in every)


def _raise_of_any(name: str, problem: str) -> None:
    """Raise on every PE if NumPy found such a number on any, as `numpy.errstate` says. Collective."""
    for pe, found in enumerate(gathered(problem)):
        if found:
            raise FloatingPointError(f"{name}: PE {pe}: {found}")


def require_team(call: str, name: str, given: Any) -> None:
    """Raise TypeError for an argument that is neither a team nor None."""
    if given is not None and not isinstance(given, atoll.Team):
        raise TypeError(f"{call}({name}={given!r}): expected an atoll.Team, as from atoll.WORLD.split().")


def team_of(name: str, arguments: Any, keywords: Mapping[str, Any], given: Any) -> atoll.Team:
    """Return the team of a call: the given one, that of the arrays among the arguments, or all PEs.

    Raises
    ------
    TypeError, InvalidArgument
        If it is no team, or this PE is not a member. If the arrays lie over different teams.
    """
    require_team(name, "team", given)
    found: atoll.Team | None = given
    if found is not None and not found:
        raise atoll.InvalidArgument(
            f"{name}(team=...): this PE is not a member of the team; its members alone make the call."
        )
    for each in _distributed(arguments, keywords):
        its = getattr(each, "_team", None)  # None: it is being made
        if its is not None and found is not None and its is not found and its != found:
            raise atoll.InvalidArgument(
                f"{name}(): arrays and team= belong to different teams. Bring an array to another team by "
                "atoll.arrays.redistribute(a, team=t)."
            )
        found = its or found
    return found or atoll.WORLD


def library_of(name: str, arguments: Any, keywords: Mapping[str, Any]) -> _libraries.Library:
    """Return the library of the parts of the arrays among the arguments.

    Raises
    ------
    InvalidArgument
        If they have different ones.
    """
    if not _libraries.others:
        return _libraries.HOST
    every = [each._library for each in _distributed(arguments, keywords) if hasattr(each, "_library")]
    for its in every:
        if its is not every[0]:
            raise atoll.InvalidArgument(
                f"{name}(): one array is {every[0].text}, another one {its.text}. Bring one to the other's place by "
                "atoll.arrays.to_device(a, device)."
            )
    return every[0] if every else _libraries.HOST


def _distributed(arguments: Any, keywords: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what lies over a team among the arguments of a call, and in lists and tuples there."""
    for value in (*arguments, *keywords.values()):
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(each, _current.OverTeam):
                yield each


def require_host(name: str, arguments: Any, keywords: Mapping[str, Any]) -> None:
    """Raise Unsupported if an array among the arguments is not one of NumPy on hosts."""
    its = library_of(name, arguments, keywords)
    if its is not _libraries.HOST:
        raise atoll.Unsupported(
            f"{name}() works on NumPy's arrays on hosts, and this array is {its.text}. Use atoll.arrays.to_device(a, "
            "'cpu'), a copy on the hosts, or a.local for this PE's part."
        )


def are_compared() -> bool:
    """Return True if PEs compare their arguments: there are several, and ATOLL_CHECK is not none."""
    return os.environ.get("ATOLL_CHECK") != "none" and _current.n_pes() > 1


def checksum(array: np.ndarray[Any, Any]) -> int:
    """Return a checksum of an array's elements, 0 for objects. Copies at most a few MiB at a time."""
    found = 0
    if not array.dtype.hasobject:
        for rows in np.array_split(array, max(1, array.nbytes // CHECKED_BYTES)) if array.ndim else [array]:
            for plain in _without_padding(rows):
                found = zlib.crc32(np.ascontiguousarray(plain).tobytes(), found)
    return found


def _without_padding(array: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Yield arrays that have all bytes of an array but those between fields, and those that fill up long doubles."""
    if array.dtype.names is not None:
        for name in array.dtype.names:
            yield from _without_padding(array[name])
    elif array.dtype.kind in "fc" and array.dtype.char in "gG" and np.finfo(np.longdouble).nmant == 63:
        native = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
        size = np.dtype(np.longdouble).itemsize
        yield native.reshape(-1).view(np.uint8).reshape(-1, size)[:, :X87_BYTES]
    else:
        yield array


def _compare(name: str, arguments: Any, keywords: Mapping[str, Any], flag: bool) -> bool:
    """Raise on every PE if two make different calls. Else return True if any PE passed True."""
    text = _call_text(name, arguments, keywords)
    number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "little")
    mine = np.array([number, -number, flag])
    most = np.empty_like(mine)
    atoll.max_reduce(most, mine, team=_current.team())
    if most[0] == -most[1]:
        return bool(most[2])
    _thread.is_for_error = True
    try:
        text = _call_text(name, arguments, keywords)
    finally:
        _thread.is_for_error = False
    every = gathered((atoll.my_pe(), (text, line_text())))
    found = differing_calls(dict(every))
    raise atoll.CollectiveMismatch(
        f"{found}. All PEs make the same calls on distributed arrays, with the same arguments."
    )


def _call_text(name: str, arguments: Any, keywords: Mapping[str, Any]) -> str:
    words = [_text(value) for value in arguments]
    words += [f"{key}={_text(keywords[key])}" for key in sorted(keywords)]
    return f"{name}({', '.join(words)}){_settings.text()}"


# NumPy takes longer for the name of a dtype than all else here.
_dtype_text = functools.cache(str)


def _text(value: Any) -> str:
    """Return a text, equal on PEs that pass the same value."""
    from ._array import DistArray

    if isinstance(value, DistArray):
        made_at = value._memory.made(", ") if _thread.is_for_error else ""
        return f"<{_dtype_text(value.dtype)} {value._layout.text} #{value._number}{made_at}>"
    if isinstance(value, np.ndarray):
        return f"<array {value.shape} {value.dtype} #{checksum(value):08x}>"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_text, value))})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_text(each)}' for key, each in value.items())}}}"
    if isinstance(value, str) and value.startswith("cuda:"):
        return repr("cuda")  # each PE passes the number of its own GPU
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, slice, np.dtype)):
        return repr(value)
    if isinstance(value, Path):
        return repr(str(value))
    shape = getattr(value, "shape", None)
    its = getattr(value, "__name__", type(value).__name__)
    return f"<{its} {shape}>" if isinstance(shape, tuple) else f"<{its}>"
