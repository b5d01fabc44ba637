"""Lines of C programs arrive when they end, although standard output is a pipe: on one host and through agents."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize("through_agents", [False, True])
def test_a_line_arrives_while_its_pe_waits(
    through_agents: bool, program: Callable[[str], Path], tree: Path, tmp_path: Path
) -> None:
    where: list[object] = ["-n", 2]
    if through_agents:
        agent = tmp_path / "agent"
        agent.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')  # runs ssh's command on this host
        agent.chmod(0o755)
        where = ["--hosts", "here:2", "--agent", agent]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ATOLL_", "SHMEM_", "SMA_"))}
    command = [tree / "bin/atoll", "run", *where, "--timeout", 60, program("lines")]
    with subprocess.Popen(
        [str(word) for word in command], env=kept, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as job:  # fmt: skip
        assert job.stdout and job.stderr
        try:
            lines = sorted(job.stdout.readline() for _ in range(2))
            assert lines == ["PE 0 is here\n", "PE 1 is here\n"], job.stderr.read()
            assert job.poll() is None
        finally:
            job.send_signal(signal.SIGTERM)
