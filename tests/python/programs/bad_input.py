"""Wrong input: the errors, and that everything still works afterwards."""

from __future__ import annotations

import gc

import atoll
import numpy as np
from checks import LOAD_STORE, equal, raises, run
from numpy.lib.stride_tricks import as_strided

x0 = np.zeros(3)
raises(atoll.NotInitialized, lambda: atoll.put(x0, x0, 0), "before atoll.init()")
raises(atoll.NotInitialized, lambda: atoll.zeros(3), "init")
raises(atoll.NotInitialized, atoll.barrier_all, "init")
raises(atoll.NotInitialized, atoll.finalize, "init")
assert not atoll.is_initialized() and not atoll.is_symmetric(x0)
for name in ("zeros", "ones", "full", "array", "signal", "bcast_object", "gather_object", "abort"):
    given = (3, 1) if name == "full" else (3,)
    raises(atoll.NotInitialized, lambda n=name, g=given: getattr(atoll, n)(*g), f"{name}() was called before")
raises(atoll.NotInitialized, lambda: atoll.WORLD.split(0), "Team.split() was called before")
for made in (atoll.arrays.zeros, atoll.arrays.random):  # which ask a team for its number of PEs
    raises(atoll.NotInitialized, lambda f=made: f(3), f"{made.__name__}() was called before")

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
x = atoll.zeros(8)
i = atoll.zeros(8, np.int64)
y = np.zeros(8)


def still_works() -> None:
    atoll.barrier_all()
    atoll.put(x, np.full(8, me + 1.0), right)
    atoll.atomic_add(i, 1, right, 0)
    atoll.barrier_all()
    equal(x, np.full(8, left + 1.0))
    assert atoll.atomic_swap(i, 0, me, 0) == 1
    atoll.barrier_all()


def check_pes() -> None:
    for pe in (-1, n, n + 1000, 2**31 - 1, -(2**31), 2**31, 10**30):
        raises(atoll.PeError, lambda pe=pe: atoll.put(x, y, pe), "put(): ", str(pe))
        raises(atoll.PeError, lambda pe=pe: atoll.get(y, x, pe), "get(): ")
        raises(atoll.PeError, lambda pe=pe: atoll.atomic_inc(i, pe, 0))
        raises(atoll.PeError, lambda pe=pe: atoll.put(x[:0], y[:0], pe))
        raises(atoll.PeError, lambda pe=pe: atoll.put(x[::2], y[::2], pe))
    raises(atoll.PeError, lambda: atoll.take(x, [0, 1], [0, n]), str(n))
    raises(atoll.PeError, lambda: atoll.pe_quiet([0, n]))
    raises(atoll.PeError, lambda: atoll.peer(x, n))
    raises(atoll.PeError, lambda: atoll.send(y, n))
    for pe in ("0", 0.0, None, [0], np.zeros(2, int)):
        raises(atoll.InvalidArgument, lambda pe=pe: atoll.put(x, y, pe), "pe is")
    for flag in (
        lambda: atoll.put(x, y, True),
        lambda: atoll.atomic_inc(i, me, True),
        lambda: atoll.g(x, True),
    ):
        raises(TypeError, flag, "True; pass one integer")
    atoll.put(x, y, np.int8(me))
    assert issubclass(atoll.PeError, IndexError) and issubclass(atoll.DtypeMismatch, TypeError)
    still_works()


def check_not_symmetric() -> None:
    for call in (
        lambda: atoll.put(y, y, me),
        lambda: atoll.get(y, y, me),
        lambda: atoll.p(y, 1.0, me, 0),
        lambda: atoll.g(y, me, 0),
        lambda: atoll.put(y[::2], y[::2], me),
        lambda: atoll.take(y, [1], me),
        lambda: atoll.add_at(y, [1], 1.0, me),
        lambda: atoll.atomic_inc(np.zeros(1, int), me),
        lambda: atoll.free(y),
        lambda: atoll.global_view(y),
        lambda: atoll.wait_until(np.zeros(1, int), "==", 1),
        lambda: atoll.signal_fetch(np.zeros(1, np.uint64)),
    ):
        raises(atoll.NotSymmetric, call, "ordinary array")
    raises(atoll.NotSymmetric, lambda: atoll.put(as_strided(x, (1000,), (8,)), 1.0, me), "reaches outside")
    raises(atoll.NotSymmetric, lambda: atoll.put(as_strided(x, (9,), (8,)), 1.0, me), "72")
    raises(atoll.NotSymmetric, lambda: atoll.put(as_strided(x[2:], (4,), (-8,)), 1.0, me), "reaches outside")
    # A remote address cannot be waited on.
    words = atoll.zeros(2, int)
    if LOAD_STORE and n > 1:
        raises(
            atoll.NotSymmetric,
            lambda: atoll.wait_until(atoll.peer(words, right), "==", 1, index=0),
            "other PEs",
        )
    # The heap recognizes addresses without their array, and freed addresses.
    bare = np.frombuffer(memoryview(x), x.dtype)
    atoll.put(bare, y, me)
    still_works()


def check_freed() -> None:
    z = atoll.zeros(16)
    view = z[3:][::-2].reshape(-1, 1)
    everyone = atoll.global_view(z) if LOAD_STORE else z.reshape(1, -1)
    other = atoll.peer(z, right) if LOAD_STORE else z[4:]
    bare = np.frombuffer(memoryview(z), z.dtype)
    raises(atoll.InvalidArgument, lambda: atoll.free(z[1:]), "pass the array")
    atoll.free(z.reshape(4, 4))
    again = atoll.ones(16)  # most likely at the same place
    for array in (z, view, view[0], everyone, everyone[0], other, bare):
        raises(atoll.UseAfterFree, lambda a=array: atoll.put(a, a, me), "freed")
        raises(
            atoll.UseAfterFree,
            lambda a=array: atoll.get(np.zeros_like(a), a, me),
            "allocated at",
            "bad_input.py:",
        )
        first = array[(0,) * (array.ndim - 1)][:1]
        raises(atoll.UseAfterFree, lambda a=first: atoll.put(again[:1], a, me), "freed")
        raises(atoll.UseAfterFree, lambda a=array: atoll.atomic_inc(a, me, 0), "freed")
        assert not atoll.is_symmetric(array)
    raises(atoll.UseAfterFree, lambda: atoll.free(z), "freed")
    raises(atoll.UseAfterFree, lambda: atoll.global_view(z), "freed")
    equal(again, np.ones(16))
    array = first = view = everyone = other = bare = z = None
    gc.collect()
    atoll.put(again, again, me)
    still_works()


def check_shapes_and_dtypes() -> None:
    raises(atoll.ShapeMismatch, lambda: atoll.put(x, y[:7], me), "(8,)", "(7,)", "dst: the ", "allocated at")
    raises(atoll.ShapeMismatch, lambda: atoll.put(x.reshape(2, 4), y.reshape(4, 2), me), "reshape")
    raises(atoll.ShapeMismatch, lambda: atoll.get(y[:1], x, me))
    raises(atoll.ShapeMismatch, lambda: atoll.put(x, [1.0, 2.0], me))
    atoll.put(x.reshape(1, 8, 1), y, me)
    raises(
        atoll.DtypeMismatch,
        lambda: atoll.put(x, y.astype("f4"), me),
        "src.astype(dst.dtype)",
        "float32",
        "float64",
    )
    raises(atoll.DtypeMismatch, lambda: atoll.zeros(2, 3), "dtype is 3; ", "zeros((2, 3))")  # type: ignore[call-overload]
    small = np.zeros(8, "f4")
    for call in (
        lambda: atoll.get(small, x, me),
        lambda: atoll.get_nbi(small, x, me),
        lambda: atoll.iget(small, x, 1, 1, 8, me),
    ):
        raises(atoll.DtypeMismatch, call, "dst has dtype float32", "make dst with dtype=src.dtype")
    raises(atoll.DtypeMismatch, lambda: atoll.take(x, 0, me, small[:1]), "make out with dtype=src.dtype")
    raises(
        atoll.DtypeMismatch,
        lambda: atoll.atomic_fetch_nbi(small, i, me, 0),
        "make fetch with dtype=dst.dtype",
    )
    raises(atoll.DtypeMismatch, lambda: atoll.put_at(x, [0, 1], small[:2], me), "values.astype(dst.dtype)")
    raises(atoll.DtypeMismatch, lambda: atoll.put(x, i, me), "int64")
    raises(atoll.DtypeMismatch, lambda: atoll.put(i, 1.5, me), "1.5", "int64")
    raises(atoll.DtypeMismatch, lambda: atoll.put(i, [1.5] * 8, me), "np.array(src, dst.dtype)")
    raises(atoll.DtypeMismatch, lambda: atoll.put(i, np.float64(1), me), "float64")
    raises(atoll.DtypeMismatch, lambda: atoll.put(x, "text", me))
    raises(atoll.InvalidArgument, lambda: atoll.put(i, 2**63, me), "does not fit")
    raises(atoll.InvalidArgument, lambda: atoll.put(i.view("u1"), -1, me), "does not fit")
    raises(atoll.DtypeMismatch, lambda: atoll.atomic_add(i.view("i2"), 1, me, 0), "32- and 64-bit")
    raises(atoll.DtypeMismatch, lambda: atoll.atomic_or(x, 1, me, 0), "integers")
    raises(atoll.DtypeMismatch, lambda: atoll.wait_until(x[:1], "==", 1), "integers")
    raises(atoll.DtypeMismatch, lambda: atoll.signal_fetch(i, 0), "uint64")
    raises(atoll.DtypeMismatch, lambda: atoll.zeros(3, object), "Python objects")
    raises(atoll.DtypeMismatch, lambda: atoll.zeros(3, [("a", object)]), "Python objects")
    raises(atoll.DtypeMismatch, lambda: atoll.zeros(3, ">f8"), "byte order")
    raises(atoll.DtypeMismatch, lambda: atoll.put(x.view(">f8"), y.astype(">f8"), me), "byte order")
    raises(atoll.DtypeMismatch, lambda: atoll.put(x, np.zeros(8, object), me))
    raises(atoll.DtypeMismatch, lambda: atoll.put(x, y.astype(">f8"), me))
    raises(TypeError, lambda: atoll.put("x", y, me), "NumPy array")
    raises(TypeError, lambda: atoll.put(x, y), "'pe'")  # type: ignore[call-arg]
    raises(TypeError, lambda: atoll.put(x, y, me, color=1), "color")  # type: ignore[call-arg]
    raises(TypeError, lambda: atoll.put(x, y, me, 3))  # type: ignore[misc]
    raises(IndexError, lambda: atoll.p(x, 1.0, me, index=8), "8")
    raises(IndexError, lambda: atoll.add_at(x, [0, -9], 1.0, me), "-9")
    assert (x == 0).all(), "nothing is written when one index is bad"
    misaligned = np.ndarray(2, "i8", buffer=memoryview(atoll.zeros(32, "u1")), offset=3)
    raises(atoll.InvalidArgument, lambda: atoll.atomic_inc(misaligned, me, 0))
    still_works()


def check_read_only() -> None:
    locked = x.view()
    locked.flags.writeable = False
    raises(atoll.InvalidArgument, lambda: atoll.put(locked, y, me), "read-only")
    masked = np.ma.array(y, mask=True)  # type: ignore[no-untyped-call]
    raises(TypeError, lambda: atoll.put(x, masked, me), "would lose its mask; pass x.filled(value)")
    raises(TypeError, lambda: atoll.sum_reduce(masked), "would lose its mask")
    raises(atoll.InvalidArgument, lambda: atoll.atomic_inc(np.broadcast_to(i, (2, 8)), me, 0), "read-only")
    fixed = np.zeros(8)
    fixed.flags.writeable = False
    raises(atoll.InvalidArgument, lambda: atoll.get(fixed, x, me), "read-only")
    atoll.put(x, fixed, me)
    atoll.get(y, locked, me)
    still_works()


def check_choices() -> None:
    raises(atoll.InvalidArgument, lambda: atoll.wait_until(i, "=>", 1, index=0), "'>='")  # type: ignore[arg-type]
    raises(atoll.InvalidArgument, lambda: atoll.wait_until(i, None, 1, index=0))  # type: ignore[arg-type]
    raises(atoll.InvalidArgument, lambda: atoll.wait_until(i[:1], "==", 1, timeout=-1), "timeout")
    raises(atoll.InvalidArgument, lambda: atoll.put(x, y, me, ctx=1), "Context")  # type: ignore[arg-type]
    raises(atoll.InvalidArgument, lambda: atoll.put(x, y, me, team=1), "Team")  # type: ignore[arg-type]
    with atoll.Context() as ctx:
        raises(atoll.InvalidArgument, lambda: atoll.put(x, y, me, ctx=ctx, team=atoll.WORLD), "not both")
    raises(atoll.InvalidArgument, lambda: atoll.zeros(3, order="A"), "order")  # type: ignore[arg-type]
    raises(atoll.InvalidArgument, lambda: atoll.zeros(3, hints=["fast"]), "hints")  # type: ignore[list-item]
    raises(atoll.Unsupported, lambda: atoll.zeros(3, device="cuda"), "cuda")
    raises(atoll.ShapeMismatch, lambda: atoll.zeros(-1))
    raises(atoll.InvalidArgument, lambda: atoll.zeros(3, align=3), "zeros(): ", "power of two; 3 was passed")
    raises(atoll.InvalidArgument, lambda: atoll.iput(x, y, 0, 1, 2, me), "at least 1")
    raises(atoll.ShapeMismatch, lambda: atoll.iput(x, y, 4, 1, 3, me), "past")
    raises(atoll.ShapeMismatch, lambda: atoll.iput(x, y, 2**62, 1, 3, me), "past")
    raises(atoll.InvalidArgument, lambda: atoll.ibput(x, y, 1, 2, 2, 2, me), "at least")
    raises(atoll.InvalidArgument, lambda: atoll.WORLD.destroy())
    still_works()


def check_allocations() -> None:
    """Each error names the function that was called, and occurs before any PE waits for another."""
    for shape in (None, 1.5, "ab", [1, "a"]):
        raises(atoll.InvalidArgument, lambda s=shape: atoll.zeros(s), "zeros(): ")
    raises(atoll.ShapeMismatch, lambda: atoll.signal(-1), "signal(): ", "-1")
    raises(atoll.InvalidArgument, lambda: atoll.ones(3, align="x"), "ones(): align is 'x'")  # type: ignore[arg-type]
    raises(atoll.InvalidArgument, lambda: atoll.empty(3, hints="atomics"), "empty(): hints", "('atomics',)")  # type: ignore[arg-type]
    raises(atoll.InvalidArgument, lambda: atoll.empty(3, hints=None), "hints is None")  # type: ignore[arg-type]
    raises(atoll.DtypeMismatch, lambda: atoll.array([object()]), "array(): ", "Python objects")
    # One PE only: nothing is allocated yet, so the others need not know.
    if me == 0:
        raises(atoll.DtypeMismatch, lambda: atoll.full(3, "text", float), "fill_value is 'text'")
        raises(atoll.DtypeMismatch, lambda: atoll.full(3, 300, np.uint8), "300")
        raises(atoll.ShapeMismatch, lambda: atoll.full(3, [1, 2]), "(2,)", "3")
    equal(atoll.full((2, 3), [1, 2, 3], int), [[1, 2, 3]] * 2)
    still_works()


def check_roots() -> None:
    for call in (atoll.broadcast, atoll.reduce, atoll.gather):
        given = ("sum",) if call is atoll.reduce else ()
        raises(atoll.PeError, lambda c=call, g=given: c(y, *g, root=n), f"root is {n}")
    for call in (atoll.bcast_object, atoll.gather_object):
        raises(atoll.PeError, lambda c=call: c(1, n), f"{call.__name__}(): root is {n}")
        raises(atoll.InvalidArgument, lambda c=call: c(1, "a"), f"{call.__name__}(): root is 'a'")
    raises(atoll.InvalidArgument, lambda: atoll.pe_quiet("a"), "pe_quiet(): pes is 'a'")  # type: ignore[arg-type]
    raises(atoll.ShapeMismatch, lambda: atoll.add_at(x, [0, 1], [1.0, 2, 3], me), "(2,)", "(3,)")
    raises(atoll.ShapeMismatch, lambda: atoll.take(x, [0, 1], [me] * 3), "(2,)", "(3,)")
    raises(atoll.InvalidArgument, lambda: atoll.wait_until(i[:1], "==", 1, timeout="a"), "timeout is 'a'")  # type: ignore[arg-type]
    raises(TypeError, lambda: atoll.put(None, y, me), "dst is None", "NumPy array")  # type: ignore[arg-type]
    still_works()


def check_numbers() -> None:
    """No number is rounded, cut, wrapped or ignored."""
    far = np.array([2**64 - 1], np.uint64)
    for call in (
        lambda: atoll.take(i, far, me),
        lambda: atoll.put_at(i, far, 7, me),
        lambda: atoll.add_at(i, np.append(far - far, far), 7, me),
    ):
        raises(IndexError, call, "index holds 18446744073709551615")
    raises(atoll.PeError, lambda: atoll.take(i, 0, far), "take(): pe holds 18446744073709551615")
    assert not i.any()
    assert atoll.take(i, np.array([7], np.uint64), me) == [0]
    raises(atoll.InvalidArgument, lambda: atoll.pe_quiet([0.9]), "pe_quiet(): pes is [0.9]")
    raises(atoll.InvalidArgument, lambda: atoll.pe_quiet([True]), "pes is [True]")
    raises(atoll.PeError, lambda: atoll.pe_quiet([2**40]), str(2**40))
    atoll.pe_quiet([])
    atoll.pe_quiet(np.arange(n, dtype=np.uint64))
    raises(atoll.DtypeMismatch, lambda: atoll.test_any(i, "==", 0, [0.5] * 8), "status has dtype float64")
    assert atoll.test_any(i, "==", 0, [2**32] * 8) is None
    for status in (256, -1, 1.0, "1"):
        raises(
            atoll.InvalidArgument, lambda s=status: atoll.global_exit(s), "global_exit(): status is", "255"
        )
    raises(atoll.InvalidArgument, lambda: atoll.abort("wrong", 0), "abort(): status is 0", "1 to 255")
    for arguments in ({"uid": "x", "pe": 7, "n_pes": 99}, {"pe": me + 1}, {"n_pes": n + 1}, {"uid": "x"}):
        raises(
            atoll.InvalidArgument,
            lambda a=arguments: atoll.init(**a),
            "init",
            "another" if "uid" in arguments else "",
        )
    raises(atoll.InvalidArgument, lambda: atoll.init(pe=-1), "init(): pe is -1")
    atoll.init(pe=me, n_pes=n)
    atoll.finalize()
    still_works()


def check_numbers_of_objects() -> None:
    raises(atoll.InvalidArgument, lambda: atoll.Mailbox(64, 2**62), "Mailbox(): slots is 4611686018427387904")
    raises(atoll.InvalidArgument, lambda: atoll.Mailbox(64.0), "Mailbox(): nbytes is 64.0")  # type: ignore[arg-type]
    team = atoll.WORLD
    raises(atoll.InvalidArgument, lambda: team.split(2**63), "Team.split(): color is 9223372036854775808")
    raises(atoll.InvalidArgument, lambda: team.split(0, "1"), "Team.split(): key is '1'")  # type: ignore[arg-type]
    raises(
        atoll.InvalidArgument,
        lambda: team.split_strided(0, 2**31, 1),
        "split_strided(): stride is 2147483648",
    )
    raises(atoll.InvalidArgument, lambda: team.split_2d(1.5), "split_2d(): xrange is 1.5")  # type: ignore[arg-type]
    raises(atoll.InvalidArgument, lambda: atoll.team_init(3, 1, 0), "team_init: 0x3 is no id of a team")
    raises(atoll.InvalidArgument, lambda: atoll.team_init("3", 1, 0), "team_init(): unique_id is")  # type: ignore[arg-type]
    raises(atoll.PeError, lambda: atoll.team_init(atoll.get_team_unique_id(), 1, 1), "pass 0 to 0")
    raises(atoll.InvalidArgument, lambda: atoll.team_init(1, n + 1, 0), "n_pes is")
    raises(atoll.PeError, lambda: team.world_pe(2**31), "world_pe(): pe is 2147483648")
    raises(atoll.InvalidArgument, lambda: team.translate_pe(0, 3), "translate_pe(): other is 3")  # type: ignore[arg-type]
    for color in (me % 2 == 0, np.True_):
        team.split(color).destroy()
    lock = atoll.Lock()
    raises(atoll.InvalidArgument, lambda: lock.acquire(False, 3.0), "timeout is 3.0 with blocking=False")
    raises(atoll.InvalidArgument, lambda: lock.acquire(3.0), "blocking is 3.0", "timeout=")  # type: ignore[arg-type]
    atoll.barrier_all()
    if me == 0:
        assert lock.acquire(np.True_) and not lock.acquire(np.False_)  # type: ignore[arg-type]
        lock.release()
    atoll.barrier_all()
    with lock:
        raises(atoll.InvalidArgument, lambda: lock.acquire(False, -1), "timeout is -1")
    lock.free()
    still_works()


def check_single_elements() -> None:
    """The error for several words tells how to pass one."""
    words = atoll.signal(2)
    for call in (
        lambda *a: atoll.p(x, 1.0, me, *a),
        lambda *a: atoll.g(x, me, *a),
        lambda *a: atoll.atomic_inc(i, me, *a),
        lambda *a: atoll.atomic_fetch_add(i, 0, me, *a),
        lambda *a: atoll.atomic_compare_swap(i, 0, 0, me, *a),
        lambda *a: atoll.atomic_swap_nbi(np.zeros(1, int), i, 0, me, *a),
        lambda *a: atoll.wait_until(i, "<", 2, None, *a),
        lambda *a: atoll.test(i, "<", 2, *a),
        lambda *a: atoll.put_signal(x, 0.0, words, 0, "set", me, *a),
        lambda *a: atoll.signal_set(words, 0, me, *a),
        lambda *a: atoll.signal_add(words, 0, me, *a),
        lambda *a: atoll.signal_fetch(words, *a),
        lambda *a: atoll.signal_wait_until(words, ">=", 0, None, *a),
        lambda *a: atoll.signal_consume(words, 0, *a),
    ):
        raises(atoll.ShapeMismatch, call, "elements", "pass index=, such as index=0, or a slice of length 1")
        call(1)
        raises(IndexError, lambda c=call: c(8), "8")
    raises(IndexError, lambda: atoll.p(x[:0], 1.0, me), "of 0 elements")
    assert atoll.atomic_swap(i[1:2], 0, me) == 0 == atoll.atomic_fetch(i.reshape(2, 4)[:1, :1], me)
    atoll.p(x, 0.0, me, 1)
    atoll.quiet()
    still_works()


def check_groups() -> None:
    raises(atoll.InvalidArgument, lambda: atoll.group().__exit__(None, None, None), "not open")
    target = np.zeros(8)
    close = atoll.group().__enter__().__exit__
    raises(atoll.InvalidArgument, lambda: atoll.group().__enter__(), "does not nest")
    atoll.send(np.full(8, me + 1.0), right)
    atoll.recv(target, left)
    close()
    equal(target, np.full(8, left + 1.0))
    raises(atoll.InvalidArgument, close, "not open")
    still_works()


def check_strange_bases() -> None:
    """Pass arrays whose .base changes at each access, leads to a wrong object, or never ends."""

    class Endless:
        def __init__(self, of: np.ndarray) -> None:
            self.__array_interface__ = of.__array_interface__

        @property
        def base(self) -> object:
            return Endless(y)

    class Fresh(Endless):
        @property
        def base(self) -> object:
            return np.ones(3)[:2]

    class Whole(Endless):
        def __init__(self, of: np.ndarray) -> None:
            super().__init__(of)
            self.of = of

        @property
        def base(self) -> object:
            return self.of[:]

    for kind in (Endless, Fresh, Whole):
        atoll.put(np.asarray(kind(x)), np.full(8, 5.0), me)  # its address is in the heap
        raises(atoll.NotSymmetric, lambda k=kind: atoll.put(np.asarray(k(y)), y, me))
        equal(x, np.full(8, 5.0))
    still_works()


def check_heap_exhausted() -> None:
    raises(atoll.OutOfMemory, lambda: atoll.zeros(2**50), "ATOLL_HEAP_SIZE", "largest free")
    raises(atoll.OutOfMemory, lambda: atoll.zeros(2**62), "bytes")
    still_works()


def check_allocations_that_differ() -> None:
    if n == 1:
        return
    raises(
        atoll.CollectiveMismatch, lambda: atoll.zeros(10 + me % 2), "PE 0", "PE 1", "they differ in bytes;"
    )
    y = np.zeros(4, np.int64 if me % 2 else np.float64)
    told = "dtype=float64)", "dtype=int64)", "they differ in dtype;"
    raises(atoll.CollectiveMismatch, lambda: atoll.sum_reduce(y), *told)
    still_works()


run(globals())
raises(atoll.NotInitialized, lambda: atoll.put(x, y, 0), "after the last atoll.finalize()")
raises(atoll.NotInitialized, atoll.finalize, "finalize")
x[:] = 3
assert x.sum() == 24
