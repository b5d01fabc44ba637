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
    """Return this PE's number in the team, 0 … n_pes - 1.

    Called by any thread. Local. OpenSHMEM: shmem_team_my_pe.
    """
    return team.my_pe


def n_pes(team):
    """Return the number of PEs of the team.

    Called by any thread. Local. OpenSHMEM: shmem_team_n_pes.
    """
    return team.n_pes


@cute.jit
def translate_pe(team: Team, pe: Int32, to: Team):
    """Return the number that PE `pe` of `team` has in the team `to`, or -1.

    Both are teams of one job and one memory. Called by any thread. Local. OpenSHMEM: shmem_team_translate_pe.
    """
    found = Int32(-1)
    if (pe >= 0) & (pe < team.n_pes):
        slot = slot_of(team, pe)
        for i in cutlass.range(to.n_pes):
            if slot_of(to, i) == slot:
                found = Int32(i)
    return found


def ptr(team, x, pe):
    """Return a cute.Pointer to PE `pe`'s copy of the symmetric tensor or pointer `x`.

    For plain loads and stores, which have no order. Called by any thread. Local. Errors: TypeError when
    compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an address that is not
    symmetric). OpenSHMEM: shmem_team_ptr.
    """
    kind = kind_of("ptr", "x", x)
    global_memory("ptr", "x", x)
    at = peer_for(team, "peer", address(x), pe)
    return cute.make_ptr(kind, at, cute.AddressSpace.gmem, assumed_align=words_at(x))


def peer(team, x, pe):
    """Return PE `pe`'s copy of the symmetric tensor `x`, a tensor of the same layout.

    Its loads and stores are remote and have no order. Called by any thread. Local. Errors: TypeError when
    compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an address that is not
    symmetric). Atoll's own.
    """
    tensor_in_memory("peer", "x", x)
    return there("peer", "x", team, x, pe)


def rank(scope: Scope = GRID):
    """Return the number of this thread within the scope."""
    return rank_of(one_of(Scope, "rank", scope))


def size(scope: Scope = GRID):
    """Return how many threads the scope has."""
    return size_of(one_of(Scope, "size", scope))


def meet(team, scope: Scope = BLOCK):
    """Wait for this PE's threads of the scope, as a barrier.

    Over the grid all blocks must be resident (cooperative=True of the kernel's launch), and one kernel at a
    time uses the team so.
    """
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
    """Copy src to dst of PE `pe`.

    Tensors of one type and any layout: as many elements as src has, in the order of both layouts. `dst` is
    symmetric; src is any memory of this PE, also shared memory. Called by all threads of the scope, each of
    which may write src afterwards. The data are visible after quiet, and to a PE that has seen a later
    signal. Local. Errors: TypeError when compiled; KernelError when run (the team has no such PE; with
    ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM: shmem_put.
    """
    _put("put", team, dst, src, pe, scope)
    meet_threads(team, scope)


def get(team, dst, src, pe, scope: Scope = THREAD):
    """Copy src of PE `pe` to dst.

    Tensors of one type and any layout: as many elements as src has, in the order of both layouts. `src` is
    symmetric; dst is any memory of this PE, also shared memory. Called by all threads of the scope, each of
    which may read dst afterwards. Local. Errors: TypeError when compiled; KernelError when run (the team has
    no such PE; with ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM: shmem_get.
    """
    _get("get", team, dst, src, pe, scope)
    meet_threads(team, scope)


def put_nbi(team, dst, src, pe, scope: Scope = THREAD):
    """Start to copy src to dst of PE `pe`.

    Tensors of one type and any layout: as many elements as src has, in the order of both layouts. `dst` is
    symmetric; src is any memory of this PE, also shared memory. Called by all threads of the scope. Only
    after quiet are the data complete and may src be written. Local. Errors: TypeError when compiled;
    KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an address that is not
    symmetric). OpenSHMEM: shmem_put_nbi.
    """
    _put("put_nbi", team, dst, src, pe, scope)


def get_nbi(team, dst, src, pe, scope: Scope = THREAD):
    """Start to copy src of PE `pe` to dst.

    Tensors of one type and any layout: as many elements as src has, in the order of both layouts. `src` is
    symmetric; dst is any memory of this PE, also shared memory. Called by all threads of the scope. They may
    read dst only after quiet. Local. Errors: TypeError when compiled; KernelError when run (the team has no
    such PE; with ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM: shmem_get_nbi.
    """
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
    """Start to copy src to dst of PE `pe`, while the threads go on: for large blocks in shared memory.

    Contiguous tensors of one type; dst is symmetric. GPUs of sm_90 and later use bulk copies (1 KiB and more,
    addresses and size multiples of 16 bytes); otherwise it is put_nbi. After flush, src may be written again.
    quiet, fence and barrier complete the copies. Call one of these three before a signal that announces the
    data, in the scope that started the copies or one that contains it. Call one of the four before the block
    ends, since its shared memory ends then. Local. Errors: TypeError when compiled; KernelError when run (the
    team has no such PE; with ATOLL_CHECK=all also an address that is not symmetric). Atoll's own.
    """
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
    """Copy src[i * src_stride] to dst[i * dst_stride] of PE `pe`, for i below `count`.

    Strides count elements from the first; tensors of one type. `dst` is symmetric; src is any memory of this
    PE. Called by all threads of the scope. Order and completion are those of put. Local. Errors: TypeError
    when compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an address that is
    not symmetric). OpenSHMEM: shmem_iput.
    """
    _strided("iput", dst, src)
    dst = there("iput", "dst", team, dst, pe)
    copy_strided(dst, src, Int64(dst_stride), Int64(src_stride), Int64(count), one_of(Scope, "iput", scope))
    meet_threads(team, scope)


def iget(team, dst, src, dst_stride, src_stride, count, pe, scope: Scope = THREAD):
    """Copy src[i * src_stride] of PE `pe` to dst[i * dst_stride], for i below `count`.

    Strides count elements from the first; tensors of one type. `src` is symmetric; dst is any memory of this
    PE. Called by all threads of the scope, each of which may read dst afterwards. Local. Errors: TypeError
    when compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an address that is
    not symmetric). OpenSHMEM: shmem_iget.
    """
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
    """Complete the scope's puts, atomics and signals at all PEs.

    These, async_put and _nbi too, and what the scope saw become visible to every PE before its later
    operations. Called by all threads of the scope. Local. Errors: TypeError when compiled. OpenSHMEM:
    shmem_quiet.
    """
    complete_bulk()
    meet_threads(team, one_of(Scope, "quiet", scope))
    _fence(scope)
    meet_threads(team, scope)


def fence(team, scope: Scope = THREAD):
    """Order the scope's earlier puts, atomics and signals before its later ones, at each PE. Here it is
    quiet: they are complete, async_put too. Called by all threads of the scope. Local. Errors: TypeError
    when compiled. OpenSHMEM: shmem_fence.
    """
    quiet(team, scope)


def flush(team, scope: Scope = THREAD):
    """Wait until the sources of the scope's earlier puts, async_put too, may be written again.

    It does not complete them at their targets; quiet does. Called by all threads of the scope. Local. Errors:
    TypeError when compiled. Atoll's own.
    """
    read_bulk()
    meet_threads(team, one_of(Scope, "flush", scope))


# ---- words: the first element of a tensor, or what a pointer points to; complete when the result is used, or by quiet


def p(team, dst, value, pe):
    """Store `value` in the first element of dst of PE `pe`. `dst` is symmetric, of integers of 8 to 64 bits,
    Float16, BFloat16, Float32, Float64. Called by one thread. The element is never torn; only fence and
    quiet order it. Local. Errors: TypeError when compiled; KernelError when run (the team has no such PE;
    with ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM: shmem_p.
    """
    kind = word("p", "dst", dst, WORDS + FLOATS + NARROW)
    given = number("p", "value", value, kind)
    to = peer_for(team, "p", address(dst), pe)
    if kind in NARROW:
        store_narrow(kind, to, given)
    else:
        store(kind, to, given, SYSTEM)


def g(team, src, pe):
    """Return the first element of src of PE `pe`. `src` is symmetric, of integers of 8 to 64 bits, Float16,
    BFloat16, Float32, Float64; so is the result. Called by one thread. The element is never torn; no
    order. Local. Errors: TypeError when compiled; KernelError when run (the team has no such PE; with
    ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM: shmem_g.
    """
    kind = word("g", "src", src, WORDS + FLOATS + NARROW)
    at = peer_for(team, "g", address(src), pe)
    return load_narrow(kind, at) if kind in NARROW else load(kind, at, SYSTEM)


def _fetching(name: str, operation: str, team, dst, value, pe, allowed=WORDS):
    kind = word(name, "dst", dst, allowed)
    return update(
        kind, operation, peer_for(team, "atomic", address(dst), pe), number(name, "value", value, kind)
    )


def atomic_fetch(team, src, pe):
    """Return the first element of src of PE `pe`. `src` is a symmetric tensor (or a pointer) of Int32, Int64,
    Uint32, Uint64, Float32, Float64. Called by one thread. Atomic with relaxed order. Complete when it
    returns. Local. Errors: TypeError when compiled; KernelError when run (the team has no such PE; with
    ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM: shmem_atomic_fetch.
    """
    return load(word("atomic_fetch", "src", src), peer_for(team, "atomic", address(src), pe), SYSTEM)


def atomic_set(team, dst, value, pe):
    """Set the first element of dst of PE `pe` to `value`. `dst` is a symmetric tensor (or a pointer) of
    Int32, Int64, Uint32, Uint64, Float32, Float64. Called by one thread. Atomic with relaxed order. Local.
    Errors: TypeError when compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all
    also an address that is not symmetric). OpenSHMEM: shmem_atomic_set.
    """
    kind = word("atomic_set", "dst", dst)
    at = peer_for(team, "atomic", address(dst), pe)
    store(kind, at, number("atomic_set", "value", value, kind), SYSTEM)


def atomic_swap(team, dst, value, pe):
    """Set the first element of dst of PE `pe` to `value`; return the previous value. `dst` is a symmetric
    tensor (or a pointer) of Int32, Int64, Uint32, Uint64, Float32, Float64. Called by one thread. Atomic
    with relaxed order. Complete when it returns. Local. Errors: TypeError when compiled; KernelError when
    run (the team has no such PE; with ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM:
    shmem_atomic_swap.
    """
    return _fetching("atomic_swap", "exch", team, dst, value, pe, WORDS + FLOATS)


def atomic_compare_swap(team, dst, condition, value, pe):
    """Set the first element of dst of PE `pe` to `value` if its bits are those of `condition`; return the
    previous value. `dst` is a symmetric tensor (or a pointer) of Int32, Int64, Uint32, Uint64, Float32,
    Float64. Called by one thread. Atomic with relaxed order. Complete when it returns. Local. Errors:
    TypeError when compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an
    address that is not symmetric). OpenSHMEM: shmem_atomic_compare_swap.
    """
    name = "atomic_compare_swap"
    kind = word(name, "dst", dst)
    old, new = number(name, "condition", condition, kind), number(name, "value", value, kind)
    return compare_swap(kind, peer_for(team, "atomic", address(dst), pe), old, new)


def atomic_fetch_add(team, dst, value, pe):
    """Add `value` to the first element of dst of PE `pe`; return the previous value. `dst` is a symmetric
    tensor (or a pointer) of Int32, Int64, Uint32, Uint64, Float32, Float64. Called by one thread. Atomic
    with relaxed order. Complete when it returns. Local. Errors: TypeError when compiled; KernelError when
    run (the team has no such PE; with ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM:
    shmem_atomic_fetch_add.
    """
    return _fetching("atomic_fetch_add", "add", team, dst, value, pe, WORDS + FLOATS)


def atomic_add(team, dst, value, pe):
    """Add `value` to the first element of dst of PE `pe`. `dst` is a symmetric tensor (or a pointer) of
    Int32, Int64, Uint32, Uint64, Float32, Float64, Float16 and, from sm_90 on, BFloat16 (rounded once).
    Called by one thread. Atomic with relaxed order. Local. Errors: TypeError when compiled; KernelError
    when run (the team has no such PE; with ATOLL_CHECK=all also an address that is not symmetric).
    OpenSHMEM: shmem_atomic_add.
    """
    kind = word("atomic_add", "dst", dst, WORDS + FLOATS + HALVES)
    if kind not in HALVES:
        _fetching("atomic_add", "add", team, dst, value, pe, WORDS + FLOATS)
        return
    if kind is BFloat16 and not has_bulk():
        raise TypeError("atoll.cute.atomic_add: dst is of BFloat16, which GPUs before sm_90 cannot add to")
    given = number("atomic_add", "value", value, kind)
    add_half(kind, peer_for(team, "atomic", address(dst), pe), given)


def atomic_fetch_inc(team, dst, pe):
    """Add 1 to the first element of dst of PE `pe`; return the previous value. `dst` is a symmetric tensor
    (or a pointer) of Int32, Int64, Uint32, Uint64. Called by one thread. Atomic with relaxed order.
    Complete when it returns. Local. Errors: TypeError when compiled; KernelError when run (the team has no
    such PE; with ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM:
    shmem_atomic_fetch_inc.
    """
    return _fetching("atomic_fetch_inc", "add", team, dst, 1, pe)


def atomic_inc(team, dst, pe):
    """Add 1 to the first element of dst of PE `pe`. `dst` is a symmetric tensor (or a pointer) of Int32,
    Int64, Uint32, Uint64. Called by one thread. Atomic with relaxed order. Local. Errors: TypeError when
    compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an address that is
    not symmetric). OpenSHMEM: shmem_atomic_inc.
    """
    _fetching("atomic_inc", "add", team, dst, 1, pe)


def atomic_fetch_and(team, dst, value, pe):
    """Combine the first element of dst of PE `pe` with `value` by bitwise AND; return the previous value.
    `dst` is a symmetric tensor (or a pointer) of Int32, Int64, Uint32, Uint64. Called by one thread.
    Atomic with relaxed order. Complete when it returns. Local. Errors: TypeError when compiled;
    KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an address that is not
    symmetric). OpenSHMEM: shmem_atomic_fetch_and.
    """
    return _fetching("atomic_fetch_and", "and", team, dst, value, pe)


def atomic_and(team, dst, value, pe):
    """Combine the first element of dst of PE `pe` with `value` by bitwise AND. `dst` is a symmetric tensor
    (or a pointer) of Int32, Int64, Uint32, Uint64. Called by one thread. Atomic with relaxed order. Local.
    Errors: TypeError when compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all
    also an address that is not symmetric). OpenSHMEM: shmem_atomic_and.
    """
    _fetching("atomic_and", "and", team, dst, value, pe)


def atomic_fetch_or(team, dst, value, pe):
    """Combine the first element of dst of PE `pe` with `value` by bitwise OR; return the previous value.
    `dst` is a symmetric tensor (or a pointer) of Int32, Int64, Uint32, Uint64. Called by one thread.
    Atomic with relaxed order. Complete when it returns. Local. Errors: TypeError when compiled;
    KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an address that is not
    symmetric). OpenSHMEM: shmem_atomic_fetch_or.
    """
    return _fetching("atomic_fetch_or", "or", team, dst, value, pe)


def atomic_or(team, dst, value, pe):
    """Combine the first element of dst of PE `pe` with `value` by bitwise OR. `dst` is a symmetric tensor (or
    a pointer) of Int32, Int64, Uint32, Uint64. Called by one thread. Atomic with relaxed order. Local.
    Errors: TypeError when compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all
    also an address that is not symmetric). OpenSHMEM: shmem_atomic_or.
    """
    _fetching("atomic_or", "or", team, dst, value, pe)


def atomic_fetch_xor(team, dst, value, pe):
    """Combine the first element of dst of PE `pe` with `value` by bitwise XOR; return the previous value.
    `dst` is a symmetric tensor (or a pointer) of Int32, Int64, Uint32, Uint64. Called by one thread.
    Atomic with relaxed order. Complete when it returns. Local. Errors: TypeError when compiled;
    KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an address that is not
    symmetric). OpenSHMEM: shmem_atomic_fetch_xor.
    """
    return _fetching("atomic_fetch_xor", "xor", team, dst, value, pe)


def atomic_xor(team, dst, value, pe):
    """Combine the first element of dst of PE `pe` with `value` by bitwise XOR. `dst` is a symmetric tensor
    (or a pointer) of Int32, Int64, Uint32, Uint64. Called by one thread. Atomic with relaxed order. Local.
    Errors: TypeError when compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all
    also an address that is not symmetric). OpenSHMEM: shmem_atomic_xor.
    """
    _fetching("atomic_xor", "xor", team, dst, value, pe)


# ---- signals: words that are written after the data that they announce


def signal_set(team, signal, value, pe):
    """Set the first element of signal of PE `pe` to `value`, after all that the thread wrote and saw
    (release). `signal` is a symmetric tensor (or a pointer) of Int32, Int64, Uint32, Uint64. Called by one
    thread. Local. Errors: TypeError when compiled; KernelError when run (the team has no such PE; with
    ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM: shmem_signal_set.
    """
    kind = word("signal_set", "signal", signal, WORDS)
    at = peer_for(team, "signal_set", address(signal), pe)
    store(kind, at, number("signal_set", "value", value, kind), ".release.sys.global")


def signal_add(team, signal, value, pe):
    """Add `value` to the first element of signal of PE `pe`, after all that the thread wrote and saw
    (release). `signal` is a symmetric tensor (or a pointer) of Int32, Int64, Uint32, Uint64. Called by one
    thread. Local. Errors: TypeError when compiled; KernelError when run (the team has no such PE; with
    ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM: shmem_signal_add.
    """
    kind = word("signal_add", "signal", signal, WORDS)
    at = peer_for(team, "signal_add", address(signal), pe)
    add_release(kind, at, number("signal_add", "value", value, kind))


def signal_fetch(team, signal):
    """Return the first element of this PE's signal, with acquire: what was written before it was set can be
    read. `signal` is of Int32, Int64, Uint32, Uint64; so is the result. Called by one thread. Local.
    Errors: TypeError when compiled. OpenSHMEM: shmem_signal_fetch.
    """
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
    """Copy src to dst of PE `pe`, then set (SET) the first element of signal there to `value`, or add it
    (ADD).

    A PE that sees the signal by signal_wait_until also sees the data. Tensors of one type and any layout: as
    many elements as src has, in the order of both layouts. `dst` and signal are symmetric, signal of Int32,
    Int64, Uint32, Uint64. `src` is any memory of this PE and may be written again afterwards. Called by all
    threads of the scope. Local. Errors: TypeError when compiled; KernelError when run (the team has no such
    PE; with ATOLL_CHECK=all also an address that is not symmetric). OpenSHMEM: shmem_put_signal.
    """
    _put_signal("put_signal", team, dst, src, signal, value, op, pe, scope)


def put_signal_nbi(team, dst, src, signal, value, op, pe, scope: Scope = THREAD):
    """Start to copy src to dst of PE `pe`, then to set (SET) the first element of signal there, or add to it
    (ADD).

    Here it is put_signal: src may be written again on return. Portable programs call quiet first. Tensors of
    one type and any layout: as many elements as src has, in the order of both layouts. `dst` and signal are
    symmetric, signal of Int32, Int64, Uint32, Uint64. Called by all threads of the scope. Local. Errors:
    TypeError when compiled; KernelError when run (the team has no such PE; with ATOLL_CHECK=all also an
    address that is not symmetric). OpenSHMEM: shmem_put_signal_nbi.
    """
    _put_signal("put_signal_nbi", team, dst, src, signal, value, op, pe, scope)
