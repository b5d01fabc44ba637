"""An embedding table whose rows are spread over the ranks: each rank reads any rows, and their owners do nothing.

torchrun --nproc-per-node 2 embedding.py
"""

from __future__ import annotations

import atoll.torch
import torch
import torch.distributed as dist

ROWS, WIDTH, LOOKUPS, BATCH = 1000, 16, 10, 64


class Embedding:
    """A table of which rank r has rows r * n to (r + 1) * n - 1."""

    def __init__(self, rows: int, width: int) -> None:
        self.rows = -(-rows // dist.get_world_size())
        self.width = width
        self.mine = atoll.torch.symmetric_empty(self.rows, width)
        self.shared = atoll.torch.share(self.mine)
        self.parts = [self.shared.tensor(rank) for rank in range(self.shared.size)]

    def row(self, index: int) -> torch.Tensor:
        """Return a copy of one row, by `get`."""
        out = torch.empty(self.width)
        self.shared.get(out, index // self.rows, offset=index % self.rows * self.width)
        return out

    def __call__(self, indices: torch.Tensor) -> torch.Tensor:
        """Return a copy of many rows: each owner's are gathered straight from its memory."""
        out = torch.empty(len(indices), self.width)
        for rank, part in enumerate(self.parts):
            here = indices // self.rows == rank
            out[here] = part[indices[here] % self.rows]
        return out


def main() -> None:
    """Fill the table, and look up random rows of it."""
    torch.set_num_threads(1)
    dist.init_process_group("atoll")
    table = Embedding(ROWS, WIDTH)
    first = table.shared.rank * table.rows
    table.mine.copy_(torch.arange(first, first + table.rows).unsqueeze(1) + torch.arange(WIDTH) / WIDTH)
    table.shared.barrier()  # all rows are there; no owner helps a reader from here on

    chooser = torch.Generator().manual_seed(table.shared.rank)
    for _ in range(LOOKUPS):
        indices = torch.randint(0, ROWS, (BATCH,), generator=chooser)
        expected = indices.unsqueeze(1) + torch.arange(WIDTH) / WIDTH
        assert torch.equal(table(indices), expected)
        assert torch.equal(table.row(int(indices[0])), expected[0])
    table.shared.barrier()
    if table.shared.rank == 0:
        print(f"{table.shared.size} ranks looked up {LOOKUPS * BATCH} rows each, all as expected")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
