"""Jobs of `atoll run --hosts` whose hosts are this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from jobs import HANG_GUARD, Done, environment, launcher, write_program


def agent(folder: Path) -> str:
    """A program in place of ssh, for hosts that are this machine."""
    path = folder / "agent.sh"
    path.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
    path.chmod(0o755)
    return str(path)


def run(folder: Path, code: str, *options: str, hosts: str = "a:2,b:2", **changes: str) -> Done:
    program = str(write_program(folder, code))
    return subprocess.run(
        [launcher(), "run", "--hosts", hosts, "--agent", agent(folder), *options, sys.executable, program],
        env=environment(**changes), cwd=folder, capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
