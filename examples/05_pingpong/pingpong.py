"""Ping-pong: the time of a word from one PE to another, half of a round trip between PE 0 and PE 1."""

import sys
import time

import atoll

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
ball = atoll.signal()  # one symmetric word, zero

start = time.perf_counter()
if n > 1 and me < 2:
    for i in range(1, rounds + 1):
        if me == 0:
            atoll.signal_set(ball, i, 1)
        atoll.signal_wait_until(ball, "==", i)
        if me == 1:
            atoll.signal_set(ball, i, 0)
passed = time.perf_counter() - start
atoll.barrier_all()

if n == 1:
    print(f"This example needs two PEs; try: atoll run -n 2 {sys.argv[0]}")
elif me == 0:
    print(f"one way: {passed / (2 * rounds) * 1e9:.0f} ns, the mean of {rounds} rounds")
right = n == 1 or me > 1 or ball[0] == rounds
atoll.finalize()
sys.exit(0 if right else 1)
