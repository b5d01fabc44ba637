"""The calls of mistakes.tsv, made by PE 0, in Python: lines of "CASE CALL PLACE LOCAL COUNT PE" on standard input. Prints "CASE", a
tab, and the class and the text of what the call raised, or "came back"."""

import sys

import atoll
import numpy as np
from numpy.lib.stride_tricks import as_strided

ELEMENTS = 9
atoll.init()
block = atoll.zeros(ELEMENTS, "i8")
freed = atoll.zeros(ELEMENTS, "i8")
word = atoll.signal()
atoll.free(freed)
heap = atoll.info()["heap"]
START = heap["address"] - block.ctypes.data
END = START + heap["limit_bytes"]
ordinary = np.zeros(ELEMENTS, "i8")


def at(distance, count):
    """`count` elements of an array whose .base chain ends at `block`, at any distance from it."""
    forged = as_strided(block, (count,), (8,))
    described = forged.__array_interface__ | {"data": (block.ctypes.data + distance, False)}
    holder = type("Holder", (), {"__array_interface__": described, "base": block})
    return np.asarray(holder())


def place(name, count):
    if name == "past":
        return as_strided(block[4:], (count,), (8,))
    distances = {
        "behind": 8 * ELEMENTS,
        "never": END - 4096,
        "end": END - 32,
        "before": START - 32,
        "beyond": END + 4096,
    }
    if name in distances:
        return at(distances[name], count)
    return {
        "block": block[:count],
        "freed": freed[:count],
        "stack": ordinary[:count],
        "own": ordinary[:count],
    }.get(name)


def call(name, remote, local, pe):
    if name == "put":
        atoll.put(remote, local, pe)
    elif name == "get":
        atoll.get(local, remote, pe)
    elif name == "p":
        atoll.p(remote, 1, pe)
    elif name == "g":
        atoll.g(remote, pe)
    elif name == "iput":
        atoll.iput(remote, local, 1, 1, len(local), pe)
    elif name == "add":
        atoll.atomic_add(remote, 1, pe)
    elif name == "fetch_add":
        atoll.atomic_fetch_add(remote, 1, pe)
    elif name == "signal_set":
        atoll.signal_set(remote.view("u8"), 1, pe)
    elif name == "put_signal":
        atoll.put_signal(remote, local, word, 1, "set", pe)
    elif name in ("wait", "wait_9"):
        atoll.wait_until(remote, "ne" if name == "wait" else 9, 77)
    elif name in ("test", "test_9"):
        atoll.test(remote, "ne" if name == "test" else 9, 77)
    else:
        sys.exit(3)


for line in sys.stdin if atoll.my_pe() == 0 else ():
    case, name, where, local, count, pe = line.split()
    remote = atoll.peer(block, 1) if where == "peer" else place(where, int(count))
    target = {"me": 0, "other": 1, "none": atoll.n_pes(), "negative": -1}[pe]
    try:
        call(name, remote, place(local, int(count)), target)
        print(f"{case}\tcame back", flush=True)
    except (atoll.Error, TypeError, ValueError) as error:
        print(f"{case}\t{type(error).__name__}: {error}", flush=True)
atoll.barrier_all()
