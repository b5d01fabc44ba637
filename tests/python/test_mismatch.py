"""PEs that call collectives differently: every PE gets the error, with both calls and their lines."""

from __future__ import annotations

import re
import textwrap

from jobs import Job

CAUGHT = """
atoll.init()
me = atoll.my_pe()
def differ(call, *parts, named=("PE 0 called ", "PE 1 called ")):
    try:
        call()
    except atoll.CollectiveMismatch as error:
        for part in (*named, *parts):
            assert part in str(error), (part, str(error))
    else:
        raise AssertionError("nothing was raised")
"""


def differing(job: Job, code: str, n: int) -> None:
    """Run a program that uses `differ`, at Python's default level."""
    job(CAUGHT + textwrap.dedent(code), n, ATOLL_CHECK="args")


def test_calls_that_differ_are_named_with_their_lines(job: Job) -> None:
    differing(
        job,
        """
        def short():
            return atoll.sum_reduce(np.ones(4))
        def long():
            return atoll.sum_reduce(np.ones(5))
        line = short.__code__.co_firstlineno + 1
        differ(short if me else long, "bytes=40", "bytes=32", "differ in bytes;", f"program.py:{line + 2}",
               f"program.py:{line}")
        assert atoll.sum_reduce(1) == atoll.n_pes()
        """,
        2,
    )


def test_dtypes_of_equal_size_and_kind(job: Job) -> None:
    """Units of times, and fields of structured dtypes."""
    differing(
        job,
        """
        odd = me == 1
        for one, other, *parts in (
            ("m8[s]", "m8[ms]", "dtype=timedelta64[s]", "dtype=timedelta64[ms]"),
            ("M8[25us]", "M8[us]", "dtype=datetime64[25us]", "dtype=datetime64[us]"),
            ("M8[D]", "m8[D]", "dtype=datetime64[D]", "dtype=timedelta64[D]"),
            ("M8", "M8[Y]", "dtype=datetime64)", "dtype=datetime64[Y]"),
            ("m8[1000us]", "m8[512us]", "dtype=timedelta64[1000us]", "dtype=timedelta64[512us]"),
            ([("a", "f8")], [("b", "f8")], "dtype=a structured dtype (its fields have the hash"),
            ([("a", "f4"), ("b", "i4")], [("a", "i4"), ("b", "f4")], "dtype=a structured dtype"),
            ([("a", "f4", 2)], [("a", "f4", (1, 2))], "dtype=a structured dtype"),
        ):
            parts.append("differ in dtype;")
            mine = np.zeros(2, other if odd else one)
            differ(lambda: atoll.zeros(4, mine.dtype), "allocate", *parts)
            differ(lambda: atoll.broadcast(mine), *parts)
            differ(lambda: atoll.fcollect(mine), *parts)
            assert atoll.fcollect(np.zeros(2, one)).size == 4
        # NumPy calls these equal.
        plain, aligned = np.dtype([("x", "f8"), ("n", "i8")]), np.dtype([("x", "f8"), ("n", "i8")], align=True)
        for same in aligned, np.dtype((np.record, plain)), np.recarray(1, plain).dtype:
            assert same == plain
            assert atoll.fcollect(np.zeros(2, same if odd else plain)).size == 4
        renamed = np.dtype([("x", "f8")])
        assert atoll.fcollect(np.zeros(1, renamed)).size == 2
        renamed.names = ("y",)
        assert atoll.fcollect(np.zeros(1, renamed if odd else [("y", "f8")])).size == 2
        """,
        2,
    )


def test_messages_of_equal_size_and_kind(job: Job) -> None:
    job(
        """
        import pytest
        atoll.init()
        me = atoll.my_pe()
        box = atoll.Mailbox(64)
        seconds = np.array([1, 2], "m8[s]")
        records = np.array([(1.0, 2)], [("x", "f8"), ("n", "i8")])
        if me == 0:
            atoll.send(seconds, 1)
            box.post(seconds, 1)
            box.post(records, 1)
            box.post(np.array([1.5]), 1)
        else:
            with pytest.raises(atoll.DtypeMismatch, match=r"timedelta64\\[s\\], the buffer of recv .*timedelta64\\[ms\\]"):
                atoll.recv(np.zeros(2, "m8[ms]"), 0)
            for wrong, text in (np.zeros(2, "m8[ms]"), r"timedelta64\\[ms\\]"), (np.zeros(2, int), "int64"):
                with pytest.raises(atoll.DtypeMismatch, match=r"elements of timedelta64\\[s\\], the buffer elements of " + text):
                    box.receive(wrong, 0)
                with pytest.raises(atoll.DtypeMismatch, match="can still be received"):
                    while box.try_receive(wrong, 0) is None:
                        pass
            got = np.zeros(2, "m8[s]")
            assert box.receive(got, 0) == 2 and (got == seconds).all()
            with pytest.raises(atoll.DtypeMismatch, match="structured dtype"):
                box.receive(np.zeros(1, [("y", "f8"), ("n", "i8")]), 0)
            record = np.zeros(1, records.dtype)
            assert box.receive(record, 0) == 1 and record == records
            with pytest.raises(atoll.DtypeMismatch, match="elements of float64, the buffer elements of int64"):
                box.receive(np.zeros(1, int), 0)
            number = np.zeros(1)
            assert box.receive(number, 0) == 1 and number == 1.5
        box.free()
        """,
        2,
        ATOLL_CHECK="args",
    )


def test_sizes_roots_and_dtypes_of_every_collective(job: Job) -> None:
    """Three PEs: two may synchronize by different words for different sizes."""
    differing(
        job,
        """
        n, odd = atoll.n_pes(), me == 1
        def block(count, dtype=np.float64):
            return np.zeros((count if odd else 2,), dtype if odd else np.float64)
        def rows(count, dtype=np.float64):
            return np.zeros((n, count if odd else 2), dtype if odd else np.float64)
        for count in 3, 600:
            differ(lambda: atoll.broadcast(block(count)), "broadcast", "bytes;")
            differ(lambda: atoll.fcollect(block(count)), "fcollect", "bytes;")
            differ(lambda: atoll.alltoall(rows(count)), "alltoall", "bytes;")
            differ(lambda: atoll.gather(block(count)), "gather", "bytes;")
            differ(lambda: atoll.scatter(rows(count)), "scatter", "bytes;")
            differ(lambda: atoll.sum_reduce(block(count)), "reduce", "bytes;")
            differ(lambda: atoll.reduce_scatter(rows(count)), "reduce_scatter", "bytes;")
            differ(lambda: atoll.sum_inscan(block(count)), "inscan", "bytes;")
        dtypes = "dtype=float64", "dtype=int64", "differ in dtype;"
        differ(lambda: atoll.zeros(4, np.int64 if odd else np.float64), "allocate", *dtypes)
        differ(lambda: atoll.broadcast(block(2, np.int64)), *dtypes)
        differ(lambda: atoll.fcollect(block(2, np.int64)), *dtypes)
        differ(lambda: atoll.alltoall(rows(2, np.int64)), *dtypes)
        differ(lambda: atoll.gather(block(2, np.int64)), *dtypes)
        differ(lambda: atoll.scatter(rows(2, np.int64)), *dtypes)
        differ(lambda: atoll.sum_reduce(block(2, np.int64)), *dtypes)
        all_of = np.zeros(4 * n)
        differ(lambda: atoll.collect(all_of.view(np.int64 if odd else np.float64), block(2, np.int64)), *dtypes)
        differ(lambda: atoll.broadcast(block(2), me % 2), "differ in root;")
        differ(lambda: atoll.reduce(block(2), "max" if odd else "sum"), "max_reduce(", "sum_reduce(")
        differ(lambda: atoll.sync_all() if odd else atoll.barrier_all(), "sync()", "barrier()")
        assert atoll.sum_reduce(1) == n
        """,
        3,
    )


def test_a_barrier_on_one_and_a_reduction_on_another(job: Job) -> None:
    """The two calls synchronize by different words. The error at once reports the team as unusable.

    PE 1 differs from all others. The error names it and the first other PE that waits by then. On a busy machine
    that need not be PE 0.
    """
    for n in (2, 3):
        differing(
            job,
            """
            team = atoll.WORLD.split(0)
            def barrier():
                team.barrier()
            def reduction():
                atoll.sum_reduce(np.ones(3), team=team)
            lines = [f"program.py:{call.__code__.co_firstlineno + 1}" for call in (barrier, reduction)]
            differ(reduction if me == 1 else barrier, "barrier() at", "sum_reduce(bytes=24", *lines,
                   named=["PE 1 called sum_reduce"])
            try:
                team.barrier()
            except atoll.CollectiveMismatch as error:
                assert "out of step" in str(error)
            else:
                raise AssertionError("nothing was raised")
            assert atoll.sum_reduce(1) == atoll.n_pes()
            atoll.finalize()
            """,
            n,
        )


def test_none_compares_nothing(job: Job) -> None:
    job(
        """
        atoll.init()
        dtype = np.int64 if atoll.my_pe() else np.float64
        assert atoll.fcollect(np.zeros(2, dtype)).dtype == dtype
        """,
        2,
        ATOLL_CHECK="none",
    )


def test_messages_of_another_dtype_or_size(job: Job) -> None:
    """The receiver names both dtypes, the sender's call returns, and the next message is in step."""
    for level in ("args", "basic"):
        job(
            """
            atoll.init()
            me = atoll.my_pe()
            def expect(error, *parts):
                target = np.full(40_000, -1, np.int64)
                try:
                    atoll.recv(target[: counts[me]], 0)
                except error as told:
                    assert all(part in str(told) for part in ("PE 0", "recv", *parts)), str(told)
                    assert type(told) is error
                else:
                    raise AssertionError("nothing was raised")
                assert np.all(target == -1)
            # More than a channel holds, so that the sender waits for the receiver.
            for counts in (2, 2), (40_000, 40_000):
                if me == 0:
                    atoll.send(np.ones(counts[0]), 1)
                else:
                    expect(atoll.DtypeMismatch, "bytes of float64", "bytes of int64")
            for counts in (3, 2), (40_000, 5):
                if me == 0:
                    atoll.send(np.ones(counts[0], np.int64), 1)
                else:
                    expect(atoll.ShapeMismatch, f"{8 * counts[0]} bytes", f"{8 * counts[1]} bytes")
            # Of no elements any dtype does, and the last message is received as it is.
            if me == 0:
                atoll.send(np.ones(0, np.float32), 1)
                atoll.send(np.arange(5), 1)
            else:
                got = np.zeros(5, np.int64)
                atoll.recv(got[:0], 0)
                atoll.recv(got, 0)
                assert list(got) == [0, 1, 2, 3, 4]
            atoll.finalize()
            """,
            2,
            ATOLL_CHECK=level,
        )


def test_two_threads_in_one_team(job: Job) -> None:
    """The other PE arrives after one of them was refused, so the other thread is in its call then."""
    job(
        """
        import queue
        import threading
        atoll.init()
        team, refused = atoll.WORLD.split(0), queue.Queue()
        def meet():
            try:
                team.barrier()
            except atoll.CollectiveMismatch as error:
                refused.put(str(error))
        if atoll.my_pe() == 0:
            threads = [threading.Thread(target=meet) for _ in range(2)]
            [thread.start() for thread in threads]
            told = refused.get()
            assert "Two threads of PE 0" in told and "separate team" in told, told
            atoll.barrier_all()
            [thread.join() for thread in threads]
            assert refused.empty()
        else:
            atoll.barrier_all()
            team.barrier()
        """,
        2,
        ATOLL_CHECK="args",
    )


def test_the_last_line_names_the_pe_that_differs_from_most(job: Job) -> None:
    code = "atoll.init()\natoll.fcollect(np.ones(9 if atoll.my_pe() == 1 else 8))\n"
    last = job(code, 3, ok=False, ATOLL_CHECK="args").stderr.splitlines()[-1]
    size = r"PE {} called fcollect\(bytes={}, dtype=float64\)"
    assert re.match(
        f"atoll run: {size.format(1, 72)}( at program.py:[0-9]+)? as call 1 of the world team, "
        f"where {size.format('0,2', 64)}( at program.py:[0-9]+)?: the calls differ, ",
        last,
    ), last


def test_the_last_line_names_the_exception_behind_a_barrier_in_finally(job: Job) -> None:
    code = """
        atoll.init()
        try:
            if atoll.my_pe() == 1: raise ValueError("a bad record")
            atoll.sum_reduce(1.0)
        finally:
            atoll.barrier_all()
        """
    last = job(code, 3, ok=False, ATOLL_CHECK="args").stderr.splitlines()[-1]
    assert re.match(
        r"atoll run: PE 1 called barrier at program.py:\d+ as call 1 of the world team, where PE (0,2|0|2) called "
        r"sum_reduce.*: the calls differ; PE 1 handled ValueError at program.py:\d+, ",
        last,
    ), last


def test_the_last_line_names_all_forms_of_a_call(job: Job) -> None:
    code = """
        import time
        atoll.init()
        try:
            atoll.broadcast(np.ones(8), root=min(atoll.my_pe(), 2))
        except atoll.CollectiveMismatch:
            time.sleep(2)  # all PEs have made their calls
            raise
        """
    last = job(code, 4, ok=False, ATOLL_CHECK="args").stderr.splitlines()[-1]
    assert re.match(
        r"atoll run: PE 1 called .*root=1.*, PE 0 called .*root=0.*, where PE 2,3 called .*root=2", last
    )


def test_the_first_request_that_differs_is_named(job: Job) -> None:
    code = """
        atoll.init()
        sizes = [8, 64, 64] if atoll.my_pe() != 2 else [64, 64, 8]
        requests = [atoll.sum_reduce(np.ones(size), blocking=False) for size in sizes]
        for request in requests:
            request.wait()
        """
    last = job(code, 3, ok=False).stderr.splitlines()[-1]
    assert re.match(r"atoll run: PE 2 called sum_reduce\(bytes=512,.* as non-blocking call 1 of ", last), last


def test_calls_without_arguments_are_no_difference(job: Job) -> None:
    """Their events keep words of older ones, which differ where PEs have waited differently."""
    code = """
        import time
        atoll.init()
        for i in range(100):
            if atoll.my_pe() == 1:
                time.sleep(0.001)
            atoll.sum_reduce(np.ones(i + 1))
            atoll.barrier_all()
        if atoll.my_pe() == 1:
            atoll.finalize()
            sys.exit()
        atoll.barrier_all()
        """
    last = job(code, 3, ok=False).stderr.splitlines()[-1]
    assert re.match("atoll run: PE 1 called finalize.*, where PE 0(,2)? called barrier", last), last


def test_a_team_that_is_made_again_is_no_difference(job: Job) -> None:
    code = """
        atoll.init()
        for i in range(5):
            team = atoll.WORLD.split(0, 0) if i % 2 else atoll.WORLD.split(0, atoll.my_pe())
            team.barrier() if i % 2 else atoll.sum_reduce(np.ones(3), team=team)
            team.destroy()
        team = atoll.WORLD.split(0, 0)
        atoll.fcollect(np.ones(9 if atoll.my_pe() == 1 else 8), team=team)
        """
    last = job(code, 3, ok=False, ATOLL_CHECK="args").stderr.splitlines()[-1]
    assert re.match(
        r"atoll run: PE 1 called fcollect\(bytes=72.*, where PE 0(,2)? called fcollect\(bytes=64", last
    ), last


def test_calls_have_the_names_that_the_program_used(job: Job) -> None:
    for call, name, inner in (
        ("atoll.print('x')", "print", "fcollect"),
        ("atoll.once(lambda: 1)()", "once", ""),
        ("atoll.zeros(3)", "zeros", "allocate"),
        ("atoll.signal()", "signal", "allocate"),
        ("atoll.Lock()", "Lock", "allocate"),
    ):
        done = job(f"atoll.init()\nif atoll.my_pe() == 1: atoll.barrier_all()\nelse: {call}", 2, ok=False)
        assert re.search(rf"PE 0 called {name} at \S*program\.py:4 \(its {inner}", done.stderr), done.stderr


def test_the_end_of_another_names_the_call_of_an_array(job: Job) -> None:
    done = job(
        """
        atoll.init()
        a = atoll.arrays.ones(8)
        if atoll.my_pe() == 1: sys.exit(0)
        a.sum()
        """,
        2,
        ok=False,
    )
    assert re.search(r"PE 0 waited for it in sum \(its \w+\) at program\.py:", done.stderr), done.stderr
