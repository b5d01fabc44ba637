"""Requests for stacks, which the launcher sends as signals, leave the programs of PEs unharmed."""

from __future__ import annotations

import pytest
from jobs import Job

# The launcher asks by this signal.
BEGIN = """
    import ctypes, signal, threading, time
    from atoll import _atoll
    ASKS = signal.SIGRTMAX - 3
"""


@pytest.mark.parametrize("n", [1, 2])
def test_requests_that_come_at_once_are_answered_in_turn(job: Job, n: int) -> None:
    """A launcher repeats a request that a busy PE has not answered yet."""
    code = """
    atoll.init()
    signal.pthread_sigmask(signal.SIG_BLOCK, [ASKS])
    for _ in range(500):
        os.kill(os.getpid(), ASKS)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [ASKS])
    atoll.barrier_all()
    print("goes on")
    """
    assert job(BEGIN + code, n).stdout == "goes on\n" * n


def test_a_system_call_of_the_program_goes_on_after_a_request(job: Job) -> None:
    """Libraries of the program may take EINTR for an error."""
    code = """
    atoll.init()
    out, into = os.pipe()
    main = threading.main_thread()
    def ask():
        for _ in range(20):
            while open(f"/proc/self/task/{main.native_id}/stat").read().rpartition(")")[2].split()[0] != "S": pass
            signal.pthread_kill(main.ident, ASKS)
            time.sleep(0.01)
        os.write(into, b"x")
    asker = threading.Thread(target=ask)
    asker.start()
    read = ctypes.CDLL(None, use_errno=True).read
    print(read(out, ctypes.create_string_buffer(1), 1), ctypes.get_errno())
    asker.join()
    """
    assert job(BEGIN + code, 1).stdout == "1 0\n"
