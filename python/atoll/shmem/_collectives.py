"""Collectives: all PEs of a team call them, in the same order, with the same sizes, roots and operators.

They take contiguous arrays, symmetric (faster) or not, whose elements count in memory order, whatever the
shapes. They return when this PE's part is done. Only barrier_all completes puts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _atoll
from ._enums import StrEnum
from ._handles import Team, valid_team
from ._memory import flat, size_within
from ._moves import strides_of

if TYPE_CHECKING:
    from ._types import Array

barrier_all = _atoll._shmem_barrier_all
sync_all = _atoll._shmem_sync_all


def _flat_pair(function: str, target: Array, source: Array) -> tuple[Array, Array]:
    if type(target) is np.ndarray and type(source) is np.ndarray and target.ndim == 1 == source.ndim:
        return target, source  # Atoll's collectives take any strides
    return flat(function, "target", target), flat(function, "source", source)


def _pair(function: str, target: Array, source: Array, size: int | None) -> tuple[Array, Array]:
    """Return target and source, both of `size` elements."""
    target, source = _flat_pair(function, target, source)
    n, m = target.size, source.size
    if n == m and size is None:
        return target, source
    count = size_within(function, size, (("target", n), ("source", m)))
    return target[:count], source[:count]


def sync(team: Team | None = None) -> None:
    """Wait until all PEs of a team have arrived; puts are not completed. Collective over the team (None: all
    PEs).

    Each PE's earlier plain stores are visible to all afterwards. Raises RuntimeError (TEAM_INVALID), PeDied,
    CollectiveMismatch (the PEs' calls are compared unless ATOLL_CHECK=none). Source: OpenSHMEM 1.6, section
    9.11 (shmem_team_sync).
    """
    _atoll.sync(None if team is None else valid_team("sync", team))


def broadcast(
    target: Array, source: Array, root: int, size: int | None = None, team: Team | None = None
) -> None:
    """Copy the first size elements of root's source into target on every PE of the team, on the root too.

    Parameters
    ----------
    target
        An array on each PE, symmetric (faster) or not.
    source
        This PE's array, of the same dtype.
    root
        A PE number of the team.
    size
        Elements. None: as many as the smaller array has.
    team
        The PEs that call; None: all.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, PeError, PeDied
        An argument is wrong, or a PE has ended.
    CollectiveMismatch
        The PEs called differently: bytes and roots are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Collective over the team. Source: OpenSHMEM 1.6, section 9.11 (shmem_broadcast).
    """
    target, source = _pair("broadcast", target, source, size)
    _atoll.broadcast(target, source, root, team=None if team is None else valid_team("broadcast", team))


def collect(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Give every PE the first size elements of all PEs' source, one after the other in PE order.

    Parameters
    ----------
    target
        An array that holds at least the elements of all PEs; the rest of it is unchanged.
    source
        This PE's array, of the same dtype.
    size
        Elements, 0 or more; it may differ between PEs. None: all of source.
    team
        The PEs that call; None: all.

    Notes
    -----
    Collective over the team. Raises as broadcast does. Source: OpenSHMEM 1.6, section 9.11 (shmem_collect).
    """
    target, source = _flat_pair("collect", target, source)
    count = size_within(
        "collect", source.size if size is None else size, (("target", target.size), ("source", source.size))
    )
    _atoll.collect(target, source[:count], team=None if team is None else valid_team("collect", team))


def fcollect(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Give every PE the first size elements of all PEs' source, in PE order; size is equal on all.

    Parameters
    ----------
    target
        An array of at least n_pes * size elements; the rest of it is unchanged.
    source
        This PE's array, of the same dtype.
    size
        Elements. None: all of source.
    team
        The PEs that call; None: all.

    Notes
    -----
    Collective over the team. Raises as broadcast does. Source: OpenSHMEM 1.6, section 9.11 (shmem_fcollect).
    """
    of_team = None if team is None else valid_team("fcollect", team)
    n = _atoll.n_pes(of_team)
    target, source = _flat_pair("fcollect", target, source)
    limits = (("target", target.size // n), ("source", source.size))
    count = size_within("fcollect", source.size if size is None else size, limits)
    _atoll.fcollect(target[: count * n], source[:count], team=of_team)


def _block(function: str, size: int | None, most: int, n: int) -> int:
    """Return the number of elements of a block of an exchange."""
    if size is not None:
        return size_within(function, size, (("each of the blocks", most // n),))
    if most % n != 0:
        raise _atoll.ShapeMismatch(
            f"{function}(): {most} elements do not divide into {n} equal blocks, one for each PE; pass size."
        )
    return most // n


def alltoall(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Exchange blocks of size elements: block j of this PE's source becomes block my_pe of PE j's target.

    Parameters
    ----------
    target
        An array on each PE, symmetric (faster) or not.
    source
        This PE's array, of the same dtype.
    size
        Elements of a block. None: an n_pes-th of the smaller array.
    team
        The PEs that call; None: all.

    Notes
    -----
    Collective over the team. Raises as broadcast does. Source: OpenSHMEM 1.6, section 9.11 (shmem_alltoall).
    """
    of_team = None if team is None else valid_team("alltoall", team)
    n = _atoll.n_pes(of_team)
    target, source = _flat_pair("alltoall", target, source)
    count = n * _block("alltoall", size, min(target.size, source.size), n)
    _atoll.alltoall(target[:count], source[:count], team=of_team)


def alltoalls(
    target: Array,
    source: Array,
    tst: int = 1,
    sst: int = 1,
    size: int | None = None,
    team: Team | None = None,
) -> None:
    """Exchange blocks as alltoall, of strided elements: element i of block j has index (j * size + i) *
    stride.

    `tst` and `sst` are target's and source's stride in elements, at least 1. Other arguments and errors as
    for alltoall. Source: OpenSHMEM 1.6, section 9.11 (shmem_alltoalls).
    """
    of_team = None if team is None else valid_team("alltoalls", team)
    n = _atoll.n_pes(of_team)
    target, source = flat("alltoalls", "target", target), flat("alltoalls", "source", source)
    strides_of("alltoalls", tst, sst)
    count = _block("alltoalls", size, min(-(-target.size // tst), -(-source.size // sst)), n)
    _atoll.alltoalls(target, source, tst, sst, count, team=of_team)


class OP(StrEnum):
    """Operators of a reduction. AND, OR and XOR are bitwise, on bool logical."""

    AND = "and"
    OR = "or"
    XOR = "xor"
    MAX = "max"
    MIN = "min"
    SUM = "sum"
    PROD = "prod"


OP_AND: OP = OP.AND
OP_OR: OP = OP.OR
OP_XOR: OP = OP.XOR
OP_MAX: OP = OP.MAX
OP_MIN: OP = OP.MIN
OP_SUM: OP = OP.SUM
OP_PROD: OP = OP.PROD

_reductions: dict[str, Callable[..., Any]] = {op: getattr(_atoll, f"{op}_reduce") for op in OP}


def _reduction(op: str) -> Callable[..., Any]:
    found = _reductions.get(op.lower()) if isinstance(op, str) else None
    if found is None:
        raise _atoll.InvalidArgument(f"reduce(): op is {op!r}; pass one of shmem.OP, such as shmem.OP_SUM.")
    return found


def reduce(
    target: Array, source: Array, op: OP = OP_SUM, size: int | None = None, team: Team | None = None
) -> None:
    """Combine the first size elements of all PEs' source by an operator, element by element, into target
    everywhere.

    Parameters
    ----------
    target
        An array on each PE; it may be source, symmetric (faster) or not.
    source
        This PE's array, of the same dtype.
    op
        OP_SUM and the like, or its text. SUM and PROD take integers, floats and complex numbers, MIN and MAX
        integers and floats, the others integers and bool.
    size
        Elements. None: as many as the smaller array has.
    team
        The PEs that call; None: all.

    Raises
    ------
    InvalidArgument, DtypeMismatch, ShapeMismatch, PeDied
        An argument is wrong (InvalidArgument: op), or a PE has ended.
    CollectiveMismatch
        The PEs called differently: sizes and dtypes are compared unless ATOLL_CHECK=none.

    Notes
    -----
    Collective over the team. Elements are combined in PE order, so all PEs and all runs get the same bits.
    Source: OpenSHMEM 1.6, section 9.11 (reductions).
    """
    call = _reductions.get(op) or _reduction(op)
    target, source = _pair("reduce", target, source, size)
    call(target, source, team=None if team is None else valid_team("reduce", team))


def and_reduce(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Do reduce with OP_AND: bitwise AND over the PEs. Collective."""
    reduce(target, source, OP_AND, size, team)


def or_reduce(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Do reduce with OP_OR: bitwise OR over the PEs. Collective."""
    reduce(target, source, OP_OR, size, team)


def xor_reduce(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Do reduce with OP_XOR: bitwise XOR over the PEs. Collective."""
    reduce(target, source, OP_XOR, size, team)


def max_reduce(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Do reduce with OP_MAX: the largest over the PEs. Collective."""
    reduce(target, source, OP_MAX, size, team)


def min_reduce(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Do reduce with OP_MIN: the smallest over the PEs. Collective."""
    reduce(target, source, OP_MIN, size, team)


def sum_reduce(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Do reduce with OP_SUM: the sum over the PEs. Collective."""
    reduce(target, source, OP_SUM, size, team)


def prod_reduce(target: Array, source: Array, size: int | None = None, team: Team | None = None) -> None:
    """Do reduce with OP_PROD: the product over the PEs. Collective."""
    reduce(target, source, OP_PROD, size, team)
