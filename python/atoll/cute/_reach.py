"""Addresses, here and at peers; the threads of a scope, their barrier and their copies."""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import cutlass
import cutlass.cute as cute
from cutlass import Float, Int32, Int64, Numeric, Uint64
from cutlass._mlir import ir

from .. import _ptx
from .._ptx import AT
from ._core import (
    BLOCK,
    GRID,
    SYSTEM,
    THREAD,
    WARP,
    Scope,
    Team,
    apart,
    asm,
    is_shared,
    is_swizzled,
    kernel_name,
    load,
    pointer_of,
    store,
    threads_along,
)

# ---- addresses


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
def refuse_pe(team: Team, name: cutlass.Constexpr, pe: Int32):
    if (pe < 0) | (pe >= team.n_pes):
        words, kernel = [pe, team.n_pes, team.control, Int32(AT[f"check {name}"])], kernel_name()
        apart(f"atoll_refuse_pe_{kernel}", _ptx.check_pe("$3", kernel=kernel), "r,r,l,r", None, words)


@cute.jit
def refuse_place(team: Team, operation: cutlass.Constexpr, at: Int64):
    mine = team.window + Int64(team.my_slot) * team.stride
    if Uint64(at - mine) >= Uint64(team.stride):
        words, kernel = [at, mine, team.stride, team.control, Int32(operation)], kernel_name()
        apart(f"atoll_refuse_place_{kernel}", _ptx.check_place("$4", kernel=kernel), "l,l,l,l,r", None, words)


def check_place(team: Team, name: str, at) -> None:
    """Check that an address is in this PE's slot; without checks of addresses, do nothing."""
    if _ptx.CHECKS_ADDRESSES:
        refuse_place(team, AT[f"check {name}" if f"check {name}" in AT else name], at)


def team_of(name: str, given) -> Team:
    """Return the team that an argument is."""
    if not isinstance(given, Team):
        raise TypeError(
            f"atoll.cute.{name}: team is {type(given).__name__}; it must be the result of dev.team(team) on the host, as the "
            "kernel's argument `team: dev.Team`"
        )
    return given


def fits(name: str, dst, src) -> None:
    """Refuse a dst that is known to be smaller than src."""
    room, n = cute.size(dst), cute.size(src)
    if isinstance(room, int) and isinstance(n, int) and room < n:
        raise ValueError(
            f"atoll.cute.{name}: dst has {room} elements, and src {n}; pass a part of src as long as dst"
        )


def pe_of(name: str, pe):
    """Return a PE's number as an Int32."""
    if isinstance(pe, (float, Float, cute.Tensor, cute.Pointer, tuple, str)) or pe is None:
        raise TypeError(
            f"atoll.cute.{name}: pe is {type(pe).__name__}; it must be an integer, a PE's number in the team"
        )
    return Int32(pe)


def check_pe(team: Team, name: str, pe) -> None:
    """Check a PE's number; a correct one costs one comparison."""
    team_of(name, team)
    refuse_pe(team, name, pe_of(name, pe))


def peer_for(team: Team, name: str, at, pe):
    check_pe(team, name, pe)
    check_place(team, name, at)
    return at_peer(team, at, Int32(pe))


# ---- the threads of a scope


def rank_of(scope: Scope):
    if scope is THREAD:
        return Int32(0)
    if scope is WARP:
        return cute.arch.lane_idx()
    x, y, z = cute.arch.thread_idx()
    in_block = x + threads_along("x") * (y + threads_along("y") * z)
    return in_block if scope is BLOCK else block_number() * size_of(BLOCK) + in_block


def size_of(scope: Scope):
    if scope is THREAD:
        return Int32(1)
    if scope is WARP:
        return Int32(32)
    in_block = threads_along("x") * threads_along("y") * threads_along("z")
    return in_block if scope is BLOCK else blocks() * in_block


def blocks():
    x, y, z = cute.arch.grid_dim()
    return x * y * z


def block_number():
    (x, y, z), (gx, gy, _) = cute.arch.block_idx(), cute.arch.grid_dim()
    return x + gx * (y + gy * z)


def meet_threads(team: Team, scope: Scope) -> None:
    """The barrier of this PE's threads in the scope."""
    if scope is WARP:
        cute.arch.sync_warp()
    elif scope is BLOCK:
        cute.arch.sync_threads()
    elif scope is GRID:
        meet_grid(team)


HALF = -0x80000000


@cute.jit
def meet_grid(team: Team):
    """Wait for all blocks. They add 2^31 in all, whatever their number, so the top bit flips when all have
    arrived.
    """
    cute.arch.sync_threads()
    if rank_of(BLOCK) == 0:
        at = team.control + AT["grid_arrived"]
        mine = Int32(1)
        if block_number() == 0:
            mine = Int32(HALF) - (blocks() - 1)
        before = asm("atom.add.acq_rel.gpu.global.u32 $0, [$1], $2;", "=r,l,r", Int32, [at, mine])
        since = Int64(0)
        looks = Int32(0)
        turned = Int32(0)
        while turned == 0:
            now = asm("ld.acquire.gpu.global.u32 $0, [$1];", "=r,l", Int32, [at])
            turned = (now ^ before) & Int32(HALF)
            looks += 1
            if looks == _ptx.LOOKS:
                looks = Int32(0)
                call = Call("grid_sync", Int32(0), None)
                since = look_around(team, call, -1, Int32(-1), at, Int64(0), Int64(0), since)
    cute.arch.sync_threads()


class Call(NamedTuple):
    """The call that a wait belongs to, for its report."""

    operation: str
    tag: Int32
    bound: Int64 | None
    """The limit of this wait, in ns. None: it has no limit of its own, and the kernel no code for it."""


def call_of(name: str, tag, bound_ns, operation: str = "") -> Call:
    """Return the Call of a function. `operation`: its name in reports, if that is another."""
    bound = None
    if not (isinstance(bound_ns, int) and bound_ns == 0):
        if isinstance(bound_ns, Float) or not isinstance(bound_ns, (int, Numeric, ir.Value)):
            raise TypeError(
                f"atoll.cute.{name}: bound_ns is {type(bound_ns).__name__}; it must be an integer, nanoseconds"
            )
        bound = Int64(bound_ns)
    return Call(operation or name, Int32(tag), bound)


def look_around(team, call: Call, compare: int, peer, at, expected, found, since):
    words = [team.control, Int32(AT[call.operation]), Int32(compare), peer, call.tag, at, expected, found, since]  # fmt: skip
    name, own = "atoll_look_around", []
    if call.bound is not None:
        name, own = "atoll_look_within", [call.bound]
    kernel = kernel_name()
    text = _ptx.look_around(bound="$10" if own else "", kernel=kernel)
    return apart(f"{name}_{kernel}", text, f"=l,l,r,r,r,r,l,l,l,l{',l' * len(own)}", Int64, [*words, *own])


@cute.jit
def share_over_grid(team: Team, value: Int32):
    at = team.control + AT["grid_word"]
    if rank_of(GRID) == 0:
        store(Int32, at, value, SYSTEM)
    meet_grid(team)
    said = load(Int32, at, SYSTEM)
    meet_grid(team)
    return said


def share(team: Team, scope: Scope, value):
    """Return rank 0's Int32 to all threads of the scope, ordered after what rank 0 saw: a shuffle does not
    order memory.
    """
    if scope is WARP:
        return asm(
            "shfl.sync.idx.b32 $0, $1, 0, 31, 0xffffffff; bar.warp.sync 0xffffffff;", "=r,r", Int32, [value]
        )
    if scope is BLOCK:
        return asm(_ptx.share_in_block(), "=r,r,r", Int32, [value, rank_of(BLOCK)])
    return share_over_grid(team, value) if scope is GRID else value


# ---- copies


@cute.jit
def copy_units(to: Int64, source: Int64, n: Int64, unit: cutlass.Constexpr, rank: Int64, size: Int64):
    i, step = rank, size * unit
    while i + size * (_ptx.BULK - 1) < n:
        asm(_ptx.copy(unit, _ptx.BULK), "l,l,l", None, [to + i * unit, source + i * unit, step])
        i += size * _ptx.BULK
    while i < n:
        asm(_ptx.copy(unit, 1), "l,l,l", None, [to + i * unit, source + i * unit, step])
        i += size


def unknown(number):
    """Return the number unchanged, hidden from the compiler.

    CuTe DSL 4.8.1 knows that a thread's number is below 1024 and that a block has no more threads. From `i +
    3 * threads < 4096`, where i began as a thread's number, it made a loop without an end.
    """
    width, letter = (64, "l") if isinstance(number, Int64) else (32, "r")
    return asm(f"mov.b{width} $0, $1;", f"={letter},{letter}", type(number), [number])


def place_of(scope: Scope, kind):
    """Return this thread's number in the scope and the scope's size, for loops whose step is the latter."""
    rank, size = kind(rank_of(scope)), kind(size_of(scope))
    return (rank, size) if scope is THREAD else (unknown(rank), unknown(size))


@cute.jit
def copy_bytes(
    to: Int64,
    source: Int64,
    nbytes: Int64,
    aligned: cutlass.Constexpr,
    least: cutlass.Constexpr,
    scope: cutlass.Constexpr,
):
    """Copy in the largest units that both addresses allow.

    `aligned` and `least` are known divisors of both addresses, in bytes; `least` also divides nbytes.
    """
    rank, size = place_of(scope, Int64)
    if cutlass.const_expr(aligned >= 16):  # noqa: SIM114 (decided when it is compiled, the latter in the kernel)
        copy_units(to, source, nbytes >> 4, 16, rank, size)
        rest = nbytes & ~15
        copy_units(to + rest, source + rest, (nbytes & 15) // least, least, rank, size)
    elif (to | source) & 15 == 0:
        copy_units(to, source, nbytes >> 4, 16, rank, size)
        rest = nbytes & ~15
        copy_units(to + rest, source + rest, (nbytes & 15) // least, least, rank, size)
    else:
        copy_units(to, source, nbytes // least, least, rank, size)


def is_dense(x) -> bool:
    """Return whether x's elements are known to be contiguous."""
    if is_swizzled(x):
        return False
    layout = cute.coalesce(x.layout)
    stride = layout.stride
    return stride in (1, (1,)) or (cute.is_static(layout) and cute.size(layout) == 1)


@cute.jit
def copy_elements(dst: cute.Tensor, src: cute.Tensor, scope: cutlass.Constexpr):
    i, step = place_of(scope, Int32)
    n = Int32(cute.size(src))
    while i < n:
        dst[i] = src[i]
        i += step


def moved(x, at, aligned: int = 0):
    """Return symmetric x at another address, that of a PE's copy.

    `aligned`: a divisor of the address, in bytes, if it is not that of x.
    """
    pointer = cute.make_ptr(x.element_type, at, cute.AddressSpace.gmem, assumed_align=aligned or words_at(x))
    return cute.make_tensor(pointer, x.layout)


def size_in_bytes(x):
    return Int64(cute.size(x)) * (x.element_type.width // 8)


def copy_tensor(dst, src, scope: Scope) -> None:
    """Copy src to dst: as many elements as src has.

    Both are tensors, which know their memory: elements are loaded and stored by instructions of that memory,
    units through generic addresses.
    """
    if is_dense(dst) and is_dense(src):
        item = src.element_type.width // 8
        aligned = min(words_at(dst), words_at(src))
        least = min(item & -item, 8)
        copy_bytes(address(dst), address(src), size_in_bytes(src), aligned, least, scope)
    else:
        copy_elements(dst, src, scope)
