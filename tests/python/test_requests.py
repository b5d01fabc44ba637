"""Collectives that do not block: blocking=False, and the requests that they return."""

from __future__ import annotations

import re

import pytest
from jobs import Job

SAME = """
import itertools
import numpy as np
import atoll

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
half = atoll.WORLD.split(me % 2)
CALLS = {
    "sum_reduce": {}, "prod_reduce": {}, "min_reduce": {}, "max_reduce": {}, "avg_reduce": {},
    "fcollect": {}, "alltoall": {}, "reduce_scatter": {"op": "max"}, "reduce": {"op": "sum"},
}
for (name, more), team, shape in itertools.product(CALLS.items(), (atoll.WORLD, half), ((), (1,), (50_000,))):
    size = team.n_pes()
    wide = (size, *shape) if name in ("alltoall", "reduce_scatter") else shape
    src = np.arange(np.prod(wide), dtype=np.float64).reshape(wide) + me
    call = getattr(atoll, name)
    expected = call(src, team=team, **more)
    request = call(src, team=team, blocking=False, **more)
    assert isinstance(request, atoll.Request)
    got = request.wait()
    assert np.array_equal(got, expected) and np.shape(got) == np.shape(expected), name
    assert request.test() and np.array_equal(request.wait(), expected), "a second wait"
    dst = np.full((*np.shape(expected), 2), -1.0)[..., 0]  # strided
    assert call(dst, src, team=team, blocking=False, **more).wait() is None
    assert np.array_equal(dst, expected), f"{name} to a strided dst"
for root in range(n):
    src = np.arange(6.0).reshape(2, 3) + me
    rows = np.arange(2.0 * n).reshape(n, 2) + me
    for name, array in (("broadcast", src), ("gather", src), ("scatter", rows)):
        call = getattr(atoll, name)
        expected, got = call(array, root), call(array, root, blocking=False).wait()
        assert np.array_equal(got, expected) and (got is None) == (expected is None), name
    expected, got = atoll.reduce(src, "sum", root), atoll.reduce(src, "sum", root, blocking=False).wait()
    assert np.array_equal(got, expected) and (got is None) == (expected is None), "reduce"
assert atoll.sum_reduce(3, blocking=False).wait() == 3 * n
x = atoll.zeros(4)
x[:] = me
atoll.sum_reduce(x, x, blocking=False).wait()
assert x.tolist() == [n * (n - 1) / 2] * 4
print("done")
atoll.finalize()
"""


@pytest.mark.parametrize("n", [1, 2, 3])
def test_results_are_those_of_blocking_calls(kept_job: Job, n: int) -> None:
    assert kept_job(SAME, n).stdout.count("done") == n


def test_starts_without_the_others_and_goes_on(kept_job: Job) -> None:
    done = kept_job(
        """
        import numpy as np
        import atoll

        atoll.init()
        me = atoll.my_pe()
        src = np.full(300_000, 1.0)
        if me == 0:
            request = atoll.sum_reduce(src, blocking=False)
            assert not request.test()
            try:
                request.wait(timeout=1e-3)
            except atoll.Timeout as error:
                assert "waiting for PE 1" in str(error), error
            else:
                raise AssertionError("no timeout")
        atoll.barrier_all()
        if me == 1:
            request = atoll.sum_reduce(src, blocking=False)
        assert atoll.max_reduce(me) == 1, "blocking collectives are independent"
        while not request.test():
            pass
        assert request.wait().tolist() == [2.0] * 300_000
        print("done")
        atoll.finalize()
        """,
        2,
    )
    assert done.stdout.count("done") == 2


def test_coroutines_wait(kept_job: Job) -> None:
    done = kept_job(
        """
        import asyncio
        import numpy as np
        import atoll

        atoll.init()

        async def total(i):
            return (await atoll.sum_reduce(np.full(1000, float(i)), blocking=False))[0]

        async def main():
            return await asyncio.gather(*(total(i) for i in range(5)))

        assert asyncio.run(main()) == [i * atoll.n_pes() for i in range(5)]
        print("done")
        atoll.finalize()
        """,
        2,
    )
    assert done.stdout.count("done") == 2


def test_a_dropped_request_goes_on_and_keeps_its_arrays(kept_job: Job) -> None:
    done = kept_job(
        """
        import gc
        import weakref
        import numpy as np
        import atoll

        class Array(np.ndarray):
            pass

        atoll.init()
        src = np.ones(300_000).view(Array)
        alive, dst = weakref.ref(src), np.zeros(300_000)
        if atoll.my_pe() == 0:
            atoll.sum_reduce(dst, src, blocking=False)
            del src
            gc.collect()
            assert alive() is not None, "the array of a started collective was freed"
            atoll.barrier_all()
        else:
            atoll.barrier_all()
            atoll.sum_reduce(dst, src, blocking=False).wait()
        atoll.sum_reduce(1, blocking=False).wait()
        assert dst.tolist() == [2.0] * 300_000
        if atoll.my_pe() == 0:
            atoll.sum_reduce(1, blocking=False).wait()
            assert alive() is None, "the array outlives its collective"
        else:
            atoll.sum_reduce(1, blocking=False).wait()
        print("done")
        atoll.finalize()
        """,
        2,
    )
    assert done.stdout.count("done") == 2


def test_differences_between_pes_are_named(job: Job) -> None:
    done = job(
        """
        import numpy as np
        import atoll

        atoll.init()
        team = atoll.WORLD.split(0)
        try:
            request = atoll.sum_reduce(np.ones(4 + atoll.my_pe()), team=team, blocking=False)
            request.wait()
        except atoll.CollectiveMismatch as error:
            print("said", error)
        for again in (request.wait, request.test, request.wait):
            try:
                again()
            except atoll.CollectiveMismatch:
                print("again")
        assert atoll.sum_reduce(1, team=team) == 2
        atoll.finalize()
        """,
        2,
    )
    assert done.stdout.count("again") == 6, done.stdout
    assert len(re.findall("said .*32 bytes.*40 bytes|said .*40 bytes.*32 bytes", done.stdout)) == 2, (
        done.stdout
    )


def test_finalize_names_what_is_not_done(job: Job) -> None:
    done = job(
        """
        import numpy as np
        import atoll

        atoll.init()
        if atoll.my_pe() == 0:
            request = atoll.sum_reduce(np.ones(4), blocking=False)
            try:
                atoll.finalize()
            except atoll.InvalidArgument as error:
                print("said", error)
        atoll.barrier_all()
        if atoll.my_pe() == 1:
            request = atoll.sum_reduce(np.ones(4), blocking=False)
        request.wait()
        atoll.finalize()
        """,
        2,
    )
    assert re.search(
        r"said finalize\(\): a sum_reduce\(blocking=False\) of this PE is not done; .*waiting for PE 1",
        done.stdout,
    ), done.stdout


def test_wrong_arguments(kept_job: Job) -> None:
    done = kept_job(
        """
        import numpy as np
        import atoll

        atoll.init()
        for arguments, more, kind, text in (
            ((np.ones(2),), {"blocking": 0}, atoll.InvalidArgument, "blocking is 0; pass True or False"),
            ((np.ones(2), np.ones(3)), {"blocking": False}, atoll.ShapeMismatch, "(2,)"),
            ((np.array(["a"]),), {"blocking": False}, atoll.DtypeMismatch, "dtype"),
        ):
            try:
                atoll.sum_reduce(*arguments, **more)
            except kind as error:
                assert text in str(error), error
            else:
                raise AssertionError(text)
        for timeout in (-1, float("nan")):
            try:
                atoll.sum_reduce(1, blocking=False).wait(timeout)
            except atoll.InvalidArgument as error:
                assert "Request.wait(): timeout is" in str(error), error
            else:
                raise AssertionError(timeout)
        print("done")
        atoll.finalize()
        """,
        1,
    )
    assert done.stdout.count("done") == 1
