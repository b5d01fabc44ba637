"""An all-reduce of your own in Triton, two ways: atoll run -n 2 allreduce.py [elements]. Needs GPUs, PyTorch and Triton.

One shot: every PE loads everybody's array and adds. Two shots: every PE adds its slice and stores it to all. Programs of a
grid meet their namesakes on the other PEs by signals of their own, so that no program waits for the whole grid.
"""

import sys

import atoll
import numpy as np

try:
    import atoll.triton as dev
    import torch
    import triton
    import triton.language as tl
except ImportError as error:
    sys.exit(f"allreduce.py: {error}")
if not torch.cuda.is_available():
    sys.exit("allreduce.py needs a GPU: Triton compiles for nothing else here")

arguments = [word for word in sys.argv[1:] if word.isdigit()]
elements = int(arguments[0]) if arguments else 100_000
BLOCK = 1024


@dev.kernel
def one_shot(team, out, x, signals, step, n, BLOCK: tl.constexpr):
    mine = signals + tl.program_id(0) * team.n_pes
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for pe in range(team.n_pes):
        dev.signal_set(team, mine + team.my_pe, step, pe)
    total = tl.zeros((BLOCK,), tl.float32)
    for pe in range(team.n_pes):  # in this order on all PEs: the same bits
        dev.signal_wait_until(team, mine + pe, dev.GE, step)
        total += dev.g(team, x + tl.where(at < n, at, 0), pe)
    tl.store(out + at, total, mask=at < n)


@dev.kernel
def two_shot(team, out, x, signals, step, n, BLOCK: tl.constexpr):
    programs = tl.num_programs(0)
    mine = signals + tl.program_id(0) * team.n_pes
    done = signals + (programs + tl.program_id(0)) * team.n_pes
    for pe in range(team.n_pes):
        dev.signal_set(team, mine + team.my_pe, step, pe)
    for pe in range(team.n_pes):
        dev.signal_wait_until(team, mine + pe, dev.GE, step)
    part = tl.cdiv(n, team.n_pes)
    end = tl.minimum((team.my_pe + 1) * part, n)
    at = team.my_pe * part + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for pe in range(team.n_pes):
        total += dev.g(team, x + tl.where(at < end, at, 0), pe)
    for pe in range(team.n_pes):
        tl.store(dev.ptr(team, out + at, pe), total, mask=at < end)
    for pe in range(team.n_pes):
        dev.signal_set(team, done + team.my_pe, step, pe)
    for pe in range(team.n_pes):
        dev.signal_wait_until(team, done + pe, dev.GE, step)


atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
# Two inputs take turns: who is one call ahead does not overwrite what others still load.
x = atoll.zeros((2, elements), np.float32, device="cuda", xp=torch)
out = atoll.zeros(elements, np.float32, device="cuda", xp=torch)
torch.cuda.set_device(x.device)
team = atoll.WORLD.device("device")
for kernel, programs in (
    (one_shot, triton.cdiv(elements, BLOCK)),
    (two_shot, triton.cdiv(triton.cdiv(elements, n), BLOCK)),
):
    signals = atoll.zeros(2 * programs * n, np.int64, device="cuda", xp=torch)
    for step in range(1, 6):
        x[step % 2] = torch.arange(elements, device=x.device) % 1000 + me * step
        kernel[(programs,)](team, out, x[step % 2], signals, step, elements, BLOCK=BLOCK)
        expected = n * (np.arange(elements) % 1000) + step * n * (n - 1) / 2
        assert np.array_equal(out.cpu().numpy(), expected.astype(np.float32)), (kernel, step)
    atoll.barrier_all()
if me == 0:
    print(f"{n} PEs: sums of {elements} floats, one shot and two shots, five times each, are right")
atoll.finalize()
