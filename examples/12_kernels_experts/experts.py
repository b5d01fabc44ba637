"""Tokens to their experts and back, as in a mixture of experts: atoll run -n 2 experts.py [cpu|cuda] [tokens]
[features] [picture.png].

Written with Numba. No host knows how many tokens a PE will get. Senders increment a counter on the expert's
PE and get the number of a row there, so the rows are filled without gaps.
"""

import sys

import atoll
import numpy as np

try:
    import atoll.numba as dev
except ImportError as error:
    sys.exit(f"experts.py: {error}")

words = [word for word in sys.argv[1:] if not word.endswith(".png")]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
where = words[0] if words else "cpu"
tokens, features = (int(word) for word in (words[1:3] or (300, 16)))


@dev.kernel(cache=True)
def exchange(team, x, expert, inbox, origin, arrived, out):
    tokens = x.shape[0]
    for t in dev.grid_range(tokens):  # dispatch
        pe = expert[t]
        row = dev.atomic_fetch_add(team, arrived, 1, pe)
        dev.put(team, inbox[row], x[t], pe)
        dev.p(team, origin[row:], team.my_pe * tokens + t, pe)
    dev.barrier(team, scope=dev.GRID)
    for row in dev.grid_range(dev.atomic_fetch(team, arrived, team.my_pe)):  # this PE's expert, then combine
        for k in range(inbox.shape[1]):
            inbox[row, k] = (team.my_pe + 1) * inbox[row, k]
        source = origin[row]
        dev.put(team, out[source % tokens], inbox[row], source // tokens)
    dev.barrier(team, scope=dev.GRID)


def draw(file, sent):
    """Draw sent[pe, expert], the numbers of tokens."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("experts.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
    shown = ax.imshow(sent, cmap="Blues", vmin=0)
    for (pe, expert), count in np.ndenumerate(sent):
        ax.text(expert, pe, str(count), ha="center", va="center")
    ax.set(
        xticks=range(len(sent)),
        yticks=range(len(sent)),
        xlabel="to the expert of PE",
        ylabel="from PE",
        title="Tokens",
    )
    figure.colorbar(shown, ax=ax)
    figure.savefig(file, dpi=90)
    print(f"picture: {file}")


atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
random = np.random.default_rng(me)
x_host = random.standard_normal((tokens, features)).astype(np.float32)
expert_host = random.integers(0, n, tokens)

x = atoll.array(x_host, device=where)
expert = atoll.array(expert_host, device=where)
inbox = atoll.zeros((n * tokens, features), np.float32, device=where)
origin = atoll.zeros(n * tokens, np.int64, device=where)
arrived = atoll.zeros(1, np.int64, device=where)
out = atoll.zeros((tokens, features), np.float32, device=where)

dev.launch(exchange, 16, 64, cooperative=True)(atoll.WORLD, x, expert, inbox, origin, arrived, out)

if where == "cuda":
    from numba import cuda

    cuda.select_device(x.device)
    cuda.synchronize()
atoll.barrier_all()
found = out if where == "cpu" else out.numpy()
assert np.array_equal(found, (expert_host[:, None] + 1).astype(np.float32) * x_host), (
    "a token came back wrong"
)
count = int(arrived[0] if where == "cpu" else arrived.numpy()[0])
counts = atoll.fcollect(count)
assert counts.sum() == n * tokens
sent = atoll.gather(np.bincount(expert_host, minlength=n), 0)
if me == 0 and picture:
    draw(picture, sent)
if me == 0:
    print(
        f"{where}, {n} PEs: {n * tokens} tokens went to their experts and back; the PEs got {counts.tolist()}"
    )
atoll.finalize()
