"""`atoll run --hosts` with agents that are scripts: how the launcher reads them, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Script = Callable[[str], Path]


@pytest.fixture
def agent(tmp_path: Path) -> Script:
    """Return a function that writes a script for the launcher in place of its agent."""

    def write(text: str) -> Path:
        path = tmp_path / "agent.sh"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    return write


def test_output_and_its_end_that_come_together_are_both_read(atoll, agent: Script) -> None:
    # The launcher is stopped until all has been written and closed.
    path = agent(
        "kill -STOP $PPID\n"
        "until grep -q '^State:.T' /proc/$PPID/status; do :; done\n"
        "printf 'words, and no line feed'\n"
        "exec >&- 2>&-\n"
        "kill -CONT $PPID\n"
    )
    result = atoll("run", "--hosts", "a:1", "--agent", path, "true")
    assert (result.returncode, result.stdout, result.stderr) == (0, "words, and no line feed", "")


def test_a_reader_that_takes_nothing_leaves_the_launcher_open_to_signals(atoll, agent: Script) -> None:
    # More than the pipe holds, and a process that keeps the agent's output open until the test ends.
    reader, writer = os.pipe()
    path = agent(
        f"echo begun >&2\nhead -c 200000 /dev/zero\nsetsid sh -c 'read line </dev/fd/{reader}' &\nexit 3\n"
    )
    try:
        job = atoll.start("run", "--hosts", "a:1", "--agent", path, "true", pass_fds=[reader])
        os.close(reader)
        assert job.stderr.readline() == "begun\n"
        for _ in range(600):
            job.send_signal(signal.SIGINT)
            try:
                job.wait(0.1)
                break
            except subprocess.TimeoutExpired:
                continue
        assert job.returncode == -signal.SIGINT
    finally:
        os.close(writer)


@pytest.mark.parametrize("command", ["stacks", "record", "top"])
def test_the_launcher_of_several_hosts_has_no_pes_to_look_at(atoll, agent: Script, command: str) -> None:
    path = agent("echo begun >&2\ncat >/dev/null\n")
    job = atoll.start("run", "--hosts", "a:1", "--agent", path, "true")
    try:
        assert job.stderr.readline() == "begun\n"
        looked = atoll(command, *(["--once"] if command == "top" else []), job.pid)
        expected = "has no PEs of its own: for a job over several hosts give the number of a PE of this host"
        assert looked.returncode == 2 and f"process {job.pid} {expected}" in looked.stderr, looked.stderr
    finally:
        job.kill()
        job.wait()
