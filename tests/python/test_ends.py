"""The ends of PEs, and the reports that the others and the user get; with our launcher and without."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HANG_GUARD, Done, Job, environment, interrupted, launcher, python, write_program


def run_without_launcher(folder: Path, code: str, n: int) -> list[Done]:
    """Run PEs without a launcher: each gets a unique id, its number, and the number of PEs."""
    uid = subprocess.run(
        [sys.executable, "-c", "import atoll; print(atoll.get_unique_id())"],
        env=environment(), capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    program = write_program(
        folder, f"pe = int(sys.argv[1])\natoll.init(uid={uid!r}, pe=pe, n_pes={n})\n" + code
    )
    started = [
        subprocess.Popen(
            [sys.executable, str(program), str(pe)],
            env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for pe in range(n)
    ]  # fmt: skip
    done = []
    for process in started:
        out, err = process.communicate(timeout=HANG_GUARD)
        done.append(subprocess.CompletedProcess([], process.returncode, out, err))
    return done


def test_an_exception_ends_the_job_with_its_traceback(job: Job) -> None:
    done = job(
        """
        atoll.init()
        if atoll.my_pe() == 1:
            raise KeyError("nobody catches this")
        atoll.barrier_all()
        """,
        3,
        ok=False,
    )
    assert done.returncode == 1
    assert "KeyError: 'nobody catches this'" in done.stderr and "program.py" in done.stderr
    assert "PE 1 ended by an uncaught exception at program.py:" in done.stderr


def test_an_uncaught_error_is_shown_without_our_own_frames(job: Job) -> None:
    done = job("atoll.init()\natoll.zeros(-1)\n", 1, ok=False)
    assert "Traceback" in done.stderr and "in <module>" in done.stderr and "atoll.zeros(-1)" in done.stderr
    assert "_allocation.py" not in done.stderr


def test_an_exception_ends_the_job_without_launcher(tmp_path: Path) -> None:
    code = "if pe == 1: raise KeyError('nobody catches this')\natoll.barrier_all()"
    first, second, third = run_without_launcher(tmp_path, code, 3)
    assert second.returncode == 1 and "KeyError" in second.stderr
    for other in (first, third):
        assert other.returncode != 0
        assert "PeDied" in other.stderr and "PE 1" in other.stderr and "nobody catches this" in other.stderr


@pytest.mark.parametrize("others", ["atoll.finalize()", "atoll.barrier_all()", "atoll.recv(np.zeros(3), 1)"])
@pytest.mark.parametrize("how", ["launcher", "none"])
def test_the_traceback_of_the_cause_is_the_only_one(job: Job, tmp_path: Path, how: str, others: str) -> None:
    code = f"if atoll.my_pe() == 1: raise KeyError('nobody catches this')\n{others}\n"
    if how == "launcher":
        said = [job("atoll.init()\n" + code, 3, ok=False).stderr]
        assert said[0].index("Traceback") < said[0].index("atoll run: ")
    else:
        said = [done.stderr for done in run_without_launcher(tmp_path, code, 3)]
    # A process that has reported it and takes a second longer to end (on a busy machine) reports it again by
    # its own watch.
    again = "atoll: the job is over: PE 1 ended by"
    said = [
        "".join(line for line in one.splitlines(keepends=True) if not line.startswith(again)) for one in said
    ]
    text = "".join(said)
    assert text.count("Traceback") == 1
    assert text.count("KeyError: 'nobody catches this'") == (1 if how == "launcher" else 3)
    for pe in (0, 2):
        # The line tells which PE it is and where in the program it was. The launcher prints one line for PEs
        # that stopped at the same place.
        stopped = rf"PE ({pe}|0,2) stopped at "
        (line,) = [line for line in text.splitlines() if re.match(stopped, line)]
        assert "program.py:" in line and ("PE 1 ended by an uncaught exception" in line) == (how == "none")
    assert len(said[0].splitlines()) <= (8 if how == "launcher" else 1), said[0]


def test_a_thread_that_waits_keeps_no_failure_from_the_others(job: Job) -> None:
    done = job(
        """
        import threading
        atoll.init()
        sig = atoll.signal()
        if atoll.my_pe() == 1:
            threading.Thread(target=lambda: atoll.signal_wait_until(sig, "==", 1)).start()
            raise KeyError("nobody catches this")
        atoll.barrier_all()
        """,
        2,
        ok=False,
    )
    assert done.returncode == 1 and "PE 1 ended by an uncaught exception" in done.stderr


@pytest.mark.parametrize("how", ["launcher", "none"])
def test_an_exit_without_finalize_is_announced(job: Job, tmp_path: Path, how: str) -> None:
    code = "if atoll.my_pe() == 1: sys.exit(0)\natoll.barrier_all()"
    if how == "launcher":
        done = job("atoll.init()\n" + code, 2, ok=False)
        assert done.returncode != 0
        said = done.stderr
        # On a busy machine the process may not have ended yet.
        last = r"atoll run: PE 1 (exited with status 0|left the job), and PE 0 waited for it in barrier at "
        assert re.match(last + r"program\.py:", said.splitlines()[-1]), said
    else:
        said = run_without_launcher(tmp_path, code, 2)[0].stderr
    assert "PeDied" in said and "PE 1 left the job, so this cannot end: barrier" in said
    assert "PE 1 left before its first call of the world team, and this PE waits in call 1: " in said


def test_an_exit_tells_the_calls_of_each(job: Job) -> None:
    done = job(
        """
        atoll.init()
        atoll.sum_reduce(1)
        atoll.barrier_all()
        try:
            if atoll.my_pe() != 1: atoll.barrier_all()
        except atoll.PeDied as error:
            print(error, file=sys.stderr)
            raise
        """,
        2,
        ok=False,
    )
    said = done.stderr
    assert re.search(
        r"so this cannot end: barrier.* PE 1 left after call 2 of the world team \(barrier.*\), and this PE waits in "
        r"call 3: every PE must make the same collective calls\.",
        said,
    ), said
    assert "finalize" not in said, said


def test_a_job_of_one_names_the_launcher(job: Job) -> None:
    said = python("import atoll\natoll.init()\natoll.put(atoll.zeros(1), 1.0, 1)\n").stderr
    assert "put(): PE 1 does not exist: the team has 1 PE, number 0." in said
    assert "This process was started alone; start several by: atoll run -n 4 program.py\n" in said, said
    said = job("atoll.init()\natoll.put(atoll.zeros(1), 1.0, 1)", 1, ok=False).stderr
    assert "does not exist" in said and "started alone" not in said


def test_leaving_without_finalize_does_not_wait(job: Job) -> None:
    job("atoll.init()\nx = atoll.zeros(3)\natoll.barrier_all()\nsys.exit(0)", 3)


def test_exit_statuses(job: Job) -> None:
    # The others notice that PE 1 has left before it has ended, and give it the time to report the reason.
    left = job("atoll.init()\nif atoll.my_pe() == 1: sys.exit(3)\natoll.barrier_all()", 3, ok=False)
    assert left.returncode == 3 and "PE 1 exited with status 3" in left.stderr
    assert (
        job(
            "atoll.init()\nif atoll.my_pe() == 2: atoll.global_exit(5)\natoll.barrier_all()", 3, ok=False
        ).returncode
        == 5
    )
    done = job(
        "atoll.init()\nif atoll.my_pe() == 0: atoll.abort('no input', 6)\natoll.barrier_all()", 3, ok=False
    )
    assert done.returncode == 6 and "PE 0" in done.stderr and "no input" in done.stderr
    killed = job(
        "atoll.init()\nif atoll.my_pe() == 1: os.kill(os.getpid(), 9)\natoll.barrier_all()", 2, ok=False
    )
    assert killed.returncode == 128 + 9 and "PE 1" in killed.stderr


def test_init_is_counted(job: Job) -> None:
    job(
        """
        atoll.init(); atoll.init()
        atoll.finalize()
        assert atoll.is_initialized() and atoll.n_pes() == 2
        x = atoll.ones(4)
        view = atoll.global_view(x)
        atoll.finalize()
        assert not atoll.is_initialized() and x.sum() == 4 and view.sum() == 8
        try:
            atoll.finalize()
        except atoll.NotInitialized as error:
            assert "finalize() was called more often than atoll.init()" in str(error)
        else:
            raise AssertionError
        """,
        2,
    )


def test_alone() -> None:
    code = """
import atoll
atoll.init()
x = atoll.ones(4)
assert atoll.n_pes() == 1 and atoll.my_pe(atoll.WORLD) == 0
team, lock, ctx = atoll.WORLD.split(0), atoll.Lock(), atoll.Context()
atoll.finalize()
del team, lock, ctx
atoll.init()
for kind in (lambda: atoll.put(x, x, 0), ):
    try:
        kind()
    except atoll.UseAfterFree as error:
        assert "finalized" in str(error)
    else:
        raise AssertionError
y = atoll.zeros(4)
atoll.put(y, x.copy(), 0)
assert y.sum() == 4
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_a_group_ends_with_its_job() -> None:
    code = """
import atoll, gc, numpy as np
def refused(call):
    try:
        call()
    except atoll.UseAfterFree as error:
        assert "finalized" in str(error) and "group" in str(error), error
    else:
        raise AssertionError
atoll.init()
atoll.group().__enter__()  # held by no other object
gc.collect()
atoll.send(np.ones(3), 0)
atoll.finalize()
atoll.init()
refused(lambda: atoll.send(np.ones(3), 0))
got = np.zeros(3)
with atoll.group():
    atoll.send(np.ones(3), 0)
    atoll.recv(got, 0)
assert got.sum() == 3
atoll.group().__enter__()  # still open when the process ends
"""
    again = """
import atoll, numpy as np
atoll.init()
got = np.zeros(3)
try:
    with atoll.group():
        atoll.send(np.ones(3), 0)
        atoll.recv(got, 0)
        atoll.finalize()
        atoll.init()
except atoll.UseAfterFree as error:
    assert "finalized" in str(error), error
else:
    raise AssertionError
with atoll.group():
    atoll.send(np.ones(3), 0)
    atoll.recv(got, 0)
assert got.sum() == 3
atoll.finalize()
"""
    for program in (code, again):
        done = python(program)
        assert done.returncode == 0 and done.stderr == "", done.stderr


def test_a_forked_child_is_not_a_pe(job: Job) -> None:
    job(
        """
        atoll.init()
        x = atoll.zeros(4)
        child = os.fork()
        if child == 0:
            try:
                atoll.put(x, x, 0)
            except atoll.NotInitialized as error:
                os._exit(0 if "forked" in str(error) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        atoll.barrier_all()
        atoll.finalize()
        """,
        2,
    )


def test_ctrl_c_ends_a_wait(tmp_path: Path) -> None:
    """An interrupt reaches a PE that waits, and the wait raises KeyboardInterrupt."""
    done = interrupted(
        tmp_path,
        "sig = atoll.signal()\n",
        """(lambda: atoll.signal_wait_until(sig, "==", 1), lambda: atoll.wait_until_any(sig, "==", 1))""",
        """
        atoll.put(sig, 7, 0)
        print("then", sig[0], flush=True)
        """,
    )
    assert done.stdout == "interrupted\ninterrupted\nthen 7\n" and done.returncode == 0, done


@pytest.mark.parametrize("to", ["launcher", "group"])
@pytest.mark.parametrize("wait", ["atoll.barrier_all() if me else time.sleep(1000)", "atoll.recv(x, 1 - me)"])
def test_ctrl_c_of_a_job_prints_one_sentence(tmp_path: Path, wait: str, to: str) -> None:
    program = write_program(
        tmp_path,
        f"""
        import time
        atoll.init()
        me, x = atoll.my_pe(), np.zeros(3)
        print("ready", flush=True)
        {wait}
        """,
    )
    process = subprocess.Popen(
        [launcher(), "run", "-n", "2", str(program)],
        env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    (os.killpg if to == "group" else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=HANG_GUARD)
    err = err.split("the last events of the PEs")[0]
    # Each waits for the other's message: a report tells so once both have begun.
    cycle = "atoll run: PE 0,1 wait for each other: "
    err = "".join(line for line in err.splitlines(keepends=True) if not line.startswith(cycle))
    said = [line for line in err.splitlines() if line.startswith("atoll run: ")]
    assert len(said) == 1 and said[0].startswith("atoll run: the job was interrupted by SIGINT "), err
    # A PE that was notified of another's end before its own interrupt may report its place.
    assert all("PeDied" in line for line in err.splitlines() if line not in said), err
    assert len(err.splitlines()) <= 2 and process.returncode == 128 + signal.SIGINT and out == ""


def test_an_interrupted_pe_without_launcher_is_reported_to_the_others(tmp_path: Path) -> None:
    code = "if pe == 1: raise KeyboardInterrupt\natoll.barrier_all()"
    first, second = run_without_launcher(tmp_path, code, 2)
    assert second.returncode == 128 + signal.SIGINT and second.stderr.count("Traceback") == 1
    assert "PE 1 was interrupted (KeyboardInterrupt)" in first.stderr and "Traceback" not in first.stderr


def test_ctrl_c_alone_is_pythons(tmp_path: Path) -> None:
    program = write_program(tmp_path, "atoll.init()\nraise KeyboardInterrupt")
    done = subprocess.run(
        [sys.executable, str(program)],
        env=environment(), capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGINT and done.stderr.endswith("\nKeyboardInterrupt\n")


def test_an_exception_without_words(job: Job) -> None:
    done = job("atoll.init()\nassert atoll.my_pe() != 1\natoll.barrier_all()", 2, ok=False)
    assert done.stderr.count("AssertionError") == 1 and "uncaught exception" in done.stderr


def test_other_threads_run_during_a_wait(job: Job) -> None:
    job(
        """
        import threading
        atoll.init()
        sig, me = atoll.signal(), atoll.my_pe()
        helper = threading.Thread(target=lambda: atoll.put_signal(sig[:0], sig[:0], sig, 1, "add", me))
        helper.start()
        atoll.signal_wait_until(sig, ">=", 1)  # the other PE's threads may add to it already
        helper.join()
        def work(k):
            for _ in range(200):
                atoll.atomic_add(sig, 1, (me + k) % 2)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        [t.start() for t in threads]; [t.join() for t in threads]
        atoll.barrier_all()
        assert sig[0] == 801
        atoll.finalize()
        """,
        2,
    )


def test_a_signal_handler_ends_a_collective_of_large_arrays(job: Job) -> None:
    """Its copy had let other threads run before the wait began."""
    job(
        """
        import signal
        atoll.init()
        me, go, team = atoll.my_pe(), atoll.signal(), atoll.WORLD.split(0)
        class Alarm(Exception):
            pass
        def handler(*_):
            raise Alarm
        if me == 0:
            signal.signal(signal.SIGALRM, handler)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                atoll.sum_reduce(np.ones(1 << 17), team=team)
            except Alarm:
                atoll.signal_set(go, 1, 1)
            else:
                raise AssertionError("nobody else came, and yet it ended")
        else:
            atoll.signal_wait_until(go, "==", 1)
        atoll.finalize()
        """,
        2,
    )


def test_calls_that_differ_name_both_pes(job: Job) -> None:
    done = job(
        """
        atoll.init()
        try:
            atoll.broadcast(np.zeros(4), atoll.my_pe())
        except atoll.CollectiveMismatch as error:
            print(error, flush=True)
        """,
        2,
        ok=False,
    )
    assert done.stdout.count("PE 0") >= 2 and done.stdout.count("PE 1") >= 2


def test_a_team_is_for_its_members(job: Job) -> None:
    job(
        """
        atoll.init()
        team = atoll.WORLD.split_strided(0, 1, 1)
        if atoll.my_pe() == 0:
            assert atoll.n_pes(team) == 1
            team.sync()
        else:
            assert not team
        atoll.barrier_all()
        """,
        2,
    )


def test_module_runs_as_a_program(tmp_path: Path) -> None:
    program = write_program(tmp_path, "atoll.init(); print(atoll.my_pe(), atoll.n_pes())")
    done = subprocess.run(
        [sys.executable, "-m", "atoll", "run", "-n", "2", str(program)],
        env=environment(), capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "0 2", "1 2"]


def test_sub_interpreters_are_refused() -> None:
    xx = pytest.importorskip("_xxsubinterpreters", reason="this Python has another module for it")
    del xx
    code = """
import _xxsubinterpreters as s
i = s.create()
s.run_string(i, '''
try:
    import atoll
except ImportError as error:
    print("refused:", error)
''')
"""
    done = python(code)
    assert "refused:" in done.stdout and "interpreter" in done.stdout, done.stdout + done.stderr
