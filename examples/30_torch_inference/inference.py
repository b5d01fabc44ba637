"""Tensor-parallel inference: a transformer whose heads and hidden layers are spread over the ranks writes letters.

torchrun --nproc-per-node 2 inference.py [BACKEND]
"""

from __future__ import annotations

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

LETTERS = "abcdefghijklmnopqrstuvwxyz .,"
WIDTH, HEADS, LAYERS, NEW = 32, 4, 2, 12


class Layer(nn.Module):
    """Attention and two linear maps. Ranks have some of the heads, and some of the hidden numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the next layer's input: words x WIDTH."""
        normal = self.first(x)
        q, k, v = (
            part(normal).unflatten(-1, (-1, WIDTH // HEADS)).transpose(0, 1)
            for part in (self.query, self.key, self.value)
        )
        heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(heads.transpose(0, 1).flatten(1))
        return x + self.down(torch.relu(self.up(self.second(x))))


def model() -> nn.Sequential:
    """Return the model, with the same random weights on all ranks and in all runs."""
    torch.manual_seed(3)
    layers = [Layer() for _ in range(LAYERS)]
    return nn.Sequential(nn.Embedding(len(LETTERS), WIDTH), *layers, nn.Linear(WIDTH, len(LETTERS)))


@torch.inference_mode()
def generate(network: nn.Module, text: str) -> str:
    """Append the most likely letters."""
    for _ in range(NEW):
        codes = torch.tensor([LETTERS.index(letter) for letter in text])
        text += LETTERS[int(network(codes)[-1].argmax())]
    return text


def main() -> None:
    """Write letters by all ranks, then by one."""
    torch.set_num_threads(1)
    dist.init_process_group(sys.argv[1] if len(sys.argv) > 1 else "atoll")
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    parallel = model()
    for layer in parallel[1:-1]:
        by_columns = dict.fromkeys(("query", "key", "value", "up"), ColwiseParallel())
        parallelize_module(layer, mesh, by_columns | dict.fromkeys(("out", "down"), RowwiseParallel()))
    text = generate(parallel, "the sea ")
    if dist.get_rank() == 0:
        whole = sum(parameter.numel() for parameter in model().parameters())
        mine = sum(getattr(p, "to_local", lambda p=p: p)().numel() for p in parallel.parameters())
        print(f"{mine} of {whole} parameters are on rank 0")
        print("as one rank writes" if text == generate(model(), "the sea ") else "other letters", repr(text))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
