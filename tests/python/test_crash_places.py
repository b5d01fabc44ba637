"""Crashes and errors within callbacks: the launcher's line names the line of the callback."""

from __future__ import annotations

import re
import textwrap

import pytest
from hanging import Start
from jobs import Job

BEGIN = """
atoll.init(); me = atoll.my_pe()
import atexit, ctypes, gc, signal, threading
def crash():
    ctypes.string_at(0)
"""

# Programs after BEGIN in which PE 1 crashes in a callback, at the only line with "if me == 1".
CRASHES = {
    "a callback of ctypes": """
        CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        def compare(a, b):
            return ctypes.string_at(0)[0] if me == 1 else 0
        ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, CALL(compare))
        """,
    "a function of numpy.vectorize": """
        def each(number):
            return os.kill(os.getpid(), signal.SIGSEGV) if me == 1 else number
        np.vectorize(each, otypes=[object])(np.arange(3))
        """,
    "an atexit function": """
        def at_end():
            if me == 1: ctypes.string_at(0)
        atexit.register(at_end)
        """,
    "a thread": """
        def work():
            if me == 1: ctypes.string_at(0)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """,
    "an abort": """
        def handle(*_):
            if me == 1: os.abort()
        signal.signal(signal.SIGUSR1, handle)
        os.kill(os.getpid(), signal.SIGUSR1)
        """,
}


@pytest.mark.parametrize("name", CRASHES)
def test_the_line_of_a_crash_is_named(job: Job, name: str) -> None:
    code = BEGIN + textwrap.dedent(CRASHES[name]) + "\natoll.barrier_all()\n"
    line = next(i for i, text in enumerate(code.splitlines(), 2) if "if me == 1" in text)
    done = job(code, 3, ok=False)
    assert done.returncode > 128
    assert re.search(
        rf"^atoll run: PE 1 was killed by SIG\w+ \(.*\) at program.py:{line}, ", done.stderr, re.M
    ), done.stderr


IGNORED = {
    "a destructor": """
        class Part:
            def __del__(self):
                if me == 1: raise ValueError("closed")
                atoll.signal_add(s, 1, 0)
        Part()
        """,
    "a thread": """
        def work():
            if me == 1: raise ValueError("closed")
            atoll.signal_add(s, 1, 0)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """,
    "a callback of ctypes": """
        @ctypes.CFUNCTYPE(None)
        def call():
            if me == 1: raise ValueError("closed")
            atoll.signal_add(s, 1, 0)
        call()
        """,
}


@pytest.mark.parametrize("name", IGNORED)
def test_an_error_that_python_ignores_is_named_first(hanging: Start, name: str) -> None:
    code = "\nprint('ready', file=sys.stderr)" + BEGIN + "s = atoll.signal()" + textwrap.dedent(IGNORED[name])
    line = next(i for i, text in enumerate(code.splitlines(), 2) if "if me == 1" in text)
    code += "\nif me == 0: atoll.signal_wait_until(s, '>=', 3)\natoll.barrier_all()\n"
    hanging(code, 3).asked_until(
        rf"PE 1 went on after an exception in a callback or thread \(ValueError at program.py:{line}\), "
        r"which Python ignored; PE 1 has not signalled .*; PE 0 waits in signal_wait_until .*found 2, waiting for >= 3"
    )
