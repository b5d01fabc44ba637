"""Addresses of other PEs' copies, and the checks of PE numbers and addresses."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import constexpr_function, jit

from .._device import DeviceTeam
from .._kernels import ptx
from .._kernels.checks import CHECKS
from ._checks import integer_pe
from ._dsl import refuse_address, refuse_pe
from ._primitives import at_int64
from ._types import INTERPRETED


def checks(name):
    """Return the number of `name` in reports of a wrong PE or of an address that is not symmetric."""
    return tl.constexpr(CHECKS[name])


_AT_ONCE = tl.constexpr(64)  # members that are compared together
_PEER = checks("peer")
_PE_TEXT = tl.constexpr(ptx.check_pe("OPERATION", "$1", "$2", "$3") + " mov.u32 $0, 0;")
# Empty in kernels without checks of addresses. It is part of Triton's cache key, so these have other cached
# kernels.
_ADDRESS_TEXT = tl.constexpr(
    ptx.check_address("OPERATION", "$1", "$2", "$3", "$4") + " mov.u32 $0, 0;" if ptx.CHECKS_ADDRESSES else ""
)


@constexpr_function
def _text_for(text, operation):
    return text.replace("OPERATION", str(operation))


@constexpr_function
def _is_block(x):
    return x.type.is_block()


@jit
def team_at(state):
    """Return the team whose ten int64 fields are at the pointer `state`, made by inductor.team_tensor.

    For kernels that take no tuple. Local. Source: Atoll.
    """
    return DeviceTeam(
        tl.load(state).to(tl.int32),
        tl.load(state + 1).to(tl.int32),
        tl.load(state + 2),
        tl.load(state + 3),
        tl.load(state + 4).to(tl.int32),
        tl.load(state + 5).to(tl.int32),
        tl.load(state + 6).to(tl.int32),
        tl.load(state + 7),
        tl.load(state + 8),
        tl.load(state + 9),
    )


@jit
def slot_of(team, pe):
    slot = team.first + pe * team.step + tl.full((), 0, tl.int64)  # an argument that is 1 is a constant
    if team.table != 0:
        slot = tl.load(team.table.to(tl.int64).to(tl.pointer_type(tl.int32)) + pe).to(tl.int64)
    return slot


@jit
def reach(team, address, pe):
    """Return the address of PE `pe`'s copy of the data at a local address."""
    return address + (slot_of(team, pe) - team.my_slot) * team.stride


@jit
def at_pe(team, x, pe):
    # The distance is an offset in elements, declared to be a multiple of 16: slots are at least 64 KiB apart,
    # on GPUs 512 GiB. So Triton moves as many bytes at a time as x's own alignment allows.
    size: tl.constexpr = tl.constexpr(max(x.dtype.scalar.element_ty.primitive_bitwidth // 8, 1))
    distance = (slot_of(team, pe) - team.my_slot) * (team.stride // size)
    return x + tl.multiple_of(distance, 16)


@jit
def check_pe(team, pe, operation: tl.constexpr):
    """With checks on, report a PE that the team does not have, and trap."""
    integer_pe(pe)
    if INTERPRETED:
        refuse_pe(team, pe, operation)
    else:
        which = (pe + tl.full((), 0, tl.int32)).to(tl.int32)
        tl.inline_asm_elementwise(
            _text_for(_PE_TEXT, operation), "=r,r,r,l", [which, team.n_pes, team.control],
            tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@jit
def check_address(team, x, operation: tl.constexpr, SOME: tl.constexpr = False):
    """With checks of addresses, report a pointer outside this PE's slot, and trap.

    SOME: in a block, one pointer inside the slot suffices, since the caller may mask the others out.
    """
    if INTERPRETED:
        refuse_address(team, x, SOME)
    elif _ADDRESS_TEXT != "":
        mine, stride = at_int64(team.window) + at_int64(team.my_slot) * team.stride, at_int64(team.stride)
        address = at_int64(x)
        if SOME and _is_block(address):
            inside = (address - mine).to(tl.uint64, bitcast=True) < stride.to(tl.uint64, bitcast=True)
            address = tl.where(tl.max(inside.to(tl.int32)) != 0, mine, tl.min(address))
        tl.inline_asm_elementwise(
            _text_for(_ADDRESS_TEXT, operation), "=r,l,l,l,l", [address, mine, stride, team.control],
            tl.int32, is_pure=False, pack=1,
        )  # fmt: skip


@jit
def peer_for(team, x, pe, operation: tl.constexpr):
    check_pe(team, pe, operation)
    check_address(team, x, operation)
    return at_pe(team, x, pe)


@jit
def ptr(team, x, pe):
    check_pe(team, pe, _PEER)
    check_address(team, x, _PEER, True)
    return at_pe(team, x, pe)


@jit
def translate_pe(team, pe, to):
    wanted = slot_of(team, tl.minimum(tl.maximum(pe, 0), team.n_pes - 1))
    found = tl.full((), -1, tl.int32)
    for first in range(0, to.n_pes, _AT_ONCE):
        members = first + tl.arange(0, _AT_ONCE)
        inside = members < to.n_pes
        same = inside & (slot_of(to, tl.where(inside, members, 0)) == wanted)
        found = tl.maximum(found, tl.max(tl.where(same, members, -1), 0))
    return tl.where((pe >= 0) & (pe < team.n_pes), found, -1)


@jit
def peer(team, x, pe):
    return ptr(team, x, pe)


@jit
def my_pe(team):
    return team.my_pe


@jit
def n_pes(team):
    return team.n_pes
