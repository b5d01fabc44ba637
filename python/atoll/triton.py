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

from ._atoll import _kernel_layout


def kernel(function):
    """triton.jit for kernels whose first argument is `team`: no PE compiles another kernel than its peers do."""
    return triton.jit(function, do_not_specialize=["team"])


_AT = _kernel_layout()
_WATCH = tl.constexpr(_AT["watch"])
_BOUND = tl.constexpr(_AT["bound_ns"])
_SYNC_EPOCH = tl.constexpr(_AT["sync_epoch"])
_ARRIVED = tl.constexpr(_AT["arrived"])
_TEAM = tl.constexpr(_AT["team"])
_REPORT = tl.constexpr(_AT["report"])
_R_OPERATION = tl.constexpr(_AT["report_operation"])
_R_TEAM = tl.constexpr(_AT["report_team"])
_R_PEER = tl.constexpr(_AT["report_peer"])
_R_COMPARE = tl.constexpr(_AT["report_compare"])
_R_TAG = tl.constexpr(_AT["report_tag"])
_R_ADDRESS = tl.constexpr(_AT["report_address"])
_R_EXPECTED = tl.constexpr(_AT["report_expected"])
_R_FOUND = tl.constexpr(_AT["report_found"])
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

# atl::Compare, atl::SignalOp
EQ, NE, GT, GE, LT, LE = (tl.constexpr(value) for value in range(6))
SET, ADD = tl.constexpr(0), tl.constexpr(1)
MOST_PES = tl.constexpr(64)


# ---- addresses


@triton.jit
def _slot(team, pe):
    slot = (team.first + pe * team.step).to(tl.int64)
    if team.table != 0:
        slot = tl.load(team.table.to(tl.int64).to(tl.pointer_type(tl.int32)) + pe).to(tl.int64)
    return slot


@triton.jit
def ptr(team, x, pe):
    """The pointer (or block of pointers) to PE `pe`'s copy of what stands at the symmetric `x`. pe: a number or a block."""
    # As an offset of elements, of which it is said that it is a multiple of 16 (slots are 1 TiB apart, on hosts no less than
    # 64 KiB): so Triton moves as many bytes at a time as x's own alignment allows.
    size: tl.constexpr = tl.constexpr(max(x.dtype.scalar.element_ty.primitive_bitwidth // 8, 1))
    distance = (_slot(team, pe) - team.my_slot) * (team.stride // size)
    return x + tl.multiple_of(distance, 16)


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


@triton.jit
def _short(address):
    return address.to(tl.int64).to(tl.pointer_type(tl.int32))


# ---- how waits end


@triton.jit
def _now():
    return tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], tl.int64, is_pure=False, pack=1)


@triton.jit
def _trap():
    tl.inline_asm_elementwise("trap; mov.u32 $0, 0;", "=r", [], tl.int32, is_pure=False, pack=1)


@triton.jit
def _look_around(team, operation, compare, peer, tag, address, expected, found, since):
    """Whether what else there is ends the wait; traps then. Returns since when it looks."""
    watch = tl.load(_word(team.control + _WATCH), volatile=True)
    if watch != 0:
        if tl.load(_short(watch), volatile=True) != 0:
            _trap()
        time = _now()
        if since == 0:
            since = time
        bound = tl.load(_word(team.control + _BOUND), volatile=True)
        if (bound != 0) & (time - since > bound):
            report = watch + _REPORT
            if tl.atomic_cas(_short(report), 0, 1, sem="relaxed", scope="sys") == 0:
                tl.store(_short(report + _R_OPERATION), operation)
                tl.store(_short(report + _R_TEAM), tl.load(_short(team.control + _TEAM)))
                tl.store(_short(report + _R_PEER), peer)
                tl.store(_short(report + _R_COMPARE), compare)
                tl.store(_short(report + _R_TAG), tag)
                tl.store(_word(report + _R_ADDRESS), address)
                tl.store(_word(report + _R_EXPECTED), expected)
                tl.store(_word(report + _R_FOUND), found)
                tl.debug_barrier()
                tl.atomic_xchg(_short(report), 2, sem="release", scope="sys")
                tl.debug_barrier()
            _trap()
    return since


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
    tl.store(ptr(team, dst, pe), value)


@triton.jit
def g(team, src, pe):
    """One element, or a block of pointers: loaded from PE `pe`, past the caches of this GPU."""
    return tl.load(ptr(team, src, pe), volatile=True)


@triton.jit
def put_nbi(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    """put, but only quiet or flush makes src free for all of the program. BLOCK elements go at a time."""
    to = ptr(team, dst, pe)
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
    come = ptr(team, src, pe)
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
    to = ptr(team, dst, pe)
    for begin in range(0, n, BLOCK):
        at = (begin + tl.arange(0, BLOCK)).to(tl.int64)
        tl.store(to + at * dst_stride, tl.load(src + at * src_stride, mask=at < n), mask=at < n)
    tl.debug_barrier()


@triton.jit
def iget(team, dst, src, dst_stride, src_stride, n, pe, BLOCK: tl.constexpr = 1024):
    """Element i from src + i * src_stride of PE `pe` to dst + i * dst_stride."""
    come = ptr(team, src, pe)
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
    tl.atomic_xchg(ptr(team, signal, pe), value, sem="release", scope="sys")


@triton.jit
def signal_add(team, signal, value, pe):
    """signal of PE `pe` += value, after all that the program wrote and saw."""
    tl.debug_barrier()
    tl.atomic_add(ptr(team, signal, pe), value, sem="release", scope="sys")


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
    return g(team, src, pe)


@triton.jit
def atomic_set(team, dst, value, pe):
    """dst of PE `pe` = value."""
    tl.atomic_xchg(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_swap(team, dst, value, pe):
    """dst of PE `pe` = value; what was there."""
    return tl.atomic_xchg(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_compare_swap(team, dst, condition, value, pe):
    """dst of PE `pe` = value if it was `condition`; what was there. Integers."""
    kind: tl.constexpr = dst.dtype.scalar.element_ty
    old, new = tl.cast(condition, kind), tl.cast(value, kind)
    return tl.atomic_cas(ptr(team, dst, pe), old, new, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_add(team, dst, value, pe):
    """dst of PE `pe` += value, float16, bfloat16, float32 and float64 too; what was there."""
    return tl.atomic_add(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_add(team, dst, value, pe):
    """dst of PE `pe` += value."""
    tl.atomic_add(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_inc(team, dst, pe):
    """dst of PE `pe` += 1; what was there."""
    return tl.atomic_add(ptr(team, dst, pe), 1, sem="relaxed", scope="sys")


@triton.jit
def atomic_inc(team, dst, pe):
    """dst of PE `pe` += 1."""
    tl.atomic_add(ptr(team, dst, pe), 1, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_and(team, dst, value, pe):
    """dst of PE `pe` &= value; what was there."""
    return tl.atomic_and(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_and(team, dst, value, pe):
    """dst of PE `pe` &= value."""
    tl.atomic_and(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_or(team, dst, value, pe):
    """dst of PE `pe` |= value; what was there."""
    return tl.atomic_or(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_or(team, dst, value, pe):
    """dst of PE `pe` |= value."""
    tl.atomic_or(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_fetch_xor(team, dst, value, pe):
    """dst of PE `pe` ^= value; what was there."""
    return tl.atomic_xor(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def atomic_xor(team, dst, value, pe):
    """dst of PE `pe` ^= value."""
    tl.atomic_xor(ptr(team, dst, pe), value, sem="relaxed", scope="sys")


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
    words = ptr(team, arrived + team.my_pe + members * 0, tl.where(others, members, team.my_pe))
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
    mine = block.to(tl.int64) + pe * _ENTRY
    number = tl.load(_word(mine + _POSTED), volatile=True) + 1
    taken = tl.load(_word(mine + _SEEN_TAKEN), volatile=True)
    if number > taken + _DEPTH:
        _wait(team, _word(mine + _TAKEN), GE, number - _DEPTH, _POST, pe, 0)
        tl.store(_word(mine + _SEEN_TAKEN), number - _DEPTH)
    to = ptr(team, _box_slot(team, block, room, team.my_pe, number), pe)
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
        tell = ptr(team, _word(block.to(tl.int64) + team.my_pe * _ENTRY + _TAKEN), pe)
        tl.atomic_xchg(tell, number, sem="relaxed", scope="sys")
    tl.store(_word(mine + _RECEIVED), number)
    tl.debug_barrier()
