"""Comparisons and waiting loops, as in atoll/device/wait.hpp."""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._kernels import ptx
from .._kernels.constants import COMPARED_BY
from .._kernels.ptx import NO_VALUES
from ._primitives import ACQUIRE, SYSTEM, apart, asm, kernel_name, load, to_bits
from ._types import GE, Compare

AT_LEAST = int(ptx.reported("u64", GE.value))


@cute.jit
def wait_relaxed(control: Int64, at: Int64, value: Int64, call: Constexpr, peer: Int32):
    """Wait until the word is at least `value`, without order."""
    since, polls = Int64(0), Int32(0)
    found = load(Int64, at, SYSTEM)
    while found < value:
        polls += 1
        if polls == 1024:
            polls = Int32(0)
            since = check_job(control, call, AT_LEAST, peer, at, value, found, since)
        found = load(Int64, at, SYSTEM)


class Call(NamedTuple):
    """The call that a wait belongs to, for its report."""

    operation: int
    tag: Int32
    bound: Int64 | None
    """The limit of this wait, in ns. None: it has no limit of its own, and the kernel no code for it."""


def call_of(operation: int, tag, bound_ns) -> Call:
    is_bounded = not isinstance(bound_ns, int) or bound_ns != 0
    return Call(operation, Int32(tag), Int64(bound_ns) if is_bounded else None)


def check_job(control, call: Call, subject: int, peer, at, expected, found, since):
    words = [control, Int32(call.operation), Int32(subject), peer, call.tag, at, expected, found, since]  # fmt: skip
    name, own = "atoll_check_job", []
    if call.bound is not None:
        name, own = "atoll_check_within", [call.bound]
    kernel = kernel_name()
    text = ptx.check_job(bound="$10" if own else "", kernel=kernel)
    return apart(f"{name}_{kernel}", text, f"=l,l,r,r,r,r,l,l,l,l{',l' * len(own)}", Int64, [*words, *own])


def holds(found, cmp: Compare, value):
    return COMPARED_BY[cmp.value](found, value)


def reported(kind, cmp: Compare) -> int:
    """The subject of a report: a word, with the comparison and the type."""
    return int(ptx.reported(f"{'s' if kind.signed else 'u'}{kind.width}", cmp.value))


@cute.jit
def wait_word(
    kind: Constexpr, control: Int64, at: Int64, cmp: Constexpr, value, call: Constexpr, peer: Int32,
    order: Constexpr = ACQUIRE,
):  # fmt: skip
    """Wait until the word holds, with acquire, and return its value."""
    since, polls = Int64(0), Int32(0)
    found = load(kind, at, order)
    while not holds(found, cmp, value):
        polls += 1
        if polls == ptx.POLLS:
            polls = Int32(0)
            wanted, seen = to_bits(kind, value), to_bits(kind, found)
            since = check_job(control, call, reported(kind, cmp), peer, at, wanted, seen, since)
        found = load(kind, at, order)
    return found


def poll_flagged(flag, *addresses):
    found = asm(ptx.poll_flagged(len(addresses)), f"{'=&l,' * len(addresses)}=r,r{',l' * len(addresses)}", (*(Int64,) * len(addresses), Int32), [flag, *addresses])  # fmt: skip
    return list(found[:-1]), found[-1]


@cute.jit
def wait_pairs(control: Int64, addresses: Constexpr, flag: Int32, call: Constexpr, peer: Int32):
    """Wait until the two flagged words at each of these addresses carry `flag`, and return their eight bytes
    of data.
    """
    since, here = Int64(0), Int32(0)
    data = [Int64(0) for _ in addresses]
    while here == 0:
        data, here = poll_flagged(flag, *addresses)
        if here == 0:
            since = check_job(control, call, NO_VALUES, peer, addresses[0], Int64(flag), Int64(0), since)
    return data


def wait_pair(control, at, flag, call, peer):
    return wait_pairs(control, (at,), flag, call, peer)[0]
