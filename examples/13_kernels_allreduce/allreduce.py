"""An all-reduce of your own in Triton, in two ways: atoll run -n 2 allreduce.py [elements] [times]
[picture.png].

Needs GPUs, PyTorch and Triton. Without a GPU, by Triton's interpreter: TRITON_INTERPRET=1 atoll run -n 2
allreduce.py; Triton, and NumPy before 2.4.

One shot: every PE loads all PEs' arrays and adds them. Two shots: every PE adds its slice and stores it to
all. Each program of a grid synchronises with the same program on the other PEs by its own signals. So none
waits for the whole grid.
"""

import json
import os
import sys

import atoll
import numpy as np

interpreted = os.environ.get("TRITON_INTERPRET") == "1"
try:
    import atoll.triton as dev
    import triton
    import triton.language as tl

    if not interpreted:
        import torch
except ImportError as error:
    sys.exit(f"allreduce.py: {error}" + ("" if interpreted else "; PyTorch: pip install torch"))
if not interpreted and not torch.cuda.is_available():
    sys.exit(
        "allreduce.py needs a GPU: Triton compiles for nothing else here; TRITON_INTERPRET=1 runs it on CPUs"
    )
if interpreted and "times" in sys.argv:
    sys.exit("allreduce.py: an interpreted kernel is not worth measuring; leave out times")

arguments = [word for word in sys.argv[1:] if word.isdigit()]
elements = int(arguments[0]) if arguments else 5_000 if interpreted else 100_000
BLOCK = 1024


@dev.kernel
def one_shot(team, out, x, signals, n, BLOCK: tl.constexpr):
    mine = signals + tl.program_id(0) * team.n_pes
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for pe in range(team.n_pes):
        dev.signal_add(team, mine + team.my_pe, 1, pe)
    total = tl.zeros((BLOCK,), tl.float32)
    for pe in range(team.n_pes):  # in this order on all PEs: the same bits
        dev.signal_consume(team, mine + pe, 1)
        total += dev.g(team, x + tl.where(at < n, at, 0), pe)
    tl.store(out + at, total, mask=at < n)


@dev.kernel
def two_shot(team, out, x, signals, n, BLOCK: tl.constexpr):
    programs = tl.num_programs(0)
    mine = signals + tl.program_id(0) * team.n_pes
    done = signals + (programs + tl.program_id(0)) * team.n_pes
    for pe in range(team.n_pes):
        dev.signal_add(team, mine + team.my_pe, 1, pe)
    for pe in range(team.n_pes):
        dev.signal_consume(team, mine + pe, 1)
    part = tl.cdiv(n, team.n_pes)
    end = tl.minimum((team.my_pe + 1) * part, n)
    at = team.my_pe * part + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for pe in range(team.n_pes):
        total += dev.g(team, x + tl.where(at < end, at, 0), pe)
    for pe in range(team.n_pes):
        tl.store(dev.ptr(team, out + at, pe), total, mask=at < end)
    for pe in range(team.n_pes):
        dev.signal_add(team, done + team.my_pe, 1, pe)
    for pe in range(team.n_pes):
        dev.signal_consume(team, done + pe, 1)


def times():
    """Print rows of JSON: the time of a call in a CUDA graph of 20, from 4 KiB to 16 MiB.

    One input x is enough, since it is not written.
    """
    rows = []
    for count in (1 << k for k in range(10, 23, 2)):
        x = atoll.zeros(count, np.float32, device="cuda", xp=torch)
        out = atoll.zeros(count, np.float32, device="cuda", xp=torch)
        for kernel, programs in (
            (one_shot, triton.cdiv(count, BLOCK)),
            (two_shot, triton.cdiv(triton.cdiv(count, n), BLOCK)),
        ):
            if programs > 2048:  # programs beyond those that run at once would wait forever
                continue
            signals = atoll.zeros(2 * programs * n, np.int64, device="cuda", xp=torch)
            kernel[(programs,)](team, out, x, signals, count, BLOCK=BLOCK)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(20):
                    kernel[(programs,)](team, out, x, signals, count, BLOCK=BLOCK)
            spans = []
            for _ in range(15):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                torch.cuda.synchronize()
                atoll.barrier_all()
                begin.record()
                graph.replay()
                end.record()
                spans.append((begin, end))
            torch.cuda.synchronize()
            mine = sorted(1e3 * begin.elapsed_time(end) / 20 for begin, end in spans[3:])[6]
            us = round(float(atoll.max_reduce(mine)), 2)
            rows.append({"side": kernel.__name__, "bytes": 4 * count, "pes": n, "median_us": us})
            atoll.free(signals)
        atoll.free(x)
        atoll.free(out)
    return rows


def draw(file, rows):
    try:
        import matplotlib
    except ImportError:
        sys.exit("allreduce.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    for side in ("one_shot", "two_shot"):
        chosen = [row for row in rows if row["side"] == side]
        ax.loglog(
            [row["bytes"] for row in chosen],
            [row["median_us"] for row in chosen],
            "o-",
            label=side.replace("_", " "),
        )
    ax.set(xlabel="bytes", ylabel="µs a call", title=f"all-reduce in Triton, {n} GPUs")
    ax.grid(alpha=0.3)
    ax.legend()
    figure.savefig(file, dpi=90)
    print(f"picture: {file}")


def zeros(shape, dtype):
    return atoll.zeros(shape, dtype) if interpreted else atoll.zeros(shape, dtype, device="cuda", xp=torch)


def integers(number):
    return np.arange(number) if interpreted else torch.arange(number, device=x.device)


atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
# Two inputs alternate, so that a PE one call ahead does not overwrite data that others still load.
x, out = zeros((2, elements), np.float32), zeros(elements, np.float32)
team = atoll.WORLD.device("host" if interpreted else "device")
for kernel, programs in (
    (one_shot, triton.cdiv(elements, BLOCK)),
    (two_shot, triton.cdiv(triton.cdiv(elements, n), BLOCK)),
):
    signals = zeros(2 * programs * n, np.int64)
    for step in range(1, 6):
        x[step % 2] = integers(elements) % 1000 + me * step
        kernel[(programs,)](team, out, x[step % 2], signals, elements, BLOCK=BLOCK)
        expected = n * (np.arange(elements) % 1000) + step * n * (n - 1) / 2
        found = out if interpreted else out.cpu().numpy()
        assert np.array_equal(found, expected.astype(np.float32)), (kernel, step)
    atoll.barrier_all()
if "times" in sys.argv:
    rows = times()
    for row in rows if me == 0 else []:
        print(json.dumps(row))
    file = next((word for word in sys.argv if word.endswith(".png")), None)
    if me == 0 and file:
        draw(file, rows)
if me == 0:
    print(
        f"{'interpreted, ' * interpreted}{n} PEs: sums of {elements} floats, one shot and two shots, five times each, are right"
    )
atoll.finalize()
