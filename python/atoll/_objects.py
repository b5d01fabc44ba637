"""Python objects between PEs, by pickle: for set-up, not for speed."""

from __future__ import annotations

import operator
import pickle
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _atoll

if TYPE_CHECKING:
    import numpy.typing as npt


def _bytes(obj: object) -> npt.NDArray[np.uint8]:
    return np.frombuffer(pickle.dumps(obj, pickle.HIGHEST_PROTOCOL), np.uint8)


def _check(function: str, root: int, team: _atoll.Team | None) -> None:
    _atoll._check_job(function)
    n = _atoll.n_pes(team)
    try:
        is_pe = 0 <= operator.index(root) < n
    except TypeError:
        raise _atoll.InvalidArgument(f"{function}(): root is {root!r}; pass one integer.") from None
    if not is_pe:
        raise _atoll.PeError(f"{function}(): root is {root}, but the team has PEs 0 to {n - 1}.")


def bcast_object(obj: Any = None, root: int = 0, *, team: _atoll.Team | None = None) -> Any:
    """Return the root's obj on every PE.

    For set-up: it travels by pickle, some hundred times slower than broadcast of an array. obj counts on the
    root only. Collective over the team (None: all PEs). Never unpickle what you do not trust: a PE does
    whatever the root's bytes say. Raises PeError, PeDied, CollectiveMismatch (the PEs' roots are
    compared only with ATOLL_CHECK=all).
    """
    _check("bcast_object", root, team)
    mine = _atoll.my_pe(team) == root
    data = _bytes(obj) if mine else np.empty(0, np.uint8)
    size = int(_atoll.broadcast(np.array([data.size], np.int64), root, team=team)[0])
    if not mine:
        data = np.empty(size, np.uint8)
    data = _atoll.broadcast(data, root, team=team)
    return obj if mine else pickle.loads(data.tobytes())


def gather_object(obj: Any, root: int = 0, *, team: _atoll.Team | None = None) -> list[Any] | None:
    """Return on the root the list of all PEs' obj, in PE order; elsewhere None.

    For set-up: by pickle, like bcast_object, with the same warning. Collective over the team (None: all PEs).
    """
    _check("gather_object", root, team)
    data = _bytes(obj)
    sizes = _atoll.fcollect(np.array([data.size], np.int64), team=team)[:, 0]
    joined = _atoll.collect(data, team=team)
    if _atoll.my_pe(team) != root:
        return None
    ends = cast("list[int]", np.cumsum(sizes).tolist())
    return [
        pickle.loads(joined[end - int(size) : end].tobytes()) for end, size in zip(ends, sizes, strict=True)
    ]
