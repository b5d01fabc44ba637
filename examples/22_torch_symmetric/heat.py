"""Heat in a rod whose parts are tensors in symmetric memory: neighbours write each other's halo cells.

torchrun --nproc-per-node 2 heat.py
"""

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

CELLS, STEPS = 1000, 400


def main() -> None:
    """Spread the heat, then compare with one rod on one rank."""
    dist.init_process_group("atoll")
    symm_mem.set_backend("ATOLL")
    rank, size = dist.get_rank(), dist.get_world_size()

    # A halo cell at each end. Two tensors: one is read while neighbours write to the other.
    rods = [symm_mem.empty(CELLS + 2, dtype=torch.float64, device="cpu").zero_() for _ in range(2)]
    handles = [symm_mem.rendezvous(rod, dist.group.WORLD) for rod in rods]
    left, right = (rank - 1) % size, (rank + 1) % size
    halos = [
        (
            handle.get_buffer(left, (1,), torch.float64, CELLS + 1),
            handle.get_buffer(right, (1,), torch.float64, 0),
        )
        for handle in handles
    ]
    if rank == 0:
        rods[0][1] = 1000.0
    handles[0].barrier()

    for step in range(STEPS):
        old, new = step % 2, (step + 1) % 2
        halos[old][0].copy_(rods[old][1:2])  # this rank's first cell, into the left neighbour
        halos[old][1].copy_(rods[old][CELLS : CELLS + 1])
        for neighbour, channel in ((left, 0), (right, 1)):
            handles[old].put_signal(neighbour, channel)
        for neighbour, channel in ((right, 0), (left, 1)):
            handles[old].wait_signal(neighbour, channel)
        rod = rods[old]
        rods[new][1:-1] = rod[1:-1] + 0.25 * (rod[:-2] - 2 * rod[1:-1] + rod[2:])

    mine = rods[STEPS % 2][1:-1].contiguous()
    whole = torch.empty(size * CELLS, dtype=torch.float64)
    dist.all_gather_into_tensor(whole, mine)
    if rank == 0:
        alone = torch.zeros(size * CELLS, dtype=torch.float64)
        alone[0] = 1000.0
        for _ in range(STEPS):
            alone += 0.25 * (alone.roll(1) - 2 * alone + alone.roll(-1))
        print(f"largest difference from one rank: {(whole - alone).abs().max():.1e}, heat {whole.sum():.6f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
