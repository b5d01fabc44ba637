"""The debuggers of `atoll run`: --pdb, --gdb and --tmux."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import HANG_GUARD, Done, environment, launcher, write_program


def run(*words: object, lines: str = "", **changes: str) -> Done:
    """Run `atoll run` with these lines as its standard input."""
    return subprocess.run(
        [launcher(), "run", *map(str, words)],
        input=lines,
        env=environment(ATOLL_PYTHON=sys.executable, **changes),
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )


def test_breakpoints_of_several_pes_take_turns(tmp_path: Path) -> None:
    program = write_program(
        tmp_path,
        """
        atoll.init()
        secret = 100 + atoll.my_pe()
        breakpoint()
        atoll.barrier_all()
        print("PE", atoll.my_pe(), "goes on")
        """,
    )
    done = run("-n", 3, "--pdb", program, lines="p secret\nc\n" * 3)
    assert done.returncode == 0, done.stderr
    prompts = re.findall(r"\(PE (\d)\) (\d+)$", done.stdout, re.M)
    assert sorted(prompts) == [("0", "100"), ("1", "101"), ("2", "102")], done.stdout
    assert {f"PE {pe} goes on" for pe in range(3)} <= {
        line.split(") ")[-1] for line in done.stdout.splitlines()
    }


def test_an_uncaught_exception_stops_its_pe_and_the_job_waits(tmp_path: Path) -> None:
    program = write_program(
        tmp_path,
        """
        def work(divisor):
            return 10 // divisor
        atoll.init()
        work(1 - atoll.my_pe())
        atoll.barrier_all()
        """,
    )
    done = run("-n", 2, "--pdb", program, lines="p divisor + 41\nup\np atoll.my_pe() + 50\nq\n")
    assert done.returncode == 1
    assert "(PE 1) 41" in done.stdout and "(PE 1) 51" in done.stdout, done.stdout
    assert "ZeroDivisionError" in done.stderr and "PE 1 ended by an uncaught exception" in done.stderr
    assert "PE 0" not in done.stdout


def test_an_exception_before_init_stops_too(tmp_path: Path) -> None:
    program = write_program(tmp_path, "here = 7\nraise KeyError(here)\n")
    done = run("-n", 1, "--pdb", program, lines="p here * 6\nq\n")
    assert done.returncode == 1 and "(before init) 42" in done.stdout, done.stdout


def test_the_end_of_the_input_ends_the_debugger(tmp_path: Path) -> None:
    program = write_program(tmp_path, "atoll.init()\nraise KeyError(atoll.my_pe())\n")
    done = run("-n", 3, "--pdb", program)
    assert done.returncode == 1 and "KeyError" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pdb", "true"], "--pdb debugs programs in Python only; --gdb debugs "),
        (["--pdb", "--gdb", "true"], "--pdb and --gdb exclude each other"),
        (["--gdb", "--hosts", "a,b", "true"], "are for PEs of this host: leave out --hosts"),
        (["--tmux", "--label", "true"], "leave out --label"),
    ],
)
def test_debuggers_that_do_not_fit_are_refused(words: list[str], said: str) -> None:
    done = run(*words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_missing_debuggers_are_named(tmp_path: Path) -> None:
    done = run("-n", 1, "--gdb", "/bin/true", PATH=str(tmp_path))
    assert done.returncode == 127 and "apt-get install gdb" in done.stderr
    done = run("-n", 1, "--tmux", "/bin/true", PATH=str(tmp_path), TMUX="a,1,0")
    assert done.returncode == 127 and "apt-get install tmux" in done.stderr
    done = subprocess.run(
        [launcher(), "run", "--tmux", "true"],
        env={k: v for k, v in environment().items() if k != "TMUX"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "--tmux needs a terminal" in done.stderr


def can_trace() -> bool:
    """True if gdb may start programs here; containers can forbid it."""
    gdb = shutil.which("gdb")
    if gdb is None:
        return False
    done = subprocess.run(
        [gdb, "-batch", "-ex", "run", "/bin/true"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return "exited normally" in done.stdout


def test_gdb_prints_the_stacks_of_a_pe_that_crashes(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("gdb is missing, or may not trace programs here")
    program = write_program(
        tmp_path,
        """
        import ctypes
        atoll.init()
        if atoll.my_pe() == 1:
            ctypes.string_at(0)
        atoll.barrier_all()
        """,
    )
    done = run("-n", 2, "--gdb", "--label", program)
    assert done.returncode == 128 + 11, done.stdout + done.stderr
    assert re.search(r"^\[1\] .*SIGSEGV", done.stdout, re.M), done.stdout
    # A Python of a distribution has no names of its own functions; libffi calls for ctypes.
    assert re.search(r"^\[1\] #\d+ .*(string_at|ffi_call)", done.stdout, re.M), done.stdout
    assert not re.search(r"^\[0\] #\d+ ", done.stdout, re.M), done.stdout
    assert "PE 1 exited with status 139" in done.stderr


def test_gdb_passes_the_status_on(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("gdb is missing, or may not trace programs here")
    program = write_program(tmp_path, "atoll.init()\nprint('sum', atoll.sum_reduce(1))\n")
    done = run("-n", 2, "--gdb", program)
    assert done.returncode == 0 and done.stdout.count("sum 2\n") == 2, done.stdout + done.stderr
    assert run("-n", 1, "--gdb", "sh", "-c", "exit 7").returncode == 7


class Tmux:
    """A server of tmux with one session, on a terminal without a screen."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self.name = str(folder / "tmux")
        self.variables = environment(ATOLL_PYTHON=sys.executable, TERM="screen", LC_ALL="C.UTF-8")
        self("new-session", "-d", "-x", "160", "-y", "48", *command)

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self.name, "-f", "/dev/null", *words],
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def panes(self) -> dict[str, str]:
        """The text of each pane, by its title."""
        listed = self("list-panes", "-s", "-F", "#{pane_id} #{pane_title}").splitlines()
        return {row.split(" ", 1)[1]: self("capture-pane", "-p", "-t", row.split()[0]) for row in listed}

    def expect(self, title: str, text: str) -> None:
        until = time.monotonic() + HANG_GUARD
        while text not in self.panes().get(title, ""):
            assert time.monotonic() < until, f"{text!r} is not in {self.panes()}"
            time.sleep(0.1)

    def type(self, title: str, text: str) -> None:
        listed = self("list-panes", "-s", "-F", "#{pane_id} #{pane_title}").splitlines()
        (pane,) = [row.split()[0] for row in listed if row.split(" ", 1)[1] == title]
        self("send-keys", "-t", pane, text, "Enter")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[list[Tmux]]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    started: list[Tmux] = []
    yield started
    for server in started:
        server("kill-server")


def test_each_pe_has_a_pane_of_tmux(tmp_path: Path, tmux: list[Tmux]) -> None:
    program = write_program(
        tmp_path,
        """
        atoll.init()
        me = atoll.my_pe()
        print("I am", me, "on a terminal:", sys.stdin.isatty() and sys.stdout.isatty())
        word = input()
        atoll.barrier_all()
        print(word, me)
        """,
    )
    server = Tmux(tmp_path, [launcher(), "run", "-n", "2", "--tmux", str(program)])
    tmux.append(server)
    server.expect("PE 0", "I am 0 on a terminal: True")
    server.expect("PE 1", "I am 1 on a terminal: True")
    server.type("PE 1", "bread")
    server.type("PE 0", "milk")
    server.expect("PE 0", "milk 0")
    server.expect("PE 1", "bread 1")
    server.expect("PE 1", "[PE 1 has ended: Enter closes this pane]")
    assert "bread" not in server.panes()["PE 0"]


def test_pdb_in_panes_needs_no_turns(tmp_path: Path, tmux: list[Tmux]) -> None:
    program = write_program(
        tmp_path, "atoll.init()\nbreakpoint()\natoll.barrier_all()\nprint('PE', atoll.my_pe(), 'goes on')\n"
    )
    server = Tmux(tmp_path, [launcher(), "run", "-n", "2", "--tmux", "--pdb", str(program)])
    tmux.append(server)
    server.expect("PE 1", "(PE 1)")
    server.expect("PE 0", "(PE 0)")
    server.type("PE 1", "c")
    server.type("PE 0", "c")
    server.expect("PE 1", "PE 1 goes on")


def test_outside_tmux_a_server_of_its_own_starts(tmp_path: Path, tmux: list[Tmux]) -> None:
    """The outer tmux is only the terminal: the job's own server has the environment of the command."""
    program = write_program(
        tmp_path, "atoll.init()\nprint('word', os.environ['WORD'], atoll.my_pe())\ninput()\n"
    )
    command = f"env -u TMUX WORD=bread TMUX_TMPDIR={tmp_path} {launcher()} run -n 2 --tmux {program}"
    server = Tmux(tmp_path, ["sh", "-c", f"{command}; echo back; sleep 1000"])
    tmux.append(server)
    try:
        (title,) = server.panes()
        deadline = time.monotonic() + HANG_GUARD
        while not {"word bread 0", "word bread 1"} <= set(
            re.findall(r"word bread \d", "".join(server.panes().values()))
        ):
            assert time.monotonic() < deadline, server.panes()
            time.sleep(0.1)
        assert title in server.panes() or server.panes()
    finally:  # the job's own server outlives the terminal
        for socket in tmp_path.glob("tmux-*/atoll-*"):
            subprocess.run(["tmux", "-S", str(socket), "kill-server"], check=False)
    assert os.environ.get("WORD") is None
