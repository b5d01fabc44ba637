"""The ends of jobs: normal, by a death, by abort, by time. No process or file is left behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.parametrize("status", [1, 3, 255])
def test_first_failing_pe_gives_the_status(atoll, status):
    result = atoll(
        "run", "-n", 3, "sh", "-c", f'case "$ATOLL_LAUNCHED" in 1:1:*) exit {status};; esac; exec sleep 1000'
    )
    assert result.returncode == status
    assert re.fullmatch(
        rf"atoll run: PE 1 exited with status {status}, \d+\.\d\d s after the start\n", result.stderr
    )


@pytest.mark.parametrize(
    "number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT, signal.SIGBUS, signal.SIGTERM]
)
def test_killed_pe_ends_the_job(atoll, witness, number):
    result = atoll(
        "run", "-n", 4, "sh", "-c",
        f'case "$ATOLL_LAUNCHED" in 1:2:*) kill -{int(number)} $$;; esac; exec sleep 1000',
        pass_fds=witness.pass_fds(),
    )  # fmt: skip
    assert result.returncode == 128 + number
    assert result.stderr.startswith(f"atoll run: PE 2 was killed by {number.name}")
    assert result.stderr.count("\n") == 1
    assert witness.all_gone()


def test_crash_hints_at_the_checks_when_they_are_off(atoll):
    for level in ({"ATOLL_CHECK": "none"}, {"ATOLL_CHECK": "basic"}, {}):  # the default of C and C++ is basic
        result = atoll("run", "-n", 1, "sh", "-c", "kill -SEGV $$", env=level)
        assert "ATOLL_CHECK=all may tell why" in result.stderr
    result = atoll("run", "-n", 1, "sh", "-c", "kill -SEGV $$", env={"ATOLL_CHECK": "args"})
    assert "ATOLL_CHECK=all" not in result.stderr
    # ATOLL_CHECK does not reach compiled kernels.
    assert "compiled for CPUs, -DATOLL_DEVICE_CHECK_ADDRESSES=1 may" in result.stderr


@pytest.mark.parametrize("start", [[], [sys.executable]])
def test_crash_in_python_names_a_tool_that_finds_it(atoll, tmp_path, start):
    program = tmp_path / "crash.py"
    program.write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)\n")
    result = atoll("run", "-n", 1, *start, program)
    assert "extension module or a kernel" in result.stderr and "faulthandler" in result.stderr, result.stderr
    assert "C program" not in result.stderr


def test_statuses_of_shells_are_explained(atoll):
    result = atoll("run", "-n", 1, "sh", "-c", "sh -c 'kill -SEGV $$'; exit $?")
    assert result.returncode == 139
    assert "exited with status 139 (by which a shell means SIGSEGV)" in result.stderr


def test_others_that_ignore_sigterm_are_killed(atoll, program, witness):
    path = program(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pe.hello()\npe.fence()\n"
        "if pe.number == 1: os._exit(5)\n"
        "while True: time.sleep(0.1)\n"
    )
    result = atoll("run", "-n", 3, path, pass_fds=witness.pass_fds())
    assert result.returncode == 5
    assert witness.all_gone()


def test_grandchildren_end_too(atoll, witness):
    script = 'sleep 1000 & setsid sleep 1000 & case "$ATOLL_LAUNCHED" in 1:0:*) exit 7;; esac; wait'
    result = atoll("run", "-n", 3, "sh", "-c", script, pass_fds=witness.pass_fds())
    assert result.returncode == 7
    assert witness.all_gone()


def test_processes_that_pes_leave_running_end_with_the_job(atoll, witness):
    result = atoll(
        "run", "-n", 2, "sh", "-c", "sleep 1000 & setsid sleep 1000 & exit 0", pass_fds=witness.pass_fds()
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert witness.all_gone()


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", "echo ready; exec sleep 1000"],
        ["sh", "-c", "trap '' TERM INT HUP; sleep 1000 & echo ready; wait"],
    ],
)
def test_sigkill_of_the_launcher_leaves_nothing(atoll, witness, command):
    job = atoll.start("run", "-n", 4, *command, pass_fds=witness.pass_fds())
    assert [job.stdout.readline() for _ in range(4)] == ["ready\n"] * 4
    job.kill()
    job.wait(timeout=60)
    assert witness.all_gone()


def test_sigkill_of_the_launcher_ends_members_in_sessions_of_their_own(atoll, program, witness):
    path = program("pe.hello()\npe.say('ready')\nwhile True: time.sleep(0.1)\n")
    job = atoll.start(
        "run", "-n", 2, "sh", "-c", f'setsid "$ATOLL_PYTHON" {path}', pass_fds=witness.pass_fds()
    )
    assert [job.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    job.kill()
    job.wait(timeout=60)
    assert witness.all_gone()


def test_waiting_pes_see_a_death_on_the_board(atoll, program):
    path = program(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"  # a busy machine may not reach them before it
        "pe.hello()\npe.fence()\n"
        "if pe.number == 1: os.kill(os.getpid(), signal.SIGSEGV)\n"
        "pe.say(pe.wait_for_abort())\nsys.exit(9)\n"
    )
    result = atoll("run", "-n", 3, path)
    assert result.returncode == 139
    seen = result.stdout.splitlines()
    assert len(seen) == 2
    # ", core dumped" may follow
    assert all(line.startswith("PE 1 was killed by SIGSEGV (segmentation fault") for line in seen)
    assert result.stderr.count("atoll run:") == 1


def test_message_tells_the_wait_of_the_dead_pe(atoll, program):
    path = program(
        "pe.hello()\npe.fence()\n"
        "if pe.number == 0:\n"
        "    pe.publish_wait('barrier', peer=1)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "pe.wait_for_abort()\n"
    )
    result = atoll("run", "-n", 2, path)
    assert result.returncode == 137
    assert "PE 0 was killed by SIGKILL" in result.stderr
    assert ", waiting in barrier, for PE 1 (" in result.stderr
    assert "memory" in result.stderr


def test_death_while_others_are_in_a_fence(atoll, program):
    path = program("pe.hello()\nif pe.number == 2: os.abort()\npe.fence()\n")
    result = atoll("run", "-n", 4, path)
    assert result.returncode == 134
    assert "PE 2 was killed by SIGABRT" in result.stderr


def test_exit_0_without_finalize_is_not_a_failure(atoll, program):
    path = program(
        "pe.hello()\npe.fence()\n"
        "if pe.number == 1: os._exit(0)\n"
        "while pe.read_word(pe.EXITED) == 0: time.sleep(0.001)\n"  # the last word that the launcher writes
        "pe.say([pe.state(1) == pe.LEFT_STATE, pe.read_word(pe.LEFT), pe.read_word(pe.ABORT)])\npe.finalize()\n"
    )
    result = atoll("run", "-n", 2, path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "[True, 1, 0]\n"


def test_finalized_pe_that_fails_later_still_fails_the_job(atoll, program):
    path = program("pe.hello()\npe.fence()\npe.finalize()\nsys.exit(4 if pe.number == 1 else 0)\n")
    result = atoll("run", "-n", 2, path)
    assert result.returncode == 4
    assert "PE 1 exited with status 4" in result.stderr


def test_pe_that_never_joins_is_named(atoll, program):
    path = program("if pe.number == 1: sys.exit(0)\npe.hello()\npe.fence()\n")
    result = atoll("run", "-n", 3, path)
    assert result.returncode == 1
    assert "PE 1 ended without calling init, in which PE 0,2 waits" in result.stderr or (
        # PE 0 or PE 2, whichever came first
        re.search(r"PE 1 ended without calling init, in which PE [02] waits", result.stderr)
    )


@pytest.mark.parametrize("after", ["true", "exit 0"])
def test_crash_inside_a_shell_that_ends_well(atoll, program, after):
    path = program(
        "pe.hello()\npe.fence()\nif pe.number == 1: os.kill(os.getpid(), 9)\npe.wait_for_abort()\n"
    )
    result = atoll("run", "-n", 2, "sh", "-c", f'"$ATOLL_PYTHON" {path}; {after}')
    assert result.returncode == 1
    assert "PE 1 (process" in result.stderr
    assert "crash that the program around it hides" in result.stderr


def test_crash_inside_a_shell_that_goes_on(atoll, program, witness):
    path = program(
        "pe.hello()\npe.fence()\nif pe.number == 1: os.kill(os.getpid(), 9)\npe.wait_for_abort()\n"
    )
    script = f'"$ATOLL_PYTHON" {path}; exec sleep 1000'
    result = atoll("run", "-n", 2, "sh", "-c", script, pass_fds=witness.pass_fds())
    assert result.returncode == 1
    assert re.search(r"PE 1 \(process \d+\) left the job without a word", result.stderr)
    assert witness.all_gone()


# After two answers of the launcher, it has seen that PE 1 has become another program.
ENDS_WELL = "import os, socket; s = socket.socket(fileno={}); [(s.send(b'Gkey'), s.recv(99)) for _ in '12']"


@pytest.mark.parametrize("other", [ENDS_WELL, "import time; time.sleep(1000)"])
def test_a_pe_that_becomes_another_program_is_named(atoll, program, witness, other):
    path = program(
        "pe.hello()\npe.fence()\n"
        "pe.put('key', b'')\n"
        "number = pe.launcher.fileno()\n"
        "os.set_inheritable(number, True)\n"
        f"if pe.number == 1: os.execv(sys.executable, [sys.executable, '-c', {other!r}.format(number)])\n"
        "pe.wait_for_abort()\n"
    )
    result = atoll("run", "-n", 2, path, pass_fds=witness.pass_fds())
    assert result.returncode == 1
    assert re.search(r"PE 1 \(process \d+\) left .* it ran on, as another program", result.stderr)
    assert witness.all_gone()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_to_the_launcher_is_not_a_pes(atoll, number):
    job = atoll.start("run", "-n", 2, "sh", "-c", "echo ready; exec sleep 1000")
    assert [job.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    job.send_signal(number)
    _, err = job.communicate(timeout=60)
    assert job.returncode == 128 + number
    assert err.startswith(f"atoll run: the job was interrupted by {number.name} ") and err.count("\n") == 1


def test_member_that_outlives_its_shell_counts(atoll, program):
    """`sh -c 'program &'` ends at once, its program later and with a failure: the launcher inherits it and
    gets its status.
    """
    path = program(
        "pe.hello()\n"
        "while os.getppid() == int(sys.argv[1]): time.sleep(0.001)\n"
        "pe.fence()\nsys.exit(6 if pe.number == 1 else 0)\n"
    )
    # The shell ends only after its program said hello.
    script = f'"$ATOLL_PYTHON" {path} $$ & "$ATOLL_PYTHON" -c "import pe, time\nwhile pe.state(pe.number) == 0: time.sleep(0.001)"'
    result = atoll("run", "-n", 2, "sh", "-c", script)
    assert result.returncode == 6
    assert "PE 1 exited with status 6" in result.stderr


def test_abort_packet(atoll, program, witness):
    path = program(
        "pe.hello()\npe.fence()\nif pe.number == 1: pe.abort(42, 'enough is enough')\nwhile True: time.sleep(0.1)\n"
    )
    result = atoll("run", "-n", 3, path, pass_fds=witness.pass_fds())
    assert result.returncode == 42
    assert re.search(
        r"PE 1 ended the job with status 42, [\d.]+ s after the start: enough is enough\n", result.stderr
    )
    assert witness.all_gone()


def test_a_pe_that_follows_an_abort_ends_before_its_packet(atoll, program):
    path = program(
        "pe.hello()\npe.fence()\nif pe.number == 1: pe.write_abort('enough is enough')\n"
        "else: pe.wait_for_abort(), os._exit(9)\nwhile True: time.sleep(0.1)\n"
    )
    result = atoll("run", "-n", 2, path)
    assert result.returncode == 1
    assert re.search(
        r"PE 1 ended the job with status 1, [\d.]+ s after the start: enough is enough\n", result.stderr
    )


def test_abort_with_status_0_ends_the_job_well(atoll, program):
    path = program(
        "pe.hello()\npe.fence()\nif pe.number == 1: pe.abort(0, '')\nwhile True: time.sleep(0.1)\n"
    )
    result = atoll("run", "-n", 3, path)
    assert (result.returncode, result.stderr) == (0, "")


def test_timeout_prints_the_table_and_ends_with_124(atoll, witness):
    result = atoll("run", "-n", 3, "--timeout", 0.5, "sleep", "1000", pass_fds=witness.pass_fds())
    assert result.returncode == 124
    assert "atoll run: time is up (--timeout 0.5 s)" in result.stderr
    assert "  PE 0-2: has not called init\n" in result.stderr
    assert result.stderr.endswith("the job was ended after its --timeout of 0.5 s\n")
    assert witness.all_gone()


def test_sigquit_prints_the_table_and_the_job_goes_on(atoll, program):
    path = program(
        "pe.hello()\nif pe.number != 1: pe.publish_wait('signal_wait_until')\n"
        "pe.say('ready')\nsys.stdin.read() if pe.number == 0 else pe.get('go on')\n"
        "pe.put('go on', b'')\npe.finalize()\n"
    )
    job = atoll.start("run", "-n", 3, path, stdin=subprocess.PIPE)
    assert [job.stdout.readline() for _ in range(3)] == ["ready\n"] * 3
    job.send_signal(signal.SIGQUIT)
    assert job.stderr.readline() == (
        "atoll run: PE 1 is in its own code, and PE 0 waits in signal_wait_until.\n"
    )
    assert job.stderr.readline().startswith("atoll run: what the PEs are doing, ")
    assert job.stderr.readline() == "  PE 1: in its own code\n"
    assert re.fullmatch(r"  PE 0,2: signal_wait_until \(.* s\)\n", job.stderr.readline())
    _, err = job.communicate("", timeout=60)
    assert (job.returncode, err) == (0, "")


def test_timeout_that_is_not_reached(atoll):
    assert atoll("run", "-n", 2, "--timeout", 50, "true").returncode == 0


def test_stall_is_reported_once_and_the_job_goes_on(atoll, program):
    path = program("pe.hello()\npe.fence()\npe.publish_wait('barrier')\nsys.stdin.read() if pe.number == 0 else pe.get('go on')\n"
                   "pe.put('go on', b'')\npe.finalize()\n")  # fmt: skip
    job = atoll.start("run", "-n", 2, path, stdin=subprocess.PIPE, env={"ATOLL_STALL_WARN": "0.2"})
    assert job.stderr.readline() == (
        "atoll run: PE 0,1 wait in barrier, and every PE waits: none is left that could change this.\n"
    )
    assert job.stderr.readline().startswith(
        "atoll run: every PE waits and nothing has moved for 0.2 s (ATOLL_STALL_WARN)"
    )
    assert re.fullmatch(r"  PE 0,1: barrier \(.* s\)\n", job.stderr.readline())
    _, err = job.communicate("", timeout=60)
    assert (job.returncode, err) == (0, "")


@pytest.mark.parametrize(
    ("outside", "reported"),
    [
        (
            "sys.stdin.read()",
            "sleeps outside Atoll, and the waits of the others have not changed for at least 0.2 s",
        ),
        (
            "while not select.select([sys.stdin], [], [], 0)[0]: pass",
            "works outside Atoll, and the waits of the others have not changed for at least 1 s",
        ),
    ],
    ids=["sleeps", "works"],
)
def test_a_pe_that_is_long_outside_is_reported_once(atoll, program, outside, reported):
    path = program(f"import select\npe.hello()\npe.publish_process()\nif pe.number == 0:\n    {outside}\n"
                   "else:\n    pe.publish_wait('barrier', 0)\n    pe.get('go on')\npe.put('go on', b'')\npe.finalize()\n")  # fmt: skip
    job = atoll.start("run", "-n", 2, path, stdin=subprocess.PIPE, env={"ATOLL_STALL_WARN": "0.02"})
    assert job.stderr.readline() == "atoll run: PE 0 is in its own code, and PE 1 waits for it in barrier.\n"
    assert job.stderr.readline().startswith(f"atoll run: PE 0 {reported} (ATOLL_STALL_WARN); ")
    assert job.stderr.readline() == "  PE 0: in its own code\n"
    assert re.fullmatch(r"  PE 1: barrier, for PE 0 \(.* s\)\n", job.stderr.readline())
    _, err = job.communicate("", timeout=60)
    assert (job.returncode, err) == (0, "")


def test_a_pe_that_is_stopped_is_reported_without_a_time_limit(atoll, program):
    path = program("pe.hello()\npe.publish_process()\nif pe.number == 0:\n    os.kill(os.getpid(), signal.SIGSTOP)\nelse:\n    pe.publish_wait('barrier', 0)\n    pe.get('go on')\n"
                   "pe.put('go on', b'')\npe.finalize()\n")  # fmt: skip
    job = atoll.start("run", "-n", 2, path, env={"ATOLL_STALL_WARN": "0.02"})
    first = job.stderr.readline()
    found = re.fullmatch(
        r"atoll run: PE 0 is stopped \(kill -CONT (\d+) lets it go on\), and PE 1 waits for it in barrier\.\n",
        first,
    )
    assert found, first
    assert job.stderr.readline().startswith(
        "atoll run: PE 0 is stopped, and the waits of the others have not changed for at least 0.2 s (ATOLL_STALL_WARN); "
    )
    assert job.stderr.readline() == f"  PE 0: stopped (process {found[1]})\n"
    assert re.fullmatch(r"  PE 1: barrier, for PE 0 \(.* s\)\n", job.stderr.readline())
    os.kill(int(found[1]), signal.SIGCONT)
    _, err = job.communicate("", timeout=60)
    assert (job.returncode, err) == (0, "")


def test_death_of_many_at_once_is_one_message(atoll):
    result = atoll("run", "-n", 64, "sh", "-c", "exit 3")
    assert result.returncode == 3
    assert result.stderr.count("\n") == 1


def test_stopped_pes_are_ended_too(atoll, witness):
    script = 'case "$ATOLL_LAUNCHED" in 1:0:*) exit 2;; esac; kill -STOP $$'
    result = atoll("run", "-n", 3, "sh", "-c", script, pass_fds=witness.pass_fds())
    assert result.returncode == 2
    assert witness.all_gone()


def test_no_file_is_needed(atoll, witness):
    """A job runs without writable /tmp, /dev/shm and working folder: Atoll creates no files there."""
    shared = Path("/dev/shm")
    before = set(shared.iterdir())
    job = atoll.start(
        "run", "-n", 2, "sh", "-c", "echo ready; exec sleep 1000", env={"TMPDIR": "/nonexistent"}, cwd="/proc",
        pass_fds=witness.pass_fds(),
    )  # fmt: skip
    assert [job.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    job.kill()
    job.wait(timeout=60)
    assert witness.all_gone()
    left = set(shared.iterdir()) - before
    # Other programs' files there come and go; a job's would stay.
    end = time.monotonic() + 60
    while left and time.monotonic() < end:
        left = {file for file in left if file.exists() and not is_open(file)}
        time.sleep(0.01)
    assert not left


def is_open(file: Path) -> bool:
    """Return whether some process has the file open or mapped."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if str(file) in (process / "maps").read_text():
                return True
            if any(fd.readlink() == file for fd in (process / "fd").iterdir()):
                return True
    return False
