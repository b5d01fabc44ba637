"""The language model of train.py by FSDP2: each rank keeps a part of the parameters and of the optimizer.

torchrun --nproc-per-node 2 train_sharded.py [BACKEND]
"""

from torch import nn
from torch.distributed.fsdp import fully_shard
from train import train


def shard(model: nn.Module) -> nn.Module:
    """Let the ranks gather a layer's parameters when it is used."""
    for layer in (model.attention, model):
        fully_shard(layer)
    return model


if __name__ == "__main__":
    train(shard)
