"""One-sided copies. What is not strided is C of the module _atoll: python/src/shmem.cpp."""

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
    """Refuses strides that OpenSHMEM has not."""
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

    target:   a contiguous symmetric array; source: a contiguous array of its dtype. Elements count in memory order.
    tst, sst: elements, at least 1.
    size:     None: as many as both hold.
    ctx:      in whose team pe is counted; None: the default context.

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

    source: a contiguous symmetric array; target: a contiguous array of its dtype. Else as for iput.

    Local; the data are in target on return. Raises as get does. Source: OpenSHMEM 1.6, section 9.5 (shmem_iget).
    """
    target, source, n = _count("iget", target, source, tst, sst, size)
    _atoll.iget(target, source, tst, sst, n, pe, ctx=None if ctx is None else context_of(ctx))
