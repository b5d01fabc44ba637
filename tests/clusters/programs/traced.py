"""Rounds of signals and barriers, for a trace. Then PE `victim` does nothing, or it ends, waits or prints."""

import os
import signal
import sys
import time

import atoll
import numpy as np

what = sys.argv[1] if len(sys.argv) > 1 else "nothing"
victim = int(sys.argv[2]) if len(sys.argv) > 2 else -1

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
x = atoll.zeros(1 << 10)
s = atoll.zeros(1, dtype="uint64")
for i in range(10):
    with atoll.trace("step"):
        atoll.put_signal(x, np.ones(1 << 10), s, i + 1, pe=(me + 1) % n)
        atoll.signal_wait_until(s, ">=", i + 1)
    atoll.barrier_all()
if me == victim:
    for _ in range(7):
        atoll.put(x[:4], np.ones(4), 0)
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "kill-agent":
        os.kill(os.getppid(), signal.SIGKILL)
    if what in ("wait", "say"):
        print("ready", flush=True)
    if what != "say":
        time.sleep(600)
atoll.barrier_all()
atoll.finalize()
