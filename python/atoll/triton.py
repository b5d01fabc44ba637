"""Communication inside kernels written in Triton: pointer arithmetic and Triton's own atomics at system scope.

    import atoll, atoll.triton as dev, triton, triton.language as tl

    @dev.kernel
    def exchange(team, x, flags, n: tl.constexpr):
        right = (team.my_pe + 1) % team.n_pes
        dev.put_signal(team, x + n, x, n, flags, 1, dev.SET, right)
        dev.signal_wait_until(team, flags, dev.GE, 1)

    exchange[(1,)](atoll.WORLD.device(), x, flags, 1024)        # x and flags of PyTorch, device="cuda"

The functions are called by a program (Triton's block), all of it: there is one scope. Arrays are pointers, or blocks of
pointers where a function says so, and sizes count elements. Names, order of arguments and memory order are those of
atoll/device/*.hpp. docs/kernels.md is the guide.
"""

# mypy: ignore-errors
from __future__ import annotations

try:
    import triton
    import triton.language as tl
except ImportError as missing:
    raise ImportError("atoll.triton needs Triton: pip install triton (PyTorch brings it)") from missing

import os

from . import _ptx
from ._ptx import AT as _AT


def kernel(function):
    """triton.jit for kernels whose first argument is `team`: no PE compiles another kernel than its peers do."""
    return triton.jit(function, do_not_specialize=["team"])


_SYNC_EPOCH = tl.constexpr(_AT["sync_epoch"])
_ARRIVED = tl.constexpr(_AT["arrived"])
_COUNTS = tl.constexpr(_AT["counts"])
_SIGNAL_WAIT = tl.constexpr(_AT["signal_wait_until"])
_SYNC = tl.constexpr(_AT["sync"])
_RECEIVE = tl.constexpr(_AT["receive"])
_POST = tl.constexpr(_AT["post"])
_DEPTH = tl.constexpr(_AT["mailbox_depth"])
_ENTRY = tl.constexpr(_AT["post_bytes"])
_POSTED = tl.constexpr(_AT["post_posted"])
_SEEN_TAKEN = tl.constexpr(_AT["post_seen_taken"])
_RECEIVED = tl.constexpr(_AT["post_received"])
_TAKEN = tl.constexpr(_AT["post_taken"])

# Of _ptx, with a result, which inline PTX must have here.
_LOOK_AROUND = tl.constexpr(_ptx.look_around())
_INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")


def _checks(name):
    return tl.constexpr(_ptx.check_pe(_AT[f"check {name}"], "$1", "$2", "$3") + " mov.u32 $0, 0;")


_PEER, _P, _G, _PUT, _GET = (_checks(name) for name in ("peer", "p", "g", "put", "get"))
_IPUT, _IGET, _ATOMIC, _PUT_SIGNAL = (_checks(name) for name in ("iput", "iget", "atomic", "put_signal"))
_SIGNAL_SET, _SIGNAL_ADD, _ROOT = (_checks(name) for name in ("signal_set", "signal_add", "root"))
_POST_TO, _RECEIVE_FROM = _checks("post"), _checks("receive")
_TILE_PUT, _TILE_GET = _checks("tile_put"), _checks("tile_get")

# atl::Compare, atl::SignalOp, atl::ReduceOp
EQ, NE, GT, GE, LT, LE = (tl.constexpr(value) for value in range(6))
SET, ADD = tl.constexpr(0), tl.constexpr(1)
SUM, PROD, MIN, MAX, AND, OR, XOR = (tl.constexpr(value) for value in range(7))
MOST_PES = tl.constexpr(64)


# ---- addresses


@triton.jit
def _slot(team, pe):
    slot = team.first + pe * team.step + tl.full((), 0, tl.int64)  # numbers that are 1 are constants here
    if team.table != 0:
        slot = tl.load(team.table.to(tl.int64).to(tl.pointer_type(tl.int32)) + pe).to(tl.int64)
    return slot


@triton.jit
def _at(team, x, pe):
    # As an offset of elements, of which it is said that it is a multiple of 16 (slots are 1 TiB apart, on hosts no less than
    # 64 KiB): so Triton moves as many bytes at a time as x's own alignment allows.
    size: tl.constexpr = tl.constexpr(max(x.dtype.scalar.element_ty.primitive_bitwidth // 8, 1))
    distance = (_slot(team, pe) - team.my_slot) * (team.stride // size)
    return x + tl.multiple_of(distance, 16)


@triton.jit
def _check_pe(team, pe, text: tl.constexpr):
    """With checks on, a PE that the team has not is reported, and the kernel traps."""
    if not _INTERPRETED:
        which = (pe + tl.full((), 0, tl.int32)).to(tl.int32)
        tl.inline_asm_elementwise(
            text, "=r,r,r,l", [which, team.n_pes, team.control], tl.int32, is_pure=False, pack=1
        )


@triton.jit
def _peer_for(team, x, pe, text: tl.constexpr):
    _check_pe(team, pe, text)
    return _at(team, x, pe)


@triton.jit
def ptr(team, x, pe):
    """The pointer (or block of pointers) to PE `pe`'s copy of what stands at the symmetric `x`. pe: a number or a block."""
    return _peer_for(team, x, pe, _PEER)


@triton.jit
def translate_pe(team, pe, to):
    """The number that PE `pe` of `team` has in the team `to`; -1: none. Teams of one job and memory."""
    members = tl.arange(0, MOST_PES)
    inside = members < to.n_pes
    same = inside & (
        _slot(to, tl.where(inside, members, 0)) == _slot(team, tl.minimum(tl.maximum(pe, 0), team.n_pes - 1))
    )
    found = tl.max(tl.where(same, members, -1), 0)
    return tl.where((pe >= 0) & (pe < team.n_pes), found, -1)


@triton.jit
def peer(team, x, pe):
    """The same."""
    return ptr(team, x, pe)


@triton.jit
def my_pe(team):
    """This PE's number in the team."""
    return team.my_pe


@triton.jit
def n_pes(team):
    """The number of PEs of the team."""
    return team.n_pes


@triton.jit
def _word(address):
    return address.to(tl.int64).to(tl.pointer_type(tl.int64))


# ---- how waits end


@triton.jit
def _look_around(team, operation, compare, peer, tag, address, expected, found, since):
    """Whether what else there is ends the wait; traps then. Returns since when it looks."""
    zero = tl.full((), 0, tl.int32)
    return tl.inline_asm_elementwise(
        _LOOK_AROUND,
        "=l,l,r,r,r,r,l,l,l,l",
        [
            team.control, operation + zero, compare + zero, peer + zero, tag + zero, address, expected.to(tl.int64),
            found.to(tl.int64), since,
        ],
        tl.int64, is_pure=False, pack=1,
    )  # fmt: skip


# ---- order


@triton.jit
def quiet(team):
    """The program's puts and atomics before it are visible to every PE before what it does after it."""
    tl.debug_barrier()
    tl.inline_asm_elementwise("fence.sc.sys; mov.u32 $0, 0;", "=r", [], tl.int32, is_pure=False, pack=1)
    tl.debug_barrier()


@triton.jit
def fence(team):
    """The same for each PE by itself."""
    quiet(team)


@triton.jit
def flush(team):
    """Sources of the program's earlier puts may be written again."""
    tl.debug_barrier()


# ---- put, get


@triton.jit
def p(team, dst, value, pe):
    """One element, or a block of pointers and values: stored on PE `pe`, in no order."""
    tl.store(_peer_for(team, dst, pe, _P), value)


@triton.jit
def g(team, src, pe):
    """One element, or a block of pointers: loaded from PE `pe`, past the caches of this GPU."""
    return tl.load(_peer_for(team, src, pe, _G), volatile=True)


@triton.jit
def put_nbi(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    """put, but only quiet or flush makes src free for all of the program. BLOCK elements go at a time."""
    to = _peer_for(team, dst, pe, _PUT)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(to + at, tl.load(src + at, mask=at < n), mask=at < n)


@triton.jit
def put(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    """n elements at src to dst of PE `pe`; src may be written again afterwards."""
    put_nbi(team, dst, src, n, pe, BLOCK)
    tl.debug_barrier()


@triton.jit
def get_nbi(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    """get, but only quiet makes dst hold the data for all of the program."""
    come = _peer_for(team, src, pe, _GET)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(dst + at, tl.load(come + at, mask=at < n, volatile=True), mask=at < n)


@triton.jit
def get(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    """n elements at src of PE `pe` to dst, which may be read afterwards."""
    get_nbi(team, dst, src, n, pe, BLOCK)
    tl.debug_barrier()


@triton.jit
def iput(team, dst, src, dst_stride, src_stride, n, pe, BLOCK: tl.constexpr = 1024):
    """Element i from src + i * src_stride to dst + i * dst_stride of PE `pe`."""
    to = _peer_for(team, dst, pe, _IPUT)
    for begin in range(0, n, BLOCK):
        at = (begin + tl.arange(0, BLOCK)).to(tl.int64)
        tl.store(to + at * dst_stride, tl.load(src + at * src_stride, mask=at < n), mask=at < n)
    tl.debug_barrier()


@triton.jit
def iget(team, dst, src, dst_stride, src_stride, n, pe, BLOCK: tl.constexpr = 1024):
    """Element i from src + i * src_stride of PE `pe` to dst + i * dst_stride."""
    come = _peer_for(team, src, pe, _IGET)
    for begin in range(0, n, BLOCK):
        at = (begin + tl.arange(0, BLOCK)).to(tl.int64)
        tl.store(
            dst + at * dst_stride, tl.load(come + at * src_stride, mask=at < n, volatile=True), mask=at < n
        )
    tl.debug_barrier()


# ---- signals: pointers to integers of 4 or 8 bytes


@triton.jit
def signal_set(team, signal, value, pe):
    """signal of PE `pe` = value, after all that the program wrote and saw."""
    tl.debug_barrier()
    tl.atomic_xchg(_peer_for(team, signal, pe, _SIGNAL_SET), value, sem="release", scope="sys")


@triton.jit
def signal_add(team, signal, value, pe):
    """signal of PE `pe` += value, after all that the program wrote and saw."""
    tl.debug_barrier()
    tl.atomic_add(_peer_for(team, signal, pe, _SIGNAL_ADD), value, sem="release", scope="sys")


@triton.jit
def signal_fetch(team, signal):
    """This PE's signal, with acquire."""
    return tl.atomic_add(signal, 0, sem="acquire", scope="sys")


@triton.jit
def put_signal(team, dst, src, n, signal, value, op: tl.constexpr, pe, BLOCK: tl.constexpr = 1024):
    """put, then the signal of PE `pe` is set (SET) or added to (ADD): who sees it sees the data."""
    put_nbi(team, dst, src, n, pe, BLOCK)
    if op == SET:
        signal_set(team, signal, value, pe)
    else:
        signal_add(team, signal, value, pe)


@triton.jit
def put_signal_nbi(team, dst, src, n, signal, value, op: tl.constexpr, pe, BLOCK: tl.constexpr = 1024):
    """The same here."""
    put_signal(team, dst, src, n, signal, value, op, pe, BLOCK)


@triton.jit
def _holds(found, cmp: tl.constexpr, value):
    if cmp == EQ:
        return found == value
    if cmp == NE:
        return found != value
    if cmp == GT:
        return found > value
    if cmp == GE:
        return found >= value
    if cmp == LT:
        return found < value
    return found <= value


@triton.jit
def _wait(team, word, cmp: tl.constexpr, value, operation: tl.constexpr, peer, tag):
    found = tl.atomic_add(word, 0, sem="acquire", scope="sys")
    looks = 0
    since = tl.full((), 0, tl.int64)
    while not _holds(found, cmp, value):
        looks += 1
        if looks % 1024 == 0:
            since = _look_around(
                team,
                operation,
                cmp,
                peer,
                tag,
                word.to(tl.int64),
                value.to(tl.int64),
                found.to(tl.int64),
                since,
            )
        found = tl.atomic_add(word, 0, sem="acquire", scope="sys")
    tl.debug_barrier()


@triton.jit
def signal_wait_until(team, signal, cmp: tl.constexpr, value, tag=0):
    """Wait until this PE's signal cmp value, with acquire for all of the program."""
    _wait(team, signal, cmp, value + tl.full((), 0, signal.dtype.element_ty), _SIGNAL_WAIT, -1, tag)


@triton.jit
def wait_until(team, ivar, cmp: tl.constexpr, value, tag=0):
    """The same."""
    signal_wait_until(team, ivar, cmp, value, tag)


@triton.jit
def test(team, ivar, cmp: tl.constexpr, value):
    """Whether this PE's word cmp value, with acquire."""
    return _holds(tl.atomic_add(ivar, 0, sem="acquire", scope="sys"), cmp, value)


@triton.jit
def signal_consume(team, signal, n, tag=0):
    """Wait until this PE's signal is at least n, with acquire, then take n away."""
    signal_wait_until(team, signal, GE, n, tag)
    tl.atomic_add(signal, -n, sem="relaxed", scope="sys")


# ---- atomics: pointers, or blocks of pointers; complete when their result is used, or by quiet


@triton.jit
def atomic_fetch(team, src, pe):
    """src of PE `pe`."""
    return tl.load(_peer_for(team, src, pe, _ATOMIC), volatile=True)


@triton.jit
def atomic_set(team, dst, value, pe):
    """dst of PE `pe` = value."""
    tl.atomic_xchg(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_swap(team, dst, value, pe):
    """dst of PE `pe` = value; what was there."""
    return tl.atomic_xchg(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_compare_swap(team, dst, condition, value, pe):
    """dst of PE `pe` = value if it was `condition`; what was there. Integers."""
    kind: tl.constexpr = dst.dtype.scalar.element_ty
    old, new = tl.cast(condition, kind), tl.cast(value, kind)
    return tl.atomic_cas(_peer_for(team, dst, pe, _ATOMIC), old, new, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_add(team, dst, value, pe):
    """dst of PE `pe` += value, float16, bfloat16, float32 and float64 too; what was there."""
    return tl.atomic_add(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_add(team, dst, value, pe):
    """dst of PE `pe` += value."""
    tl.atomic_add(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_inc(team, dst, pe):
    """dst of PE `pe` += 1; what was there."""
    return tl.atomic_add(_peer_for(team, dst, pe, _ATOMIC), 1, sem="relaxed", scope="sys")


@triton.jit
def atomic_inc(team, dst, pe):
    """dst of PE `pe` += 1."""
    tl.atomic_add(_peer_for(team, dst, pe, _ATOMIC), 1, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_and(team, dst, value, pe):
    """dst of PE `pe` &= value; what was there."""
    return tl.atomic_and(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_and(team, dst, value, pe):
    """dst of PE `pe` &= value."""
    tl.atomic_and(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_or(team, dst, value, pe):
    """dst of PE `pe` |= value; what was there."""
    return tl.atomic_or(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_or(team, dst, value, pe):
    """dst of PE `pe` |= value."""
    tl.atomic_or(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_xor(team, dst, value, pe):
    """dst of PE `pe` ^= value; what was there."""
    return tl.atomic_xor(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_xor(team, dst, value, pe):
    """dst of PE `pe` ^= value."""
    tl.atomic_xor(_peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


# ---- meeting


@triton.jit
def sync(team):
    """All members have arrived; what each program wrote and saw before is visible to every one after it.

    Called by one program of each PE, or by the same ones one after another (one at a time for a team).
    """
    epoch = tl.load(_word(team.control + _SYNC_EPOCH), volatile=True) + 1
    arrived = _word(team.control + _ARRIVED)
    members = tl.arange(0, MOST_PES)
    others = (members < team.n_pes) & (members != team.my_pe)
    tl.debug_barrier()
    words = _at(team, arrived + team.my_pe + members * 0, tl.where(others, members, team.my_pe))
    tl.atomic_xchg(words, epoch + tl.zeros_like(members), mask=others, sem="release", scope="sys")
    late = 1
    looks = 0
    since = tl.full((), 0, tl.int64)
    while late != 0:
        found = tl.atomic_add(
            arrived + members, tl.zeros_like(members).to(tl.int64), mask=others, sem="acquire", scope="sys"
        )
        waiting = others & (found < epoch)
        late = tl.sum(waiting.to(tl.int32), 0)
        looks += 1
        if looks % 1024 == 0:
            which = tl.max(tl.where(waiting, members, -1), 0)
            address = team.control + _ARRIVED + 8 * which
            seen = tl.load(_word(address), volatile=True)
            since = _look_around(team, _SYNC, GE, which, 0, address, epoch, seen, since)
    tl.debug_barrier()
    tl.store(_word(team.control + _SYNC_EPOCH), epoch)
    tl.debug_barrier()


@triton.jit
def barrier(team):
    """quiet, then sync: here what orders the one completes the other."""
    sync(team)


@triton.jit
def broadcast(team, dst, src, n, root, BLOCK: tl.constexpr = 1024):
    """n elements of dst of every member = src of `root`; dst is symmetric."""
    _check_pe(team, root, _ROOT)
    sync(team)
    if team.my_pe == root:
        for k in range(team.n_pes):
            put_nbi(team, dst, src, n, (root + k) % team.n_pes, BLOCK)
    sync(team)


@triton.jit
def fcollect(team, dst, src, n, BLOCK: tl.constexpr = 1024):
    """dst = src of member 0, 1, …; n elements of each; dst is symmetric."""
    sync(team)
    for k in range(team.n_pes):
        put_nbi(team, dst + team.my_pe * n, src, n, (team.my_pe + k) % team.n_pes, BLOCK)
    sync(team)


@triton.jit
def alltoall(team, dst, src, n, BLOCK: tl.constexpr = 1024):
    """Block j of my src becomes block my_pe of member j's dst; n elements a block; dst is symmetric."""
    sync(team)
    for k in range(team.n_pes):
        pe = (team.my_pe + k) % team.n_pes
        put_nbi(team, dst + team.my_pe * n, src + pe * n, n, pe, BLOCK)
    sync(team)


@triton.jit
def collect(team, dst, src, n, BLOCK: tl.constexpr = 1024):
    """fcollect with an n that differs between members. Returns how many elements arrived (int64)."""
    counts = _word(team.control + _COUNTS)
    members = tl.arange(0, MOST_PES)
    inside = members < team.n_pes
    sync(team)
    to = _at(team, counts + team.my_pe + members * 0, tl.where(inside, members, team.my_pe))
    tl.store(to, n + tl.zeros_like(members).to(tl.int64), mask=inside)
    sync(team)
    all_counts = tl.load(counts + members, mask=inside, other=0, volatile=True)
    before = tl.sum(tl.where(members < team.my_pe, all_counts, 0), 0)
    for k in range(team.n_pes):
        put_nbi(team, dst + before, src, n, (team.my_pe + k) % team.n_pes, BLOCK)
    sync(team)
    return tl.sum(all_counts, 0)


@triton.jit
def _combine(a, b, op: tl.constexpr):
    """a op b; a NaN is passed on."""
    if op == SUM:
        result = a + b
    elif op == PROD:
        result = a * b
    elif op == MIN:
        result = tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif op == MAX:
        result = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif op == AND:
        result = a & b
    elif op == OR:
        result = a | b
    else:
        result = a ^ b
    return result


@triton.jit
def _fold(team, src, mask, op: tl.constexpr):
    """What stands at a block of pointers, over the members in PE order; 16-bit floats in float32."""
    kind: tl.constexpr = src.dtype.element_ty
    wide: tl.constexpr = tl.float32 if kind == tl.float16 or kind == tl.bfloat16 else kind
    so_far = tl.load(_at(team, src, 0), mask=mask, volatile=True).to(wide)
    for pe in range(1, team.n_pes):
        so_far = _combine(so_far, tl.load(_at(team, src, pe), mask=mask, volatile=True).to(wide), op)
    return so_far.to(kind)


@triton.jit
def reduce(team, dst, src, n, op: tl.constexpr, BLOCK: tl.constexpr = 1024):
    """dst = src of member 0 op src of member 1 op …, n elements (SUM PROD MIN MAX AND OR XOR); dst may be src.

    Both are symmetric. Each member folds its part, in PE order, and stores it at all: the same bits everywhere.
    """
    sync(team)
    part = tl.cdiv(n, team.n_pes)
    first = team.my_pe * part
    last = tl.minimum(first + part, n)
    for begin in range(first, last, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        value = _fold(team, src + at, at < last, op)
        for k in range(1, team.n_pes + 1):
            tl.store(_at(team, dst + at, (team.my_pe + k) % team.n_pes), value, mask=at < last)
    sync(team)


@triton.jit
def reduce_scatter(team, dst, src, n, op: tl.constexpr, BLOCK: tl.constexpr = 1024):
    """dst = block my_pe of the reduction of the symmetric src, which has n_pes blocks of n elements, apart from dst."""
    sync(team)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(dst + at, _fold(team, src + team.my_pe * n + at, at < n, op), mask=at < n)
    sync(team)


# ---- tiles: rows * cols elements, row r from x + r * pitch; ROWS and COLS of them go at a time


@triton.jit
def _copy_tile(dst, src, dst_pitch, src_pitch, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    for top in range(0, rows, ROWS):
        r = (top + tl.arange(0, ROWS)).to(tl.int64)[:, None]
        for begin in range(0, cols, COLS):
            c = begin + tl.arange(0, COLS)[None, :]
            inside = (r < rows) & (c < cols)
            tl.store(
                dst + r * dst_pitch + c,
                tl.load(src + r * src_pitch + c, mask=inside, volatile=True),
                mask=inside,
            )


@triton.jit
def tile_put(
    team, dst, src, dst_pitch, src_pitch, rows, cols, pe, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64
):
    """A tile of src to a tile of dst on PE `pe`; ordered and complete as a put."""
    _copy_tile(_peer_for(team, dst, pe, _TILE_PUT), src, dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    tl.debug_barrier()


@triton.jit
def tile_get(
    team, dst, src, dst_pitch, src_pitch, rows, cols, pe, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64
):
    """A tile of src on PE `pe` to a tile of dst, which may be read afterwards."""
    _copy_tile(dst, _peer_for(team, src, pe, _TILE_GET), dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    tl.debug_barrier()


@triton.jit
def tile_reduce(
    team, dst, src, dst_pitch, src_pitch, rows, cols, op: tl.constexpr, COLS: tl.constexpr = 1024
):
    """A tile of dst of every member = those of src, folded in PE order. Both are symmetric; dst may be src."""
    sync(team)
    for row in range(team.my_pe, rows, team.n_pes):
        to, come = dst + row.to(tl.int64) * dst_pitch, src + row.to(tl.int64) * src_pitch
        for begin in range(0, cols, COLS):
            at = begin + tl.arange(0, COLS)
            value = _fold(team, come + at, at < cols, op)
            for k in range(1, team.n_pes + 1):
                tl.store(_at(team, to + at, (team.my_pe + k) % team.n_pes), value, mask=at < cols)
    sync(team)


@triton.jit
def tile_allgather(
    team, dst, src, dst_pitch, src_pitch, rows, cols, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64
):
    """Rows pe * rows … of dst of every member = the tile src of member pe. dst is symmetric."""
    sync(team)
    mine = dst + (team.my_pe + tl.full((), 0, tl.int64)) * rows * dst_pitch
    for k in range(team.n_pes):
        to = _at(team, mine, (team.my_pe + k) % team.n_pes)
        _copy_tile(to, src, dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    sync(team)


# ---- mailboxes: elements of 4 bytes; `block` points to mailbox_bytes() zeros, `room` is a number of bytes


def mailbox_bytes(n_pes: int, room: int) -> int:
    """How many bytes a mailbox for messages of at most `room` bytes takes on each of n_pes PEs."""
    return n_pes * (_AT["post_bytes"] + _AT["mailbox_depth"] * max(1, (room + 7) // 8) * 16)


@triton.jit
def _box_slot(team, block, room, sender, number):
    start = block.to(tl.int64) + team.n_pes * _ENTRY
    return _word(start + (sender * _DEPTH + number % _DEPTH) * ((room + 7) // 8) * 16)


@triton.jit
def post(team, block, room, src, n, pe, BLOCK: tl.constexpr = 1024):
    """Send n elements of 4 bytes to PE `pe` through the mailbox; waits only while 8 messages are on their way."""
    _check_pe(team, pe, _POST_TO)
    mine = block.to(tl.int64) + pe * _ENTRY
    number = tl.load(_word(mine + _POSTED), volatile=True) + 1
    taken = tl.load(_word(mine + _SEEN_TAKEN), volatile=True)
    if number > taken + _DEPTH:
        _wait(team, _word(mine + _TAKEN), GE, number - _DEPTH, _POST, pe, 0)
        tl.store(_word(mine + _SEEN_TAKEN), number - _DEPTH)
    to = _at(team, _box_slot(team, block, room, team.my_pe, number), pe)
    flag = (number & 0xFFFFFFFF) << 32
    fresh = ((number & 0x3FFFFFFF) < _DEPTH) & (number >= _DEPTH)
    words = tl.where(fresh, (room + 7) // 8 * 2, (n + 1) // 2 * 2)
    words = tl.maximum(words, 2)
    for begin in range(0, words, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        bits = tl.load(src + at, mask=at < n, other=0).to(tl.int32, bitcast=True).to(tl.int64)
        tl.store(to + at, flag | (bits & 0xFFFFFFFF), mask=at < words)
    tl.debug_barrier()
    tl.store(_word(mine + _POSTED), number)
    tl.debug_barrier()


@triton.jit
def _missing(words, mask, flag):
    """How many words do not carry the flag yet."""
    return tl.sum((mask & (((words >> 32) & 0xFFFFFFFF) != flag)).to(tl.int32), 0)


@triton.jit
def receive(team, block, room, dst, n, pe, BLOCK: tl.constexpr = 1024):
    """The next message of PE `pe`, n elements of 4 bytes, to dst."""
    _check_pe(team, pe, _RECEIVE_FROM)
    mine = block.to(tl.int64) + pe * _ENTRY
    number = tl.load(_word(mine + _RECEIVED), volatile=True) + 1
    come = _box_slot(team, block, room, pe, number)
    flag = number & 0xFFFFFFFF
    words = tl.maximum((n + 1) // 2 * 2, 2)
    since = tl.full((), 0, tl.int64)
    for begin in range(0, words, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        found = tl.load(come + at, mask=at < words, other=0, volatile=True)
        looks = 0
        while _missing(found, at < words, flag) != 0:
            looks += 1
            if looks % 1024 == 0:
                since = _look_around(team, _RECEIVE, -1, pe, 0, come.to(tl.int64), flag, flag * 0, since)
            found = tl.load(come + at, mask=at < words, other=0, volatile=True)
        tl.store(
            dst + at, (found & 0xFFFFFFFF).to(tl.int32).to(dst.dtype.element_ty, bitcast=True), mask=at < n
        )
    tl.debug_barrier()
    if number % (_DEPTH // 2) == 0:
        tell = _at(team, _word(block.to(tl.int64) + team.my_pe * _ENTRY + _TAKEN), pe)
        tl.atomic_xchg(tell, number, sem="relaxed", scope="sys")
    tl.store(_word(mine + _RECEIVED), number)
    tl.debug_barrier()


@triton.jit
def try_receive(team, block, room, dst, n, pe, BLOCK: tl.constexpr = 1024):
    """receive if the message has begun to come, and 1; else 0 at once."""
    _check_pe(team, pe, _RECEIVE_FROM)
    number = tl.load(_word(block.to(tl.int64) + pe * _ENTRY + _RECEIVED), volatile=True) + 1
    word = tl.load(_box_slot(team, block, room, pe, number), volatile=True)
    here = (((word >> 32) & 0xFFFFFFFF) == (number & 0xFFFFFFFF)).to(tl.int32)
    if here != 0:
        receive(team, block, room, dst, n, pe, BLOCK)
    return here
