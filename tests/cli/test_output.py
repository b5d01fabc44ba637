"""The option --label, and output on a terminal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def test_labels_on_both_streams(atoll):
    result = atoll("run", "-n", 2, "--label", "sh", "-c", "echo out; echo err >&2; printf unfinished")
    assert result.returncode == 0
    assert sorted(result.stdout.splitlines()) == ["[0] out", "[0] unfinished", "[1] out", "[1] unfinished"]
    assert sorted(result.stderr.splitlines()) == ["[0] err", "[1] err"]


def test_labelled_lines_are_never_torn(atoll, program):
    path = program(
        "line = (f'{pe.number}' * 99 + '\\n').encode()\n"
        "for _ in range(2000):\n"
        "    os.write(1, line[:37])\n"
        "    os.write(1, line[37:])\n"
    )
    result = atoll("run", "-n", 4, "--label", path)
    assert result.returncode == 0
    printed = result.stdout.splitlines()
    assert len(printed) == 8000
    assert set(printed) == {f"[{pe}] " + str(pe) * 99 for pe in range(4)}


def test_long_lines_and_empty_ones(atoll, program):
    path = program("sys.stdout.write('x' * 3_000_000 + '\\n\\n' + 'end')")
    result = atoll("run", "-n", 2, "--label", path)
    expected = [label + text for label in ("[0] ", "[1] ") for text in ("x" * 3_000_000, "", "end")]
    assert sorted(result.stdout.splitlines()) == sorted(expected)


def test_reader_that_is_slow_loses_nothing(atoll, program):
    path = program("for i in range(100_000): print(i)\n")
    job = atoll.start("run", "-n", 2, "--label", path)
    first = os.read(
        job.stdout.fileno(), 10
    ).decode()  # the launcher now holds more output than fits into a pipe
    out, _ = job.communicate(timeout=60)
    assert (first + out).count("\n") == 200_000
    assert job.returncode == 0


def test_reader_that_goes_away_does_not_hang_the_job(atoll, program):
    path = program("try:\n    for i in range(100_000): print(i)\nexcept BrokenPipeError: pass\n")
    job = atoll.start("run", "-n", 2, "--label", path)
    os.read(job.stdout.fileno(), 10)
    job.stdout.close()
    job.stdout = None
    job.communicate(timeout=60)
    assert job.returncode == 0


def test_label_into_a_file(atoll, tmp_path):
    with (tmp_path / "out").open("w") as file:
        assert (
            atoll("run", "-n", 3, "--label", "echo", "x", capture_output=False, stdout=file).returncode == 0
        )
    assert sorted((tmp_path / "out").read_text().splitlines()) == ["[0] x", "[1] x", "[2] x"]


def test_death_of_a_labelled_pe(atoll):
    result = atoll("run", "-n", 2, "--label", "sh", "-c", "printf last-words; kill -SEGV $$")
    assert result.returncode == 139
    assert "SIGSEGV" in result.stderr
    assert "last-words\n" in result.stdout


def test_terminal_is_read_for_pe_0(start_on_terminal, program):
    path = program(
        "pe.say(f'{pe.number} ready')\nfor line in sys.stdin: pe.say(f'{pe.number} read {line.strip()}')\npe.say('end')\n"
    )
    terminal = start_on_terminal("run", "-n", 2, path)
    terminal.expect("0 ready")
    terminal.type("hello\n")
    terminal.expect("0 read hello")
    terminal.type("\x04")  # Ctrl-D
    assert terminal.end() == 0
    assert "1 read hello" not in terminal.seen


def test_output_stays_a_terminal(start_on_terminal, program):
    path = program("pe.say(f'{pe.number} {sys.stdout.isatty()} {sys.stderr.isatty()} {sys.stdin.isatty()}')")
    terminal = start_on_terminal("run", "-n", 2, path)
    assert terminal.end() == 0
    assert "0 True True False" in terminal.seen
    assert "1 True True False" in terminal.seen


def test_ctrl_c(start_on_terminal, program):
    path = program(
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\npe.say(f'{pe.number} ready')\nwhile True: time.sleep(0.1)\n"
    )
    terminal = start_on_terminal("run", "-n", 2, path)
    terminal.expect("0 ready")
    terminal.expect("1 ready")
    terminal.type("\x03")
    terminal.expect("interrupted by SIGINT")
    assert terminal.end() == 130


def test_ctrl_backslash_prints_the_table_and_the_job_goes_on(start_on_terminal, program):
    path = program(
        "pe.hello()\npe.say(f'{pe.number} ready')\nsys.stdin.readline()\npe.fence()\npe.finalize()\n"
    )
    terminal = start_on_terminal("run", "-n", 2, path)
    terminal.expect("0 ready")
    terminal.expect("1 ready")
    terminal.type("\x1c")
    terminal.expect("PE 0,1: in its own code")
    terminal.type("go on\n")
    assert terminal.end() == 0


@pytest.mark.parametrize("label", [[], ["--label"]])
def test_background_job_of_a_shell_is_not_stopped_by_its_terminal(atoll, start_on_terminal, label):
    command = " ".join([atoll.path, "run", "-n", "2", *label, "echo", "x"])
    shell = f"set -m; {command} & wait $!; exit $?"
    terminal = start_on_terminal("-c", shell, path="/bin/bash")
    assert terminal.end() == 0
    assert len(re.findall(r"^(?:\[.\] )?x\r$", terminal.seen, re.MULTILINE)) == 2


def test_a_signal_after_the_end_of_a_job_keeps_its_status(atoll):
    """The launcher still passes output on, to a reader that has been slow and reads again."""
    script = """case "$ATOLL_LAUNCHED" in 1:0:*) head -c 100000 /dev/zero | tr '\\0' x; echo; exit 3;; esac"""
    job = atoll.start("run", "-n", 2, "sh", "-c", script)
    reader = job.stdout.fileno()
    received = len(os.read(reader, 1))
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children")
    while children.read_text():
        time.sleep(0.01)
    job.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, job.pid, os.WSTOPPED | os.WNOWAIT)
    job.send_signal(signal.SIGTERM)
    received += len(os.read(reader, 65536))  # all that the pipe holds, so there is room
    job.send_signal(signal.SIGCONT)
    while data := os.read(reader, 65536):
        received += len(data)
    assert received == 100001
    assert job.wait(timeout=60) == 3


def test_sigquit_without_a_terminal(atoll):
    job = atoll.start("run", "-n", 3, "sh", "-c", "echo ready; exec sleep 1000")
    assert [job.stdout.readline() for _ in range(3)] == ["ready\n"] * 3
    job.send_signal(signal.SIGQUIT)
    assert job.stderr.readline().startswith("atoll run: what the PEs are doing, ")
    assert job.stderr.readline() == "  PE 0-2: has not called init\n"
    job.send_signal(signal.SIGTERM)
    job.communicate(timeout=60)
    assert job.returncode == 143


def test_idle_launcher_uses_no_cpu(atoll, program):
    path = program("pe.hello()\npe.say('ready')\nsys.stdin.readline()\npe.fence()\npe.finalize()\n")
    job = atoll.start("run", "-n", 2, "--label", path, stdin=subprocess.PIPE)
    assert sorted(job.stdout.readline() for _ in range(2)) == ["[0] ready\n", "[1] ready\n"]

    def switches() -> int:
        with open(f"/proc/{job.pid}/status") as file:  # noqa: PTH123
            return sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)

    # It wakes once a second to look for a stall; a loop that spins would switch thousands of times.
    before, began = switches(), time.monotonic()
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert switches() - before < 100 * max(1, time.monotonic() - began)
    job.communicate("\n", timeout=60)
    assert job.returncode == 0
