"""Tokens to their experts and back, with Triton: atoll run -n 2 experts_triton.py [tokens] [features]
[picture.png].

Needs GPUs, PyTorch and Triton. No host knows how many tokens a PE will get, as in experts.py. Senders
increment a counter on the expert's PE and get the number of a row there. The second kernel reads that counter
in the GPU's memory; nothing is copied to the host in between.
"""

import sys

import atoll
import numpy as np

try:
    import atoll.triton as dev
    import torch
    import triton.language as tl
except ImportError as error:
    sys.exit(f"experts_triton.py: {error}; PyTorch: pip install torch")
if not torch.cuda.is_available():
    sys.exit("experts_triton.py needs a GPU: Triton compiles for nothing else here")


@dev.kernel
def dispatch(team, x, expert, inbox, origin, arrived, tokens, features, BLOCK: tl.constexpr):
    """Send a token, by one program, to a free row of its expert's PE, with its origin beside it."""
    token = tl.program_id(0)
    pe = tl.load(expert + token)
    row = dev.atomic_fetch_add(team, arrived, 1, pe)
    dev.put_nbi(team, inbox + row * features, x + token * features, features, pe, BLOCK)
    dev.p(team, origin + row, team.my_pe * tokens + token, pe)


@dev.kernel
def combine(team, inbox, origin, arrived, out, tokens, features, BLOCK: tl.constexpr):
    """Apply this PE's expert to the rows that have arrived, and send each back to its token's place.

    All programs that fit run at once; they take the rows in turn.
    """
    count = tl.load(arrived)
    for row in range(tl.program_id(0), count, tl.num_programs(0)):
        source = tl.load(origin + row)
        to = dev.ptr(team, out + source % tokens * features, (source // tokens).to(tl.int32))
        for begin in range(0, features, BLOCK):
            at = begin + tl.arange(0, BLOCK)
            value = tl.load(inbox + row * features + at, mask=at < features)
            tl.store(to + at, (team.my_pe + 1) * value, mask=at < features)


def draw(file, counts, tokens):
    try:
        import matplotlib
    except ImportError:
        sys.exit("experts_triton.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
    ax.bar([f"PE {pe}" for pe in range(len(counts))], counts)
    ax.axhline(tokens, color="black", lw=0.8, ls=":")
    ax.set(ylabel="tokens that came", title=f"{tokens} tokens from each PE, by a skewed choice")
    figure.savefig(file, dpi=90)
    print(f"picture: {file}")


words = [word for word in sys.argv[1:] if not word.endswith(".png")]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
tokens, features = (int(word) for word in ([word for word in words if word.isdigit()][:2] or (3000, 768)))

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
random = np.random.default_rng(me)
x_host = random.standard_normal((tokens, features)).astype(np.float32)
expert_host = np.minimum(random.geometric(0.6, tokens) - 1, n - 1).astype(
    np.int32
)  # the first expert is chosen most


def zeros(*shape, dtype="float32"):
    return atoll.zeros(shape, dtype, device="cuda", xp=torch)


inbox, out = zeros(n * tokens, features), zeros(tokens, features)
torch.cuda.set_device(inbox.device)
origin, arrived = zeros(n * tokens, dtype="int64"), zeros(1, dtype="int64")
x, expert = torch.from_numpy(x_host).cuda(), torch.from_numpy(expert_host).cuda()
team = atoll.WORLD.device()

atoll.barrier_all(stream="current")
dispatch[(tokens,)](team, x, expert, inbox, origin, arrived, tokens, features, BLOCK=256)
atoll.barrier_all(stream="current")  # all tokens have arrived at their experts
combine[(264,)](team, inbox, origin, arrived, out, tokens, features, BLOCK=256)
atoll.barrier_all(stream="current")

found = out.cpu().numpy()
assert np.array_equal(found, (expert_host[:, None] + 1).astype(np.float32) * x_host), (
    "a token came back wrong"
)
counts = atoll.fcollect(int(arrived.item()))
assert counts.sum() == n * tokens
if me == 0:
    print(
        f"{n} PEs: {n * tokens} tokens went to their experts and back; the PEs got {counts.ravel().tolist()}"
    )
    if picture:
        draw(picture, counts.ravel(), tokens)
atoll.finalize()
