"""atoll.Pool: PEs that live on between calls; results, exceptions, deaths, time-outs and interrupts."""

from __future__ import annotations

import asyncio
import inspect
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from io import StringIO
from pathlib import Path

import atoll
import numpy as np
import pytest
from atoll import arrays
from atoll._launching import wire
from atoll._launching.failures import describe
from atoll._pool import task as pool_task
from atoll._pool.job import PoolJob
from jobs import environment, launcher, python, write_program

BIG = 200_000  # numbers: more than an array that is pickled


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("ATOLL_", "SHMEM_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ATOLL_CHECK", "all")


@pytest.fixture(scope="module")
def shared() -> Iterator[atoll.Pool]:
    """A pool that no test ends."""
    with atoll.Pool(2, spare=False) as pool:
        yield pool


def collective(_: object) -> None:
    atoll.barrier_all()


def test_a_future_that_runs_out_of_time_tells_why(shared: atoll.Pool) -> None:
    future = shared.submit(collective, 0)
    line = collective.__code__.co_firstlineno + 1
    place = (
        rf"PE [01] is between calls of the pool, and PE [01] waits for it in barrier at test_pool.py:{line}"
    )
    try:
        while True:  # on a busy machine the PE may not have entered the call in 2 s
            with pytest.raises(TimeoutError) as told:
                future.result(timeout=2)
            if re.search(place, str(told.value)):
                break
        assert "One task runs on one PE, and a collective call needs all of its team" in str(told.value)
        with pytest.raises(TimeoutError, match=r"^No result within 0\.01 seconds\. The call goes on; "):
            future.result(timeout=0.01)  # a short time-out is a poll, which gets no report
    finally:
        shared.interrupt()
    assert isinstance(future.exception(timeout=60), KeyboardInterrupt)


def test_a_collective_call_of_one_pe_is_reported_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ATOLL_STALL_WARN", "0.1")
    # A thread of the pool writes here. capfd loses what is written between its read and its truncation.
    told = StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    # A busy machine may answer the launcher's question late: the report opens with the PE's state then.
    state = r"(is between calls of the pool|(sleeps|works|is) outside Atoll)"
    waits = re.compile(rf"^atoll: PE [01] {state}.*, and PE [01] waits for it in barrier", re.MULTILINE)
    with atoll.Pool(2, spare=False) as pool:
        future = pool.submit(atoll.barrier_all)
        try:
            while waits.search(told.getvalue()) is None:
                assert not future.done()
                time.sleep(0.01)
        finally:
            pool.interrupt()
    assert re.search(
        state + r", and the waits of the others have not changed for at least 0\.\d s \(ATOLL_STALL_WARN\)",
        told.getvalue(),
    )


def test_a_pool_is_an_executor_with_results_in_pe_order(shared: atoll.Pool) -> None:
    assert isinstance(shared, Executor) and shared.n_pes == 2
    assert shared.run(lambda a, b=0: (atoll.my_pe(), a + b), 1, b=2) == [(0, 3), (1, 3)]
    assert shared.submit(pow, 2, 5).result() == 32
    assert list(shared.map(pow, [2, 3, 4], [2, 2, 2])) == [4, 9, 16]
    assert list(shared.map(lambda x: -x, range(10), chunksize=4)) == [-x for x in range(10)]
    assert repr(shared) == "<atoll.Pool of 2 PEs, idle>"
    assert [(pe, state) for pe, _, state in shared.status()] == [(0, "idle"), (1, "idle")]


def test_state_lives_on(shared: atoll.Pool) -> None:
    def make() -> None:
        global kept
        kept = atoll.full(3, float(atoll.my_pe()))

    def use() -> float:
        atoll.put(kept, 7.0 + atoll.my_pe(), 1 - atoll.my_pe())
        atoll.barrier_all()
        return float(kept[0])

    shared.run(make)
    assert shared.run(use) == [8.0, 7.0]
    pids = [pid for _, pid, _ in shared.status()]
    assert shared.run(os.getpid) == pids


def test_large_arrays_are_not_pickled(shared: atoll.Pool) -> None:
    """They come as memory that can be written, from any memory, symmetric or not, of any order."""

    def make(given: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = atoll.full((BIG // 100, 100), float(atoll.my_pe()))
        given[0] = -1  # the PE's own copy
        return x, np.asfortranarray(x + 1), given[:2]

    source = np.arange(float(BIG))
    for pe, (x, y, part) in enumerate(shared.run(make, source)):
        assert (x == pe).all() and (y == pe + 1).all() and y.flags.f_contiguous
        assert part.tolist() == [-1, 1]
        x += 1
        assert (x == pe + 1).all()
    assert source[0] == 0
    message = wire.Message((source, [1, 2]))
    assert message.fd >= 0 and len(message.packet) < 1000
    message.close()


def test_a_large_message_without_arrays(shared: atoll.Pool) -> None:
    text = "words " * 100_000
    assert shared.run(lambda t: t + "!", text) == [text + "!"] * 2


def test_an_exception_of_all_is_raised_once(shared: atoll.Pool) -> None:
    def fail() -> None:
        atoll.barrier_all()
        raise ZeroDivisionError("of all")

    with pytest.raises(ZeroDivisionError, match="of all") as info:
        shared.run(fail)
    cause = info.value.__cause__
    assert isinstance(cause, atoll.LaunchError) and cause.pe == 0
    assert str(cause).startswith("PE 0-1 raised ZeroDivisionError: of all\n\nTraceback")
    assert str(cause).count("Traceback") == 1 and "_pool/pe" not in str(cause)


def test_different_exceptions_are_listed(shared: atoll.Pool) -> None:
    def fail() -> None:
        raise [KeyError, IndexError][atoll.my_pe()](atoll.my_pe())

    with pytest.raises((KeyError, IndexError)) as info:
        shared.run(fail)
    text = str(info.value.__cause__)
    assert "PE 0 raised KeyError: 0" in text and "PE 1 raised IndexError: 1" in text


def test_an_exception_of_one_task(shared: atoll.Pool) -> None:
    future = shared.submit(int, "word")
    with pytest.raises(ValueError, match="word") as info:
        future.result()
    assert "raised ValueError" in str(info.value.__cause__)


def test_a_strange_exception_or_result_is_reported(shared: atoll.Pool) -> None:
    def fail() -> None:
        class Strange(Exception):
            def __reduce__(self) -> str:
                raise TypeError("no")

        raise Strange("words")

    with pytest.raises(atoll.LaunchError, match="Strange: words"):
        shared.run(fail)
    with pytest.raises(TypeError, match="lock"):
        shared.run(threading.Lock)
    with pytest.raises(atoll.LaunchError, match=r"PE 0-1 called sys.exit \(exit status 3\)"):
        shared.run(sys.exit, 3)
    assert shared.run(atoll.my_pe) == [0, 1]


def test_pes_join_again_when_one_fails_before_a_collective() -> None:
    """The other is interrupted in the collective. Names live on, and the job is as new."""

    def fail() -> None:
        global number
        number = 5
        if atoll.my_pe() == 1:
            raise ValueError("the one")
        atoll.barrier_all()

    def use() -> tuple[int, float]:
        x = atoll.full(2, float(atoll.my_pe()))
        atoll.put(x, 9.0, 1 - atoll.my_pe())
        atoll.barrier_all()
        return number, float(x[1])

    with atoll.Pool(2, spare=False) as pool:
        with pytest.raises(ValueError, match="the one") as info:
            pool.run(fail)
        assert str(info.value.__cause__).startswith("PE 1 raised ValueError: the one")
        assert pool.run(use) == [(5, 9.0)] * 2


def test_rejoin_frees_symmetric_arrays() -> None:
    def make() -> None:
        global old, spread
        old = atoll.zeros(3)
        spread = arrays.zeros(3)

    def use() -> str:
        said = []
        for way in (lambda: atoll.put(old, 1.0, 0), lambda: spread.local):
            try:
                way()
            except atoll.Error as error:
                said.append(type(error).__name__)
        return " ".join(said) or "used"

    with atoll.Pool(2, spare=False) as pool:
        pool.run(make)
        assert pool.run(use) == ["used"] * 2
        pool.rejoin()
        assert pool.run(use) == ["UseAfterFree UseAfterFree"] * 2


@pytest.mark.parametrize(("end", "said"), [("os._exit(5)", "5"), ("os.kill(os.getpid(), 9)", "KILL"), ("os._exit(0)", "exited")])  # fmt: skip
def test_a_death_names_its_pe_and_restart_makes_new_ones(end: str, said: str) -> None:
    def work() -> None:
        if atoll.my_pe() == 1:
            exec(end, {"os": os})
        atoll.barrier_all()

    with atoll.Pool(2, spare=False) as pool:
        with pytest.raises(atoll.PeDied, match=rf"Pool: PE 1 .*{said}") as info:
            pool.run(work)
        assert info.value.pe == 1  # type: ignore[attr-defined]
        for call in (lambda: pool.run(atoll.my_pe), lambda: pool.submit(pow, 1, 1)):
            with pytest.raises(atoll.PeDied, match="restart"):
                call()
        assert "ended" in repr(pool)
        pool.restart()
        assert pool.run(atoll.my_pe) == [0, 1]


def test_restart_uses_the_spare_processes() -> None:
    with atoll.Pool(2) as pool:
        pool._jobs._stop_timer()
        pool._jobs.start_spare(0.0)
        while pool._jobs._spare is None:
            pass
        spare = pool._jobs._spare
        spare.ready.result(60)
        spares = [pid for _, pid, _ in spare.states()]
        pool.restart()
        assert pool.run(os.getpid) == spares


def test_a_call_beyond_its_time_reports_and_the_pool_goes_on() -> None:
    def work() -> None:
        words = atoll.zeros(4, int)
        if atoll.my_pe() == 1:
            atoll.wait_until(words, "==", 7, index=2)

    with atoll.Pool(2, spare=False) as pool:
        with pytest.raises(
            TimeoutError, match=r"Pool.run\(work\): PE (1|0-1) did not return within timeout=1 seconds"
        ) as info:
            pool.run(work, timeout=1)
        assert type(info.value) is atoll.Timeout and "wait_until" in str(info.value)
        assert pool.run(atoll.my_pe) == [0, 1]


def test_after_a_call_that_failed_the_pes_join_again_before_any_other() -> None:
    """A collective of a later call on one PE met one of the failed call, on a PE that had not left it yet."""

    def work() -> None:
        if atoll.my_pe() == 1:
            atoll.barrier_all()

    with atoll.Pool(2, spare=False) as pool:
        for _ in range(3):
            job = pool._jobs.current
            assert job is not None
            joins = job.joins
            with pytest.raises(atoll.Timeout):
                pool.run(work, timeout=0.2)
            assert pool.submit(pow, 2, 3).result() == 8
            assert job.joins == joins + 1


def test_a_call_that_waits_for_a_hanging_one_ends_in_time(shared: atoll.Pool) -> None:
    """The one that hangs goes on until it is interrupted; so it does at the end of a block that fails."""
    hanging = shared.submit(lambda: atoll.barrier_all())
    with pytest.raises(
        atoll.Timeout, match=r"Pool.run\(my_pe\) did not start .*: submit\(<lambda>\) has run on PE [01] for"
    ):
        shared.run(atoll.my_pe, timeout=0.3)
    assert not hanging.done()
    shared.interrupt()
    with pytest.raises(KeyboardInterrupt):
        hanging.result(60)
    assert shared.run(atoll.my_pe) == [0, 1]
    with pytest.raises(ZeroDivisionError), atoll.Pool(1, spare=False) as pool:
        hanging = pool.submit(lambda: threading.Event().wait())
        pool.submit((1).__truediv__, 0).cancel()
        while not hanging.running():
            time.sleep(0.001)
        raise ZeroDivisionError
    assert isinstance(hanging.exception(60), KeyboardInterrupt)


def test_a_pool_serves_its_pes_while_it_finds_why_a_call_hangs(
    shared: atoll.Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A slow report on a busy machine is not mistaken for PEs that do not answer."""

    def work(go: Path) -> None:
        words = atoll.zeros(4, int)
        if atoll.my_pe() == 1:
            atoll.wait_until(words, "==", 7, index=0)
        while not go.exists():
            time.sleep(0.01)

    reported, go = threading.Event(), tmp_path / "go"
    monkeypatch.setattr(PoolJob, "report", lambda _: f"reported: {reported.wait(60)}")
    with ThreadPoolExecutor(1) as callers:
        try:
            late = callers.submit(shared.run, work, go, timeout=0.1)
            job = shared._jobs.current
            assert job is not None
            while not (tasks := list(job._late)):
                pass
            go.touch()
            while 0 in tasks[0].missing:  # until PE 0's answer was read
                pass
            assert not late.done()
        finally:
            reported.set()
        with pytest.raises(atoll.Timeout, match="reported: True"):
            late.result(60)
    assert shared.run(atoll.my_pe) == [0, 1]


def test_a_pe_without_a_core_has_longer_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def waited() -> float:
        return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9

    if Path("/proc/self/schedstat").exists():
        least, most = waited(), time.monotonic()
        found = pool_task.runnable_seconds(os.getpid())
        assert most - waited() <= found <= time.monotonic() - least
    able = 0.0
    monkeypatch.setattr(pool_task, "runnable_seconds", lambda pid: able + pid)
    pe = pool_task.Pe(1, 7, socket.socket())
    task = pool_task.Task(None, True)
    task.interrupted([pe])
    assert task.unresponsive([pe]) == [] and task.kill_at < float("inf")  # it polls again
    able = pool_task.ANSWER_SECONDS
    assert task.unresponsive([pe]) == [1] and task.kill_at == float("inf")
    pe.sock.close()


def test_a_late_call_tells_which_pes_had_failed() -> None:
    task = pool_task.Task(None, True)
    assert task.late_error("late").__cause__ is None
    task.failures[1] = describe(ValueError("before"))
    assert "PE 1 raised ValueError: before" in str(task.late_error("late").__cause__)


def test_a_call_that_ignores_interrupts_ends_its_pes() -> None:
    def work() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        threading.Event().wait()

    with atoll.Pool(2, spare=False) as pool:
        with pytest.raises(atoll.Timeout):
            pool.run(work, timeout=0.2)
        with pytest.raises(atoll.PeDied, match="did not answer an interrupt"):
            pool.run(atoll.my_pe)
        pool.restart()
        assert pool.run(atoll.my_pe) == [0, 1]


INTERRUPTED = """
    import signal, threading
    def work():
        print("in the call", flush=True)
        if atoll.my_pe() == 1:
            atoll.barrier_all()
        else:
            threading.Event().wait()
    if __name__ == "__main__":
        with atoll.Pool(2, spare=False) as pool:
            try:
                pool.run(work)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            print(pool.run(atoll.my_pe), flush=True)
    """


def test_an_interrupt_reaches_the_pes_and_the_pool_goes_on(tmp_path: Path) -> None:
    program = write_program(tmp_path, INTERRUPTED)
    command = [sys.executable, str(program)]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["in the call\n"] * 2
    process.send_signal(signal.SIGINT)
    assert process.stdout.read() == "interrupted\n[0, 1]\n"
    assert process.wait() == 0


INTERRUPTED_AT_ITS_START = """
    import atoll, threading
    from atoll._pool import job
    def work():
        threading.Event().wait()
    add = job.PoolJob.add
    def interrupted(job, task):
        add(job, task)
        raise KeyboardInterrupt
    if __name__ == "__main__":
        with atoll.Pool(2, spare=False) as pool:
            job.PoolJob.add = interrupted
            try:
                pool.run(work)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            job.PoolJob.add = add
            print(pool.run(atoll.my_pe), flush=True)
    """


def test_an_interrupt_while_a_call_is_made_leaves_no_call(tmp_path: Path) -> None:
    program = write_program(tmp_path, INTERRUPTED_AT_ITS_START)
    done = subprocess.run(
        [sys.executable, str(program)], env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n[0, 1]\n")


def test_output_comes_in_whole_lines_before_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    def talk() -> None:
        print("a line", flush=True)
        print("half", end="", flush=True)
        os.write(2, b"below Python\n")

    with atoll.Pool(2, label=True, spare=False) as pool:
        pool.run(talk)
        out, err = capsys.readouterr()
    assert sorted(out.splitlines()) == ["[0] a line", "[0] half", "[1] a line", "[1] half"]
    assert sorted(err.splitlines()) == ["[0] below Python", "[1] below Python"]


def test_calls_start_in_order_and_can_be_cancelled(shared: atoll.Pool) -> None:
    read, write = os.pipe()
    path = f"/proc/{os.getpid()}/fd/{read}"

    def hold(path: str) -> int:
        with Path(path).open("rb", buffering=0) as file:
            return len(file.read(1))

    held = [shared.submit(hold, path) for _ in range(2)]
    waiting, cancelled = shared.submit(pow, 2, 2), shared.submit(pow, 2, 3)
    assert cancelled.cancel() and not waiting.done()
    os.write(write, b"12")
    assert [future.result() for future in held] == [1, 1] and waiting.result() == 4
    with pytest.raises(CancelledError):
        cancelled.result()
    os.close(read)
    os.close(write)


def test_asyncio_uses_it(shared: atoll.Pool) -> None:
    async def use() -> int:
        return await asyncio.get_running_loop().run_in_executor(shared, pow, 3, 3)

    assert asyncio.run(use()) == 27


def test_functions_of_main_without_cloudpickle(tmp_path: Path) -> None:
    code = """
    sys.modules["cloudpickle"] = None
    import math, operator
    def own(): return 1
    if __name__ == "__main__":
        with atoll.Pool(1, spare=False) as pool:
            print(pool.run(math.factorial, 4))
            for fn in (own, lambda: 2):
                try:
                    pool.run(fn)
                except ImportError as error:
                    print("pip install cloudpickle" in str(error))
    """
    done = python(write_program(tmp_path, code).read_text())
    assert done.stdout.splitlines() == ["[24]", "True", "True"], done.stderr


def test_bad_arguments(shared: atoll.Pool) -> None:
    for n in (0, -1, 1.5, "2", True):
        with pytest.raises(atoll.InvalidArgument, match="n_pes"):
            atoll.Pool(n)  # type: ignore[arg-type]
    with pytest.raises(atoll.InvalidArgument, match="timeout is 0"):
        shared.run(atoll.my_pe, timeout=0)
    with pytest.raises(atoll.InvalidArgument, match="pass a function"):
        shared.run(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="chunksize"):
        shared.map(pow, [1], [1], chunksize=0)


def test_a_pool_without_a_number_has_the_pes_of_atoll_run(tmp_path: Path) -> None:
    program = write_program(tmp_path, "atoll.init()\nprint(atoll.n_pes())")
    command = [launcher(), "run", sys.executable, str(program)]
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, text=True, check=True)
    with atoll.Pool(spare=False) as pool:
        assert [str(pool.n_pes)] * pool.n_pes == done.stdout.split()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"processes": 2}, "Pool() has no argument 'processes': pass n_pes."),
        ({"max_workers": 2}, "Pool() has no argument 'max_workers': pass n_pes."),
        ({"n_pes": 2, "initializer": print}, "Pool() has no argument 'initializer': call pool.run(initializer) once"),
    ],
)  # fmt: skip
def test_arguments_of_other_pools_are_named(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(said)):
        atoll.Pool(**arguments)  # type: ignore[arg-type]
    assert list(inspect.signature(atoll.Pool).parameters) == ["n_pes", "env", "timeout", "label", "spare"]


def test_a_pool_that_is_shut_down_refuses_calls() -> None:
    pool = atoll.Pool(1, spare=False)
    future = pool.submit(pow, 2, 2)
    pool.shutdown()
    assert future.result() == 4 and "shut down" in repr(pool)
    with pytest.raises(RuntimeError, match="shut down"):
        pool.run(atoll.my_pe)
    pool.shutdown()


def test_a_start_that_fails_says_why() -> None:
    with pytest.raises((atoll.BootstrapError, atoll.PeDied), match="ATOLL_HEAP_SIZE"):
        atoll.Pool(1, env={"ATOLL_HEAP_SIZE": "nonsense"}, spare=False)


def test_pes_end_with_their_program(tmp_path: Path) -> None:
    code = """
    if __name__ == "__main__":
        pool = atoll.Pool(2, spare=False)
        print(*[pid for _, pid, _ in pool.status()], flush=True)
        if sys.argv[1:] == ["killed"]:
            pool.submit(lambda: __import__("threading").Event().wait())
            os.kill(os.getpid(), 9)
    """
    program = write_program(tmp_path, code)
    for arguments in ([], ["killed"]):
        done = subprocess.run([sys.executable, str(program), *arguments], env=environment(), capture_output=True, text=True, timeout=100, check=False)  # fmt: skip
        for pid in done.stdout.split():
            wait_for_end(int(pid))


def wait_for_end(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    import select

    poll = select.poll()
    poll.register(handle, select.POLLIN)
    assert poll.poll(60_000), f"process {pid} lives on"
    os.close(handle)


def test_functions_keep_the_name_of_their_file() -> None:
    """Tracebacks and hang reports of a PE show the name, which cloudpickle drops."""

    def outer() -> Callable[[], int]:
        return lambda: 1

    sent = pickle.loads(wire.dumps(outer))
    assert sent is not outer
    assert {sent.__code__.co_filename, sent().__code__.co_filename} == {__file__}
