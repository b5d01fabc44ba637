"""atoll.Pool: PEs that return while the others wait for them or work; values that cannot be sent; time-outs."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import atoll
import pytest
from atoll._pool import task as pool_task
from atoll._pool.job import PoolJob


def test_a_pe_that_returns_while_others_wait_for_it_is_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def work() -> float:
        if atoll.my_pe() == 1:
            return 1.0
        words = atoll.zeros(3)
        return float(words.sum())

    line = work.__code__.co_firstlineno + 3
    with atoll.Pool(3, spare=False) as pool:
        for call in (lambda: pool.run(work), lambda: pool.run(work, timeout=600)):
            with pytest.raises(
                atoll.CollectiveMismatch,
                match=rf"^Pool.run\(work\): PE 1 returned, and a collective call needs all PEs of its team.\n"
                rf"PE 1 is between calls of the pool, and PE (0|2|0,2) waits? for it in zeros at test_pool_returns.py:{line} \(its allocate\)",
            ):
                call()
            assert pool.run(atoll.my_pe) == [0, 1, 2]
    assert "between calls" not in capsys.readouterr().err


def test_a_pe_that_returns_early_leaves_the_others_their_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """PEs that work, or wait for a word, are checked again and again, and go on."""
    monkeypatch.setattr(pool_task, "CHECK_SECONDS", 0.01)
    causes: list[str] = []
    cause = PoolJob._cause
    monkeypatch.setattr(PoolJob, "_cause", lambda self: (causes.append(cause(self)), causes[-1])[1])

    def make() -> None:
        global word
        word = atoll.zeros(1, int)

    def work(go: str) -> int:
        if atoll.my_pe() == 0:
            atoll.wait_until(word, "==", 1)
            while not Path(go).exists():
                time.sleep(0.01)
        return atoll.my_pe()

    def set_word(go: str) -> None:
        atoll.put(word, 1, 0)

    with atoll.Pool(2, spare=False) as pool, ThreadPoolExecutor(1) as callers:
        pool.run(make)
        go = tmp_path / "go"
        late = callers.submit(pool.run, work, str(go))
        while not any("between calls of the pool, and PE 0 waits in wait_until" in one for one in causes):
            assert not late.done()
        pool.submit(set_word, str(go)).result()
        causes.clear()
        while len(causes) < 2:
            assert not late.done()
        go.touch()
        assert late.result(60) == [0, 1]


def test_arguments_and_results_that_cannot_be_sent_are_named() -> None:
    with atoll.Pool(1, spare=False) as pool:
        lock = threading.Lock()
        with pytest.raises(
            TypeError, match=r"Pool\.submit\(print\): argument 2, 'lock', cannot be sent to a PE: "
        ):
            pool.submit(print, 1, lock)
        with pytest.raises(
            TypeError, match=r"Pool\.run\(print\): argument end=, 'lock', cannot be sent to a PE: "
        ):
            pool.run(print, end=lock)
        with pytest.raises(TypeError, match="the result of PE 0, 'lock', cannot be sent to the pool: "):
            pool.run(threading.Lock)


def test_a_time_out_of_a_future_tells_that_the_call_goes_on() -> None:
    with atoll.Pool(1, spare=False) as pool:
        waits = pool.submit(_wait_for_ever)
        with pytest.raises(
            TimeoutError, match=r"No result within 0\.1 seconds\. The call goes on; Pool\.interrupt\(\)"
        ):
            waits.result(0.1)
        pool.interrupt()
        with pytest.raises(KeyboardInterrupt):
            waits.result()


def _wait_for_ever() -> None:
    threading.Event().wait()
