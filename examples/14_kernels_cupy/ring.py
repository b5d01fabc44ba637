"""Numbers around a ring of PEs, by a kernel in CUDA C++ from CuPy: atoll run -n 2 ring.py [picture.png].
Needs GPUs and CuPy.

Each PE posts its number to the right, adds the number from the left, and passes that on, until every PE has
all numbers. Mailboxes carry small messages without a fence: only the words themselves cross the link.
"""

import sys

import atoll
import numpy as np

try:
    import atoll.cupy as dev
    import cupy
except ImportError as error:
    sys.exit(f"ring.py: {error}; CuPy: pip install cupy-cuda13x")

CODE = r"""
#include <atoll/device/device.hpp>
namespace dev = atl::device;

/// sums[k] is what this PE has after k messages.
extern "C" __global__ void ring(dev::Team team, dev::Mailbox box, double* sums, const double* mine, long long n) {
    const int right = (team.my_pe + 1) % team.n_pes, left = (team.my_pe + team.n_pes - 1) % team.n_pes;
    const dev::Block block;
    extern __shared__ double message[];
    for (long long i = block.rank(); i < n; i += block.size()) sums[i] = message[i] = mine[i];
    block.sync();
    for (int k = 1; k < team.n_pes; ++k) {
        dev::post(team, box, message, n, right, block);
        dev::receive(team, box, message, n, left, block);
        for (long long i = block.rank(); i < n; i += block.size()) sums[k * n + i] = sums[(k - 1) * n + i] + message[i];
        block.sync();
    }
}
"""
n_numbers = 100


def draw(file, sums):
    """Draw sums[k], the sum after k messages."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("ring.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for k, values in enumerate(sums):
        ax.plot(values, ".", ms=3, label="its own" if k == 0 else f"after {k} message{'s' if k > 1 else ''}")
    ax.set(xlabel="number", ylabel="sum on PE 0", title=f"Sums around a ring of {len(sums)} PEs")
    ax.grid(alpha=0.3)
    ax.legend()
    figure.savefig(file, dpi=90)
    print(f"picture: {file}")


picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
room = 8 * n_numbers
memory = atoll.zeros(dev.mailbox_bytes(n, room), np.uint8, device="cuda")
mine, sums = cupy.arange(n_numbers, dtype=np.float64) + me, cupy.zeros((n, n_numbers))
ring = dev.RawKernel(CODE, "ring")
dev.launch(ring, 1, 64, atoll.WORLD, dev.mailbox(memory, room), sums, mine, n_numbers, shared=room)
expected = n * np.arange(n_numbers) + n * (n - 1) / 2
assert np.array_equal(sums.get()[-1], expected), sums
atoll.barrier_all()
if me == 0:
    print(f"{n} PEs: {n_numbers} sums went around the ring")
    if picture:
        draw(picture, sums.get())
atoll.finalize()
