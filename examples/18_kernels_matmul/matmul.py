"""Matrix products with the communication inside, in Triton: atoll run -n 2 matmul.py [size] [times]
[picture.png].

Needs GPUs, PyTorch and Triton. They are two layers of a network that is split over GPUs. In the all-reduce,
each PE multiplies its part of the inner dimension, and all PEs need all sums. In the all-gather, each PE has
some rows of the first matrix, and needs all. Both kernels send a tile as soon as it is complete, while others
are multiplied. `times` compares with PyTorch's two calls, one after the other. Without a GPU, by Triton's
interpreter: TRITON_INTERPRET=1 atoll run -n 2 matmul.py; Triton, and NumPy before 2.4.
"""

import functools
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
    sys.exit(f"matmul.py: {error}" + ("" if interpreted else "; PyTorch: pip install torch"))
if not interpreted and not torch.cuda.is_available():
    sys.exit(
        "matmul.py needs a GPU: Triton compiles for nothing else here; TRITON_INTERPRET=1 runs it on CPUs"
    )
if interpreted and "times" in sys.argv:
    sys.exit("matmul.py: an interpreted kernel is not worth measuring; leave out times")


@triton.jit
def tile_of(number, m_tiles, n_tiles, GROUP: tl.constexpr):
    """Return row and column of a tile, so that tiles computed at the same time share the data that they read."""
    in_group = GROUP * n_tiles
    first = number // in_group * GROUP
    tall = tl.minimum(m_tiles - first, GROUP)
    return first + number % in_group % tall, number % in_group // tall


@triton.jit
def multiply(a, b, row, column, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Return one tile of a @ b, in float32. a is (M, K), b is (K, N), both contiguous; tiles divide them."""
    m = row * BM + tl.arange(0, BM).to(tl.int64)
    n = column * BN + tl.arange(0, BN).to(tl.int64)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    left = a + m[:, None] * K + k[None, :]
    right = b + k[:, None] * N + n[None, :]
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += BK
        right += BK * N
    return total


@dev.kernel
def matmul_all_reduce(
    team, a, b, c, parts, arrived, done, step, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Set c to the sum of all PEs' a @ b. PE t % n_pes sums tile t; the others send it theirs (parts,
    arrived).
    """
    n_tiles, tiles = N // BN, (M // BM) * (N // BN)
    each = tl.cdiv(tiles, team.n_pes)  # tiles that a PE sums
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    for j in range(tl.program_id(0), each * team.n_pes, tl.num_programs(0)):
        owner = (team.my_pe + 1 + j // each) % team.n_pes  # this PE's own tiles come last
        i = j % each
        tile = i * team.n_pes + owner
        if tile < tiles:
            row, column = tile_of(tile, M // BM, n_tiles, GROUP)
            total = multiply(a, b, row, column, M, N, K, BM, BN, BK)
            if owner != team.my_pe:
                place = parts + (team.my_pe * each + i).to(tl.int64) * (BM * BN)
                tl.store(dev.ptr(team, place, owner) + at, total.to(c.dtype.element_ty))
                dev.signal_add(team, arrived + i, 1, owner)
            else:
                dev.signal_wait_until(team, arrived + i, dev.GE, step * (team.n_pes - 1))
                for turn in range(1, team.n_pes):
                    other = (team.my_pe + turn) % team.n_pes
                    place = parts + (other * each + i).to(tl.int64) * (BM * BN)
                    total += dev.g(team, place + at, team.my_pe).to(tl.float32)
                m = row * BM + tl.arange(0, BM).to(tl.int64)
                n = column * BN + tl.arange(0, BN).to(tl.int64)
                for pe in range(team.n_pes):
                    there = dev.ptr(team, c, pe) + m[:, None] * N + n[None, :]
                    tl.store(there, total.to(c.dtype.element_ty))
    # Before this kernel ends, all sums have arrived here, and all PEs have read what this PE sent.
    for pe in range(team.n_pes):
        dev.signal_add(team, done + tl.program_id(0), 1, pe)
    dev.signal_wait_until(team, done + tl.program_id(0), dev.GE, step * team.n_pes)


@dev.kernel
def all_gather_matmul(
    team, shard, b, whole, c, arrived, next_tile, done, step, senders, rows, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Set c to whole @ b. whole is all PEs' `shard` (rows, K), one below the other; the first programs send
    this PE's rows.
    """
    bands, n_tiles = rows // BM, N // BN
    program = tl.program_id(0)
    if program < senders:
        for band in range(
            program, bands, senders
        ):  # BM rows at a time, in the order in which they are needed
            start = tl.cast(band * BM, tl.int64) * K
            for turn in range(1, team.n_pes):
                pe = (team.my_pe - turn + team.n_pes) % team.n_pes
                mine = whole + (team.my_pe * rows).to(tl.int64) * K + start
                dev.put_nbi(team, mine, shard + start, BM * K, pe, 16384)
                dev.signal_set(team, arrived + team.my_pe * bands + band, step, pe)
    tiles = bands * n_tiles * team.n_pes
    number = tl.atomic_add(next_tile, 1)
    while number < tiles:  # own rows first, then those of the PEs after this one
        owner = (team.my_pe + number // (bands * n_tiles)) % team.n_pes
        row, column = tile_of(number % (bands * n_tiles), bands, n_tiles, GROUP)
        source = shard
        if owner != team.my_pe:
            dev.signal_wait_until(team, arrived + owner * bands + row, dev.GE, step)
            source = whole + (owner * rows).to(tl.int64) * K
        total = multiply(source, b, row, column, rows, N, K, BM, BN, BK)
        m = owner * rows + row * BM + tl.arange(0, BM).to(tl.int64)
        n = column * BN + tl.arange(0, BN).to(tl.int64)
        tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty))
        number = tl.atomic_add(next_tile, 1)
    # All PEs have read what was sent, so that the next call may send again.
    for pe in range(team.n_pes):
        dev.signal_add(team, done + program, 1, pe)
    dev.signal_wait_until(team, done + program, dev.GE, step * team.n_pes)


# The interpreter runs programs one after another, so there is one: two would wait for the next program of the
# other PE.
TILE = {"BM": 128, "BN": 256, "BK": 64, "GROUP": 8, "num_warps": 8, "num_stages": 3}
if interpreted:
    TILE = {"BM": 16, "BN": 32, "BK": 16, "GROUP": 4}
SENDERS = 1 if interpreted else 16


def zeros(*shape, dtype=None):
    if interpreted:
        return atoll.zeros(shape, dtype or "float32")
    return atoll.zeros(shape, dtype or torch.bfloat16, device="cuda", xp=torch)


def random(rows, columns, scale=1.0):
    if interpreted:
        return (generator.standard_normal((rows, columns)) * scale).astype(np.float32)
    return (torch.randn(rows, columns, device="cuda") * scale).to(torch.bfloat16)


def most_programs():
    return 1 if interpreted else torch.cuda.get_device_properties().multi_processor_count


def exact(x):
    """Convert x for comparison: to float64, on GPUs to float32."""
    return x.astype(np.float64) if interpreted else x.float()


def norm(x):
    return float(np.linalg.norm(x) if interpreted else x.norm())


class Reduced:
    """all-reduce(a @ b), M x N x K with K split over the PEs."""

    def __init__(self, size):
        self.a, self.b = random(size, size // n), random(size // n, size, size**-0.5)
        self.c = zeros(size, size)
        self.programs = most_programs()
        tiles = (size // TILE["BM"]) * (size // TILE["BN"])
        self.parts = zeros(n * -(-tiles // n), TILE["BM"] * TILE["BN"])
        self.arrived, self.done = zeros(tiles, dtype="int64"), zeros(self.programs, dtype="int64")
        self.step, self.size = 0, size

    def ours(self):
        self.step += 1
        arguments = team, self.a, self.b, self.c, self.parts, self.arrived, self.done, self.step
        matmul_all_reduce[(self.programs,)](*arguments, self.size, self.size, self.size // n, **TILE)
        return self.c

    def theirs(self):
        c = self.a @ self.b
        torch.distributed.all_reduce(c)
        return c

    def expected(self):
        sums = zeros(self.size, self.size, dtype="float32")
        sums[...] = exact(self.a) @ exact(self.b)
        atoll.sum_reduce(sums, sums)
        return sums

    symmetric = "c", "parts", "arrived", "done"


class Gathered:
    """all-gather(a) @ b, M x N x K with M and N split over the PEs, as in such layers."""

    def __init__(self, size):
        self.shard, self.b = random(size // n, size), random(size, size // n, size**-0.5)
        self.whole = zeros(size, size)
        self.c = random(size, size // n)
        self.programs = most_programs()
        self.arrived = zeros(size // TILE["BM"], dtype="int64")
        self.done = zeros(self.programs, dtype="int64")
        self.next_tile = zeros(1, dtype="int32")
        self.step, self.size = 0, size

    def ours(self):
        self.step += 1
        self.next_tile[...] = 0
        arguments = (
            team,
            self.shard,
            self.b,
            self.whole,
            self.c,
            self.arrived,
            self.next_tile,
            self.done,
            self.step,
        )
        sizes = self.size // n, self.size // n, self.size
        all_gather_matmul[(self.programs,)](*arguments, SENDERS, *sizes, **TILE)
        return self.c

    def theirs(self):
        gathered = self.gathered
        torch.distributed.all_gather_into_tensor(gathered, self.shard)
        return gathered @ self.b

    @functools.cached_property
    def gathered(self):
        return torch.empty_like(self.whole)

    def expected(self):
        rows = zeros(self.size // n, self.size)
        everything = zeros(self.size, self.size)
        rows[...] = self.shard
        atoll.fcollect(everything, rows)
        return exact(everything) @ exact(self.b)

    symmetric = "whole", "arrived", "done", "next_tile"


def is_right(layer):
    for _ in range(3):  # one call leaves the state that the next one needs
        found = layer.ours()
    expected = layer.expected()
    error = norm(exact(found) - expected) / norm(expected)
    assert error < 1e-2, f"{type(layer).__name__}, {layer.size}: error {error}"
    return error


def median_us(call, repeats=30):
    spans = []
    for i in range(repeats + 5):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        if i % 5 == 0:
            torch.cuda.synchronize()
            atoll.barrier_all()
        begin.record()
        call()
        end.record()
        spans.append((begin, end))
    torch.cuda.synchronize()
    mine = sorted(1e3 * begin.elapsed_time(end) for begin, end in spans[5:])[repeats // 2]
    return float(atoll.max_reduce(mine))


def draw(file, rows, n):
    try:
        import matplotlib
    except ImportError:
        sys.exit("matmul.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, sides = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for ax, name in zip(sides, ("matmul + all-reduce", "all-gather + matmul"), strict=True):
        for side, label in (("torch", "PyTorch and NCCL, two calls"), ("atoll", "one Triton kernel")):
            chosen = [row for row in rows if row["op"] == name and row["side"] == side]
            ax.loglog(
                [row["size"] for row in chosen],
                [row["median_us"] for row in chosen],
                "o-",
                base=2,
                label=label,
            )
        ax.set(title=f"{name}, {n} GPUs", xlabel="M = N = K, bfloat16", ylabel="µs")
        ax.grid(alpha=0.3)
        ax.legend()
    figure.savefig(file, dpi=90)
    print(f"picture: {file}")


words = [word for word in sys.argv[1:] if not word.endswith(".png")]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
if interpreted:
    generator = np.random.default_rng(me)
    synchronize = atoll.quiet
else:
    torch.cuda.set_device(atoll.zeros(1, device="cuda").device)
    torch.manual_seed(me)
    synchronize = torch.cuda.synchronize
team = atoll.WORLD.device("host" if interpreted else "device")
sizes = [int(word) for word in words if word.isdigit()] or [(32 if interpreted else 512) * n]
timed = "times" in words
if timed:
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29533")
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    torch.distributed.init_process_group("nccl", rank=me, world_size=n)
rows = []
for size in sizes:
    for name, kind in (("matmul + all-reduce", Reduced), ("all-gather + matmul", Gathered)):
        layer = kind(size)
        error = is_right(layer)
        if timed:
            for side, call in (("torch", layer.theirs), ("atoll", layer.ours)):
                us = median_us(call)
                rows.append(
                    {
                        "side": side,
                        "op": name,
                        "size": size,
                        "bytes": 2 * size * size,
                        "pes": n,
                        "median_us": round(us, 2),
                    }
                )
        if me == 0:
            print(f"{'interpreted, ' * interpreted}{n} PEs: {name}, {size}: right to {error:.1e} of the norm")
        synchronize()
        atoll.barrier_all()
        for array in layer.symmetric:
            atoll.free(getattr(layer, array))
        del layer
if me == 0:
    for row in rows:
        print(json.dumps(row))
    if picture and rows:
        draw(picture, rows, n)
synchronize()
if timed:
    torch.distributed.destroy_process_group()
atoll.finalize()
