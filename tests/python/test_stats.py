"""Statistics: the table of `atoll run --stats`, and atoll.stats()."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HANG_GUARD, Done, environment, launcher, python, write_program

CALLS = """
    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    x, words = atoll.zeros(4), atoll.zeros(4, dtype="int64")
    s = atoll.zeros(1, dtype="uint64")
    big = atoll.zeros(1 << 15)
    atoll.barrier_all()
    before = atoll.stats()
    right = (me + 1) % n
    for _ in range(5):
        atoll.put(x, np.ones(4), right)
    atoll.put(big, np.ones(1 << 15), right)
    atoll.put(x[::2], np.ones(2), right)
    out = np.zeros(4)
    for _ in range(3):
        atoll.get(out, x, right)
    for i in range(100):
        atoll.p(words, i, right, index=1)
    atoll.g(words, right, index=1)
    atoll.iput(x, np.ones(4), 2, 1, 2, right)
    atoll.atomic_fetch_add(words, 1, right, index=0)
    atoll.take(words, [0, 1], [right, right])
    atoll.put_signal(x, np.ones(4), s, 1, pe=right)
    atoll.put_signal(x[::2], np.ones(2), s, 2, pe=right)
    atoll.put_signal_nbi(x, np.ones(4), s, 3, pe=right)
    atoll.quiet()
    atoll.signal_wait_until(s, ">=", 3)
    atoll.signal_add(s, 1, pe=right)
    atoll.signal_consume(s, 4)
    atoll.barrier_all()
    atoll.signal_set(s, 0, pe=right)
    lock = atoll.Lock()
    with lock:
        pass
    if lock.acquire(blocking=False):
        lock.release()
    box = atoll.Mailbox(8)
    team = atoll.WORLD.split(0, me)
    atoll.WORLD.split_strided(0, 1, n)
    atoll.WORLD.split_2d(1)
    atoll.zeros(4)
    atoll.sum_reduce(words, words)
    atoll.fcollect(words, blocking=False).wait()
    after = atoll.stats()
    counted = {
        name: (row["calls"] - before.get(name, {}).get("calls", 0), row["bytes"] - before.get(name, {}).get("bytes", 0))
        for name, row in after.items()
    }
    expected = {
        "put": (7, 5 * 32 + (1 << 18) + 16), "get": (3, 96), "p": (100, 800), "g": (1, 8), "iput": (1, 16),
        "atomic_fetch_add": (1, 8), "take": (1, 16), "put_signal": (2, 48), "put_signal_nbi": (1, 32), "signal_wait_until": (1, 0),
        "signal_add": (1, 8), "signal_consume": (1, 0), "signal_set": (1, 8), "quiet": (1, 0),
        "Lock.acquire": (1, 8), "test_lock": (1, 8), "barrier": (1, 0),
        "mailbox": (1, counted["mailbox"][1]), "split": (1, 0), "split_strided": (1, 0), "split_2d": (1, 0),
        "allocate": (2, 40), "reduce": (1, 32),
        "fcollect": (1, 32), "Request.wait": (1, 0),
    }
    for name, numbers in expected.items():
        assert counted[name] == numbers, (name, counted[name], numbers)
    for name, row in after.items():
        assert 0 <= row["waiting_seconds"] <= row["seconds"] * 1.01 + 1e-6, (name, row)
        assert 0 < row["longest_seconds"] <= row["seconds"] * 1.01 + 1e-6, (name, row)
    assert after["init"]["calls"] == 1 and "sync" not in counted and "finalize" not in counted
    assert after["signal_wait_until"]["waiting_seconds"] == after["signal_wait_until"]["seconds"]
    assert atoll.peer(x, right) is not None  # addresses of other PEs are as without statistics
    text = atoll.stats(format="openmetrics")
    assert f'atoll_operation_calls_total{{pe="{me}",operation="take"}} 1' in text, text
    atoll.finalize()
"""


def run(path: Path, *options: str, n: int = 2, **changes: str) -> Done:
    return subprocess.run(
        [launcher(), "run", "-n", str(n), *options, sys.executable, str(path)],
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )


@pytest.mark.parametrize("check", ["none", "args", "all"])
def test_every_call_is_counted(tmp_path: Path, check: str) -> None:
    done = run(write_program(tmp_path, CALLS), "--stats", ATOLL_CHECK=check)
    assert done.returncode == 0, done.stderr
    table = done.stderr.split("operations of all PEs:\n")[1]
    rows = {line.split()[0]: line for line in table.splitlines()}
    assert re.search(r"p +200 +1.6 KiB +.* \(PE [01]\) to .* \(PE [01]\)$", rows["p"]), table
    assert re.search(r"signal_wait_until +2 +.* 100 % ", rows["signal_wait_until"]), table


def test_the_transport_is_counted_too(tmp_path: Path) -> None:
    done = run(
        write_program(tmp_path, CALLS.replace("assert atoll.peer", "#")),
        "--stats",
        ATOLL_TRANSPORT="loopback",
    )
    assert done.returncode == 0, done.stderr


def test_without_statistics_reading_them_fails(tmp_path: Path) -> None:
    code = """
        atoll.init()
        for ask in (atoll.stats, lambda: atoll.stats(format="openmetrics")):
            try:
                ask()
            except atoll.Unsupported as error:
                assert "atoll run --stats" in str(error)
            else:
                sys.exit("stats() succeeded")
    """
    done = run(write_program(tmp_path, code))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_killed_pe_is_in_the_table(tmp_path: Path) -> None:
    code = """
        atoll.init()
        x = atoll.zeros(4)
        if atoll.my_pe() == 1:
            for _ in range(7):
                atoll.put(x, np.ones(4), 0)
            os.kill(os.getpid(), 9)
        atoll.barrier_all()
    """
    done = run(write_program(tmp_path, code), "--stats")
    assert done.returncode == 137
    assert re.search(r"put +7 +224 bytes .*\(PE 1\)", done.stderr), done.stderr


def test_a_job_without_launcher_prints_its_own(tmp_path: Path) -> None:
    done = python("import atoll; atoll.init(); atoll.sync_all(); atoll.finalize()", ATOLL_STATS="1")
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"atoll: operations of all PEs:\n  operation +calls.*\n(.*\n)*  sync +\d ", done.stderr
    ), done.stderr


def test_an_unknown_format_is_refused() -> None:
    code = "import atoll; atoll.stats(format='json')"
    done = python(code)
    assert "InvalidArgument: stats(): format is 'json'; pass 'openmetrics'" in done.stderr, done.stderr
