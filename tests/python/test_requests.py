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
    assert (
        len(
            re.findall(
                r"said PEs called a collective of team 1 .*: PE 0 called sum_reduce\(bytes=32, dtype=float64\) "
                r"at \S*program.py:9, PE 1 called sum_reduce\(bytes=40, dtype=float64\) at \S*program.py:9; "
                r"they differ in bytes;",
                done.stdout,
            )
        )
        == 2
    ), done.stdout


# Calls that differ between two PEs, with one size in bytes: PE 0's, PE 1's, and parts of the error.
DIFFERENT = {
    "roots": ("broadcast(x, 0, {})", "broadcast(x, 1, {})", ("root=0", "root=1", "differ in root")),
    "dtypes": (
        "broadcast(x, 0, {})",
        "broadcast(x.view('int64'), 0, {})",
        ("dtype=float64", "dtype=int64", "differ in dtype"),
    ),
    "dtypes of a gather": (
        "gather(x, 1, {})",
        "gather(x.view('complex128'), 1, {})",
        ("gather(src_bytes=32, root=1, dtype=float64)", "dtype=complex128"),
    ),
    "dtypes of a sum": (
        "sum_reduce(x, {})",
        "sum_reduce(x.view('int64'), {})",
        ("sum_reduce(bytes=32, dtype=float64)", "sum_reduce(bytes=32, dtype=int64)"),
    ),
    "operators": ("sum_reduce(x, {})", "max_reduce(x, {})", ("sum_reduce(bytes", "max_reduce(bytes")),
    "operations": ("alltoall(x, {})", "fcollect(x, {})", ("alltoall(bytes=16", "fcollect(bytes=32")),
    "sizes of a scatter": (
        "scatter(x.reshape(2, 2), 0, {})",
        "scatter(np.ones((2, 3)), 0, {})",
        ("dst_bytes=16", "dst_bytes=24"),
    ),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_every_difference_reaches_both_pes(kept_job: Job, what: str) -> None:
    first, second, parts = DIFFERENT[what]
    more = "team=team, blocking=False"
    done = kept_job(
        f"""
        import numpy as np
        import atoll

        atoll.init()
        team, x = atoll.WORLD.split(0), np.ones(4)
        try:
            if atoll.my_pe() == 0:
                request = atoll.{first.format(more)}
            else:
                request = atoll.{second.format(more)}
            request.wait()
        except atoll.CollectiveMismatch as error:
            for part in {parts!r} + ("PE 0 called", "PE 1 called", ".py:10", ".py:12"):
                assert part in str(error), f"{{part}} is not in {{error}}"
            print("named")
        atoll.barrier_all()
        atoll.finalize()
        """,
        2,
    )
    assert done.stdout.count("named") == 2, done.stdout


def test_a_stream_and_host_arrays_are_refused(kept_job: Job) -> None:
    done = kept_job(
        """
        import numpy as np
        import atoll

        atoll.init()
        x = np.ones(4)
        for call in (
            lambda: atoll.sum_reduce(x, stream=1, blocking=False),
            lambda: atoll.reduce(x, "sum", stream=1, blocking=False),
            lambda: atoll.reduce_scatter(x, stream=1, blocking=False),
            lambda: atoll.broadcast(x, 0, stream=1, blocking=False),
            lambda: atoll.fcollect(x, stream=1, blocking=False),
            lambda: atoll.alltoall(x, stream=1, blocking=False),
            lambda: atoll.gather(x, 0, stream=1, blocking=False),
            lambda: atoll.scatter(x, 0, stream=1, blocking=False),
        ):
            try:
                call()
            except atoll.InvalidArgument as error:
                assert "blocking=False and stream= were both passed" in str(error), error
            else:
                raise AssertionError("a stream was ignored")
        print("done")
        atoll.finalize()
        """,
        1,
    )
    assert done.stdout.count("done") == 1


def test_a_request_describes_itself(kept_job: Job) -> None:
    done = kept_job(
        """
        import atoll

        atoll.init()
        atoll.sum_reduce(1, blocking=False).wait()
        if atoll.my_pe() == 0:
            request = atoll.max_reduce(1, blocking=False)
            text = "max_reduce, non-blocking call 2 of the world team, started at "
            assert repr(request).startswith(f"<atoll.Request, {text}"), request
            assert repr(request).endswith(".py:8, not done>"), request
        atoll.barrier_all()
        if atoll.my_pe() == 1:
            request = atoll.max_reduce(1, blocking=False)
        request.wait()
        assert repr(request).endswith(", done>"), request
        print("described")
        atoll.finalize()
        """,
        2,
    )
    assert done.stdout.count("described") == 2


def test_an_end_without_wait_is_told(job: Job) -> None:
    done = job(
        """
        import atoll

        atoll.init()
        if atoll.my_pe() == 0:
            atoll.sum_reduce(1, blocking=False)
        """,
        2,
    )
    lines = [line for line in done.stderr.splitlines() if "is not done" in line]
    assert len(lines) == 1, done.stderr
    assert re.search(
        r"warning: PE 0 ends, and its sum_reduce\(blocking=False\) is not done: sum_reduce, non-blocking call 1 of the "
        r"world team, started at program.py:7\. Wait for its Request",
        lines[0],
    ), lines


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
        r"said finalize\(\): a sum_reduce\(blocking=False\) of this PE is not done; .*"
        r"non-blocking call 1 of the world team, started at program.py:8\. .*waiting for PE 1",
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
