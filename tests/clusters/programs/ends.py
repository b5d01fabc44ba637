"""PEs of several hosts that repeat one operation: `ends.py WHAT VICTIM HOW [ROUNDS]`.

All PEs operate with VICTIM, which is killed or stopped once all have begun (HOW: kill, stop; none: neither).
Without ROUNDS, only that or a failure of a host ends the program. With them, no PE ends before VICTIM was stopped.
"""

import os
import signal
import sys
import threading
import time

import atoll
import numpy as np

what, victim, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
atoll.init()
me = atoll.my_pe()
many = atoll.zeros(1 << 17)  # 1 MiB: in parts
mine = np.ones(many.size)
word = atoll.zeros(1, dtype="int64")
begun = atoll.zeros(1, dtype="int64")
resumed = atoll.zeros(1, dtype="int64")


def put() -> None:
    atoll.put(many, mine, victim)
    atoll.quiet()


DO = {
    "barrier": atoll.barrier_all,
    "reduce": lambda: atoll.sum_reduce(mine[:1000]),
    "put": put,
    "get": lambda: atoll.get(mine, many, victim),
    "fetch": lambda: atoll.atomic_fetch_add(word, 1, victim),
    "wait": lambda: atoll.wait_until(word, "==", 7),
    "compute": lambda: sum(range(10_000)),
}
ALL = ("barrier", "reduce")  # the victim does that too; else it computes


def end() -> None:
    while begun[0] < atoll.n_pes() - 1:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL if how == "kill" else signal.SIGSTOP)


def stop() -> None:
    """Stops between two rounds, while the others are in a round: they continue until it has notified them."""
    end()
    for pe in range(atoll.n_pes()):
        atoll.atomic_set(resumed, 1, pe)


atoll.barrier_all()
if me == victim and how == "kill":
    threading.Thread(target=end, daemon=True).start()
if me != victim:
    atoll.atomic_add(begun, 1, victim)
    print("begun", flush=True)
own = "compute" if me == victim and what not in ALL else what
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 1 << 62
for i in range(rounds):
    if me == victim and how == "stop" and i == rounds // 2:
        stop()
    DO[own]()
while how == "stop" and own not in ALL and not resumed[0]:
    DO[own]()
atoll.barrier_all()
print("right", flush=True)
