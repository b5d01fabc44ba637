"""A kernel waits for what never comes: host (the exception is caught here), cuda (Numba) or triton (the job ends)."""

from __future__ import annotations

import sys

import atoll
import numpy as np

mode = sys.argv[1]
atoll.init()
if mode == "triton":
    import atoll.triton as dev
    import torch

    torch.cuda.set_device(atoll.zeros(1, device="cuda").device)

    @dev.kernel
    def late(team, flag):
        dev.signal_wait_until(team, flag, dev.GE, 5, 42)

    late[(1,)](atoll.WORLD.device("device"), atoll.zeros(1, np.int64, device="cuda", xp=torch))
    torch.cuda.synchronize()
else:
    import atoll.numba as dev

    @dev.kernel
    def late(team, flag):
        dev.signal_wait_until(team, flag, dev.GE, 5, tag=42)

    flag = atoll.zeros(1, np.int64, device="cpu" if mode == "host" else "cuda")
    try:
        dev.launch(late, 1, 1)(atoll.WORLD, flag)
    except atoll.Timeout as error:
        assert "found 0, waiting for >= 5" in str(error) and "tag 42" in str(error), error
        print("timed out as it should")
    else:
        from numba import cuda

        cuda.select_device(flag.device)
        cuda.synchronize()
print("left", flush=True)
