"""Strided one-sided copies. The others are C++ in the module _atoll: python/src/operations/shmem.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _atoll
from ._handles import Ctx, context_of
from ._memory import flat, size_within

if TYPE_CHECKING:
    from ._types import Array

put = _atoll._shmem_put
put_nbi = _atoll._shmem_put_nbi
get = _atoll._shmem_get
get_nbi = _atoll._shmem_get_nbi
put_signal = _atoll._shmem_put_signal
put_signal_nbi = _atoll._shmem_put_signal_nbi


def strides_of(function: str, tst: int, sst: int) -> None:
    """Refuse strides that OpenSHMEM does not allow."""
    if tst < 1 or sst < 1:
        raise _atoll.InvalidArgument(
            f"{function}(): tst is {tst!r} and sst {sst!r}; strides count elements, at least 1."
        )


def _count(
    function: str, target: Array, source: Array, tst: int, sst: int, size: int | None
) -> tuple[Array, Array, int]:
    target, source = flat(function, "target", target), flat(function, "source", source)
    strides_of(function, tst, sst)
    limits = (("target", -(-target.size // tst)), ("source", -(-source.size // sst)))
    return target, source, size_within(function, size, limits)


def iput(
    target: Array,
    source: Array,
    pe: int,
    tst: int = 1,
    sst: int = 1,
    size: int | None = None,
    ctx: Ctx | None = None,
) -> None:
    """Copy source[i * sst] to target[i * tst] on PE pe, for i < size.

    Parameters
    ----------
    target
        A contiguous symmetric array.
    source
        A contiguous array of its dtype. Elements count in memory order.
    tst, sst
        Strides in elements, at least 1.
    size
        Elements. None: as many as both hold.
    pe
        The PE whose target is written.
    ctx
        The context, whose team numbers pe; None: the default context.

    Notes
    -----
    Local; completed like put. Raises as put does. Source: OpenSHMEM 1.6, section 9.5 (shmem_iput).
    """
    target, source, n = _count("iput", target, source, tst, sst, size)
    _atoll.iput(target, source, tst, sst, n, pe, ctx=None if ctx is None else context_of(ctx))


def iget(
    target: Array,
    source: Array,
    pe: int,
    tst: int = 1,
    sst: int = 1,
    size: int | None = None,
    ctx: Ctx | None = None,
) -> None:
    """Copy source[i * sst] of PE pe to the local target[i * tst], for i < size.

    `source` is a contiguous symmetric array; target is a contiguous array of its dtype. Other arguments as
    for iput. Local; the data are in target on return. Raises as get does. Source: OpenSHMEM 1.6, section 9.5
    (shmem_iget).
    """
    target, source, n = _count("iget", target, source, tst, sst, size)
    _atoll.iget(target, source, tst, sst, n, pe, ctx=None if ctx is None else context_of(ctx))
