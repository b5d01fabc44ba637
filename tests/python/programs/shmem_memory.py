"""atoll.shmem: symmetric memory and one-sided copies, by shmem4py's rules."""

from __future__ import annotations

import atoll
import numpy as np
from atoll import shmem
from checks import COMPLEX, FLOATS, INTEGERS, OTHERS, equal, loads, run, sample

me, n = shmem.my_pe(), shmem.n_pes()
right, left = (me + 1) % n, (me - 1) % n
NUMBERS = [*INTEGERS, *FLOATS, *COMPLEX]


def check_the_job_is_the_packages() -> None:
    assert (me, n) == (atoll.my_pe(), atoll.n_pes()) and atoll.is_initialized()
    assert shmem.pe_accessible(n - 1) and not shmem.pe_accessible(n)
    assert shmem.query_thread() is shmem.THREAD_MULTIPLE
    assert shmem.info_get_version() == (shmem.MAJOR_VERSION, shmem.MINOR_VERSION) == (1, 6)
    assert shmem.info_get_name() == shmem.VENDOR_STRING == "Atoll"
    assert shmem.pcontrol() is None and shmem.pcontrol(2) is None


def check_alloc() -> None:
    for align, hints, clear in (
        (None, None, True),
        (256, shmem.MALLOC_ATOMICS_REMOTE, True),
        (None, 2, False),
    ):
        mem = shmem.alloc(6, 8, align, hints, clear)
        assert isinstance(mem, memoryview) and len(mem) == mem.nbytes == 48
        a = shmem.fromalloc(mem, (2, 3), "i8", "F")
        assert a.shape == (2, 3) and a.flags.f_contiguous and atoll.is_symmetric(a)
        assert not clear or not a.any()
        assert align is None or a.__array_interface__["data"][0] % align == 0
        a[...] = me
        assert np.frombuffer(mem, "i8").tolist() == [me] * 6
        assert shmem.fromalloc(mem).dtype == np.float64 and shmem.fromalloc(mem, dtype="i4").shape == (12,)
        part = shmem.fromalloc(mem[8:24], dtype="i8")
        part[:] = 7
        assert atoll.is_symmetric(part) and np.frombuffer(mem, "i8").tolist() == [me, 7, 7, me, me, me]
        shmem.free(mem)
        assert not atoll.is_symmetric(a)
    a = shmem.fromalloc(shmem.alloc(24), (3,), float)
    shmem.free(a)
    shmem.free(shmem.alloc(0))
    assert shmem.MALLOC(3) == shmem.MALLOC_ATOMICS_REMOTE | shmem.MALLOC_SIGNAL_REMOTE


def check_arrays() -> None:
    for order in ("C", "F"):
        a = shmem.new_array((2, 3), "i4", order)
        assert a.dtype == np.int32 and not a.any() and a.flags[f"{order}_CONTIGUOUS"]
        shmem.del_array(a)
    assert shmem.new_array(2).dtype == shmem.empty(2).dtype == shmem.zeros(2).dtype == np.float64
    equal(shmem.zeros((2, 2)), np.zeros((2, 2)))
    equal(shmem.ones(3, "i2"), np.ones(3, "i2"))
    equal(shmem.full(3, 4), np.full(3, 4))
    equal(shmem.full((2, 2), -1, "u1", "F"), np.full((2, 2), 255, "u1"))
    assert shmem.empty((2, 0, 3), order="F").shape == (2, 0, 3)
    for given in (
        42,
        [1, 2.5],
        [[1, 2], [3, 4]],
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        np.eye(4)[::2],
    ):
        for kind in "KACF":
            want = np.array(given, order=kind)
            made = shmem.array(given, order=kind)
            equal(made, want)
            assert made.strides == np.empty_like(want).strides and atoll.is_symmetric(made)
    equal(shmem.array([1, 2], "f4"), np.array([1, 2], "f4"))


def check_ptr() -> None:
    a = shmem.full((2, 3), me, "i4", "F")
    there = shmem.ptr(a, right)
    assert (there is not None) == loads(right)
    if there is not None:
        assert there.strides == a.strides and (there == right).all()
    shmem.barrier_all()
    if there is not None:
        there[0, 1] = 10 + me
    shmem.barrier_all()
    assert not loads(left) or a[0, 1] == 10 + left
    a.flags.writeable = False
    assert there is None or not shmem.ptr(a, me).flags.writeable
    assert shmem.ptr(np.zeros(3), me) is None
    assert shmem.addr_accessible(a, right) and not shmem.addr_accessible(np.zeros(1), right)


def check_put_and_get() -> None:
    for dtype in [*NUMBERS, *OTHERS]:
        target, source = shmem.zeros((2, 3), dtype), sample(6, dtype, me)
        for put in (shmem.put, shmem.put_nbi):
            put(target, source, right)
            shmem.barrier_all()
            equal(target.reshape(-1), sample(6, dtype, left))
            shmem.barrier_all()
        for get in (shmem.get, shmem.get_nbi):
            here = np.zeros((3, 2), dtype)
            get(here, target, right)
            shmem.quiet()
            equal(here.reshape(-1), source)
        shmem.barrier_all()


def check_sizes_count_in_memory_order() -> None:
    target = shmem.zeros((2, 3), "i4", "F")
    shmem.put(target, np.arange(1, 5, dtype="i4"), right)  # the smaller size is used
    shmem.barrier_all()
    assert target.T.reshape(-1).tolist() == [1, 2, 3, 4, 0, 0]
    shmem.barrier_all()
    shmem.put(target, np.array([[9, 8], [7, 6]], "i4", order="F"), right, 3)
    shmem.put(target[:0], target, right)
    shmem.put(target, target, right, 0)
    shmem.barrier_all()
    assert target.T.reshape(-1).tolist() == [9, 7, 8, 4, 0, 0]
    here = np.full(8, -1, "i4")
    shmem.get(here, target, pe=right, size=2, ctx=None)
    assert here.tolist() == [9, 7] + [-1] * 6
    fixed = np.arange(3)
    fixed.flags.writeable = False
    counts = shmem.zeros(3, int)
    shmem.put(counts, fixed, me)
    assert counts.tolist() == [0, 1, 2]


def check_strided() -> None:
    target = shmem.zeros(7, "f8")
    shmem.iput(target, np.arange(1.0, 6), right, 3, 2)
    shmem.barrier_all()
    assert target.tolist() == [1, 0, 0, 3, 0, 0, 5]
    shmem.barrier_all()
    shmem.iput(target, np.arange(10.0, 16), right, tst=2, size=2)
    shmem.barrier_all()
    assert target.tolist() == [10, 0, 11, 3, 0, 0, 5]
    here = np.zeros((2, 2), order="F")
    shmem.iget(here, target, left, 1, 2)
    assert here.T.reshape(-1).tolist() == [10, 11, 0, 5]
    shmem.iget(here, target, left, sst=3, tst=3, size=1, ctx=shmem.CTX_DEFAULT)
    assert here[0, 0] == 10


def check_contexts_in_copies() -> None:
    target = shmem.zeros(2, int)
    with shmem.Ctx.create(shmem.CTX_SERIALIZED) as ctx:
        shmem.put(target, np.array([me, 5]), right, ctx=ctx)
        ctx.fence()
        shmem.atomic_add(target[1:], 1, right, ctx)
        shmem.quiet(ctx)
    shmem.barrier_all()
    assert target.tolist() == [left, 6]


run(globals())
