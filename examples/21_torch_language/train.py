"""A small language model that learns the letters of this file's own text, by DDP.

torchrun --nproc-per-node 2 train.py [BACKEND]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

WINDOW, WIDTH, STEPS, BATCH = 16, 32, 30, 16


class Model(nn.Module):
    """Predicts the next letter from the last WINDOW letters."""

    def __init__(self, n_letters: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(n_letters, WIDTH)
        self.places = nn.Parameter(torch.zeros(WINDOW, WIDTH))
        self.attention = nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0, batch_first=True)
        self.out = nn.Linear(WIDTH, n_letters)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        """Return the logits of the letter behind each of the windows."""
        return self.out(self.attention(self.letters(text) + self.places)[:, -1])


def train(parallel: Callable[[nn.Module], nn.Module]) -> None:
    """Train a model that `parallel` spreads over the ranks, and print the loss of every fifth step."""
    torch.set_num_threads(1)
    dist.init_process_group(sys.argv[1] if len(sys.argv) > 1 else "atoll")
    text = Path(__file__).read_text()
    letters = sorted(set(text))
    codes = torch.tensor([letters.index(letter) for letter in text])

    torch.manual_seed(0)  # the same first weights on all ranks
    model = parallel(Model(len(letters)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    chooser = torch.Generator().manual_seed(dist.get_rank())  # each rank has other windows
    for step in range(STEPS):
        starts = torch.randint(0, len(codes) - WINDOW, (BATCH,), generator=chooser).tolist()
        windows = torch.stack([codes[start : start + WINDOW] for start in starts])
        following = torch.stack([codes[start + WINDOW] for start in starts])
        loss = nn.functional.cross_entropy(model(windows), following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach()
        dist.all_reduce(mean)
        if dist.get_rank() == 0 and step % 5 == 4:
            print(f"step {step + 1}: loss {mean.item() / dist.get_world_size():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    train(nn.parallel.DistributedDataParallel)
