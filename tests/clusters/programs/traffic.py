"""Every PE puts to, adds to and reduces with all PEs. The first PE of each host then prints that host's TCP connections."""

import socket
from pathlib import Path

import atoll
import numpy as np


def place(text: str) -> str:
    """Parses an address of /proc/net/tcp, whose words are in the machine's byte order."""
    address, port = text.split(":")
    words = [bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8)]
    return f"{socket.inet_ntoa(words[-1])}:{int(port, 16)}"  # IPv4 addresses mapped into IPv6 only


def connections() -> list[str]:
    established = "01"
    tables = (Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
    lines = [line.split() for table in tables for line in table.splitlines()]
    return [f"{place(words[1])} {place(words[2])}" for words in lines if words[3] == established]


atoll.init()
me, n_pes = atoll.my_pe(), atoll.n_pes()
x = atoll.zeros(n_pes, np.int64)
count = atoll.zeros(1, np.int64)
for pe in range(n_pes):
    atoll.put(x[me : me + 1], np.array([me + 1]), pe)
    atoll.atomic_add(count, 1, pe)
atoll.barrier_all()
assert list(x) == list(range(1, n_pes + 1)) and count[0] == n_pes
assert atoll.sum_reduce(np.ones(100_000))[0] == n_pes
atoll.barrier_all()
for line in connections() if atoll.SHARED.my_pe() == 0 else []:
    print(f"{socket.gethostname()} {line}", flush=True)
atoll.barrier_all()
atoll.finalize()
