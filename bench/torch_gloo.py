"""The backend atoll of torch.distributed against gloo and against an empty backend, in one run.

    build/torch/bin/python bench/torch_gloo.py [--ranks 2] [--rounds 20]

Each operation is measured in rounds that alternate between the backends, so that other load on the machine
meets all of them. The table has the ratio of the least times. The empty backend (PyTorch's `fake`) moves no
data: its time is that of PyTorch's own dispatch.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

# Registers the backend fake.
import torch.testing._internal.distributed.fake_pg

SIZES = {"8 B": 8, "4 KiB": 4096, "64 KiB": 1 << 16, "1 MiB": 1 << 20, "16 MiB": 1 << 24}
LARGE = 1 << 20


def operations(ranks: int, rank: int) -> dict[str, tuple[Callable[[Any], object], int]]:
    """Return each operation on a group, with the number of repetitions in a round."""
    table: dict[str, tuple[Callable[[Any], object], int]] = {}
    for text, nbytes in SIZES.items():
        n = nbytes // 4
        repeat = 50 if nbytes < LARGE else 5 if nbytes == LARGE else 1
        tensor, wide = torch.ones(n), torch.ones(n * ranks)
        part = torch.ones(max(n // ranks, 1))
        table[f"all_reduce {text}"] = (lambda g, t=tensor: dist.all_reduce(t, group=g), repeat)
        table[f"broadcast {text}"] = (lambda g, t=tensor: dist.broadcast(t, 0, group=g), repeat)
        table[f"all_gather {text}"] = (
            lambda g, t=tensor, w=wide: dist.all_gather_into_tensor(w, t, group=g),
            repeat,
        )
        table[f"reduce_scatter {text}"] = (
            lambda g, p=part, t=tensor: dist.reduce_scatter_tensor(p, t[: p.numel() * ranks], group=g),
            repeat,
        )
        table[f"all_to_all {text}"] = (
            lambda g, t=tensor[: n // ranks * ranks]: dist.all_to_all_single(torch.empty_like(t), t, group=g),
            repeat,
        )
    table |= symmetric_operations()
    table["barrier"] = (lambda g: dist.barrier(group=g), 50)
    word = torch.ones(2)

    def ping_pong(group: Any) -> None:
        if rank == 0:
            dist.send(word, 1, group=group)
            dist.recv(word, 1, group=group)
        elif rank == 1:
            dist.recv(word, 0, group=group)
            dist.send(word, 0, group=group)

    table["send and recv 8 B"] = (ping_pong, 50)
    table["all_gather_object"] = (
        lambda g: dist.all_gather_object([None] * ranks, {"rank": rank}, group=g),
        10,
    )
    return table


def symmetric_operations() -> dict[str, tuple[Callable[[Any], object], int]]:
    """Return all_reduce of symmetric tensors on Atoll, beside one of ordinary tensors on the other backends."""
    symm_mem.set_backend("ATOLL")
    name = dist.group.WORLD.group_name
    table: dict[str, tuple[Callable[[Any], object], int]] = {}
    for text, nbytes in SIZES.items():
        shared, plain = symm_mem.empty(nbytes // 4, device="cpu").fill_(1), torch.ones(nbytes // 4)
        symm_mem.rendezvous(shared, name)

        def on_symmetric(group: Any, shared: Any = shared, plain: Any = plain) -> object:
            return dist.all_reduce(shared if group is dist.group.WORLD else plain, group=group)

        def two_shot(group: Any, shared: Any = shared, plain: Any = plain) -> object:
            if group is dist.group.WORLD:
                return torch.ops.symm_mem.two_shot_all_reduce_(shared, "sum", name)
            return dist.all_reduce(plain, group=group)

        repeat = 50 if nbytes < LARGE else 5 if nbytes == LARGE else 1
        table[f"all_reduce symm. {text}"] = on_symmetric, repeat
        table[f"two_shot {text}"] = two_shot, repeat
    return table


def least_us(body: Callable[[Any], object], group: Any, repeat: int) -> float:
    """Return the time of one call in a round, in microseconds."""
    start = time.perf_counter()
    for _ in range(repeat):
        body(group)
    return (time.perf_counter() - start) / repeat * 1e6


def measure(rank: int, ranks: int, rounds: int, file: str) -> None:
    """Measure all operations as one rank; rank 0 prints the table."""
    torch.set_num_threads(1)
    store = dist.FileStore(file, ranks)
    dist.init_process_group("atoll", store=store, rank=rank, world_size=ranks)
    groups = {"atoll": dist.group.WORLD}
    for name in ("gloo", "fake"):
        groups[name] = dist.new_group(backend=name, timeout=timedelta(minutes=5))
    if rank == 0:
        print(f"{'':24} {'atoll us':>10} {'gloo us':>10} {'empty us':>10} {'atoll/gloo':>11}")
    for what, (body, repeat) in operations(ranks, rank).items():
        times = {name: [] for name in groups}  # type: dict[str, list[float]]
        for _ in range(rounds):
            for name, group in groups.items():
                if name == "fake" and what == "all_gather_object":
                    continue  # it receives no object to unpickle
                dist.barrier()
                times[name].append(least_us(body, group, repeat))
        atoll, gloo, empty = (min(times[name], default=0) for name in ("atoll", "gloo", "fake"))
        if rank == 0:
            print(f"{what:24} {atoll:10.1f} {gloo:10.1f} {empty:10.1f} {atoll / gloo:11.3f}", flush=True)
    dist.destroy_process_group()


def main() -> None:
    """Start the ranks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("spawn")
        ranks = [
            context.Process(target=measure, args=(rank, arguments.ranks, arguments.rounds, f"{folder}/store"))
            for rank in range(arguments.ranks)
        ]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()


if __name__ == "__main__":
    main()
