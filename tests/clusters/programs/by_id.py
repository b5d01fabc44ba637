"""PEs that meet by a unique id, carried in a file: `by_id.py FILE PE N_PES`."""

import socket
import sys
import time
from pathlib import Path

import atoll
import numpy as np

file, pe, n_pes = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
if pe == 0:
    written = file.with_suffix(".part")
    written.write_text(str(atoll.get_unique_id()))
    written.rename(file)
while not file.exists():
    time.sleep(0.01)
atoll.init(uid=file.read_text(), pe=pe, n_pes=n_pes)
x = atoll.zeros(1, np.int64)
atoll.atomic_add(x, pe + 1, 0)
names = atoll.gather_object(socket.gethostname(), 0)
atoll.barrier_all()
if names is not None:
    right = x[0] == n_pes * (n_pes + 1) // 2
    print(f"{'right' if right else 'WRONG'}: {n_pes} PEs on {len(set(names))} hosts")
atoll.finalize()
