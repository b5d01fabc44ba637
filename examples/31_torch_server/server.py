"""A parameter server: workers read its weights whenever they like, and write gradients into slots of its memory.

torchrun --nproc-per-node 2 server.py
"""

from __future__ import annotations

import atoll.torch
import torch
import torch.distributed as dist

WEIGHTS, STEPS, ROWS, RATE = 20, 200, 32, 0.1
SERVER = 0


def serve(shared: atoll.torch.SharedTensor, memory: torch.Tensor) -> None:
    """Apply the gradients of all workers as they come: those of worker w are in row w of the memory."""
    workers = range(1, shared.size)
    for _ in range(STEPS):
        for worker in workers:
            shared.wait_signal(worker)
            memory[SERVER] -= RATE * memory[worker]
            shared.signal(worker)  # the slot is free


def work(shared: atoll.torch.SharedTensor, truth: torch.Tensor) -> None:
    """Compute gradients of a linear model on data of this worker."""
    weights, data = torch.empty(WEIGHTS), torch.Generator().manual_seed(shared.rank)
    for _ in range(STEPS):
        inputs = torch.randn(ROWS, WEIGHTS, generator=data)
        shared.get(weights, SERVER)  # the server does not notice
        gradient = inputs.T @ (inputs @ (weights - truth)) / ROWS
        shared.put(gradient, SERVER, offset=shared.rank * WEIGHTS)
        shared.signal(SERVER)
        shared.wait_signal(SERVER)


def main() -> None:
    """Learn weights that workers know only by their data."""
    torch.set_num_threads(1)
    dist.init_process_group("atoll")
    memory = atoll.torch.symmetric_empty(dist.get_world_size(), WEIGHTS).zero_()
    shared = atoll.torch.share(memory)  # row 0 of rank 0: the weights; the others: slots
    shared.barrier()
    truth = torch.arange(float(WEIGHTS))
    if shared.rank == SERVER:
        serve(shared, memory)
        error = (memory[SERVER] - truth).abs().max()
        print(f"{STEPS} steps of each worker: largest error {error:.3f}")
    else:
        work(shared, truth)
    shared.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
