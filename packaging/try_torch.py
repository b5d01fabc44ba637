"""Sums tensors of PyTorch over the ranks by an installed wheel, whose module for this PyTorch is loaded."""

from pathlib import Path

import torch
import torch.distributed as dist

dist.init_process_group("atoll")
x = torch.arange(4.0) * (dist.get_rank() + 1)
dist.all_reduce(x)
n = dist.get_world_size()
assert x.tolist() == [i * n * (n + 1) / 2 for i in range(4)], x
modules = {
    line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "_atoll_c10d" in line
}
assert len(modules) == 1 and "/_c10d/prebuilt/" in modules.pop(), modules
dist.destroy_process_group()
print("PyTorch", torch.__version__)
