"""Threads that wait in Atoll while the interpreter or the job ends, and signal handlers that run within a
wait.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HANG_GUARD, Job, environment, write_program

DAEMONS = """
import threading
# CPython aborts when a daemon thread prints its traceback while the interpreter ends; that is not our subject.
threading.excepthook = lambda _: None
atoll.init()
me = atoll.my_pe()
sig, big = atoll.signal(), atoll.zeros(1 << 20)
mine = np.ones(1 << 20)
going = threading.Barrier(5)
def wait():
    going.wait()
    atoll.signal_wait_until(sig, "==", 1)
def copy():
    atoll.put(big, mine, me)
    going.wait()
    while True:
        atoll.put(big, mine, me)
for work in (wait, wait, copy, copy):
    threading.Thread(target=work, daemon=True).start()
going.wait()
"""


@pytest.mark.parametrize("end", ["sys.exit(7)", "atoll.finalize(); sys.exit(7)"])
def test_daemon_threads_may_be_within_calls_when_the_process_ends(tmp_path: Path, end: str) -> None:
    program = write_program(tmp_path, DAEMONS + end)
    for _ in range(5):  # the activity of such a thread at that moment is random
        done = subprocess.run(
            [sys.executable, str(program)], env=environment(MALLOC_PERTURB_="165"), capture_output=True,
            text=True, timeout=HANG_GUARD, check=False,
        )  # fmt: skip
        assert done.returncode == 7, done.stderr
        assert "terminate" not in done.stderr and "Fatal" not in done.stderr


def test_daemon_threads_do_not_keep_a_pe_from_leaving(job: Job) -> None:
    job(DAEMONS, 2)


def test_a_waiting_thread_is_told_that_the_job_was_finalized(job: Job) -> None:
    job(
        """
        import threading
        atoll.init()
        sig, said = atoll.signal(), []
        def wait():
            try:
                atoll.signal_wait_until(sig, "==", 1)
            except (atoll.NotInitialized, atoll.PeDied) as error:  # the latter where the other PE was faster
                said.append(error)
        threads = [threading.Thread(target=wait) for _ in range(3)]
        [t.start() for t in threads]
        atoll.finalize()
        [t.join() for t in threads]
        assert len(said) == 3 and all("signal_wait_until" in str(e) for e in said), said
        """,
        2,
    )


def test_a_signal_handler_may_call_atoll_within_a_large_call(job: Job) -> None:
    """The call has released the GIL, and the handler holds it: functions that it calls must release it and
    wait by themselves.
    """
    job(
        """
        import signal
        atoll.init()
        me, n = atoll.my_pe(), atoll.n_pes()
        go, big, team = atoll.signal(), atoll.zeros(1 << 17), atoll.WORLD.split(0)
        handled = []
        def handler(*_):
            atoll.put(big, np.full(1 << 17, 3.0), me)  # releases the GIL in its turn
            try:
                atoll.signal_wait_until(go, "==", 5, timeout=0.2)  # a slow wait in its turn
            except atoll.Timeout:
                handled.append(1)
                signal.setitimer(signal.ITIMER_REAL, 0.01 if len(handled) < 3 else 0)
                if len(handled) == 3:
                    atoll.signal_set(go, 1, 1)
        if me == 0:
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.01)
        else:
            atoll.signal_wait_until(go, "==", 1)
        total = atoll.sum_reduce(np.ones(1 << 17), team=team)
        assert total[0] == 2 and (me != 0 or (len(handled) == 3 and big.sum() == 3 * big.size))
        atoll.finalize()
        """,
        2,
    )


def test_other_threads_run_during_finalize_and_find_no_job(job: Job, tmp_path: Path) -> None:
    job(
        """
        import threading
        atoll.init()
        me, x, go = atoll.my_pe(), atoll.zeros(4), atoll.signal()
        if me == 0:
            ended = threading.Event()
            seen = []
            def work():
                while True:  # runs while the other thread waits in finalize, until that has begun
                    try:
                        atoll.put(x, np.ones(4), 1)
                    except atoll.NotInitialized:
                        break
                seen.append(atoll.is_initialized())
                try:
                    atoll.finalize()
                except atoll.NotInitialized:
                    ended.set()
                (open(sys.argv[1], "w")).close()
            thread = threading.Thread(target=work)
            thread.start()
            atoll.finalize()
            thread.join()
            assert ended.is_set() and seen == [False]
        else:
            while not os.path.exists(sys.argv[1]):  # not before that thread has run
                pass
            atoll.finalize()
        """,
        2,
        str(tmp_path / "the thread has run"),
    )


def test_ctrl_c_ends_finalize_and_a_second_one_leaves(job: Job) -> None:
    job(
        """
        import signal
        atoll.init()
        me, go = atoll.my_pe(), atoll.signal()
        class Alarm(Exception):
            pass
        def handler(*_):
            if atoll.is_initialized():  # not within finalize yet: this process had to wait for a core
                return signal.setitimer(signal.ITIMER_REAL, 0.05)
            raise Alarm
        if me == 0:
            signal.signal(signal.SIGALRM, handler)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                atoll.finalize()
            except Alarm:
                assert atoll.is_initialized()
                atoll.signal_set(go, 1, 1)
                atoll.finalize()  # leaves without waiting for other PEs
            else:
                raise AssertionError("it ended, and the other PE had not come")
        else:
            atoll.signal_wait_until(go, "==", 1)
            sys.exit(0)
        """,
        2,
    )


def test_a_signal_handler_within_finalize_may_end_the_job(job: Job) -> None:
    done = job(
        """
        import signal
        atoll.init()
        sig = atoll.signal()
        def handler(*_):
            if atoll.is_initialized():  # not within finalize yet: this process had to wait for a core
                return signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                atoll.finalize()
            except atoll.NotInitialized:
                atoll.abort("the handler says so", 9)
        if atoll.my_pe() == 0:
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            atoll.finalize()
        else:
            atoll.signal_wait_until(sig, "==", 1)
        """,
        2,
        ok=False,
    )
    assert done.returncode == 9 and "PE 0 aborted the job: the handler says so" in done.stderr


def test_threads_may_init_and_finalize_at_once(job: Job) -> None:
    job(
        """
        import threading
        go = threading.Barrier(4)
        def work():
            go.wait()
            for _ in range(20):
                atoll.init()
                assert atoll.n_pes() == 2
                atoll.finalize()
        atoll.init()
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]; [t.join() for t in threads]
        atoll.finalize()
        assert not atoll.is_initialized()
        """,
        2,
    )


def test_jobs_of_one_pe_may_follow_each_other_from_threads(tmp_path: Path) -> None:
    """Every init makes a job or counts one, every finalize ends one or counts, in any order of the threads."""
    program = write_program(
        tmp_path,
        """
        import threading
        go = threading.Barrier(4)
        def work():
            go.wait()
            for _ in range(30):
                atoll.init()
                atoll.finalize()
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]; [t.join() for t in threads]
        assert not atoll.is_initialized()
        """,
    )
    done = subprocess.run(
        [sys.executable, str(program)], env=environment(), capture_output=True, text=True,
        timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_threads_share_arrays_and_make_calls_at_once(job: Job) -> None:
    job(
        """
        import threading
        atoll.init()
        me, n, threads, rounds = atoll.my_pe(), atoll.n_pes(), 4, 1000
        right = (me + 1) % n
        parts, count = atoll.zeros((threads, 16), "i8"), atoll.zeros(1, "i8")
        signals = [atoll.signal() for _ in range(threads)]
        large = [atoll.zeros(1 << 14) for _ in range(threads)]
        teams = [atoll.WORLD.split(0) for _ in range(threads)]
        atoll.barrier_all()
        done = []
        def work(t):
            mine, total, back = np.arange(16), np.zeros(1), np.empty(16, "i8")
            for r in range(rounds):
                atoll.put(parts[t], mine + r, pe=right)
                atoll.atomic_add(count, 1, pe=right)
                try:
                    atoll.put(parts[t], mine, pe=99)
                except atoll.PeError:
                    pass
                if r % 100 == 0:
                    atoll.put_signal(large[t], np.full(1 << 14, float(r)), signals[t], r // 100 + 1, pe=right)
                    atoll.signal_wait_until(signals[t], ">=", r // 100 + 1)
                    atoll.sum_reduce(total, np.ones(1), team=teams[t])
                    assert total[0] == n
            atoll.quiet()
            atoll.get(back, parts[t], pe=right)
            assert (back == mine + rounds - 1).all()
            done.append(t)
        workers = [threading.Thread(target=work, args=(t,)) for t in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        atoll.barrier_all()
        assert sorted(done) == list(range(threads))
        assert count[0] == threads * rounds
        atoll.finalize()
        """,
        2,
    )
