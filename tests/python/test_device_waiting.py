"""Calls on arrays of a GPU that block the host: other threads run meanwhile, and errors end them. The GPU is
simulated.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import Job, interrupted
from simulated import needs_plugin

pytestmark = needs_plugin


def test_ctrl_c_ends_a_receive(tmp_path: Path, package: str) -> None:
    """It raises KeyboardInterrupt, and the message can be received afterwards."""
    done = interrupted(
        tmp_path,
        """
        box = atoll.Mailbox(64, device="cuda")
        x, y = atoll.full(3, 7.0, device="cuda"), atoll.zeros(8, device="cuda")
        """,
        "(lambda: box.receive(y, 0, None), lambda: box.receive(y, 0, 1000))",
        """
        box.post(x, 0)
        print("then", box.receive(y, 0), y.numpy()[:4], flush=True)
        """,
        PYTHONPATH=package,
    )
    assert done.stdout == "interrupted\ninterrupted\nthen 3 [7. 7. 7. 0.]\n" and done.returncode == 0, done


@pytest.mark.parametrize(
    ("wait", "theirs", "before"),
    [
        # Its earlier post is still received.
        ("receive", "box.post(x, 0)", "assert box.receive(y, 1) == 3"),
        # A post does not need the receiver while the mailbox has room.
        ("post", "", "for _ in range(8): box.post(x, 1)"),
    ],
)
def test_the_end_of_the_other_pe_ends_a_wait(
    job: Job, package: str, wait: str, theirs: str, before: str
) -> None:
    done = job(
        f"""
        atoll.init()
        box = atoll.Mailbox(64, device="cuda")
        x, y = atoll.full(3, 7.0, device="cuda"), atoll.zeros(8, device="cuda")
        if atoll.my_pe() == 1:
            {theirs}
            sys.exit(0)
        if atoll.my_pe() == 0:
            {before}
            try:
                {"box.receive(y, 1)" if wait == "receive" else "box.post(x, 1)"}
            except atoll.PeDied as error:
                print("said", error, flush=True)
        """,
        3,
        ok=False,
        PYTHONPATH=package,
    )
    said = f"said PE 1 left the job without finalize, so this cannot end: mailbox {wait}"
    assert said in done.stdout, done


def test_ctrl_c_ends_a_post(tmp_path: Path, package: str) -> None:
    """It raises KeyboardInterrupt, has posted nothing, and can be made again once there is room."""
    done = interrupted(
        tmp_path,
        """
        box = atoll.Mailbox(64, device="cuda")
        x, y = atoll.full(3, 7.0, device="cuda"), atoll.zeros(8, device="cuda")
        for _ in range(8):
            box.post(x[:1], 0)
        """,
        "(lambda: box.post(x, 0, None), lambda: box.post(x, 0, 1000))",
        """
        for _ in range(8):
            assert box.receive(y, 0) == 1
        assert box.try_receive(y, 0) is None
        box.post(x, 0)
        print("then", box.receive(y, 0), y.numpy()[:4], flush=True)
        """,
        PYTHONPATH=package,
    )
    assert done.stdout == "interrupted\ninterrupted\nthen 3 [7. 7. 7. 0.]\n" and done.returncode == 0, done


def test_other_threads_run_while_a_post_finds_no_room(job: Job, package: str) -> None:
    """Another thread frees the memory."""
    done = job(
        """
        import threading, time
        atoll.init()
        box = atoll.Mailbox(64, device="cuda")
        x, y = atoll.full(3, 7.0, device="cuda"), atoll.zeros(8, device="cuda")
        for _ in range(8):
            box.post(x[:1], 0)
        started = threading.Event()
        def read():
            started.wait()
            time.sleep(0.2)  # the post below finds no room, most likely
            for _ in range(8):
                assert box.receive(y, 0) == 1
        reader = threading.Thread(target=read)
        reader.start()
        started.set()
        box.post(x, 0)
        reader.join()
        print(box.receive(y, 0))
        """,
        1,
        timeout=60,
        PYTHONPATH=package,
    )
    assert done.stdout == "3\n"


@pytest.mark.parametrize("reach", ["window", ""])
def test_other_threads_run_while_single_elements_are_moved(
    job: Job, package: str, tmp_path: Path, reach: str
) -> None:
    """This holds for any number of elements. Another thread ends the work that keeps the GPU busy."""
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
