"""Addresses of other PEs' copies, and the checks of PE numbers and addresses."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64, Uint64

from .._kernels import ptx
from .._kernels.checks import CHECKS
from ._primitives import apart, asm, kernel_name, load
from ._types import Team, is_shared, kind_of, pointer_of


def my_pe(team):
    return team.my_pe


def n_pes(team):
    return team.n_pes


@cute.jit
def translate_pe(team: Team, pe: Int32, to: Team):
    found = Int32(-1)
    if (pe >= 0) & (pe < team.n_pes):
        slot = slot_of(team, pe)
        for i in cutlass.range(to.n_pes):
            if slot_of(to, i) == slot:
                found = Int32(i)
    return found


def ptr(team, x, pe):
    at = peer_for(team, CHECKS["peer"], address(x), pe)
    return cute.make_ptr(kind_of("x", x), at, cute.AddressSpace.gmem, assumed_align=words_at(x))


def peer(team, x, pe):
    if not isinstance(x, cute.Tensor):
        raise TypeError(f"atoll.cute.peer: x is {type(x).__name__}; it must be a cute.Tensor")
    return there(CHECKS["peer"], team, x, pe)


def there(operation: int, team, x, pe):
    """Return PE `pe`'s copy of a tensor."""
    return moved(x, peer_for(team, operation, address(x), pe))


def address(x):
    """Return the generic address (Int64) of the first element."""
    pointer = pointer_of(x)
    if is_shared(x):
        return asm(
            "{ .reg .b64 s; cvt.u64.u32 s, $1; cvta.shared.u64 $0, s; }",
            "=l,r",
            Int64,
            [Int32(pointer.toint())],
        )
    return Int64(pointer.toint())


def words_at(x) -> int:
    """Return the greatest known divisor of x's address, in bytes."""
    return int(getattr(pointer_of(x), "alignment", 1) or 1)


@cute.jit
def slot_of(team: Team, pe: Int32):
    slot = Int32(team.first + pe * team.step)
    if team.table != 0:
        slot = load(Int32, team.table + Int64(pe) * 4)
    return slot


@cute.jit
def at_peer(team: Team, at: Int64, pe: Int32):
    return at + Int64(slot_of(team, pe) - team.my_slot) * team.stride


@cute.jit
def refuse_pe(team: Team, operation: Constexpr, pe: Int32):
    if (pe < 0) | (pe >= team.n_pes):
        words, kernel = [pe, team.n_pes, team.control, Int32(operation)], kernel_name()
        apart(f"atoll_refuse_pe_{kernel}", ptx.check_pe("$3", kernel=kernel), "r,r,l,r", None, words)


@cute.jit
def refuse_address(team: Team, operation: Constexpr, at: Int64):
    mine = team.window + Int64(team.my_slot) * team.stride
    if Uint64(at - mine) >= Uint64(team.stride):
        words, name = [at, mine, team.stride, team.control, Int32(operation)], kernel_name()
        apart(f"atoll_refuse_address_{name}", ptx.check_address("$4", kernel=name), "l,l,l,l,r", None, words)


def check_address(team: Team, operation: int, at) -> None:
    """Check that an address is in this PE's slot; without checks of addresses, do nothing."""
    if ptx.CHECKS_ADDRESSES:
        refuse_address(team, operation, at)


def peer_for(team: Team, operation: int, at, pe):
    """at_peer, for a PE that the program named: its number and the address are checked."""
    refuse_pe(team, operation, pe)
    check_address(team, operation, at)
    return at_peer(team, at, pe)


def moved(x, at, aligned: int = 0):
    """Return symmetric x at another address, that of a PE's copy.

    `aligned`: a divisor of the address, in bytes, if it is not that of x.
    """
    pointer = cute.make_ptr(x.element_type, at, cute.AddressSpace.gmem, assumed_align=aligned or words_at(x))
    return cute.make_tensor(pointer, x.layout)
