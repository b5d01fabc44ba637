"""Python objects between PEs, by pickle: for set-up, not for speed.

Only an object's own PE knows that it cannot be pickled. Sizes travel before data, and a negative size marks
data that are an error's text. So every PE raises the error, and the next call is in step.
"""

from __future__ import annotations

import functools
import operator
import pickle
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _atoll
from ._job import line_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._types import ReduceName

    Bytes = npt.NDArray[np.uint8]

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": operator.add,
    "prod": operator.mul,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


# The head that travels before an object: its size, and the call as a text.
_CALL_BYTES = 48
_LINE_BYTES = 80  # bytes for the source line of a call in errors
_HEAD = np.dtype([("size", np.int64), ("call", f"S{_CALL_BYTES}")])


class _Blob:
    """The bytes of one object. With a negative size, the text that explains why it has no bytes."""

    def __init__(self, function: str, obj: object, team: _atoll.Team | None) -> None:
        self.error: Exception | None = None
        try:
            data = pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            self.error = error
            self._refuse(
                f"{function}(): the object of PE {_atoll.my_pe(team)} cannot be pickled: {type(error).__name__}: {error}"
            )
        else:
            self.data: Bytes = np.frombuffer(data, np.uint8)
            self.size = self.data.size

    @classmethod
    def refusal(cls, sentence: str) -> _Blob:
        """Return the text that a PE sends in place of an object when its arguments are wrong."""
        made = cls.__new__(cls)
        made.error = None
        made._refuse(sentence)
        return made

    def _refuse(self, sentence: str) -> None:
        self.data = np.frombuffer(sentence.encode(errors="replace"), np.uint8)
        self.size = -self.data.size


def _load(data: Bytes) -> Any:
    try:
        return pickle.loads(data.tobytes())
    except Exception as error:
        if hasattr(error, "add_note"):  # Python 3.11
            error.add_note(
                f"PE {_atoll.my_pe()} could not load the object that another PE passed{line_text()}: it was pickled, and "
                "its class cannot make it again. Other PEs may have it."
            )
        raise


def _check_sizes(sizes: Any, parts: Sequence[Bytes], own: Exception | None = None) -> None:
    """Raise the first error among the parts, the same on every PE."""
    for size, part in zip(sizes, parts, strict=True):
        if size < 0:
            raise _atoll.InvalidArgument(part.tobytes().decode(errors="replace")) from own


def check_pe(function: str, argument: str, pe: int, team: _atoll.Team | None) -> None:
    """Raise PeError or InvalidArgument unless the argument is the number of a PE of the team."""
    if team is not None and not isinstance(team, _atoll.Team):
        raise _atoll.InvalidArgument(
            f"{function}(): team is {team!r}; pass an atoll.Team, or None for all PEs."
        )
    n = _atoll.n_pes(team)
    try:
        is_pe = 0 <= operator.index(pe) < n
    except TypeError:
        raise _atoll.InvalidArgument(f"{function}(): {argument} is {pe!r}; pass one integer.") from None
    if not is_pe:
        raise _atoll.PeError(f"{function}(): {argument} is {pe}, but the team has PEs 0 to {n - 1}.")


def _check(function: str, root: int, team: _atoll.Team | None) -> None:
    _atoll._check_job(function)
    check_pe(function, "root", root, team)


def bcast_object(obj: Any = None, root: int = 0, *, team: _atoll.Team | None = None) -> Any:
    """Return the root's obj on every PE.

    Parameters
    ----------
    obj
        Any object that can be pickled. It counts on the root only.
    root
        The PE of the team that gives the object; equal on all PEs.
    team
        The PEs that call; None: all.

    Returns
    -------
    object
        A copy of the root's object; on the root the object itself.

    Raises
    ------
    InvalidArgument
        The object cannot be pickled; on every PE. No object has travelled, and the next call is in step.
    PeError, PeDied, CollectiveMismatch
        The root is not a PE of the team; a PE has ended; the PEs called differently (unless ATOLL_CHECK=none).

    Notes
    -----
    Collective over the team. For set-up: by pickle it is much slower than broadcast of an array. Never
    unpickle what you do not trust: a PE does whatever the root's bytes say.
    """
    _check("bcast_object", root, team)
    mine = _atoll.my_pe(team) == root
    blob = _Blob("bcast_object", obj, team) if mine else None
    size = int(_atoll.broadcast(np.array([blob.size if blob else 0], np.int64), root, team=team)[0])
    data = _atoll.broadcast(blob.data if blob else np.empty(abs(size), np.uint8), root, team=team)
    _check_sizes([size], [data], blob.error if blob else None)
    return obj if mine else _load(data)


def _gathered(function: str, obj: object, team: _atoll.Team | None, how: str = "") -> list[Bytes]:
    """Return the bytes of all PEs' objects, in PE order, on every PE.

    `how` has the arguments that all PEs pass alike, as a text.
    """
    blob = _Blob(function, obj, team)
    mine = np.array([(blob.size, f"{function}({how})".encode())], _HEAD)
    heads = _atoll.fcollect(mine.view(np.uint8), team=team).view(_HEAD)[:, 0]
    sizes, calls = heads["size"], heads["call"]
    if any(call != calls[0] for call in calls):
        raise _mismatch([bytes(call).decode(errors="replace") for call in calls], team)
    ends = np.cumsum(np.abs(sizes))
    joined = _atoll.collect(blob.data, team=team)
    parts = cast("list[Bytes]", np.split(joined, ends[:-1]))
    _check_sizes(sizes, parts, blob.error)
    return parts


def _mismatch(calls: Sequence[str], team: _atoll.Team | None) -> Exception:
    """Return the error for calls that differ, which are by PE of the team."""
    from ._launching.failures import differing_calls

    world = _atoll.WORLD
    numbers = [(team or world).translate_pe(pe, world) for pe in range(len(calls))]
    line = np.array([line_text().encode(errors="replace")], f"S{_LINE_BYTES}")
    lines = _atoll.fcollect(line.view(np.uint8), team=team).view(line.dtype)[:, 0]  # all PEs are here
    sites = [bytes(each).decode(errors="replace") for each in lines]
    found = differing_calls(dict(zip(numbers, zip(calls, sites, strict=True), strict=True)))
    return _atoll.CollectiveMismatch(
        f"{found}. All PEs of the team make the same calls, in the same order, with the same root and operator."
    )


def exchanged(call: str, obj: Any, team: _atoll.Team) -> list[Any]:
    """Gather objects like allgather_object, for a call of this package, which matches only itself on the other PEs."""
    return [_load(part) for part in _gathered(call, obj, team)]


def gather_object(obj: Any, root: int = 0, *, team: _atoll.Team | None = None) -> list[Any] | None:
    """Return on the root the list of all PEs' obj, in PE order; elsewhere None.

    Parameters
    ----------
    obj
        This PE's object; any that can be pickled.
    root
        The PE of the team that gets the list; equal on all PEs.
    team
        The PEs that call; None: all.

    Returns
    -------
    list or None
        Copies of all PEs' objects on the root; None elsewhere.

    Raises
    ------
    InvalidArgument
        Some PE's object cannot be pickled; on every PE, naming that one.
    PeError, PeDied, CollectiveMismatch
        As for bcast_object; the last unless ATOLL_CHECK=none.

    Notes
    -----
    Collective over the team. For set-up, by pickle: see bcast_object, also for its warning.
    """
    _check("gather_object", root, team)
    parts = _gathered("gather_object", obj, team, f"root={root}")
    return [_load(part) for part in parts] if _atoll.my_pe(team) == root else None


def allgather_object(obj: Any, *, team: _atoll.Team | None = None) -> list[Any]:
    """Return on every PE the list of all PEs' obj, in PE order.

    Parameters
    ----------
    obj
        This PE's object; any that can be pickled. Kinds and sizes may differ between PEs.
    team
        The PEs that call; None: all.

    Returns
    -------
    list
        Copies of all PEs' objects, this PE's own among them.

    Raises
    ------
    InvalidArgument
        Some PE's object cannot be pickled; on every PE, naming that one.
    PeDied, CollectiveMismatch
        As for bcast_object; the last unless ATOLL_CHECK=none.

    Notes
    -----
    Collective over the team. For set-up, by pickle: see bcast_object, also for its warning.

    Examples
    --------
    >>> hosts = atoll.allgather_object(platform.node())
    """
    _atoll._check_job("allgather_object")
    return [_load(part) for part in _gathered("allgather_object", obj, team)]


def _blobs(function: str, objs: Any, team: _atoll.Team | None) -> list[_Blob]:
    """Return one blob for each PE, or the same refusal for all if one object cannot be pickled."""
    n, me = _atoll.n_pes(team), _atoll.my_pe(team)
    try:
        each = list(objs)
    except TypeError:
        each = None
    if each is None or len(each) != n:
        what = f"is {objs!r}" if each is None else f"has {len(each)} entries"
        sentence = (
            f"{function}(): objs of PE {me} {what}; pass a sequence with one object for each of the {n} PEs."
        )
        return [_Blob.refusal(sentence)] * n
    blobs = [_Blob(function, obj, team) for obj in each]
    wrong = [blob for blob in blobs if blob.size < 0]
    return [wrong[0]] * n if wrong else blobs


def _rows(blobs: Sequence[_Blob], width: int) -> npt.NDArray[np.uint8]:
    """Return the blobs as rows of one length, for collectives on equal blocks."""
    rows = np.zeros((len(blobs), width), np.uint8)
    for row, blob in zip(rows, blobs, strict=True):
        row[: blob.data.size] = blob.data
    return rows


def scatter_object(
    objs: Sequence[Any] | None = None, root: int = 0, *, team: _atoll.Team | None = None
) -> Any:
    """Return objs[my_pe] of the root's list on each PE.

    Parameters
    ----------
    objs
        One object for each PE of the team, in PE order. It counts on the root only.
    root
        The PE of the team that gives the objects; equal on all PEs.
    team
        The PEs that call; None: all.

    Returns
    -------
    object
        A copy of this PE's object; on the root the object itself.

    Raises
    ------
    InvalidArgument
        The root's objs are not a sequence of n_pes objects, or one of them cannot be pickled; on every PE.
    PeError, PeDied, CollectiveMismatch
        As for bcast_object; the last unless ATOLL_CHECK=none.

    Notes
    -----
    Collective over the team. For set-up, by pickle: see bcast_object, also for its warning. Each PE is sent as many
    bytes as the largest object has.
    """
    _check("scatter_object", root, team)
    n, me = _atoll.n_pes(team), _atoll.my_pe(team)
    blobs = _blobs("scatter_object", objs, team) if me == root else []
    sizes = np.array([blob.size for blob in blobs] or [0] * n, np.int64)
    sizes = _atoll.broadcast(sizes, root, team=team)
    width = int(np.abs(sizes).max())
    mine = np.empty(width, np.uint8)
    _atoll.scatter(mine, _rows(blobs, width) if me == root else None, root, team=team)
    part = mine[: abs(int(sizes[me]))]
    _check_sizes([sizes[me]], [part], blobs[me].error if blobs else None)
    return cast("Sequence[Any]", objs)[me] if me == root else _load(part)


def alltoall_object(objs: Sequence[Any], *, team: _atoll.Team | None = None) -> list[Any]:
    """Give each PE one object; return the objects that the PEs gave to this one, in PE order.

    Parameters
    ----------
    objs
        One object for each PE of the team: objs[i] goes to PE i.
    team
        The PEs that call; None: all.

    Returns
    -------
    list
        Copies of the objects for this PE, that of PE i at i.

    Raises
    ------
    InvalidArgument
        Some PE's objs are not a sequence of n_pes objects, or one of them cannot be pickled; on every PE, naming the first
        such PE.
    PeDied, CollectiveMismatch
        As for bcast_object; the last unless ATOLL_CHECK=none.

    Notes
    -----
    Collective over the team. For set-up, by pickle: see bcast_object, also for its warning. Each pair of PEs exchanges
    as many bytes as the largest object has.
    """
    _atoll._check_job("alltoall_object")
    blobs = _blobs("alltoall_object", objs, team)
    sizes = _atoll.alltoall(np.array([blob.size for blob in blobs], np.int64), team=team)
    width = int(_atoll.max_reduce(np.array([max(blob.data.size for blob in blobs)], np.int64), team=team)[0])
    rows = _atoll.alltoall(_rows(blobs, width), team=team)
    parts = [row[: abs(int(size))] for row, size in zip(rows, sizes, strict=True)]
    _check_sizes(sizes, parts, blobs[0].error)
    return [_load(part) for part in parts]


def reduce_object(
    obj: Any,
    op: ReduceName | Callable[[Any, Any], Any] = "sum",
    root: int | None = None,
    *,
    team: _atoll.Team | None = None,
) -> Any:
    """Combine all PEs' obj by op, in PE order: `op(op(obj_0, obj_1), obj_2)` and so on.

    Parameters
    ----------
    obj
        This PE's object; any that can be pickled.
    op
        A function of two objects that returns their combination, or "sum" (+), "prod" (*), "min", "max", "and" (&),
        "or" (|), "xor" (^). It runs on every PE that gets the result, on copies.
    root
        The PE that gets the result; None: every PE.
    team
        The PEs that call; None: all.

    Returns
    -------
    object
        The combination; None on PEs other than the root.

    Raises
    ------
    InvalidArgument
        Some PE's object cannot be pickled; on every PE. Or op is neither a function nor one of these names; on this PE,
        before anything is sent.
    PeError, PeDied, CollectiveMismatch
        As for bcast_object; the last unless ATOLL_CHECK=none.

    Notes
    -----
    Collective over the team. An exception of op is raised on the PEs that get the result. For set-up, by pickle: see
    bcast_object, also for its warning.

    Examples
    --------
    >>> words = atoll.reduce_object({"a", "b"}, "or")  # the union of all PEs' sets
    """
    _check("reduce_object", 0 if root is None else root, team)
    word = str(getattr(op, "name", op)).lower()
    combine = op if callable(op) else _OPERATORS.get(word)
    if combine is None:
        raise _atoll.InvalidArgument(
            f"reduce_object(): op is {op!r}; pass a function of two objects, or one of {', '.join(_OPERATORS)}."
        )
    named = getattr(op, "__name__", type(op).__name__) if callable(op) else word
    parts = _gathered("reduce_object", obj, team, f"op={named}, root={root}")
    if root is not None and _atoll.my_pe(team) != root:
        return None
    return functools.reduce(combine, [_load(part) for part in parts])
