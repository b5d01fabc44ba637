"""Arrays, puts and gets, strided and irregular forms, and views of other PEs, by dtype."""

from __future__ import annotations

import gc

import atoll
import numpy as np
from checks import (
    ATOMIC_INTEGERS,
    COMPLEX,
    FLOATS,
    INTEGERS,
    LOAD_STORE,
    OTHERS,
    equal,
    loads,
    raises,
    run,
    sample,
)

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
ALL = INTEGERS + FLOATS + COMPLEX + OTHERS


def check_allocation() -> None:
    for dtype in ALL:
        x = atoll.zeros((2, 3), dtype)
        assert type(x) is np.ndarray and x.shape == (2, 3) and x.dtype == np.dtype(dtype)
        equal(x, np.zeros((2, 3), dtype))
        assert atoll.is_symmetric(x) and atoll.is_symmetric(x.T[1:]) and not atoll.is_symmetric(x.copy())
        atoll.free(x)
        assert not atoll.is_symmetric(x)
    f = atoll.full((3, 4), 7, "i4", order="F")
    assert f.flags.f_contiguous and (f == 7).all()
    a = atoll.array([[1.5, 2.5], [3.5, float(me)]])
    equal(a, np.array([[1.5, 2.5], [3.5, float(me)]]))
    equal(atoll.ones_like(a), np.ones_like(a))
    equal(atoll.full_like(a, 2), np.full_like(a, 2))
    equal(atoll.zeros_like(f), np.zeros_like(f))
    assert atoll.zeros_like(f).flags.f_contiguous and atoll.empty_like(a).shape == a.shape
    assert atoll.ones(4).dtype == float and atoll.ones(4, "c8")[0] == 1
    assert atoll.signal(3).dtype == np.uint64 and atoll.signal((2, 2)).shape == (2, 2)
    assert atoll.empty(5, align=4096).ctypes.data % 4096 == 0
    nothing = atoll.zeros((0, 3))
    assert nothing.shape == (0, 3) and atoll.is_symmetric(nothing)
    atoll.put(nothing, np.zeros((0, 3)), right)
    atoll.free(nothing)


def check_memory_returns() -> None:
    before = atoll.info()["heap"]["used_bytes"]
    for _ in range(8):
        x = atoll.zeros(1 << 16)
        del x
        gc.collect()
    atoll.zeros(1)
    after = atoll.info()["heap"]["used_bytes"]
    assert 0 <= atoll.info()["heap"]["kept_bytes"] <= atoll.info()["heap"]["limit_bytes"]
    assert after - before < 4 << 19, f"{before} {after}: dropped arrays do not come back"


def check_put_get_dtypes() -> None:
    for k, dtype in enumerate(ALL):
        x = atoll.zeros((4, 5), dtype)
        atoll.put(x, sample((4, 5), dtype, 100 * k + me), right)
        atoll.barrier_all()
        equal(x, sample((4, 5), dtype, 100 * k + left))
        y = np.zeros((4, 5), dtype)
        atoll.get(y, x, right)
        equal(y, sample((4, 5), dtype, 100 * k + me))
        atoll.barrier_all()
        atoll.put_nbi(x[1:2], sample((1, 5), dtype, 100 * k + 50 + me), right)
        atoll.quiet()
        atoll.barrier_all()
        equal(x[1:2], sample((1, 5), dtype, 100 * k + 50 + left))
        atoll.get_nbi(y[0], x[1], left)
        atoll.quiet()
        equal(y[0], sample((1, 5), dtype, 100 * k + 50 + (left - 1) % n)[0])
        atoll.barrier_all()


VIEWS = [
    lambda a: a[::2, 1:7:3, ::-1],
    lambda a: a.T,
    lambda a: a[..., 0],
    lambda a: a[5:, 7, 3],
    lambda a: a[::-1, ::-1, ::-1],
    lambda a: a.reshape(48, 4)[3:40:5],
    lambda a: a[:, :0],
    lambda a: np.swapaxes(a, 0, 1)[2:3],
]


def check_put_get_strides() -> None:
    x = atoll.zeros((6, 8, 4), "i4")
    for view in VIEWS:
        for local in ("C", "F", "reversed"):
            model = np.zeros((6, 8, 4), "i4")
            x[...] = 0
            atoll.barrier_all()

            def source(pe: int, view=view, local=local):  # type: ignore[no-untyped-def]
                a = np.asarray(sample(view(x).shape, "i4", pe), order="F" if local == "F" else "C")
                return a[::-1] if local == "reversed" else a

            atoll.put(view(x), source(me), right)
            atoll.barrier_all()
            view(model)[...] = source(left)
            equal(x, model)
            back = np.zeros_like(source(me))
            atoll.get(back, view(x), right)
            equal(back, source(me))
            atoll.barrier_all()


def check_fields() -> None:
    x = atoll.zeros(6, [("k", "i2"), ("v", "f8"), ("m", "u1", (2, 2))])
    atoll.put(x["v"], np.arange(6.0) + me, right)
    atoll.put(x["m"][:, 0, 1], np.uint8(me + 1), right)
    atoll.barrier_all()
    equal(x["v"], np.arange(6.0) + left)
    assert (x["m"][:, 0, 1] == left + 1).all() and (x["k"] == 0).all() and (x["m"][:, 1] == 0).all()
    atoll.barrier_all()
    atoll.p(x, (3, 4.5, [[1, 2], [3, 4]]), right, index=2)
    atoll.barrier_all()
    assert x[2]["v"] == 4.5 and atoll.g(x, left, 2)["k"] == 3


def check_scalars() -> None:
    x = atoll.zeros(4, "i8")
    for value in (3, np.int64(3), np.array(3), True):
        atoll.put(x, value, right)
        atoll.barrier_all()
        equal(x, np.full(4, int(value)))
        atoll.barrier_all()
    atoll.put(x[1:3], [7, 8], right)
    z = atoll.zeros(3, "c16")
    atoll.put(z, 2 + 1j, right)
    b = atoll.zeros(3, "?")
    atoll.put(b[::2], True, right)
    h = atoll.zeros(2, "f2")
    atoll.put(h, 1.5, right)
    atoll.barrier_all()
    equal(x[1:3], np.array([7, 8]))
    assert (z == 2 + 1j).all() and b.tolist() == [True, False, True] and (h == 1.5).all()
    assert atoll.g(z, right, 0) == 2 + 1j and atoll.g(b, right, 1) is False
    assert atoll.g(h, left, 0) == np.float16(1.5)
    assert type(atoll.g(x, me, 0)) is int and type(atoll.g(h, me, 0)) is np.float16


def check_overlap() -> None:
    x = atoll.array(np.arange(20))
    model = np.arange(20)
    atoll.put(x[2:12], x[:10], me)
    model[2:12] = model[:10].copy()
    equal(x, model)
    atoll.put(x[::-1], x, me)
    equal(x, model[::-1])
    big = atoll.array(np.arange(1 << 17))
    atoll.put(big[8:], big[:-8], me)
    equal(big[8:], np.arange((1 << 17) - 8))
    atoll.get(big[:-8], big[8:], me)
    equal(big[:-8], np.arange((1 << 17) - 8))


def check_strided_forms_of_openshmem() -> None:
    x = atoll.zeros(30, "i4")
    atoll.iput(x, np.arange(30, dtype="i4") + me, 3, 2, 10, right)
    atoll.barrier_all()
    model = np.zeros(30, "i4")
    model[::3] = np.arange(0, 20, 2) + left
    equal(x, model)
    y = np.zeros(30, "i4")
    atoll.iget(y, x, 1, 3, 10, right)
    equal(y[:10], np.arange(0, 20, 2, dtype="i4") + me)
    atoll.barrier_all()
    x[:] = 0
    atoll.barrier_all()
    atoll.ibput(x, np.arange(30, dtype="i4"), 10, 5, 2, 3, right)
    atoll.barrier_all()
    model[:] = 0
    for i in range(3):
        model[10 * i : 10 * i + 2] = np.arange(5 * i, 5 * i + 2)
    equal(x, model)
    y[:] = 0
    atoll.ibget(y, x, 4, 10, 2, 3, right)
    equal(y[:10], np.array([0, 1, 0, 0, 5, 6, 0, 0, 10, 11], "i4"))
    atoll.iput(x, y, 1, 1, 0, right)


def check_irregular() -> None:
    for dtype in ["i8", "f4", "u2", "c16", [("a", "i2"), ("b", "f8")]]:
        x = atoll.array(sample(40, dtype, me))
        rng = np.random.default_rng(5)
        index, pe = rng.integers(-40, 40, (3, 20)), rng.integers(0, n, (3, 20))
        everyone = np.stack([sample(40, dtype, p) for p in range(n)])
        equal(atoll.take(x, index, pe), everyone[pe, index])
        equal(atoll.take(x, 3, np.arange(n)), everyone[:, 3])
        equal(atoll.take(x, index.astype("i4"), right), everyone[right, index])
        equal(atoll.take(x, [], 0), np.empty(0, dtype))
        out = np.empty((3, 20), dtype)
        assert atoll.take(x, index, pe, out) is out
        equal(out, everyone[pe, index])
        view = everyone[me].reshape(5, 8).T[1:].ravel()
        equal(atoll.take(x.reshape(5, 8).T[1:], [0, 6, -1], me), view[[0, 6, -1]])
        atoll.barrier_all()
        # Disjoint targets, so that the outcome does not depend on the order.
        atoll.put_at(x, np.arange(me, 40, n), sample(len(range(me, 40, n)), dtype, 77 + me), right)
        atoll.barrier_all()
        everyone[me][left::n] = sample(len(range(left, 40, n)), dtype, 77 + left)
        equal(x, everyone[me])


def check_add_at() -> None:
    for dtype in [*ATOMIC_INTEGERS, "f4", "f8"]:
        x = atoll.zeros(50, dtype)
        rng = np.random.default_rng(9)
        index, pe = rng.integers(0, 50, (n, 30_000)), rng.integers(0, n, (n, 30_000))
        values = rng.integers(0, 9, (n, 30_000)).astype(dtype)
        atoll.add_at(x, index[me], values[me], pe[me])
        atoll.add_at(x, index[me], 1, right)
        atoll.barrier_all()
        model = np.zeros(50, dtype)
        mine = pe == me
        np.add.at(model, index[mine], values[mine])
        np.add.at(model, index[left], np.ones(30_000, dtype))
        equal(x, model)


def check_views_of_others() -> None:
    x = atoll.array(np.arange(12).reshape(3, 4) + 100 * me)
    if not LOAD_STORE:
        raises(atoll.Unsupported, lambda: atoll.global_view(x), "use put and get")
        if not loads(right):
            raises(atoll.Unsupported, lambda: atoll.peer(x, right), "use put and get")
        else:
            equal(atoll.peer(x, right), np.arange(12).reshape(3, 4) + 100 * right)
        return
    everyone = atoll.global_view(x)
    assert type(everyone) is np.ndarray and everyone.shape == (n, 3, 4)
    equal(everyone, np.stack([np.arange(12).reshape(3, 4) + 100 * p for p in range(n)]))
    equal(atoll.global_view(x.T[1])[right], np.arange(12).reshape(3, 4).T[1] + 100 * right)
    equal(atoll.peer(x[:, ::2], left), np.arange(12).reshape(3, 4)[:, ::2] + 100 * left)
    atoll.barrier_all()
    everyone[right, 0, 0] = -me
    atoll.peer(x, right)[2, 3] = me
    atoll.barrier_all()
    assert x[0, 0] == -left and x[2, 3] == left
    assert atoll.addr_accessible(x, right) and not atoll.addr_accessible(np.zeros(1), 0)
    assert atoll.pe_accessible(n - 1) and not atoll.pe_accessible(n) and not atoll.pe_accessible(-1)
    # Views of other PEs' memory are valid sources, but not targets.
    atoll.put(x, everyone[me], me)
    raises(atoll.NotSymmetric, lambda: atoll.put(everyone[right], x, right), "global_view")


def check_order() -> None:
    atoll.fence()
    atoll.quiet()
    atoll.pe_quiet(right)
    atoll.pe_quiet([left, right])
    with atoll.Context() as ctx:
        x = atoll.zeros(3)
        atoll.put(x, np.full(3, 1.0 + me), right, ctx=ctx)
        ctx.quiet()
        atoll.atomic_add(x, 1, right, index=1, ctx=ctx)
        atoll.fence(ctx)
        ctx.quiet()  # the barrier completes the default context's operations only
        atoll.barrier_all()
        equal(x, np.array([1.0, 2, 1]) + left)
        assert ctx.my_pe() == me and ctx.n_pes() == n
    raises(atoll.UseAfterFree, lambda: atoll.put(x, x, 0, ctx=ctx), "context")
    raises(atoll.UseAfterFree, ctx.quiet, "context")
    ctx.destroy()


run(globals())
