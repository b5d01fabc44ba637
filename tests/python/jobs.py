"""Running Python programs as jobs, under our launcher and without it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = HERE / "programs"
# Programs that check all operations at any number of PEs; those of tests/clusters run them over several
# hosts.
EVERY_OPERATION = [
    *("operations", "words", "collectives", "model", "bad_input"),
    *("shmem_memory", "shmem_words", "shmem_teams", "shmem_bad_input"),
]
# A bound for hangs only; no wait takes this long.
HANG_GUARD = 840


def launcher() -> str:
    beside = Path(sys.executable).parent / "atoll"
    for candidate in (beside, ROOT / "build/release/bin/atoll"):
        if candidate.exists():
            return str(candidate)
    raise FileNotFoundError(f"no launcher: neither {beside} nor a release build; run make")


def environment(**changes: str) -> dict[str, str]:
    """Return an environment without variables of Atoll but those that the test sets."""
    unset = ("ATOLL_", "SHMEM_", "SMA_", "PYTHONUNBUFFERED")  # unbuffered output splits lines
    kept = {k: v for k, v in os.environ.items() if not k.startswith(unset)}
    return {**kept, "ATOLL_CHECK": "all", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **changes}


Done = subprocess.CompletedProcess[str]
Job = Callable[..., Done]


def python(code: str, **changes: str) -> Done:
    """Run `code` in a separate process, without a launcher."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )


def write_program(folder: Path, code: str) -> Path:
    program = folder / "program.py"
    program.write_text("import atoll, numpy as np, os, sys\n" + textwrap.dedent(code))
    return program


def interrupted(folder: Path, start: str, waits: str, then: str, **changes: str) -> Done:
    """Run a PE whose waits are ended by SIGINT.

    It prints "ready" after `start` and calls each of `waits`, a tuple of callables. Each must end as a
    KeyboardInterrupt, which the PE reports. Then it runs `then`.
    """
    parts = (
        """
        import signal
        armed = False
        def interrupt(*_):  # an interrupt outside a wait is not what is tested
            global armed
            if armed:
                armed = False
                raise KeyboardInterrupt
        signal.signal(signal.SIGINT, interrupt)
        atoll.init()
        """,
        start,
        f"""
        print("ready", flush=True)
        for wait in {waits}:
            try:
                armed = True
                wait()
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # more may come while the interpreter ends
        """,
        then,
    )
    command = [sys.executable, str(write_program(folder, "".join(map(textwrap.dedent, parts))))]
    process = subprocess.Popen(
        command, env=environment(**changes), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    while process.poll() is None:  # repeatedly: the first may come before the wait
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    out, err = process.communicate(timeout=HANG_GUARD)
    return Done(command, process.returncode, out, err)


def rank_variables(pe: int, n: int, port: int) -> dict[str, str]:
    """Return the variables by which torchrun tells a process of one host its place."""
    place = {"RANK": str(pe), "LOCAL_RANK": str(pe), "WORLD_SIZE": str(n)}
    return {**place, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


def free_port() -> int:
    """Return a port outside the kernel's own range, whose ports may be taken again before they are used."""
    while True:
        port = random.randrange(10000, 30000)  # Linux's own range begins at 32768
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
