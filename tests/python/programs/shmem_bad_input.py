"""atoll.shmem: refused calls, their errors, and that all works afterwards."""

from __future__ import annotations

import warnings

import atoll
import numpy as np
from atoll import shmem
from checks import raises, run

me, n = shmem.my_pe(), shmem.n_pes()
x, word, pair = shmem.zeros(4), shmem.zeros(1, int), shmem.zeros(2, "u8")
lock, sig = shmem.new_lock(), shmem.new_signal()
plain = np.zeros(4)


def check_copies() -> None:
    for name in ("put", "get", "put_nbi", "get_nbi"):
        call, far = getattr(shmem, name), "target" if "put" in name else "source"
        raises(TypeError, lambda call=call: call([1.0], x, 0), f"shmem.{name}()", "target", "NumPy array")
        raises(TypeError, lambda call=call: call(x, 1.0, 0), f"shmem.{name}()", "source")
        raises(TypeError, lambda call=call: call(x, x), f"help(atoll.shmem.{name})", "'pe'")
        raises(atoll.DtypeMismatch, lambda call=call: call(x, word, 0), "int64", "float64")
        raises(atoll.InvalidArgument, lambda call=call: call(x[::2], x, 0), "target is not contiguous")
        raises(atoll.InvalidArgument, lambda call=call: call(x, x[::2], 0), "source is not contiguous")
        raises(atoll.ShapeMismatch, lambda call=call: call(x, x[:2], 0, 3), "size is 3", "source 2")
        raises(atoll.ShapeMismatch, lambda call=call: call(x, x, 0, -1), "size is -1")
        raises(atoll.InvalidArgument, lambda call=call: call(x, x, 0, 1.5), "size is 1.5")
        raises(atoll.PeError, lambda call=call: call(x, x, n), str(n))
        raises(atoll.InvalidArgument, lambda call=call: call(x, x, "1"), "pe is '1'")
        raises(atoll.NotSymmetric, lambda call=call: call(plain, np.ones(4), 0), f"shmem.{name}(): {far}")
        raises(TypeError, lambda call=call: call(x, x, 0, ctx=3), "ctx is 3", "shmem.Ctx")
        raises(atoll.InvalidArgument, lambda call=call: call(x, x, 0, ctx=shmem.CTX_INVALID), "CTX_INVALID")
    fixed = x[:]
    fixed.flags.writeable = False
    raises(atoll.InvalidArgument, lambda: shmem.put(fixed, x, 0), "read-only")
    raises(atoll.InvalidArgument, lambda: shmem.iput(x, x, 0, 0, 1), "iput()", "tst is 0")
    raises(atoll.ShapeMismatch, lambda: shmem.iget(x, x, 0, 2, 1, 3), "iget()", "size is 3", "target takes 2")
    raises(TypeError, lambda: shmem.iput([1], x, 0), "iput()", "NumPy array")
    raises(atoll.InvalidArgument, lambda: shmem.iput(x, x[::2], 0), "not contiguous", "atoll.iput")
    assert not x.any()


def check_words() -> None:
    raises(atoll.ShapeMismatch, lambda: shmem.atomic_add(pair, 1, 0), "atomic_add()", "2 elements")
    raises(atoll.DtypeMismatch, lambda: shmem.atomic_add(word, 1.5, 0), "1.5")
    raises(atoll.DtypeMismatch, lambda: shmem.atomic_and(x[:1], 1, 0), "float64")
    raises(TypeError, lambda: shmem.atomic_inc(3, 0), "atomic_inc()", "NumPy array")
    raises(TypeError, lambda: shmem.atomic_inc(word, 0, ctx=shmem), "shmem.Ctx")
    raises(atoll.NotSymmetric, lambda: shmem.atomic_fetch(np.zeros(1, int), 0), "ordinary")
    raises(
        atoll.InvalidArgument, lambda: shmem.atomic_op(word, 1, "mul", 0), "atomic_op()", "'mul'", "shmem.AMO"
    )
    raises(
        atoll.InvalidArgument, lambda: shmem.atomic_fetch_op(word, 1, 3, 0), "atomic_fetch_op()", "op is 3"
    )
    raises(atoll.InvalidArgument, lambda: shmem.test(word, "=", 1), "cmp is '='", "shmem.CMP")
    raises(atoll.InvalidArgument, lambda: shmem.wait_until_all(word, 6, 1), "cmp is 6")
    raises(atoll.ShapeMismatch, lambda: shmem.wait_until(pair, "==", 0), "wait_until()", "2 elements")
    raises(atoll.DtypeMismatch, lambda: shmem.test(x[:1], "==", 0), "float64", "integers")
    raises(atoll.DtypeMismatch, lambda: shmem.test_all_vector(word, "==", [0.5]), "[0.5]")
    raises(atoll.ShapeMismatch, lambda: shmem.test_all_vector(pair, "==", [0]), "values")
    raises(atoll.ShapeMismatch, lambda: shmem.test_all(pair, "==", 0, [0]), "status")
    raises(TypeError, lambda: shmem.test_any([0], "==", 0), "test_any()", "ivars")
    raises(atoll.DtypeMismatch, lambda: shmem.put_signal(x, x, 0, word, 1, 0), "new_signal")
    raises(atoll.InvalidArgument, lambda: shmem.put_signal(x, x, 0, sig, 1, 2), "sigop is 2", "SIGNAL_SET")
    raises(atoll.InvalidArgument, lambda: shmem.put_signal(x, x, 0, sig, -1, 0), "value is -1")
    raises(TypeError, lambda: shmem.signal_fetch(5), "signal_fetch()")
    raises(TypeError, lambda: shmem.set_lock(word), "set_lock()", "new_lock")
    raises(TypeError, lambda: shmem.del_signal(4), "new_signal")
    raises(atoll.InvalidArgument, lambda: shmem.clear_lock(lock), "clear_lock on a lock")
    shmem.set_lock(lock)
    raises(atoll.InvalidArgument, lambda: shmem.set_lock(lock), "set_lock would never return")
    assert shmem.test_lock(lock)
    shmem.clear_lock(lock)
    assert word[0] == 0 and not pair.any()


def check_collectives() -> None:
    raises(TypeError, lambda: shmem.broadcast(x, 3.0, 0), "broadcast()", "source")
    raises(atoll.ShapeMismatch, lambda: shmem.broadcast(x, x, 0, 5), "size is 5", "target takes 4")
    raises(atoll.PeError, lambda: shmem.broadcast(x, plain, n), "root")
    raises(atoll.DtypeMismatch, lambda: shmem.broadcast(x, np.zeros(4, "f4"), 0), "float32")
    raises(atoll.ShapeMismatch, lambda: shmem.fcollect(x[:0], plain), "fcollect()", "size is 4")
    raises(atoll.ShapeMismatch, lambda: shmem.collect(x[:3], plain), "collect()", "target takes 3")
    raises(atoll.InvalidArgument, lambda: shmem.reduce(x, plain, "avg"), "reduce()", "'avg'", "shmem.OP")
    raises(atoll.DtypeMismatch, lambda: shmem.and_reduce(x, plain), "float64")
    raises(atoll.InvalidArgument, lambda: shmem.alltoalls(x, plain, 0, 1), "alltoalls()", "tst is 0")
    raises(atoll.ShapeMismatch, lambda: shmem.alltoall(x, plain, 5), "alltoall()", "size is 5")
    if n not in (1, 2, 4):
        raises(atoll.ShapeMismatch, lambda: shmem.alltoall(x, plain), "4 elements", f"{n} equal blocks")
    raises(TypeError, lambda: shmem.sync(3), "sync()", "shmem.Team")
    raises(RuntimeError, lambda: shmem.sum_reduce(x, plain, team=shmem.Team()), "reduce()", "TEAM_INVALID")
    wrong = np.zeros((4, 4))[::2, ::2]
    raises(atoll.InvalidArgument, lambda: shmem.fcollect(wrong, plain), "target is not contiguous")
    shmem.barrier_all()


def check_memory() -> None:
    raises(atoll.InvalidArgument, lambda: shmem.zeros(2, order="A"), "zeros()", "'A'")
    raises(atoll.InvalidArgument, lambda: shmem.alloc(8, hints=8), "alloc()", "hints is 8")
    raises(atoll.ShapeMismatch, lambda: shmem.alloc(-1), "alloc()", "-1")
    raises(atoll.DtypeMismatch, lambda: shmem.empty(1, object), "Python objects")
    raises(ValueError, lambda: shmem.full((2, 2), [1, 2, 3]), "(2,2)")
    raises(TypeError, lambda: shmem.fromalloc(x), "fromalloc()")
    mem = shmem.alloc(12)
    raises(atoll.ShapeMismatch, lambda: shmem.fromalloc(mem), "12 bytes", "float64")
    raises(ValueError, lambda: shmem.fromalloc(mem, 2, "i4"), "reshape")
    raises(atoll.InvalidArgument, lambda: shmem.free(mem[4:]), "part")
    raises(atoll.InvalidArgument, lambda: shmem.free(x[1:]), "part")
    raises(TypeError, lambda: shmem.free(b"123"), "alloc")
    raises(atoll.NotSymmetric, lambda: shmem.free(plain), "ordinary")
    raises(TypeError, lambda: shmem.del_array(mem), "del_array()")
    raises(TypeError, lambda: shmem.ptr(3, 0), "ptr()")
    raises(atoll.PeError, lambda: shmem.ptr(x, n), str(n))
    shmem.free(mem)
    raises(atoll.UseAfterFree, lambda: shmem.free(mem), "freed")
    raises(atoll.InvalidArgument, lambda: shmem.init_thread(4), "init_thread()", "shmem.THREAD")


def check_words_of_no_signal_and_objects() -> None:
    raises(atoll.DtypeMismatch, lambda: shmem.del_signal(x), "del_signal()", "4 float64", "new_signal")
    raises(atoll.DtypeMismatch, lambda: shmem.del_signal(pair), "2 uint64")
    mem = shmem.alloc(16)
    for kind in ("O", [("a", object)]):
        raises(
            atoll.DtypeMismatch, lambda k=kind: shmem.fromalloc(mem, dtype=k), "fromalloc()", "Python objects"
        )
    raises(atoll.DtypeMismatch, lambda: shmem.fromalloc(mem, dtype="V0"), "no size")
    shmem.free(mem)
    for options in (8, "1", 1.0):
        raises(
            atoll.InvalidArgument,
            lambda o=options: shmem.Ctx.create(o),
            "Ctx.create(): options is",
            "CTX_NOSTORE",
        )
    for kept, name in (
        (shmem.TEAM_WORLD, "TEAM_WORLD"),
        (shmem.TEAM_SHARED, "TEAM_SHARED"),
        (shmem.CTX_DEFAULT, "CTX_DEFAULT"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            raises(RuntimeWarning, kept.destroy, f"{name} lasts as long as the job")
            with kept:
                pass
    raises(atoll.InvalidArgument, lambda: shmem.global_exit(256), "global_exit(): status is 256")
    shmem.barrier_all()


def check_handles() -> None:
    raises(TypeError, lambda: shmem.Ctx(123), "Ctx()", "123")
    raises(TypeError, lambda: shmem.Team(123), "Team()", "123")
    raises(RuntimeError, shmem.CTX_INVALID.get_team, "CTX_INVALID")
    team = shmem.Team()
    for call in (team.my_pe, team.n_pes, team.sync, team.get_config, team.split_strided, team.create_ctx):
        raises(RuntimeError, call, "TEAM_INVALID")
    raises(RuntimeError, lambda: shmem.Ctx.create(0, team), "Ctx.create()", "TEAM_INVALID")
    raises(
        atoll.InvalidArgument, lambda: shmem.TEAM_WORLD.split_strided(colour=1), "'colour'", "num_contexts"
    )
    raises(TypeError, lambda: hash(shmem.CTX_DEFAULT), "unhashable")
    if n > 1:
        first = shmem.TEAM_WORLD.split_strided(0, 1, 1)
        if first:
            raises(RuntimeError, lambda: shmem.TEAM_WORLD.translate_pe(n - 1, first), f"PE {n - 1}")
    made = shmem.Lock()
    made.destroy()
    raises(atoll.UseAfterFree, made.acquire, "destroyed")
    raises(TypeError, lambda: atoll.rc(colour=1), "'colour'", "initialize")
    raises(TypeError, lambda: setattr(atoll.rc, "colour", 1), "'colour'")


run(globals())
