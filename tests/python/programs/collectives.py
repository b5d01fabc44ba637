"""Collectives, teams, messages, locks, mailboxes and objects, by dtype, into symmetric, ordinary and strided arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
from checks import COMPLEX, FLOATS, INTEGERS, LOAD_STORE, OTHERS, equal, raises, run, sample

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
ALL = INTEGERS + FLOATS + COMPLEX + OTHERS
Array = np.ndarray[Any, Any]


def targets(shape: tuple[int, ...], dtype: Any) -> list[Array]:
    """Return arrays to write to: symmetric, ordinary, strided in the heap and outside."""
    wide = (*shape[:-1], 2 * shape[-1])
    return [
        atoll.zeros(shape, dtype),
        np.zeros(shape, dtype),
        atoll.zeros(wide, dtype)[..., ::2],
        np.zeros(shape[::-1], dtype).T,
    ]


def every_way(
    call: Callable[..., Any], src: Array, shape: tuple[int, ...], wanted: Array, *rest: Any, **more: Any
) -> None:
    for dst in targets(shape, src.dtype):
        call(dst, src, *rest, **more)
        equal(dst, wanted)
    symmetric = atoll.array(src)
    for source in (src, symmetric, np.asarray(src, order="F"), np.repeat(src, 2, -1)[..., ::2]):
        equal(call(source, *rest, **more), wanted)


def check_moving() -> None:
    for dtype in ALL:
        everyone = np.stack([sample((2, n, 3), dtype, pe) for pe in range(n)])
        mine = everyone[me]
        root = n // 2
        every_way(atoll.broadcast, mine, mine.shape, everyone[root], root)
        every_way(atoll.fcollect, mine, everyone.shape, everyone)
        moved = np.moveaxis(mine, 1, 0).copy()
        exchanged = np.stack([np.moveaxis(everyone[pe], 1, 0)[me] for pe in range(n)])
        every_way(atoll.alltoall, moved, moved.shape, exchanged)
        rows = np.moveaxis(everyone[root], 1, 0)[me]
        every_way(atoll.scatter, moved, rows.shape, np.ascontiguousarray(rows), root=root)
        for dst in targets(everyone.shape, dtype):
            atoll.gather(dst, mine, root)
            equal(dst, everyone if me == root else np.zeros(everyone.shape, dtype))
        gathered = atoll.gather(mine, root)
        assert (gathered is None) == (me != root)
        if gathered is not None:
            equal(gathered, everyone)
        nowhere = atoll.gather(None, mine, root)
        assert (nowhere is None) == (me != root)
        own = np.zeros_like(rows)
        atoll.scatter(own, moved if me == root else None, root)
        equal(own, rows)


def check_collect() -> None:
    for dtype in ["i2", "f8", "c16", [("a", "i2"), ("b", "f8")]]:
        parts = [sample((pe % 3, 4), dtype, pe) for pe in range(n)]
        joined = np.concatenate(parts)
        equal(atoll.collect(parts[me]), joined)
        dst = atoll.zeros((2 * n, 4), dtype)
        assert atoll.collect(dst, parts[me]) == joined.size
        equal(dst[: len(joined)], joined)
    assert atoll.collect(np.float64(me)).shape == (n,)
    if n > 1:
        for mine in (
            np.ones((2, 0) if me else (4, 1)),
            np.ones((2, 3 + me)),
            np.ones((2, 3, 1) if me else (1, 5)),
        ):
            try:
                atoll.collect(mine)
            except atoll.ShapeMismatch as error:
                assert "differs beyond the first axis" in str(error)
            else:
                raise AssertionError("collect() joined rows of different shapes")


def check_averages_and_scaled_sums() -> None:
    for dtype in ["f4", "f8", "g"]:
        parts = np.stack([sample((3, 4), dtype, pe) for pe in range(n)])
        mean = fold(np.add, parts) / parts.dtype.type(n)
        every_way(atoll.avg_reduce, parts[me], (3, 4), mean)
        equal(atoll.reduce(parts[me], "avg"), mean)
        equal(atoll.reduce_scatter(np.stack([parts[me]] * n), atoll.AVG), mean)
        scaled = fold(np.add, parts * parts.dtype.type(0.25))
        dst = atoll.zeros((3, 4), dtype)
        atoll.premul_sum_reduce(dst, parts[me], 0.25)
        equal(dst, scaled)
        dst[:] = 0
        atoll.premul_sum_reduce_scatter(dst, np.stack([parts[me]] * n), 0.25)
        equal(dst, scaled)
    whole = atoll.ones(4, np.int32)
    raises(atoll.DtypeMismatch, lambda: atoll.avg_reduce(whole), "avg_reduce()", "int32", "float32")
    raises(
        atoll.DtypeMismatch, lambda: atoll.premul_sum_reduce(whole, whole, 2), "premul_sum_reduce()", "int32"
    )
    x = atoll.ones(4)
    raises(atoll.InvalidArgument, lambda: atoll.premul_sum_reduce(x, x, "2"), "factor is '2'", "a number")


def check_numbers() -> None:
    """One number is accepted like an array of one."""
    assert atoll.sum_reduce(float(me)) == sum(range(n)) and atoll.max_reduce(np.int32(me)).dtype == np.int32
    assert atoll.reduce(me, "min") == 0 and atoll.sum_exscan(1) == me and atoll.broadcast(me, n - 1) == n - 1
    equal(atoll.fcollect(me), np.arange(n))
    assert atoll.or_reduce(me == n - 1) and not atoll.and_reduce(me == n)
    x = atoll.zeros(1)
    atoll.sum_reduce(x, np.float64(2))
    assert x[0] == 2 * n
    wide = atoll.zeros((2, 3), np.float32)
    for call, total in ((atoll.sum_reduce, 2 * n), (atoll.max_reduce, 2), (atoll.sum_exscan, 2 * me)):
        call(wide, 2)
        equal(wide, np.full((2, 3), total, np.float32))
    atoll.broadcast(wide, me + 1, n - 1)
    equal(wide, np.full((2, 3), n, np.float32))
    # If dst holds more than src, a number is one element.
    places = atoll.zeros(n + 2, int)
    atoll.fcollect(places[:n], me)
    equal(places[:n], np.arange(n))
    assert atoll.collect(places, me + 1) == n
    equal(places, np.array([*range(1, n + 1), 0, 0]))
    atoll.gather(places[:n] if me == n - 1 else None, -me, n - 1)
    equal(places[:n], -np.arange(n) if me == n - 1 else np.arange(1, n + 1))
    if n > 1:
        raises(
            atoll.ShapeMismatch,
            lambda: atoll.reduce_scatter(places, 1),
            "reduce_scatter(): src has 1 elements",
        )
        raises(atoll.ShapeMismatch, lambda: atoll.alltoall(places, 1), "alltoall(): src has 1 elements")
    # With a root given, the integer before it is src.
    one = atoll.zeros(1, int)
    atoll.broadcast(one, me + 7, 0)
    assert one[0] == 7
    atoll.broadcast(one, np.int64(me + 9), root=n - 1)
    assert one[0] == n + 8
    atoll.gather(places[:n] if me == 0 else None, me + 5, 0)
    if me == 0:
        equal(places[:n], np.arange(5, n + 5))


def check_alltoalls() -> None:
    src = np.zeros(2 * n * 3, "i4")
    src[::3] = np.arange(2 * n) + 1000 * me
    dst = atoll.zeros(2 * n * 2, "i4")
    atoll.alltoalls(dst, src, 2, 3, 2)
    wanted = np.zeros(2 * n * 2, "i4")
    wanted[::2] = [1000 * pe + 2 * me + i for pe in range(n) for i in range(2)]
    equal(dst, wanted)


REDUCTIONS = [
    (atoll.sum_reduce, "sum", np.add, INTEGERS + FLOATS + COMPLEX),
    (atoll.prod_reduce, "prod", np.multiply, INTEGERS + FLOATS + COMPLEX),
    (atoll.min_reduce, "min", np.minimum, INTEGERS + FLOATS),
    (atoll.max_reduce, "max", np.maximum, INTEGERS + FLOATS),
    (atoll.and_reduce, "and", np.bitwise_and, [*INTEGERS, "?"]),
    (atoll.or_reduce, "or", np.bitwise_or, [*INTEGERS, "?"]),
    (atoll.xor_reduce, "xor", np.bitwise_xor, [*INTEGERS, "?"]),
]


def fold(ufunc: np.ufunc, parts: Array) -> Array:
    """Fold in PE order and in the dtype itself, as the library does."""
    total = parts[0].copy()
    for part in parts[1:]:
        total = ufunc(total, part, dtype=parts.dtype)
    return np.asarray(total)


def check_reductions() -> None:
    for call, name, ufunc, dtypes in REDUCTIONS:
        for dtype in dtypes:
            parts = np.stack([sample((2, 5), dtype, pe) for pe in range(n)])
            total = fold(ufunc, parts)
            every_way(call, parts[me], (2, 5), total)
            equal(atoll.reduce(parts[me], name), total)
            x = atoll.array(parts[me])
            atoll.reduce(x, x, name)
            equal(x, total)
            rooted = atoll.reduce(parts[me], name, n - 1)
            assert (rooted is None) == (me != n - 1)
            if rooted is not None:
                equal(rooted, total)
            y = atoll.zeros((2, 5), dtype)
            atoll.reduce(y, parts[me], name, root=0)
            equal(y, total if me == 0 else np.zeros_like(total))
            blocks = np.stack([sample((n, 3), dtype, 50 + pe) for pe in range(n)])
            every_way(atoll.reduce_scatter, blocks[me], (3,), fold(ufunc, blocks[:, me]), name)


def check_halves() -> None:
    """Halves are combined in float32 and rounded once."""
    parts = np.stack([sample((3, 700), "f4", pe) for pe in range(n)]).astype("f2")
    wide = parts.astype("f4")
    for call, name, ufunc in ((atoll.sum_reduce, "sum", np.add), (atoll.max_reduce, "max", np.maximum)):
        every_way(call, parts[me], (3, 700), fold(ufunc, wide).astype("f2"))
        equal(atoll.reduce_scatter(np.stack([parts[me]] * n), name), fold(ufunc, wide).astype("f2"))
    equal(atoll.avg_reduce(parts[me]), (fold(np.add, wide) / np.float32(n)).astype("f2"))
    equal(atoll.sum_inscan(parts[me]), fold(np.add, wide[: me + 1]).astype("f2"))
    equal(atoll.avg_reduce(np.full(4, 60000, "f2")), np.full(4, 60000, "f2"))  # their sum is infinite
    if atoll.SHARED.n_pes() == n:  # requests need members of one host
        equal(atoll.sum_reduce(parts[me], blocking=False).wait(), fold(np.add, wide).astype("f2"))
    raises(atoll.DtypeMismatch, lambda: atoll.and_reduce(parts[me]), "and_reduce()", "float16")


def check_scans() -> None:
    for dtype in INTEGERS + FLOATS + COMPLEX:
        parts = np.stack([sample((7, 2), dtype, pe) for pe in range(n)])
        every_way(atoll.sum_inscan, parts[me], (7, 2), fold(np.add, parts[: me + 1]))
        before = fold(np.add, parts[:me]) if me else np.zeros_like(parts[0])
        every_way(atoll.sum_exscan, parts[me], (7, 2), before)


def check_sizes() -> None:
    for count in (0, 1, 3, 100, 5_000, 300_000):
        parts = np.stack([np.arange(count) * (pe + 1.0) for pe in range(n)])
        for src in (parts[me], atoll.array(parts[me])):
            equal(atoll.sum_reduce(src), fold(np.add, parts))
            equal(atoll.broadcast(src, n - 1), parts[n - 1])
            equal(atoll.fcollect(src), parts)


def check_teams() -> None:
    odd = atoll.WORLD.split(me % 2, -me)
    members = [pe for pe in range(n - 1, -1, -1) if pe % 2 == me % 2]
    assert odd.n_pes() == len(members) == atoll.n_pes(odd) and members[odd.my_pe()] == me
    assert [odd.world_pe(i) for i in range(odd.n_pes())] == members
    assert atoll.WORLD.translate_pe(me, odd) == odd.my_pe() and odd.translate_pe(0, atoll.WORLD) == members[0]
    equal(atoll.fcollect(np.array([me]), team=odd)[:, 0], np.array(members))
    x = atoll.zeros(2)
    atoll.put(x, float(me), (odd.my_pe() + 1) % odd.n_pes(), team=odd)
    odd.barrier()
    assert x[0] == members[(odd.my_pe() - 1) % odd.n_pes()]
    with atoll.Context(odd) as ctx:
        assert ctx.n_pes() == odd.n_pes()
        assert atoll.g(x, odd.my_pe(), ctx=ctx, index=0) == x[0]
    inner = odd.split_strided(0, 1, 1)
    assert bool(inner) == (odd.my_pe() == 0)
    if inner:
        inner.sync()
        inner.destroy()
        raises(atoll.UseAfterFree, lambda: atoll.barrier(inner), "destroyed")
    else:
        raises(atoll.InvalidArgument, lambda: atoll.my_pe("team"), "atoll.Team")  # type: ignore[arg-type]
        for call in (inner.sync, inner.my_pe, inner.destroy, lambda: atoll.sum_reduce(1, team=inner)):
            raises(atoll.InvalidArgument, call, "of which this PE is not a member")
        raises(atoll.InvalidArgument, lambda: atoll.Context(inner), "of which this PE is not a member")
        assert repr(inner) == "<atoll.Team, this PE is not a member>"
        with inner:
            pass
    if LOAD_STORE and odd.n_pes() > 1:
        every_other = atoll.global_view(x, odd)
        assert every_other.shape == (odd.n_pes(), 2) and every_other[odd.my_pe(), 0] == x[0]
    odd.sync()
    odd.destroy()
    row, column = atoll.WORLD.split_2d(2)
    assert row.n_pes() == min(2, n - me // 2 * 2) and column.my_pe() == me // 2
    with row, column:
        equal(atoll.sum_reduce(np.array([1]), team=row), np.array([row.n_pes()]))
    assert atoll.WORLD == atoll.SHARED or n > 1
    assert atoll.WORLD != None and (atoll.WORLD == 3) is False  # noqa: E711
    for team in (atoll.SHARED, atoll.HOST, atoll.RAIL):
        assert team.world_pe(team.my_pe()) == me
        equal(atoll.sum_reduce(np.array([1]), team=team), np.array([team.n_pes()]))
    uid = atoll.bcast_object(atoll.get_team_unique_id() if me == 0 else None)
    assert uid > 0
    if me > 0 or n == 1:  # PE 0 takes no part if there are others
        members = max(1, n - 1)
        with atoll.team_init(uid, members, n - 1 - me) as backwards:
            assert backwards.my_pe() == n - 1 - me and backwards.world_pe(0) == n - 1
            equal(atoll.sum_reduce(np.array([1]), team=backwards), np.array([members]))
        raises(
            atoll.InvalidArgument, lambda: atoll.team_init(uid, members, n - 1 - me), "each id makes one team"
        )
    outside = atoll.WORLD.split(-1)
    assert not outside and outside == atoll.WORLD.split(-1) and outside != atoll.WORLD
    for _ in range(100):
        with atoll.WORLD.split(0) as team:
            team.sync()


def check_messages() -> None:
    for count in (0, 1, 1000, 200_000):
        out, into = np.arange(count) + me, np.zeros(count, int)
        with atoll.group():
            atoll.send(out, right)
            atoll.recv(into, left)
        equal(into, np.arange(count) + left)
        wide = np.zeros((count, 2), int)
        with atoll.group():
            atoll.recv(wide[:, 1], right)
            atoll.send(out, left)
        equal(wide[:, 1].copy(), np.arange(count) + right)
    if n > 1 and me < 2:
        for i in range(50):
            if me == 0:
                atoll.send(np.array([i]), 1)
                atoll.recv(into[:1], 1)
                assert into[0] == -i
            else:
                atoll.recv(into[:1], 0)
                atoll.send(-into[:1], 0)
    try:
        with atoll.group():
            atoll.send(out, right)
            raise KeyError
    except KeyError:
        pass


def check_locks() -> None:
    lock, x = atoll.Lock(), atoll.zeros(1, int)
    for _ in range(50):
        with lock:
            atoll.p(x, atoll.g(x, 0) + 1, 0)
    atoll.barrier_all()
    assert atoll.g(x, 0) == 50 * n
    atoll.barrier_all()
    if me == 0:
        assert lock.acquire()
    atoll.barrier_all()
    if me != 0:
        assert not lock.acquire(blocking=False)
        raises(atoll.Timeout, lambda: lock.acquire(timeout=0.02))
        raises(atoll.InvalidArgument, lock.release)
    atoll.barrier_all()
    if me == 0:
        lock.release()
    atoll.barrier_all()
    with lock:
        pass
    atoll.barrier_all()
    lock.free()
    raises(atoll.UseAfterFree, lock.acquire)


def check_mailboxes() -> None:
    with atoll.Mailbox(64, slots=3) as box:
        assert box.capacity_bytes() >= 64
        into = np.zeros(8)
        assert box.try_receive(into, left) is None
        atoll.barrier_all()
        for i in range(30):
            box.post(np.arange(i % 9, dtype=float) + me, right)
            assert box.receive(into, left) == i % 9
            equal(into[: i % 9], np.arange(i % 9, dtype=float) + left)
        raises(atoll.ShapeMismatch, lambda: box.post(np.zeros(9), right))
        raises(atoll.Timeout, lambda: box.receive(into, left, timeout=0.01))
        atoll.barrier_all()
    raises(atoll.UseAfterFree, lambda: box.post(into, right))


def check_objects() -> None:
    thing = {"pe": me, "text": "x" * 1000 * me, "array": np.arange(me)}
    got = atoll.bcast_object(thing if me == n - 1 else None, root=n - 1)
    assert got["pe"] == n - 1 and len(got["text"]) == 1000 * (n - 1)
    found = atoll.gather_object(("from", me), root=n // 2)
    assert found == ([("from", pe) for pe in range(n)] if me == n // 2 else None)
    assert atoll.allgather_object("x" * 100 * me) == ["x" * 100 * pe for pe in range(n)]
    for root in (0, n - 1):
        given = [(root, pe, [0] * pe) for pe in range(n)] if me == root else None
        assert atoll.scatter_object(given, root) == (root, me, [0] * me)
    exchanged = atoll.alltoall_object([(me, pe, b"y" * me) for pe in range(n)])
    assert exchanged == [(pe, me, b"y" * pe) for pe in range(n)]
    assert atoll.reduce_object([me]) == list(range(n))
    assert atoll.reduce_object({me}, atoll.OR, 0) == (set(range(n)) if me == 0 else None)
    assert atoll.reduce_object(f"{me} ", lambda a, b: a + b, team=atoll.WORLD) == "".join(
        f"{i} " for i in range(n)
    )
    with atoll.WORLD.split(me % 2, -me) as team:
        same = list(range(me % 2, n, 2))[::-1]
        assert (
            atoll.allgather_object(me, team=team) == same
            and atoll.reduce_object(me, "max", team=team) == same[0]
        )


class Unloadable:
    def __reduce__(self) -> Any:
        return int, ("x",)


def check_objects_that_cannot_be_pickled() -> None:
    """On one PE: every PE raises the error, and the next call is in step."""
    bad = lambda: None  # noqa: E731
    last = n - 1
    mine = bad if me == last else 3
    for call, *words in (
        (lambda: atoll.bcast_object(mine, last), "bcast_object(): the object of PE", "cannot be pickled"),
        (lambda: atoll.gather_object(mine), "gather_object(): the object of PE"),
        (lambda: atoll.allgather_object(mine), "allgather_object(): the object of PE"),
        (lambda: atoll.scatter_object([3] * last + [mine], last), "scatter_object(): the object of PE"),
        (
            lambda: atoll.scatter_object([3] * (n + 1), last),
            "scatter_object(): objs of PE",
            f"{n + 1} entries",
        ),
        (lambda: atoll.scatter_object(None, last), "scatter_object(): objs of PE", "is None"),
        (lambda: atoll.alltoall_object([3] * last + [mine]), "alltoall_object(): the object of PE"),
        (lambda: atoll.alltoall_object([3] * n if me != last else 3), "alltoall_object(): objs of PE"),
        (lambda: atoll.reduce_object(mine), "reduce_object(): the object of PE"),
    ):
        raises(atoll.InvalidArgument, call, f"of PE {last} ", *words)
        assert atoll.bcast_object(("in step", me), last) == ("in step", last)
    try:
        atoll.bcast_object(Unloadable() if me == last else None, last)
    except ValueError as error:
        note = getattr(error, "__notes__", ["could not load the object that another PE passed"])[
            0
        ]  # Python 3.11
        assert me != last and "could not load the object that another PE passed" in note
    else:
        assert me == last
    assert atoll.bcast_object(("in step", me), last) == ("in step", last)
    raises(atoll.InvalidArgument, lambda: atoll.reduce_object(1, "avg"), "reduce_object(): op is 'avg'")


def check_lists_and_numbers() -> None:
    """Lists and numbers are accepted, as by put."""
    x, i = atoll.zeros(3), atoll.zeros((2, 2), np.int32)
    atoll.sum_reduce(x, [1, 2.5, me])
    equal(x, [n, 2.5 * n, sum(range(n))])
    atoll.max_reduce(x, me)
    equal(x, np.full(3, float(n - 1)))
    atoll.reduce(i, [[1, 2], [3, me]], "min")
    equal(i, np.array([[1, 2], [3, 0]], np.int32))
    atoll.reduce(i, 5, op="sum", root=0)
    equal(i, np.full((2, 2), 5 * n, np.int32) if me == 0 else np.array([[1, 2], [3, 0]], np.int32))
    equal(atoll.sum_reduce([1, 2]), np.array([n, 2 * n]))
    equal(atoll.reduce([1, 2], "sum"), np.array([n, 2 * n]))
    equal(atoll.fcollect([me, 1]), np.array([[pe, 1] for pe in range(n)]))
    assert atoll.sum_reduce(2.5) == 2.5 * n
    raises(
        atoll.DtypeMismatch,
        lambda: atoll.sum_reduce(i, [[1, 2], [3, 4.5]]),
        "sum_reduce()",
        "nothing is cast",
    )
    raises(atoll.DtypeMismatch, lambda: atoll.sum_reduce(i, 1.5), "sum_reduce(): src is 1.5")
    raises(atoll.ShapeMismatch, lambda: atoll.sum_reduce(x, [1.0, 2.0]), "sum_reduce()")
    raises(TypeError, lambda: atoll.sum_reduce([object()]), "NumPy array")
    raises(atoll.InvalidArgument, lambda: atoll.reduce(x, "sum_"), "op is 'sum_'")
    raises(TypeError, lambda: atoll.sum_reduce("12"), "NumPy array")


run(globals())
