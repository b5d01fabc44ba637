"""The numbers of PEs, put and get, the operations that order them, and atomics (atoll/device/rma.hpp,
atomics.hpp).
"""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import BFloat16, Int32, Int64

from ._core import (
    BLOCK,
    FLOATS,
    GRID,
    HALVES,
    NARROW,
    SET,
    SYSTEM,
    THREAD,
    WORDS,
    Scope,
    SignalOp,
    Team,
    add_half,
    add_release,
    asm,
    compare_swap,
    complete_bulk,
    full_fence,
    global_memory,
    has_bulk,
    is_shared,
    is_swizzled,
    kind_of,
    load,
    load_narrow,
    number,
    one_of,
    read_bulk,
    same,
    store,
    store_narrow,
    tensor_in_memory,
    update,
    word,
)
from ._reach import (
    address,
    at_peer,
    check_place,
    copy_tensor,
    fits,
    is_dense,
    meet_threads,
    moved,
    peer_for,
    place_of,
    rank_of,
    size_in_bytes,
    size_of,
    slot_of,
    words_at,
)

# ---- numbers and addresses of PEs


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
    kind = kind_of("ptr", "x", x)
    global_memory("ptr", "x", x)
    at = peer_for(team, "peer", address(x), pe)
    return cute.make_ptr(kind, at, cute.AddressSpace.gmem, assumed_align=words_at(x))


def peer(team, x, pe):
    tensor_in_memory("peer", "x", x)
    return there("peer", "x", team, x, pe)


def rank(scope: Scope = GRID):
    return rank_of(one_of(Scope, "rank", scope))


def size(scope: Scope = GRID):
    return size_of(one_of(Scope, "size", scope))


def meet(team, scope: Scope = BLOCK):
    meet_threads(team, one_of(Scope, "meet", scope))


# ---- put, get


def there(name: str, which: str, team, x, pe):
    """Return PE `pe`'s copy of a tensor."""
    global_memory(name, which, x)
    return moved(x, peer_for(team, name.removesuffix("_nbi"), address(x), pe))


def _put(name: str, team, dst, src, pe, scope) -> None:
    same(name, dst, src)
    fits(name, dst, src)
    copy_tensor(there(name, "dst", team, dst, pe), src, one_of(Scope, name, scope))


def _get(name: str, team, dst, src, pe, scope) -> None:
    same(name, dst, src)
    fits(name, dst, src)
    copy_tensor(dst, there(name, "src", team, src, pe), one_of(Scope, name, scope))


def put(team, dst, src, pe, scope: Scope = THREAD):
    _put("put", team, dst, src, pe, scope)
    meet_threads(team, scope)


def get(team, dst, src, pe, scope: Scope = THREAD):
    _get("get", team, dst, src, pe, scope)
    meet_threads(team, scope)


def put_nbi(team, dst, src, pe, scope: Scope = THREAD):
    _put("put_nbi", team, dst, src, pe, scope)


def get_nbi(team, dst, src, pe, scope: Scope = THREAD):
    _get("get_nbi", team, dst, src, pe, scope)


BULK_UNIT, LEAST_BULK = (
    16,
    1024,
)  # bytes: the divisor of addresses and sizes; below it, stores by threads are as fast


@cute.jit
def _async_put(
    team: Team,
    dst: cute.Tensor,
    src: cute.Tensor,
    scope: cutlass.Constexpr,
):
    to, source, nbytes = address(dst), address(src), size_in_bytes(src)
    if ((to | source | nbytes) & (BULK_UNIT - 1) == 0) & (nbytes >= LEAST_BULK):
        asm("fence.proxy.async.shared::cta;", "", None, [])
        meet_threads(team, scope)
        if rank_of(scope) == 0:
            copy = "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2; cp.async.bulk.commit_group;"
            asm(copy, "l,r,r", None, [to, Int32(src.iterator.toint()), Int32(nbytes)])
    else:
        copy_tensor(dst, src, scope)


def async_put(team, dst, src, pe, scope: Scope = THREAD):
    same("async_put", dst, src)
    fits("async_put", dst, src)
    one_of(Scope, "async_put", scope)
    dst = there("async_put", "dst", team, dst, pe)
    if has_bulk() and scope is not GRID and is_shared(src) and is_dense(dst) and is_dense(src):
        _async_put(team, dst, src, scope)
    else:
        copy_tensor(dst, src, scope)


@cute.jit
def copy_strided(
    dst: cute.Tensor,
    src: cute.Tensor,
    dst_stride: Int64,
    src_stride: Int64,
    count: Int64,
    scope: cutlass.Constexpr,
):
    to, source = dst.iterator, src.iterator
    i, step = place_of(scope, Int64)
    while i < count:
        (to + i * dst_stride).store((source + i * src_stride).load())
        i += step


def _strided(name: str, dst, src):
    kind = same(name, dst, src)
    for which, x in (("dst", dst), ("src", src)):
        if is_swizzled(x):
            raise TypeError(f"atoll.cute.{name}: {which} is swizzled; its elements have no strides")
    if kind.width not in (8, 16, 32, 64):
        raise TypeError(f"atoll.cute.{name}: elements of {kind.width} bits; of 8, 16, 32 or 64")


def iput(team, dst, src, dst_stride, src_stride, count, pe, scope: Scope = THREAD):
    _strided("iput", dst, src)
    dst = there("iput", "dst", team, dst, pe)
    copy_strided(dst, src, Int64(dst_stride), Int64(src_stride), Int64(count), one_of(Scope, "iput", scope))
    meet_threads(team, scope)


def iget(team, dst, src, dst_stride, src_stride, count, pe, scope: Scope = THREAD):
    _strided("iget", dst, src)
    src = there("iget", "src", team, src, pe)
    copy_strided(dst, src, Int64(dst_stride), Int64(src_stride), Int64(count), one_of(Scope, "iget", scope))
    meet_threads(team, scope)


# ---- order


@cute.jit
def _fence(scope: cutlass.Constexpr):
    if rank_of(scope) == 0:
        full_fence()


def quiet(team, scope: Scope = THREAD):
    complete_bulk()
    meet_threads(team, one_of(Scope, "quiet", scope))
    _fence(scope)
    meet_threads(team, scope)


def fence(team, scope: Scope = THREAD):
    quiet(team, scope)


def flush(team, scope: Scope = THREAD):
    read_bulk()
    meet_threads(team, one_of(Scope, "flush", scope))


# ---- words: the first element of a tensor, or what a pointer points to; complete when the result is used, or by quiet


def p(team, dst, value, pe):
    kind = word("p", "dst", dst, WORDS + FLOATS + NARROW)
    given = number("p", "value", value, kind)
    to = peer_for(team, "p", address(dst), pe)
    if kind in NARROW:
        store_narrow(kind, to, given)
    else:
        store(kind, to, given, SYSTEM)


def g(team, src, pe):
    kind = word("g", "src", src, WORDS + FLOATS + NARROW)
    at = peer_for(team, "g", address(src), pe)
    return load_narrow(kind, at) if kind in NARROW else load(kind, at, SYSTEM)


def _fetching(name: str, operation: str, team, dst, value, pe, allowed=WORDS):
    kind = word(name, "dst", dst, allowed)
    return update(
        kind, operation, peer_for(team, "atomic", address(dst), pe), number(name, "value", value, kind)
    )


def atomic_fetch(team, src, pe):
    return load(word("atomic_fetch", "src", src), peer_for(team, "atomic", address(src), pe), SYSTEM)


def atomic_set(team, dst, value, pe):
    kind = word("atomic_set", "dst", dst)
    at = peer_for(team, "atomic", address(dst), pe)
    store(kind, at, number("atomic_set", "value", value, kind), SYSTEM)


def atomic_swap(team, dst, value, pe):
    return _fetching("atomic_swap", "exch", team, dst, value, pe, WORDS + FLOATS)


def atomic_compare_swap(team, dst, condition, value, pe):
    name = "atomic_compare_swap"
    kind = word(name, "dst", dst)
    old, new = number(name, "condition", condition, kind), number(name, "value", value, kind)
    return compare_swap(kind, peer_for(team, "atomic", address(dst), pe), old, new)


def atomic_fetch_add(team, dst, value, pe):
    return _fetching("atomic_fetch_add", "add", team, dst, value, pe, WORDS + FLOATS)


def atomic_add(team, dst, value, pe):
    kind = word("atomic_add", "dst", dst, WORDS + FLOATS + HALVES)
    if kind not in HALVES:
        _fetching("atomic_add", "add", team, dst, value, pe, WORDS + FLOATS)
        return
    if kind is BFloat16 and not has_bulk():
        raise TypeError("atoll.cute.atomic_add: dst is of BFloat16, which GPUs before sm_90 cannot add to")
    given = number("atomic_add", "value", value, kind)
    add_half(kind, peer_for(team, "atomic", address(dst), pe), given)


def atomic_fetch_inc(team, dst, pe):
    return _fetching("atomic_fetch_inc", "add", team, dst, 1, pe)


def atomic_inc(team, dst, pe):
    _fetching("atomic_inc", "add", team, dst, 1, pe)


def atomic_fetch_and(team, dst, value, pe):
    return _fetching("atomic_fetch_and", "and", team, dst, value, pe)


def atomic_and(team, dst, value, pe):
    _fetching("atomic_and", "and", team, dst, value, pe)


def atomic_fetch_or(team, dst, value, pe):
    return _fetching("atomic_fetch_or", "or", team, dst, value, pe)


def atomic_or(team, dst, value, pe):
    _fetching("atomic_or", "or", team, dst, value, pe)


def atomic_fetch_xor(team, dst, value, pe):
    return _fetching("atomic_fetch_xor", "xor", team, dst, value, pe)


def atomic_xor(team, dst, value, pe):
    _fetching("atomic_xor", "xor", team, dst, value, pe)


# ---- signals: words that are written after the data that they announce


def signal_set(team, signal, value, pe):
    kind = word("signal_set", "signal", signal, WORDS)
    at = peer_for(team, "signal_set", address(signal), pe)
    store(kind, at, number("signal_set", "value", value, kind), ".release.sys.global")


def signal_add(team, signal, value, pe):
    kind = word("signal_add", "signal", signal, WORDS)
    at = peer_for(team, "signal_add", address(signal), pe)
    add_release(kind, at, number("signal_add", "value", value, kind))


def signal_fetch(team, signal):
    return load(word("signal_fetch", "signal", signal, WORDS), address(signal), ".acquire.sys.global")


@cute.jit
def _announce(
    team: Team,
    kind: cutlass.Constexpr,
    at: Int64,
    value,
    setting: cutlass.Constexpr,
    pe: Int32,
    scope: cutlass.Constexpr,
):
    if rank_of(scope) == 0:
        there = at_peer(team, at, pe)
        if cutlass.const_expr(setting):
            store(kind, there, value, ".release.sys.global")
        else:
            add_release(kind, there, value)


def _put_signal(name: str, team, dst, src, signal, value, op, pe, scope) -> None:
    same(name, dst, src)
    fits(name, dst, src)
    kind = word(name, "signal", signal, WORDS)
    setting = one_of(SignalOp, name, op) is SET
    one_of(Scope, name, scope)
    global_memory(name, "dst", dst)
    there = peer_for(team, "put_signal", address(dst), pe)
    check_place(team, "put_signal", address(signal))
    copy_tensor(moved(dst, there), src, scope)
    meet_threads(team, scope)
    _announce(team, kind, address(signal), number(name, "value", value, kind), setting, Int32(pe), scope)


def put_signal(team, dst, src, signal, value, op, pe, scope: Scope = THREAD):
    _put_signal("put_signal", team, dst, src, signal, value, op, pe, scope)


def put_signal_nbi(team, dst, src, signal, value, op, pe, scope: Scope = THREAD):
    _put_signal("put_signal_nbi", team, dst, src, signal, value, op, pe, scope)
