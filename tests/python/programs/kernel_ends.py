"""A kernel waits for a signal that never comes: host (the exception is caught here), cuda (Numba), triton or
cute (the job ends).

With -bound the wait has its own bound, half a second; with -collective-bound and -message-bound, on GPUs, a
collective or message has it. With -pe the kernel names a PE that the team does not have. With -place, on GPUs
with ATOLL_CHECK=all, it puts to an ordinary array.
"""

from __future__ import annotations

import sys
import time

import atoll
import numpy as np

mode, _, kind = sys.argv[1].partition("-")
# Slow work comes before init, since ATOLL_WAIT_TIMEOUT does not bound it.
if mode == "triton":
    import atoll.triton as dev
    import torch

    atoll.init()
    torch.cuda.set_device(atoll.zeros(1, device="cuda").device)

    @dev.kernel
    def late(team, flag):
        dev.signal_wait_until(team, flag, dev.GE, 5, 42)

    @dev.kernel
    def bounded(team, flag):
        dev.signal_wait_until(team, flag, dev.GE, 5, 42, bound_ns=500_000_000)

    @dev.kernel
    def beyond(team, flag):
        dev.put(team, flag, flag, 1, 7)

    @dev.kernel
    def alone(team, flag):
        dev.sync(team, tag=42, bound_ns=500_000_000)

    @dev.kernel
    def unanswered(team, flag, box):
        dev.receive(team, box, 8, flag, 1, 1 - team.my_pe, tag=42, bound_ns=500_000_000)

    @dev.kernel
    def astray(team, flag, ordinary):
        dev.put(team, ordinary, flag, 1, 1 - team.my_pe)

    box = atoll.zeros(dev.mailbox_bytes(2, 8), np.uint8, device="cuda", xp=torch)
    kernel, *more = {
        "pe": (beyond,),
        "bound": (bounded,),
        "collective-bound": (alone,),
        "message-bound": (unanswered, box),
        "place": (astray, torch.zeros(1, dtype=torch.int64, device="cuda")),
    }.get(kind, (late,))
    flag = atoll.zeros(1, np.int64, device="cuda", xp=torch)
    if kernel is alone and atoll.my_pe() == 1:
        atoll.barrier_all()  # until the job ends
    kernel[(1,)](atoll.WORLD.device("device"), flag, *more)
    torch.cuda.synchronize()
elif mode == "cute":
    import atoll.cute as dev
    import cutlass.cute as cute
    import torch
    from cutlass import Int64

    atoll.init()
    torch.cuda.set_device(atoll.zeros(1, device="cuda").device)

    @cute.kernel
    def late(team: dev.Team, flag: cute.Tensor):
        dev.signal_wait_until(team, flag, dev.GE, 5, tag=42)

    @cute.kernel
    def bounded(team: dev.Team, flag: cute.Tensor):
        dev.signal_wait_until(team, flag, dev.GE, 5, tag=42, bound_ns=500_000_000)

    @cute.kernel
    def beyond(team: dev.Team, flag: cute.Tensor):
        dev.put(team, flag, flag, 7)

    @cute.kernel
    def alone(team: dev.Team, flag: cute.Tensor):
        dev.sync(team, tag=42, bound_ns=500_000_000)

    @cute.kernel
    def unanswered(team: dev.Team, flag: cute.Tensor):
        box = dev.Mailbox(Int64(flag.iterator.toint()), Int64(8))
        dev.receive(team, box, flag, 1 - team.my_pe, tag=42, bound_ns=500_000_000)

    @cute.kernel
    def astray(team: dev.Team, flag: cute.Tensor):
        dev.put(team, flag, flag, 1 - team.my_pe)

    kernel = {
        "pe": beyond,
        "bound": bounded,
        "collective-bound": alone,
        "message-bound": unanswered,
        "place": astray,
    }.get(kind, late)

    @cute.jit
    def run(team: dev.Team, flag: cute.Tensor):
        kernel(team, flag).launch(grid=[1, 1, 1], block=[1, 1, 1])

    flag = atoll.zeros(dev.mailbox_bytes(2, 8) // 8, np.int64, device="cuda", xp=torch)
    if kernel is alone and atoll.my_pe() == 1:
        atoll.barrier_all()  # until the job ends
    run(dev.team(atoll.WORLD), dev.tensor(torch.zeros_like(flag) if kind == "place" else flag))
    torch.cuda.synchronize()
else:
    import atoll.numba as dev

    atoll.init()

    @dev.kernel
    def late(team, flag):
        dev.signal_wait_until(team, flag, dev.GE, 5, tag=42)

    @dev.kernel
    def bounded(team, flag):
        dev.signal_wait_until(team, flag, dev.GE, 5, tag=42, bound_ns=500_000_000)

    @dev.kernel
    def beyond(team, flag):
        dev.put(team, flag, flag, 7)

    @dev.kernel
    def astray(team, flag, ordinary):
        dev.put(team, ordinary, flag, 0)

    @dev.kernel
    def alone(team, flag):
        if team.my_pe == 0:
            dev.reduce(team, flag, flag, dev.SUM, tag=42, bound_ns=500_000_000)

    @dev.kernel
    def unanswered(team, flag, box):
        dev.receive(team, box, flag, 1 - team.my_pe, tag=42, bound_ns=500_000_000)

    flag = atoll.zeros(1, np.int64, device="cpu" if mode == "host" else "cuda")
    ended = atoll.zeros(atoll.n_pes(), np.int64) if mode == "host" else None
    more = (dev.mailbox(8, device="cuda"),) if kind == "message-bound" else ()
    if kind == "place":
        from numba import cuda

        cuda.select_device(flag.device)
        more = (cuda.device_array(1, np.int64),)
    kernels = {
        "bound": bounded,
        "pe": beyond,
        "place": astray,
        "collective-bound": alone,
        "message-bound": unanswered,
    }
    try:
        dev.launch(kernels.get(kind, late), 1, 1)(atoll.WORLD, flag, *more)
    except atoll.PeError as error:
        assert "beyond: " in str(error) and "in put for team PE 7; the team has PEs 0 to 1" in str(error), (
            error
        )
        print("refused as it should")
    except atoll.Timeout as error:
        assert all(words in str(error) for words in ("late: ", "found 0, waiting for >= 5", "tag 42")), error
        print("timed out as it should")
        # A PE that left would end the waits of those that compile longer. This is no wait of Atoll, so the
        # bound of half a second or two does not apply.
        for pe in range(atoll.n_pes()):
            atoll.p(ended, 1, pe=pe, index=atoll.my_pe())
        while not ended.all():
            time.sleep(0.01)
    else:
        from numba import cuda

        if kind == "collective-bound" and atoll.my_pe() == 1:
            atoll.barrier_all()  # until the job ends
        cuda.select_device(flag.device)
        cuda.synchronize()
print("left", flush=True)
