"""The errors that a program gets when the GPU stops a kernel.

The simulated GPU has no user's kernels: their report is written here, as a kernel would write it.
"""

import ctypes
import sys
import time

import atoll
from atoll import _atoll

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
x = atoll.zeros(4, device="cuda")
atoll.check_kernels()
at = _atoll._kernel_layout()
watch = ctypes.c_uint64.from_address(atoll.WORLD.device().control + at["watch"]).value


def leave_report(name=b""):
    def word(name, kind, value):
        kind.from_address(watch + at["report"] + at[name]).value = value

    word("report_operation", ctypes.c_int, at["signal_wait_until"])
    word("report_peer", ctypes.c_int, 0)
    word("report_subject", ctypes.c_uint, at["subject word"] | 3 << at["compare_shift"])
    word("report_tag", ctypes.c_int, 42)
    word("report_address", ctypes.c_uint64, 0x1234)
    word("report_expected", ctypes.c_uint64, 5)
    word("report_found", ctypes.c_uint64, 3)
    if name:
        word("report_blocks", ctypes.c_uint, 2)
        word("report_threads", ctypes.c_uint, 32)
        ctypes.memmove(watch + at["name"], name, len(name))
    ctypes.c_uint32.from_address(watch + at["report"]).value = 2


def hear(call):
    try:
        call()
    except atoll.KernelError as error:
        text = str(error)
        assert isinstance(error, RuntimeError)
        for words in (
            "signal_wait_until at 0x1234",
            "found 3, waiting for >= 5",
            "team PE 0",
            "tag 42",
            "context is lost",
        ):
            assert words in text, (words, text)
        return text
    raise AssertionError("no KernelError")


mode = sys.argv[1]
atoll.barrier_all()
if mode == "caught":
    if me == n - 1:
        leave_report()
        assert f"PE {me} timed out" in hear(atoll.check_kernels)
        hear(lambda: atoll.check_kernels(stream=0))
        hear(lambda: atoll.put(x, x, 0, stream=0))
        assert "(The GPU stopped" in hear(lambda: atoll.sum_reduce(x, x, stream=0))
        time.sleep(6)  # this PE has read the report, so the job goes on: arrays of the host work
    y = atoll.zeros(1)
    atoll.put(y, 7.0, (me + 1) % n)
    atoll.barrier_all()
    assert y[0] == 7
    print("PE", me, "done", flush=True)
elif mode == "uncaught":
    if me == n - 1:
        leave_report()
        raise SystemError("another library's error")
    atoll.barrier_all()
elif mode == "named":
    if me == 0:  # a kernel that reports its own name is not mistaken for another one with that grid
        _atoll._note_kernel("another", 2, 32)
        leave_report(b"ring")
        assert "The kernel ring, 2 blocks of 32 threads, was stopped" in hear(atoll.check_kernels)
    atoll.barrier_all()
    print("PE", me, "done", flush=True)
elif mode == "ignored":
    if me == n - 1:
        leave_report()
        time.sleep(60)
    atoll.barrier_all()
