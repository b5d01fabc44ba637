"""Calls on arrays of a GPU that block the host: what runs meanwhile, and what ends them. The GPU is made of memory of
the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import Job
from simulated import needs_plugin

pytestmark = needs_plugin


@pytest.mark.parametrize("reach", ["window", ""])
def test_other_threads_run_while_single_elements_are_moved(
    job: Job, package: str, tmp_path: Path, reach: str
) -> None:
    """However few: one of them ends what the GPU is busy with."""
    hold = tmp_path / "hold"
    done = job(
        f"""
        import pathlib, threading
        atoll.init()
        hold, waited = pathlib.Path({str(hold)!r}), pathlib.Path({str(hold)!r} + ".waited")
        x = atoll.zeros(4, device="cuda")
        def let_go():
            while not waited.exists():
                pass
            waited.unlink()
            hold.unlink()
        for call in (lambda: atoll.put_at(x, 0, 2.0, 0), lambda: atoll.add_at(x, [0, 1], [3.0, 4.0], 0), lambda: atoll.take(x, [1, 0], 0)):
            hold.touch()
            thread = threading.Thread(target=let_go)
            thread.start()
            found = call()
            thread.join()
        print(found)
        """,
        1,
        timeout=60,
        PYTHONPATH=package,
        ATOLL_SIMULATED_HOLD=str(hold),
        **({"ATOLL_SIMULATED_REACH": reach} if reach else {}),
    )
    assert done.stdout == "[4. 5.]\n"
